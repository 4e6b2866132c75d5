"""Documents as Stanza's trainer takes them.

It knows mentions by their head word: here the mention's last word, which is the head of "the
construction worker" and of a pronoun, and not of "the man who left".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise

from mtbias.coref.documents import Clusters, ConllDocument, Mention, without_repeated
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
        clusters = chain.from_iterable(document["span_clusters"] for document in self.documents)
        return any(len(cluster) == 1 for cluster in clusters)


def training_data(documents: Iterable[ConllDocument]) -> TrainingData:
    """The `documents` with their clusters.

    Repeated mentions, and clusters without any mention left, are left out.
    """
    converted: list[JsonDict] = []
    mentions = across = 0
    for document in documents:
        distinct = without_repeated(document.clusters)
        clusters = _within_sentences(document, distinct)
        n = sum(map(len, clusters))
        mentions += n
        across += sum(map(len, distinct)) - n
        converted.append(_converted(document, clusters))
    return TrainingData(tuple(converted), mentions, across)


def _sentence_of(document: ConllDocument) -> list[int]:
    """The number of the sentence of each word."""
    sentence_of: list[int] = []
    for number, sentence in enumerate(document.sentences):
        sentence_of += [number] * len(sentence)
    return sentence_of


def _within_sentences(document: ConllDocument, clusters: Clusters) -> list[list[Mention]]:
    """The clusters without the mentions that begin in one sentence and end in another."""
    sentence_of = _sentence_of(document)
    within: list[list[Mention]] = []
    for cluster in clusters:
        mentions = [
            (start, end) for start, end in cluster if sentence_of[start] == sentence_of[end]
        ]
        if mentions:
            within.append(mentions)
    return within


def _converted(document: ConllDocument, clusters: Sequence[Sequence[Mention]]) -> JsonDict:
    """One document with its clusters; the trainer's ends are excluded."""
    spans = list(map(_with_end_excluded, clusters))
    sentence_of = _sentence_of(document)
    n = len(sentence_of)
    return {
        "document_id": document.id,
        "part_id": 0,
        "lang": "en",
        "cased_words": document.words,
        "sent_id": sentence_of,
        "speaker": ["_"] * n,
        "pos": ["_"] * n,
        "deprel": ["_"] * n,
        "head": [None] * n,
        **_cluster_fields(spans),
    }


def _with_end_excluded(cluster: Sequence[Mention]) -> list[list[int]]:
    return [[start, end + 1] for start, end in cluster]


def _cluster_fields(spans: list[list[list[int]]]) -> JsonDict:
    """The trainer's fields of clusters of mentions, whose ends are excluded; the head of a mention
    is its last word.
    """
    heads: list[list[int]] = []
    head_spans: list[list[int]] = []
    for cluster in spans:
        heads.append([end - 1 for _, end in cluster])
        head_spans += [[end - 1, start, end] for start, end in cluster]
    return {
        "span_clusters": spans,
        "word_clusters": heads,
        "head2span": sorted(head_spans),
        "is_zero": [0] * len(head_spans),
    }


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
        if len(bounds) > 2:
            documents += [_part(document, first, end) for first, end in pairwise(bounds)]
        else:
            documents.append(document)
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
"""The lists of the trainer that have an entry for each word of a document."""


def _part(document: JsonDict, first: int, end: int) -> JsonDict:
    """The words from `first` to before `end` as a document of their own."""
    spans: list[list[list[int]]] = []
    for cluster in document["span_clusters"]:
        within = [[a - first, b - first] for a, b in cluster if first <= a and b <= end]
        if len(within) > 1 or len(within) == len(cluster):
            spans.append(within)
    sliced = {name: document[name][first:end] for name in _OF_WORDS}
    # Sentences count from 0.
    sliced["sent_id"] = [number - sliced["sent_id"][0] for number in sliced["sent_id"]]
    return {
        **document,
        **sliced,
        "document_id": f"{document['document_id']}:{first}",
        **_cluster_fields(spans),
    }
