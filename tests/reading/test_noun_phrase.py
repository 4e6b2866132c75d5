"""Weak and strong endings: without a determiner a noun declined like an adjective shows its
gender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mtbias.language.installed import get_language
from mtbias.types import Gender, GenderCall, Reason, Span

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE
GERMAN = get_language("de")


@pytest.mark.parametrize(
    ("sentence", "number", "expected"),
    [
        ("Sie|PRON wurde|AUX *Vorsitzende|NOUN", "sg", F),
        ("Er|PRON wurde|AUX *Vorsitzender|NOUN", "sg", M),
        # behind a determiner the ending is weak
        ("Der|DET *Vorsitzende|NOUN kam|VERB", "sg", M),
        ("Die|DET *Vorsitzende|NOUN kam|VERB", "sg", F),
        # several, of any gender: no woman
        ("*Angestellte|NOUN protestierten|VERB", "pl", None),
        # the English does not tell how many
        ("*Angestellte|NOUN protestierten|VERB", None, None),
    ],
)
def test_strong_endings(
    call: Call, sentence: str, number: str | None, expected: Gender | None
) -> None:
    assert call(GERMAN, sentence, number=number).gender is expected


def test_without_the_rule_the_ending_leaves_it_open(call: Call) -> None:
    sentence = "Als|SCONJ *Vorsitzende|NOUN sprach|VERB"
    assert call(GERMAN, sentence).gender is F
    assert call(replace(GERMAN, weak=()), sentence).gender is None


def test_between_an_article_and_a_noun_for_people_stands_its_adjective(call: Call) -> None:
    # it "l'esperta pediatra": *esperta* is in the table of nouns too, and the tagger reads a noun.
    found = call(
        get_language("it"), "Ringraziò|VERB l'|DET ~esperta|NOUN|Gender=Fem *pediatra|NOUN"
    )
    assert found.gender is F


def test_between_an_article_and_a_noun_for_people_stands_no_noun_of_the_other_gender(
    call: Call,
) -> None:
    italian, russian = get_language("it"), get_language("ru")
    moment, end = "al|ADP+DET momento|NOUN|Gender=Masc", "alla|ADP+DET fine|NOUN|Gender=Fem"
    assert call(italian, f"è|AUX {moment} *editrice|NOUN associata|ADJ").gender is F
    assert call(italian, f"è|AUX {end} *editore|NOUN associato|ADJ").gender is M
    assert call(italian, f"è|AUX {moment} *medica|NOUN").gender is F
    assert call(italian, f"è|AUX {end} *medico|NOUN").gender is M
    assert call(italian, "la|DET giovane|NOUN|Gender=Fem *medico|NOUN").gender is F
    segment, field = (
        "свой|DET сегмент|NOUN|Case=Acc,Gender=Masc",
        "свою|DET область|NOUN|Case=Acc,Gender=Fem",
    )
    assert call(russian, f"знающая|VERB {segment} *художница|NOUN").gender is F
    assert call(russian, f"знающий|VERB {field} *художник|NOUN").gender is M


def test_an_adjective_joined_to_the_first_by_a_conjunction(call: Call) -> None:
    for code, masculine, feminine, and_ in (
        ("it", "ingegnoso", "ingegnosa", "ed"),
        ("es", "ingenioso", "ingeniosa", "e"),
    ):
        noun, first = {"it": ("insegnante", "efficace"), "es": ("docente", "eficaz")}[code]
        for form, expected in ((masculine, M), (feminine, F)):
            phrase = f"come|ADP *{noun}|NOUN {first}|ADJ {and_}|CCONJ {form}|ADJ"
            assert call(get_language(code), phrase).gender is expected
            # That of another noun tells nothing.
            assert call(get_language(code), f"{phrase} famiglia|NOUN").gender is None


def test_a_masculine_noun_that_is_also_used_of_women_is_no_adjective(call: Call) -> None:
    assert call(get_language("it"), "la|DET *ufficiale|NOUN capo|NOUN").gender is F
    assert call(get_language("it"), "il|DET *ufficiale|NOUN capo|NOUN").gender is M


def test_a_title_left_in_english(call: Call) -> None:
    assert call(get_language("it"), "Lady|PROPN *luogotenente|NOUN").gender is F
    assert call(get_language("it"), "Lord|PROPN *luogotenente|NOUN").gender is M


def test_a_finite_verb_is_no_adjective_between_an_article_and_its_noun(call: Call) -> None:
    # cs tu is "here" too: "kéž bych tu měl přítele" ("if only I had a friend here").
    wish = "Kéž|PART bych|AUX tu|ADV měl|VERB|Gender=Masc,VerbForm=Part *přítele|NOUN|Gender=Masc,Case=Acc"
    assert call(get_language("cs"), wish).gender is M
    assert (
        call(
            get_language("cs"), "Viděl|VERB tu|DET mladou|ADJ|Gender=Fem,Case=Acc *účetní|NOUN"
        ).gender
        is F
    )


@pytest.mark.parametrize(
    ("code", "sentence", "adverb", "alone", "qualified"),
    [
        # two in a row, or with an infinitive behind: the one is a noun, the other a verb
        ("it", "l'|DET *~aiutante|NOUN tecnica|ADJ nuova|ADJ così|ADV", False, None, F),
        ("it", "l'|DET *~aiutante|NOUN ferma|ADJ scopare|VERB|VerbForm=Inf", False, None, F),
        ("it", "l'|DET *~aiutante|NOUN fermo|ADJ scopare|VERB|VerbForm=Inf", False, None, M),
        ("fr", "L'|DET *~analyste|NOUN torpemente|ADJ a|AUX couru|VERB", True, None, F),
        # an attribute, or a part of what renders the entity
        ("fr", "L'|DET *~analyste|NOUN distraite|ADJ a|AUX couru|VERB", False, F, F),
        ("it", "l'|DET *~aiutante|NOUN napoletana|ADJ e|CCONJ comprò|VERB", False, F, F),
        ("it", "l'|DET *~aiutante|NOUN *tecnica|ADJ nuova|ADJ così|ADV", False, F, F),
        # an article tells all the same, and an attribute may contradict it
        ("fr", "le|DET *analyste|NOUN torpemente|ADJ et|CCONJ", True, M, None),
    ],
)
def test_an_adjective_with_a_noun_of_its_own_tells_nothing_of_an_entity_that_stands_alone(
    call: Callable[..., GenderCall],
    code: str,
    sentence: str,
    adverb: bool,
    alone: Gender | None,
    qualified: Gender | None,
) -> None:
    for what, expected in ((False, alone), (True, qualified)):
        found = call(get_language(code), sentence, before_adverb=adverb, qualified=what)
        assert (found.gender, found.reason) == (expected, None if expected else Reason.AMBIGUOUS)


def test_an_indefinite_determiner_is_no_noun(call: Callable[..., GenderCall]) -> None:
    spanish = get_language("es")
    found = call(spanish, "pidió|VERB *algunas|DET cuestiones|NOUN")
    assert (found.gender, found.target[0]) == (None, Span(14, 24))
    assert (
        call(spanish, "*alguna|PRON preguntó|VERB", translations=("alguna",)).gender
        is Gender.FEMALE
    )
    assert not spanish.facts("algunas").names_person


@pytest.mark.parametrize(
    ("code", "sentence", "said", "expected"),
    [
        ("ar", "ساعد|VERB *الجنود|NOUN النساء|ADJ الطبيب|NOUN", F, F),
        ("ar", "ساعد|VERB *الجنود|NOUN الرجال|NOUN الطبيب|NOUN", M, M),
        ("ar", "*الأطباء|NOUN النساء|ADJ في|ADP", F, F),
        ("ar", "*الأطباء|NOUN النساء|ADJ في|ADP", None, F),  # no verb before them: who else
        (
            "ar",
            "ساعد|VERB *الأطباء|NOUN النساء|ADJ",
            None,
            M,
        ),  # the (tired) doctors helped the women
        (
            "ar",
            "ساعد|VERB *الأطباء|NOUN الذكور|NOUN النساء|ADJ",
            M,
            M,
        ),  # the male doctors helped the women
        ("ar", "*أطباء|NOUN النساء|NOUN في|ADP", F, M),  # those who treat women
        (
            "cs",
            "*Lékaři|NOUN|Case=Nom,Number=Plur ženy|NOUN|Case=Gen,Number=Sing přišli|VERB",
            F,
            F,
        ),
        (
            "cs",
            "*Lékaři|NOUN|Case=Nom,Number=Plur ženy|NOUN|Case=Gen,Number=Sing přišli|VERB",
            None,
            M,
        ),
        ("cs", "*lékařům|NOUN|Case=Dat,Number=Plur ženám|NOUN|Case=Dat,Number=Plur", F, F),
        # the men's new sisters, the man whom young teachers greeted, the woman's young doctors,
        # whom tired ones helped
        (
            "cs",
            "Nové|ADJ *sestry|NOUN|Case=Nom,Number=Plur mužů|NOUN|Case=Gen,Number=Plur přišly|VERB",
            None,
            F,
        ),
        (
            "cs",
            "Mladé|ADJ *učitelky|NOUN|Case=Nom,Number=Plur muže|NOUN|Case=Acc,Number=Sing pozdravily|VERB",
            None,
            F,
        ),
        (
            "cs",
            "Mladí|ADJ *lékaři|NOUN|Case=Nom,Number=Plur ženy|NOUN|Case=Gen,Number=Sing přišli|VERB",
            None,
            M,
        ),
        (
            "cs",
            "Unavení|ADJ *lékaři|NOUN|Case=Nom,Number=Plur ženám|NOUN|Case=Dat,Number=Plur pomohli|VERB",
            None,
            M,
        ),
        (
            "cs",
            "Mladí|ADJ *lékaři|NOUN|Case=Nom,Number=Plur ženy|NOUN|Case=Gen,Number=Sing přišli|VERB",
            M,
            M,
        ),
    ],
)
def test_a_word_for_a_man_or_a_woman_behind_a_plural(
    call: Callable[..., GenderCall], code: str, sentence: str, said: Gender | None, expected: Gender
) -> None:
    """Whatever else qualifies the entity in the source, it tells only the gender that the source
    says."""
    found = call(get_language(code), sentence, number="pl", qualified=True, says_sex=said)
    assert found.gender is expected


def test_a_foreign_word_before_the_verb_is_its_subject(call: Callable[..., GenderCall]) -> None:
    ukrainian = get_language("uk")
    assert call(ukrainian, "Mover|X сказав|VERB *cleaner|X ~,|PUNCT", copied=True).gender is None
    assert (
        call(ukrainian, "*Mover|X сказав|VERB cleaner|X ~,|PUNCT", copied=True).gender
        is Gender.MALE
    )
    assert call(ukrainian, "сказала|VERB *cleaner|X ~,|PUNCT", copied=True).gender is Gender.FEMALE


def test_a_compound_renders_none_of_its_parts(call: Callable[..., GenderCall]) -> None:
    arabic = get_language("ar")
    driver = arabic.fold("السائق")
    found = call(arabic, "عرض|VERB مساعدة|NOUN *السائق|NOUN", translations=(driver,))
    assert (found.gender, found.evidence[0].word) == (Gender.MALE, "السائق")
    assert (
        call(arabic, "عرض|VERB *مساعدة|NOUN السائق|NOUN").gender is Gender.FEMALE
    )  # the woman co-driver herself
