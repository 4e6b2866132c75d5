"""The section of the page that shows the entities, and how they go with the share of women."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtbias.metrics.women_share import WomenRelation, WomenShares
from mtbias.report.markup import Markup, element
from mtbias.report.page import point, table
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_table import UNDEFINED, number_text
from mtbias.report.scatter import WOMEN_MEASURES, correlation_text, svg_women, women_scale
from mtbias.report.sentence_data import Columns


def entities(runs: Sequence[ReportRun], columns: Columns, women: Sequence[WomenRelation] | None) -> list[Markup]:
    """Accuracy by entity, with its recalls; plots against the share of women, or how to get them."""
    at = {name: str(i) for i, name in enumerate(columns["entity"][0])}
    tables = [run.metrics["by_entity"] for run in runs]
    size = {name: part[name]["n"] for part in reversed(tables) for name in part}
    shares = women[0].shares if women else None
    rows = [
        [
            element("a", name or UNDEFINED, href="#sentences", data_entity=at.get(name)),
            *([] if shares is None else [_share_cell(shares, name)]),
            *(cell for part in tables for cell in _entity_cells(part.get(name))),
        ]
        for name in sorted(size, key=lambda name: (-size[name], name))
    ]
    head = ["entity"] + ([] if shares is None else ["share of\nwomen, %"])
    for run in runs:
        prefix = f"{run.name}:\n" if len(runs) > 1 else ""
        head += [f"{prefix}{what}" for what in ("n", "accuracy", "right for men", "right for women")]
    heads = [element("th", text, scope="col", data_sort=str(i)) for i, text in enumerate(head)]
    text = (
        "Accuracy by entity, in per cent, with its interval; then the share of the men and of the women that are right "
        "(recall). The head of a column sorts by it; a name shows its sentences below."
    )
    parts = [element("p", text), table("Accuracy by entity", heads, rows, tall=True)]
    return [*parts, *(_women(runs, women) if women else _no_women())]


def _entity_cells(group: Mapping[str, Any] | None) -> list[Markup]:
    if group is None:
        return [element("td", UNDEFINED, data_value="")] * 4
    rows = group["denominators"]
    cells: list[tuple[float | None, list[str]]] = [
        (group["n"], [f"{group['n']:,}"]),
        (
            group["accuracy"],
            [element("div", _strip(group), element("span", point(group, "accuracy")), class_="strip")],
        ),
        (group["recall_male"], [point(group, "recall_male", rows["male"])]),
        (group["recall_female"], [point(group, "recall_female", rows["female"])]),
    ]
    return [element("td", *text, data_value="" if value is None else f"{value}") for value, text in cells]


def _share_cell(shares: WomenShares, name: str) -> Markup:
    share = shares.of(name)
    return element("td", number_text(share), data_value="" if share is None else f"{share}")


def _strip(group: Mapping[str, Any]) -> Markup:
    """Accuracy and its interval on a line from 0 to 100, for the eye only."""
    parts = [element("path", d="M0 6h100", class_="grid", stroke="currentColor", stroke_opacity=0.25)]
    if interval := group["ci"]["accuracy"]:
        line = f"M{interval[0]:.1f} 6H{interval[1]:.1f}"
        parts.append(element("path", d=line, class_="c0", stroke="currentColor", stroke_width=2))
    if group["accuracy"] is not None:
        parts.append(element("circle", cx=float(group["accuracy"]), cy=6, r=3.5, class_="c0"))
    return element("svg", *parts, width=106, height=12, viewBox="-3 0 106 12", aria_hidden="true")


def _no_women() -> list[Markup]:
    command = element("code", "mtbias report RUN --out FILE.html --women TABLE")
    return [
        element("h3", "Against the share of women"),
        element("p", "Not shown: no shares of women were given. ", command, " adds a plot of each entity against the "
                "share of women in the occupation. TABLE is a CSV or TSV with the columns ", element("code", "entity"),
                " and ", element("code", "share"), "; Winogender's occupations-stats.tsv will do."),
    ]  # fmt: skip


def _women(runs: Sequence[ReportRun], women: Sequence[WomenRelation]) -> Iterator[Markup]:
    shares = women[0].shares
    yield element("h3", "Against the share of women")
    yield element(
        "p", "A point is an entity. Above 0 in the first plot it is translated right more often where it is a woman. "
        "A hollow point has fewer than 10 sentences about men or about women. "
        f"Shares of women: {shares.name}, column {shares.column}.",
    )  # fmt: skip
    for measure, what in WOMEN_MEASURES.items():
        axis = women_scale(women, measure)
        name = f"{what[0].upper()}{what[1:]}, by share of women"
        plots = [
            svg_women(relation, run.name, measure, ident=f"women-{measure}-{i}", axis=axis, colour=i % 6)
            for i, (run, relation) in enumerate(zip(runs, women, strict=True))
        ]  # fmt: skip
        yield element(
            "figure", element("figcaption", name),
            element("div", *plots, class_="plots", role="region", aria_label=f"Plots: {name}", tabindex="0"),
        )  # fmt: skip
    rows = [
        [run.name, *(correlation_text(getattr(relation, key)) for key in WOMEN_MEASURES), f"{relation.without:,}"]
        for run, relation in zip(runs, women, strict=True)
    ]
    yield table(
        "Do entities with more women fare better? Rank correlation with the share of women",
        ["run", *WOMEN_MEASURES.values(), "entities without a share"], rows,
    )  # fmt: skip
    how = women[0]
    yield element(
        "p", "n counts entities; the first number needs sentences about men and about women. "
        f"Intervals: {how.level:g} %, percentile bootstrap over entities, {how.resamples:,} resamples, "
        f"seed {how.seed}.", class_="quiet",
    )  # fmt: skip
