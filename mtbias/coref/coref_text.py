"""A document of a data set of coreference, whichever it is: tokens, text, and the mentions that are asked about.

Systems are given its tokens or its text (`mtbias.coref.export`), and their mentions are read as mentions of its tokens
(`mtbias.coref.output_reading`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.token_alignment import same_text


@dataclass(frozen=True)  # without slots: `same` is kept
class CorefText:
    """One document of a data set."""

    id: str
    tokens: tuple[str, ...]
    text: str
    """The tokens in their order, whatever blanks are between them."""
    asked: frozenset[Mention]
    """The mentions that the data set asks about: pronouns, candidates, occupations."""
    gold: Clusters
    """The right clusters of them; none where the pronoun means none of them."""
    sentence_ends: tuple[int, ...] = ()
    """The last token of each sentence but the last."""

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of each sentence."""
        bounds = [0, *(end + 1 for end in self.sentence_ends), len(self.tokens)]
        return tuple(self.tokens[a:b] for a, b in pairwise(bounds))

    @cached_property
    def same(self) -> str:
        """What two ways of writing the text have in common."""
        return same_text(self.tokens)


_NO_BLANK_BEFORE = re.compile(r" (?=(?:[.,;:!?)\]]|'s|'S|n't|'re|'ve|'ll|'d|'m)(?: |$))")


def joined(tokens: Iterable[str]) -> str:
    """Tokens as a text: without blanks before what is written onto the word before it."""
    return _NO_BLANK_BEFORE.sub("", " ".join(token for token in tokens if token))
