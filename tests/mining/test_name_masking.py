"""Names are replaced, indices stay true, and titles, occupations and pronouns stay."""

from __future__ import annotations

from mtbias.mining.name_masking import masked_tokens
from tests.mining.small_trees import tree

LISTED = frozenset({"doctor", "president", "officer"})


def masked(text: str, *kept: int) -> str:
    return masked_tokens(tree(text), LISTED, kept).text


def test_a_name_is_one_placeholder_and_indices_move() -> None:
    sentence = tree(
        "President/3/compound/NNP Ann/3/compound/NNP Smith/4/nsubj/NNP met/0/root/VBD the/6/det/DT doctor/4/obj/NN "
        "and/8/cc/CC Smith/4/conj/NNP 's/8/case/POS Bob/4/conj/NNP"
    )
    tokens = masked_tokens(sentence, LISTED)
    assert tokens.text == "President NAME1 met the doctor and NAME1 's NAME2"
    assert tokens.of(5) == "doctor"
    assert tokens.first == (0, 1, 1, 2, 3, 4, 5, 6, 7, 8)


def test_titles_and_the_profession_stay() -> None:
    assert masked("Mrs./2/compound/NNP Cook/3/nsubj/NNP slept/0/root/VBD") == "Mrs. NAME1 slept"
    officer = "Officer/2/nsubj/NNP slept/0/root/VBD"  # a surname, unless it is the row's profession
    assert masked(officer) == "NAME1 slept"
    assert masked(officer, 0) == "Officer slept"


def test_names_of_more_parts() -> None:
    assert masked("He/2/nsubj/PRP saw/0/root/VBD Vincent/2/obj/NNP van/3/flat/FW Gogh/3/flat/NNP") == "He saw NAME1"
    # A word that the tagger takes for another, behind a name; and a noun with a capital inside the sentence.
    assert masked("Here/4/advmod/RB James/4/nsubj/NNP Best/2/flat/JJS saw/0/root/VBD Phelps/4/obj/NNS") == (
        "Here NAME1 saw NAME2"
    )


def test_the_profession_within_a_name_stays_alone() -> None:
    text = "Hollywood/4/compound/NNP Actor/4/compound/NN Ann/4/compound/NNP Smith/5/nsubj/NNP slept/0/root/VBD"
    assert masked_tokens(tree(text), frozenset({"actor"}), (1,)).text == "NAME1 Actor NAME2 slept"


def test_two_persons_who_share_a_surname_are_two() -> None:
    # Smith alone is the first of those whose name has it.
    text = (
        "Smith/2/nsubj/NNP met/0/root/VBD Ann/4/compound/NNP Smith/2/obj/NNP ,/7/punct/, Bob/7/compound/NNP "
        "Smith/4/conj/NNP and/9/cc/CC Smith/4/conj/NNP"
    )
    assert masked(text) == "NAME1 met NAME1 , NAME2 and NAME1"


def test_nothing_to_mask() -> None:
    assert masked("The/2/det/DT doctor/3/nsubj/NN slept/0/root/VBD") == "The doctor slept"
