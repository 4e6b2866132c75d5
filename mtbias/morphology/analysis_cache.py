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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mtbias.errors import RunFolderError
from mtbias.files.file_ledger import file_ledger
from mtbias.files.strict_json import load_json
from mtbias.types import Analysis, Span, Token, Word

_log = logging.getLogger(__name__)
_FORMAT = 3


class AnalysisCache:
    """Analyses by text. A damaged file is logged, set aside (``*.damaged``) and begun again as soon
    as it is noticed; a damaged row is redone.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or make the file at `path`; None keeps everything in memory."""
        self.path = path
        self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return self._connect(":memory:")
        file_ledger().note_input(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return self._connect(self.path)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._set_aside(error)
                return self._connect(self.path)
        except (OSError, sqlite3.OperationalError) as error:
            raise RunFolderError(
                f"cannot keep analyses in {self.path}: {error};"
                " name another folder with --cache-dir"
            ) from error

    def _connect(self, where: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(where, timeout=60)
        self._inode = Path(where).stat().st_ino if self.path is not None else None
        weakref.finalize(self, db.close)  # for those who never call `close`
        try:
            self._prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the table unless there is one of this format."""
        db.execute("PRAGMA synchronous=NORMAL")
        if _format(db) == _FORMAT:
            return
        with db:
            db.execute("BEGIN IMMEDIATE")
            if _format(db) == _FORMAT:  # another process was faster
                return
            known = db.execute("SELECT name FROM sqlite_master WHERE name = 'analysis'").fetchone()
            db.execute("DROP TABLE IF EXISTS analysis")
            db.execute("CREATE TABLE analysis (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
            db.execute(f"PRAGMA user_version = {_FORMAT}")
        if known is not None:
            _log.warning(
                "%s is of another release of mtbias: begun again, sentences are analysed again",
                self.path,
            )
            with suppress(sqlite3.OperationalError):  # another process reads
                db.execute("VACUUM")

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Give the file another name, unless another process has done so since it was opened."""
        if self.path is None:
            raise error
        if self.path.exists() and self.path.stat().st_ino != self._inode:
            return
        aside = self.path.with_suffix(self.path.suffix + ".damaged")
        self.path.replace(aside)
        _log.warning(
            "%s is damaged (%s): set aside as %s, sentences are analysed again",
            self.path,
            error,
            aside.name,
        )

    def _begin_again(self, error: sqlite3.DatabaseError) -> None:
        """Continue with a new file in place of one that proved damaged while it was open."""
        self._db.close()
        with suppress(FileNotFoundError):
            self._set_aside(error)
        self._db = self._open()

    def _value(self, key: bytes) -> Any:  # noqa: ANN401 - a damaged file holds anything
        """The row's value under `key`, whole or damaged; None where no value can be read."""
        try:
            row = self._db.execute("SELECT value FROM analysis WHERE key = ?", (key,)).fetchone()
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                self._begin_again(error)
            return None
        return None if row is None else row[0]

    def get(self, text: str) -> Analysis | None:
        """The analysis of `text`; None where the file has none that can be read."""
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
                if not _is_whole(key, self._value(key)):
                    yield text

    def put(self, analyses: Iterable[Analysis]) -> None:
        """Keep `analyses`, all or none; raises what `put_encoded` raises."""
        self.put_encoded((a.text, encode(a)) for a in analyses)

    def put_encoded(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Keep analyses, given as their texts and what `encode` made of them, all or none.

        Raises:
            RunFolderError: the disk is full, or the file cannot be written.
        """
        content = [(_key(text), value) for text, value in rows]
        try:
            try:
                self._insert(content)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._begin_again(error)
                self._insert(content)
        except sqlite3.DatabaseError as error:
            raise RunFolderError(
                f"cannot write analyses to {self.path}: {error}; free space and start again"
            ) from error

    def _insert(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO analysis VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _format(db: sqlite3.Connection) -> int:
    """The format that a file says it has; 0 where it is new."""
    (number,) = db.execute("PRAGMA user_version").fetchone()
    return int(number)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether SQLite says that the file is damaged or not a database: it has no class for that."""
    return type(error) is sqlite3.DatabaseError


def _key(text: str) -> bytes:
    """The first half of the text's SHA-256."""
    return hashlib.sha256(text.encode()).digest()[:16]


def encode(analysis: Analysis) -> bytes:
    """CRC-32 in four bytes, then compact JSON, compressed: ``[[start, end, [[text, lemma, upos,
    "A=B|C=D"], …]], …]``.

    A letter that a disk has changed must not make a woman of a man. The sum covers the text's key
    too: a damaged index must not lead to another text's analysis.
    """
    rows = []
    for token in analysis.tokens:
        words = [[w.text, w.lemma, w.upos, _feats_text(w.feats)] for w in token.words]
        rows.append([token.span.start, token.span.end, words])
    content = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return _with_checksum(_key(analysis.text), zlib.compress(content.encode()))


def _feats_text(feats: Iterable[tuple[str, str]]) -> str:
    """The reverse of `parse_feats`."""
    return "|".join(f"{name}={value}" for name, value in feats)


def _with_checksum(key: bytes, packed: bytes) -> bytes:
    return zlib.crc32(packed, zlib.crc32(key)).to_bytes(4, "big") + packed


def _is_whole(key: bytes, value: object) -> bool:
    return isinstance(value, bytes) and value == _with_checksum(key, value[4:])


def decode(text: str, value: bytes) -> Analysis:
    """The analysis of `text` that `encode` wrote.

    Raises:
        ValueError: it is something else, or that of another text.
    """
    if not _is_whole(_key(text), value):
        raise ValueError("damaged")
    try:
        content = zlib.decompress(value[4:])
    except zlib.error as error:
        raise ValueError(f"damaged: {error}") from None
    tokens = []
    for start, end, rows in load_json(content):
        if not 0 <= start <= end <= len(text):
            raise ValueError("span outside the text")
        words = []
        for word, lemma, upos, feats in rows:
            texts = type(word) is type(upos) is type(feats) is str
            if not texts or not (lemma is None or type(lemma) is str):
                raise ValueError("expected words of texts")
            words.append(Word(word, lemma, upos, parse_feats(feats)))
        tokens.append(Token(Span(start, end), text[start:end], tuple(words)))
    return Analysis(text, tuple(tokens))


@functools.cache
def parse_feats(feats: str | None) -> tuple[tuple[str, str], ...]:
    """UD features ``A=B|C=D`` as pairs; equal strings share one tuple."""
    if not feats:
        return ()
    parts = [part.partition("=") for part in feats.split("|")]
    return tuple((name, value) for name, _, value in parts)
