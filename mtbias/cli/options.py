"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtbias.morphology import StanzaAnalyser
    from mtbias.plugin import Language


def at_least_0(text: str) -> int:
    """The type of an option that counts: argparse turns the error into one of usage."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")
    return int(text)


def add_language(parser: argparse.ArgumentParser) -> None:
    """``--lang``."""
    parser.add_argument(
        "--lang", required=True, metavar="CODE", help="target language, such as de (see `mtbias languages`)"
    )


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """``--dataset`` and ``--data``."""
    parser.add_argument(
        "--dataset",
        default="winomt",
        metavar="NAME",
        help="winomt (default), bug, bug-balanced, bug-gold, bug-gold-paper, custom",
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="file or folder to read instead of the cache")


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Where models and caches are, which aligner, which device."""
    parser.add_argument("--aligner", default="statistical", metavar="NAME", help="statistical (default) or eflomal")
    parser.add_argument(
        "--stanza-dir",
        type=Path,
        metavar="DIR",
        help="folder of Stanza models (default: STANZA_RESOURCES_DIR, else the cache)",
    )
    parser.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        help="mtbias's cache (default: MTBIAS_CACHE, else the user's cache folder)",
    )
    parser.add_argument("--device", metavar="NAME", help="cpu, cuda, cuda:1 (default: a GPU where there is one)")


def make_analyser(args: argparse.Namespace, language: Language) -> StanzaAnalyser:
    """Stanza for `language`, with the cache of its package."""
    from hashlib import sha256

    from mtbias.corpora import cache_folder
    from mtbias.morphology import AnalysisCache, StanzaAnalyser, analyses_signature, find_package, stanza_folder

    cache = cache_folder(args.cache_dir)
    package = find_package(language.code, stanza_folder(args.stanza_dir, cache))
    name = sha256(analyses_signature(package).encode()).hexdigest()[:12]
    path = cache / "analyses" / f"{language.code}-{name}.sqlite"
    return StanzaAnalyser(package, AnalysisCache(path), device=args.device)


class ProgressLine:
    """Stages on standard error: a bar on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        """Nothing is shown before the first stage."""
        self._tty = sys.stderr is not None and sys.stderr.isatty()
        self._bar: object | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show `done` of `total` of `stage`."""
        if not self._tty or not total:
            return
        from tqdm import tqdm

        bar = self._bar
        if not isinstance(bar, tqdm) or bar.desc != stage:
            if isinstance(bar, tqdm):
                bar.close()
            bar = tqdm(total=total, desc=stage, unit="sent", file=sys.stderr, leave=False)
            self._bar = bar
        bar.update(done - bar.n)
        if done >= total:
            bar.close()
            self._bar = None
