"""A sentence with its dependencies, what a pattern finds in it, and its tokens as BUG's columns count them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mtbias.types import Span


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence with its basic dependency tree (Universal Dependencies, version 2)."""

    text: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Find:
    """A profession and a pronoun that a pattern ties together; both are indices into the sentence's `nodes`."""

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

    Each word is one, so *didn't* is *did* and *n't*, as in BUG. The words of a multiword token that are not what is
    written, one after the other (*gonna* as *going* and *to*), are one token together. A token with a blank inside
    ("1 000") is as many tokens as it has parts.
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
