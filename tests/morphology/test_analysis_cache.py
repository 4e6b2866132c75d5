"""Analyses on disk: what is kept, and what happens to damaged files and rows."""

from __future__ import annotations

import logging
import sqlite3
from hashlib import sha256
from pathlib import Path
from zlib import compress, crc32

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


def _key(text: str) -> bytes:
    return sha256(text.encode()).digest()[:16]


def _summed(content: bytes, text: str = "zum Arzt") -> bytes:
    """A row with a checksum that fits, as a program with an error in it would write."""
    return crc32(_key(text) + content).to_bytes(4, "big") + content


def crc_fits(value: bytes) -> bool:
    return value[:4] == _summed(value[4:])[:4]


def test_a_row_is_a_checksum_of_key_and_content_and_compressed_json() -> None:
    content = (
        b'[[0,3,[["zu",null,"ADP",""],["dem","der","DET","Case=Dat|Gender=Fem,Masc"]]],'
        b'[4,8,[["Arzt",null,"NOUN",""]]]]'
    )
    assert encode(ZUM) == _summed(compress(content))
    with pytest.raises(ValueError, match="damaged"):
        decode("zum Wirt", encode(ZUM))  # another text, of the same length


def _flipped(place: int) -> bytes:
    """The row of `ZUM` with one bit changed."""
    value = bytearray(encode(ZUM))
    value[place] ^= 1
    return bytes(value)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{",
        encode(ZUM)[4:],
        encode(ZUM)[:-1],
        _flipped(0),
        _flipped(10),
        _flipped(-1),
        encode(many(1)[0]),  # of another text
        _summed(b"no zlib"),
        *(
            _summed(compress(content))
            for content in (
                b"null",
                b"\xff",
                b'[[0,99,[["zum",null,"ADP",""]]]]',  # a span outside the text
                b'[[3,0,[["zum",null,"ADP",""]]]]',
                b'[[0,3,[["zum"]]]]',
                b"[[0,3]]",
                b'[[0,"3",[]]]',
                b'[[0,3,[["zum",null,"ADP",5]]]]',
                b'[[0,3,[["zum",null,"ADP",["Case=Dat"]]]]]',
                b'[[0,3,[["zum",5,"ADP",""]]]]',
                b'[[0,3,[[5,null,"ADP",""]]]]',
                b'[[0,3,[["zum",null,null,""]]]]',
                b"5",
                b"[" * 100_000,
                b"9" * 5000,
            )
        ),
    ],
)
def test_a_damaged_row_is_none(tmp_path: Path, value: bytes) -> None:
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


def test_a_row_of_text_in_place_of_bytes_is_none(tmp_path: Path) -> None:
    cache = AnalysisCache(tmp_path / "de.sqlite")
    cache._db.execute("INSERT INTO analysis VALUES (?, ?)", (_key("zum Arzt"), "[]"))
    assert cache.get("zum Arzt") is None
    assert list(cache.missing(["zum Arzt"])) == ["zum Arzt"]
    cache.close()


@pytest.mark.parametrize("version", [0, 2, 99])
def test_a_cache_of_another_release_is_begun_again_and_its_space_is_given_back(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "de.sqlite"
    db = sqlite3.connect(path)
    with db:
        db.execute(
            "CREATE TABLE analysis (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
        )
        db.execute(f"PRAGMA user_version = {version}")
        rows = ((sha256(b"%d" % n).digest(), "[1,[]]" * 100) for n in range(1000))
        db.executemany("INSERT INTO analysis VALUES (?, ?)", rows)
    db.close()
    assert path.stat().st_size > 600_000
    with caplog.at_level(logging.WARNING):
        cache = AnalysisCache(path)
    (record,) = caplog.records
    assert record.message == (
        f"{path} is of another release of mtbias: begun again, sentences are analysed again"
    )
    assert path.stat().st_size < 20_000
    assert list(cache.missing(["zum Arzt"])) == ["zum Arzt"]
    cache.put([ZUM])
    cache.close()
    caplog.clear()
    again = AnalysisCache(path)
    assert again.get("zum Arzt") == ZUM
    assert caplog.records == []
    again.close()


def test_opening_does_not_read_the_analyses(tmp_path: Path) -> None:
    """Damage among them is noticed by whoever looks one up."""
    path = tmp_path / "de.sqlite"
    cache = AnalysisCache(path)
    cache.put(many(2000))
    (root,) = cache._db.execute(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table'"
    ).fetchone()
    cache.close()
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    cache = AnalysisCache(path)
    assert not path.with_suffix(".sqlite.damaged").exists()
    assert list(cache.missing(["Satz 0"])) == ["Satz 0"]
    assert path.with_suffix(".sqlite.damaged").read_bytes() == bytes(data)
    cache.close()


def _hurt_while_open(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(24)
        # SQLite's counter of changes: what it holds in memory is read again
        file.write(b"\xff" * 4)
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


def test_a_file_damaged_while_it_is_open_is_begun_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "de.sqlite"
    cache = AnalysisCache(path)
    cache.put(many(2000))
    _hurt_while_open(path)
    with caplog.at_level(logging.WARNING):
        cache.put(many(10))
        cache.put([ZUM])
    (record,) = caplog.records
    assert "set aside as de.sqlite.damaged, sentences are analysed again" in record.message
    assert list(cache.missing(["Satz 9", "Satz 10", "zum Arzt"])) == ["Satz 10"]
    cache.close()


def test_of_two_processes_one_sets_a_damaged_file_aside_and_both_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "de.sqlite"
    first, second = AnalysisCache(path), AnalysisCache(path)
    first.put(many(2000))
    _hurt_while_open(path)
    with caplog.at_level(logging.WARNING):
        assert first.get("Satz 0") is None
        first.put([ZUM])
        assert second.get("Satz 0") is None
    assert len(caplog.records) == 1
    assert second.get("zum Arzt") == ZUM
    first.close()
    second.close()


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
        assert list(cache.missing(a.text for a in many(2000)))[-1] == "Satz 1999"
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"{path} is damaged" in record.message
    assert "set aside as de.sqlite.damaged" in record.message
    assert (tmp_path / "de.sqlite.damaged").read_bytes() == damaged
    assert cache.get("Satz 1") is None
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
