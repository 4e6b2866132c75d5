"""Agreement of the evaluator with human labels, all languages in one table.

    python scripts/agreement.py --gold LABELS.csv --translations WINOMT/translations/google
    --stanza-dir DIR [--rows]

`--gold` has the columns that `mtbias validate` reads; `--translations` holds en-LANG.txt files that
alignment learns from too. "N + D" are the labels that rest on the noun phrase (basis N or D), which
is what the evaluator reads; "of fixed gender" counts those of them on which no call is made because
the noun's gender says nothing about the person.
"""

from __future__ import annotations

from pathlib import Path

import cyclopts

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


def main(
    *,
    gold: Path,
    translations: Path | None = None,
    rows: bool = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
) -> None:
    """Agreement of the evaluator with human labels, all languages in one table.

    Parameters
    ----------
    gold
        The labels, with the columns that `mtbias validate` reads.
    translations
        Folder of en-LANG.txt that alignment learns from too; without it the labels' sentences
        alone.
    rows
        List the disagreements on N + D.
    """
    lines: list[tuple[str, ...]] = [HEAD]
    total, listed = [0] * 5, list[str]()
    for lang in LANGUAGES:
        labels = read_label_file(gold).labels(lang)
        bitext = read_bitext(translations / f"en-{lang}.txt") if translations else []
        measure = GENDER_MEASURE.open(
            MeasureOptions(lang=lang, settings=evaluator, device=device.device)
        )
        result = validate(labels, bitext, measure, progress=ProgressLine())
        found = counts(result)
        total = [a + b for a, b in zip(total, found, strict=True)]
        numbers = result.to_json()
        kappa, balanced = numbers["kappa"] / 100, numbers["balanced_accuracy"]
        lines.append(
            line(lang, found, f"{kappa:.2f}", f"{balanced:.1f} %", f"{numbers['agreement']:.1f} %")
        )
        listed += [
            f"{lang}: {row}" for row in result.differing_json() if row["basis"] in {"N", "D"}
        ]
    lines.append(line("all", tuple(total), "", "", ""))
    print("\n".join(["| " + " | ".join(lines[0]) + " |", "|---|" + "---:|" * (len(HEAD) - 1)]))
    print("\n".join("| " + " | ".join(row) + " |" for row in lines[1:]))
    if rows:
        print("\n" + "\n\n".join(listed))


def line(name: str, found: tuple[int, ...], *rest: str) -> tuple[str, ...]:
    """One row of the table."""
    labels, heads, phrase, agreeing, fixed = found
    return (
        name,
        str(labels),
        f"{100 * heads / labels:.1f} %",
        str(phrase),
        f"{100 * agreeing / phrase:.1f} %",
        str(fixed),
        *rest,
    )


if __name__ == "__main__":
    cyclopts.run(main)
