"""The file of word lists: what is wrong with it, and the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.embeddings.vectors import EXAMPLE_LISTS, read_lists
from mtbias.english.gender_swap import gendered_words
from mtbias.errors import DataError
from tests.embeddings.toy_vectors import written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "expected TOML"),
        ("[direct]\nwords = ['a']\n", "direction: expected this key, it is not there"),
        ("[direction]\npairs = [['a']]\n", r"direction.pairs.0.1: expected this key"),
        (
            "[direction]\npairs = [['a', 'b']]\n[direct]\nwords = ['a', 'a']\n",
            "direct.words: .*, got 'a' twice; remove",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[direct]\nwords = 'a'\n",
            "direct.words: expected a list, got 'a'",
        ),
        ("[direction]\npairs = []\n", r"direction.pairs: expected one or more, got \[\]$"),
        (
            "[direction]\npairs = [['a', '']]\n",
            "direction.pairs.0.1: expected text that is not empty, got ''$",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[direct]\nwords = []\n",
            r"direct.words: expected one or more, got \[\]$",
        ),
        ("sha256 = 'x'\n[direction]\npairs = [['a', 'b']]\n", "sha256: unknown key; there are "),
        ("[direction]\npairs = [['a', 'b']]\n[other]\n", "other: unknown key; there are "),
        ("[direction]\npairs = [['a', 'b']]\n[weet]\n", r"weet: unknown key; did you mean weat\?"),
        (
            "[direction]\npairs = [['a', 'b']]\n[weat.x]\ntargets = ['a']\n",
            "weat.x.attributes_1: expected this key",
        ),
        ("[direction]\npairs = [['a', 'b']]\n[gipe.x]\nwords = 'all'\n", "gipe.x.words"),
        (
            "[direction]\npairs = [['a', 'b']]\n[weat-two-targets]\ntargets_1 = ['a']\n",
            "expected a table",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[gendered]\nexclude = ['a']\n",
            "gendered.exclude: unknown key; there are pairs, words$",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[gendered]\npairs = [['a', 'b'], ['c', 'a']]\n",
            "gendered.pairs: expected each word once, got 'a' twice",
        ),
    ],
)
def test_lists_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_lists(written(tmp_path, text, "w.toml"))


def test_gendered_words_may_be_pairs_alone_or_words_alone(tmp_path: Path) -> None:
    head = "[direction]\npairs = [['a', 'b']]\n[gendered]\n"
    pairs = read_lists(written(tmp_path, f"{head}pairs = [['c', 'd']]\n", "w.toml"))
    assert pairs.gendered_pairs == (("c", "d"), ("C", "D"))
    assert pairs.gendered_words == {"a", "A", "b", "B", "c", "C", "d", "D"}
    words = read_lists(written(tmp_path, f"{head}words = ['ab']\n", "w.toml"))
    assert words.gendered_pairs == ()
    assert words.gendered_words == {"a", "A", "b", "B", "ab", "Ab", "AB"}


def test_the_lists_that_ship() -> None:
    lists = read_lists(EXAMPLE_LISTS)
    assert len(lists.direction.pairs) == 9
    # Dawkins (2021), appendix A: 16 words in each list of occupations and adjectives, 8 in each of
    # words of a gender.
    assert [[len(words) for words in vars(test).values()] for test in lists.weat.values()] == [
        [32, 16, 16],
        [32, 8, 8],
    ]
    assert len(lists.gipe["sowinobias"].words) == 64
    # Caliskan et al. (2017): eight words in each list of WEAT 6 to 8.
    assert tuple(lists.weat_two_targets) == ("career-family", "math-arts", "science-arts")
    for test in lists.weat_two_targets.values():
        assert [len(words) for words in vars(test).values()] == [8] * 4
    # No occupation that tells no gender may be kept from being neutralised.
    assert not lists.gendered_words & set(lists.direct.words)
    # The words that tell a gender are those of the table of swaps, and pronouns: feminine first.
    swaps, pronouns = (
        gendered_words().swaps,
        {"she", "he", "her", "his", "herself", "himself", "gal", "guy"},
    )
    for feminine, masculine in lists.gendered.pairs:
        assert {feminine, masculine} <= pronouns or swaps[feminine].lower() == masculine
    titles = {title.lower() for title in gendered_words().titles}
    assert set(lists.gendered.words) <= {*swaps, *titles, "him", "hers"}
