"""The tables and the page of `mtbias validate`: how far the evaluator agrees with people, and what
its errors do.

The page is one HTML file that needs nothing else and has no script. No number is computed here; an
undefined number is "–". Everything that comes from files is escaped, and a content security policy
forbids the page to load or run anything but its own style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mtbias.corpora.human_labels import BASES, HumanLabel
from mtbias.language.definition import Direction
from mtbias.report import page
from mtbias.report.plots import PERCENT_SCALE, Scale
from mtbias.report.report_runs import language_name
from mtbias.report.sentence_data import GENDERS, evidence_code, evidence_words, marked
from mtbias.report.tables import PrintedTable, as_text, columns, printable
from mtbias.report.validation_reader import (
    AgreementRow,
    CorrectedNumbers,
    LanguageAgreement,
    read_agreement,
    read_correction,
)
from mtbias.scoring.correction import CORRECTED, LABELS
from mtbias.stats.results import Estimate, interval_text, number_text
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
    each, whole = [read_agreement(part) for part in languages], read_agreement(together)
    corrected = [read_correction(run) for run in corrections]
    of = "" if len(each) == 1 else ", all languages"
    blocks = [_languages([*each, whole] if len(each) > 1 else each)]
    if whole.by_basis:
        blocks.append(_parts(f"By what the label rests on{of}", basis_rows(whole), "agreement"))
    by_word = f"By the word that the call rests on{of}"
    blocks.append(_parts(by_word, whole.by_evidence, "agreement"))
    if whole.reasons:
        blocks.append(_parts(f"Without a call{of}", whole.reasons, "% of all"))
    if corrected:
        blocks.append(_corrections(corrected))
    blocks.append("\n".join(part.signature for part in each) + "\n")
    return "\n".join(blocks)


def basis_rows(part: LanguageAgreement) -> list[AgreementRow]:
    """Agreement by basis of the label, each with what the basis is."""
    rows = []
    for row in part.by_basis:
        name = f"{row.name}: {BASES[row.name]}" if row.name in BASES else printable(row.name)
        rows.append(replace(row, name=name))
    return rows


def notes(run: CorrectedNumbers) -> list[str]:
    """What must be known beside a corrected number: what was assumed, what rests on little."""
    texts = []
    if run.assumed_never_read:
        never = f"no label of {sum(run.labels.values()):,} is {' or '.join(run.assumed_never_read)}"
        texts.append(f"{never}: assumed that nobody reads a translation so")
    if run.few_labels:
        counted = [f"{gender} (labels: {run.labels[gender]})" for gender in run.few_labels]
        texts.append(f"hardly known: the errors on {', '.join(counted)}")
    if run.untranslated:
        texts.append(f"rows without a translation, which stay wrong: {run.untranslated:,}")
    return texts


def run_name(run: CorrectedNumbers, runs: Sequence[CorrectedNumbers]) -> str:
    """System and language of one of `runs`; with the corpus where one system has several."""
    name = f"{printable(run.system)}, {run.lang}"
    same = [other for other in runs if (other.system, other.lang) == (run.system, run.lang)]
    return name if len(same) == 1 else f"{name}, {printable(run.corpus)}"


def label_counts(labels: Mapping[str, int]) -> str:
    """Labels by gender: ``49 m, 9 f, 0 n``."""
    return ", ".join(f"{labels[gender]} {gender[0]}" for gender in GENDERS)


_INTERVALS = "Intervals: Wilson, 95 %. No call is a disagreement;"
_CALLED = (
    "called: agreement where there is a call; κ × 100; "
    "balanced: mean agreement over the labels that occur;"
)


def _languages(shown: Sequence[LanguageAgreement]) -> str:
    measures = ["agreement", "95 % interval", "called", "κ", "balanced", "no call", "head"]
    rows = []
    for part in shown:
        agreement = number_text(part.agreement), interval_text(part.agreement_interval)
        shares = [
            number_text(part.agreement_decided),
            number_text(part.kappa),
            number_text(part.balanced_accuracy),
            number_text(part.undecided),
            number_text(part.head_exact),
        ]
        rows.append([part.lang, f"{part.n:,}", label_counts(part.labels), *agreement, *shares])
    basis = shown[0].basis
    which = f" with basis {' or '.join(basis)}" if basis else ""
    notes = [
        f"Usable labels{which} of annotator {shown[0].annotator}. {_INTERVALS}",
        _CALLED,
        "head: the right word was found.",
    ]
    return as_text(PrintedTable(["per cent", "n", "labels", *measures], rows, notes=notes))


def _parts(title: str, rows: Sequence[AgreementRow], what: str) -> str:
    cells = []
    for row in rows:
        share = number_text(row.percent), interval_text(row.interval)
        cells.append([f"  {row.name}", f"{row.n:,}", *share])
    return columns([title, "n", what, "95 % interval"], cells)


_CORRECTED = (
    "Corrected for the evaluator's errors on the human labels; "
    "its interval carries the labels' sampling too."
)


def _corrections(runs: Sequence[CorrectedNumbers]) -> str:
    rows, texts, warnings = [], [_CORRECTED], []
    for run in runs:
        name = run_name(run, runs)
        for n, number in enumerate(CORRECTED.values()):
            cells = [*_estimate(run.plain[number.key]), *_estimate(run.corrected[number.key])]
            rows.append(["" if n else name, number.label, *cells])
        texts.append(f"  {name}: labels {label_counts(run.labels)}")
        texts += [f"    {note}" for note in notes(run)]
        if run.warning:
            warnings.append(f"{name}: {run.warning}")
    head = ["Runs", "", "as called", "95 % interval", "corrected", "95 % interval"]
    return as_text(PrintedTable(head, rows, notes=texts, warnings=warnings))


def _estimate(estimate: Estimate) -> tuple[str, str]:
    """Value and interval; no dash for the interval of what is undefined itself."""
    ends = "" if estimate.value is None else interval_text(estimate.interval)
    return number_text(estimate.value), ends


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
    each = [read_agreement(part.numbers) for part in languages]
    whole = read_agreement(together)
    several = [whole] if len(each) > 1 else []
    differing = []
    for part in languages:
        differing += [(part, label, call) for label, call in part.differing]
    corrected = [read_correction(run) for run in corrections]
    named = [(run_name(run, corrected), run) for run in corrected]
    content: dict[str, tuple[str, Any]] = {
        "agreement": ("Agreement with human labels", [*each, *several]),
        "basis": ("By what the label rests on", whole.by_basis and [*several, *each]),
        "evidence": ("By what the call rests on", [*several, *each]),
        "confusion": ("Label and call", each),
        "corrected": ("Runs, corrected", named),
        "rows": (
            "Where label and call differ",
            {"shown": differing[:MAX_ROWS]},
        ),  # said if there are none, too
        "how": ("How it was made", True),
    }
    heads = []
    for number in CORRECTED.values():
        heads += [f"{number.label},\n{kind}" for kind in _KINDS.values()]
    names = ", ".join(language_name(part.lang) for part in each)
    return page.render_page(
        "validation.html",
        title=f"How far to trust the evaluator: {names}",
        intro=f"{whole.n:,} labels of people, read by mtbias {__version__}",
        sections=content,
        languages=each,
        percent=PERCENT_SCALE,
        axis=_axis(corrected),
        label_counts=label_counts,
        basis_rows=basis_rows,
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


def _axis(runs: Sequence[CorrectedNumbers]) -> Scale:
    """One axis for all numbers of the corrected runs, as called and corrected."""
    points = []
    for run in runs:
        for estimates in (run.plain, run.corrected):
            points += [(estimates[key].value, estimates[key].interval) for key in CORRECTED]
    return Scale.around(points, 100)
