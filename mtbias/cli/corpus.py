"""The corpus that a command asks for, brought where it is missing and may be brought."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.errors import MissingResourceError

if TYPE_CHECKING:
    from mtbias.corpora import Corpus


def corpus_for(args: argparse.Namespace, cache: Path) -> Corpus:
    """`--dataset` and `--data`; a data set of known hash that is not in the cache is fetched, unless that is forbidden.

    Raises:
        MissingResourceError: it is not here and may not, or cannot, be fetched.
    """
    from mtbias.corpora import fetch_dataset, load_corpus
    from mtbias.translate.models import is_offline

    try:
        return load_corpus(args.dataset, args.data, cache=cache)
    except MissingResourceError:
        if args.data is not None or is_offline(args.offline):
            raise
        print(f"mtbias: fetching {args.dataset}", file=sys.stderr)
        fetch_dataset(args.dataset, cache, progress=sys.stderr.isatty())
        return load_corpus(args.dataset, args.data, cache=cache)
