"""The finds of patterns in a parsed sentence, and its tokens as BUG's columns count them."""

from __future__ import annotations

from typing import NamedTuple

from mtbias.english.dependencies import ParsedSentence
from mtbias.types import frozen


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

    def token(self, node: int) -> str:
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
