"""Google and Bing of 2019 on WinoMT: accuracy, ΔG and ΔS of both systems and their differences, in every language.

    python scripts/compare_systems.py [--runs DIR] [--weighted] [--format FORMAT] [--stanza-dir DIR] [--cache-dir DIR]

The translations are those that WinoMT's authors ship (``translations/google`` and ``translations/bing`` beside the
sentences), looked for in the folder of public data that ``MTBIAS_SHARED`` names (default ``../shared``). `--runs` keeps
the runs, in DIR/SYSTEM-LANG, and takes those that are there; `mtbias compare DIR/*` prints the same numbers then.
Languages that have translations and no plugin are named on standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mtbias.align import get_aligner
from mtbias.cli.options import ProgressLine, add_machine, make_analyser
from mtbias.corpora import Corpus, load_corpus
from mtbias.evaluation.request import ScoreRequest
from mtbias.evaluation.stages import score_translations
from mtbias.language.installed import get_language, installed_languages
from mtbias.metrics.comparison import compare_runs
from mtbias.report.comparison_tables import FORMATS, render_comparison
from mtbias.runs import read_run
from mtbias.translate.given_translations import read_translations

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ("google", "bing")


def main() -> None:
    """Score what is missing, compare, and print."""
    args = _arguments()
    winomt = Path(os.environ.get("MTBIAS_SHARED", ROOT.parent / "shared")) / "data" / "winomt"
    files = {
        lang: [winomt / "translations" / system / f"en-{lang}.txt" for system in SYSTEMS]
        for lang in sorted({path.stem.removeprefix("en-") for path in winomt.glob("translations/*/en-*.txt")})
    }
    plugins = {language.code for language in installed_languages()}
    known = [lang for lang in files if lang in plugins and all(path.is_file() for path in files[lang])]
    if not known:
        sys.exit(f"no translations of {' and '.join(SYSTEMS)} found in {winomt}: set MTBIAS_SHARED")
    if left := [lang for lang in files if lang not in known]:
        print(f"left out: {', '.join(left)} (no plugin, or no translation of both systems)", file=sys.stderr)
    corpus = load_corpus("winomt", winomt, cache=args.cache_dir)
    with TemporaryDirectory() as scratch:
        folder = args.runs or Path(scratch)
        runs = []
        for lang in known:
            for path in files[lang]:
                run = folder / f"{path.parent.name}-{lang}"
                if not (run / "metrics.json").is_file():
                    _score(args, corpus, lang, path, run)
                runs.append(read_run(run))
    compared = compare_runs(runs, weighted=args.weighted, n_resamples=args.resamples)
    print(render_comparison(compared, args.format), end="")


def _score(args: argparse.Namespace, corpus: Corpus, lang: str, path: Path, out: Path) -> None:
    language = get_language(lang)
    request = ScoreRequest(
        corpus=corpus,
        given=read_translations(path, corpus.instances, rows=corpus.rows),
        language=language,
        aligner=get_aligner(args.aligner),
        analyser=make_analyser(args, language),
        system=path.parent.name,
        seed=0,
        n_resamples=2000,
    )
    score_translations(request, out=out, progress=ProgressLine())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, metavar="DIR", help="where the runs are kept (default: nowhere)")
    parser.add_argument("--weighted", action="store_true", help="weighted ΔG and ΔS too")
    parser.add_argument("--format", choices=FORMATS, default="markdown", help="default: markdown")
    parser.add_argument("--resamples", type=int, default=2000, metavar="N", help="default: 2000")
    add_machine(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
