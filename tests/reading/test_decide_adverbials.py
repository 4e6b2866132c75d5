"""Times, places and other phrases beside the entity's own, in languages with case: whose is an
adjective, whose a verb.

The languages are those that ship, with their endings, prepositions and verbs. The nouns that stand
for the entity are silent ones of their tables (cs *pokladní*, ru *коллега*, uk *колега*), or
`unknown` ones: the table is emptied, and the tagger's animacy says that they name persons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mtbias.language.installed import get_language
from mtbias.plugin import Language
from mtbias.types import Gender, GenderCall, Reason

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE
CZECH, RUSSIAN, UKRAINIAN = get_language("cs"), get_language("ru"), get_language("uk")

CLERK = "Case=Nom,Gender=Fem,Number=Sing"
WEEK = "Animacy=Inan,Case=Acc,Gender=Masc,Number=Sing"
MALE = "Case=Nom,Gender=Masc,Number=Sing"
FEMALE = "Case=Nom,Gender=Fem,Number=Sing"
SHE = "Gender=Fem,Number=Sing,Tense=Past"
HE = "Gender=Masc,Number=Sing,Tense=Past"
# The noun is in no table: its animacy says that it names a person.
ALIVE = "Animacy=Anim"
ALIVE_NOM = f"{ALIVE},Case=Nom"


def unknown(language: Language) -> Language:
    """`language` without its nouns, so that the head says nothing by itself."""
    return replace(language, nouns={}, phrases={}, noun_endings={}, prefixes=())


@pytest.mark.parametrize(
    ("sentence", "expected", "decided_by"),
    [
        # "last week" is no attribute of the clerk, although its adjective stands right behind her.
        (
            f"*Pokladní|NOUN|{CLERK} minulý|ADJ|{WEEK} týden|NOUN|{WEEK} odešla|VERB|{SHE}",
            F,
            "odešla",
        ),
        (
            f"*Pokladní|NOUN|{CLERK} celý|ADJ|{WEEK} minulý|ADJ|{WEEK} týden|NOUN|{WEEK} stonala|VERB|{SHE}",
            F,
            "stonala",
        ),
        (
            f"*Pokladní|NOUN|{MALE} minulý|ADJ|{WEEK} týden|NOUN|{WEEK} odešel|VERB|{HE}",
            M,
            "odešel",
        ),
        # Her own adjective stands before her.
        (
            f"Milá|ADJ|{FEMALE} *pokladní|NOUN|{CLERK} minulý|ADJ|{WEEK} týden|NOUN|{WEEK} spí|VERB|Number=Sing",
            F,
            "Milá",
        ),
        # An adjective of her own behind her: it does not agree with the noun that follows (a
        # genitive it governs).
        (
            f"*Pokladní|NOUN|{CLERK} plná|ADJ|{FEMALE} energie|NOUN|Case=Gen,Gender=Fem,Number=Sing spí|VERB",
            F,
            "plná",
        ),
        # A prepositional phrase, behind the clitic and by itself; determiners and adjectives in it.
        (
            f"*Pokladní|NOUN|{CLERK} si|PRON v|ADP pondělí|NOUN|Case=Acc koupila|VERB|{SHE}",
            F,
            "koupila",
        ),
        (
            f"*Pokladní|NOUN|{CLERK} si|PRON ve|ADP svém|DET|Case=Loc domě|NOUN|Case=Loc zpívala|VERB|{SHE}",
            F,
            "zpívala",
        ),
        # Before her: a time in the accusative, which is not the head of a genitive "of the clerk".
        (f"Minulý|ADJ|{WEEK} týden|NOUN|{WEEK} *vedoucí|NOUN|{MALE} odešel|VERB|{HE}", M, "odešel"),
        (f"V|ADP pondělí|NOUN|Case=Acc *vedoucí|NOUN|{MALE} odešel|VERB|{HE}", M, "odešel"),
    ],
)
def test_czech_times_between_subject_and_verb(
    call: Call, sentence: str, expected: Gender, decided_by: str
) -> None:
    found = call(CZECH, sentence)
    assert found.gender is expected
    assert found.evidence[0].word == decided_by


@pytest.mark.parametrize(
    "sentence",
    [
        # "kniha" may be the subject of the verb: "the book delighted the clerk".
        f"*Pokladní|NOUN|{CLERK} milá|ADJ|{FEMALE} kniha|NOUN|{FEMALE} těšila|VERB|{SHE}",
        # No gender on the verb.
        f"*Pokladní|NOUN|{CLERK} si|PRON v|ADP pondělí|NOUN|Case=Acc koupí|VERB|Number=Sing",
        # The adjective behind the copula belongs to the noun behind it: "is a good person".
        f"*Pokladní|NOUN|{CLERK} je|AUX dobrá|ADJ|{FEMALE} osoba|NOUN|{FEMALE}",
    ],
)
def test_what_may_be_anothers_tells_nothing(call: Call, sentence: str) -> None:
    found = call(CZECH, sentence)
    assert (found.gender, found.reason) == (None, Reason.NO_MORPHOLOGY)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # "-ой" is a masculine nominative or a feminine genitive, dative, instrumental, locative.
        # Behind a noun in an oblique case it is a genitive only where the tagger does not read the
        # whole phrase as a nominative.
        (
            f"В|ADP понедельник|NOUN|Case=Acc молодой|ADJ|{MALE} *ткач|NOUN|{ALIVE_NOM} открыл|VERB|{HE}",
            M,
        ),
        (
            f"В|ADP понедельник|NOUN|Case=Nom молодой|ADJ|{MALE} *ткач|NOUN|{ALIVE_NOM} открыл|VERB|{HE}",
            M,
        ),
        (
            f"На|ADP прошлой|ADJ|Case=Loc неделе|NOUN|Case=Loc занятой|ADJ|{MALE} *ткач|NOUN|{ALIVE_NOM} пел|VERB|{HE}",
            M,
        ),
        (f"Утром|NOUN|Case=Ins молодой|ADJ|{MALE} *ткач|NOUN|{ALIVE_NOM} открыл|VERB|{HE}", M),
        (
            (
                f"В|ADP доме|NOUN|Case=Loc молодой|ADJ|Case=Gen *ткачихи|NOUN|{ALIVE},Case=Gen горит|VERB "
                "свет|NOUN|Case=Nom"
            ),
            F,
        ),
        (
            f"В|ADP доме|NOUN|Case=Loc молодой|ADJ *ткачихи|NOUN|{ALIVE} горит|VERB свет|NOUN|Case=Nom",
            F,
        ),
        (f"Дом|NOUN|Case=Nom молодой|ADJ|Case=Nom *ткачихи|NOUN|{ALIVE_NOM} горит|VERB", F),
        # The subject behind a time: the verb tells where the phrase is silent.
        (f"В|ADP понедельник|NOUN|Case=Acc *ткач|NOUN|{ALIVE_NOM} открыла|VERB|{SHE}", F),
    ],
)
def test_an_unknown_noun_behind_another(call: Call, sentence: str, expected: Gender) -> None:
    assert call(unknown(RUSSIAN), sentence).gender is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # The table knows "коллега" as a nominative, whatever stands before it and whatever the
        # tagger reads.
        (
            f"В|ADP понедельник|NOUN|Case=Acc молодой|ADJ|Case=Gen *коллега|NOUN|Case=Gen открыл|VERB|{HE}",
            M,
        ),
        (f"В|ADP понедельник|NOUN|Case=Acc *коллега|NOUN|Case=Gen открыла|VERB|{SHE}", F),
        (f"О|ADP ней|PRON|Case=Loc *коллега|NOUN|Case=Nom молчала|VERB|{SHE}", F),
        # "Мать" may be the subject, and so may what the tagger reads as a nominative.
        (f"Мать|NOUN|Case=Acc *коллега|NOUN|Case=Nom видела|VERB|{SHE}", None),
        (f"Поезд|NOUN|Case=Nom *коллега|NOUN|Case=Nom видела|VERB|{SHE}", None),
        # "готова" is her predicate, not an adjective of "помощи".
        (
            "*Коллега|NOUN|Case=Nom готова|ADJ|Gender=Fem,Number=Sing помощи|NOUN|Case=Gen,Gender=Fem,Number=Sing",
            F,
        ),
    ],
)
def test_a_nominative_behind_another_noun(
    call: Call, sentence: str, expected: Gender | None
) -> None:
    assert call(RUSSIAN, sentence).gender is expected


@pytest.mark.parametrize(
    ("sentence", "language", "expected"),
    [
        # відома, знайома: the accusative in -у is spelt like a masculine dative in -ому; the dative
        # is відомому.
        (f"бачили|VERB відому|ADJ *ткалю|NOUN|{ALIVE},Case=Acc", unknown(UKRAINIAN), F),
        (f"бачили|VERB знайому|ADJ|Case=Dat *ткалю|NOUN|{ALIVE},Case=Dat", unknown(UKRAINIAN), F),
        (f"бачили|VERB невідому|ADJ *ткалю|NOUN|{ALIVE},Case=Acc", unknown(UKRAINIAN), F),
        ("бачили|VERB відому|ADJ *колегу|NOUN|Case=Acc", UKRAINIAN, F),
        ("допомогли|VERB відомому|ADJ *колезі|NOUN|Case=Dat", UKRAINIAN, M),
        ("допомогли|VERB молодому|ADJ *колезі|NOUN|Case=Dat", UKRAINIAN, M),
        ("допомогли|VERB блідому|ADJ *колезі|NOUN|Case=Dat", UKRAINIAN, M),
        ("вірили|VERB усьому|DET *колезі|NOUN|Case=Dat", UKRAINIAN, M),
        (f"У|ADP понеділок|NOUN|Case=Acc *колега|NOUN|Case=Nom сказала|VERB|{SHE}", UKRAINIAN, F),
        (
            f"Минулого|ADJ|Case=Gen тижня|NOUN|Case=Gen *колега|NOUN|Case=Nom сказала|VERB|{SHE}",
            UKRAINIAN,
            F,
        ),
        (
            f"*Колега|NOUN|Case=Nom минулого|ADJ|Case=Gen тижня|NOUN|Case=Gen казала|VERB|{SHE}",
            UKRAINIAN,
            F,
        ),
    ],
)
def test_ukrainian_stems_in_om_and_times(
    call: Call, sentence: str, language: Language, expected: Gender
) -> None:
    assert call(language, sentence).gender is expected


@pytest.mark.parametrize(
    ("code", "english", "forms"),
    [
        ("ar", "weaver", {"الحائك": M, "الحائكة": F, "للنساج": M, "الحائكات": F}),
        ("ar", "pianist", {"الموسيقي": M, "الموسيقية": F}),
        ("ar", "gymnast", {"اللاعب": M, "اللاعبة": F}),
        (
            "cs",
            "weaver",
            {"tkadlec": M, "tkalce": M, "tkalcovi": M, "tkadlena": F, "tkadleně": F, "tkadlenu": F},
        ),
        ("de", "weaver", {"Weber": M, "Webern": M, "Weberin": F, "Weberinnen": F}),
        ("de", "gymnast", {"Turner": M, "Turnerin": F, "Gymnasten": M, "Gymnastin": F}),
        ("es", "shepherd", {"pastor": M, "pastora": F}),
        ("he", "weaver", {"האורג": M, "לאורגת": F}),
        ("he", "shepherd", {"החוואי": M, "החוואית": F}),
        ("it", "shepherd", {"pastori": M, "pastora": F}),
        (
            "ru",
            "weaver",
            {"ткач": M, "ткачу": M, "ткачом": M, "ткачиха": F, "ткачихе": F, "ткачих": F},
        ),
        ("ru", "gymnast", {"гимнаста": M, "гимнастку": F}),
        (
            "uk",
            "weaver",
            {"ткач": M, "ткачеві": M, "ткаля": F, "ткалю": F, "ткалі": F, "ткачисі": F},
        ),
        ("uk", "gymnast", {"гімнаста": M, "гімнастку": F}),
    ],
)
def test_the_tables_know_these_people(
    call: Call, code: str, english: str, forms: dict[str, Gender]
) -> None:
    language = get_language(code)
    for form, gender in forms.items():
        assert call(language, f"*{form}|NOUN").gender is gender
        assert language.glossary[english] & {
            base for _, base in language.bases(language.fold(form))
        }
