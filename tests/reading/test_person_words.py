"""What agrees with a person beside the noun phrase: predicates of names, pronouns, and what a
masculine noun that is used of women, too, leaves to others. Sentences by hand, no model is asked.
"""

from __future__ import annotations

import pytest

from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading import decide
from mtbias.reading.person_words import (
    words_of_name,
    words_of_noun,
    words_of_pronouns,
)
from mtbias.reading.syntax import syntax_of
from mtbias.reading.words import sentence_words
from mtbias.types import Alignment, Candidate, Evidence, Gender, SourceFacts
from tests.reading.conftest import analysis_of

M, F = Gender.MALE, Gender.FEMALE
Shown = list[tuple[str, Gender | None]]


def shown(pieces: tuple[Evidence, ...]) -> Shown:
    return [(piece.word, piece.gender) for piece in pieces]


def of_noun(lang: str, sentence: str, number: str = "sg") -> Shown:
    texts = SplitTexts(get_language(lang))
    analysis, target = analysis_of(sentence)
    aligned = Candidate(target, "links+lexicon")
    alignment = Alignment("1", (aligned,), target, SourceFacts(number))
    words = sentence_words(analysis, texts)
    call = decide(alignment, analysis, texts)
    return shown(words_of_noun(call, alignment, words, syntax_of(texts.language)))


SG = "Number=Sing,Gender"
PAST = "Tense=Past,VerbForm=Fin,Number=Sing,Gender"
NOM = "Case=Nom,Number=Sing,Gender"


@pytest.mark.parametrize(
    ("lang", "sentence", "expected"),
    [
        # Article and noun; then a predicate of the other gender.
        ("es", f"la|DET|{SG}=Fem *maestra|NOUN|{SG}=Fem", {("la", F), ("maestra", F)}),
        (
            "es",
            f"la|DET|{SG}=Fem *maestra|NOUN|{SG}=Fem fue|AUX contratado|ADJ|{SG}=Masc",
            {("la", F), ("maestra", F), ("contratado", M)},
        ),
        # A gerund agrees with nobody.
        (
            "es",
            f"la|DET|{SG}=Fem *maestra|NOUN|{SG}=Fem estaba|AUX cantando|VERB|VerbForm=Ger",
            {("la", F), ("maestra", F)},
        ),
        # A masculine noun that women are called by, too, says nothing; its article does.
        ("it", f"*medico|NOUN|{SG}=Masc", set()),
        ("it", f"il|DET|{SG}=Masc *medico|NOUN|{SG}=Masc", {("il", M)}),
        # Russian: nor does a masculine adjective beside it, but the verb does.
        ("ru", f"новый|ADJ|{NOM}=Masc *врач|NOUN|{NOM}=Masc", set()),
        (
            "ru",
            f"новый|ADJ|{NOM}=Masc *врач|NOUN|{NOM}=Masc ушла|VERB|{PAST}=Fem",
            {("ушла", F)},
        ),
        ("ru", f"*учитель|NOUN|{NOM}=Masc", {("учитель", M)}),
        # A noun of fixed gender, and what agrees with it.
        ("es", f"la|DET|{SG}=Fem *víctima|NOUN|{SG}=Fem fue|AUX vista|ADJ|{SG}=Fem", set()),
        # Several people for one.
        ("es", "los|DET|Number=Plur,Gender=Masc *maestros|NOUN|Number=Plur,Gender=Masc", set()),
        # Article and noun contradict each other: both are there.
        ("de", f"dem|DET|{NOM}=Masc *Lehrerin|NOUN|{NOM}=Fem", {("dem", M), ("Lehrerin", F)}),
    ],
)
def test_words_of_a_noun(lang: str, sentence: str, expected: set[tuple[str, Gender]]) -> None:
    assert set(of_noun(lang, sentence)) == expected


