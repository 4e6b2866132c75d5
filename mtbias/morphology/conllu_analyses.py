"""Analyses from a CoNLL-U file: made by hand, or by a tagger for a language that Stanza does not
have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from mtbias.errors import DataError
from mtbias.files.reading import TextFile, read_text
from mtbias.morphology.analysis_cache import parse_feats
from mtbias.types import Analysis, Span, Token, Word

_TEXT = "# text = "
_Row = tuple[int, list[str]]


class ConlluAnalyser:
    """The analyses of a CoNLL-U file, each under the text that its ``# text`` names."""

    def __init__(self, path: Path) -> None:
        """Read the file at `path`.

        Raises:
            DataError: it is not CoNLL-U, a sentence has no text, or the text lacks one of its
                tokens; with the line.
        """
        file = read_text(path)
        self._path = path
        self._analyses = {analysis.text: analysis for analysis in _sentences(file)}
        self.signature = f"conllu({hashlib.sha256(file.text.encode()).hexdigest()[:12]})"
        self.ways: Sequence[str] = ()

    def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
        """Nothing: the analyses are there already."""

    def abandon(self, texts: Iterable[str] | None = None) -> None:
        """Nothing: no work is waiting."""

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        """Check that the file has every one of `texts`.

        Raises:
            DataError: one is not.
        """
        for done, text in enumerate(texts, 1):
            self.analysis(text)
            if progress is not None:
                progress(done)

    def analysis(self, text: str) -> Analysis:
        """The analysis of `text`.

        Raises:
            DataError: the file has none.
        """
        if text not in self._analyses:
            raise DataError(
                f"expected an analysis of each sentence, got none of {text!r}; add it",
                path=self._path,
            )
        return self._analyses[text]


def _sentences(file: TextFile) -> Iterator[Analysis]:
    text, rows = "", list[_Row]()
    for line, content in [*enumerate(file.text.split("\n"), 1), (0, "")]:
        if content.startswith(_TEXT):
            text = content.removeprefix(_TEXT).strip()
        elif content.startswith("#"):
            continue
        elif content.strip():
            cells = content.rstrip("\r").split("\t")
            if len(cells) != 10:
                raise file.error(f"expected the 10 columns of CoNLL-U, got {len(cells)}", line)
            rows.append((line, cells))
        elif rows:
            if not text:
                raise file.error(
                    f"expected {_TEXT.strip()!r} and the sentence above its words", rows[0][0]
                )
            yield Analysis(text, tuple(_tokens(file, text, rows)))
            text, rows = "", []


def _tokens(file: TextFile, text: str, rows: Sequence[_Row]) -> Iterator[Token]:
    """The tokens with their places; a line such as ``3-4`` is one of several words, which
    follow.
    """
    end, remaining = 0, list(rows)
    while remaining:
        line, cells = remaining.pop(0)
        place, form = cells[:2]
        size, words = 1, [cells]
        if "-" in place:
            first, _, last = place.partition("-")
            size = int(last) - int(first) + 1 if first.isdecimal() and last.isdecimal() else 0
            words = [word for _, word in remaining[:size]]
            remaining = remaining[size:]
        start = text.find(form, end)
        if start < 0 or size < 1 or len(words) < size:
            raise file.error(f"expected a token of {text!r}, got {form!r} at {place}", line)
        end = start + len(form)
        yield Token(Span(start, end), form, tuple(map(_word, words)))


def _word(cells: Sequence[str]) -> Word:
    lemma = None if cells[2] == "_" else cells[2]
    return Word(cells[1], lemma, cells[3], parse_feats(None if cells[5] == "_" else cells[5]))
