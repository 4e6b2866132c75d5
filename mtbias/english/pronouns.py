"""The gendered third-person pronouns of English: their roles and genders, and how many a text has."""

from __future__ import annotations

import re

from mtbias.types import Gender

PRONOUN_ROLES = {
    "subject": ("he", "she"),
    "object": ("him", "her"),
    "determiner": ("his", "her"),
    "possessive": ("his", "hers"),
    "reflexive": ("himself", "herself"),
}
"""Role in the sentence → the masculine and the feminine pronoun, singular. *His* and *her* have two roles each."""

GENDER_OF_PRONOUN = {
    pair[n]: gender for n, gender in enumerate((Gender.MALE, Gender.FEMALE)) for pair in PRONOUN_ROLES.values()
}

PRONOUNS = tuple(GENDER_OF_PRONOUN)

# A combining mark after the last letter belongs to the word ("hé" in two characters is not "he").
_PRONOUN = re.compile(rf"(?<!\w)(?:{'|'.join(PRONOUNS)})(?![\w\u0300-\u036f])", re.IGNORECASE)


def count_pronouns(text: str) -> int:
    """Number of gendered third-person pronouns in `text`.

    Counted are *he, him, his, himself, she, her, hers, herself* as whole words in any case. An apostrophe ends a word
    ("he's", "she’ll" count one each), and so do a hyphen and a slash ("his/her" counts two). Range: from 0 upwards.

    Source: our own definition. BUG's ``num_of_pronouns`` mostly leaves out *him* (it is 0 in nine rows of the paper's
    gold file, all of which have a pronoun); that number stays in `Instance.corpus_pronouns`.
    """
    return sum(1 for _ in _PRONOUN.finditer(text))


def pronouns_gender(text: str) -> Gender | None:
    """The gender of the gendered third-person pronouns in `text`; None where it has none, or has both."""
    genders = {GENDER_OF_PRONOUN[found[0].lower()] for found in _PRONOUN.finditer(text)}
    return genders.pop() if len(genders) == 1 else None
