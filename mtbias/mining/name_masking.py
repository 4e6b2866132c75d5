"""Proper names replaced by placeholders, for corpora that are to be shared.

What is a person's name is not told apart from other names: by its place in the sentence alone one in eight names of
persons would be taken for something else. So names of places, companies and days go as well. What stays: pronouns,
listed occupations and titles before a name (*President*, *Mrs*), nationalities, and whatever the tagger takes for a
common word. `docs/mining.md` has how many names of persons are missed.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator
from itertools import groupby

from mtbias.mining.marks import SentenceTokens, sentence_tokens
from mtbias.mining.parsed_sentence import ParsedSentence
from mtbias.mining.persons import proper_names

PLACEHOLDER = "NAME"
"""A number follows: the same for the same name, and for a part of it (*Ann Smith*, *Smith*), within the sentence."""


def masked_tokens(sentence: ParsedSentence, listed: Container[str], kept: Collection[int] = ()) -> SentenceTokens:
    """The tokens of `sentence` with each proper name as one placeholder; a node of `kept` stays and divides a name.

    `SentenceTokens.first` counts in the new tokens, which may be fewer.
    """
    plain = sentence_tokens(sentence)
    replaced: dict[int, str | None] = {}
    full: list[frozenset[str]] = []  # of each number the longest form of the name
    for run in _parts(proper_names(sentence, listed), kept):
        words = frozenset(sentence.nodes[at].form.lower() for at in run)
        known = next((n for n, name in enumerate(full) if words <= name or name <= words), len(full))
        full[known : known + 1] = [words.union(*full[known : known + 1])]
        end = plain.first[run[-1] + 1] if run[-1] + 1 < len(plain.first) else len(plain.tokens)
        for at in range(plain.first[run[0]], max(end, plain.first[run[-1]] + 1)):
            replaced.setdefault(at, None)
        replaced[plain.first[run[0]]] = f"{PLACEHOLDER}{known + 1}"
    tokens: list[str] = []
    moved: list[int] = []
    for at, token in enumerate(plain.tokens):
        new = replaced.get(at, token)
        if new is not None:
            tokens.append(new)
        moved.append(len(tokens) - 1)
    return SentenceTokens(tuple(tokens), tuple(moved[first] for first in plain.first))


def _parts(runs: Iterable[tuple[int, ...]], kept: Collection[int]) -> Iterator[tuple[int, ...]]:
    """The runs without the nodes of `kept`: *Hollywood* and *John Smith* of "Hollywood Actor John Smith"."""
    for run in runs:
        for stays, nodes in groupby(run, key=lambda node: node in kept):
            if not stays:
                yield tuple(nodes)
