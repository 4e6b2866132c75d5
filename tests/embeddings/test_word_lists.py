"""The file of word lists: what is wrong with it, and the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.embeddings.word_lists import EXAMPLE_LISTS, read_lists
from mtbias.english.gender_swap import gendered_words
from mtbias.errors import DataError
from tests.embeddings.toy_vectors import written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "expected TOML"),
        ("[direct]\nwords = ['a']\n", r"\[direction\] pairs, got none"),
        ("[direction]\npairs = [['a']]\n", r"\[direction\] pairs: expected a pair of words, got \['a'\]"),
        ("[direction]\npairs = []\n", "expected a list of pairs of words"),
        ("[direction]\npairs = [['a', 'b']]\n[direct]\nwords = ['a', 'a']\n", "expected each word once, got 'a' twice"),
        ("[direction]\npairs = [['a', 'b']]\n[direct]\nwords = 'a'\n", "expected a list of words"),
        ("[direction]\npairs = [['a', 'b']]\n[other]\n", r"\[other\]: unknown section; there are direction, direct"),
        ("[direction]\npairs = [['a', 'b']]\n[weet]\n", r"\[weet\]: unknown section; did you mean weat\? there are"),
        (
            "[direction]\npairs = [['a', 'b']]\n[weat]\ntargets = ['a']\n",
            r"\[weat\]: expected the lists targets, attributes_1, attributes_2, got targets$",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[weat-two-targets]\n",
            r"\[weat-two-targets\]: unknown section; did you mean",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[weat-two-targets]\ntargets_1 = ['a']\n",
            r"\[weat-two-targets.targets_1\]: expected the lists targets_1, .*, got \['a'\]$",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[gendered]\nexclude = ['a']\n",
            r"\[gendered\]: expected the lists pairs, words, got exclude$",
        ),
        (
            "[direction]\npairs = [['a', 'b']]\n[gendered]\npairs = [['a', 'b'], ['c', 'a']]\n",
            r"\[gendered\] pairs: expected each word once, got 'a' twice",
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
    assert pairs.gendered == {"a", "A", "b", "B", "c", "C", "d", "D"}
    words = read_lists(written(tmp_path, f"{head}words = ['ab']\n", "w.toml"))
    assert words.gendered_pairs == ()
    assert words.gendered == {"a", "A", "b", "B", "ab", "Ab", "AB"}


def test_the_lists_that_ship() -> None:
    lists = read_lists(EXAMPLE_LISTS)
    assert len(lists.pairs["direction"]) == 9
    assert len(lists.words["weat"]["attributes_1"]) == len(lists.words["weat"]["attributes_2"]) == 8
    # Caliskan et al. (2017): eight words in each list of WEAT 6 to 8.
    assert lists.two_targets == ("career-family", "math-arts", "science-arts")
    for test in lists.two_targets:
        assert [len(words) for words in lists.words[f"weat-two-targets.{test}"].values()] == [8] * 4
    # No occupation that tells no gender may be kept from being neutralised.
    assert not lists.gendered & set(lists.words["direct"]["words"])
    # The words that tell a gender are those of the table of swaps, and pronouns: feminine first.
    swaps, pronouns = gendered_words().swaps, {"she", "he", "her", "his", "herself", "himself", "gal", "guy"}
    for feminine, masculine in lists.pairs["gendered"]:
        assert {feminine, masculine} <= pronouns or swaps[feminine].lower() == masculine
    titles = {title.lower() for title in gendered_words().titles}
    assert set(lists.words["gendered"]["words"]) <= {*swaps, *titles, "him", "hers"}
