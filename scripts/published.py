"""The WinoMT figures published in 2019 beside mtbias's, on the same translations, and which rule
makes the difference.

    python scripts/published.py --data WINOMT --folder WINOMT/translations --stanza-dir DIR
        [--markdown]

`--folder` holds SYSTEM/en-LANG.txt files of ``source ||| target`` lines. For German, Hebrew and
Arabic the rules of the predecessor (mt_gender, 2019) are simple enough to be put on top of mtbias's
own alignment ("2019 rules"): where that column comes close to the published one, the rules make the
difference and not the alignment. For Spanish, French, Italian (spaCy of 2019), Russian and
Ukrainian (a dictionary) they cannot be run again here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import cyclopts

from mtbias.cli.shared import Device, Evaluator
from mtbias.corpora import load_corpus
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.machine.stage_progress import ProgressLine
from mtbias.report.run_table import published_lines
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.bias import accuracy_bounds
from mtbias.scoring.measure import MeasureOptions
from mtbias.scoring.scores import Scores
from mtbias.settings import DeviceSettings, EvaluatorSettings
from mtbias.translate.given_translations import read_translations
from mtbias.types import Gender, Span

GERMAN_WORDS = {
    Gender.MALE: "der ein dem einen des er seiner ihn seinen ihm ihren seinem ihrem sein",
    Gender.FEMALE: "die eine einer sie seine ihrer",
    Gender.NEUTRAL: "ihr ihre das jemanden",
}
"""Articles *and pronouns* that the 2019 rules for German read; *den* is not among them."""


def german(entity: str, text: str, target: Sequence[Span]) -> Gender:
    """*nurse* is female; unaligned is male; a word in *-in* is female; else the nearest listed word
    of the sentence.
    """
    if entity == "nurse":
        return Gender.FEMALE
    if not target:
        return Gender.MALE
    words = list(re.finditer(r"\w+", text.lower()))
    if any(text[s.start : s.end].endswith("in") for s in target):
        return Gender.FEMALE
    at = next((n for n, w in enumerate(words) if w.start() <= target[0].start < w.end()), 0)
    listed = {word: gender for gender, line in GERMAN_WORDS.items() for word in line.split()}
    found = [
        (abs(n - at), n, listed[w.group()]) for n, w in enumerate(words) if w.group() in listed
    ]
    return min(found)[2] if found else Gender.MALE


def hebrew(_: str, text: str, target: Sequence[Span]) -> Gender:
    """Unaligned is female; any aligned word that ends in ת or ה is female; all others are male."""
    ends = [text[s.start : s.end][-1:] for s in target]
    return Gender.FEMALE if not ends or {"ת", "ה"} & set(ends) else Gender.MALE


def arabic(_: str, text: str, target: Sequence[Span]) -> Gender:
    """Any aligned word with a ta marbuta is female; all others, and the unaligned, are male."""
    return Gender.FEMALE if any("ة" in text[s.start : s.end] for s in target) else Gender.MALE


RULES: dict[str, Callable[[str, str, Sequence[Span]], Gender]] = {
    "ar": arabic,
    "de": german,
    "he": hebrew,
}


def by_rules(records: Sequence[CallRecord], lang: str) -> Scores | None:
    """Scores of the 2019 rules on mtbias's alignment, where they are known."""
    if lang not in RULES:
        return None
    rule = RULES[lang]
    called = []
    for record in records:
        if record.translation is None:
            called.append(record)
            continue
        gender = rule(record.entity, record.translation, record.call.target)
        called.append(
            replace(record, call=replace(record.call, gender=gender, reason=None, evidence=()))
        )
    return GENDER_MEASURE.score(called, n_resamples=0, seed=0)


def triple(values: Sequence[float | None]) -> str:
    """Accuracy, ΔG, ΔS: ``59.4 / 12.5 / 12.5``."""
    return " / ".join("–" if v is None else f"{v:.1f}" for v in values)


def ours(scores: Scores) -> tuple[float | None, ...]:
    """The three numbers of `scores`."""
    return tuple(scores.overall[key].value for key in ("accuracy", "delta_g", "delta_s"))


def main(
    *,
    data: Path,
    folder: Path,
    markdown: bool = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
) -> None:
    """Score every published pair and print the table.

    Parameters
    ----------
    data
        WinoMT's folder.
    folder
        Folder of SYSTEM/en-LANG.txt.
    """
    corpus = load_corpus("winomt", data)
    head = [
        "system",
        "lang",
        "published",
        "mtbias",
        "difference",
        "2019 rules, our alignment",
        "left out",
        "none",
    ]
    rows = [head]
    for line in published_lines("winomt"):
        system, lang, numbers = line.system, line.lang, [*line.numbers.values()]
        given = read_translations(folder / system / f"en-{lang}.txt", corpus.instances)
        measure = GENDER_MEASURE.open(
            MeasureOptions(lang=lang, settings=evaluator, device=device.device)
        )
        records = measure.judge(corpus.instances, given.translations, ProgressLine())
        scores = GENDER_MEASURE.score(records, n_resamples=0, seed=0)
        rules = by_rules(records, lang)
        values, overall = ours(scores), scores.overall
        bounds = accuracy_bounds(overall.counts)["accuracy_bounds"]
        rows.append(
            [
                system,
                lang,
                triple(numbers) + (" *" if line.from_memory else ""),
                triple(values),
                " / ".join(
                    "–" if v is None else f"{v - p:+.1f}"
                    for v, p in zip(values, numbers, strict=True)
                ),
                triple(ours(rules)) if rules else "–",
                "–" if bounds[1] is None else f"{bounds[1]:.1f}",
                f"{100 * (overall.n - overall.decided) / overall.n:.1f} %",
            ]
        )
    print(render(rows, markdown=markdown))
    print(
        "\nAccuracy / ΔG / ΔS. * ΔS from memory of the table. 'none': share of rows without a call."
    )


def render(rows: list[list[str]], *, markdown: bool) -> str:
    """Aligned columns, or a Markdown table."""
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    cyclopts.run(main)
