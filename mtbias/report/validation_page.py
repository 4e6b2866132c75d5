"""The tables and the page of `mtbias validate`: how far the evaluator agrees with people, and what
its errors do.

The page is one HTML file that needs nothing else and has no script. No number is computed here; an
undefined number is "–". Everything that comes from files is escaped, and a content security policy
forbids the page to load or run anything but its own style.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mtbias.corpora.human_labels import BASES, HumanLabel
from mtbias.language.definition import Direction
from mtbias.report import page
from mtbias.report.plots import PERCENT_SCALE, Scale
from mtbias.report.report_runs import language_name
from mtbias.report.sentence_data import GENDERS, evidence_code, evidence_words, marked
from mtbias.report.tables import PrintedTable, as_text, columns, printable
from mtbias.scoring.correction import CORRECTED, LABELS
from mtbias.stats.results import interval_text, number_text
from mtbias.types import GenderCall, JsonObject, frozen
from mtbias.version import __version__


def render_validation(
    languages: Sequence[JsonObject],
    together: JsonObject,
    corrections: Sequence[JsonObject],
) -> str:
    """The tables, ending in a newline: agreement by language, basis and evidence; then the
    corrected runs.

    `languages` has `Validation.to_json` of each language, `together` is the same of all together,
    whose breakdowns are shown; `corrections` has `CorrectedRun.to_json` of each run.
    """
    shown = [*languages, together] if len(languages) > 1 else list(languages)
    of = "" if len(languages) == 1 else ", all languages"
    blocks = [_languages(shown)]
    if together["by_basis"]:
        blocks.append(_parts(f"By what the label rests on{of}", basis_rows(together), "agreement"))
    blocks.append(
        _parts(f"By the word that the call rests on{of}", evidence_rows(together), "agreement")
    )
    if together["reasons"]:
        blocks.append(_parts(f"Without a call{of}", reason_rows(together), "% of all"))
    if corrections:
        blocks.append(_corrections(corrections))
    blocks.append("\n".join(str(part["signature"]) for part in languages) + "\n")
    return "\n".join(blocks)


def basis_rows(numbers: JsonObject) -> list[tuple[str, int, float, Sequence[float]]]:
    """Name, n, agreement and interval by basis of the label."""
    rows = []
    for kind, part in numbers["by_basis"].items():
        name = f"{kind}: {BASES[kind]}" if kind in BASES else printable(kind)
        rows.append((name, part["n"], part["agreement"], numbers["basis_intervals"][kind]))
    return rows


def evidence_rows(numbers: JsonObject) -> list[tuple[str, int, float, Sequence[float]]]:
    """Name, n, agreement and interval by the kind of word that a call rests on, most frequent
    first.
    """
    parts = sorted(numbers["by_evidence"].items(), key=lambda item: (-item[1]["n"], item[0]))
    return [
        (kind, part["n"], part["agreement"], part["agreement_interval"]) for kind, part in parts
    ]


def reason_rows(numbers: JsonObject) -> list[tuple[str, int, float, Sequence[float]]]:
    """Name, n, share of all labels and interval by the reason for having no call."""
    return [
        (reason, part["n"], part["percent"], part["interval"])
        for reason, part in numbers["reasons"].items()
    ]


def notes(correction: JsonObject) -> list[str]:
    """What must be known beside a corrected number: what was assumed, what rests on little."""
    said = []
    labels = correction["labels"]
    if absent := correction["assumed_never_read"]:
        total = f"{sum(labels.values()):,}"
        never = f"no label of {total} is {' or '.join(absent)}"
        said.append(f"{never}: assumed that nobody reads a translation so")
    if few := correction["few_labels"]:
        counted = [f"{gender} (labels: {labels[gender]})" for gender in few]
        said.append(f"hardly known: the errors on {', '.join(counted)}")
    if correction["untranslated"]:
        said.append(f"rows without a translation, which stay wrong: {correction['untranslated']:,}")
    return said


def run_name(correction: JsonObject, all_: Sequence[JsonObject]) -> str:
    """System and language of one of `all_`; with the corpus where one system has several."""
    name = f"{printable(correction['system'])}, {correction['lang']}"
    same = [
        other
        for other in all_
        if (other["system"], other["lang"]) == (correction["system"], correction["lang"])
    ]
    return name if len(same) == 1 else f"{name}, {printable(correction['corpus'])}"


def label_counts(numbers: JsonObject) -> str:
    """Labels by gender: ``49 m, 9 f, 0 n``."""
    return ", ".join(f"{numbers['labels'][gender]} {gender[0]}" for gender in GENDERS)


_INTERVALS = "Intervals: Wilson, 95 %. No call is a disagreement;"
_CALLED = (
    "called: agreement where there is a call; κ × 100; "
    "balanced: mean agreement over the labels that occur;"
)


def _languages(shown: Sequence[JsonObject]) -> str:
    head = [
        "per cent",
        "n",
        "labels",
        "agreement",
        "95 % interval",
        "called",
        "κ",
        "balanced",
        "no call",
        "head",
    ]
    others = ("agreement_decided", "kappa", "balanced_accuracy", "undecided", "head_exact")
    rows = []
    for part in shown:
        agreement = number_text(part["agreement"]), interval_text(part["agreement_interval"])
        shares = [number_text(part[key]) for key in others]
        rows.append([part["lang"], f"{part['n']:,}", label_counts(part), *agreement, *shares])
    annotator, basis = shown[0]["annotator"], shown[0]["basis"]
    which = f" with basis {' or '.join(basis)}" if basis else ""
    notes = [
        f"Usable labels{which} of annotator {annotator}. {_INTERVALS}",
        _CALLED,
        "head: the right word was found.",
    ]
    return as_text(PrintedTable(head, rows, notes=notes))


def _parts(title: str, rows: Sequence[tuple[str, int, float, Sequence[float]]], what: str) -> str:
    return columns(
        [title, "n", what, "95 % interval"],
        [
            [f"  {name}", f"{n:,}", number_text(value), interval_text(ends)]
            for name, n, value, ends in rows
        ],
    )


_CORRECTED = (
    "Corrected for the evaluator's errors on the human labels; "
    "its interval carries the labels' sampling too."
)


def _corrections(corrections: Sequence[JsonObject]) -> str:
    rows = []
    said = [_CORRECTED]
    for correction in corrections:
        name = run_name(correction, corrections)
        for n, number in enumerate(CORRECTED.values()):
            cells = [
                *_estimate(correction["plain"][number.key]),
                *_estimate(correction["corrected"][number.key]),
            ]
            rows.append(["" if n else name, number.label, *cells])
        said += [
            f"  {name}: labels {label_counts(correction)}",
            *(f"    {note}" for note in notes(correction)),
        ]
    warnings = [f"{run_name(c, corrections)}: {c['warning']}" for c in corrections if c["warning"]]
    head = ["Runs", "", "as called", "95 % interval", "corrected", "95 % interval"]
    return as_text(PrintedTable(head, rows, notes=said, warnings=warnings))


def _estimate(estimate: JsonObject) -> tuple[str, str]:
    """Value and interval; no dash for the interval of what is undefined itself."""
    value = estimate["value"]
    return number_text(value), "" if value is None else interval_text(estimate["interval"])


MAX_ROWS = 2000
"""More disagreements than these are not shown, and the page says so."""

_KINDS = {"plain": "as called", "corrected": "corrected"}


@frozen
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
    differing = []
    for part in languages:
        differing += [(part, label, call) for label, call in part.differing]
    named = [(run_name(run, corrections), run) for run in corrections]
    content: dict[str, tuple[str, Any]] = {
        "agreement": ("Agreement with human labels", [*each, *several]),
        "basis": ("By what the label rests on", together["by_basis"] and [*several, *each]),
        "evidence": ("By what the call rests on", [*several, *each]),
        "confusion": ("Label and call", each),
        "corrected": ("Runs, corrected", named),
        "rows": (
            "Where label and call differ",
            {"shown": differing[:MAX_ROWS]},
        ),  # said where there are none, too
        "how": ("How it was made", True),
    }
    heads = []
    for number in CORRECTED.values():
        heads += [f"{number.label},\n{kind}" for kind in _KINDS.values()]
    names = ", ".join(language_name(part["lang"]) for part in each)
    return page.render_page(
        "validation.html",
        title=f"How far to trust the evaluator: {names}",
        intro=f"{together['n']:,} labels of people, read by mtbias {__version__}",
        sections=content,
        languages=each,
        percent=PERCENT_SCALE,
        axis=_axis(corrections),
        label_counts=label_counts,
        basis_rows=basis_rows,
        evidence_rows=evidence_rows,
        reason_rows=reason_rows,
        genders=GENDERS,
        corrections=named,
        numbers=list(CORRECTED.values()),
        heads=heads,
        notes=notes,
        total=len(differing),
        labels=LABELS,
        bases=BASES,
        pieces=marked,
        evidence_words=evidence_words,
        evidence_code=evidence_code,
    )


def _axis(corrections: Sequence[JsonObject]) -> Scale:
    """One axis for all numbers of the corrected runs, as called and corrected."""
    points = []
    for run in corrections:
        for kind in _KINDS:
            estimates = [run[kind][key] for key in CORRECTED]
            points += [(estimate["value"], estimate["interval"]) for estimate in estimates]
    return Scale.around(points, 100)
