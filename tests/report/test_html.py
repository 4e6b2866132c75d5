"""The page of a run: whole, safe against what stands in the data, and with the numbers of `metrics.json`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest

from mtbias.errors import DataError
from mtbias.metrics import score
from mtbias.report.html import MAX_BYTES, ReportRun, render_html
from mtbias.runs.records import CallRecord
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


def _parsed(page: str) -> Node:
    parser = Parser()
    parser.feed(page)
    parser.close()
    assert len(parser.open) == 1
    return parser.open[0]


def _record(row: int = 0, gender: Gender | None = F, **changes: Any) -> CallRecord:
    """A sentence with the gold gender female; one of its parts, or of those of its call, changed."""
    call = {
        "id": f"demo-{row + 1}",
        "gender": gender,
        "reason": None if gender else Reason.NO_MORPHOLOGY,
        "target": (Span(4, 10),),
        "evidence": (Evidence("noun", "Köchin", gender, "lexicon", "feminine: Köchin"),),
    }
    record = CallRecord(
        row, "The cook ate her soup.", "Die Köchin aß ihre Suppe.", "cook", F, Stereotype.PRO, "kitchen", 1,
        GenderCall(**{**call, **{key: changes.pop(key) for key in list(changes) if key in call}}),
    )  # fmt: skip
    return replace(record, **changes)


def _run(
    records: Sequence[CallRecord], name: str = "opus", lang: str = "de", direction: Literal["ltr", "rtl"] = "ltr"
) -> ReportRun:
    scores = score(records, [record.call for record in records], n_resamples=50)
    metrics = scores.to_json(signature=f"dataset:demo|system:{name}", fingerprint="0" * 16)
    return ReportRun(name, lang, metrics, records, direction)


def _page(*runs: ReportRun, **options: Any) -> Node:
    return _parsed(render_html(runs, **options))


def _data(page: Node) -> Any:
    return json.loads(page.one("script", id="data").text)


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text.replace(".", "<")), -15)


def _rows(stream: Any) -> list[str]:
    """The rows of a stream, read as the page's script reads them: strings of UTF-16, marks as control characters."""
    words, last = [], b""
    for same, rest in re.findall(r"([\x00-\x1b])([^\x00-\x1b]*)", _unpacked(stream["words"]).decode()):
        last = last[: 2 * ord(same)] + rest.encode("utf-16-le")
        words.append(last.decode("utf-16-le"))
    rows = [""]
    for data in map(_unpacked, stream["blocks"]):
        codes = iter(data)
        for code in codes:
            number = code
            if code >= 224:
                number = 128 + 96 * 256 + ((code - 224) << 16 | next(codes) << 8 | next(codes))
            elif code >= 128:
                number = 128 + ((code - 128) << 8 | next(codes))
            if number == 0:
                rows.append("")
            else:
                rows[-1] += chr(number) if number < 4 else words[number - 4]
    assert rows.pop() == ""
    return rows


def _marked(text: str) -> str:
    return text.replace("\x01", "[").replace("\x02", "(").replace("\x03", "]")


def _column(data: Any, name: str) -> list[str]:
    column = data["columns"][name]
    return [column["values"][place] for place in np.frombuffer(_unpacked(column["at"]), "<u2")]


def _calls(data: Any, run: int = 0) -> list[str | None]:
    return [None if code == 255 else data["calls"][code] for code in _unpacked(data["runs"][run]["call"])]


def _table(page: Node, caption: str) -> list[list[str]]:
    (table,) = (table for table in page.all("table") if table.one("caption").text == caption)
    return [[cell.text.strip() for cell in row.children if isinstance(cell, Node)] for row in table.all("tr")]


def _lines(page: Node, caption: str) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in _table(page, caption)}


# The page as a whole.


