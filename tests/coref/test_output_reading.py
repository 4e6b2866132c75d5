"""Which document is which, what mentions count, and which tokens they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.coref.conll import Mention
from mtbias.coref.coref_text import CorefText
from mtbias.coref.output_reading import read_output
from mtbias.coref.predicted_clusters import Predictions
from mtbias.coref.system_output import SpanCounting
from mtbias.errors import DataError

ASKED: frozenset[Mention] = frozenset({(0, 1), (3, 4), (6, 6)})
TEXTS = [
    CorefText(id_, tuple(text.split()), text, ASKED, ())
    for id_, text in (
        ("set/a", "The nurse called the clerk because she left ."),
        ("set/b", "The clerk called the nurse because he left ."),
        ("set/c", "The clerk called the nurse because he left ."),
    )
]


def _read(path: Path, *rows: object, ids: Path | None = None, spans: SpanCounting | None = None) -> Predictions:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_output(TEXTS, [path], ids=ids, spans=spans)


def _clusters(predictions: Predictions) -> dict[str, object]:
    return {id_: document.clusters for id_, document in predictions.documents.items()}


INCLUDED = [[[0, 1], [6, 6]]]
EXCLUDED = [[[0, 2], [6, 7]]]
READ = (((0, 1), (6, 6)),)


def test_ends_excluded_are_noticed_and_said(tmp_path: Path) -> None:
    found = _read(tmp_path / "p", {"id": "set/a", "clusters": EXCLUDED}, {"id": "set/b", "clusters": [[[3, 5]]]})
    assert _clusters(found) == {"set/a": READ, "set/b": (((3, 4),),)}
    assert found.reading == {"spans": "excluded"}
    # All three are asked about if ends are excluded; (0, 2), (6, 7) and (3, 5) are not.
    (note,) = found.notes
    assert note == (
        "mentions are read as tokens, ends excluded: 3 of them are what the data asks about; as tokens, ends included, "
        "0 (--spans says otherwise)"
    )


def test_ends_included_are_taken_without_a_word(tmp_path: Path) -> None:
    found = _read(tmp_path / "p", {"id": "set/a", "clusters": INCLUDED})
    assert (_clusters(found), found.notes, found.reading) == ({"set/a": READ}, (), {})
    # Nothing is told by mentions that the data does not ask about: what the format is meant to have counts.
    found = _read(tmp_path / "p", {"id": "set/a", "clusters": [[[1, 2], [4, 5]]]})
    assert (_clusters(found), found.notes) == ({"set/a": (((1, 2), (4, 5)),)}, ())


def test_a_mention_behind_the_last_token_tells_too(tmp_path: Path) -> None:
    found = _read(tmp_path / "p", {"id": "set/a", "clusters": [[[0, 2], [7, 9]]]})
    assert _clusters(found) == {"set/a": (((0, 1), (7, 8)),)}
    assert "as tokens, ends included, 1 would be none" in found.notes[0]
    with pytest.raises(DataError, match="tokens 0 to 8; a mention ends at 9"):  # nothing that is asked about
        _read(tmp_path / "p", {"id": "set/a", "clusters": [[[7, 9]]]})
    with pytest.raises(DataError, match="tokens 0 to 8; a mention ends at 9"):  # neither way will do
        _read(tmp_path / "p", {"id": "set/a", "clusters": [[[0, 2], [7, 9], [6, 6]]]})


def test_what_cannot_be_told_is_an_error_that_names_the_switch(tmp_path: Path) -> None:
    row = {"id": "set/a", "clusters": [[[0, 1], [6, 7]]]}  # (0, 1) with the end, "she" without
    with pytest.raises(DataError, match=r"cannot tell what mentions count: .* --spans included or --spans excluded"):
        _read(tmp_path / "p", row)
    found = _read(tmp_path / "p", row, spans=SpanCounting.EXCLUDED)
    assert _clusters(found) == {"set/a": (((0, 0), (6, 6)),)}
    assert (found.notes, found.reading) == ((), {"spans": "excluded"})
    assert _clusters(_read(tmp_path / "p", row, spans=SpanCounting.INCLUDED)) == {"set/a": (((0, 1), (6, 7)),)}
    with pytest.raises(DataError, match=r"\[6, 6\] is no mention where ends are excluded"):
        _read(tmp_path / "p", {"id": "set/a", "clusters": INCLUDED}, spans=SpanCounting.EXCLUDED)


def test_characters_are_not_taken_for_tokens_nor_tokens_for_characters(tmp_path: Path) -> None:
    # In "The nurse called the clerk because she left ." the mentions are 0 to 9 and 35 to 38.
    text = TEXTS[0].text
    found = _read(tmp_path / "p", {"text": text, "clusters": [[[0, 9], [35, 38]]]})
    assert _clusters(found) == {"set/a": READ}
    assert "mentions are read as characters, ends excluded: 2 of them" in found.notes[1]
    # Characters 0 to 2 and 6 to 7 are within "The" and "nurse".
    found = _read(tmp_path / "p", {"text": text, "clusters": EXCLUDED})
    assert _clusters(found) == {"set/a": READ}
    assert found.notes[1].endswith(
        "as characters, ends excluded, 0; as tokens, ends included, 0 (--spans says otherwise)"
    )


def test_one_file_tells_for_all_its_documents(tmp_path: Path) -> None:
    # The second alone would be read with its end.
    rows = [{"id": "set/a", "clusters": EXCLUDED}, {"id": "set/b", "clusters": [[[1, 2]]]}]
    assert _clusters(_read(tmp_path / "p", *rows)) == {"set/a": READ, "set/b": (((1, 1),),)}


@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ("set/a", "set/a"),
        ("set/a_0", "set/a"),  # e2e-coref
        ("(set/a); part 000", "set/a"),
        ("set_a", "set/a"),
        ("SET-A.txt", "set/a"),
        ("out/a.conll", "set/a"),
        ("a.txt.json", "set/a"),
    ],
)
def test_ids_by_rule(tmp_path: Path, own: str, ours: str) -> None:
    found = _read(tmp_path / "p", {"id": own, "clusters": INCLUDED})
    assert list(found.documents) == [ours]
    assert bool(found.notes) == (own != ours)


def test_ids_that_no_rule_has_stay_as_they_are(tmp_path: Path) -> None:
    # "set/a#1" is part 1 of a document; "set" is a part of every id.
    for own in ("set/a_1", "set", "d", "ab"):
        assert list(_read(tmp_path / "p", {"id": own, "clusters": []}).documents) == [own]


def test_two_ids_for_one_document_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected id 'set/a' once, got it again; it is in p, line 1, already"):
        _read(tmp_path / "p", {"id": "set/a", "clusters": []}, {"id": "set_a", "clusters": []})


def test_ids_from_a_file(tmp_path: Path) -> None:
    ids = tmp_path / "ids.tsv"
    ids.write_text("x\tset/c\ny\tset/a\n", encoding="utf-8")
    rows = [{"id": "y", "clusters": INCLUDED}, {"id": "x", "clusters": []}]
    assert _clusters(_read(tmp_path / "p", *rows, ids=ids)) == {"set/a": READ, "set/c": ()}
    ids.write_text("set/b\nset/a\n", encoding="utf-8")
    bare = [[INCLUDED[0]], []]
    assert _clusters(_read(tmp_path / "p", *bare, ids=ids)) == {"set/b": READ, "set/a": ()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\tset/d\n", "an id of the data, such as .*, got 'set/d'"),
        ("x\tset/a\nset/b\n", "the system's id, a tab and the data's id"),
        ("x\tset/a\ty\n", "the system's id, a tab"),
        ("x\tset/a\nx\tset/b\n", "the id 'x' once, got it for 'set/a' already"),
        ("set/a\nset/b\n", "expected 1 ids, one for each document in their order, got 2"),
    ],
)
def test_a_bad_file_of_ids(tmp_path: Path, text: str, message: str) -> None:
    ids = tmp_path / "ids.tsv"
    ids.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        _read(tmp_path / "p", {"id": "x", "clusters": []}, ids=ids)


def test_documents_without_id_are_told_by_their_text(tmp_path: Path) -> None:
    a, b = list(TEXTS[0].tokens), list(TEXTS[1].tokens)
    found = _read(tmp_path / "p", {"tokens": a, "clusters": INCLUDED})
    assert list(found.documents) == ["set/a"]
    # b and c have one text: two documents with it are b and c in their order, one might be either.
    rows = [{"tokens": b, "clusters": INCLUDED}, {"tokens": b, "clusters": []}]
    assert _clusters(_read(tmp_path / "p", *rows)) == {"set/b": READ, "set/c": ()}
    with pytest.raises(
        DataError, match=r"its text is that of 2 documents of the data \(set/b, set/c\), but of 1 here; give"
    ):
        _read(tmp_path / "p", rows[0])
    with pytest.raises(DataError, match=r"p:1: it has no id, and its text is none of the data's: 'He left \."):
        _read(tmp_path / "p", {"tokens": ["He", "left", "."], "clusters": []})


def test_documents_with_neither_id_nor_text_are_taken_in_order_if_all_are_there(tmp_path: Path) -> None:
    found = _read(tmp_path / "p", [], INCLUDED, [])
    assert _clusters(found) == {"set/a": (), "set/b": READ, "set/c": ()}
    with pytest.raises(
        DataError, match=r"all of the data's 3 documents in their order, got 2 without either; give --ids"
    ):
        _read(tmp_path / "p", [], INCLUDED)


def test_other_tokens_become_those_of_the_data(tmp_path: Path) -> None:
    tokens = ["The nur", "se", "called", "the", "cl", "erk", "be", "cause", "she", "left", "."]
    row = {"id": "set/a", "tokens": tokens, "clusters": [[[0, 1], [8, 8]], [[3, 4], [0, 0]]]}
    found = _read(tmp_path / "p", row)
    # "the cl" and "The nur" end within a token, and are taken to its end.
    assert _clusters(found) == {"set/a": (((0, 1), (6, 6)), ((3, 4), (0, 1)))}
    assert found.notes == ("mentions that begin or end within a token of the data, taken to its ends: 2",)


def test_mentions_of_no_word_are_left_out_and_counted(tmp_path: Path) -> None:
    tokens = ["[CLS]", *TEXTS[0].tokens, "[SEP]"]
    found = _read(tmp_path / "p", {"id": "set/a", "tokens": tokens, "clusters": [[[1, 2], [0, 0], [7, 7]], [[10, 10]]]})
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


def test_the_number_of_tokens_is_checked_where_there_are_no_words(tmp_path: Path) -> None:
    path = tmp_path / "p.conll"
    path.write_text("#begin document (set/a); part 000\nset/a 0 (1)\nset/a 1 1)\n#end document\n", encoding="utf-8")
    with pytest.raises(DataError, match="closes a mention that has not opened"):
        read_output(TEXTS, [path])
    path.write_text("#begin document (set/a); part 000\nset/a 0 (1)\nset/a 1 -\n#end document\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected 9 tokens, got 2"):
        read_output(TEXTS, [path])
