"""Google and Bing of 2019 on WinoMT: accuracy, ΔG and ΔS of both systems and their differences, in every language.

    python scripts/compare_systems.py [--runs DIR] [--weighted] [--format FORMAT] [--stanza-dir DIR] [--cache-dir DIR]

The translations are those that WinoMT's authors ship (``translations/google`` and ``translations/bing`` beside the
sentences), looked for in the folder of public data that ``MTBIAS_SHARED`` names (default ``../shared``). `--runs` keeps
the runs, in DIR/SYSTEM-LANG, and takes those that are there; `mtbias compare DIR/*` prints the same numbers then.
Languages that have translations and no plugin are named on standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import cyclopts

from mtbias.cli.shared import Bootstrap, Device, Evaluator
from mtbias.entry_points import installed
from mtbias.evaluation.preparation import prepare_score
from mtbias.evaluation.stages import evaluate
from mtbias.machine.stage_progress import ProgressLine
from mtbias.report.comparison_tables import render_comparison
from mtbias.runs.finished_run import read_run
from mtbias.scoring.comparison import compare_runs
from mtbias.settings import BootstrapSettings, DeviceSettings, EvaluatorSettings, ScoreSettings, combined
from mtbias.translate.given_translations import given_file

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from scripts.labelled import shared_data  # noqa: E402 - the path above comes first

SYSTEMS = ("google", "bing")


def main(
    *,
    runs: Path | None = None,
    weighted: bool = False,
    format: Literal["text", "json", "markdown", "csv", "latex"] = "markdown",  # noqa: A002 - the option's name
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Score what is missing, compare, and print.

    Parameters
    ----------
    runs
        Where the runs are kept (default: nowhere).
    weighted
        Weighted ΔG and ΔS too.
    """
    winomt = shared_data() / "winomt"
    files = {
        lang: [winomt / "translations" / system / f"en-{lang}.txt" for system in SYSTEMS]
        for lang in sorted({path.stem.removeprefix("en-") for path in winomt.glob("translations/*/en-*.txt")})
    }
    plugins = installed("mtbias.languages")
    known = [lang for lang in files if lang in plugins and all(path.is_file() for path in files[lang])]
    if not known:
        sys.exit(f"no translations of {' and '.join(SYSTEMS)} found in {winomt}: set MTBIAS_SHARED")
    if left := [lang for lang in files if lang not in known]:
        print(f"left out: {', '.join(left)} (no plugin, or no translation of both systems)", file=sys.stderr)
    settings = combined(ScoreSettings, evaluator, device, dataset="winomt", data=winomt)
    with TemporaryDirectory() as scratch:
        done = []
        for lang in known:
            for path in files[lang]:
                out = (runs or Path(scratch)) / f"{path.parent.name}-{lang}"
                if not (out / "metrics.json").is_file():
                    request = prepare_score(given_file(path, name=path.parent.name), lang, settings)
                    evaluate(request, out=out, progress=ProgressLine())
                done.append(read_run(out))
        compared = compare_runs(done, weighted=weighted, n_resamples=bootstrap.resamples, seed=bootstrap.seed)
    print(render_comparison(compared, format), end="")


if __name__ == "__main__":
    cyclopts.run(main)
