"""What a mined row says of itself: its tokens, the gender of its pronoun, how far that is, how many pronouns there are.

Source: BUG's ``src/evaluations/Analyze.py`` (SLAB-NLP/BUG @ 6b5314d, MIT).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.mining.parsed_sentence import ParsedSentence
from mtbias.types import Gender

COLUMN_OF_GENDER = {Gender.MALE: "Male", Gender.FEMALE: "Female"}
"""How BUG's column ``predicted gender`` writes them."""

# BUG's own seven: *hers* is not among them, which `mtbias.english.pronouns.count_pronouns` has.
_COUNTED = re.compile(r"\b(?:he|she|his|himself|herself|her|him)\b")


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


def pronoun_gender(pronoun: str) -> Gender:
    """The gender of a gendered pronoun in any case; `KeyError` of any other word."""
    return GENDER_OF_PRONOUN[pronoun.lower()]


def num_of_pronouns(text: str) -> int:
    """BUG's column of that name: *he, she, his, himself, herself, her, him* as whole words, in any case.

    *hers* is not counted. Range: from 0 upwards.
    """
    return len(_COUNTED.findall(text.lower()))
