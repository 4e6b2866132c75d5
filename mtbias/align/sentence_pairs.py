"""Sentence pairs with the entity in them, and the same as integer arrays of word types, as the
aligner counts them.

The types are coarser than words, so that a few thousand sentences are enough: case and marks are
folded, written-on articles and prepositions are cut where the rest is a word of the corpus,
inflectional endings are cut.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mtbias.language.definition import Language
from mtbias.language.source import SourceLanguage
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.sentence_pair import Pair, entity_place, qualifies
from mtbias.types import frozen

IntArray = NDArray[np.int64]


def target_keys(language: Language, forms: Iterable[str] | Mapping[str, int]) -> dict[str, str]:
    """Folded target form (given as they occur, or counted) → the type that the aligner counts.

    A written-on article or preposition is cut where the rest is in the plugin's nouns or occurs in
    the corpus on its own or behind another one (he *ומנהל* "and the manager"); then the longest
    inflectional ending is cut.
    """
    counts = Counter(forms)
    bases: dict[str, list[str]] = {}
    bare: Counter[str] = Counter()
    for form, count in counts.items():
        bases[form] = [base for _, base in language.bases(form)]
        for base in bases[form]:
            bare[base] += count

    def whole(form: str) -> str:
        """`form` without what is written onto its front."""
        # A listed noun is not cut further, even where it looks so: ar والد "father" is no و + ال +
        # د.
        listed = next((base for base in bases[form] if base in language.nouns), None)
        if listed is not None:
            return listed
        # A rest of two letters is too short to tell. One that never stands alone must be met behind
        # other prefixes too, more often than behind this one.
        for base in bases[form][1:]:
            if len(base) >= 3 and (base in counts or bare[base] > 2 * counts[form]):
                return base
        return form

    # Endings are cut last, so that the cases and genders of a noun are one type.
    return {form: language.stem(whole(form)) for form in counts}


@dataclass(frozen=True)
class Side:
    """One language's half of the pairs: type ids of all tokens in a row, and where each sentence
    starts.
    """

    ids: IntArray
    offsets: IntArray
    types: tuple[str, ...]

    @cached_property
    def lengths(self) -> IntArray:
        """Tokens per sentence, shape [pairs]."""
        return np.diff(self.offsets)


def index_side(sentences: Iterable[Iterable[str]]) -> Side:
    """Number the types of `sentences` in order of first appearance (so that the same input gives
    the same numbers).
    """
    numbers: dict[str, int] = {}
    ids, ends = array("q"), array("q", [0])
    for sentence in sentences:
        ids.extend(numbers.setdefault(form, len(numbers)) for form in sentence)
        ends.append(len(ids))
    return Side(np.array(ids, np.int64), np.array(ends, np.int64), tuple(numbers))


def merge_types(side: Side, keys: Mapping[str, str]) -> Side:
    """`side` with every type replaced by its key; types of one key become one."""
    numbers: dict[str, int] = {}
    merged = [numbers.setdefault(keys[form], len(numbers)) for form in side.types]
    ids = np.array(merged, np.int64)[side.ids] if merged else side.ids
    return Side(ids, side.offsets, tuple(numbers))


@frozen
class IndexedPairs:
    """Pairs as type ids."""

    heads: tuple[tuple[int, int], ...]
    """First and last source word of the entity; the last is the head; (-1, -1) where the span is
    not a word."""
    from_qualifier: tuple[int, ...]
    """The first source word whose links do not speak against the entity: its own first word, or
    what qualifies it if it is a single word (*gay people* may be one noun)."""
    source: Side
    target: Side
    source_forms: dict[str, str]
    """Folded source form → its type."""
    target_forms: dict[str, str]
    spoken: SourceLanguage
    """The language of the sources."""


def index_pairs(pairs: Sequence[Pair], texts: SplitTexts) -> IndexedPairs:
    """Split both sides of `pairs` into words, find the entity among them, and number the types."""
    heads: list[tuple[int, int]] = []
    from_qualifier: list[int] = []

    # Generators on both sides: the words of one pair at a time are in memory, not those of the
    # corpus.
    def source_forms() -> Iterator[list[str]]:
        for pair in pairs:
            words = texts.source.words(pair.source)
            first, head = entity_place(pair, words)
            heads.append((first, head))
            single = first == head and qualifies(pair, words, head - 1, texts.source)
            from_qualifier.append(first - 1 if single else first)
            yield [word.form for word in words]

    def target_forms() -> Iterator[list[str]]:
        for pair in pairs:
            yield [word.facts.form for word in texts.words(pair.text)]

    source = index_side(source_forms())
    target = index_side(target_forms())
    stems = {form: texts.source.stem(form) for form in source.types}
    counts = np.bincount(target.ids, minlength=len(target.types)).tolist()
    keys = target_keys(texts.language, dict(zip(target.types, counts, strict=True)))
    return IndexedPairs(
        heads=tuple(heads),
        from_qualifier=tuple(from_qualifier),
        source=merge_types(source, stems),
        target=merge_types(target, keys),
        source_forms=stems,
        target_forms=keys,
        spoken=texts.source,
    )