@pytest.mark.parametrize(
    ("lang", "name", "sentence", "expected"),
    [
        ("es", "Curie", f"Curie|PROPN fue|AUX elegida|ADJ|{SG}=Fem", [("elegida", F)]),
        # The whole name is the subject, wherever the words of it stand.
        ("es", "Curie", f"Marie|PROPN Curie|PROPN fue|AUX elegido|ADJ|{SG}=Masc", [("elegido", M)]),
        # "Has elected" agrees with nobody; what stands before a noun is that noun's.
        ("es", "Curie", f"Curie|PROPN ha|AUX elegido|VERB|Tense=Past,VerbForm=Part,{SG}=Masc", []),
        ("es", "Curie", f"Curie|PROPN fue|AUX primero|ADJ|{SG}=Masc maestra|NOUN|{SG}=Fem", []),
        # Before an infinitive a participle agrees with nobody.
        (
            "fr",
            "Curie",
            f"Curie|PROPN est|AUX fait|VERB|VerbForm=Part,{SG}=Masc connaître|VERB|VerbForm=Inf",
            [],
        ),
        # In another script by the consonants; in another case it is no subject.
        ("ru", "Vanacker", f"Ванакер|PROPN|{NOM}=Masc ушла|VERB|{PAST}=Fem", [("ушла", F)]),
        ("ru", "Vanacker", f"Ванакера|PROPN|Case=Gen нашла|VERB|{PAST}=Fem", []),
    ],
)
def test_words_of_a_name(lang: str, name: str, sentence: str, expected: Shown) -> None:
    texts = SplitTexts(get_language(lang))
    analysis, _ = analysis_of(sentence)
    words = sentence_words(analysis, texts)
    spans, pieces = words_of_name(name, (), words, syntax_of(texts.language))
    assert len(spans) == 1
    assert shown(pieces) == expected


def test_a_name_that_is_not_there_shows_nothing() -> None:
    texts = SplitTexts(get_language("es"))
    analysis, _ = analysis_of(f"Bohr|PROPN fue|AUX elegida|ADJ|{SG}=Fem")
    words = sentence_words(analysis, texts)
    assert words_of_name("Curie", (), words, syntax_of(texts.language)) == ([], ())


PRONOUNS = [
    ("es", "Ella|PRON vino", [("Ella", F)]),
    ("es", "Él|PRON vino", [("Él", M)]),
    ("de", "sie|PRON kam und|CCONJ ihr|DET Sohn", [("sie", F), ("ihr", F)]),
    ("de", "er|PRON kam und|CCONJ sein|DET Sohn", [("er", M), ("sein", M)]),
    # No pronoun: the verb "to be"; nor the polite form.
    ("de", "es|PRON kann sein|AUX", []),
    ("de", "kommen|VERB Sie|PRON", []),
    ("it", "lei|PRON venne", [("lei", F)]),
    ("it", "lui|PRON venne", [("lui", M)]),
    ("ru", f"она|PRON|Case=Nom ушла|VERB|{PAST}=Fem", [("она", F), ("ушла", F)]),
    # In another case the verb before it is somebody else's.
    ("ru", f"нашел|VERB|{PAST}=Masc ее|PRON|Case=Acc", [("ее", F)]),
]


@pytest.mark.parametrize(("lang", "sentence", "expected"), PRONOUNS)
def test_words_of_pronouns(lang: str, sentence: str, expected: Shown) -> None:
    texts = SplitTexts(get_language(lang))
    analysis, _ = analysis_of(sentence)
    words = sentence_words(analysis, texts)
    found = words_of_pronouns(words, syntax_of(texts.language), (), rivals=False)
    assert shown(found) == expected


@pytest.mark.parametrize(
    ("lang", "sentence", "rivals", "expected"),
    [
        # What is an article, too, may be a neuter; beside "it" any pronoun may be a thing.
        ("es", "*la|PRON vio", False, [("la", F)]),
        ("es", "la|PRON *vio", False, []),
        ("es", "Ella|PRON *vino", True, []),
        ("es", "*Ella|PRON vino", True, [("Ella", F)]),
        ("de", "*sie|PRON|Number=Plur kamen", True, []),
    ],
)
def test_doubtful_pronouns_must_be_aligned(
    lang: str, sentence: str, rivals: bool, expected: Shown
) -> None:
    texts = SplitTexts(get_language(lang))
    analysis, aligned = analysis_of(sentence)
    words = sentence_words(analysis, texts)
    found = words_of_pronouns(words, syntax_of(texts.language), aligned, rivals=rivals)
    assert shown(found) == expected
