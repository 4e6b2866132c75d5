"""The frame of a page and the pieces that its sections are made of: sections, tables, numbers with their intervals.

``page.css`` is its style, ``page.js`` its script; a content security policy lets the browser take nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from mtbias.report.markup import Markup, element, joined
from mtbias.report.plots import Point
from mtbias.report.run_table import UNDEFINED


def document(
    title: str, content: Sequence[Markup], sections: Mapping[str, tuple[str, Sequence[Markup]]], data: Markup
) -> Markup:
    """The whole page.

    Args:
        title: in the tab and as heading.
        content: what stands below the heading.
        sections: by their ids, the heading and the content of each.
        data: JSON that the script reads.
    """
    links = [element("li", element("a", heading, href=f"#{key}")) for key, (heading, _) in sections.items()]
    first = next(iter(sections))
    body = [
        element("a", "Skip to the numbers", href=f"#{first}", class_="skip"),
        element("header", element("h1", title), *content, element("nav", element("ul", *links), aria_label="Sections")),
        element("main", *(section(key, *part) for key, part in sections.items())),
        element("script", data, type="application/json", id="data"),
        element("script", Markup(_part("page.js"))),
    ]
    page = element("html", _head(title), element("body", *body), lang="en")
    return Markup(f"<!doctype html>\n{page}\n")


def section(key: str, heading: str, content: Sequence[Markup]) -> Markup:
    """A section with its heading."""
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


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, tall: bool = False) -> Markup:
    """A table with a header row; the first cell of a row is its header. Cells that are `td` or `th` already stay so."""
    body = [[_cell(cell, "td" if i else "th") for i, cell in enumerate(row)] for row in rows]
    made = element(
        "table", element("caption", caption),
        element("thead", element("tr", *(_cell(cell, "th", scope="col") for cell in head))),
        element("tbody", *(element("tr", *row) for row in body)),
    )  # fmt: skip
    kind = "scroll tall" if tall else "scroll"
    return element("div", made, class_=kind, role="region", aria_label=caption, tabindex="0")


def _cell(cell: str, tag: str, scope: str = "row") -> Markup:
    if isinstance(cell, Markup) and cell.startswith(("<td", "<th")):
        return cell
    return element("th", cell or UNDEFINED, scope=scope) if tag == "th" else element("td", cell)


def point(group: Mapping[str, Any], key: str, n: int | None = None) -> Markup:
    """A number of a group with its interval and, where told, the rows it rests on."""
    value, interval = group[key], group["ci"].get(key)
    text = Point("", value, tuple(interval) if value is not None and interval else None, 0).text
    number, _, rest = text.partition(" ")
    small = [element("small", part) for part in (rest, "" if n is None else f"n {n:,}") if part]
    return joined([element("b", number), *(part for piece in small for part in (" ", piece))])


def reading(interval: Sequence[float] | None, above: str, below: str) -> str:
    """What the interval of a difference says in words; nothing without an interval."""
    if interval is None:
        return ""
    return above if interval[0] > 0 else below if interval[1] < 0 else "the interval holds 0: no difference shown"
