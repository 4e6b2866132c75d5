"""Published accuracies, ΔG and ΔS (``scoring/data/published.tsv``) to stand beside a run's, and what differs."""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple

from mtbias.files.reading import commented_rows
from mtbias.report.tables import PrintedTable, number
from mtbias.stats.results import UNDEFINED
from mtbias.types import JsonObject

_ABOUT = {
    "winomt": "WinoMT, translations of 2019 (Stanovsky et al. 2019)",
    "bug": "BUG (Levy et al. 2021)",
}
_DIFFERS = {
    "winomt": "Theirs: 3,888 sentences, fast_align, articles and dictionaries; without a call an entity is male or "
    "female by rule in ar, de and he. docs/published.md has the effect of each rule. No ΔS where it could not be "
    "recomputed.",
    "bug": "Theirs: 108K sentences of BUG's first version, EasyNMT with beam 5, fast_align, rules of 2020. The release "
    "has 105,687 sentences. Opus-MT en-ar was likely run without its language token; the Hebrew cell of mBART50 looks "
    "like a part of the data.",
}
"""What differs from a run of mtbias."""


class Published(NamedTuple):
    """A published line, in per cent and points."""

    system: str
    lang: str
    """``mean``: over BUG's eight languages."""
    group: str
    """The part of the corpus; empty of all sentences."""
    numbers: tuple[float, float, float]
    """Accuracy, ΔG, ΔS."""
    how: str
    """``recomputed``, or ``log``: of WinoMT ΔS from memory of the table."""


def published_lines(dataset: str) -> list[Published]:
    """The lines of a data set in the table's order; none of one that has no published lines."""
    text = (resources.files("mtbias.scoring") / "data" / "published.tsv").read_text(encoding="utf-8")
    return [
        Published(
            row["system"], row["lang"], row["group"],
            (float(row["accuracy"]), float(row["delta_g"]), float(row["delta_s"])), row["how"],
        )
        for row in commented_rows(text)
        if row["dataset"] == dataset
    ]  # fmt: skip


def published_table(metrics: JsonObject) -> PrintedTable | None:
    """The lines of a run's data set and language, below them the means over languages; None where there are none."""
    found = re.match(r"dataset:([^|]+)\|lang:([^|]+)", metrics["signature"] or "")
    lines = [line for line in published_lines(found[1]) if line.lang in {found[2], "mean"}] if found else []
    if found is None or all(line.lang == "mean" for line in lines):
        return None
    rows = []
    for line in lines:
        of = f"mean of 8 languages, {line.group}" if line.lang == "mean" else line.lang
        accuracy, delta_g, delta_s = (number(value, 1) for value in line.numbers)
        remembered = found[1] == "winomt" and line.how == "log"
        rows.append([line.system, of, accuracy, delta_g, UNDEFINED if remembered else delta_s])
    return PrintedTable(
        ["", "", "accuracy", "ΔG", "ΔS"], rows, f"Published: {_ABOUT[found[1]]}", [_DIFFERS[found[1]]], left=2
    )
