"""The page of `mtbias validate`: how far the evaluator agrees with people, and what its errors do to a run's numbers.

One HTML file that needs nothing else and has no script. No number is computed here. Everything that comes from files is
escaped, and a content security policy forbids the page to load or run anything but its own style.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from mtbias.corpora.human_labels import HumanLabel
from mtbias.language.definition import Direction
from mtbias.metrics.human_agreement import LABELS
from mtbias.report.markup import Markup, element, joined
from mtbias.report.page import section, table
from mtbias.report.plots import ALL, Panel, Point, scale, svg_intervals
from mtbias.report.run_table import UNDEFINED, interval_text, number_text
from mtbias.report.validation_table import (
    BASES,
    GENDERS,
    NUMBERS,
    basis_rows,
    evidence_rows,
    label_counts,
    notes,
    run_name,
)
from mtbias.types import GenderCall, Span

MAX_ROWS = 2000
"""More disagreements than these are not shown, and the page says so."""

_LEVEL = "95 % interval"


@dataclass(frozen=True)
class LabelledLanguage:
    """A language as it enters the page."""

    numbers: Mapping[str, Any]
    """`Validation.to_json`."""
    direction: Direction
    """In which direction the language is written."""
    differing: Sequence[tuple[HumanLabel, GenderCall]]
    """The rows on which label and call, or the heads, differ."""


class _PercentPanel(Panel):
    """A panel of shares."""

    __slots__ = ()

    @property
    def axis(self) -> str:
        """What the value axis shows, with its unit."""
        return f"{self.measure} in per cent, {self.level}"


def render_page(
    languages: Sequence[LabelledLanguage], together: Mapping[str, Any], corrections: Sequence[Mapping[str, Any]]
) -> str:
    """The page, as text to be written in UTF-8.

    Args:
        languages: at least one.
        together: `Validation.to_json` of all languages together (or of the one).
        corrections: `CorrectedRun.to_json` of each run that was corrected.
    """
    sections = {"agreement": ("Agreement with human labels", _agreement(languages, together))}
    if together["by_basis"]:
        sections["basis"] = ("By what the label rests on", _basis(languages, together))
    sections["evidence"] = ("By what decided the call", _evidence(languages, together))
    sections["confusion"] = ("Label and call", _confusion(languages))
    if corrections:
        sections["corrected"] = ("Runs, corrected", _corrected(corrections))
    sections["rows"] = ("Where label and call differ", list(_rows(languages)))
    sections["how"] = ("How it was made", _how(languages, corrections))
    title = f"How far to trust the evaluator: {', '.join(part.numbers['lang'] for part in languages)}"
    return _document(title, sections)


def _document(title: str, sections: Mapping[str, tuple[str, Sequence[Markup]]]) -> str:
    links = [element("li", element("a", heading, href=f"#{key}")) for key, (heading, _) in sections.items()]
    body = element(
        "body",
        element("a", "Skip to the numbers", href="#agreement", class_="skip"),
        element(
            "header", element("h1", title),
            element("p", "Made by mtbias. A dash (–) is a number that is not defined."),
            element("nav", element("ul", *links), aria_label="Sections"),
        ),
        element("main", *(section(key, *part) for key, part in sections.items())),
    )  # fmt: skip
    style = resources.files("mtbias.report").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    head = element(
        "head", element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title), element("link", rel="icon", href="data:,"), element("style", Markup(style)),
    )  # fmt: skip
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _agreement(languages: Sequence[LabelledLanguage], together: Mapping[str, Any]) -> list[Markup]:
    shown = [part.numbers for part in languages]
    many = len(shown) > 1
    points = {
        ALL if part is together else part["lang"]: _share(part["agreement"], part["agreement_interval"], part["n"])
        for part in ([together, *shown] if many else shown)
    }
    panel = _PercentPanel("Agreement", "language", _LEVEL, tuple(points), (("evaluator", _named(points)),))
    annotator, basis = shown[0]["annotator"], shown[0]["basis"]
    which = f", with basis {' or '.join(basis)}" if basis else ""
    head = ["language", "labels", "by gender", "agreement", "where\ncalled", "κ × 100", "balanced\naccuracy", "no call",
            "fixed\ngender", "head found"]  # fmt: skip
    rows = [
        [
            part["lang"], f"{part['n']:,}", label_counts(part), _number(part["agreement"], part["agreement_interval"]),
            number_text(part["agreement_decided"]), number_text(part["kappa"]), number_text(part["balanced_accuracy"]),
            _number(part["undecided"], part["undecided_interval"]), f"{part['fixed_nouns']:,}",
            _number(part["head_exact"], part["head_interval"]),
        ]
        for part in ([*shown, together] if many else shown)
    ]  # fmt: skip
    text = (
        f"Usable labels of annotator {annotator}{which}. A row without a call is a disagreement. Balanced accuracy is "
        "the mean agreement over the labels that occur: calling everybody male has 50 where two genders occur, however "
        "rare the second is. Fixed gender: rows without a call because the noun's gender says nothing about the "
        "person. Head found: the word that people marked was found."
    )
    figure = _figure("Agreement by language", [svg_intervals(panel, ident="agreement-plot")])
    return [element("p", text), figure, table("Agreement by language, in per cent", head, rows)]


def _basis(languages: Sequence[LabelledLanguage], together: Mapping[str, Any]) -> list[Markup]:
    text = (
        "The evaluator reads the noun and what stands in its phrase (N and D). Where people let a pronoun overrule the "
        "noun (C) it disagrees on purpose."
    )
    tables = (_breakdown("basis", basis_rows(part), part["lang"]) for part in _each(languages, together))
    return [element("p", text), element("div", *tables, class_="pair")]


def _evidence(languages: Sequence[LabelledLanguage], together: Mapping[str, Any]) -> list[Markup]:
    parts = _each(languages, together)
    tables = [_breakdown("word that decided", evidence_rows(part), part["lang"]) for part in parts]
    reasons = [
        table(
            f"{part['lang']}: no call, by reason, in per cent of all labels", ["reason", "n", "share"],
            [[name, f"{row['n']:,}", _number(row["percent"], row["interval"])]
             for name, row in part["reasons"].items()],
        )
        for part in parts if part["reasons"]
    ]  # fmt: skip
    return [element("div", *tables, class_="pair"), element("div", *reasons, class_="pair")]


def _each(languages: Sequence[LabelledLanguage], together: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All languages together first, where there are several."""
    return [*([together] if len(languages) > 1 else ()), *(part.numbers for part in languages)]


