"""Whether translations belong to their sentences: the entities' known translations in them, and in their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mtbias.align.entity_words import KnownTranslations
from mtbias.language.definition import Language

# A line that was lost or doubled moves the lines behind it by one, a blank line of each side by two.
NEIGHBOURS = (-1, 1, -2, 2)
"""How far lines may have moved."""


class Rendered(NamedTuple):
    """Of one sentence, whether a known translation of its entity stands in its translation, and in a neighbour's."""

    here: bool
    moved: bool
    """It stands in the translation at the distance of `NEIGHBOURS` that has most of those that are not `here`."""


def rendered(entities: Sequence[str], texts: Sequence[str | None], language: Language) -> list[Rendered | None]:
    """One for each sentence, in the corpus's order.

    Edge cases: None where the language's tables know no translation of the entity, or there is no translation.
    """
    translations = KnownTranslations(language)
    known = {entity: translations.of(entity) for entity in set(entities)}
    forms = _dictionary_forms(texts, language)
    places = [n for n, entity in enumerate(entities) if known[entity] and texts[n] is not None]
    here = {n: not known[entities[n]].isdisjoint(forms[n]) for n in places}
    lost = [n for n in places if not here[n]]
    moved: set[int] = set()
    for distance in NEIGHBOURS:
        near = ((n, n + distance) for n in lost if 0 <= n + distance < len(texts))
        moved = max(moved, {n for n, other in near if not known[entities[n]].isdisjoint(forms[other])}, key=len)
    return [Rendered(here[n], n in moved) if n in here else None for n in range(len(entities))]


def _dictionary_forms(texts: Sequence[str | None], language: Language) -> list[frozenset[str]]:
    """Of each text the forms under which its words stand in the tables; each distinct word is looked up once."""
    of_word: dict[str, frozenset[str]] = {}
    of_text: dict[str | None, frozenset[str]] = {None: frozenset()}
    for text in texts:
        if text is None or text in of_text:
            continue
        found = {token.text for token in language.tokens(text)}
        for word in found - of_word.keys():
            of_word[word] = language.facts(word).dictionary_forms
        of_text[text] = frozenset().union(*(of_word[word] for word in found))
    return [of_text[text] for text in texts]
