"""Reading of CoNLL-2012: documents, parts, columns, nested and crossing mentions, and what is
malformed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.coref.documents import ConllFile, read_conll, repeated, without_repeated
from mtbias.errors import DataError


def _read(folder: Path, text: str) -> ConllFile:
    path = folder / "file.conll"
    path.write_bytes(text.encode())
    return read_conll(path)


def _document(rows: list[tuple[str, str]], name: str = "a/b", part: str = "000") -> str:
    lines = [f"#begin document ({name}); part {part}"]
    lines += [
        f"{name}\t0\t{n}\t{word}\t{link}" if word else "" for n, (word, link) in enumerate(rows)
    ]
    return "\n".join([*lines, "#end document"]) + "\n"


def test_words_sentences_and_clusters(tmp_path: Path) -> None:
    rows = [
        ("The", "(0"),
        ("baker", "0)|(1)"),
        ("left", "-"),
        ("", ""),
        ("She", "(0)"),
        ("sang", "_"),
    ]
    (document,) = _read(tmp_path, _document(rows)).documents
    assert document.id == "a/b"
    assert document.words == ("The", "baker", "left", "She", "sang")
    assert [len(sentence) for sentence in document.sentences] == [3, 2]
    assert document.sentences[1][0] == ("a/b", "0", "4", "She", "(0)")
    # Indices run through the document: "She" is word 3. Cluster 0 opens first.
    assert document.clusters == (((0, 1), (3, 3)), ((1, 1),))


def test_a_cluster_open_twice_closes_its_latest_mention_first(tmp_path: Path) -> None:
    rows = [("a", "(4"), ("b", "(4"), ("c", "4)"), ("d", "4)")]
    (document,) = _read(tmp_path, _document(rows)).documents
    assert document.clusters == (((1, 2), (0, 3)),)


def test_mentions_of_two_clusters_may_cross_and_share_words(tmp_path: Path) -> None:
    rows = [("a", "(1|(2"), ("b", "(3"), ("c", "1)|2)"), ("d", "3)")]
    (document,) = _read(tmp_path, _document(rows)).documents
    assert document.clusters == (((0, 2),), ((0, 2),), ((1, 3),))


def test_parts_are_documents_of_their_own(tmp_path: Path) -> None:
    text = _document([("a", "-")]) + _document([("b", "(0)")], part="001")
    assert [document.id for document in _read(tmp_path, text).documents] == ["a/b", "a/b#1"]


def test_a_header_without_part_crlf_and_aligned_columns(tmp_path: Path) -> None:
    text = "#begin document doc 7\r\ndoc7   0  0   Well   (12)\r\n\r\n#end document\r\n"
    (document,) = _read(tmp_path, text).documents
    assert (document.id, document.words, document.clusters) == ("doc 7", ("Well",), (((0, 0),),))


def test_words_that_look_like_links_or_comments_are_words(tmp_path: Path) -> None:
    (document,) = _read(tmp_path, _document([("(0", "-"), ("#", "-"), ("-", "(0)")])).documents
    assert document.words == ("(0", "#", "-")
    assert document.clusters == (((2, 2),),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a 0 0 word -\n", 1, "#begin document"),
        ("#begin document (a); part 000\na 0 0 word -\n", 1, "got the end of the file inside"),
        (
            "#begin document (a); part 000\n#begin document (b); part 000\n#end document\n",
            2,
            "still open",
        ),
        (_document([("x", "-")]) + "rest\n", 4, "#begin document"),
        (_document([("x", "-")]) + _document([("y", "-")]), 4, "it began on line 1"),
        (_document([("x", "-"), ("y", "3)")]), 3, "mentions that begin and end in their document"),
        (_document([("x", "-"), ("y", "(3"), ("z", "-")]), 3, "got one that does not"),
        (_document([("x", "(3"), ("y", "4)")]), 2, "got one that does not"),
        (_document([("x", "3")]), 2, "got '3'"),
        (_document([("x", "(a)")]), 2, "got '\\(a\\)'"),
        (_document([("x", "(1)|")]), 2, "expected"),
        (_document([("x", "((1)")]), 2, "expected"),
        (
            "#begin document (a); part 000\na 0 0 word\n#end document\n",
            2,
            "expected 5 columns or more .* got 4",
        ),
        (
            "#begin document (a); part 000\na 0 0 w -\na 0 1 w x -\n#end document\n",
            3,
            "expected 5 columns.* got 6",
        ),
    ],
)
def test_malformed_files_are_errors_with_their_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        _read(tmp_path, text)
    assert caught.value.line == line


def test_no_file_no_text_and_bad_bytes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_conll(tmp_path / "none")
    with pytest.raises(DataError, match="empty"):
        _read(tmp_path, "\n")
    (tmp_path / "latin").write_bytes(
        b"#begin document (a); part 000\na 0 0 caf\xe9 -\n#end document\n"
    )
    with pytest.raises(DataError, match="0xE9") as caught:
        read_conll(tmp_path / "latin")
    assert caught.value.line == 2


def test_repeated_mentions_keep_their_first_place() -> None:
    clusters = (((0, 0), (1, 1), (0, 0)), ((1, 1),), ((2, 2), (0, 0), (3, 3)))
    # (0, 0) is there three times, (1, 1) twice: three too many. The second cluster has nothing
    # else.
    assert repeated(clusters) == 3
    assert without_repeated(clusters) == (((0, 0), (1, 1)), ((2, 2), (3, 3)))
    assert without_repeated(((),)) == ()
