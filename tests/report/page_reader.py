"""A report page as a tree and its data as text; and small runs to make pages of."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any, Literal

from mtbias.report.report_runs import ReportRun
from mtbias.report.run_page import render_html
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.scores import score
from mtbias.types import Evidence, Gender, GenderCall, Reason, Span, Stereotype

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
EVIL = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>]]>\u2028\"'&lt;"
VOID = {"meta", "link", "input"}


@dataclass
class Node:
    """An element of a parsed page."""

    tag: str
    attributes: dict[str, str | None]
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "", **attributes: str) -> Iterator[Node]:
        for child in self.children:
            if isinstance(child, Node):
                if tag in {"", child.tag} and attributes.items() <= child.attributes.items():
                    yield child
                yield from child.all(tag, **attributes)

    def one(self, tag: str = "", **attributes: str) -> Node:
        (found,) = self.all(tag, **attributes)
        return found


class Parser(HTMLParser):
    """Builds the tree and fails where an element is not closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), (tag, attrs)
        self.open[-1].children.append(node := Node(tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read_page(page: str) -> Node:
    parser = Parser()
    parser.feed(page)
    parser.close()
    assert len(parser.open) == 1
    return parser.open[0]


def cook_evidence(gender: Gender | None) -> Evidence:
    """What the table says of the noun of "Die Köchin aß …"."""
    return Evidence("feminine_noun", "noun", "Köchin", Span(4, 10), gender, "lexicon", "Köchin")


def make_record(row: int = 0, gender: Gender | None = F, **changes: Any) -> CallRecord:
    """A sentence with the gold gender female; one of its parts, or of those of its call,
    changed."""
    call: dict[str, Any] = {
        "id": f"demo-{row + 1}",
        "gender": gender,
        "reason": None if gender else Reason.NO_MORPHOLOGY,
        "target": (Span(4, 10),),
        "evidence": (cook_evidence(gender),),
        "basis": None,
        "trust": None,
        "stanza_gender": None,
    }
    record = CallRecord(
        row, "The cook ate her soup.", "Die Köchin aß ihre Suppe.", "cook", F, Stereotype.PRO, "kitchen", 1,
        GenderCall(**{**call, **{key: changes.pop(key) for key in list(changes) if key in call}}),
    )  # fmt: skip
    return replace(record, **changes)


def make_run(
    records: Sequence[CallRecord],
    name: str = "opus",
    lang: str = "de",
    direction: Literal["ltr", "rtl"] = "ltr",
    **content: Any,
) -> ReportRun:
    """A run with the numbers of its records; `content` stands in its `metrics.json` in place of
    what is there."""
    metrics = {**metrics_json(records, name), **content}
    return ReportRun(name, lang, read_metrics(metrics), records, direction)


def metrics_json(records: Sequence[CallRecord], name: str = "opus") -> dict[str, Any]:
    scores = score(records, n_resamples=50)
    return scores.to_json(signature=f"dataset:demo|system:{name}", fingerprint="0" * 16)


def make_page(*runs: ReportRun, **options: Any) -> Node:
    return read_page(render_html(runs, **options))


def page_data(page: Node) -> Any:
    return json.loads(page.one("script", id="data").text)


def unpacked(text: str) -> Any:
    """What the page's script unpacks: JSON in gzip in base 64."""
    return json.loads(gzip.decompress(base64.b64decode(text, validate=True)))


def sentence_ids(data: Any) -> list[str]:
    return [name for block in data["blocks"] for name in unpacked(block)["id"]]


def sources(data: Any) -> list[str]:
    return [
        show_marks(pieces) for block in data["blocks"] for pieces, *_ in unpacked(block)["text"]
    ]


def targets(data: Any, run: int = 0) -> list[str]:
    return [
        show_marks(pieces[run])
        for block in data["blocks"]
        for _, *pieces in unpacked(block)["text"]
    ]


def evidence(data: Any, run: int = 0) -> list[list[list[str]]]:
    blocks = map(unpacked, data["blocks"])
    return [
        [block["pieces"][place] for place in row[run]]
        for block in blocks
        for row in block["evidence"]
    ]


def show_marks(pieces: Sequence[str | list[str]]) -> str:
    """The text with the head in brackets, other aligned words in parentheses."""
    ends = {"head": "[{}]", "other": "({})"}
    return "".join(
        piece if isinstance(piece, str) else ends[piece[0]].format(piece[1]) for piece in pieces
    )


def column_values(data: Any, name: str) -> list[str]:
    column = data["columns"][name]
    return [column["values"][place] for place in unpacked(column["at"])]


def run_calls(data: Any, run: int = 0) -> list[str | None]:
    return [
        None if place is None else data["calls"][place]
        for place in unpacked(data["runs"][run]["call"])
    ]


def table_rows(page: Node, caption: str) -> list[list[str]]:
    (table,) = (table for table in page.all("table") if table.one("caption").text == caption)
    return [
        [cell.text.strip() for cell in row.children if isinstance(cell, Node)]
        for row in table.all("tr")
    ]


def table_lines(page: Node, caption: str) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in table_rows(page, caption)}
