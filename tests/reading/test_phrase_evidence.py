"""Whether a noun names a person: without a sign of that its grammatical gender is nobody's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.plugin import Language, NounKind, NounReading, parse_agreements
from mtbias.types import Gender, GenderCall, Reason
from mtbias_languages.czech import CZECH
from mtbias_languages.french import FRENCH
from mtbias_languages.italian import ITALIAN
from mtbias_languages.spanish import SPANISH

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE
LANGUAGE = Language(
    code="de",
    name="Toy",
    family="romance",
    determiners={
        "der": parse_agreements("m.nom.sg", where="test"),
        "die": parse_agreements("f.nom.sg", where="test"),
    },
    noun_endings={"in": NounKind.FEMININE, "ova": NounKind.FEMININE},
    names={"frau": "f"},
    nouns={"arzt": (NounReading("Arzt", NounKind.MASCULINE, ()),)},
)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Der|DET *Arzt|NOUN kam|VERB", M),  # the table
        ("Die|DET *Weberin|NOUN kam|VERB", F),  # an ending of nouns for people
        ("Der|DET *Weber|NOUN|Animacy=Anim,Gender=Masc kam|VERB", M),  # animacy
        ("Frau|NOUN *Weber|NOUN kam|VERB", F),  # a title before it
        ("Der|DET *Weber|NOUN Ana|PROPN kam|VERB", M),  # a name behind it
    ],
)
def test_a_sign_that_the_noun_names_a_person(call: Call, sentence: str, expected: Gender) -> None:
    assert call(LANGUAGE, sentence, before_name=True).gender is expected


def test_a_name_behind_a_noun_is_no_sign_where_the_source_has_none(call: Call) -> None:
    # it "la conferenza Men in Business" for *audience*
    assert call(LANGUAGE, "Der|DET *Weber|NOUN Ana|PROPN kam|VERB").reason is Reason.NO_PERSON


@pytest.mark.parametrize(
    "sentence",
    [
        "Der|DET *Wagen|NOUN|Gender=Masc kam|VERB",
        "Der|DET *Wagen|NOUN|Animacy=Inan,Gender=Masc kam|VERB",
        # A thing that is spelt like the English word (*family*, *mine*) is a thing all the same.
        "Die|DET *Familie|NOUN|Gender=Fem kam|VERB",
        "La|DET *mina|NOUN|Gender=Fem fue|VERB",
        # Behind a name a second one is no sign: a club.
        "Der|DET *Radomiak|PROPN|Gender=Masc Radom|PROPN kam|VERB",
        # The name is another clause's.
        "Der|DET *Wagen|NOUN|Gender=Masc ~,|PUNCT Ana|PROPN kam|VERB",
        # The title is somebody else's.
        "Frau|NOUN Meier|PROPN sah|VERB den|DET *Wagen|NOUN|Gender=Masc",
    ],
)
def test_without_one_there_is_no_call(call: Call, sentence: str) -> None:
    found = call(LANGUAGE, sentence, before_name=True)
    assert (found.gender, found.reason) == (None, Reason.NO_PERSON)
    assert [(e.rule, e.gender, e.source, e.shows) for e in found.evidence] == [
        ("no_sign_of_person", None, "lexicon", "")
    ]
    assert [e.span for e in found.evidence] == [found.target[0]]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("*Coach|NOUN Ana|PROPN|Case=Nom Novakova|PROPN|Case=Nom kam|VERB", F),
        ("*Coach|NOUN Ana|PROPN|Case=Nom ~,|PUNCT Novakova|PROPN|Case=Nom kam|VERB", None),
        (
            "*Coach|NOUN Petr|PROPN|Case=Nom Novakova|PROPN|Case=Gen kam|VERB",
            None,
        ),  # another person
    ],
)
def test_the_last_of_several_names_is_the_surname(
    call: Call, sentence: str, expected: Gender | None
) -> None:
    language = Language(
        code="cs",
        name="Toy",
        family="romance",
        noun_endings=LANGUAGE.noun_endings,
        nouns={"coach": (NounReading("Coach", NounKind.COMMON, ()),)},
    )
    assert call(language, sentence).gender is expected


def test_an_article_of_another_number_is_part_of_another_phrase(call: Call) -> None:
    # de "einer der Entwickler" for *one of the developers*: in the plural the article is no
    # masculine nominative.
    several = Language(
        code="de",
        name="Toy",
        family="romance",
        determiners={"der": parse_agreements("m.nom.sg f.gen.sg *.gen.pl", where="test")},
        nouns={"coach": (NounReading("Coach", NounKind.COMMON, ()),)},
    )
    assert call(several, "Der|DET *Coach|NOUN kam|VERB", number="pl").gender is None
    only = Language(
        code="de",
        name="Toy",
        family="romance",
        determiners=LANGUAGE.determiners,
        nouns=several.nouns,
    )
    assert call(only, "Der|DET *Coach|NOUN kam|VERB", number="pl").gender is M


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        (SPANISH, "Es|AUX un|DET actor|NOUN y|CCONJ *cantante|NOUN", M),
        (SPANISH, "Es|AUX una|DET abogada|NOUN ~,|PUNCT actriz|NOUN e|CCONJ *activista|NOUN", F),
        (SPANISH, "Es|AUX un|DET actor|NOUN francés|ADJ y|CCONJ *cantante|NOUN", M),
        (ITALIAN, "È|AUX un|DET attore|NOUN e|CCONJ *giornalista|NOUN", M),
        (FRENCH, "C'|PRON ~est|AUX une|DET avocate|NOUN et|CCONJ *journaliste|NOUN", F),
        # an article of its own, another case, no noun for people, a full stop, no article at all
        (SPANISH, "la|DET abogada|NOUN y|CCONJ su|DET *cantante|NOUN", None),
        (SPANISH, "la|DET abogada|NOUN y|CCONJ de|ADP *cantante|NOUN", None),
        (SPANISH, "el|DET teatro|NOUN y|CCONJ *cantante|NOUN", None),
        (SPANISH, "la|DET abogada|NOUN ~.|PUNCT Actriz|NOUN y|CCONJ *cantante|NOUN", None),
        (SPANISH, "Es|AUX actor|NOUN y|CCONJ *cantante|NOUN", None),
        # a comma alone: another person is called, or the noun belongs to one farther off
        (SPANISH, "Está|VERB la|DET abogada|NOUN ~,|PUNCT *colega|NOUN ~?|PUNCT", None),
        (SPANISH, "El|DET hijo|NOUN de|ADP la|DET actriz|NOUN ~,|PUNCT *periodista|NOUN", None),
        # behind a preposition or a contraction: between the two
        (SPANISH, "entre|ADP la|DET abogada|NOUN y|CCONJ *cliente|NOUN", None),
        (ITALIAN, "della|ADP+DET abate|NOUN e|CCONJ *giornalista|NOUN", None),
        (SPANISH, "de|ADP la|DET actriz|NOUN ~,|PUNCT pintora|NOUN y|CCONJ *cantante|NOUN", None),
        # where nouns show case they may be two persons
        (CZECH, "ten|DET herec|NOUN a|CCONJ *mluvčí|NOUN", None),
    ],
)
def test_the_article_of_the_first_of_several_nouns(
    call: Call, language: Language, sentence: str, expected: Gender | None
) -> None:
    assert call(language, sentence, qualified=True).gender is expected
    assert call(language, sentence, qualified=True, number="pl").gender is None
    assert call(language, sentence).gender is None  # *an actor and a singer*
