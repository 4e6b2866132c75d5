"""Strict reading of text and tables."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtbias.errors import DataError
from mtbias.files import reading
from mtbias.files.reading import (
    TABLES,
    Table,
    integer,
    parse_json_by_id,
    parse_json_lines,
    parse_table,
    parse_tabs,
    parse_toml,
    read_table,
    read_text,
    split_lines,
)
from mtbias.files.strict_json import DecodingError, converted, decoded


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
def test_bad_text_is_an_error_with_its_line(
    tmp_path: Path, data: bytes, line: int, says: str
) -> None:
    path = put(tmp_path, "a.txt", data)
    with pytest.raises(DataError, match=says) as caught:
        read_text(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)


def test_an_empty_file_may_be_allowed(tmp_path: Path) -> None:
    file = read_text(put(tmp_path, "a.txt", b"\xef\xbb\xbf"), allow_empty=True)
    assert (file.text, file.bom, split_lines(file.text)) == ("", True, [])


def test_a_file_that_is_not_there_and_a_folder_are_data_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_text(tmp_path / "absent")
    with pytest.raises(DataError, match="folder"):
        read_text(tmp_path)


def test_the_three_forms_of_a_table_read_alike(tmp_path: Path) -> None:
    csv_ = read_table(put(tmp_path, "a.csv", b'x,y\r\n"He said ""no"", twice",2\r\n\r\nb,3\r\n'))
    tsv = read_table(put(tmp_path, "a.tsv", b'x\ty\nHe said "no", twice\t2\n\nb\t3\n'))
    jsonl = read_table(
        put(
            tmp_path,
            "a.jsonl",
            b'{"x": "He said \\"no\\", twice", "y": 2}\n\n{"y": "3", "x": "b", "z": null}\n',
        )
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
        ("a.csv", b"x,y\n1\n", 2, "expected 2 fields, as in the header, got 1"),
        ("a.tsv", b"x\ty\n1\t2\n1\t2\t3\n", 3, "got 3"),
        ("a.csv", b'x,y\n1,2\n"open,3\n4,5\n', 3, "broken"),
        ("a.csv", b"x,x\n1,2\n", 1, "twice"),
        ("a.csv", b"x,y\n", 1, "no rows"),
        ("a.csv", b",,\n", 1, "no rows"),  # not empty as text, and yet without a header
        ("a.jsonl", b'{"x": 1}\n{"x"\n', 2, "expected a JSON object"),
        ("a.jsonl", b"[1]\n", 1, "got list"),
        ("a.jsonl", b'{"x": [1]}\n', 1, "text or a number"),
        ("a.jsonl", b'{"x": true}\n', 1, "got bool"),
        ("a.jsonl", b'{"x": "\\ud800"}\n', 1, "surrogate"),
        ("a.jsonl", b"[" * 100_000 + b"\n", 1, "expected a JSON object"),
        ("a.jsonl", b'{"x": ' + b"9" * 5000 + b"}\n", 1, "expected a JSON object"),
    ],
)
def test_broken_tables_are_errors_with_their_line(
    tmp_path: Path, name: str, data: bytes, line: int, says: str
) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_table(put(tmp_path, name, data))
    assert caught.value.line == line


def test_fields_that_do_not_count_are_passed_over_in_objects(tmp_path: Path) -> None:
    # As a run's own translations.jsonl may have them: only the named fields are looked at, and they
    # must be text.
    path = put(
        tmp_path,
        "a.jsonl",
        b'{"x": "1", "n": 2, "list": [3], "odd": "\\ud800"}\n{"x": null, "z": true}\n',
    )
    table = parse_table(read_text(path), texts=("x", "y"))
    assert table.columns == ("x",)
    assert [dict(r.fields) for r in table.records] == [{"x": "1"}, {"x": ""}]
    with pytest.raises(DataError, match=r"a\.jsonl:1: expected text under 'n', got int"):
        parse_table(read_text(path), texts=("n",))
    with pytest.raises(DataError, match=r"a\.jsonl:1: half of a surrogate pair under 'odd'"):
        parse_table(read_text(path), texts=("odd",))


def test_a_field_with_and_without_its_white_space(tmp_path: Path) -> None:
    one, two = read_table(put(tmp_path, "a.jsonl", b'{"x": " a "}\n{"y": ""}\n')).records
    assert (one.get("x"), one.raw("x")) == ("a", " a ")
    assert (two.get("x"), two.raw("x")) == ("", "")


def test_columns_that_are_not_there_are_named_with_those_that_are(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a.csv", b",x,y\n0,1,2\n"))
    table.require("x", "y")
    assert table.listing == "'x', 'y'"
    with pytest.raises(DataError, match=r"a\.csv:1: expected the column 'id', 'z'; got 'x', 'y'"):
        table.require("id", "x", "z")
    nameless = read_table(put(tmp_path, "b.jsonl", b"{}\n"))
    with pytest.raises(DataError, match="expected the column 'x'; got none"):
        nameless.require("x")


def test_an_unknown_suffix_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"\.csv, \.tsv.*'\.xlsx'"):
        read_table(put(tmp_path, "a.xlsx", b"PK\x03\x04\xff"))


@settings(deadline=None)
@given(
    st.one_of(
        st.binary(max_size=80),
        st.text(st.sampled_from('x1 \n\r\t,"{}:[]'), max_size=40).map(str.encode),
    )
)
def test_any_file_is_a_table_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    for suffix in TABLES:
        path = put(tmp_path_factory.getbasetemp(), f"any{suffix}", data)
        caught: DataError | None = None
        table: Table | None = None
        try:
            table = read_table(path)
        except DataError as error:
            caught = error
        assert caught is None or caught.path == str(path)
        assert table is None or [r.row for r in table.records] == list(range(len(table.records)))


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("12", 12), ("5.0", 5)])
def test_integers(text: str, value: int) -> None:
    assert integer(text, "n", Path("f"), 1) == value


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "²", "1e3", "9" * 30, ".0"])
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(DataError, match="f:7: n: expected an integer from 0"):
        integer(text, "n", Path("f"), 7)


def test_tabs_with_and_without_quoting_whatever_the_name(tmp_path: Path) -> None:
    file = read_text(put(tmp_path, "a.txt", b'x\ty\n"one\n""two"""\t 2\n'))
    (record,) = parse_tabs(file, quoted=True).records
    assert (record.line, record.raw("x"), record.raw("y")) == (2, 'one\n"two"', " 2")
    with pytest.raises(DataError, match=r"a\.txt:2: expected 2 fields, as in the header, got 1"):
        parse_tabs(file, quoted=False)
    bare = read_text(put(tmp_path, "b.txt", b'x\ty\n"one\t2\n'))
    assert parse_tabs(bare, quoted=False).records[0].get("x") == '"one'
    with pytest.raises(DataError, match="without its partner"):
        parse_tabs(bare, quoted=True)