def test_the_page_needs_nothing_else_and_runs_nothing_else() -> None:
    text = render_html([_run([_record()])])
    page = _parsed(text)
    assert text.startswith('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Sec')
    policy = (page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"] or "").split("; ")
    style, script = page.one("style").text, [s.text for s in page.all("script") if "type" not in s.attributes]
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, *script)]
    assert policy == [
        "default-src 'none'", f"style-src 'sha256-{hashes[0]}'", f"script-src 'sha256-{hashes[1]}'", "img-src data:",
        "base-uri 'none'", "form-action 'none'",
    ]  # fmt: skip
    for node in page.all():
        for key, value in node.attributes.items():
            assert not key.startswith("on")
            assert key not in {"style", "src", "srcset", "action", "srcdoc"}
            assert key != "href" or value == "data:," or (value or "").startswith("#")
    assert set(re.findall(r"\w+://[^\"'\s<]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in style
    assert "url(" not in style
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval",
        "fetch",
        "XMLHttp",
        "import",
    ):
        assert word not in script[0]


def test_the_same_runs_give_the_same_bytes() -> None:
    assert render_html([_run([_record()])]) == render_html([_run([_record()])])


def test_landmarks_labels_and_links() -> None:
    page = _page(_run([_record(), _record(1, None)], "a"), _run([_record(), _record(1, M)], "b"))
    ids = [node.attributes["id"] for node in page.all() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    for node in page.all():
        for name in (node.attributes.get("aria-labelledby") or "").split():
            assert name in ids
        if node.tag == "a":
            assert (node.attributes["href"] or "")[1:] in ids
        if node.attributes.get("role") in {"region", "group"} or node.tag in {"nav", "form", "section", "svg"}:
            assert {"aria-label", "aria-labelledby", "aria-hidden"} & node.attributes.keys(), node
        if node.tag == "th":
            assert node.attributes["scope"] in {"row", "col"}
            assert node.text
    assert len(list(page.all("main"))) == len(list(page.all("h1"))) == len(list(page.all("header"))) == 1
    assert [heading.text for heading in page.all("h2")] == [link.text for link in page.one("nav").all("a")]
    assert {select.attributes["name"] for label in page.all("label") for select in label.all("select")} == {
        "run", "outcome", "call", "gold", "stereotype", "entity", "domain", "pronouns",
    }  # fmt: skip
    assert len(list(page.all("select"))) == 8
    assert page.one(role="status").attributes["aria-live"] == "polite"
    # What scrolls can be reached with the keyboard.
    scrolled = [n for n in page.all("div") if {"scroll", "plots"} & set((n.attributes.get("class") or "").split())]
    assert {node.attributes.get("tabindex") for node in scrolled} == {"0"}


def test_print_dark_and_phone_are_thought_of() -> None:
    page = _page(_run([_record()]))
    style = page.one("style").text
    assert "@media screen and (prefers-color-scheme: dark)" in style
    assert "@media print" in style
    assert page.one("meta", name="viewport").attributes["content"] == "width=device-width, initial-scale=1"


def _luminance(colour: Sequence[float]) -> float:
    """Relative luminance after WCAG 2.2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(scheme: str) -> None:
    style = _page(_run([_record()])).one("style").text
    blocks = dict(zip(("light", "dark"), re.findall(r":root \{([^}]*)\}", style), strict=True))
    found = dict(re.findall(r"--([\w-]+): ([^;]+);", blocks[scheme]))
    colours: dict[str, Sequence[float]] = {}
    for name, value in found.items():
        digits = value[1:] if len(value) == 7 else "".join(2 * d for d in value[1:])
        colours[name] = tuple(map(int, value.split(","))) if "," in value else tuple(bytes.fromhex(digits))
    # The deepest shade of the table of calls lies over the ground with 30 %.
    colours["deep"] = [0.3 * a + 0.7 * b for a, b in zip(colours["shade"], colours["bg"], strict=True)]

    def contrast(one: str, other: str) -> float:
        dark, light = sorted((_luminance(colours[one]), _luminance(colours[other])))
        return (light + 0.05) / (dark + 0.05)

    text = [(name, "bg") for name in ("fg", "quiet", "link", "right", "wrong", "none")]
    text += [("fg", "panel"), ("quiet", "panel"), ("on-mark", "head"), ("on-mark", "other"), ("link", "deep")]
    assert [pair for pair in text if contrast(*pair) < 4.5] == []
    assert [f"c{i}" for i in range(6) if contrast(f"c{i}", "bg") < 3] == []


# The numbers.


def test_the_numbers_are_those_of_metrics_json() -> None:
    run = _run([_record()])
    metrics = json.loads(json.dumps(run.metrics))
    metrics["overall"] |= {
        "decided_percent": 97.479424, "accuracy": 59.44, "accuracy_bounds": [59.44, 60.98], "f1_male": 65.25,
        "precision_male": 55.04, "recall_male": 80.0, "precision_female": 70.0, "recall_female": 41.96,
        "f1_female": 52.75, "delta_g": 12.5, "accuracy_pro": 70.0, "accuracy_anti": 57.5, "delta_s": -0.04,
        "delta_s_macro_f1": None,
        "ci": {"accuracy": [57.9, 60.96], "f1_male": [63.0, 67.0], "f1_female": [50.0, 55.0], "delta_g": [10.1, 14.9],
               "delta_s": [-3.1, 3.9], "delta_s_macro_f1": [1.0, 2.0]},
        "denominators": {"male": 1826, "female": 1822, "neutral": 240, "pro": 1584, "anti": 1583,
                         "called_male": 2500, "called_female": 1100},
    }  # fmt: skip
    page = _page(replace(run, metrics=metrics))
    assert _lines(page, "All numbers, in per cent") == {
        "number": ["opus"],
        "With a verdict": ["97.5 n 1"],
        "Accuracy": ["59.4 [57.9, 61.0] n 1"],
        "Precision, male": ["55.0 n 2,500"],
        "Recall, male": ["80.0 n 1,826"],
        "F1, male": ["65.2 [63.0, 67.0]"],
        "Precision, female": ["70.0 n 1,100"],
        "Recall, female": ["42.0 n 1,822"],
        "F1, female": ["52.8 [50.0, 55.0]"],
        "ΔG = F1 male - F1 female": ["12.5 [10.1, 14.9]"],
        "Accuracy, stereotype fits": ["70.0 n 1,584"],
        "Accuracy, stereotype broken": ["57.5 n 1,583"],
        # −0.04 rounds to zero, which has no sign.
        "ΔS = fits - broken": ["0.0 [-3.1, 3.9]"],
        "ΔS of macro-F1": ["–"],
    }
    tiles = [tile.text for tile in page.all("div", **{"class": "tile"})]
    assert "59.4 [57.9, 61.0]right in 61.0 % of those with a verdict" in tiles[0]
    assert "12.5 [10.1, 14.9]better for men" in tiles[1]
    assert "0.0 [-3.1, 3.9]the interval holds 0: no difference shown" in tiles[2]


def test_breakdowns_and_entities() -> None:
    # Kitchen: 2 of 4 right, all decided. Garden: 1 of 2 right, 1 undecided. No man, so no ΔG; no anti row, so no ΔS.
    kitchen = [_record(i, gender) for i, gender in enumerate((F, F, M, M))]
    garden = [_record(i, gender, domain="garden", entity="apprentice", pronouns=2) for i, gender in ((4, F), (5, None))]
    page = _page(_run([*kitchen, *garden]))
    by_domain = _lines(page, "By domain")
    assert by_domain["domain"] == ["n", "with a verdict", "accuracy", "F1 male", "F1 female", "ΔG", "ΔS"]
    # F1 female: 2·2/(2 + 4) and 2·1/(1 + 2).
    assert by_domain["kitchen"] == ["4", "100.0", "50.0", "–", "66.7", "–", "–"]
    assert by_domain["garden"] == ["2", "50.0", "50.0", "–", "66.7", "–", "–"]
    assert _lines(page, "By pronouns in the source")["2"][:3] == ["2", "50.0", "50.0"]
    assert _lines(page, "By stereotype")["pro"][:2] == ["6", "83.3"]
    entities = _table(page, "Accuracy by entity")
    # Most sentences first; recall of men is not defined.
    assert entities == [
        ["entity", "n", "accuracy", "right for men", "right for women"],
        ["cook", "4", "50.0", "– n 0", "50.0 n 4"],
        ["apprentice", "2", "50.0", "– n 0", "50.0 n 2"],
    ]
    cells = page.one("section", id="entities").all("td")
    assert [cell.attributes["data-value"] for cell in cells][:4] == ["4", "50.0", "", "50.0"]
    titles = {title.attributes.get("id"): title.text for svg in page.all("svg") for title in svg.all("title")}
    assert {key: title for key, title in titles.items() if key} == {
        "by_domain-0-title": "ΔG by domain", "by_domain-1-title": "ΔS by domain",
        "by_pronouns-0-title": "ΔG by pronouns in the source", "by_pronouns-1-title": "ΔS by pronouns in the source",
    }  # fmt: skip


def test_the_confusion_counts_all_stereotypes_together() -> None:
    records = [
        _record(0, F), _record(1, M), _record(2, M, stereotype=Stereotype.ANTI), _record(3, None, gold=M),
        _record(4, M, gold=M, stereotype=Stereotype.NONE), _record(5, F, gold=N),
    ]  # fmt: skip
    page = _page(_run(records))
    assert _table(page, "opus: sentences by gold gender and call") == [
        ["gold / called", "male", "female", "neutral", "no verdict", "all"],
        ["male", "1", "0", "0", "1", "2"],
        ["female", "2", "1", "0", "0", "3"],
        ["neutral", "0", "1", "0", "0", "1"],
    ]
    links = [
        (a.text, a.attributes["data-gold"], a.attributes.get("data-call"), a.attributes.get("data-outcome"))
        for a in page.one("section", id="confusion").all("a")
    ]
    genders = _data(page)["genders"]
    male, female, neutral = (str(genders.index(gender)) for gender in ("male", "female", "neutral"))
    assert links == [
        ("1", male, male, None), ("1", male, None, "none"), ("2", female, male, None), ("1", female, female, None),
        ("1", neutral, female, None),
    ]  # fmt: skip


def test_what_was_left_out_and_why() -> None:
    run = _run([_record(0, F), _record(1, None), _record(2, None), _record(3, None, reason=Reason.AMBIGUOUS)])
    noticed = {
        "corpus": {"name": "winomt", "rows": 1234, "skipped": 2, "notes": {"row repeated": 6}},
        "translations": {"missing": 5, "extra": 0, "examples": {"missing": ["a", "b", "c", "d"]}},
    }
    page = _page(replace(run, metrics={**run.metrics, **noticed}))
    assert _table(page, "opus: sentences without a verdict") == [
        ["reason", "n", "% of all"],
        ["no morphology: the phrase shows no gender", "2", "50.0"],
        ["ambiguous: the evidence contradicts itself", "1", "25.0"],
    ]
    assert _table(page, "opus: what the verdicts rest on")[1:] == [["noun", "1", "100.0"]]
    assert _table(page, "opus: noticed in the input")[1:] == [
        ["without a translation in the file", "5", "a, b, c"],
        ["rows of the corpus left out, of 1,234", "2", ""],
        ["row repeated", "6", ""],
    ]
    calls = _data(page)["calls"]
    links = [calls[int(a.attributes["data-call"] or "")] for a in page.one("section", id="left-out").all("a")]
    assert links == ["no morphology", "ambiguous"]
    assert "every sentence has a verdict" in _page(_run([_record()])).one("section", id="left-out").text


def test_a_run_without_intervals_and_signature() -> None:
    records = [_record()]
    metrics = score(records, [record.call for record in records], n_resamples=0).to_json()
    how = _page(ReportRun("opus", "de", metrics, records)).one("section", id="how").text
    assert "Signature: –" in how
    assert "Intervals: none were computed" in how


# The sentences.


def test_sentences_arrive_whole_with_entity_and_aligned_words_marked() -> None:
    long_word = "𝐜𝐨𝐨𝐤" * 9  # letters beyond U+FFFF
    records = [
        _record(),
        _record(1, M, source="A Construction  Worker and a construction worker's car; construction workers.",
                entity="construction worker", translation="Ein Arbeiter vom Bau 😀 kam.\tEr\nging.\x00",
                target=(Span(4, 12), Span(17, 20), Span(0, 6), Span(10, 14))),
        _record(2, None, source="The coworker ate.", entity="worker", translation=None, target=(), evidence=()),
        _record(3, F, source=f"A {long_word}a {long_word}b cook", translation=f"{long_word}c {long_word}", target=()),
        _record(4, None, translation="", target=()),
    ]  # fmt: skip
    data = _data(_page(_run(records)))
    assert data["rows"] == 5
    assert _rows(data["id"]) == [f"demo-{i}" for i in range(1, 6)]
    # The mark is on the whole phrase, in any case and with any space, and not inside of other words.
    assert [_marked(row) for row in _rows(data["source"])] == [
        "The [cook] ate her soup.",
        "A [Construction  Worker] and a [construction worker]'s car; construction workers.",
        "The coworker ate.",
        f"A {long_word}a {long_word}b [cook]",
        "The [cook] ate her soup.",
    ]
    (run,) = data["runs"]
    # The head's mark wins where another overlaps it. White space that controls is a space, other controls are �.
    assert [_marked(row) for row in _rows(run["target"])] == [
        "Die [Köchin] aß ihre Suppe.",
        "Ein [Arbeiter] vom (Bau] 😀 kam. Er ging.�",
        "",
        f"{long_word}c {long_word}",
        "",
    ]
    noun = "noun\x1f{}\x1flexicon\x1ffeminine: Köchin\x1fKöchin\x1e"
    assert _rows(run["evidence"]) == [
        noun.format("female"), noun.format("male"), "", noun.format("female"), noun.format(""),
    ]  # fmt: skip
    assert _calls(data) == ["female", "male", "no morphology", "female", "no morphology"]
    assert _column(data, "entity") == ["cook", "construction worker", "worker", "cook", "cook"]


def test_the_script_reads_the_digits_that_are_written() -> None:
    # The last of the five digits of a number below 85 is the digit of that number.
    digits = "".join(chr(base64.b85encode(number.to_bytes(4))[-1]) for number in range(85)).replace("<", ".")
    script = [script.text for script in _page(_run([_record()])).all("script")][-1]
    assert f'DIGITS =\n    "{digits}";' in script


def test_what_is_filtered_by() -> None:
    records = [_record(), _record(1, gold=M, stereotype=Stereotype.NONE, domain="garden", pronouns=10, entity="guest")]
    records.append(_record(2, pronouns=2))
    page = _page(_run(records))
    data = _data(page)
    assert _column(data, "gold") == ["female", "male", "female"]
    assert _column(data, "stereotype") == ["pro", "none", "pro"]
    assert _column(data, "domain") == ["kitchen", "garden", "kitchen"]
    assert _column(data, "pronouns") == ["1", "10", "2"]
    options = {
        select.attributes["name"]: [(o.attributes["value"], o.text) for o in select.all("option")]
        for select in page.all("select")
    }
    assert options["outcome"] == [("", "all"), ("right", "right"), ("wrong", "wrong"), ("none", "no verdict")]
    assert options["pronouns"] == [("", "all"), ("0", "1"), ("1", "2"), ("2", "10")]
    assert options["entity"] == [("", "all"), ("0", "cook"), ("1", "guest")]
    assert [text for _, text in options["call"]] == ["all", *data["genders"]] + [
        f"none: {reason.value}" for reason in Reason
    ]
    (link,) = (a for a in page.one("section", id="entities").all("a") if a.text == "guest")
    assert link.attributes["data-entity"] == "1"


def test_an_entity_that_is_not_in_its_source_is_told() -> None:
    page = _page(_run([_record(), _record(1, entity="chef"), _record(2, entity="")]))
    assert "In 2 sentences the entity does not stand in the source" in page.one("section", id="sentences").text
    # One without a name can still be chosen.
    assert sorted(a.text for a in page.one("section", id="entities").all("a")) == ["chef", "cook", "–"]
    assert "does not stand in the source" not in _page(_run([_record()])).one("section", id="sentences").text


def test_blocks_and_long_vocabularies_are_read_back() -> None:
    # 3,000 rows make three blocks, 36,000 different words codes of one, two and three bytes.
    letters = "abcdefghij"
    words = ["".join(letters[int(digit)] for digit in f"{number:05}") for number in range(36_000)]
    records = [_record(i, source=" ".join(["cook", *words[12 * i : 12 * i + 12]])) for i in range(3000)]
    stream = _data(_page(_run(records)))["source"]
    assert len(stream["blocks"]) == 3
    assert "<" not in "".join(stream["blocks"])
    assert [_marked(row).replace("[cook]", "cook") for row in _rows(stream)] == [record.source for record in records]


def test_hebrew_stands_right() -> None:
    record = _record(source="The cook ate.", translation="הטבחית אכלה.", target=(Span(0, 6),))
    (run,) = _data(_page(_run([record], lang="he", direction="rtl")))["runs"]
    assert (run["lang"], run["dir"]) == ("he", "rtl")
    assert [_marked(row) for row in _rows(run["target"])] == ["[הטבחית] אכלה."]


def test_markup_in_the_data_stays_text() -> None:
    evidence = (Evidence("noun", EVIL, M, "lexicon", EVIL),)
    record = _record(
        0, M, id=EVIL, source=f"{EVIL} cook", translation=f"{EVIL} Koch", target=(Span(len(EVIL) + 1, len(EVIL) + 5),),
        entity=EVIL, domain=EVIL, evidence=evidence,
    )  # fmt: skip
    run = _run([record], EVIL, EVIL)
    noticed = {"corpus": {"name": EVIL, "rows": 1, "skipped": 0, "notes": {EVIL: 3}}, "signature": EVIL}
    noticed["translations"] = {"missing": 1, "examples": {"missing": [EVIL]}}
    text = render_html([replace(run, metrics={**run.metrics, **noticed})])
    page = _parsed(text)
    assert [script.attributes for script in page.all("script")] == [{"type": "application/json", "id": "data"}, {}]
    assert list(page.all("img")) == []
    assert "<" not in page.one("script", id="data").text
    assert page.one("script", id="data").text.isascii()
    # Shown as it is; only in the plots' names do control characters become "?", and U+2028 is none.
    assert EVIL in page.one("h1").text
    assert EVIL in page.one("code").text
    assert _table(page, f"{EVIL}: noticed in the input")[1:] == [
        ["without a translation in the file", "1", EVIL],
        [EVIL, "3", ""],
    ]
    assert [row[0] for row in _table(page, "Accuracy by entity")] == ["entity", EVIL]
    data = _data(page)
    assert _column(data, "domain") == [EVIL]
    assert _rows(data["id"]) == [EVIL]
    # The source holds the entity, which is marked like any other.
    assert [_marked(row) for row in _rows(data["source"])] == [f"[{EVIL}] cook"]
    assert [_marked(row) for row in _rows(data["runs"][0]["target"])] == [f"{EVIL} [Koch]"]
    assert _rows(data["runs"][0]["evidence"]) == [f"noun\x1fmale\x1flexicon\x1f{EVIL}\x1f{EVIL}\x1e"]


# Several runs.


def test_runs_side_by_side_share_their_sentences() -> None:
    first = _run([_record(0, F), _record(1, M)], "a")
    # The same id with another source is another sentence; the third is in the second run alone.
    second = _run([_record(0, M), _record(1, F, source="A cook left."), _record(2, None)], "b", "he", "rtl")
    page = _page(first, second)
    data = _data(page)
    assert [_marked(row) for row in _rows(data["source"])] == [
        "The [cook] ate her soup.", "The [cook] ate her soup.", "A [cook] left.", "The [cook] ate her soup.",
    ]  # fmt: skip
    assert _rows(data["id"]) == ["demo-1", "demo-2", "demo-2", "demo-3"]
    assert _calls(data, 0) == ["female", "male", None, None]
    assert _calls(data, 1) == ["male", None, "female", "no morphology"]
    assert _rows(data["runs"][1]["target"])[1] == ""
    assert [(run["name"], run["dir"]) for run in data["runs"]] == [("a", "ltr"), ("b", "rtl")]
    # a: 1 of 2 right; b: 1 of 3.
    assert _lines(page, "All numbers, in per cent")["Accuracy"] == ["50.0 n 2", "33.3 n 3"]
    assert _table(page, "By domain")[1:] == [
        ["kitchen", "a", "2", "100.0", "50.0", "–", "66.7", "–", "–"],
        # F1 female: 2·1/(1 + 3).
        ["kitchen", "b", "3", "66.7", "33.3", "–", "50.0", "–", "–"],
    ]
    assert _table(page, "Accuracy by entity")[1] == [
        "cook", "2", "50.0", "– n 0", "50.0 n 2", "3", "33.3", "– n 0", "33.3 n 3",
    ]  # fmt: skip
    assert "the runs differ" in page.one("form").text


def test_an_entity_that_one_run_lacks_has_dashes() -> None:
    page = _page(_run([_record()], "a"), _run([_record(entity="chef")], "b"))
    assert _lines(page, "Accuracy by entity")["chef"] == ["–"] * 4 + ["1", "100.0", "– n 0", "100.0 n 1"]


def test_what_does_not_fit_together_is_refused() -> None:
    run = _run([_record()])
    with pytest.raises(ValueError, match="expected at least one run, got none"):
        render_html([])
    with pytest.raises(DataError, match="name of its own for each run, got 'opus' 2 times"):
        render_html([run, run])
    with pytest.raises(DataError, match=r"run 'opus': expected metrics\.json of schema 1, got schema 2"):
        render_html([replace(run, metrics={**run.metrics, "schema": 2})])
    with pytest.raises(DataError, match=r"computed from \(1, 1 decided\), got 2, 1 decided"):
        render_html([replace(run, calls=[_record(), _record(1, None)])])
    metrics = {key: value for key, value in run.metrics.items() if key != "by_entity"}
    with pytest.raises(DataError, match=r"expected the key 'by_entity' in metrics\.json"):
        render_html([replace(run, metrics=metrics)])


# The size.


def test_a_page_that_would_be_too_large_has_fewer_sentences_and_the_same_numbers() -> None:
    run = _run([_record(i, (F, M)[i % 2], source=f"The cook ate {i * i} {i**3}.") for i in range(4000)])
    whole = render_html([run])
    limit = len(whole.encode()) - 20_000
    text = render_html([run], max_bytes=limit)
    assert len(text.encode()) <= limit
    page = _parsed(text)
    data = _data(page)
    kept = [int(name.split("-")[1]) for name in _rows(data["id"])]
    assert len(kept) == data["rows"] < 4000
    # As many as fit, spread evenly: from the first on, never two steps that differ by more than one.
    assert kept[0] == 1
    assert kept[-1] > 3990
    assert {after - before for before, after in pairwise(kept)} <= {1, 2}
    assert f"Here are {len(kept):,} of 4,000 sentences, spread evenly" in page.one("section", id="sentences").text
    assert _lines(page, "All numbers, in per cent") == _lines(_parsed(whole), "All numbers, in per cent")
    # If nothing fits, nothing is left but the numbers.
    assert _data(_page(run, max_bytes=1000))["rows"] == 0


def _words(rng: np.random.Generator, letters: str, size: int) -> list[str]:
    """Different words of one to five syllables, the longer ones later, as frequent words are short."""
    syllables = ["".join(rng.choice(list(letters), length)) for length in rng.integers(1, 4, 150)]
    words: dict[str, None] = {}
    while len(words) < size:
        count = 1 + int(np.log10(1 + len(words)))
        words.setdefault("".join(syllables[i] for i in rng.integers(0, len(syllables), rng.integers(count, count + 2))))
    return list(words)


def _sentences(rng: np.random.Generator, letters: str, size: int, length: int, count: int) -> list[str]:
    """Sentences of independent words that are as frequent as in Zipf's law with exponent 1.19."""
    words = np.array(_words(rng, letters, size), dtype=object)
    chances = np.cumsum((np.arange(size) + 3.7) ** -1.19)
    drawn = np.searchsorted(chances, rng.random((count, length)) * chances[-1])
    return [" ".join(words[row]) for row in drawn]


@pytest.mark.slow
def test_as_many_sentences_as_bug_has_stay_under_15_mib() -> None:
    # BUG's 1,720 gold sentences have 36 tokens on average, as the page divides them, and take 1.17 bytes a token; as
    # much of GAP's text takes 1.25, eight times as much 1.32, so all of BUG about 1.27, or 46 bytes a sentence. So do
    # sentences of 36 tokens drawn from Zipf's law with exponent 1.19, in which nothing repeats but by chance.
    count = 105_687
    rng = np.random.default_rng(0)
    sources = _sentences(rng, "abcdefghijklmnoprstuvwy", 100_000, 33, count)
    targets = _sentences(rng, "абвгдежзийклмнопрстуфхцчшщыьэюя", 200_000, 33, count)
    entities = [f"{word} worker" for word in _words(rng, "abcdefgh", 300)]
    records = []
    for row, (entity, dice) in enumerate(zip(rng.exponential(40, count), rng.integers(0, 2**30, count), strict=True)):
        place, a, b = min(int(entity), 299), int(dice) % 7, int(dice) // 7
        gender = (M, F, M, F, N, None, None)[a]
        noun = Evidence("noun", f"работник{place}", gender, "lexicon", f"masculine: работник{place}")
        adjective = Evidence("adjective", ("новый", "новая")[b // 72 % 2], gender, "form", "Gender=Masc")
        records.append(
            _record(
                row,
                gender,
                id=f"bug-{row + 1:06}",
                source=f"{sources[row]} {entities[place]}.",
                translation=f"{noun.word} {targets[row]}",
                target=(Span(0, len(noun.word)),),
                evidence=(noun, adjective),
                entity=entities[place],
                gold=(M, F)[b % 2],
                stereotype=list(Stereotype)[b // 2 % 3],
                domain=("covid19", "wikipedia")[b // 6 % 2],
                pronouns=b // 12 % 6,
            )
        )
    page = render_html([_run(records, lang="ru")])
    assert len(page.encode()) < MAX_BYTES == 15 * 1024 * 1024
    data = _data(_parsed(page))
    assert data["rows"] == count
    assert _rows(data["runs"][0]["target"])[-1].replace("\x01", "").replace("\x03", "") == records[-1].translation
