"""The tables of controlled translation. Nothing is computed here."""

from __future__ import annotations

import json
from collections.abc import Iterator

from mtbias.report.run_table import wrapped
from mtbias.report.tables import PrintedTable, cut, draw
from mtbias.scoring.controlled import ALL, NONE, ControlledRuns, Obedience
from mtbias.stats.results import (
    UNDEFINED,
    Difference,
    estimate_text,
    interval_text,
    number_text,
    p_text,
)
from mtbias.types import Gender

_FORMS = {Gender.FEMALE: "feminine", Gender.MALE: "masculine"}
_NOTES = (
    "obey: per cent whose person is in the gender asked for; no gender: no call",
    "unasked: per cent in that gender in the run asked for without saying; change: obey − unasked",
)
_WORDS = {"bleu": "BLEU", "chrf": "chrF"}


def render_controlled(runs: ControlledRuns, form: str = "text", *, full: bool = False) -> str:
    """The comparison as ``text``, ``markdown``, ``latex`` or ``json``, ending in a newline; text
    without `full` has no intervals over entities and no p.
    """
    if form == "json":
        return json.dumps(runs.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
    full = full or form != "text"
    tables = [_obedience(runs, full=full), *_gaps(runs, full=full), *_quality(runs)]
    text = draw(tables, form, [("", runs.signature)])
    if form == "latex":
        return text
    lines: list[str] = []
    for text_of_finding in finding(runs):
        lines += wrapped(text_of_finding)
    return "\n".join([*lines, "", text])


def finding(runs: ControlledRuns) -> Iterator[str]:
    """The finding in sentences: how many obey, what asking changes, and which gender the system
    obeys more.
    """
    whole = {one.asked: one for one in runs.obedience if one.group == ALL}
    for one in whole.values():
        text = (
            f"Asked for in the {_FORMS[one.asked]}, {_share(one)} of {one.n:,} sentences are in it"
        )
        yield f"{text}{_unasked(one.change)}."
    gap = runs.gaps.get(ALL)
    moved = any(one.change is None or is_clear(one.change) for one in whole.values())
    if gap is None or gap.difference is None or gap.interval is None or not moved:
        return
    ends = interval_text(gap.interval)
    if is_clear(gap):
        text = f"The {'masculine' if gap.difference > 0 else 'feminine'} is obeyed more often"
    else:
        text = "No clear difference between the two"
    yield f"{text}: masculine − feminine {number_text(gap.difference)} points {ends}."


def _unasked(change: Difference | None) -> str:
    """The share in that gender without asking, and whether asking changes it."""
    if change is None or change.second is None:
        return ""
    without = f"{number_text(change.second)} % are without being asked"
    if is_clear(change):
        return f"; {without}"
    return f", and {without}: asking makes no clear difference"


def is_clear(difference: Difference) -> bool:
    """Whether the interval of a difference leaves out 0."""
    ends = difference.interval
    return ends is not None and (ends[0] > 0 or ends[1] < 0)


def _share(one: Obedience) -> str:
    return f"{number_text(one.obeys.value)} % {interval_text(one.obeys.interval)}"


def _obedience(runs: ControlledRuns, *, full: bool) -> PrintedTable:
    more = ["over entities"] if full else []
    head = ["asked for", "the source tells", "sentences", "obey", *more]
    tests = ["p"] if full else []
    head += ["other", "neutral", "no gender", "unasked", "change", *tests]
    rows = []
    for one in runs.obedience:
        other = sum(
            n for name, n in one.counts.items() if name in {"male", "female"} and name != one.asked
        )
        over = [interval_text(one.over_entities)] if full else []
        change = one.change
        rows.append(
            [
                _FORMS[one.asked],
                one.group,
                f"{one.n:,}",
                estimate_text(one.obeys.value, one.obeys.interval),
                *over,
                f"{other:,}",
                f"{one.counts[Gender.NEUTRAL]:,}",
                f"{one.counts[NONE]:,}",
                UNDEFINED if change is None else number_text(change.second),
                _change(change),
                *[p_text(change.p_holm if change else None) for _ in tests],
            ]
        )
    systems = ", ".join(f"{gender}: {cut(name)}" for gender, name in runs.systems.items())
    return PrintedTable(
        head,
        rows,
        title=f"{runs.dataset} in {runs.lang}, {systems}. Per cent [95 % interval]",
        notes=_NOTES,
        left=2,
        parts=[one.asked for one in runs.obedience],
    )


def _change(change: Difference | None) -> str:
    return UNDEFINED if change is None else estimate_text(change.difference, change.interval)


def _gaps(runs: ControlledRuns, *, full: bool) -> Iterator[PrintedTable]:
    if not runs.gaps:
        return
    tests = ["p"] if full else []
    rows = []
    for group, gap in runs.gaps.items():
        shares = [number_text(gap.first), number_text(gap.second)]
        rows.append([group, *shares, _change(gap), *[p_text(gap.p_holm) for _ in tests]])
    head = ["the source tells", "obey masculine", "obey feminine", "masculine − feminine"]
    yield PrintedTable([*head, *tests], rows)


def _quality(runs: ControlledRuns) -> Iterator[PrintedTable]:
    if not runs.quality:
        return
    rows = [
        [
            _FORMS[Gender(one.asked)] if one.asked != NONE else "–",
            _WORDS[one.metric],
            number_text(one.score.n, 0),
            estimate_text(one.score.value, one.score.interval),
            _change(one.change),
        ]
        for one in runs.quality
    ]
    yield PrintedTable(
        ["asked for", "score", "sentences", "value", "change"],
        rows,
        notes=["change: value − that of the run asked for without saying; below 0 asking costs"],
        left=2,
    )
