"""The report of runs: one HTML file that needs nothing else, neither network nor server.

No number is computed here: all stand in `metrics.json`. Everything that comes from files is escaped, a content security
policy forbids the page to load or run anything but its own style and script (``page.css``, ``page.js``), and sentences
reach the page as data (`mtbias.report.packed`) that the script writes as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mtbias.errors import DataError
from mtbias.report.packed import BLOCK, packed, stream
from mtbias.report.plots import BREAKDOWNS, MEASURES, Markup, Point, element, joined, panel, scale, svg_intervals
from mtbias.report.table import NOTICED, UNDEFINED, number_text
from mtbias.runs.records import CallRecord
from mtbias.types import Gender, Reason, Span, Stereotype

MAX_BYTES = 15 * 1024 * 1024
"""Above this, the page holds the text of fewer sentences and says so."""

_SCHEMA = 1
_GENDERS = [gender.value for gender in Gender]
_CALLS = [*_GENDERS, *(reason.value for reason in Reason)]
_ABSENT = 255
_HEAD, _OTHER, _END = 1, 2, 3
_TOKEN = re.compile(r" ?[^\W\d_]+| ?\d{1,3}|[\s\S]")
_ID_TOKEN = re.compile(r"\D+|\d{1,2}")
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_WHY = {
    Reason.UNTRANSLATED.value: "there is no translation",
    Reason.UNALIGNED.value: "no word of the translation was found that renders the entity",
    Reason.NO_MORPHOLOGY.value: "the phrase shows no gender",
    Reason.AMBIGUOUS.value: "the evidence contradicts itself",
}


@dataclass(frozen=True)
class ReportRun:
    """A run as it enters the report."""

    name: str
    """What the reader knows it by, unique in the report."""
    lang: str
    """Code of the target language."""
    metrics: Mapping[str, Any]
    """The content of its `metrics.json`, schema 1."""
    calls: Sequence[CallRecord]
    """The lines of its `calls.jsonl`."""
    direction: Literal["ltr", "rtl"] = "ltr"
    """In which direction the target language is written."""


@dataclass(frozen=True)
class _Sentence:
    """A sentence of the corpus with what each run made of it; None where a run does not have it."""

    first: CallRecord
    records: tuple[CallRecord | None, ...]


def render_html(runs: Sequence[ReportRun], *, max_bytes: int = MAX_BYTES) -> str:
    """The page, as text to be written in UTF-8.

    The sentences of all runs stand in one list: those with the same id, source, entity, gold, stereotype, domain and
    number of pronouns are one. Where the page would become larger than `max_bytes`, it holds as many sentences
    as fit, spread evenly over the corpus, and says so; the numbers rest on all.

    Args:
        runs: at least one, each under its own name.
        max_bytes: size of the page.

    Raises:
        ValueError: there are no runs.
        DataError: two runs have one name, a `metrics.json` is not of schema 1 or lacks a key, or it was not computed
            from the calls beside it.
    """
    _check(runs)
    sentences = _sentences(runs)
    shown, count = sentences, len(sentences)
    while True:
        try:
            page = _page(runs, shown, len(sentences))
        except KeyError as error:
            raise DataError(f"expected the key {error} in metrics.json, got none; score the run again") from error
        size = len(page.encode())
        if size <= max_bytes or not shown:
            return page
        count = min(count - 1, int(count * 0.97 * max_bytes / size))
        shown = [sentences[i * len(sentences) // count] for i in range(count)]


def _check(runs: Sequence[ReportRun]) -> None:
    if not runs:
        raise ValueError("expected at least one run, got none")
    for name, times in Counter(run.name for run in runs).items():
        if times > 1:
            raise DataError(f"expected a name of its own for each run, got {name!r} {times} times; rename one")
    for run in runs:
        found = run.metrics.get("schema")
        if found != _SCHEMA:
            raise DataError(f"run {run.name!r}: expected metrics.json of schema {_SCHEMA}, got schema {found!r}")
        rows = len(run.calls), sum(record.call.gender is not None for record in run.calls)
        told = run.metrics.get("n"), run.metrics.get("decided")
        if rows != told:
            raise DataError(
                f"run {run.name!r}: expected the calls that metrics.json was computed from ({told[0]}, {told[1]} "
                f"decided), got {rows[0]}, {rows[1]} decided; score the run again"
            )


def _sentences(runs: Sequence[ReportRun]) -> list[_Sentence]:
    rows: dict[object, list[CallRecord | None]] = {}
    for number, run in enumerate(runs):
        for r in run.calls:
            key = (r.id, r.source, r.entity, r.gold, r.stereotype, r.domain, r.pronouns)
            rows.setdefault(key, [None] * len(runs))[number] = r
    return [_Sentence(next(r for r in found if r is not None), tuple(found)) for found in rows.values()]


def _page(runs: Sequence[ReportRun], shown: Sequence[_Sentence], total: int) -> str:
    columns = _columns(shown)
    sections = {
        "numbers": ("Numbers", _numbers(runs)),
        "groups": ("By domain, pronouns and stereotype", _groups(runs)),
        "entities": ("By entity", _entities(runs, columns)),
        "confusion": ("Gold and call", _confusion(runs)),
        "left-out": ("What was left out, and why", _left_out(runs)),
        "sentences": ("Sentences", _browser(runs, shown, total, columns)),
        "how": ("How it was made", _how(runs)),
    }
    names = ", ".join(f"{run.name} ({run.lang})" for run in runs)
    corpora = sorted({(run.metrics.get("corpus") or {}).get("name", "") for run in runs} - {""})
    title = f"Gender bias in translation: {names}"
    links = [element("li", element("a", heading, href=f"#{key}")) for key, (heading, _) in sections.items()]
    body = [
        element("a", "Skip to the numbers", href="#numbers", class_="skip"),
        element(
            "header", element("h1", title),
            element("p", f"Corpus: {', '.join(corpora)}. " if corpora else "", "Made by mtbias. ",
                    "A dash (–) is a number that is not defined."),
            element("nav", element("ul", *links), aria_label="Sections"),
        ),
        element("main", *(_section(key, *section) for key, section in sections.items())),
    ]  # fmt: skip
    data = _json(_data(runs, shown, columns))
    scripts = [element("script", data, type="application/json", id="data"), element("script", Markup(_part("page.js")))]
    page = element("html", _head(title), element("body", *body, *scripts), lang="en")
    return f"<!doctype html>\n{page}\n"


def _section(key: str, heading: str, content: Sequence[Markup]) -> Markup:
    title = f"{key}-title"
    return element("section", element("h2", heading, id=title), *content, id=key, aria_labelledby=title)


def _head(title: str) -> Markup:
    style = _part("page.css")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(_part('page.js'))}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return element(
        "head", element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title), element("link", rel="icon", href="data:,"), element("style", Markup(style)),
    )  # fmt: skip


@cache
def _part(name: str) -> str:
    """A file of the page: its style or its script."""
    return resources.files("mtbias.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# Tables and tiles.


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, tall: bool = False) -> Markup:
    """A table with a header row; the first cell of a row is its header. Cells that are `td` or `th` already stay so."""
    cells = [[_cell(cell, "td" if i else "th") for i, cell in enumerate(row)] for row in rows]
    table = element(
        "table", element("caption", caption),
        element("thead", element("tr", *(_cell(cell, "th", scope="col") for cell in head))),
        element("tbody", *(element("tr", *row) for row in cells)),
    )  # fmt: skip
    kind = "scroll tall" if tall else "scroll"
    return element("div", table, class_=kind, role="region", aria_label=caption, tabindex="0")


def _cell(cell: str, tag: str, scope: str = "row") -> Markup:
    if isinstance(cell, Markup) and cell.startswith(("<td", "<th")):
        return cell
    return element("th", cell or UNDEFINED, scope=scope) if tag == "th" else element("td", cell)


def _point(group: Mapping[str, Any], key: str, n: int | None = None) -> Markup:
    """A number of a group with its interval and, where told, the rows it rests on."""
    value, interval = group[key], group["ci"].get(key)
    text = Point("", value, tuple(interval) if value is not None and interval else None, 0).text
    number, _, rest = text.partition(" ")
    small = [element("small", part) for part in (rest, "" if n is None else f"n {n:,}") if part]
    return joined([element("b", number), *(part for piece in small for part in (" ", piece))])


def _reading(interval: Sequence[float] | None, above: str, below: str) -> str:
    if interval is None:
        return ""
    return above if interval[0] > 0 else below if interval[1] < 0 else "the interval holds 0: no difference shown"


def _numbers(runs: Sequence[ReportRun]) -> list[Markup]:
    all_ = [(run, run.metrics["overall"]) for run in runs]

    def tile(title: str, key: str, about: str, note: Callable[[Mapping[str, Any]], str]) -> Markup:
        lines = [
            element("p", element("span", run.name if len(runs) > 1 else "", class_="run"), " ", _point(whole, key),
                    element("span", note(whole), class_="reading"))
            for run, whole in all_
        ]  # fmt: skip
        return element("div", element("h3", title), *lines, element("p", about, class_="quiet"), class_="tile")

    def left_out(whole: Mapping[str, Any]) -> str:
        return f"right in {number_text(whole['accuracy_bounds'][1])} % of those with a verdict"

    return [
        element(
            "div",
            tile("Accuracy", "accuracy", "Per cent of all sentences; no verdict counts as wrong.", left_out),
            tile("ΔG", "delta_g", "F1 male minus F1 female, in points; 0 is even.",
                 lambda whole: _reading(whole["ci"]["delta_g"], "better for men", "better for women")),
            tile("ΔS", "delta_s", "Accuracy where the stereotype fits minus where it does not, in points; 0 is even.",
                 lambda whole: _reading(whole["ci"]["delta_s"], "better with the stereotype", "better against it")),
            class_="tiles",
        ),
        _table("All numbers, in per cent", ["number", *(run.name for run in runs)], _number_rows(all_)),
    ]  # fmt: skip


def _number_rows(all_: Sequence[tuple[ReportRun, Mapping[str, Any]]]) -> Iterator[list[str]]:
    rows = [
        ("Accuracy", "accuracy", "n"), ("Precision, male", "precision_male", "called_male"),
        ("Recall, male", "recall_male", "male"), ("F1, male", "f1_male", ""),
        ("Precision, female", "precision_female", "called_female"), ("Recall, female", "recall_female", "female"),
        ("F1, female", "f1_female", ""), ("ΔG = F1 male - F1 female", "delta_g", ""),
        ("Accuracy, stereotype fits", "accuracy_pro", "pro"), ("Accuracy, stereotype broken", "accuracy_anti", "anti"),
        ("ΔS = fits - broken", "delta_s", ""), ("ΔS of macro-F1", "delta_s_macro_f1", ""),
    ]  # fmt: skip
    yield ["With a verdict", *(_point(whole, "decided_percent", whole["decided"]) for _, whole in all_)]
    for name, key, rests_on in rows:
        yield [name, *(_point(w, key, {**w["denominators"], "n": w["n"]}.get(rests_on)) for _, w in all_)]


def _groups(runs: Sequence[ReportRun]) -> list[Markup]:
    named = [(run.name, run.metrics) for run in runs]
    panels = [(key, [panel(named, key, measure) for measure in MEASURES]) for key in BREAKDOWNS]
    axis = scale(part for _, parts in panels for part in parts)
    figures = [
        element(
            "figure", element("figcaption", f"By {BREAKDOWNS[key]}"),
            element("div", *(svg_intervals(part, ident=f"{key}-{i}", axis=axis) for i, part in enumerate(parts)),
                    class_="plots", role="region", aria_label=f"Plots by {BREAKDOWNS[key]}", tabindex="0"),
        )
        for key, parts in panels
    ]  # fmt: skip
    note = "Whiskers are the intervals. A hollow point has none (too few rows); a dash is a number that is not defined."
    return [*figures, element("p", note, class_="quiet"), *_group_tables(runs)]


def _group_tables(runs: Sequence[ReportRun]) -> list[Markup]:
    breakdowns = {**BREAKDOWNS, "by_stereotype": "stereotype"}
    head = ["run"] if len(runs) > 1 else []
    head += ["n", "with a verdict", "accuracy", "F1 male", "F1 female", "ΔG", "ΔS"]
    keys = ("decided_percent", "accuracy", "f1_male", "f1_female", "delta_g", "delta_s")
    return [
        _table(
            f"By {name}", [name.split()[0], *head],
            [[group, *([run.name] if len(runs) > 1 else []), f"{part['n']:,}", *(_point(part, key) for key in keys)]
             for group in dict.fromkeys(group for run in runs for group in run.metrics[breakdown])
             for run in runs if (part := run.metrics[breakdown].get(group))],
        )
        for breakdown, name in breakdowns.items()
    ]  # fmt: skip


def _entities(runs: Sequence[ReportRun], columns: _Columns) -> list[Markup]:
    at = {name: str(i) for i, name in enumerate(columns["entity"][0])}
    tables = [run.metrics["by_entity"] for run in runs]
    size = {name: table[name]["n"] for table in reversed(tables) for name in table}
    rows = [
        [
            element("a", name or UNDEFINED, href="#sentences", data_entity=at.get(name)),
            *(cell for table in tables for cell in _entity_cells(table.get(name))),
        ]
        for name in sorted(size, key=lambda name: (-size[name], name))
    ]
    head = ["entity"]
    for run in runs:
        prefix = f"{run.name}:\n" if len(runs) > 1 else ""
        head += [f"{prefix}{what}" for what in ("n", "accuracy", "right for men", "right for women")]
    heads = [element("th", text, scope="col", data_sort=str(i)) for i, text in enumerate(head)]
    text = (
        "Accuracy by entity, in per cent, with its interval; then the share of the men and of the women that are right "
        "(recall). The head of a column sorts by it; a name shows its sentences below."
    )
    return [element("p", text), _table("Accuracy by entity", heads, rows, tall=True)]


def _entity_cells(group: Mapping[str, Any] | None) -> list[Markup]:
    if group is None:
        return [element("td", UNDEFINED, data_value="")] * 4
    rows = group["denominators"]
    cells: list[tuple[float | None, list[str]]] = [
        (group["n"], [f"{group['n']:,}"]),
        (
            group["accuracy"],
            [element("div", _strip(group), element("span", _point(group, "accuracy")), class_="strip")],
        ),
        (group["recall_male"], [_point(group, "recall_male", rows["male"])]),
        (group["recall_female"], [_point(group, "recall_female", rows["female"])]),
    ]
    return [element("td", *text, data_value="" if value is None else f"{value}") for value, text in cells]


def _strip(group: Mapping[str, Any]) -> Markup:
    """Accuracy and its interval on a line from 0 to 100, for the eye only."""
    parts = [element("path", d="M0 6h100", class_="grid", stroke="currentColor", stroke_opacity=0.25)]
    if interval := group["ci"]["accuracy"]:
        line = f"M{interval[0]:.1f} 6H{interval[1]:.1f}"
        parts.append(element("path", d=line, class_="c0", stroke="currentColor", stroke_width=2))
    if group["accuracy"] is not None:
        parts.append(element("circle", cx=float(group["accuracy"]), cy=6, r=3.5, class_="c0"))
    return element("svg", *parts, width=106, height=12, viewBox="-3 0 106 12", aria_hidden="true")


def _confusion(runs: Sequence[ReportRun]) -> list[Markup]:
    text = "Rows: the gender that the English sentence tells. Columns: the gender that the translation shows."
    tables = map(_confusion_table, runs, range(len(runs)))
    return [element("p", f"{text} A number shows its sentences below."), element("div", *tables, class_="pair")]


def _confusion_table(run: ReportRun, number: int) -> Markup:
    axes, overall = run.metrics["confusion_axes"], run.metrics["overall"]
    counts = np.sum(overall["confusion"], axis=0)
    rows: list[list[str]] = []
    for g, gold in enumerate(axes["gold"]):
        rows.append([gold])
        for c, call in enumerate(axes["call"]):
            count, share = int(counts[g, c]), counts[g, c] / max(1, counts[g].sum())
            kind = f"q{min(4, int(5 * share))}" + (" hit" if call == gold else "")
            wanted = "none" if call is None else str(_GENDERS.index(call))
            filters = {"data_run": str(number), "data_gold": str(_GENDERS.index(gold))}
            filters["data_outcome" if call is None else "data_call"] = wanted
            link = element("a", f"{count:,}", href="#sentences", **filters)
            rows[-1].append(element("td", link if count else "0", class_=kind))
        rows[-1].append(f"{overall['denominators'][gold]:,}")
    head = ["gold / called", *(call or "no verdict" for call in axes["call"]), "all"]
    return _table(f"{run.name}: sentences by gold gender and call", head, rows)


def _left_out(runs: Sequence[ReportRun]) -> list[Markup]:
    return [element("div", *_left_out_tables(run, number), class_="pair") for number, run in enumerate(runs)]


def _left_out_tables(run: ReportRun, number: int) -> Iterator[Markup]:
    metrics = run.metrics
    reasons = []
    for key, count in metrics["reasons"].items():
        link = element("a", key, href="#sentences", data_run=str(number), data_call=str(_CALLS.index(key)))
        share = number_text(metrics["reasons_percent"][key])
        reasons.append([joined([link, f": {_WHY[key]}"]), f"{count:,}", share])
    evidence = [[k, f"{n:,}", number_text(metrics["evidence_percent"][k])] for k, n in metrics["evidence"].items()]
    if reasons:
        yield _table(f"{run.name}: sentences without a verdict", ["reason", "n", "% of all"], reasons)
    else:
        yield element("p", f"{run.name}: every sentence has a verdict.")
    yield _table(f"{run.name}: what the verdicts rest on", ["kind of word", "n", "% of decided"], evidence)
    if noticed := list(_noticed(metrics)):
        yield _table(f"{run.name}: noticed in the input", ["what", "n", "the first"], noticed)


def _noticed(metrics: Mapping[str, Any]) -> Iterator[list[str]]:
    corpus, given = metrics.get("corpus") or {}, metrics.get("translations") or {}
    for kind, text in NOTICED.items():
        if given.get(kind):
            yield [text, f"{given[kind]:,}", ", ".join(given.get("examples", {}).get(kind, [])[:3])]
    if corpus.get("skipped"):
        yield [f"rows of the corpus left out, of {corpus['rows']:,}", f"{corpus['skipped']:,}", ""]
    for note, number in corpus.get("notes", {}).items():
        yield [note, f"{number:,}", ""]


def _how(runs: Sequence[ReportRun]) -> list[Markup]:
    lines = []
    for run in runs:
        how, signature = run.metrics["intervals"], run.metrics["signature"]
        text = f"{how['method']}, {how['level']:g} %, {how['resamples']:,} resamples, seed {how['seed']}"
        lines += [
            element("dt", run.name),
            element("dd", "Signature: ", element("code", signature or UNDEFINED)),
            element("dd", f"Intervals: {text}" if how["resamples"] else "Intervals: none were computed"),
        ]
    limits = (
        "The corpora know men, women and, in part, neutral people. A grammatical gender is not a person's gender. "
        "Nouns of fixed gender say nothing about anybody and have no verdict: hence the two bounds of the accuracy."
    )
    return [element("dl", *lines), element("p", limits)]


# The browser of sentences: filters here, data below, the list is written by the script.


def _browser(runs: Sequence[ReportRun], shown: Sequence[_Sentence], total: int, columns: _Columns) -> list[Markup]:
    outcomes = [("right", "right"), ("wrong", "wrong"), ("none", "no verdict")]
    outcomes += [("differ", "the runs differ")] if len(runs) > 1 else []
    numbered = {
        "call": ("called", [call if i < len(_GENDERS) else f"none: {call}" for i, call in enumerate(_CALLS)]),
        **{name: (name, values) for name, (values, _) in columns.items()},
    }
    selects = [_select("run", "verdicts of", [(str(i), run.name) for i, run in enumerate(runs)], empty=False)]
    selects = selects if len(runs) > 1 else []
    selects.append(_select("outcome", "outcome", outcomes))
    for name, (text, values) in numbered.items():
        selects.append(_select(name, text, [(str(i), value) for i, value in enumerate(values)]))
    notes = ["The entity is marked in the source, and in the translation its head and, paler, the other aligned words."]
    if lost := sum(not _entity_spans(sentence.first) for sentence in shown):
        notes.append(
            f"In {lost:,} sentences the entity does not stand in the source as it is named, and is not marked."
        )
    if len(shown) < total:
        notes.append(
            f"Here are {len(shown):,} of {total:,} sentences, spread evenly over the corpus, to keep the page small; "
            "the numbers rest on all, and calls.jsonl of each run has all."
        )
    pager = [
        element("button", "Previous", type="button", data_step="-1"), " ", element("span", class_="where"), " ",
        element("button", "Next", type="button", data_step="1"),
    ]  # fmt: skip
    return [
        element("p", " ".join(notes)),
        element("noscript", element("p", "The list of sentences needs JavaScript; all the rest does not.")),
        element("form", *selects, element("button", "Show all", type="reset"), id="filters", hidden=True,
                aria_label="Choose sentences"),
        element("p", id="status", role="status", aria_live="polite"),
        element("div", *pager, class_="pager", role="group", aria_label="Pages, above the list", hidden=True),
        element("ol", id="list", tabindex="-1", aria_label="Sentences"),
        element("div", *pager, class_="pager", role="group", aria_label="Pages, below the list", hidden=True),
    ]  # fmt: skip


def _select(name: str, text: str, options: Iterable[tuple[str, str]], *, empty: bool = True) -> Markup:
    first = [element("option", "all", value="")] if empty else []
    rest = [element("option", shown, value=value) for value, shown in options]
    return element("label", element("span", text), element("select", *first, *rest, name=name))


# The data of the sentences. A column is an array of numbers. Texts are coded word by word, which leaves a quarter less
# than deflate alone: the code of a word is its place in a vocabulary, of which the first are the most frequent.

_Columns = dict[str, tuple[list[str], NDArray[np.uint16]]]


def _columns(shown: Sequence[_Sentence]) -> _Columns:
    """What is filtered by: the values of each property, and for each sentence the place of its value."""
    properties: dict[str, tuple[list[str], Callable[[CallRecord], str]]] = {
        "gold": (_GENDERS, lambda r: r.gold.value),
        "stereotype": ([kind.value for kind in Stereotype], lambda r: r.stereotype.value),
        "entity": (sorted({s.first.entity for s in shown}), lambda r: r.entity),
        "domain": (sorted({s.first.domain for s in shown}), lambda r: r.domain),
        "pronouns": (sorted({str(s.first.pronouns) for s in shown}, key=int), lambda r: str(r.pronouns)),
    }
    columns: _Columns = {}
    for name, (values, of) in properties.items():
        place = {value: i for i, value in enumerate(values)}
        columns[name] = values, np.array([place[of(s.first)] for s in shown], dtype="<u2")
    return columns


def _data(runs: Sequence[ReportRun], shown: Sequence[_Sentence], columns: _Columns) -> dict[str, Any]:
    """All that the script reads: see ``page.js``."""
    firsts = [s.first for s in shown]
    return {
        "rows": len(shown),
        "block": BLOCK,
        "genders": _GENDERS,
        "calls": _CALLS,
        "columns": {name: {"values": values, "at": packed(at.tobytes())} for name, (values, at) in columns.items()},
        "id": stream(firsts, lambda r: _ID_TOKEN.findall(_clean(r.id))),
        "source": stream(firsts, lambda r: _marked(r.source, [(span, _HEAD) for span in _entity_spans(r)])),
        "runs": [
            {
                "name": run.name,
                "lang": run.lang,
                "dir": run.direction,
                "call": packed(bytes(_call_code(s.records[i]) for s in shown)),
                "target": stream([s.records[i] for s in shown], _target_tokens),
                "evidence": stream([s.records[i] for s in shown], _evidence_tokens),
            }
            for i, run in enumerate(runs)
        ],
    }


def _call_code(record: CallRecord | None) -> int:
    if record is None:
        return _ABSENT
    return _CALLS.index(str(record.call.gender or record.call.reason))


def _entity_spans(record: CallRecord) -> list[Span]:
    """Where the entity's name stands in the source, as whole words in any case."""
    return [Span(*match.span()) for match in _phrase(record.entity).finditer(record.source)]


