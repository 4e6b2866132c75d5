"""Words as the aligner counts them."""

from __future__ import annotations

import pytest

from mtbias.align.sentence_pairs import target_keys
from mtbias.english.words import english_words
from mtbias.plugin import Language, NounKind, NounReading


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("The doctor slept.", ["the", "doctor", "slept"]),
        ("The doctor's car, isn't it?", ["the", "doctor", "'s", "car", "is", "n't", "it"]),
        ("They’re here; he’d know, we'll see, I'm sure, you've won", [
            "they", "'re", "here", "he", "'d", "know", "we", "'ll", "see", "i", "'m", "sure", "you", "'ve", "won",
        ]),
        ("the nurses' room", ["the", "nurses", "room"]),
        ("a co-worker of O'Brien’s", ["a", "co-worker", "of", "o'brien", "'s"]),
        ("“Café” — 3rd (CEO)…", ["café", "3rd", "ceo"]),
        ("'s", ["s"]),
        ("", []),
    ],
)  # fmt: skip
def test_english_words_and_clitics(text: str, forms: list[str]) -> None:
    tokens = english_words(text)
    assert [t.form for t in tokens] == forms
    assert all(text[slice(*t.span)] == t.text for t in tokens)


def reading(lemma: str) -> tuple[NounReading, ...]:
    return (NounReading(lemma, NounKind.MASCULINE, ()),)


HEBREW = Language(
    code="he",
    name="Toy",
    proclitics=("וה", "ה", "ל", "ו"),
    nouns={"מנהל": reading("מנהל"), "הורה": reading("הורה")},
)
ITALIAN = Language(
    code="it", name="Toy", elisions=("dell'", "l'"), align_endings=("iere", "a", "o"), min_stem=4
)


def test_elided_articles_are_words_of_their_own() -> None:
    text = "L’infermiere dell'ospedale"
    tokens = ITALIAN.tokens(text)
    assert [(t.text, t.form) for t in tokens] == [
        ("L’", "l'"), ("infermiere", "infermiere"), ("dell'", "dell'"), ("ospedale", "ospedale"),
    ]  # fmt: skip
    assert all(text[slice(*t.span)] == t.text for t in tokens)


def test_endings_are_cut_where_enough_is_left() -> None:
    keys = target_keys(ITALIAN, ["infermiere", "infermiera", "sarta", "sarto", "ora", "iere"])
    # "iere" is cut from "infermiere", "a" from "infermiera": not one type. Four letters must be
    # left: "sart", not "or".
    assert keys == {
        "infermiere": "inferm",
        "infermiera": "infermier",
        "sarta": "sart",
        "sarto": "sart",
        "ora": "ora",
        "iere": "iere",
    }


@pytest.mark.parametrize(
    ("forms", "form", "key"),
    [
        (["המנהל"], "המנהל", "מנהל"),  # the rest is a noun that the plugin knows
        (["למנהל"], "למנהל", "מנהל"),
        (["הורה"], "הורה", "הורה"),  # a noun whose own first letter looks like the article
        (["השולחן", "שולחן"], "השולחן", "שולחן"),  # the rest occurs on its own
        (["השולחן", "לשולחן", "ושולחן"], "השולחן", "שולחן"),  # or behind two other prefixes
        (["השולחן"], "השולחן", "השולחן"),  # nothing tells that it is a prefix
        (["הים", "ים"], "הים", "הים"),  # two letters are too few to tell
    ],
)
def test_written_on_words_are_cut_where_the_rest_is_a_word(
    forms: list[str], form: str, key: str
) -> None:
    assert target_keys(HEBREW, forms)[form] == key


def test_counted_forms_give_the_same_keys_as_forms_one_by_one() -> None:
    forms = ["השולחן", "שולחן", "המנהל", "השולחן"]
    assert target_keys(HEBREW, {f: forms.count(f) for f in forms}) == target_keys(HEBREW, forms)
