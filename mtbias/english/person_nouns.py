"""Which English nouns name a person.

The list is made by ``scripts/person_nouns.py`` from the tables of all languages.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from mtbias.english.words import singulars


@cache
def person_nouns() -> frozenset[str]:
    """English nouns for persons, in the singular and lower case."""
    text = resources.files("mtbias.english").joinpath("person_nouns.txt").read_text("utf-8")
    return frozenset(text.split())


def names_person(entity: str) -> bool:
    """The head of `entity` is in the list, as it stands, in the singular, or as the last part of a
    word with a hyphen (*electro-chemist*).
    """
    words = entity.lower().replace("-", " ").split()
    return bool(words) and not person_nouns().isdisjoint(singulars(words[-1]))
