"""A sentence with its dependencies, and what a pattern finds in it."""

from __future__ import annotations

from dataclasses import dataclass

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
