"""The results that the documentation shows: systems whose translations of WinoMT are public, scored and published.

    python scripts/public_results.py [--runs DIR] [--out FILE] [--stanza-dir DIR] [--cache-dir DIR]

The translations are those that WinoMT's authors ship (Google and Bing of 2019), and those of four systems of 2025 in a
repository that extends theirs; both under the MIT licence. They are looked for in the folder of public data that
``MTBIAS_SHARED`` names (default ``../shared``). `--runs` keeps the runs, in DIR/SYSTEM-LANG, and takes those that are
there and have the same identity. How many men and women have no call is printed, by run; languages without a plugin are
named on standard error. Only numbers are written.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cyclopts

from mtbias.cli.shared import Bootstrap, Device, Evaluator
from mtbias.entry_points import installed
from mtbias.evaluation.preparation import prepare_scores
from mtbias.evaluation.stages import evaluate
from mtbias.machine.stage_progress import ProgressLine
from mtbias.report.publishing import About, make_results, read_checked, write_results
from mtbias.settings import BootstrapSettings, DeviceSettings, EvaluatorSettings, ScoreSettings, combined
from mtbias.stats.resampling import interval_of_sum
from mtbias.stats.results import estimate_text
from mtbias.translate.given_translations import given_file

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from scripts.labelled import shared_data  # noqa: E402 - the path above comes first

OUT = ROOT / "docs" / "results" / "results.jsonl"

_OF_2019 = "https://github.com/gabrielStanovsky/mt_gender/tree/5862928/translations"
_OF_2025 = "https://github.com/sbonifacio/mt_gender_pt/tree/a12ad7a/wino_mt/translations"
LICENCE = "MIT"
NOTE = "Read with the small Stanza models (udsmall), which are weaker than those that mtbias fetches."
SYSTEMS = {
    "google": ("Google Translate 2019", _OF_2019),
    "bing": ("Bing Translator 2019", _OF_2019),
    "2025-gpt": ("GPT 2025", _OF_2025),
    "2025-llama-inst": ("Llama instruct 2025", _OF_2025),
    "2025-nllb": ("NLLB 2025", _OF_2025),
    "2025-opus": ("Opus-MT 2025", _OF_2025),
}
"""By folder of translations: the system's name on the page, and where its translations are."""


def main(
    *,
    runs: Path | None = None,
    out: Path = OUT,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Score what is missing, test the systems of each language against each other, and write the results.

    Parameters
    ----------
    runs
        Where the runs are kept (default: nowhere).
    out
        File for the results; one that is there is replaced.
    """
    winomt = shared_data() / "winomt"
    found = [(name, path) for name in SYSTEMS for path in sorted((winomt / "translations" / name).glob("en-*.txt"))]
    if not found:
        sys.exit(f"no translations found in {winomt}: set MTBIAS_SHARED")
    plugins = installed("mtbias.languages")
    given = [(name, path, lang) for name, path in found if (lang := path.stem.removeprefix("en-")) in plugins]
    if left := sorted({path.stem.removeprefix("en-") for _, path in found} - {lang for *_, lang in given}):
        print(f"left out: {', '.join(left)} (no plugin)", file=sys.stderr)
    settings = combined(ScoreSettings, evaluator, device, bootstrap, dataset="winomt", data=winomt)
    with TemporaryDirectory() as scratch:
        folders = [(runs or Path(scratch)) / f"{name}-{lang}" for name, _, lang in given]
        by_lang = sorted(zip(given, folders, strict=True), key=lambda one: one[0][2])
        systems = ((given_file(path, name=name), lang) for (name, path, lang), _ in by_lang)
        for request, ((name, _, lang), folder) in zip(prepare_scores(systems, settings), by_lang, strict=True):
            run = evaluate(request, out=folder, progress=ProgressLine())
            print(f"{lang} {name}: without a call {_by_gender(run.metrics['uncalled'])}")
        done = [read_checked(folder) for folder in folders]
        about = [About(SYSTEMS[name][0], SYSTEMS[name][1], NOTE, LICENCE) for name, *_ in given]
        results = make_results(done, about, n_resamples=bootstrap.resamples, seed=bootstrap.seed)
        write_results(results, out)
    print(f"{len(results)} results in {out}")


def _by_gender(uncalled: Mapping[str, Any]) -> str:
    """Per cent of the men and of the women without a call, and the difference with Newcombe's interval."""
    men, women = uncalled["male"], uncalled["female"]
    low, high = women["interval"]
    ends = interval_of_sum([(men["percent"], men["interval"]), (-women["percent"], (-high, -low))])
    shares = " and ".join(f"{p['percent']:.1f} % of {p['of']:,} {who}" for p, who in ((men, "men"), (women, "women")))
    return f"{shares}, difference {estimate_text(men['percent'] - women['percent'], ends)}"


if __name__ == "__main__":
    cyclopts.run(main)