def _breakdown(what: str, rows: Iterable[tuple[str, int, float, Sequence[float]]], lang: str) -> Markup:
    body = [[name, f"{n:,}", _number(value, ends)] for name, n, value, ends in rows]
    return table(f"{lang}: agreement by {what}, in per cent", [what, "n", "agreement"], body)


def _confusion(languages: Sequence[LabelledLanguage]) -> list[Markup]:
    text = "Rows: what a human read. Columns: what the evaluator called. These errors are what runs are corrected with."
    return [element("p", text), element("div", *(_confusion_table(part.numbers) for part in languages), class_="pair")]


def _confusion_table(numbers: Mapping[str, Any]) -> Markup:
    rows = []
    for label, counts in zip(GENDERS, numbers["confusion"], strict=True):
        cells = [
            element("td", f"{n:,}", class_="hit" if call == label else None)
            for call, n in zip((*GENDERS, None), counts, strict=True)
        ]
        rows.append([label, *cells, f"{numbers['labels'][label]:,}"])
    return table(f"{numbers['lang']}: labels by call", ["label / called", *GENDERS, "no call", "all"], rows)


def _corrected(corrections: Sequence[Mapping[str, Any]]) -> list[Markup]:
    text = (
        "As called: the run's numbers, with intervals that know the sampling of its sentences alone. Corrected: what a "
        "human would have read, estimated from the errors on the labels; these intervals carry the sampling of the "
        "labels too. The correction assumes that errors depend on the gender that a human reads and on nothing else, "
        "and that the labels are a fair sample of such translations."
    )
    names = [run_name(part, corrections) for part in corrections]
    kinds = (("as called", "plain"), ("corrected", "corrected"))
    panels = []
    for key, title in NUMBERS.items():
        series = tuple(
            (name, {run: _share(part[kind][key]["value"], part[kind][key]["interval"], part["n"], run)
                    for run, part in zip(names, corrections, strict=True)})
            for name, kind in kinds
        )  # fmt: skip
        kind = _PercentPanel if key == "accuracy" else Panel
        panels.append(kind(title, "run", _LEVEL, tuple(names), series))
    axis = scale(panels[1:])
    plots = [svg_intervals(p, ident=f"corrected-{i}", axis=axis if i else None) for i, p in enumerate(panels)]
    rows = [
        [
            run_name(part, corrections), f"{part['n']:,}", label_counts(part),
            *(_number(part[kind][key]["value"], part[kind][key]["interval"]) for key in NUMBERS
              for _, kind in kinds),
        ]
        for part in corrections
    ]  # fmt: skip
    head = ["run", "n", "labels", *(f"{title},\n{name}" for title in NUMBERS.values() for name, _ in kinds)]
    noted = [(name, found) for name, part in zip(names, corrections, strict=True) if (found := notes(part))]
    said = [element("li", f"{name}: {'; '.join(found)}.") for name, found in noted]
    return [
        element("p", text), _figure("Runs as called and corrected", plots),
        table("Runs as called and corrected, in per cent", head, rows),
        *([element("ul", *said)] if said else []),
    ]  # fmt: skip


