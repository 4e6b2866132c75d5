"""Analyses on disk: what is kept, and what happens to damaged files and rows."""

from __future__ import annotations

import logging
import sqlite3
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import pytest

from mtbias.errors import RunFolderError
from mtbias.morphology import AnalysisCache
from mtbias.morphology.analysis_cache import decode, encode, parse_feats
from mtbias.types import Analysis, Span, Token, Word

FEATS = (("Case", "Dat"), ("Gender", "Fem,Masc"))
ZUM = Analysis(
    "zum Arzt",
    (
        Token(Span(0, 3), "zum", (Word("zu", None, "ADP"), Word("dem", "der", "DET", FEATS))),
        Token(Span(4, 8), "Arzt", (Word("Arzt", None, "NOUN"),)),
    ),
)


def many(count: int) -> list[Analysis]:
    texts = [f"Satz {n}" for n in range(count)]
    return [
        Analysis(t, (Token(Span(0, 4), "Satz", (Word("Satz", None, "NOUN", FEATS),)),))
        for t in texts
    ]


@pytest.mark.parametrize(
    "analysis", [ZUM, Analysis("", ()), Analysis("רופאה", (Token(Span(0, 5), "רופאה", ()),))]
)
def test_what_is_kept_comes_back(tmp_path: Path, analysis: Analysis) -> None:
    assert decode(analysis.text, encode(analysis)) == analysis
    path = tmp_path / "deep" / "de.sqlite"
    cache = AnalysisCache(path)
    assert cache.get(analysis.text) is None
    cache.put([analysis])
    cache.close()
    again = AnalysisCache(path)  # another process, later
    assert again.get(analysis.text) == analysis
    again.close()


def test_features_are_pairs() -> None:
    assert parse_feats("Case=Dat|Gender=Fem,Masc") == FEATS
    assert parse_feats(None) == parse_feats("") == ()


def test_missing_texts_are_distinct_and_in_order() -> None:
    cache = AnalysisCache(None)
    cache.put([ZUM])
    assert list(cache.missing(["b", "zum Arzt", "a", "b", "a"])) == ["b", "a"]


def test_a_second_analysis_of_a_text_replaces_the_first() -> None:
    cache = AnalysisCache(None)
    cache.put([Analysis("zum Arzt", ())])
    cache.put([ZUM])
    assert cache.get("zum Arzt") == ZUM


def crc_fits(value: str) -> bool:
    return value[:8] == f"{crc32(value[8:].encode()):08x}"


def _summed(content: str) -> str:
    """A row with a checksum that fits, as a program with an error in it would write."""
    return f"{crc32(content.encode()):08x}{content}"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        encode(ZUM)[8:],  # as an earlier format, without a checksum
        encode(ZUM)[:-1],
        encode(ZUM).replace("Fem", "Fen"),  # JSON all right, one bit changed
        encode(ZUM).replace("zu", "Zu"),
        _summed("null"),
        _summed('[[0,99,[["zum",null,"ADP",""]]]]'),  # a span outside the text
        _summed('[[3,0,[["zum",null,"ADP",""]]]]'),
        _summed('[[0,3,[["zum"]]]]'),
        _summed("[[0,3]]"),
        _summed('[[0,"3",[]]]'),
        _summed('[[0,3,[["zum",null,"ADP",5]]]]'),
        _summed('[[0,3,[["zum",null,"ADP",["Case=Dat"]]]]]'),
        _summed('[[0,3,[["zum",5,"ADP",""]]]]'),
        _summed('[[0,3,[[5,null,"ADP",""]]]]'),
        _summed('[[0,3,[["zum",null,null,""]]]]'),
        _summed("5"),
        _summed("[" * 100_000),
        _summed("9" * 5000),
    ],
)
def test_a_damaged_row_is_none(tmp_path: Path, value: str) -> None:
    path = tmp_path / "de.sqlite"
    cache = AnalysisCache(path)
    cache.put([ZUM, *many(2)])
    cache.close()
    db = sqlite3.connect(path)
    with db:
        changed = db.execute(
            "UPDATE analysis SET value = ? WHERE value = ?", (value, encode(ZUM))
        ).rowcount
    db.close()
    assert changed == 1
    cache = AnalysisCache(path)
    assert cache.get("zum Arzt") is None
    assert list(cache.missing(["zum Arzt", "Satz 0"])) == ([] if crc_fits(value) else ["zum Arzt"])
    cache.put([ZUM])
    assert cache.get("zum Arzt") == ZUM
    cache.close()


