"""Agreement of the evaluator with human labels, all languages in one table.

`--gold` has the columns that `mtbias validate` reads; `--translations` holds en-LANG.txt files that
alignment learns from too. "N + D" are the labels that rest on the noun phrase (basis N or D), which
is what the evaluator reads; "of fixed gender" counts those of them on which no call is made because
the noun's gender says nothing about the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mtbias.cli.shared import Device, Evaluator
from mtbias.corpora.human_labels import read_label_file
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.evaluation.validation import Validation, validate
from mtbias.machine.stage_progress import ProgressLine
from mtbias.scoring.correction import LABELS
from mtbias.scoring.evidence import withheld
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import DeviceSettings, EvaluatorSettings
from mtbias.translate.bitext import read_bitext
from scripts.labelled import each_language

LANGUAGES = ("ar", "de", "es", "he", "it", "ru", "uk")
HEAD = (
    "",
    "labels",
    "head exact",
    "N + D: n",
    "agreement",
    "of fixed gender",
    "κ",
    "balanced accuracy",
    "all labels",
)


def counts(result: Validation) -> tuple[int, int, int, int, int]:
    """Labels, exact heads, N + D labels, agreeing N + D labels, N + D labels withheld by a noun of
    fixed gender.
    """
    phrase = [(a, c) for a, c in result.rows if a.basis in ("N", "D")]
    fixed = [c for _, c in phrase if withheld(c)]
    agreeing = sum(c.gender is LABELS[a.label] for a, c in phrase)
    return len(result.rows), sum(result.heads()), len(phrase), agreeing, len(fixed)


def agreement(
    *,
    gold: Path,
    translations: Path | None = None,
    lang: list[str] | None = None,
    rows: bool = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
) -> int:
    """Human labels of translations, all languages in one table.

    Parameters
    ----------
    gold
        The labels, with the columns that `mtbias validate` reads.
    translations
        Folder of en-LANG.txt that alignment learns from too; without it the labels' sentences
        alone.
    lang
        Only these languages.
    rows
        List the disagreements on N + D.
    """
    total, listed = [0] * 5, list[str]()
    print("| " + " | ".join(HEAD) + " |")
    print("|---|" + "---:|" * (len(HEAD) - 1))

    def run(code: str) -> None:
        labels = read_label_file(gold).labels(code)
        bitext = read_bitext(translations / f"en-{code}.txt") if translations else []
        measure = GENDER_MEASURE.open(
            MeasureOptions(lang=code, settings=evaluator, device=device.device)
        )
        result = validate(labels, bitext, measure, progress=ProgressLine())
        found = counts(result)
        total[:] = [a + b for a, b in zip(total, found, strict=True)]
        numbers = result.to_json()
        kappa, balanced = numbers["kappa"] / 100, numbers["balanced_accuracy"]
        print(
            line(code, found, f"{kappa:.2f}", f"{balanced:.1f} %", f"{numbers['agreement']:.1f} %"),
            flush=True,
        )
        listed.extend(
            f"{code}: {row}" for row in result.differing_json() if row["basis"] in {"N", "D"}
        )

    status = each_language(lang, LANGUAGES, run)
    if status == 0:
        print(line("all", total, "", "", ""))
    if rows:
        print("\n" + "\n\n".join(listed))
    return status


def line(name: str, found: Sequence[int], *rest: str) -> str:
    """One row of the table."""
    labels, heads, phrase, agreeing, fixed = found
    cells = (
        name,
        str(labels),
        f"{100 * heads / labels:.1f} %",
        str(phrase),
        f"{100 * agreeing / phrase:.1f} %",
        str(fixed),
        *rest,
    )
    return f"| {' | '.join(cells)} |"
