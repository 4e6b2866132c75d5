"""Analyses on disk: one SQLite file a package, one row a distinct text. Losing it costs only
time.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import sqlite3
import weakref
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mtbias.errors import RunFolderError
from mtbias.files.file_ledger import file_ledger
from mtbias.files.strict_json import load_json
from mtbias.types import Analysis, Span, Token, Word

_log = logging.getLogger(__name__)
_FORMAT = 2


class AnalysisCache:
    """Analyses by text. A damaged file is logged, set aside (``*.damaged``), begun again; a damaged
    row is redone.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or make the file at `path`; None keeps everything in memory."""
        self.path = path
        self._db = self._open()
        weakref.finalize(self, self._db.close)  # for those who never call `close`

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return self._connect(":memory:")
        file_ledger().note_input(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return self._connect(self.path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                aside = self.path.with_suffix(self.path.suffix + ".damaged")
                self.path.replace(aside)
                _log.warning(
                    "%s is damaged (%s): set aside as %s, sentences are analysed again",
                    self.path,
                    error,
                    aside.name,
                )
                return self._connect(self.path)
        except (OSError, sqlite3.OperationalError) as error:
            raise RunFolderError(
                f"cannot keep analyses in {self.path}: {error}; name another folder with --cache-dir"
            ) from error

    @classmethod
    def _connect(cls, where: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(where, timeout=60)
        try:
            cls._prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    @staticmethod
    def _prepare(db: sqlite3.Connection) -> None:
        (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(said)
        if db.execute("PRAGMA user_version").fetchone() != (
            _FORMAT,
        ):  # new, or of an earlier release
            db.execute("DROP TABLE IF EXISTS analysis")
            db.execute(f"PRAGMA user_version = {_FORMAT}")
        db.execute(
            "CREATE TABLE IF NOT EXISTS analysis (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
        )
        db.execute("PRAGMA synchronous=NORMAL")
        db.commit()

    def _value(self, key: bytes) -> Any:  # noqa: ANN401 - SQLite keeps whatever a damaged file holds
        """What is kept under `key`, whole or not; None where nothing is, or nothing that can be
        read.
        """
        try:
            row = self._db.execute("SELECT value FROM analysis WHERE key = ?", (key,)).fetchone()
        except sqlite3.DatabaseError:
            return None
        return None if row is None else row[0]

    def get(self, text: str) -> Analysis | None:
        """The analysis of `text`, or None where there is none (or a row that cannot be read)."""
        value = self._value(_key(text))
        try:
            return None if value is None else decode(text, value)
        except (ValueError, TypeError, IndexError):
            return None

    def missing(self, texts: Iterable[str]) -> Iterator[str]:
        """Distinct `texts` that are not kept yet, or damaged, in order of first appearance."""
        seen: set[bytes] = set()
        for text in texts:
            key = _key(text)
            if key not in seen:
                seen.add(key)
                if not _is_whole(self._value(key)):
                    yield text

    def put(self, analyses: Iterable[Analysis]) -> None:
        """Keep `analyses`, all or none; raises what `put_encoded` raises."""
        self.put_encoded((a.text, encode(a)) for a in analyses)

    def put_encoded(self, rows: Iterable[tuple[str, str]]) -> None:
        """Keep analyses, given as their texts and what `encode` made of them, all or none.

        Raises:
            RunFolderError: the disk is full, the file cannot be written or was damaged meanwhile.
        """
        try:
            with self._db:
                self._db.executemany(
                    "INSERT OR REPLACE INTO analysis VALUES (?, ?)",
                    ((_key(text), value) for text, value in rows),
                )
        except sqlite3.OperationalError as error:
            raise RunFolderError(
                f"cannot write analyses to {self.path}: {error}; free space and start again"
            ) from error
        except sqlite3.DatabaseError as error:
            raise RunFolderError(
                f"cannot write analyses to {self.path}: it is damaged: {error}; start again: it is then set aside"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def encode(analysis: Analysis) -> str:
    """CRC-32 as eight digits, then compact JSON: ``[[start, end, [[text, lemma, upos, "A=B|C=D"],
    …]], …]``.

    A letter that a disk has changed must not make a woman of a man.
    """
    rows = [
        [
            t.span.start,
            t.span.end,
            [[w.text, w.lemma, w.upos, "|".join(f"{k}={v}" for k, v in w.feats)] for w in t.words],
        ]
        for t in analysis.tokens
    ]
    return _with_checksum(json.dumps(rows, ensure_ascii=False, separators=(",", ":")))


def _with_checksum(content: str) -> str:
    return f"{zlib.crc32(content.encode()):08x}{content}"


def _is_whole(value: object) -> bool:
    return isinstance(value, str) and value == _with_checksum(value[8:])


def decode(text: str, value: str) -> Analysis:
    """What `encode` wrote.

    Raises:
        ValueError: it is something else.
    """
    if not _is_whole(value):
        raise ValueError("damaged")
    tokens = []
    for start, end, words in load_json(value[8:]):
        if not 0 <= start <= end <= len(text):
            raise ValueError("span outside the text")
        for word, lemma, upos, feats in words:
            if not (
                type(word) is type(upos) is type(feats) is str
                and (lemma is None or type(lemma) is str)
            ):
                raise ValueError("expected words of texts")
        tokens.append(
            Token(
                Span(start, end),
                text[start:end],
                tuple(Word(w, m, u, parse_feats(f)) for w, m, u, f in words),
            )
        )
    return Analysis(text, tuple(tokens))


@functools.cache
def parse_feats(feats: str | None) -> tuple[tuple[str, str], ...]:
    """UD features ``A=B|C=D`` as pairs; equal strings share one tuple."""
    if not feats:
        return ()
    return tuple((k, v) for k, _, v in (part.partition("=") for part in feats.split("|")))
