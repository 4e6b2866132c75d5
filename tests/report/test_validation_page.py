"""The page of `mtbias validate`: whole, safe against what stands in the data, and with the numbers
it was given."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any, Literal

import numpy as np
import pytest

from mtbias.corpora.human_labels import HumanLabel
from mtbias.evaluation.validation import CorrectedRun, Validation, together
from mtbias.report import validation_page as validation
from mtbias.report.validation_page import LabelledLanguage, render_page, render_validation
from mtbias.scoring.bias import count
from mtbias.scoring.correction import LABELS, correct
from mtbias.types import (
    Gender,
    GenderCall,
    Reason,
    Span,
    Stereotype,
)

from .page_reader import cook_evidence

M, F = Gender.MALE, Gender.FEMALE
EVIL = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"'&lt;"
VOID = {"meta", "link"}


@dataclass
class Seen(HTMLParser):
    """Elements and text of a page; fails where an element is not closed in its turn."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    open: list[str] = field(default_factory=list)
    marks: list[tuple[str | None, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            self.marks.append((dict(attrs).get("class"), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["mark"]:
            self.marks[-1] = (self.marks[-1][0], data)
        if "style" not in self.open and (data.strip() or "\n" not in data):
            self.text += data


def _parsed(page: str) -> Seen:
    seen = Seen()
    seen.feed(page)
    seen.close()
    assert seen.open == []
    return seen


def _row(
    line: int,
    label: str,
    gender: Gender | None,
    target: str = "Die Köchin aß.",
    system: str = "aws",
) -> Any:
    """A labelled translation with its call; the entity's head is the second word."""
    source = "The cook ate."
    human = HumanLabel(
        f"line-{line}", line, system, source, target, label, Span(4, 8), "cook", "N", Span(4, 10)
    )
    evidence = (cook_evidence(gender),)
    reason = None if gender else Reason.NO_MORPHOLOGY
    return human, GenderCall(f"line-{line}", gender, reason, (Span(4, 10), Span(11, 13)), evidence)


def _validation(lang: str, *rows: Any, signature: str = "lang:xx") -> Validation:
    evaluator = {"aligner": "a/1", "stanza": "s/1", "plugin": f"{lang}/1", "mtbias": "0"}
    return Validation(lang, "1", rows, signature, evaluator)


GERMAN = _validation("de", _row(2, "f", F), _row(3, "f", M), _row(4, "m", M), _row(5, "m", None))
HEBREW = _validation("he", _row(6, "f", F), _row(7, "m", F, "המורה הלכה."))


def _language(found: Validation, direction: Literal["ltr", "rtl"] = "ltr") -> LabelledLanguage:
    return LabelledLanguage(found.to_json(), direction, found.differing())


def _corrected(
    system: str = "opus", lang: str = "de", corpus: str = "winomt", *, gone: float | None = 50.0
) -> dict[str, Any]:
    counts = count(
        [(M, Stereotype.PRO, M)] * 30
        + [(F, Stereotype.ANTI, M)] * 20
        + [(F, Stereotype.ANTI, F)] * 10
    )
    confusion = np.array([[20, 0, 0, 1], [2, 9, 0, 0], [0, 0, 0, 0]])
    correction = correct(counts, confusion, n_resamples=100)
    signature = f"dataset:{corpus}|system:{system}"
    return CorrectedRun(
        system, lang, corpus, (), correction, signature, labels_on_pronouns=14,
        percent_from_pronouns={"accuracy": 20.0, "delta_g": gone, "delta_s": None},
    ).to_json()  # fmt: skip


def _page(
    *found: Validation, corrections: Sequence[dict[str, Any]] = (), rtl: bool = False
) -> Seen:
    languages = [_language(part, "rtl" if rtl else "ltr") for part in found]
    return _parsed(render_page(languages, together(found).to_json(), corrections))


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    page = render_page([_language(GERMAN)], GERMAN.to_json(), [_corrected()])
    seen = _parsed(page)
    assert "script" not in {tag for tag, _ in seen.tags}
    (policy,) = [
        a["content"] for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert {
        a[key] for _, a in seen.tags for key in ("src", "href") if (a.get(key) or "#")[0] != "#"
    } == {"data:,"}
    ids = [a["id"] for _, a in seen.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"] for tag, a in seen.tags if tag == "a"} <= {f"#{i}" for i in ids}


def test_markup_in_the_data_is_shown() -> None:
    row = _row(2, "f", M, f"Die Köchin {EVIL}", system=EVIL)
    evil = _validation(EVIL, row, _row(3, "m", M), signature=EVIL)
    seen = _page(evil, corrections=[_corrected(EVIL)])
    assert not {"script", "img"} & {tag for tag, _ in seen.tags}
    assert f" {EVIL}" in seen.text
    assert seen.text.count("alert(1)") > 4


def test_the_numbers_stand_there_with_their_denominators() -> None:
    # German: 2 of 4 agree; Wilson's interval of 2 of 4 is 15.0 to 85.0. All: 3 of 6.
    seen = _page(GERMAN, HEBREW)
    assert "de42 m, 2 f, 0 n50.0 [15.0, 85.0]" in seen.text
    assert "all63 m, 3 f, 0 n50.0" in seen.text
    assert (
        "de: agreement by the word that the call rests on, in per centwordnagreementnoun366.7"
        in seen.text
    )
    assert "no morphology125.0" in seen.text
    assert "label / calledmalefemaleneutralno callallmale10012female11002neutral00000" in seen.text


def test_plain_and_corrected_numbers_stand_side_by_side() -> None:
    correction = _corrected()
    seen = _page(GERMAN, corrections=[correction])
    for kind in ("plain", "corrected"):
        value, (low, high) = correction[kind]["accuracy"].values()
        assert f"{value:.1f} [{low:.1f}, {high:.1f}]" in seen.text
    assert "no label of 32 is neutral: assumed that nobody reads a translation so" in seen.text
    # Three numbers, as called and corrected, are drawn beside those of the labels.
    drawn, without = ([tag for tag, _ in page.tags].count("svg") for page in (seen, _page(GERMAN)))
    assert drawn - without == 6
    assert "Runs, corrected" not in _page(GERMAN).text


def test_a_correction_that_rests_on_pronouns_is_warned_of_above_its_numbers() -> None:
    # Half of the correction is not most of it.
    warned, quiet = _corrected(gone=90.9), _corrected("google")
    assert (warned["labels_on_pronouns"], warned["percent_from_pronouns"]["delta_g"]) == (14, 90.9)
    said = "14 labels rest on a pronoun, alone or against the noun phrase (basis P or C), which the evaluator does not"
    assert warned["warning"].startswith(said)
    assert "comes from them: 91 % of that of ΔG. It is" in warned["warning"]
    assert quiet["warning"] is None
    table = render_validation([GERMAN.to_json()], GERMAN.to_json(), [warned, quiet])
    assert table.index(f"WARNING: opus, de: {said}") < table.index("as called")
    assert table.count("WARNING") == 1
    page = _page(GERMAN, corrections=[warned, quiet]).text
    assert page.index(f"Warning, opus, de: {said}") < page.index(
        "Runs as called and corrected, in per cent"
    )
    assert page.count("Warning, ") == 1


def test_labels_on_pronouns_are_counted_and_left_out() -> None:
    # Line 3, a woman called male, rests on a pronoun against the phrase: the confusion without it
    # has one woman.
    human, call = _row(3, "f", M)
    against = replace(human, basis="C"), call
    found, rest = _validation("de", _row(2, "f", F), against, _row(5, "m", None)).on_pronouns()
    assert (found, rest.tolist()) == (1, [[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
    assert GERMAN.on_pronouns()[0] == 0


def test_one_system_on_two_corpora_has_two_names() -> None:
    corrections = [_corrected(), _corrected(corpus="bug-full"), _corrected("google")]
    seen = _page(GERMAN, corrections=corrections)
    table = render_validation([GERMAN.to_json()], together([GERMAN]).to_json(), corrections)
    for text in (seen.text, table):
        assert "opus, de, winomt" in text
        assert "opus, de, bug-full" in text
        assert "google, de" in text
        assert "google, de, winomt" not in text


def test_rows_that_differ_are_listed_with_their_marks() -> None:
    seen = _page(GERMAN)
    assert "2 rows where label and call differ" in seen.text
    assert seen.marks == [("head", "cook"), ("head", "Köchin"), ("other", "aß")] * 2
    assert "label female, basis N (the noun); called male; marked by people: Köchin" in seen.text
    assert "label male, basis N (the noun); no call: no morphology" in seen.text
    assert "Evidence: noun Köchin: masculine form" in seen.text
    assert "There is no such row." in _page(_validation("de", _row(2, "f", F))).text


def test_text_written_from_right_to_left_is_shown_so() -> None:
    seen = _page(HEBREW, rtl=True)
    _, target = [
        a for _, a in seen.tags if a.get("class") == "text" and a.get("dir")
    ]  # behind its source
    assert (target["dir"], target["lang"]) == ("rtl", "he")


def test_rows_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "MAX_ROWS", 1)
    seen = _page(GERMAN)
    assert "The first 1 of 2 rows where" in seen.text
    assert len(seen.marks) == 3


def test_where_heads_differ_the_row_is_listed_though_the_call_is_right() -> None:
    label, call = _row(2, "f", F)
    moved = GenderCall(call.id, F, None, (Span(11, 13),), call.evidence)
    seen = _page(_validation("de", (label, moved)))
    assert "1 rows where" in seen.text
    assert LABELS[label.label] is F
    assert ("head", "aß") in seen.marks


def test_the_table_for_a_terminal() -> None:
    text = render_validation(
        [GERMAN.to_json(), HEBREW.to_json()], together([GERMAN, HEBREW]).to_json(), [_corrected()]
    )
    lines = [line.split() for line in text.splitlines()]
    assert ["de", "4", "2", "m,", "2", "f,", "0", "n", "50.0", "[15.0,", "85.0]", "66.7"] in [
        line[:12] for line in lines
    ]
    # Six labels rest on the noun, three agree; five calls rest on a noun.
    assert ["N:", "the", "noun", "6", "50.0", "[18.8,", "81.2]"] in lines
    assert ["noun", "5", "60.0", "[23.1,", "88.2]"] in lines
    assert ["no", "morphology", "1", "16.7", "[3.0,", "56.4]"] in lines
    assert "hardly known: the errors on female" not in text
    assert "  opus, de: labels 21 m, 11 f, 0 n" in text
