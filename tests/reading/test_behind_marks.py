"""Whose the words behind a mark are: relative clauses, attributes, insertions, verbs of others.

Each sentence is told of a man and of a woman; where it tells of neither, no gender is called. The
features are those that a tagger gives, as far as the rules ask for them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.installed import get_language
from mtbias.types import Gender, GenderCall

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE

NOM, GEN, DAT, INS = (f"Case={case},Number=Sing" for case in ("Nom", "Gen", "Dat", "Ins"))
HE, SHE = "Gender=Masc,Number=Sing,VerbForm=Fin", "Gender=Fem,Number=Sing,VerbForm=Fin"
NOW = "Number=Sing,Person=3,VerbForm=Fin"
CONVERB = "VerbForm=Conv"
HERS = f"{NOM},Gender=Fem"
JUDGE, FELLOW = f"*Судья|NOUN|{NOM}", f"*Коллега|NOUN|{NOM}"
DOCTOR, DOCTOR_UK = f"*Врач|NOUN|{NOM},Gender=Masc", f"*Лікар|NOUN|{NOM},Gender=Masc"
BY_NEIGHBOURS = f"~, по|ADP словам|NOUN|{DAT} соседей|NOUN|Case=Gen,Number=Plur ~,"
WIFE_LEFT = f"уехала|VERB|{SHE} жена|NOUN|{NOM},Gender=Fem"
CLOSED_HOSPITAL = f"больницы|NOUN|{GEN} ~, которая|PRON закрылась|VERB|{SHE}"
NO_FAREWELL = f"~, не|PART простившись|VERB|{CONVERB} ~,"
WORKS = f"работает|VERB|{NOW} здесь|ADV"


def of_both(man: str, woman: str) -> list[tuple[str, Gender]]:
    """A sentence of a man and one of a woman."""
    return [(man, M), (woman, F)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *of_both(
            f"{JUDGE} ~, который|PRON жил|VERB|{HE} в|ADP Москве|PROPN ~, {WORKS}",
            f"{JUDGE} ~, которая|PRON жила|VERB|{SHE} в|ADP Москве|PROPN ~, {WORKS}",
        ),
        *of_both(
            f"{FELLOW} ~, с|ADP которым|PRON мы|PRON говорили|VERB ~, {WORKS}",
            f"{FELLOW} ~, с|ADP которой|PRON мы|PRON говорили|VERB ~, {WORKS}",
        ),
        # The verb of the main clause, where the pronoun may be another noun's: the hospital closed.
        *of_both(
            f"{DOCTOR} {CLOSED_HOSPITAL} ~, уехал|VERB|{HE}",
            f"{DOCTOR} {CLOSED_HOSPITAL} ~, уехала|VERB|{SHE}",
        ),
        # The judge's flat, and his or her flat mate: nobody knows whom the clause is about.
        (
            f"Квартира|NOUN|{NOM},Gender=Fem *судьи|NOUN|{GEN} ~, которая|PRON сгорела|VERB|{SHE}",
            None,
        ),
        (f"Сын|NOUN|{NOM},Gender=Masc *судьи|NOUN|{GEN} ~, который|PRON жил|VERB|{HE}", None),
        # A daughter would be "которая".
        (f"Дочь|NOUN|{NOM},Gender=Fem *судьи|NOUN|{GEN} ~, который|PRON жил|VERB|{HE}", M),
        (f"Сын|NOUN|{NOM},Gender=Masc *судьи|NOUN|{GEN} ~, которая|PRON жила|VERB|{SHE}", F),
    ],
)
def test_the_relative_pronoun_is_the_nearest_noun_s_unless_another_one_agrees(
    call: Call, sentence: str, expected: Gender | None
) -> None:
    assert call(get_language("ru"), sentence).gender is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *of_both(
            f"{FELLOW} ~, когда|SCONJ приехала|VERB|{SHE} полиция|NOUN|{NOM} ~, спал|VERB|{HE}",
            f"{FELLOW} ~, когда|SCONJ приехал|VERB|{HE} врач|NOUN|{NOM} ~, спала|VERB|{SHE}",
        ),
        *of_both(
            f"{FELLOW} ~, увидев|VERB|{CONVERB} ~, что|SCONJ мать|NOUN|{NOM} ушла|VERB|{SHE} ~,"
            f" заплакал|VERB|{HE}",
            f"{FELLOW} ~, увидев|VERB|{CONVERB} ~, что|SCONJ отец|NOUN|{NOM} ушёл|VERB|{HE} ~,"
            f" заплакала|VERB|{SHE}",
        ),
        *of_both(
            f"{JUDGE} {BY_NEIGHBOURS} вчера|ADV уехал|VERB|{HE}",
            f"{JUDGE} {BY_NEIGHBOURS} вчера|ADV уехала|VERB|{SHE}",
        ),
        # The verb between the marks is the speaker's, a present tells nothing, and behind it
        # others act.
        (f"{FELLOW} ~, сказала|VERB|{SHE} она|PRON ~, {WORKS}", None),
        (f"{JUDGE} {BY_NEIGHBOURS} {WORKS} ~, {WIFE_LEFT}", None),
        (f"{JUDGE} ~, как|SCONJ известно|ADJ ~, {WORKS} ~, {WIFE_LEFT}", None),
    ],
)
def test_the_predicate_behind_an_insertion(
    call: Call, sentence: str, expected: Gender | None
) -> None:
    assert call(get_language("ru"), sentence).gender is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *of_both(
            f"Вчера|ADV уехал|VERB|{HE} {NO_FAREWELL} *судья|NOUN|{NOM}",
            f"Вчера|ADV уехала|VERB|{SHE} {NO_FAREWELL} *судья|NOUN|{NOM}",
        ),
        # Somebody else has come, or speaks.
        (f"Вчера|ADV приехала|VERB|{SHE} Анна|PROPN|{NOM},Gender=Fem ~, *судья|NOUN|{NOM}", None),
        (f"Я|PRON ~, сказала|VERB|{SHE} Анна|PROPN|{NOM},Gender=Fem ~, *судья|NOUN|{NOM}", None),
        (f"Мать|NOUN|{NOM} умерла|VERB|{SHE} {BY_NEIGHBOURS} *судья|NOUN|{NOM} {WORKS}", None),
    ],
)
def test_the_verb_before_an_insertion(call: Call, sentence: str, expected: Gender | None) -> None:
    assert call(get_language("ru"), sentence).gender is expected


@pytest.mark.parametrize("verb", [f"уехал|VERB|{HE}", f"уехала|VERB|{SHE}"])
def test_a_generic_masculine_whose_verb_is_behind_a_clause_of_its_own_is_no_call(
    call: Call, verb: str
) -> None:
    sentence = f"{DOCTOR} ~, сообщила|VERB|{SHE} больница|NOUN|{NOM},Gender=Fem ~, {verb}"
    assert call(get_language("ru"), sentence).gender is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *of_both(
            f"{DOCTOR_UK} ~, як|SCONJ повідомила|VERB|{SHE} лікарня|NOUN|{NOM} ~, поїхав|VERB|{HE}",
            f"{DOCTOR_UK} ~, як|SCONJ повідомив|VERB|{HE} лист|NOUN|{NOM} ~, поїхала|VERB|{SHE}",
        ),
        *of_both(
            f"*Суддя|NOUN|{NOM} ~, відомий|ADJ|{NOM},Gender=Masc у|ADP місті|NOUN ~, працює|VERB",
            f"*Суддя|NOUN|{NOM} ~, відома|ADJ|{NOM},Gender=Fem у|ADP місті|NOUN ~, працює|VERB",
        ),
        # "An old friend of Anna's": the adjective is that noun's.
        (f"*Суддя|NOUN|{NOM} ~, стара|ADJ|{HERS} подруга|NOUN|{HERS} Анни|PROPN|{GEN}", None),
    ],
)
def test_ukrainian(call: Call, sentence: str, expected: Gender | None) -> None:
    assert call(get_language("uk"), sentence).gender is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *of_both(
            f"*Vedoucí|NOUN|{NOM} ~, který|DET|{NOM} žil|VERB v|ADP Praze|PROPN ~, spí|VERB|{NOW}",
            f"*Vedoucí|NOUN|{NOM} ~, která|DET|{NOM} žila|VERB v|ADP Praze|PROPN ~, spí|VERB|{NOW}",
        ),
        # A man would be "s mluvčím": the noun in its case tells, whatever lasted two hours.
        (f"Rozhovor|NOUN|{NOM} s|ADP *mluvčí|NOUN|{INS} ~, který|DET|{NOM} trval|VERB", F),
        (f"Schůzka|NOUN|{NOM} s|ADP *mluvčím|NOUN|{INS} ~, která|DET|{NOM} trvala|VERB", M),
        (f"Včera|ADV přijela|VERB|{SHE} Anna|PROPN|{NOM},Gender=Fem ~, *mluvčí|NOUN|{NOM}", None),
    ],
)
def test_czech(call: Call, sentence: str, expected: Gender | None) -> None:
    assert call(get_language("cs"), sentence).gender is expected


PAST_M, PAST_F = (f"Gender={gender},Number=Sing,VerbForm=Part" for gender in ("Masc", "Fem"))
FEM = "Gender=Fem,Number=Sing"
THE = "DET|Definite=Def"


@pytest.mark.parametrize(
    ("code", "sentence", "expected"),
    [
        ("fr", f"L'|{THE} ~*artiste|NOUN ~, né|VERB|{PAST_M} à|ADP Paris|PROPN ~, vit|VERB", M),
        ("fr", f"L'|{THE} ~*artiste|NOUN ~, née|VERB|{PAST_F} à|ADP Paris|PROPN ~, vit|VERB", F),
        ("it", f"L'|{THE} ~*artista|NOUN ~, nato|VERB|{PAST_M} a|ADP Roma|PROPN ~, vive|VERB", M),
        ("it", f"L'|{THE} ~*artista|NOUN ~, nata|VERB|{PAST_F} a|ADP Roma|PROPN ~, vive|VERB", F),
        ("it", "Ogni|DET *artista|NOUN ~, con|ADP il|DET quale|PRON parlo|VERB ~, vive|VERB", M),
        ("it", "Ogni|DET *artista|NOUN ~, con|ADP la|DET quale|PRON parlo|VERB ~, vive|VERB", F),
        ("es", f"Su|DET *colega|NOUN ~, cansado|ADJ|{PAST_M} de|ADP todo|PRON ~, calla|VERB", M),
        ("es", f"Su|DET *colega|NOUN ~, cansada|ADJ|{PAST_F} de|ADP todo|PRON ~, calla|VERB", F),
        # The floor is not the dentist; a clinic may have closed.
        ("es", f"Su|DET *dentista|NOUN ~, primera|ADJ|{FEM} planta|NOUN|{FEM}", None),
        ("es", f"La|DET clínica|NOUN|{FEM} de|ADP su|DET *dentista|NOUN ~, la|DET cual|PRON", None),
        # His or her wife, or the artist.
        ("fr", f"La|DET femme|NOUN|{FEM} de|ADP l'|DET ~*artiste|NOUN ~, née|VERB|{PAST_F}", None),
    ],
)
def test_romance(call: Call, code: str, sentence: str, expected: Gender | None) -> None:
    assert call(get_language(code), sentence).gender is expected


@pytest.mark.parametrize(
    ("code", "sentence", "expected"),
    [
        ("he", "*המורה|NOUN ~, לדברי|ADP השכנים|DET+NOUN ~, התפטר|VERB|Gender=Masc,Number=Sing", M),
        ("he", "*המורה|NOUN ~, לדברי|ADP השכנים|DET+NOUN ~, התפטרה|VERB|Gender=Fem,Number=Sing", F),
        ("ar", "رأينا|VERB *الشيف|DET+NOUN الذي|PRON سافر|VERB", M),
        ("ar", "رأينا|VERB *الشيف|DET+NOUN التي|PRON سافرت|VERB", F),
        # The cook's wife.
        ("ar", "زوجة|NOUN|Gender=Fem,Number=Sing *الداعية|DET+NOUN التي|PRON سافرت|VERB", None),
    ],
)
def test_hebrew_and_arabic(call: Call, code: str, sentence: str, expected: Gender | None) -> None:
    assert call(get_language(code), sentence).gender is expected


@pytest.mark.parametrize(
    ("code", "sentence", "expected"),
    [
        # "A" is the article in the one and "to" in the other.
        ("pt", "Ele|PRON elogiou|VERB a|DET *gerente|NOUN", F),
        ("pt", "Ele|PRON foi|AUX promovido|VERB a|DET *gerente|NOUN", None),
        ("pt", "Ela|PRON foi|AUX promovida|VERB a|DET *gerente|NOUN", None),
        ("pt", "Ele|PRON passou|VERB de|ADP caixa|NOUN a|DET *gerente|NOUN", None),
        ("fr", "Il|PRON devint|VERB par|ADP la|DET suite|NOUN *juge|NOUN", None),
        ("fr", "Elle|PRON devint|VERB par|ADP la|DET suite|NOUN *juge|NOUN", None),
        ("fr", "Il|PRON parle|VERB à|ADP la|DET célèbre|ADJ *pianiste|NOUN", F),
        ("fr", "Il|PRON parle|VERB au|ADP+DET célèbre|ADJ *pianiste|NOUN", M),
    ],
)
def test_articles_that_are_none_of_the_noun(
    call: Call, code: str, sentence: str, expected: Gender | None
) -> None:
    assert call(get_language(code), sentence).gender is expected
