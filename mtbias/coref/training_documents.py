"""Documents as Stanza's trainer takes them.

It knows mentions by their head word: here the mention's last word, which is the head of "the
construction worker" and of a pronoun, and not of "the man who left".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from mtbias.coref.documents import ConllDocument, without_repeated
from mtbias.types import JsonDict, frozen


@frozen
class TrainingData:
    """Documents as the trainer takes them, and what could not go into them."""

    documents: tuple[JsonDict, ...]
    mentions: int
    across: int
    """Mentions that begin in one sentence and end in another: left out, since the trainer has
    none."""

    @property
    def alone(self) -> bool:
        """Whether entities of one mention are marked; in CoNLL-2012's own data they are not."""
        return any(
            len(cluster) == 1
            for document in self.documents
            for cluster in document["span_clusters"]
        )


def training_data(documents: Iterable[ConllDocument]) -> TrainingData:
    """The `documents` with their clusters.

    A mention that stands in a cluster already, and a cluster that has lost all its mentions, is
    left out.
    """
    found, mentions, across = [], 0, 0
    for document in documents:
        sentence_of = [n for n, sentence in enumerate(document.sentences) for _ in sentence]
        given = without_repeated(document.clusters)
        within = (
            [m for m in cluster if sentence_of[m[0]] == sentence_of[m[1]]] for cluster in given
        )
        clusters = [cluster for cluster in within if cluster]
        kept = [mention for cluster in clusters for mention in cluster]
        mentions += len(kept)
        across += sum(map(len, given)) - len(kept)
        n = len(sentence_of)
        found.append({
            "document_id": document.id, "part_id": 0, "lang": "en", "cased_words": document.words,
            "sent_id": sentence_of, "speaker": ["_"] * n, "pos": ["_"] * n, "deprel": ["_"] * n, "head": [None] * n,
            # The trainer's ends are excluded.
            "span_clusters": [[[start, end + 1] for start, end in cluster] for cluster in clusters],
            "word_clusters": [[end for _, end in cluster] for cluster in clusters],
            "head2span": sorted([end, start, end + 1] for start, end in kept), "is_zero": [0] * len(kept),
        })  # fmt: skip
    return TrainingData(tuple(found), mentions, across)


def in_segments(
    data: TrainingData, pieces_of: Callable[[str], int], segments: int, window: int
) -> TrainingData:
    """The documents of `data`, those of more than `segments` × (`window` − 2) word pieces cut
    between sentences into several.

    Links between the parts of a document are lost, and with them the mentions that are alone in
    their part; a window has two signs of its own. A sentence that is longer stays whole.

    Args:
        data: to train on.
        pieces_of: the word pieces of a word.
        segments: of a part, at most.
        window: word pieces of a segment, its two signs included.
    """
    room = segments * (window - 2)
    documents: list[JsonDict] = []
    for document in data.documents:
        pieces = [pieces_of(word) for word in document["cased_words"]]
        bounds = _bounds(document["sent_id"], pieces, room)
        documents += [_part(document, *of) for of in pairwise(bounds)] if bounds[2:] else [document]
    mentions = sum(len(document["head2span"]) for document in documents)
    return replace(data, documents=tuple(documents), mentions=mentions)


def with_short_sentences(
    data: TrainingData, pieces_of: Callable[[str], int], window: int
) -> TrainingData:
    """The documents of `data`, sentences of more word pieces than two windows cut into parts of at
    most one: with such a sentence Stanza 1.15 never ends, in training as in use.
    """
    room = window - 2
    documents = []
    for document in data.documents:
        pieces = [pieces_of(word) for word in document["cased_words"]]
        inside = _inside_mentions(document)
        numbers: list[int] = []
        part = -1
        for _, words in groupby(range(len(pieces)), key=document["sent_id"].__getitem__):
            part += 1
            sentence = list(words)
            is_long = sum(pieces[word] for word in sentence) > 2 * room
            used = 0
            for word in sentence:
                if is_long and used + pieces[word] > room and used and word not in inside:
                    part += 1
                    used = 0
                used += pieces[word]
                numbers.append(part)
        documents.append({**document, "sent_id": numbers})
    return replace(data, documents=tuple(documents))


def _inside_mentions(document: JsonDict) -> set[int]:
    """The words of mentions but their first."""
    inside: set[int] = set()
    for _, start, end in document["head2span"]:
        inside.update(range(start + 1, end))
    return inside


def may_be_long(data: TrainingData, window: int) -> bool:
    """Whether a sentence may have more word pieces than two windows; a piece has a character or
    more, or begins a word.
    """
    for document in data.documents:
        lengths: Counter[int] = Counter()
        for number, word in zip(document["sent_id"], document["cased_words"], strict=True):
            lengths[number] += len(word.encode()) + 1
        if max(lengths.values(), default=0) > 2 * (window - 2):
            return True
    return False


def _bounds(sentence_of: Sequence[int], pieces: Sequence[int], room: int) -> list[int]:
    """The first words of the parts of a document, and its length."""
    bounds, used = [0], 0
    for _, words in groupby(range(len(pieces)), key=lambda word: sentence_of[word]):
        sentence = list(words)
        length = sum(pieces[word] for word in sentence)
        if used and used + length > room:
            bounds.append(sentence[0])
            used = 0
        used += length
    return [*bounds, len(pieces)]


_OF_WORDS = ("cased_words", "sent_id", "speaker", "pos", "deprel", "head")
"""What the trainer has for each word of a document."""


def _part(document: JsonDict, first: int, end: int) -> JsonDict:
    """The words from `first` to before `end` as a document of their own."""
    spans, heads, kept = [], [], []
    for cluster in document["span_clusters"]:
        within = [[a - first, b - first] for a, b in cluster if first <= a and b <= end]
        if len(within) > 1 or len(within) == len(cluster):
            spans.append(within)
            heads.append([last - 1 for _, last in within])
            kept += [[last - 1, start, last] for start, last in within]
    sliced = {name: document[name][first:end] for name in _OF_WORDS}
    # Sentences count from 0.
    sliced["sent_id"] = [number - sliced["sent_id"][0] for number in sliced["sent_id"]]
    return {
        **document,
        **sliced,
        "document_id": f"{document['document_id']}:{first}",
        "span_clusters": spans,
        "word_clusters": heads,
        "head2span": sorted(kept),
        "is_zero": [0] * len(kept),
    }
