"""Agreement of the evaluator with human labels, all languages in one table.

    python scripts/agreement.py --gold LABELS.csv --translations WINOMT/translations/google --stanza-dir DIR [--rows]

`--gold` has the columns that `mtbias validate` reads; `--translations` holds en-LANG.txt files that alignment learns
from too. "N + D" are the labels that rest on the noun phrase (basis N or D), which is what the evaluator reads; "of
fixed gender" counts those of them on which no call is made because the noun's gender says nothing about the person.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mtbias.align import get_aligner
from mtbias.cli.options import ProgressLine, add_machine, make_analyser
from mtbias.corpora.human_labels import read_labels
from mtbias.evaluation.validation import Validation, validate, withheld
from mtbias.language.installed import get_language
from mtbias.metrics.human_agreement import LABELS
from mtbias.translate.bitext import read_bitext

LANGUAGES = ("ar", "de", "es", "he", "it", "ru", "uk")
HEAD = ("", "labels", "head exact", "N + D: n", "agreement", "of fixed gender", "κ", "balanced accuracy", "all labels")


def counts(result: Validation) -> tuple[int, int, int, int, int]:
    """Labels, exact heads, N + D labels, agreeing N + D labels, N + D labels withheld by a noun of fixed gender."""
    phrase = [(a, c) for a, c in zip(result.labels, result.calls, strict=True) if a.basis in ("N", "D")]
    fixed = [c for _, c in phrase if withheld(c)]
    agreeing = sum(c.gender is LABELS[a.label] for a, c in phrase)
    return len(result.labels), sum(result.heads()), len(phrase), agreeing, len(fixed)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument(
        "--translations", type=Path, help="folder of en-LANG.txt; without it the labels' sentences alone"
    )
    add_machine(parser)
    parser.add_argument("--rows", action="store_true", help="list the disagreements on N + D")
    args = parser.parse_args()
    rows: list[tuple[str, ...]] = [HEAD]
    total, listed = [0] * 5, list[str]()
    for lang in LANGUAGES:
        language = get_language(lang)
        labels = read_labels(args.gold, lang)
        bitext = read_bitext(args.translations / f"en-{lang}.txt") if args.translations else []
        aligner, analyser = get_aligner(args.aligner), make_analyser(args, language)
        result = validate(labels, bitext, language, aligner, analyser, progress=ProgressLine())
        found = counts(result)
        total = [a + b for a, b in zip(total, found, strict=True)]
        numbers = result.to_json()
        kappa, balanced = numbers["kappa"] / 100, numbers["balanced_accuracy"]
        rows.append(line(lang, found, f"{kappa:.2f}", f"{balanced:.1f} %", f"{numbers['agreement']:.1f} %"))
        listed += [f"{lang}: {row}" for row in result.disagreements() if "basis N" in row or "basis D" in row]
    rows.append(line("all", tuple(total), "", "", ""))
    print("\n".join(["| " + " | ".join(rows[0]) + " |", "|---|" + "---:|" * (len(HEAD) - 1)]))
    print("\n".join("| " + " | ".join(row) + " |" for row in rows[1:]))
    if args.rows:
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
    main()
