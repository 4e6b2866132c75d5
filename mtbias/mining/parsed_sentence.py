"""A sentence with its dependencies, what a pattern finds in it, its tokens as BUG's columns count
them, and its parser.

The parser is Stanza. Tokenizing takes a fifth of the time of tagging, lemmatizing and parsing, so
the sentences of a passage are filtered once more before that. Everything goes through Stanza's own
processors in bulk, which batch it by length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from mtbias.morphology.analysis_cache import parse_feats
from mtbias.morphology.stanza_models import BREAKS, StanzaPackage, lenient, load_pipeline
from mtbias.types import Span, frozen


@frozen
class Node:
    """A syntactic word with its place in the tree."""

    form: str
    upos: str
    deprel: str
    """With its subtype (``nmod:poss``)."""
    head: int
    """Index of the governing word in the sentence's `nodes`, -1 at the root."""
    span: Span
    """Characters of the sentence's text; the words of a multiword token share its span."""
    lemma: str | None = None
    xpos: str | None = None
    feats: tuple[tuple[str, str], ...] = ()

    def feat(self, name: str) -> str | None:
        """Value of the UD feature `name`, or None."""
        return next((value for key, value in self.feats if key == name), None)


@frozen
class ParsedSentence:
    """A sentence with its basic dependency tree (Universal Dependencies, version 2)."""

    text: str
    nodes: tuple[Node, ...]


@frozen
class Find:
    """A profession and a pronoun that a pattern ties together; both are indices into the sentence's
    `nodes`.
    """

    pattern: str
    """Name of the pattern."""
    number: int | None
    """The paper's number of the pattern, from 1 to 14; None of a user's own pattern."""
    profession: int
    pronoun: int


class SentenceTokens(NamedTuple):
    """A sentence as tokens that single spaces join, which is how BUG's columns count them."""

    tokens: tuple[str, ...]
    first: tuple[int, ...]
    """For each node of the sentence the index of its (first) token."""

    @property
    def text(self) -> str:
        """The column ``sentence_text``."""
        return " ".join(self.tokens)

    def of(self, node: int) -> str:
        """The (first) token of a node."""
        return self.tokens[self.first[node]]

    def distance(self, one: int, other: int) -> int:
        """Tokens from one node to another, in either direction: BUG's column ``distance``."""
        return abs(self.first[one] - self.first[other])


def sentence_tokens(sentence: ParsedSentence) -> SentenceTokens:
    """The tokens of a parsed sentence.

    Each word is one, so *didn't* is *did* and *n't*, as in BUG. The words of a multiword token that
    are not what is written, one after the other (*gonna* as *going* and *to*), are one token
    together. A token with a blank inside ("1 000") is as many tokens as it has parts.
    """
    tokens: list[str] = []
    first: list[int] = []
    nodes = sentence.nodes
    start = 0
    while start < len(nodes):
        end = start + 1
        while end < len(nodes) and nodes[end].span == nodes[start].span:
            end += 1
        forms = [node.form for node in nodes[start:end]]
        written = sentence.text[slice(*nodes[start].span)]
        pieces = forms if "".join(forms) == written else [written] * (end - start)
        for n, piece in enumerate(pieces):
            if n == 0 or pieces is forms:
                tokens += piece.split() or [piece]
            first.append(len(tokens) - max(1, len(piece.split())))
        start = end
    return SentenceTokens(tuple(tokens), tuple(first))


# The parser

MOST_TOKENS = 250
"""Tokens of the longest sentence that is parsed: a parser's time and memory grow with the square of
the length."""
TOKENIZE_PASSAGES = 32
"""Passages of a batch of the tokenizer: a quarter faster on a CPU than with the 12 that English
models have."""
_BETWEEN = "\n\n"
"""What ends a paragraph for Stanza."""


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
        """Nothing is loaded before the first text. The device None is a GPU where there is one."""
        self._package, self._device = package, device
        self._pipeline: Any = None

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
        places, kept, too_long = [], [], 0
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
            kept.append(sentence.to_dict())
        if not kept:
            return Parses((), len(split), too_long)
        document = Document(kept, text)
        for name, _, _ in self._package.models:
            if name != "tokenize":
                document = processors[name].process(document)
        parsed = (
            PassageSentence(
                passage, own.start, parsed_sentence(passages[passage][slice(*own)], sentence)
            )
            for (passage, own), sentence in zip(places, document.sentences, strict=True)
        )
        return Parses(tuple(parsed), len(split), too_long)


def parsed_sentence(text: str, sentence: Any) -> ParsedSentence:  # noqa: ANN401 - stanza has no types
    """Stanza's `sentence`, which is `text`."""
    begin = sentence.tokens[0].start_char
    nodes = (
        Node(
            form=word.text,
            upos=word.upos or "X",
            deprel=word.deprel,
            head=word.head - 1,
            span=Span(token.start_char - begin, token.end_char - begin),
            lemma=word.lemma,
            xpos=word.xpos,
            feats=parse_feats(word.feats),
        )
        for token in sentence.tokens
        for word in token.words
    )
    return ParsedSentence(text, tuple(nodes))