def test_a_row_has_numbers_and_says_where_an_error_is(tmp_path: Path) -> None:
    _, record = read_table(put(tmp_path, "a.csv", b"n,x,y\n1,1,1\n7,2.5,\n")).records
    assert (record.integer("n"), record.number("x"), record.number("x", most=2.5)) == (7, 2.5, 2.5)
    for column, most, says in (
        ("x", 2, "x: expected a number from 0 to 2, got '2.5'"),
        ("y", 9, "y: .* got ''"),
    ):
        with pytest.raises(DataError, match=rf"a\.csv:3: {says}"):
            record.number(column, most=most)
    with pytest.raises(DataError, match=r"a\.csv:3: x: expected an integer from 0, got '2\.5'"):
        record.integer("x")
    assert str(record.error("no")).endswith("a.csv:3: no")


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1,5", "x"])
def test_what_is_no_number(tmp_path: Path, text: str) -> None:
    (record,) = read_table(put(tmp_path, "a.tsv", f"x\n{text}\n".encode())).records
    with pytest.raises(DataError, match="x: expected a number of 0 or more"):
        record.number("x")


def test_json_lines_have_their_numbers(tmp_path: Path) -> None:
    file = read_text(put(tmp_path, "a.jsonl", b'\n{"x": [1]}\n\n{}\n'))
    assert list(parse_json_lines(file)) == [(2, {"x": [1]}), (4, {})]
    assert list(file.filled_lines()) == [(2, '{"x": [1]}'), (4, "{}")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "expected each key once, got 'a' twice; remove one"),
        (b'{"x": {"a": 1, "a": 1}}', "expected each key once, got 'a' twice"),
        (b"[]", "an entry for each id, got list"),
        (b"{", "expected a JSON object"),
        (b"[" * 100_000, "expected a JSON object"),
    ],
)
def test_json_by_id_has_each_id_once(tmp_path: Path, content: bytes, says: str) -> None:
    assert parse_json_by_id(read_text(put(tmp_path, "a.json", b'{"a": [1]}'))) == {"a": [1]}
    with pytest.raises(DataError, match=rf"b\.json: .*{says}"):
        parse_json_by_id(read_text(put(tmp_path, "b.json", content)))


