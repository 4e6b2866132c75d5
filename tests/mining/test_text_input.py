"""Text in every form becomes passages whose places are true, in chunks that can be resumed."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from mtbias.errors import DataError, SettingError
from mtbias.mining import text_input
from mtbias.mining.text_input import (
    LONG_LINE,
    LONG_PASSAGE,
    NOT_JSON,
    NOT_UTF8,
    WordFilter,
    input_files,
    read_chunks,
)

LINES = ["The doctor said he left.", "", "  A nurse – she came.\r", "Nobody.", "Żółć: her writer"]


def every(_: str) -> bool:
    return True


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def passages(*paths: Path, field: str | None = None) -> list[tuple[int, int, int, str]]:
    files = input_files(paths, field=field)
    chunks = read_chunks(files, every, field or "text")
    return [(p.file, p.line, p.offset, p.text) for chunk in chunks for p in chunk.passages]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "wiki_00"])
def test_a_line_is_a_passage(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, "\ufeff".encode() + "\n".join(LINES).encode())
    assert passages(path) == [
        (0, 1, 0, "The doctor said he left."),
        (0, 3, 0, "  A nurse – she came."),
        (0, 4, 0, "Nobody."),
        (0, 5, 0, "Żółć: her writer"),
    ]


@pytest.mark.parametrize(
    ("name", "field"), [("a.jsonl", None), ("a.ndjson.gz", None), ("a.txt", "body")]
)
def test_paragraphs_of_a_field_have_their_place_in_it(
    tmp_path: Path, name: str, field: str | None
) -> None:
    key = field or "text"
    lines = [
        json.dumps({"id": 1, key: "One.\n\n Two\u2028three."}),
        "",
        json.dumps({key: "Four\n"}),
    ]
    path = written(tmp_path / name, "\n".join(lines).encode())
    # "One." has 4 characters and two line breaks follow it.
    assert passages(path, field=field) == [
        (0, 1, 0, "One."),
        (0, 1, 6, " Two\u2028three."),
        (0, 3, 0, "Four"),
    ]


def test_a_folder_is_read_sorted_and_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", ".hidden/x.txt", "a/.x.txt"):
        written(tmp_path / "news" / name, name.encode())
    files = input_files([tmp_path / "news"])
    assert [(str(f.path.relative_to(tmp_path)), f.corpus) for f in files] == [
        ("news/a/z.txt", "news"),
        ("news/b.txt", "news"),
    ]
    assert passages(tmp_path / "news") == [(0, 1, 0, "a/z.txt"), (1, 1, 0, "b.txt")]


def test_the_corpus_is_the_name_of_the_file_without_its_endings(tmp_path: Path) -> None:
    path = written(tmp_path / "court.jsonl.gz", b"{}")
    assert [file.corpus for file in input_files([path])] == ["court"]
    assert [file.corpus for file in input_files([path], corpus="x")] == ["x"]


def test_what_cannot_be_read_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_input, "LONGEST_LINE", 40)
    monkeypatch.setattr(text_input, "LONGEST_PASSAGE", 30)
    text = written(
        tmp_path / "a.txt",
        b"ok\n" + b"x" * 41 + b"\n" + b"y" * 100 + b"\n\xff\n" + b"z" * 35 + b"\nend",
    )
    lines = [
        b'{"text": "ok"}',
        b"nonsense",
        b"[1]",
        b'{"text": 3}',
        b'{"other": 1}',
        b'{"text": "\\ud800"}',
    ]
    objects = written(tmp_path / "b.jsonl", b"\n".join(lines))
    (chunk,) = read_chunks(input_files([text, objects]), every)
    assert [passage.text for passage in chunk.passages] == ["ok", "end", "ok"]
    assert chunk.left_out == {LONG_LINE: 2, NOT_UTF8: 1, LONG_PASSAGE: 1, NOT_JSON: 5}
    assert chunk.read == 4  # "ok", the long passage, "end", "ok"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.jsonl",
            b'{"title": "x"}',
            "expected a JSON object with text under 'text', got an object with 'title'",
        ),
        (
            "a.jsonl",
            b"plain text",
            "expected a JSON object with text under 'text', got something else",
        ),
        ("a.txt", "x".encode("utf-16"), "the file is UTF-16"),
        ("a.txt", b"\x89PNG\0\0", "expected text, got a binary file"),
        ("a.txt", b"\n \n", "expected text, got none in any file"),
        ("a.txt.gz", b"no gzip", "cannot be read beyond line 0"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_an_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        passages(path)


def test_a_gzipped_file_that_ends_early_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(os.urandom(3000).hex().encode() + b"\n", 0)[:-20])
    with pytest.raises(DataError, match="cannot be read beyond line 0"):
        passages(path)


def test_files_that_cannot_be_read_again_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    for path, message in (
        ("pipe", "expected a regular file"),
        ("none", "no such file"),
        ("empty", "expected files"),
    ):
        with pytest.raises(DataError, match=message):
            input_files([tmp_path / path])
    with pytest.raises(SettingError, match="expected files or folders"):
        input_files([])


def test_a_hash_is_that_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", b"abc")
    # NIST's example for SHA-256 (FIPS 180-2, appendix B.1).
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert [file.sha256 for file in input_files([path])] == [expected]


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files of every form, of several chunks each."""
    monkeypatch.setattr(text_input, "PASSAGES", 7)
    monkeypatch.setattr(text_input, "LINES", 100)
    lines = [f"{n} the doctor and {'his' if n % 3 else 'other'} words, {n * n}" for n in range(60)]
    objects = [json.dumps({"text": "\n".join(lines[n : n + 4])}) for n in range(0, 60, 4)]
    text = "\n".join(lines).encode()
    return [
        written(tmp_path / "a.txt", text),
        written(tmp_path / "b.txt.gz", text),
        written(tmp_path / "c.jsonl", "\n".join(objects).encode()),
        written(tmp_path / "d.txt", b"no word\n" * 300),
        written(tmp_path / "e.jsonl.gz", "\n".join(objects).encode() + b"\n"),
    ]


def test_chunks_are_the_same_each_time_and_have_all_passages(many: list[Path]) -> None:
    files = input_files(many)
    keep = WordFilter({"doctor"}, {"his"})
    chunks = list(read_chunks(files, keep))
    assert len(chunks) > 20
    assert [c.done for c in chunks] == sorted(c.done for c in chunks)
    assert chunks[-1].done == sum(path.stat().st_size for path in many)
    assert sum(len(c.passages) for c in chunks) == 4 * 40  # 40 of 60 numbers are no multiples of 3
    assert sum(c.read for c in chunks) == 4 * 60 + 300
    assert list(read_chunks(files, keep)) == chunks


def test_the_filter_finds_whole_words_in_any_case() -> None:
    keep = WordFilter({"doctor", "vice-president"}, {"he", "herself"})
    kept = [
        "Doctor: HE",
        "the doctor's own; he's ill",
        "_doctor_ (he)",
        "Vice-President herself",
        "he-doctor",
    ]
    refused = ["doctor the", "doctors he", "The president, he", "he", "doctor", "doctorhe he", ""]
    assert [keep(text) for text in kept] == [True] * 5
    assert [keep(text) for text in refused] == [False] * 7
