"""Sentences in which it is beyond dispute whom a pronoun means: those that serve as examples."""

from __future__ import annotations

from mtbias.english.gender_swap import her_is_object, tokenize
from mtbias.english.person_nouns import person_nouns
from mtbias.english.words import GENDER_OF_PRONOUN, is_plural

_SOMEBODY = {"someone", "somebody", "anyone", "anybody"}
_CLAUSES = """
    after although as because before but for if otherwise since so than that though unless until
    when whenever where whether which while who whom whose
    """
CLAUSES = frozenset(_CLAUSES.split())
"""Words behind which a pronoun may be the first person or the second."""


def is_undisputed(text: str, entity: str) -> bool:
    """Whether the pronouns of an English sentence can mean the entity alone.

    That is so where no other single person is named; and where the one pronoun is the object of a
    second verb behind *and*, whose subject is another person, since an object that is its own
    subject would be reflexive: "The lawyer met the *guard* and asked **her** for advice". It errs
    towards False: whom "because she was angry" means is a matter of knowledge.
    """
    tokens = [token.text.lower() for token in tokenize(text)]
    words = entity.lower().split()
    starts = [n for n in range(len(tokens)) if tokens[n : n + len(words)] == words]
    others = [*tokens]
    for start in starts:
        others[start : start + len(words)] = [""] * len(words)
    if not any(map(_names_person, others)):
        return True
    pronouns = [n for n, token in enumerate(tokens) if token in GENDER_OF_PRONOUN]
    if len(pronouns) != 1 or len(starts) != 1:
        return False
    (pronoun,) = pronouns
    before = tokens[starts[0] + len(words) : pronoun]
    subject = tokens[: starts[0]]
    return (
        _is_object(tokens, pronoun)
        and before.count("and") == 1
        and CLAUSES.isdisjoint(tokens[:pronoun])
        and any(map(_names_person, subject))
        and not any(map(_names_person, before))
    )


def _names_person(word: str) -> bool:
    """Whether a word names a single person, who might be meant by *he* or *she*."""
    return word in _SOMEBODY or (word in person_nouns() and not is_plural(word))


def _is_object(tokens: list[str], index: int) -> bool:
    """Whether a pronoun is an object, and would be known as one if it were *her*, which may be a
    possessive: so of two sentences about a man and a woman both are examples, or neither.
    """
    if tokens[index] not in {"him", "her"}:
        return False
    as_her = [*tokens[:index], "her", *tokens[index + 1 :]]
    return her_is_object(as_her, index)[0]