def test_a_cache_of_an_earlier_format_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "de.sqlite"
    db = sqlite3.connect(path)
    with db:
        db.execute(
            "CREATE TABLE analysis (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
        )
        db.execute("INSERT INTO analysis VALUES (?, ?)", (sha256(b"zum Arzt").digest(), "[1,[]]"))
    db.close()
    cache = AnalysisCache(path)
    assert list(cache.missing(["zum Arzt"])) == ["zum Arzt"]
    assert cache._db.execute("SELECT count(*) FROM analysis").fetchone() == (0,)
    cache.close()


def test_a_file_damaged_while_it_is_open_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "de.sqlite"
    first = AnalysisCache(path)
    first.put(many(2000))
    first.close()
    cache = AnalysisCache(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(24)
        file.write(
            b"\xff" * 4
        )  # SQLite's counter of changes: what it holds in memory is read again
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    assert cache.get("Satz 1999") is None
    assert list(cache.missing(["Satz 1999"])) == ["Satz 1999"]
    with pytest.raises(
        RunFolderError, match=r"it is damaged: .*; start again: it is then set aside"
    ):
        cache.put(many(2000))
    cache.close()


def _damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "not a database":
        data[:] = b"<html>502 Bad Gateway</html>" * 100
    elif how == "cut off":
        del data[len(data) // 2 :]
    elif how == "pages in the middle":
        data[8192 : len(data) // 2] = b"\xff" * (len(data) // 2 - 8192)
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["not a database", "cut off", "pages in the middle"])
def test_a_damaged_file_is_set_aside_logged_and_made_anew(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "de.sqlite"
    cache = AnalysisCache(path)
    cache.put(many(2000))
    cache.close()
    _damage(path, how)
    damaged = path.read_bytes()
    with caplog.at_level(logging.WARNING):
        cache = AnalysisCache(path)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"{path} is damaged" in record.message
    assert "set aside as de.sqlite.damaged" in record.message
    assert (tmp_path / "de.sqlite.damaged").read_bytes() == damaged
    assert cache.get("Satz 0") is None
    cache.put(many(1))
    cache.close()
    again = AnalysisCache(path)
    assert again.get("Satz 0") is not None
    again.close()


def test_an_empty_file_is_a_new_cache(tmp_path: Path) -> None:
    path = tmp_path / "de.sqlite"
    path.touch()
    cache = AnalysisCache(path)
    cache.put([ZUM])
    assert cache.get("zum Arzt") == ZUM
    cache.close()


def test_a_folder_that_cannot_be_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.sqlite").mkdir()
    for path in (tmp_path / "file" / "de.sqlite", tmp_path / "folder.sqlite"):
        with pytest.raises(RunFolderError) as caught:
            AnalysisCache(path)
        assert str(path) in str(caught.value)
        assert "--cache-dir" in str(caught.value)


def test_a_write_that_fails_is_an_error_and_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "de.sqlite"
    cache = AnalysisCache(path)
    cache.put(many(1))
    other = sqlite3.connect(path)
    pages = other.execute("PRAGMA page_count").fetchone()[0]
    other.close()
    cache._db.execute(f"PRAGMA max_page_count = {pages}")  # a full disk, as SQLite sees it
    with pytest.raises(
        RunFolderError, match=r"cannot write analyses to .*de\.sqlite: .*full; free space"
    ):
        cache.put(many(2000))
    assert cache.get("Satz 0") is not None
    assert cache.get("Satz 1") is None
    cache.close()


def test_two_processes_may_use_one_file(tmp_path: Path) -> None:
    first, second = AnalysisCache(tmp_path / "de.sqlite"), AnalysisCache(tmp_path / "de.sqlite")
    first.put(many(1))
    second.put([ZUM])
    assert first.get("zum Arzt") == ZUM
    assert second.get("Satz 0") is not None
    first.close()
    second.close()
