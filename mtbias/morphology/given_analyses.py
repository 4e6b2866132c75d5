"""Analyses that somebody else made, in CoNLL-U: by hand, or by a tagger for a language that Stanza does not have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mtbias.errors import DataError, first_line
from mtbias.files.reading import TextFile, read_text
from mtbias.morphology.analysis_cache import parse_feats
from mtbias.types import Analysis, Span, Token, Word


class GivenAnalyser:
    """The analyses of a CoNLL-U file, each under the text that its ``# text`` names."""

    def __init__(self, path: Path) -> None:
        """Read the file at `path`.

        Raises:
            DataError: it is no CoNLL-U, a sentence has no text, or its tokens do not stand in it.
        """
        file = read_text(path)
        self._path = path
        self._analyses = {analysis.text: analysis for analysis in _sentences(file)}
        self.signature = f"conllu({hashlib.sha256(file.text.encode()).hexdigest()[:12]})"
        self.ways: Sequence[str] = ()

    def submit(self, texts: Iterable[str]) -> None:
        """There is nothing to begin with."""

    def abandon(self) -> None:
        """There is nothing to end."""

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Check that every one of `texts` is there.

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
            raise DataError(f"expected an analysis of each sentence, got none of {text!r}; add it", path=self._path)
        return self._analyses[text]


def _sentences(file: TextFile) -> Iterator[Analysis]:
    from stanza.utils.conll import CoNLL

    try:
        sentences = CoNLL.conll2doc(input_str=file.text).sentences
    except Exception as error:
        reason = first_line(error.__cause__ or error)
        raise file.error(f"expected CoNLL-U, which Stanza reads; it says: {reason}") from error
    for sentence in sentences:
        words = " ".join(token.text for token in sentence.tokens)
        if not sentence.text:
            raise file.error(f"expected '# text =' and the sentence above its words, got {words!r}")
        yield Analysis(sentence.text, tuple(_tokens(file, sentence.text, sentence.tokens)))


def _tokens(file: TextFile, text: str, tokens: Sequence[Any]) -> Iterator[Token]:
    """The tokens with their places."""
    at = 0
    for token in tokens:
        start = text.find(token.text, at)
        if start < 0:
            raise file.error(f"expected a token of {text!r}, got {token.text!r}")
        at = start + len(token.text)
        words = tuple(Word(w.text, w.lemma, w.upos or "X", parse_feats(w.feats)) for w in token.words)
        yield Token(Span(start, at), token.text, words)
