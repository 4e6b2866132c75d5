"""The policy: the same question has the same answer in every language, and the page that shows it
has the data."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from mtbias.errors import DataError
from mtbias.new_language.policy_rows import describe, is_right
from mtbias.types import Gender, Reason
from scripts import site_hooks
from scripts.label_sets import policy
from scripts.labelled import SHIPPED

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
ROWS = policy.read_policy()
HEADER = "kind\tevidence\tcall\tlanguage\tsource\ttarget\n"
ROW = "thing\tarticle\tno person\tes\tThe [mover] is new.\t{El [motor]} es nuevo.\n"


@pytest.mark.parametrize("code", SHIPPED)
def test_every_row_of_a_language_has_its_call(code: str, stanza_dir: Path) -> None:
    outcomes = policy.evaluate(ROWS, code, stanza_dir)
    assert len(outcomes) >= 35
    assert [describe(row, call) for row, call in outcomes if not is_right(row, call)] == []
    # A generic masculine is marked as one.
    alone = [
        c
        for r, c in outcomes
        if (r.kind, r.evidence) == ("masculine form also used of women", "nothing else")
    ]
    assert all(c.evidence[0].rule == "generic_masculine" for c in alone)


def test_the_page_shows_the_rows() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="policy.md"))
    shown = site_hooks.on_page_markdown(PAGE, page=page)
    assert "\n".join(policy.policy_lines_shown()) in shown
    assert shown.endswith("\n".join(policy.table_lines(ROWS)))
    page.file.src_uri = "trust.md"
    assert site_hooks.on_page_markdown(PAGE, page=page) == PAGE


def test_a_call_is_the_answer_to_kind_and_evidence_alone(tmp_path: Path) -> None:
    path = tmp_path / "policy.tsv"
    path.write_text(
        HEADER + ROW + ROW.replace("\tes\t", "\tit\t").replace("no person", "male"),
        encoding="utf-8",
    )
    with pytest.raises(DataError, match="expected no person, as in es; got male") as caught:
        policy.read_policy(path)
    assert caught.value.line == 3


def test_a_row_is_read_with_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "policy.tsv"
    path.write_text(HEADER + ROW, encoding="utf-8")
    (row,) = policy.read_policy(path)
    assert (row.call, row.language, row.pair.source, row.pair.text) == (
        Reason.NO_PERSON, "es", "The mover is new.", "El motor es nuevo.",
    )  # fmt: skip
    assert (row.pair.head, row.head, row.shown) == ((4, 9), (3, 8), ((0, 8),))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tes\t", "\txx\t", f"expected one of {', '.join(SHIPPED)}; got 'xx'"),
        ("no person", "nobody", "got 'nobody'"),
        ("[mover]", "mover", r"expected what \[ and \] mark, got 'The mover is new.'"),
        ("{El", "El", "expected what { and } mark"),
        ("[motor]", "[motor", r"expected what \[ and \] mark"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "policy.tsv"
    path.write_text(HEADER + ROW.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        policy.read_policy(path)
    assert caught.value.line == 2


def test_every_gender_and_every_reason_that_a_phrase_can_have_is_asked() -> None:
    calls = {row.call for row in ROWS}
    assert calls == {*Gender, Reason.NO_MORPHOLOGY, Reason.NO_PERSON, Reason.AMBIGUOUS}
    assert {row.language for row in ROWS} == set(SHIPPED)
