"""Whom a pronoun means, where nobody disputes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.corpora import load_corpus
from mtbias.english.undisputed import is_undisputed


@pytest.mark.parametrize(
    ("text", "entity", "undisputed"),
    [
        # The object of a second verb is not its own subject: it is the other person.
        ("The lawyer met the guard and asked him for advice.", "guard", True),
        ("The cook visited the construction worker and thanked her.", "construction worker", True),
        ("The CEO called the clerk and explained to her the plan.", "clerk", True),
        ("The lawyer met the guard and asked him for advice.", "lawyer", False),
        # "her" may be a possessive, of the first person too.
        ("The lawyer met the guard and asked her assistant.", "guard", False),
        # A clause has a subject of its own.
        ("The lawyer met the guard because he was angry.", "guard", False),
        ("The lawyer met the guard who said that the clerk knew and asked him.", "guard", False),
        ("The lawyer met the guard and he left.", "guard", False),
        ("The lawyer asked someone if she could wait.", "lawyer", False),
        ("The lawyer met the guard and gave his book to her.", "guard", False),
        # Nobody else is named, or several at once.
        ("The pilot lost her dog today, but she found it near her house.", "pilot", True),
        ("The pilot talked with her colleagues yesterday.", "pilot", True),
    ],
)
def test_whom_a_pronoun_means(text: str, entity: str, undisputed: bool) -> None:
    assert is_undisputed(text, entity) is undisputed


@pytest.mark.parametrize(
    ("text", "undisputed"),
    [
        ("The lawyer met the guard and asked {} for advice.", True),
        ("The lawyer met the guard and thanked {}.", True),
        # What stands behind "her" may be hers.
        ("The lawyer met the guard and gave {} orders.", False),
        ("The lawyer met the guard and treated {} bad.", False),
    ],
)
def test_a_man_and_a_woman_are_judged_alike(text: str, undisputed: bool) -> None:
    both = [is_undisputed(text.format(pronoun), "guard") for pronoun in ("him", "her")]
    assert both == [undisputed, undisputed]


def test_both_sentences_of_a_pair_of_winomt_are_examples_or_neither(winomt: Path) -> None:
    corpus = load_corpus("winomt", winomt)
    by_id = {each.id: is_undisputed(each.source, each.entity) for each in corpus.instances}
    pairs = [(each.id, each.pair) for each in corpus.instances if each.pair is not None]
    assert len(pairs) > 3500
    assert [pair for pair in pairs if by_id[pair[0]] != by_id[pair[1]]] == []
