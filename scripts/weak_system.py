"""A weak system that anybody can have: Apertium translates WinoMT by rules, and mtbias scores it,
in es, fr and it.

    python scripts/weak_system.py [--lang CODE]… [--women] [--stanza-dir DIR] [--cache-dir DIR]
        [--data PATH]

It needs Debian's packages apertium, apertium-eng-spa, apertium-spa-ita and apertium-fr-es; French
and Italian are translated from Apertium's Spanish. WinoMT is looked for in the folder of public
data that ``MTBIAS_SHARED`` names (default ``../shared``), else where `mtbias fetch` puts it. A line
a language: the share of sentences with a call, how many of these calls are women, accuracy, ΔG and
ΔS in per cent, and the alarms. With ``--women`` every call of a woman follows, to be read: the
sentence, its translation and the evidence.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.cli.shared import Device, Evaluator  # noqa: E402 - the paths above come first
from mtbias.evaluation.preparation import prepare_eval  # noqa: E402
from mtbias.evaluation.stages import evaluate  # noqa: E402
from mtbias.runs.call_records import CallRecord  # noqa: E402
from mtbias.runs.finished_run import FinishedRun  # noqa: E402
from mtbias.settings import DeviceSettings, EvalSettings, EvaluatorSettings, combined  # noqa: E402
from mtbias.types import Gender  # noqa: E402
from scripts.labelled import each_language, evidence_of, shared_data  # noqa: E402

SYSTEMS = {
    "es": "apertium:eng-spa",
    "fr": "apertium:eng-spa+es-fr",
    "it": "apertium:eng-spa+spa-ita",
}
"""Target language → the system: French and Italian by way of Spanish."""


def report(lang: str, run: FinishedRun) -> str:
    """The line of one language."""
    metrics, shown = run.metrics, []
    for name, key in (("accuracy", "accuracy"), ("ΔG", "delta_g"), ("ΔS", "delta_s")):
        value = metrics["overall"][key]
        shown.append(f"{name} {'–' if value is None else f'{value:.1f}':>5}")
    alarms = ", ".join(metrics["alarms"]["raised"]) or "none"
    called = f"called {100 * metrics['decided'] / metrics['n']:5.1f} %"
    women = f"{len(called_women(run)):,} of {metrics['decided']:,} calls are women"
    return f"{lang}  {called}  {women}  {'  '.join(shown)}  alarms: {alarms}"


def called_women(run: FinishedRun) -> list[CallRecord]:
    """The records of the sentences whose entity is called a woman."""
    return [record for record in run.records or () if record.call.gender is Gender.FEMALE]


def listed(record: CallRecord) -> str:
    """A sentence, its translation and the evidence of its call, in three lines."""
    return f"{record.id} {record.source}\n    {record.translation}\n    {evidence_of(record.call)}"


def main(
    *,
    lang: list[str] | None = None,
    women: bool = False,
    data: Path | None = None,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
) -> int:
    """Translate WinoMT with Apertium, score it, and print a line a language.

    Parameters
    ----------
    lang
        Only these languages.
    women
        List every call of a woman.
    data
        WinoMT's folder, or a file of its rows.
    """
    shared = shared_data() / "winomt"
    data = data or (shared if shared.is_dir() else None)
    settings = combined(EvalSettings, evaluator, device, dataset="winomt", data=data)

    def run(code: str) -> None:
        done = evaluate(prepare_eval(SYSTEMS[code], code, settings))
        print(
            report(code, done),
            *(map(listed, called_women(done)) if women else ()),
            sep="\n",
            flush=True,
        )

    return each_language(lang, SYSTEMS, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
