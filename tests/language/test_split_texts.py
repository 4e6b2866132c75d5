"""Texts as words: what each word knows of its form, and how often the language is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Agreement, Language, NounKind, NounReading, SurfaceToken

MASCULINE = (NounReading("Lehrer", NounKind.MASCULINE, ()),)
TEXTS = {
    "ar": "قال الطبيبُ لِلممرضة: «شكراً»",
    "de": "Der Lehrer half den Lehrer*innen, sagt man.",
    "he": "העו״ד אמר לגב' לוי",
    "it": "L’infermiera dell'ospedale aiutò l'infermiere",
}


@dataclass(frozen=True)
class Counting(Language):
    """A language that counts what it is asked."""

    asked: Counter[str] = field(default_factory=Counter)

    def tokens(self, text: str) -> list[SurfaceToken]:
        self.asked[f"tokens {text}"] += 1
        return super().tokens(text)

    def noun(self, form: str) -> tuple[NounReading, ...]:
        self.asked[f"noun {form}"] += 1
        return super().noun(form) or (MASCULINE if form.endswith("mann") else ())


@pytest.mark.parametrize("code", TEXTS)
def test_the_words_are_the_languages_tokens(code: str) -> None:
    language, text = get_language(code), TEXTS[code]
    texts = SplitTexts(language)
    for _ in range(2):  # split, then remembered
        found = [(word.span, word.facts.text, word.facts.form) for word in texts.words(text)]
        assert found == [tuple(token) for token in language.tokens(text)]


def test_a_text_is_split_once_and_a_form_looked_up_once() -> None:
    language = Counting(code="xh", name="Toy")
    texts = SplitTexts(language)
    for text in ("a b a", "b c", "a b a", "", ""):
        texts.words(text)
    assert language.asked == dict.fromkeys(
        ("tokens a b a", "tokens b c", "tokens ", "noun a", "noun b", "noun c"), 1
    )


def test_a_plugins_own_look_ups_are_asked() -> None:
    (word,) = SplitTexts(Counting(code="xh", name="Toy")).words("Kaufmann")
    assert word.facts.readings == MASCULINE
    assert word.facts.names_person


def test_what_is_known_of_a_form() -> None:
    language = Language(
        code="xh",
        name="Toy",
        proclitics=("al", "w"),
        nouns={"lehrer": MASCULINE, "gast": (NounReading("Gast", NounKind.FIXED, ()),)},
        noun_endings={"in": NounKind.FEMININE},
        adjective_endings={
            "e": (Agreement("*", "nom", "sg"),),
            "se": (Agreement("f", "nom", "sg"),),
            "lose": (),
        },
    )
    lehrer, gast, winner, nurse, lose = (
        w.facts for w in SplitTexts(language).words("alLehrer Gast Winnerin böse lose")
    )
    assert (lehrer.text, lehrer.form, lehrer.readings, lehrer.names_person) == (
        "alLehrer",
        "allehrer",
        MASCULINE,
        True,
    )
    assert lehrer.bases == lehrer.dictionary_forms == {"allehrer", "lehrer"}
    assert (gast.readings[0].kind, gast.names_person) == (NounKind.FIXED, False)
    # "w" is cut as if it were written on; the lemma is the form itself where there is no reading
    assert winner.bases == {"winnerin", "innerin"}
    assert winner.ending == ("in", NounKind.FEMININE)
    # the longest ending: "se" before "e"; "lose" is one that says nothing
    assert (nurse.adjective, lose.adjective) == (
        (Agreement("f", "nom", "sg"),),
        (Agreement("*", "*", "*"),),
    )


def test_the_glossary_knows_a_compound_by_its_last_part() -> None:
    language = Language(code="de", name="Toy", compounds=True, nouns={"lehrer": MASCULINE})
    (word,) = SplitTexts(language).words("Sportlehrer")
    assert word.facts.dictionary_forms == {"sportlehrer", "lehrer"}


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("المديرة الجديدة وصلت إلى المدرسة", True),
        ("المديره الجديدة وصلت إلى المدرسة", False),  # a woman manager, written with ه
        ("عمه وصل", False),  # nothing tells
    ],
)
def test_texts_that_keep_two_letters_apart(text: str, apart: bool) -> None:
    texts = SplitTexts(get_language("ar"))
    texts.words(text)
    assert texts.keeps_apart("ه", "ة") is apart


def test_a_careless_spelling_later_on_is_noticed() -> None:
    texts = SplitTexts(get_language("ar"))
    texts.words("الطبيبة")
    assert texts.keeps_apart("ه", "ة")
    texts.words("الممرضه")
    assert not texts.keeps_apart("ه", "ة")
