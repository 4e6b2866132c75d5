"""Counting of gendered pronouns, the same way in every corpus."""

from __future__ import annotations

import re

from mtbias.types import Gender

GENDER_OF_PRONOUN = {
    **dict.fromkeys(("he", "him", "his", "himself"), Gender.MALE),
    **dict.fromkeys(("she", "her", "hers", "herself"), Gender.FEMALE),
}
"""The gendered third-person pronouns of English, singular."""

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
