"""Which English nouns name a person.

The list is made by ``scripts/person_nouns.py`` from the tables of all languages.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from mtbias.english.words import singulars

_OF_THINGS = (
    *("y", "ion", "ment", "ness", "ism", "ship", "ence", "ance", "age", "ure", "ics", "dom"),
    *("hood", "itis", "um"),
)
"""Endings of nouns that name no person, but for those of the list (*secretary*)."""


@cache
def person_nouns() -> frozenset[str]:
    """English nouns for persons, in the singular and lower case."""
    text = resources.files("mtbias.english").joinpath("person_nouns.txt").read_text("utf-8")
    return frozenset(text.split())


def may_name_person(entity: str) -> bool:
    """The head of `entity` is in the list, as it stands, in the singular, or as the last part of a
    word with a hyphen (*electro-chemist*); or it is a word of no list (*katepano*) without an
    ending of nouns for things (*tendency*).
    """
    words = entity.lower().replace("-", " ").split()
    if not words:
        return False
    forms = singulars(words[-1])
    known = not person_nouns().isdisjoint(forms)
    return known or not any(form.endswith(_OF_THINGS) for form in forms)