@cache
def _phrase(entity: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, entity.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


def _target_tokens(record: CallRecord | None) -> Iterable[str | int]:
    if record is None or record.translation is None:
        return ()
    head, others = record.call.target[:1], record.call.target[1:]
    others = tuple(span for span in others if not span.overlaps(head[0]))
    return _marked(record.translation, [*((span, _HEAD) for span in head), *((span, _OTHER) for span in others)])


def _marked(text: str, marks: Iterable[tuple[Span, int]]) -> Iterator[str | int]:
    """The tokens of a text, with the codes of marks before and after what is marked; of two that overlap, the first."""
    text, at = _clean(text), 0
    for (start, end), mark in sorted(marks):
        if start >= at:
            yield from _TOKEN.findall(text[at:start])
            yield mark
            yield from _TOKEN.findall(text[start:end])
            yield _END
            at = end
    yield from _TOKEN.findall(text[at:])


def _evidence_tokens(record: CallRecord | None) -> Iterator[str]:
    for e in record.call.evidence if record else ():
        says = [_clean(part) for part in (e.kind, e.gender.value if e.gender else "", e.source, e.detail)]
        yield "\x1f".join((*says, ""))
        yield f"{_clean(e.word)}\x1e"


def _clean(text: str) -> str:
    """The text without control characters, which no text needs and the coding does; of the same length."""
    return _NOT_TEXT.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def _json(content: object) -> Markup:
    """JSON that cannot end its element or begin a comment: no ``<``, and nothing beyond ASCII."""
    return Markup(json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"))
