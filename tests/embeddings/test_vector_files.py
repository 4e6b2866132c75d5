"""Reading and writing word2vec's text format."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.embeddings.vectors import read_vectors, vector_lines
from mtbias.errors import DataError
from tests.embeddings.toy_vectors import written


def test_reading_vectors(tmp_path: Path) -> None:
    plain = read_vectors(written(tmp_path, "a 3 4\r\nb 0 2e0 \r\nnew york -1 0\n"), limit=None)
    assert plain.words == ("a", "b", "new york")
    assert plain.matrix.tolist() == [[0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]]
    headed = read_vectors(
        written(tmp_path, "4 2\na 3 4\na 1 0\n  0 1\nzero 0 0\n".replace("  0 1", "c 0 1"))
    )
    assert (headed.words, headed.repeated, headed.zeros) == (("a", "c"), 1, 1)
    assert read_vectors(written(tmp_path, "9 2\na 3 4\nb 1 0\n"), limit=1).words == ("a",)
    assert headed.header
    assert not plain.header
    assert plain.lengths == pytest.approx([5, 2, 1])
    tabbed = read_vectors(written(tmp_path, "1\t2\na\u00a0 3 4\n"))  # a word's own blanks are kept
    assert (tabbed.header, tabbed.words) == (True, ("a\u00a0",))
    later = read_vectors(written(tmp_path, "a 3 4\nb\u00a0 3 4\n"))
    assert later.words == ("a", "b\u00a0")


def test_a_word_may_be_white_space_of_unicode(tmp_path: Path) -> None:
    assert read_vectors(written(tmp_path, "a 3 4\n\x85 0 1\n\u00a0 1 0\n")).words == (
        "a",
        "\x85",
        "\u00a0",
    )


def test_words_that_look_like_numbers(tmp_path: Path) -> None:
    read = read_vectors(written(tmp_path, "a 3 4\n1990 0 1\n1 2 0 1\nat 8 -1 +0\n. . 1e0 -0\n"))
    assert read.words == ("a", "1990", "1 2", "at 8", ". .")
    assert read.matrix.tolist() == [[0.6, 0.8], [0, 1], [0, 1], [-1, 0], [1, 0]]


@pytest.mark.parametrize("head", ["", "3 2\n"])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_written_as_it_came(tmp_path: Path, head: str, separator: str) -> None:
    lines = [f"a{separator}0.123456789 -4", f"new york{separator}1e-07 0.5", f"ç{separator}0 1"]
    text = head + "".join(f"{line}\n" for line in lines)
    read = read_vectors(written(tmp_path, text))
    assert read.lengths is not None
    rows = read.matrix * read.lengths[:, None]
    assert "".join(f"{line}\n" for line in vector_lines(read.words, iter(rows), read)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", r"v\.txt:2: expected a word and 2 numbers, got 'b 1'"),
        ("2 3\na 1 2 3 4\nb 1 2\n", r"v\.txt:3: expected a word and 3 numbers"),
        ("a 1 x\n", "expected finite numbers after the word 'a'"),
        ("a 1 2\nb 1 2x\n", "expected finite numbers after the word 'b'"),
        ("a 1 nan\n", "finite numbers"),
        ("a 1 inf\n", "finite numbers"),
        ("3 2\na 1 2\n", "promises 3 words, the file has 1"),
        ("0 2\na 1 2\n", "promises 0 words, the file has 1"),
        ("1 2\na 0 0\n", "no vectors"),
        ("", "no vectors"),
        ("a\n", "expected a word and numbers"),
        (" 1 2 3\n 3 4 5\n", r"v\.txt:1: expected a word and numbers"),
        ("a 1 2\n 3 4\n", r"v\.txt:2: expected a word and 2 numbers"),
        ("a 1 2\nb 1 2 x\n", "expected finite numbers after the word 'b 1'"),
    ],
)
def test_vectors_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_vectors(written(tmp_path, text))


def test_binary_vectors(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    path.write_bytes(b"1 2\na \xff\xfe\x00\n")
    with pytest.raises(DataError, match=r"v\.bin:2: not UTF-8"):
        read_vectors(path)
    with pytest.raises(DataError, match="no such file"):
        read_vectors(tmp_path / "none.txt")