class Name(str):
    """The name of a column that counts how often one is compared with another."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return super().__eq__(other)

    def strip(self, _: str | None = None) -> Name:
        return self


def test_a_header_of_many_columns_is_not_compared_pair_by_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [Name(f"c{n}") for n in range(2000)]
    monkeypatch.setattr(reading, "_tab_rows", lambda _: iter([(1, names), (2, ["x"] * len(names))]))
    assert read_table(put(tmp_path, "a.tsv", b"as above")).columns == tuple(names)
    assert Name.compared < 10 * len(names)


def test_a_header_of_many_columns_is_named_in_part(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(100_000)]
    table = read_table(
        put(tmp_path, "a.tsv", "\n".join("\t".join(names) for _ in range(2)).encode())
    )
    with pytest.raises(
        DataError, match=r"expected the column 'source'; got 'c0', .*'c19', … \(100000 in all\)$"
    ):
        table.require("source")
    twice = put(tmp_path, "b.tsv", "\t".join(names * 2).encode())
    with pytest.raises(DataError, match="occurs twice in the header") as caught:
        read_table(twice)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a": ' * 100_000])
def test_json_that_is_nested_too_deeply_is_an_error_with_its_line(
    tmp_path: Path, deep: str
) -> None:
    data = f'{{"a": "b"}}\n{deep}\n'.encode()
    for read in (read_table, lambda path: list(parse_json_lines(read_text(path)))):
        with pytest.raises(
            DataError, match=r"a\.jsonl:2: expected a JSON object: nested too deeply"
        ):
            read(put(tmp_path, "a.jsonl", data))
    with pytest.raises(DataError, match="expected a JSON object: nested too deeply"):
        parse_json_by_id(read_text(put(tmp_path, "a.json", deep.encode())))
    with pytest.raises(DecodingError):
        decoded(dict[str, Any], deep)
    with pytest.raises(DataError, match="expected TOML"):
        parse_toml(read_text(put(tmp_path, "a.toml", f"a = {'[' * 100_000}".encode())))


def test_toml(tmp_path: Path) -> None:
    assert parse_toml(read_text(put(tmp_path, "a.toml", b"x = [1]"))) == {"x": [1]}
    for text in (b"x = [", b"x = " + b"9" * 5000):  # more digits than Python reads
        with pytest.raises(DataError, match=r"b\.toml: expected TOML"):
            parse_toml(read_text(put(tmp_path, "b.toml", text)))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2020-01-01", "a"),
        ("10:00:00", "a"),
        ("2020-01-01T10:00:00Z", "a"),
        ("['x', 2020-01-01]", "a.1"),
        ("{b = 10:00:00}", "a.b"),
    ],
)
def test_dates_of_toml_are_no_text(text: str, key: str) -> None:
    with pytest.raises(
        DecodingError, match=rf"^{key}: expected text or a number, got the date or time (2020|10:)"
    ):
        converted(dict[str, Any], tomllib.loads(f"a = {text}"))
