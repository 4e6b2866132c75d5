"""The page of `mtbias validate`: how far the evaluator agrees with people, and what its errors do to a run's numbers.

One HTML file that needs nothing else and has no script. No number is computed here. Everything that comes from files is
escaped, and a content security policy forbids the page to load or run anything but its own style.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mtbias import __version__
from mtbias.corpora.human_labels import HumanLabel
from mtbias.language.definition import Direction
from mtbias.report import page
from mtbias.report import validation_table as rows
from mtbias.report.plots import PERCENT_SCALE, Scale
from mtbias.report.report_runs import language_name
from mtbias.report.sentence_data import evidence_code, evidence_words, marked
from mtbias.scoring.correction import LABELS
from mtbias.types import GenderCall, JsonObject

MAX_ROWS = 2000
"""More disagreements than these are not shown, and the page says so."""

_KINDS = {"plain": "as called", "corrected": "corrected"}


@dataclass(frozen=True)
class LabelledLanguage:
    """A language as it enters the page."""

    numbers: JsonObject
    """`Validation.to_json`."""
    direction: Direction
    """In which direction the language is written."""
    differing: Sequence[tuple[HumanLabel, GenderCall]]
    """The rows on which label and call, or the heads, differ."""


def render_page(
    languages: Sequence[LabelledLanguage],
    together: JsonObject,
    corrections: Sequence[JsonObject],
) -> str:
    """The page, as text to be written in UTF-8.

    `together` is `Validation.to_json` of all languages together (or of the one), `corrections` has
    `CorrectedRun.to_json` of each run that was corrected.
    """
    each = [part.numbers for part in languages]
    several = [together] if len(each) > 1 else []
    differing = [(part, label, call) for part in languages for label, call in part.differing]
    named = [(rows.run_name(run, corrections), run) for run in corrections]
    content: dict[str, tuple[str, Any]] = {
        "agreement": ("Agreement with human labels", [*each, *several]),
        "basis": ("By what the label rests on", together["by_basis"] and [*several, *each]),
        "evidence": ("By what the call rests on", [*several, *each]),
        "confusion": ("Label and call", each),
        "corrected": ("Runs, corrected", named),
        "rows": ("Where label and call differ", {"shown": differing[:MAX_ROWS]}),  # said where there are none, too
        "how": ("How it was made", True),
    }
    drawn = [run[kind][number.key] for run in corrections for kind in _KINDS for number in rows.CORRECTED]
    return page.render_page(
        "validation.html",
        title=f"How far to trust the evaluator: {', '.join(language_name(part['lang']) for part in each)}",
        intro=f"{together['n']:,} labels of people, read by mtbias {__version__}",
        sections=content,
        languages=each,
        percent=PERCENT_SCALE,
        axis=Scale.of(((one["value"], one["interval"]) for one in drawn), 100),
        label_counts=rows.label_counts,
        basis_rows=rows.basis_rows,
        evidence_rows=rows.evidence_rows,
        reason_rows=rows.reason_rows,
        genders=list(rows.GENDERS),
        corrections=named,
        numbers=rows.CORRECTED,
        heads=[f"{number.label},\n{kind}" for number in rows.CORRECTED for kind in _KINDS.values()],
        notes=rows.notes,
        total=len(differing),
        labels=LABELS,
        bases=rows.BASES,
        pieces=marked,
        evidence_words=evidence_words,
        evidence_code=evidence_code,
    )
