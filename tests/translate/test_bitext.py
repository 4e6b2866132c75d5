"""Pairs of sentences for the aligner."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.translate.bitext import read_bitext


def put(folder: Path, data: bytes) -> Path:
    path = folder / "b.txt"
    path.write_bytes(data)
    return path


def test_pairs_are_read_and_those_with_an_empty_side_passed_over(tmp_path: Path) -> None:
    data = "\ufeffA a. ||| X x.\r\n\r\nB ||| \nC |||\n ||| Z\n D\u2028d |||  Y ||| y \n".encode()
    assert read_bitext(put(tmp_path, data)) == [("A a.", "X x."), ("D\u2028d", "Y ||| y")]


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"b\.txt:1: the file is empty"):
        read_bitext(put(tmp_path, b""))


def test_bad_files_are_errors_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"b\.txt:3: expected 'source \|\|\| target'"):
        read_bitext(put(tmp_path, b"A ||| X\n\nB\n"))
    with pytest.raises(DataError, match=r"b\.txt:2: byte 0xFF is not UTF-8"):
        read_bitext(put(tmp_path, b"A ||| X\n\xff ||| Y\n"))
    with pytest.raises(DataError, match="there is no such file"):
        read_bitext(tmp_path / "absent.txt")
