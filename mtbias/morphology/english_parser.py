"""Stanza's parser of English: passages in, their sentences with dependencies out.

Tokenizing takes a fifth of the time of tagging, lemmatizing and parsing, so the sentences of a
passage may be filtered once more before that. Everything goes through Stanza's own processors in
bulk, which batch it by length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from mtbias.english.dependencies import Node, ParsedSentence
from mtbias.morphology.analysis_cache import parse_feats
from mtbias.morphology.stanza_models import BREAKS, StanzaPackage, lenient, load_pipeline
from mtbias.types import Span, frozen

MOST_TOKENS = 250
"""Tokens of the longest sentence that is parsed: a parser's time and memory grow with the square of
the length."""
TOKENIZE_PASSAGES = 32
"""Passages of a batch of the tokenizer: a quarter faster on a CPU than with the 12 that English
models have."""
_BETWEEN = "\n\n"
"""The end of a paragraph for Stanza."""


@frozen
class PassageSentence:
    """A parsed sentence of a passage."""

    passage: int
    """Index of the passage."""
    offset: int
    """Characters before the sentence in the passage."""
    parsed: ParsedSentence


@frozen
class Parses:
    """The parses of some passages."""

    parsed: tuple[PassageSentence, ...]
    sentences: int
    """Sentences of the passages, those that were not parsed included."""
    too_long: int
    """Sentences of more than `MOST_TOKENS` tokens, which were not."""


class EnglishParser:
    """Stanza's tokenizer with its sentences, multiword splitter, tagger, lemmatizer and parser."""

    def __init__(self, package: StanzaPackage, device: str | None) -> None:
        """Nothing is loaded before the first text. The device None is a GPU if there is one."""
        self._package, self._device = package, device
        self._pipeline: Any = None

    @property
    def signature(self) -> str:
        """Stanza's release and models: part of a run's identity."""
        return self._package.analyses_signature

    def parse(self, passages: Sequence[str], keep: Callable[[str], bool]) -> Parses:
        """The sentences of `passages` that `keep` accepts, with their dependencies.

        Computed on one thread, so that the sums, and with them the parses, are the same on any
        number of cores.

        Raises:
            MissingResourceError: Stanza cannot load the models.
        """
        import torch

        if not passages:
            return Parses((), 0, 0)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            if self._pipeline is None:
                self._pipeline = load_pipeline(self._package, self._device)
                self._pipeline.processors["tokenize"].trainer.args["batch_size"] = TOKENIZE_PASSAGES
            with lenient():
                return self._parse(passages, keep)
        finally:
            torch.set_num_threads(threads)

    def _parse(self, passages: Sequence[str], keep: Callable[[str], bool]) -> Parses:
        from stanza.models.common.doc import Document

        processors = self._pipeline.processors
        text = _BETWEEN.join(passage.translate(BREAKS) for passage in passages)
        starts = list(accumulate((len(passage) + len(_BETWEEN) for passage in passages), initial=0))
        split = processors["tokenize"].process(text).sentences
        places, sentences, too_long = [], [], 0
        for sentence in split:
            start, end = sentence.tokens[0].start_char, sentence.tokens[-1].end_char
            passage = bisect_right(starts, start) - 1
            own = Span(start - starts[passage], end - starts[passage])
            if not keep(passages[passage][slice(*own)]):
                continue
            if len(sentence.tokens) > MOST_TOKENS:
                too_long += 1
                continue
            places.append((passage, own))
            sentences.append(sentence.to_dict())
        if not sentences:
            return Parses((), len(split), too_long)
        document = Document(sentences, text)
        for name, _, _ in self._package.models:
            if name != "tokenize":
                document = processors[name].process(document)
        parsed = []
        for (passage, own), sentence in zip(places, document.sentences, strict=True):
            parse = parsed_sentence(passages[passage][slice(*own)], sentence)
            parsed.append(PassageSentence(passage, own.start, parse))
        return Parses(tuple(parsed), len(split), too_long)


def parsed_sentence(text: str, sentence: Any) -> ParsedSentence:  # noqa: ANN401 - no types
    """Stanza's `sentence`, which is `text`."""
    begin = sentence.tokens[0].start_char
    nodes: list[Node] = []
    for token in sentence.tokens:
        span = Span(token.start_char - begin, token.end_char - begin)
        nodes += [_node(word, span) for word in token.words]
    return ParsedSentence(text, tuple(nodes))


def _node(word: Any, span: Span) -> Node:  # noqa: ANN401
    """Stanza's `word`, of a token at `span`."""
    return Node(
        form=word.text,
        upos=word.upos or "X",
        deprel=word.deprel,
        head=word.head - 1,
        span=span,
        lemma=word.lemma,
        xpos=word.xpos,
        feats=parse_feats(word.feats),
    )
