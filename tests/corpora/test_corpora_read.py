"""Strict reading of text and tables; pronouns; the place of an entity."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mtbias.corpora import count_pronouns
from mtbias.corpora.locate import core, find_phrase, locate, phrase_at, tokens, words
from mtbias.corpora.read import integer, read_table, read_text, split_lines
from mtbias.errors import DataError
from mtbias.types import Span


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_text_is_hashed_as_bytes_and_loses_its_byte_order_mark(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfone\r\ntwo\r\n"
    file = read_text(put(tmp_path, "a.txt", data))
    assert (file.bom, file.crlf) == (True, True)
    assert split_lines(file.text) == ["one", "two"]
    assert file.sha256 == hashlib.sha256(data).hexdigest()


def test_only_lf_and_crlf_end_a_line() -> None:
    # U+0085, U+2028, vertical tab and form feed end a line for str.splitlines, not here.
    assert split_lines("a\x85b\u2028c\x0bd\x0ce\nf\r\n\n") == ["a\x85b\u2028c\x0bd\x0ce", "f"]
    assert split_lines("a\n\nb") == ["a", "", "b"]


@pytest.mark.parametrize(
    ("data", "line", "says"),
    [
        (b"", 1, "empty"),
        (b" \n\n", 1, "empty"),
        (b"\xef\xbb\xbf", 1, "empty"),
        (b"one\ntwo\nth\xe9\n", 3, "byte 0xE9 is not UTF-8"),
        ("one\n".encode("utf-16"), 1, "UTF-16"),
    ],
)
def test_bad_text_is_an_error_with_its_line(tmp_path: Path, data: bytes, line: int, says: str) -> None:
    path = put(tmp_path, "a.txt", data)
    with pytest.raises(DataError, match=says) as caught:
        read_text(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)


def test_a_file_that_is_not_there_and_a_folder_are_data_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_text(tmp_path / "absent")
    with pytest.raises(DataError, match="folder"):
        read_text(tmp_path)


def test_the_three_forms_of_a_table_read_alike(tmp_path: Path) -> None:
    csv_ = read_table(put(tmp_path, "a.csv", b'x,y\r\n"He said ""no"", twice",2\r\n\r\nb,3\r\n'))
    tsv = read_table(put(tmp_path, "a.tsv", b'x\ty\nHe said "no", twice\t2\n\nb\t3\n'))
    jsonl = read_table(
        put(tmp_path, "a.jsonl", b'{"x": "He said \\"no\\", twice", "y": 2}\n\n{"y": "3", "x": "b", "z": null}\n')
    )
    for table in (csv_, tsv, jsonl):
        assert [(r.row, r.line, r.get("x"), r.get("y"), r.get("z")) for r in table.records] == [
            (0, 2 if table is not jsonl else 1, 'He said "no", twice', "2", ""),
            (1, 4 if table is not jsonl else 3, "b", "3", ""),
        ]
    assert csv_.columns == tsv.columns == ("x", "y")
    assert jsonl.columns == ("x", "y", "z")


def test_a_record_over_several_lines_has_the_line_on_which_it_starts(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a.csv", b'x,y\n"one\ntwo",1\nb,2\n'))
    assert [(r.line, r.get("x")) for r in table.records] == [(2, "one\ntwo"), (4, "b")]


@pytest.mark.parametrize(
    ("name", "data", "line", "says"),
    [
        ("a.csv", b"x,y\n1\n", 2, "2 fields expected, as in the header, found 1"),
        ("a.tsv", b"x\ty\n1\t2\n1\t2\t3\n", 3, "found 3"),
        ("a.csv", b'x,y\n1,2\n"open,3\n4,5\n', 3, "broken"),
        ("a.csv", b"x,x\n1,2\n", 1, "twice"),
        ("a.csv", b"x,y\n", 1, "no rows"),
        ("a.jsonl", b'{"x": 1}\n{"x"\n', 2, "JSON object expected"),
        ("a.jsonl", b"[1]\n", 1, "found list"),
        ("a.jsonl", b'{"x": [1]}\n', 1, "text or a number"),
        ("a.jsonl", b'{"x": true}\n', 1, "found bool"),
        ("a.jsonl", b'{"x": "\\ud800"}\n', 1, "surrogate"),
        ("a.jsonl", b"[" * 100_000 + b"\n", 1, "JSON object expected"),
        ("a.jsonl", b'{"x": ' + b"9" * 5000 + b"}\n", 1, "JSON object expected"),
    ],
)
def test_broken_tables_are_errors_with_their_line(tmp_path: Path, name: str, data: bytes, line: int, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_table(put(tmp_path, name, data))
    assert caught.value.line == line


def test_an_unknown_suffix_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"\.csv, \.tsv.*'\.xlsx'"):
        read_table(put(tmp_path, "a.xlsx", b"x"))


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("12", 12), ("5.0", 5)])
def test_integers(text: str, value: int) -> None:
    assert integer(text, "n", Path("f"), 1) == value


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "²", "1e3", "9" * 30, ".0"])
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(DataError, match="f:7: n: an integer from 0 expected"):
        integer(text, "n", Path("f"), 7)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He said she's sure that his doctor'll call him, himself.", 5),  # He, she's, his, him, himself
        ("SHE’LL ask her, hers or herself; he'd not.", 5),  # SHE’LL, her, hers, herself, he'd
        ("his/her, (s)he, 'he' he-man", 5),  # his, her, he in (s)he, 'he', he of he-man
        ("The theory there: Hebrew heroes, sheriffs, shelves, Hershey, this, whim.", 0),
        ("they them their theirs it its", 0),
        ("h\u00e9 he\u0301 he_1 2he", 0),  # an accent, composed or not, an underscore, a digit: other words
        ("", 0),
    ],
)
def test_pronouns(text: str, count: int) -> None:
    assert count_pronouns(text) == count


def test_core_leaves_out_punctuation_and_possessive() -> None:
    text = '("the doctor\'s," x-ray ... O’s'
    parts = [text[slice(*core(text, span))] for span in tokens(text)]
    # A token of punctuation alone stays as it is.
    assert parts == ["the", "doctor", "x-ray", "...", "O"]


def test_the_head_is_the_last_word_of_the_phrase() -> None:
    text = "The construction worker, a Construction worker."
    spans = tokens(text)
    assert find_phrase(text, spans, words("construction worker")) == [1, 4]
    assert phrase_at(text, spans, words("Worker"), 5)
    assert not phrase_at(text, spans, words("worker"), 99)
    found = locate(text, spans, 4, "construction worker")
    assert found is not None
    assert text[slice(*found.head)] == "worker"
    assert found.head == Span(40, 46)
    assert (found.index, found.how) == (4, "as given")


def test_a_wrong_index_is_corrected_to_the_nearest_occurrence() -> None:
    text = "friend of a friend of a friend"  # tokens 0, 3 and 6
    spans = tokens(text)
    assert [locate(text, spans, i, "friend").index for i in range(9)] == [0, 0, 3, 3, 3, 6, 6, 6, 6]  # type: ignore[union-attr]
    assert [locate(text, spans, i, "friend").how for i in (0, 1)] == ["as given", "nearest"]  # type: ignore[union-attr]
    only = locate(text, spans, 0, "of a friend of")
    assert only is not None
    assert (only.index, only.how) == (1, "corrected")
    assert locate(text, spans, 0, "doctor") is None
    assert locate(text, spans, 0, "") is None
