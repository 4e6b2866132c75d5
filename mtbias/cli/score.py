"""Score given translations: align the entity, read its gender, and say how biased the system is.

TRANSLATIONS is a file of "source ||| target" lines (WinoMT's form), a TSV, CSV or JSONL with "id" or "source" and
"target", or one target a line in the corpus's order.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mtbias.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--translations", type=Path, required=True, metavar="FILE", help="the translations to score")
    options.add_language(parser)
    options.add_dataset(parser)
    options.add_run(parser)
    parser.add_argument(
        "--system", metavar="NAME", help="name of the system, for the signature (default: the file's name)"
    )
    parser.add_argument(
        "--allow-missing", action="store_true", help="score even if under 95 %% of the corpus is translated"
    )
    options.add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    from mtbias.evaluation.preparation import prepare_score
    from mtbias.evaluation.stages import score_translations
    from mtbias.translate.given_translations import read_translations

    request = prepare_score(
        lambda instances, rows: read_translations(
            args.translations, instances, rows=rows, allow_missing=args.allow_missing
        ),
        args.lang,
        system=args.system or args.translations.stem,
        dataset=args.dataset,
        data=args.data,
        tools=options.tools(args),
        seed=args.seed,
        resamples=args.resamples,
    )
    metrics = score_translations(request, out=args.out, progress=options.ProgressLine())
    options.show(args, metrics)
