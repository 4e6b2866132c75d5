"""Coreference in the JSON of parsers: CoreNLP's, and Stanza's documents (`Document.to_dict`).

Both count the words of each sentence; here words count through the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtbias.coref.conll import Mention
from mtbias.coref.system_output import OutputDocument
from mtbias.files.reading import TextFile


def corenlp_document(value: Mapping[str, Any], key: str | None, file: TextFile, line: int) -> OutputDocument:
    """A document of CoreNLP: `corefs` are chains of mentions, `startIndex` from 1, `endIndex` behind the last word.

    Raises:
        DataError: a part is missing, or a mention is not within its sentence.
    """
    try:
        sentences = [
            [str(token.get("originalText") or token["word"]) for token in sentence["tokens"]]
            for sentence in value["sentences"]
        ]
        starts = _starts(sentences)
        chains = [
            [(m["sentNum"] - 1, m["startIndex"] - 1, m["endIndex"] - 2) for m in chain]
            for chain in value["corefs"].values()
        ]
        id_ = value.get("docId") if key is None else key
    except (KeyError, TypeError, AttributeError) as error:
        raise file.error(
            f"expected sentences with tokens, and corefs, as CoreNLP writes them: {error!r}", line
        ) from None
    outside = [m for chain in chains for m in chain if not _within(m, sentences)]
    if outside:
        number, start, end = outside[0]
        raise file.error(
            f"expected mentions within sentences, got words {start + 1} to {end + 1} of {number + 1}", line
        )
    return OutputDocument(
        id=None if id_ is None else str(id_),
        clusters=tuple(
            tuple((starts[n] + start, starts[n] + end) for n, start, end in chain) for chain in chains if chain
        ),
        path=file.path,
        line=line,
        tokens=tuple(token for sentence in sentences for token in sentence),
    )


def _starts(sentences: Sequence[Sequence[str]]) -> list[int]:
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence))
    return starts


def _within(mention: tuple[int, int, int], sentences: Sequence[Sequence[str]]) -> bool:
    number, start, end = mention
    return 0 <= number < len(sentences) and 0 <= start <= end < len(sentences[number])


def is_stanza(value: object) -> bool:
    """Whether `value` is a document of Stanza: sentences, which are lists of words with their `text`."""
    sentences = value.get("sentences") if isinstance(value, dict) else value
    return (
        isinstance(sentences, list)
        and bool(sentences)
        and all(isinstance(sentence, list) and sentence for sentence in sentences)
        and all(isinstance(word, dict) and "text" in word for sentence in sentences for word in sentence)
    )


def stanza_document(value: Any, key: str | None, file: TextFile, line: int) -> OutputDocument:  # noqa: ANN401 - JSON
    """A document of Stanza, whose words say in which chains they are and where a mention of them begins and ends.

    Raises:
        DataError: a chain without its number; a mention that ends without having begun, or the reverse.
    """
    sentences = value["sentences"] if isinstance(value, dict) else value
    # Of a token of several words Stanza writes the token first ("id": [3, 4]) and then the words, which count.
    words = [
        word
        for sentence in sentences
        for word in sentence
        if not isinstance(word.get("id"), list) or len(word["id"]) == 1
    ]
    chains = MentionsByWord()
    try:
        for at, word in enumerate(words):
            for chain in word.get("coref_chains") or ():
                begins, ends = chain.get("is_start", False), chain.get("is_end", False)
                chains.add(str(chain["index"]), at, begins=begins, ends=ends)
    except (KeyError, TypeError, AttributeError) as error:
        raise file.error(f"expected coref_chains as Stanza writes them: {error!r}", line) from None
    if chains.broken is not None:
        raise file.error(
            f"expected mentions that begin and end, got one that does not at word {chains.broken + 1}", line
        )
    id_ = value.get("id", value.get("doc_id")) if isinstance(value, dict) else None
    return OutputDocument(
        id=str(id_) if key is None and id_ is not None else key,
        clusters=chains.clusters,
        path=file.path,
        line=line,
        tokens=tuple(str(word["text"]) for word in words),
    )


class MentionsByWord:
    """Clusters from words that each say which mentions begin and end there."""

    def __init__(self) -> None:
        self._mentions: dict[str, list[Mention]] = {}
        self._open: dict[str, list[int]] = {}
        self.wrong: int | None = None
        """The first word at which a mention ends that has not begun."""

    def add(self, chain: str, at: int, *, begins: bool, ends: bool) -> None:
        """At the word `at` a mention of `chain` begins, or ends, or both; the latest ends first."""
        if begins:
            self._open.setdefault(chain, []).append(at)
        if ends and self._open.get(chain):
            self._mentions.setdefault(chain, []).append((self._open[chain].pop(), at))
        elif ends and self.wrong is None:
            self.wrong = at

    @property
    def broken(self) -> int | None:
        """The first word of a mention that does not begin or does not end; None where there is none."""
        left = [at for places in self._open.values() for at in places]
        return min([*left, *([] if self.wrong is None else [self.wrong])], default=None)

    @property
    def clusters(self) -> tuple[tuple[Mention, ...], ...]:
        """The mentions of each chain, chains in the order in which the first mention of each ends."""
        return tuple(tuple(mentions) for mentions in self._mentions.values())
