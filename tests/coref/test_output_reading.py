"""Which document is which, what mentions count, and which tokens they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.coref.documents import Answers, CorefText, Spans
from mtbias.coref.output_reading import read_output
from mtbias.errors import DataError

TEXTS = [
    CorefText(id_, tuple(text.split()), text, ())
    for id_, text in (
        ("set/a", "The nurse called the clerk because she left ."),
        ("set/b", "The clerk called the nurse because he left ."),
        ("set/c", "The clerk called the nurse because he left ."),
    )
]


def _read(
    path: Path, *rows: object, ids: Path | None = None, spans: Spans | None = None
) -> Answers:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_output(TEXTS, [path], ids=ids, spans=spans)


def _clusters(predictions: Answers) -> dict[str, object]:
    return dict(predictions.of)


INCLUDED = [[[0, 1], [6, 6]]]
EXCLUDED = [[[0, 2], [6, 7]]]
READ = (((0, 1), (6, 6)),)


def test_ends_excluded_are_never_read_as_included(tmp_path: Path) -> None:
    rows = [{"id": "set/a", "clusters": EXCLUDED}, {"id": "set/b", "clusters": [[[3, 5]]]}]
    message = (
        r"p:1: id 'set/a': cannot tell what mentions count: \[0, 2\] is 'The nurse called' as tokens with the end "
        r"included, 'The nurse' as tokens with the end excluded, 'Th' as characters; give --spans included, excluded"
    )
    with pytest.raises(DataError, match=message):
        _read(tmp_path / "p", *rows)
    found = _read(tmp_path / "p", *rows, spans="excluded")
    assert _clusters(found) == {"set/a": READ, "set/b": (((3, 4),),)}
    assert (found.notes, found.signed) == ((), {"spans": "excluded"})
    assert _clusters(_read(tmp_path / "p", *rows, spans="included"))["set/a"] == (((0, 2), (6, 7)),)


def test_one_mention_of_one_word_tells_for_all_documents(tmp_path: Path) -> None:
    # [6, 6] is no mention where ends are excluded.
    rows = [{"id": "set/b", "clusters": [[[1, 2], [4, 5]]]}, {"id": "set/a", "clusters": INCLUDED}]
    found = _read(tmp_path / "p", *rows)
    assert (_clusters(found), found.notes, found.signed) == (
        {"set/b": (((1, 2), (4, 5)),), "set/a": READ}, (), {},
    )  # fmt: skip
    with pytest.raises(DataError, match="cannot tell what mentions count"):
        _read(tmp_path / "p", rows[0])
    assert _clusters(_read(tmp_path / "p", {"id": "set/a", "clusters": []})) == {
        "set/a": ()
    }  # none to be told by


@pytest.mark.parametrize(
    ("clusters", "spans", "message"),
    [
        ([[[7, 9], [6, 6]]], None, "tokens 0 to 8; a mention ends at 9"),
        ([[[7, 9]]], "included", "tokens 0 to 8; a mention ends at 9"),
        (
            [[[7, 9]]],
            None,
            r"\[7, 9\] is 'left \.' as tokens with the end included, 'left \.' as tokens with the end ex",
        ),
        (INCLUDED, "excluded", r"\[6, 6\] is no mention where ends are excluded"),
        ([[[0, 99]]], "characters", "characters 0 to 44; a mention ends at 98"),
    ],
)
def test_mentions_that_cannot_be(
    tmp_path: Path, clusters: object, spans: Spans | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        _read(tmp_path / "p", {"id": "set/a", "clusters": clusters}, spans=spans)


def test_characters(tmp_path: Path) -> None:
    # In "The nurse called the clerk because she left ." the mentions are 0 to 9 and 35 to 38.
    row = {"id": "set/a", "text": TEXTS[0].text, "clusters": [[[0, 9], [35, 38]]]}
    assert _clusters(_read(tmp_path / "p", row, spans="characters")) == {"set/a": READ}


@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ("set/a", "set/a"),
        ("set/a_0", "set/a"),  # e2e-coref
        ("set_a.txt", "set/a"),  # the file that was exported
        ("set_a.txt.json", "set/a"),
        ("set_a", "set/a"),
    ],
)
def test_ids_by_rule(tmp_path: Path, own: str, ours: str) -> None:
    found = _read(tmp_path / "p", {"id": own, "clusters": INCLUDED})
    assert list(found.of) == [ours]


def test_ids_that_no_rule_has_are_refused_with_one_of_the_datas(tmp_path: Path) -> None:
    # "set/a#1" is part 1 of a document; "set" is a part of every id.
    for own in ("set/a_1", "set", "d", "SET/A", "a", "out/set_a"):
        with pytest.raises(
            DataError,
            match=f"id '{own}': none of the data's documents, whose ids are such as 'set/a'",
        ):
            _read(tmp_path / "p", {"id": own, "clusters": []})


def test_two_ids_for_one_document_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"expected id 'set/a' once, got it again; it is in p, line 1, already"
    ):
        _read(tmp_path / "p", {"id": "set/a", "clusters": []}, {"id": "set_a", "clusters": []})


def test_ids_from_a_file(tmp_path: Path) -> None:
    ids = tmp_path / "ids.tsv"
    ids.write_text("x\tset/c\ny\tset/a\n", encoding="utf-8")
    rows = [{"id": "y", "clusters": INCLUDED}, {"id": "x", "clusters": []}]
    assert _clusters(_read(tmp_path / "p", *rows, ids=ids)) == {"set/a": READ, "set/c": ()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\tset/d\n", "the system's id, a tab and an id of the data, such as 'set/a', got "),
        ("set/b\n", "the system's id, a tab and an id of the data"),
        ("x\tset/a\ty\n", "the system's id, a tab"),
        ("x\tset/a\nx\tset/b\n", "the id 'x' once, got it for 'set/a' already"),
    ],
)
def test_a_bad_file_of_ids(tmp_path: Path, text: str, message: str) -> None:
    ids = tmp_path / "ids.tsv"
    ids.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        _read(tmp_path / "p", {"id": "x", "clusters": []}, ids=ids)


def test_documents_without_id_need_to_be_told(tmp_path: Path) -> None:
    rows = [{"tokens": text.tokens, "clusters": []} for text in TEXTS]
    with pytest.raises(
        DataError, match="p:1: it has no id; give --ids order where the 3 documents are all"
    ):
        _read(tmp_path / "p", *rows)
    assert list(_read(tmp_path / "p", *rows, ids=Path("order")).of) == [text.id for text in TEXTS]
    with pytest.raises(DataError, match="token 1 is 'nurse' in the data set, 'clerk' here"):
        _read(tmp_path / "p", *rows[::-1], ids=Path("order"))
    with pytest.raises(
        DataError, match="--ids order: expected 3 documents, as the data has, got 2"
    ):
        _read(tmp_path / "p", *rows[:2], ids=Path("order"))


def test_other_tokens_become_those_of_the_data(tmp_path: Path) -> None:
    tokens = ["The nur", "se", "called", "the", "cl", "erk", "be", "cause", "she", "left", "."]
    row = {"id": "set/a", "tokens": tokens, "clusters": [[[0, 1], [8, 8]], [[3, 4], [0, 0]]]}
    found = _read(tmp_path / "p", row)
    # "the cl" and "The nur" end within a token, and are taken to its end.
    assert _clusters(found) == {"set/a": (((0, 1), (6, 6)), ((3, 4), (0, 1)))}
    assert found.notes == (
        "mentions that begin or end within a token of the data, taken to its ends: 2",
    )


def test_mentions_of_no_word_are_left_out_and_counted(tmp_path: Path) -> None:
    tokens = ["[CLS]", *TEXTS[0].tokens, "[SEP]"]
    found = _read(
        tmp_path / "p",
        {"id": "set/a", "tokens": tokens, "clusters": [[[1, 2], [0, 0], [7, 7]], [[10, 10]]]},
    )
    assert _clusters(found) == {"set/a": READ}
    assert found.notes == ("mentions of no word, left out: 2",)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["The", "nurse", "rang"], "token 2 is 'called' in the data set, 'rang' here"),
        (["The", "nurse", "called"], "expected 9 tokens, got 3, which end before 'the'"),
        ([*TEXTS[0].tokens, "Yes"], "token 9 is '' in the data set, 'Yes' here"),
    ],
)
def test_another_text_is_an_error(tmp_path: Path, tokens: list[str], message: str) -> None:
    with pytest.raises(DataError, match=f"p:1: id 'set/a': {message}"):
        _read(tmp_path / "p", {"id": "set/a", "tokens": tokens, "clusters": []})