def _rows(languages: Sequence[LabelledLanguage]) -> Iterator[Markup]:
    total = sum(len(part.differing) for part in languages)
    shown = [(part, *row) for part in languages for row in part.differing][:MAX_ROWS]
    if not total:
        yield element("p", "There is no such row.")
        return
    which = f"The first {len(shown):,} of {total:,} rows" if len(shown) < total else f"{total:,} rows"
    yield element("p", f"{which} where label and call differ, or another word was found than people marked. Marked "
                  "strongly: the entity, and the head word that was found; marked lightly: the other words that were "
                  "aligned.")  # fmt: skip
    yield element("ul", *(_row(*row) for row in shown), id="list")


def _row(part: LabelledLanguage, label: HumanLabel, call: GenderCall) -> Markup:
    human = LABELS[label.label].value
    if call.gender is None:
        called, kind = f"no call: {call.reason}", "none"
    else:
        called, kind = f"called {call.gender}", "right" if call.gender == human else "wrong"
    basis = f", basis {label.basis} ({BASES[label.basis]})" if label.basis in BASES else ""
    marked = "" if label.target_head is None else f"; marked by people: {label.target[slice(*label.target_head)]}"
    heads, others = [*call.target[:1]], [*call.target[1:]]
    evidence = "; ".join(
        f"{e.kind} {e.word}: {e.gender or 'silent'} ({', '.join(filter(None, (e.source, e.detail)))})"
        for e in call.evidence
    )
    lang = part.numbers["lang"]
    return element(
        "li",
        element("p", element("span", f"label {human}", class_="verdict"), f"{basis}; ",
                element("span", called, class_=f"verdict {kind}"), element("bdi", marked)),
        element("p", _marked(label.source, [label.head], []), class_="text", lang="en"),
        element("p", _marked(label.target, heads, others), class_="text", lang=lang, dir=part.direction),
        element("p", element("small", "Evidence: ", element("bdi", evidence or "none"))),
        element("p", element("small", f"{lang}, {label.system}, line {label.line}")),
    )  # fmt: skip


def _marked(text: str, heads: Sequence[Span], others: Sequence[Span]) -> Markup:
    """The text with its marks; where spans overlap, the head's wins."""
    kinds = [""] * len(text)
    for kind, spans in (("other", others), ("head", heads)):
        for span in spans:
            kinds[span.start : span.end] = [kind] * len(kinds[span.start : span.end])
    parts: list[str] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or kinds[end] != kinds[start]:
            piece, kind = text[start:end], kinds[start]
            parts.append(element("mark", piece, class_="head" if kind == "head" else None) if kind else piece)
            start = end
    return joined(parts)


def _how(languages: Sequence[LabelledLanguage], corrections: Sequence[Mapping[str, Any]]) -> list[Markup]:
    lines = [
        element("dt", "Intervals"),
        element("dd", "Of shares: Wilson, 95 %. Of runs as called: percentile bootstrap over rows."),
    ]
    for part in languages:
        lines += [element("dt", part.numbers["lang"]), element("dd", element("code", part.numbers["signature"]))]
    for run in corrections:
        how = (
            f"errors of {', '.join(run['confusion_of'])}; {run['resamples']:,} draws, seed {run['seed']}, "
            f"Dirichlet prior {run['prior']:g}; median and 2.5 % to 97.5 %. Signature of the run: "
        )
        lines += [element("dt", run_name(run, corrections)), element("dd", how, element("code", run["signature"]))]
    return [element("dl", *lines)]


def _figure(caption: str, plots: Sequence[Markup]) -> Markup:
    shown = element("div", *plots, class_="plots", role="region", aria_label=f"Plots: {caption}", tabindex="0")
    return element("figure", element("figcaption", caption), shown)


def _number(value: float | None, interval: Sequence[float] | None) -> Markup:
    if value is None:
        return joined([UNDEFINED])
    ends = [] if interval is None else [" ", element("small", interval_text(interval))]
    return joined([element("b", number_text(value)), *ends])


def _share(value: float | None, interval: Sequence[float] | None, n: int, group: str = "") -> Point:
    return Point(group, value, None if interval is None else (interval[0], interval[1]), n)


def _named(points: Mapping[str, Point]) -> dict[str, Point]:
    return {name: point._replace(group=name) for name, point in points.items()}
