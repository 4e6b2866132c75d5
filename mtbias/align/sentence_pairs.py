"""Sentence pairs with the entity in them, and the same as numbered word types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from mtbias.align.word_types import Side, index_side, merge_types, target_keys
from mtbias.english.plurals import is_plural
from mtbias.english.words import CONJUNCTIONS, DETERMINERS, PREPOSITIONS, EnglishWord, english_words, hyphenated_parts
from mtbias.language.split_texts import SplitTexts
from mtbias.types import Instance, Span


class Pair(NamedTuple):
    """A sentence with its translation, and the entity in it; a pair that only helps the statistics has no head."""

    id: str
    source: str
    text: str
    head: Span | None = None
    """Characters of `source` that are the entity's head word."""
    entity: str = ""
    """The entity, lower-cased ("construction worker")."""

    @classmethod
    def of(cls, instance: Instance, text: str) -> Self:
        """`instance` with its translation."""
        return cls(instance.id, instance.source, text, instance.head, instance.entity)


@dataclass(frozen=True)
class IndexedPairs:
    """Pairs as type ids."""

    heads: tuple[tuple[int, int], ...]
    """First and last source word of the entity; the last is the head; (-1, -1) where the span is not a word."""
    from_qualifier: tuple[int, ...]
    """The first source word whose links do not speak against the entity: its own first word, or what qualifies it if it
    is a single word (*gay people* may be one noun)."""
    source: Side
    target: Side
    target_forms: dict[str, str]
    """Folded target form → its type."""


def index_pairs(pairs: Sequence[Pair], texts: SplitTexts) -> IndexedPairs:
    """Split both sides of `pairs` into words, find the entity among them, and number the types."""
    heads: list[tuple[int, int]] = []
    from_qualifier: list[int] = []

    # Generators on both sides: the words of one pair at a time are in memory, not those of the corpus.
    def source_forms() -> Iterator[list[str]]:
        for pair in pairs:
            words = english_words(pair.source)
            first, head = entity_place(pair, words)
            heads.append((first, head))
            from_qualifier.append(first - 1 if first == head and qualifies(pair, words, head - 1) else first)
            yield [word.form for word in words]

    source = index_side(source_forms())
    forms = index_side([word.facts.form for word in texts.words(pair.text)] for pair in pairs)
    counts = np.bincount(forms.ids, minlength=len(forms.types))
    keys = target_keys(texts.language, {form: int(n) for form, n in zip(forms.types, counts, strict=True)})
    return IndexedPairs(tuple(heads), tuple(from_qualifier), source, merge_types(forms, keys), keys)


def entity_place(pair: Pair, words: Sequence[EnglishWord]) -> tuple[int, int]:
    """The first word of the entity among `words`, and its head, the last one; (-1, -1) where the span is no word."""
    if pair.head is None:
        return -1, -1
    at = pair.head.start
    head = next((n for n, word in enumerate(words) if word.span.start <= at < word.span.end), -1)
    if head < 0:
        return -1, -1
    # "Construction worker" as far as it stands before the head: elsewhere the corpus may say "worker" alone.
    first = head
    for modifier in reversed(pair.entity.lower().split()[:-1]):
        if first == 0 or words[first - 1].form != modifier:
            break
        first -= 1
    return first, head


def qualifies(pair: Pair, words: Sequence[EnglishWord], n: int) -> bool:
    """Whether the n-th word, with a blank behind it, may qualify the next one.

    No determiner, preposition or conjunction does. A verb is taken for a qualifier, for nothing says what is one.
    """
    if n < 0 or words[n].form in DETERMINERS | PREPOSITIONS | CONJUNCTIONS:
        return False
    return pair.source[words[n].span.end : words[n + 1].span.start].isspace()


def english_number(pair: Pair) -> str | None:
    """``sg`` or ``pl`` by the form of the entity's head word; None without a head."""
    if pair.head is None:
        return None
    return "pl" if is_plural(pair.source[slice(*pair.head)]) else "sg"


def qualified(pair: Pair) -> bool:
    """Whether something other than a determiner stands right before the entity in its sentence, or behind it after a
    hyphen (*groom-to-be*).
    """
    words = english_words(pair.source)
    first, head = entity_place(pair, words)
    if head >= 0 and hyphenated_parts(words[head].form)[2]:
        return True
    return first > 0 and words[first - 1].form not in DETERMINERS
