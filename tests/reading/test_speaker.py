"""The speaker's gender: sentences in the first person, each rule with what it reads and what it
must leave alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.speaker import speaker_call
from mtbias.types import Analysis, Gender, Reason

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
FIRST = "Person=1,Number=Sing"
ICH = "PRON|Case=Nom,Person=1,Number=Sing"
PAST = "Tense=Past,VerbForm=Fin,Number=Sing,Gender"
PART = "Tense=Past,VerbForm=Part,Voice=Act,Number=Sing,Gender"
JSEM = f"jsem|AUX|{FIRST},VerbForm=Fin"
NOM, ACC, INS, DAT = (f"Case={case},Number=Sing,Gender" for case in ("Nom", "Acc", "Ins", "Dat"))

SPOKEN = [
    # Czech: the participle with jsem or bych is the speaker's …
    ("cs", f"Vždycky|ADV {JSEM} spala|VERB|{PART}=Fem", F),
    ("cs", f"Šel|VERB|{PART}=Masc bych|AUX|{FIRST},VerbForm=Fin", M),
    # … also where the tagger does not know the form of abych; another clause's is not
    ("cs", f"Řekla|VERB|{PART}=Fem ~,|PUNCT abych|NOUN|{NOM}=Fem přišel|VERB|{PART}=Masc", M),
    ("cs", f"Matka|NOUN|{NOM}=Fem byla|AUX|{PART}=Fem unavená|ADJ|{NOM}=Fem", None),
    ("cs", f"Vím|VERB|{FIRST},VerbForm=Fin ~,|PUNCT že|SCONJ přišla|VERB|{PART}=Fem", None),
    # a plural is no speaker's
    ("cs", f"{JSEM} přišli|VERB|Tense=Past,VerbForm=Part,Number=Plur,Gender=Masc", None),
    # predicative adjectives and passive participles, but no attribute and no soft adjective
    ("cs", f"{JSEM} unavená|ADJ|{NOM}=Fem", F),
    ("cs", f"Chci|VERB|{FIRST},VerbForm=Fin být|AUX|VerbForm=Inf silná|ADJ|{NOM}=Fem", F),
    ("cs", f"{JSEM} zvyklý|ADJ|{NOM}=Masc vracet|VERB|VerbForm=Inf se|PRON", M),
    ("cs", f"{JSEM} překvapena|ADJ|VerbForm=Part,Voice=Pass,Number=Sing,Gender=Fem", F),
    ("cs", f"{JSEM} dobrá|ADJ|{NOM}=Fem osoba|NOUN|{NOM}=Fem", None),
    (
        "cs",
        f"{JSEM} citlivý|ADJ|{NOM}=Masc a|CCONJ milý|ADJ|{NOM}=Masc člověk|NOUN|{NOM}=Masc",
        None,
    ),
    ("cs", f"{JSEM} emotivní|ADJ|{NOM}=Masc", None),
    # words that agree wherever they stand
    ("cs", f"Ráda|ADJ vařím|VERB|{FIRST},VerbForm=Fin", F),
    ("cs", f"Dělám|VERB|{FIRST},VerbForm=Fin to|PRON sám|ADJ", M),
    ("cs", f"Vidím|VERB|{FIRST},VerbForm=Fin sebe|PRON|Reflex=Yes sama|ADJ", None),
    ("cs", "Ráda|ADJ vaří|VERB|Person=3,Number=Sing,VerbForm=Fin", None),
    # Russian: the past tense with я, before or behind it
    ("ru", f"Я|{ICH} устала|VERB|{PAST}=Fem", F),
    ("ru", f"Это|PRON|{NOM}=Neut сделал|VERB|{PAST}=Masc я|{ICH}", M),
    ("ru", f"Мама|NOUN|{NOM}=Fem устала|VERB|{PAST}=Fem", None),
    (
        "ru",
        f"Я|{ICH} знаю|VERB|{FIRST},VerbForm=Fin ~,|PUNCT что|SCONJ мама|NOUN|{NOM}=Fem устала|VERB|{PAST}=Fem",
        None,
    ),
    # without a subject the clause goes on about the speaker, unless somebody else was named last
    ("ru", f"Пришёл|VERB|{PAST}=Masc домой|ADV", M),
    ("ru", f"Я|{ICH} пришла|VERB|{PAST}=Fem и|CCONJ легла|VERB|{PAST}=Fem", F),
    ("ru", f"Мама|NOUN|{NOM}=Fem пришла|VERB|{PAST}=Fem и|CCONJ легла|VERB|{PAST}=Fem", None),
    ("ru", f"Мне|PRON|Case=Dat,{FIRST} сказала|VERB|{PAST}=Fem", None),
    (
        "ru",
        f"Тест|NOUN|{NOM}=Masc ~,|PUNCT который|PRON я|{ICH} сдала|VERB|{PAST}=Fem ~,|PUNCT был|AUX|{PAST}=Masc",
        F,
    ),
    # an accusative of a thing may be the subject, one in -у may not
    ("ru", f"Возникла|VERB|{PAST}=Fem опасность|NOUN|{ACC}=Fem", None),
    ("ru", f"Пришёл|VERB|{PAST}=Masc чек|NOUN|{ACC}=Masc,Animacy=Inan", None),
    ("ru", f"Купила|VERB|{PAST}=Fem машину|NOUN|{ACC}=Fem", F),
    # what the tagger takes for a verb: behind a preposition, or behind the verb of its clause
    ("ru", f"Я|{ICH} ходила|VERB|{PAST}=Fem в|ADP спортзал|VERB|{PAST}=Masc", F),
    ("uk", f"Я|{ICH} хотів|VERB|{PAST}=Masc тарантула|VERB|{PAST}=Fem", M),
    # short and long adjectives
    ("ru", f"Я|{ICH} рада|ADJ|Number=Sing,Gender=Fem", F),
    ("ru", f"Я|{ICH} очень|ADV активен|ADJ|Number=Sing,Gender=Masc", M),
    ("ru", f"Я|{ICH} очень|ADV спокойная|ADJ|{NOM}=Fem", F),
    ("ru", f"Я|{ICH} спокойный|ADJ|{NOM}=Masc человек|NOUN|{NOM}=Masc", None),
    ("ru", f"Я|{ICH} намного|ADJ|Number=Sing,Gender=Masc сильнее|ADV", None),
    ("ru", f"Работа|NOUN|{NOM}=Fem важна|ADJ|Number=Sing,Gender=Fem", None),
    ("ru", f"Заплачу|VERB|{FIRST},VerbForm=Fin за|ADP права|NOUN|Case=Acc,Number=Plur", None),
    # the instrumental behind a copula; молодой is a man's nominative as well
    (
        "ru",
        f"Я|{ICH} хочу|VERB|{FIRST},VerbForm=Fin быть|AUX|VerbForm=Inf сильным|ADJ|{INS}=Masc",
        M,
    ),
    ("ru", f"Важно|ADV быть|AUX|VerbForm=Inf сильным|ADJ|{INS}=Masc", None),
    ("ru", f"Я|{ICH} буду|AUX|{FIRST},VerbForm=Fin молодой|ADJ|{NOM}=Masc", None),
    ("ru", f"Я|{ICH} живу|VERB|{FIRST},VerbForm=Fin одна|ADJ|{NOM}=Fem", F),
    (
        "ru",
        f"Я|{ICH} живу|VERB|{FIRST},VerbForm=Fin один|ADJ|{ACC}=Masc день|NOUN|{ACC}=Masc",
        None,
    ),
    # quoted speech is somebody else's, unless all is quoted
    (
        "ru",
        f"Он|PRON|{NOM}=Masc говорит|VERB ~:|PUNCT «|PUNCT ~Я|{ICH} устала|VERB|{PAST}=Fem ~»|PUNCT",
        None,
    ),
    ("ru", f"«|PUNCT ~Я|{ICH} устала|VERB|{PAST}=Fem ~.|PUNCT ~»|PUNCT", F),
    # Spanish and Italian: adjectives and participles behind a copula of the first person
    ("es", f"Estoy|AUX|{FIRST} muy|ADV cansada|ADJ|Number=Sing", F),
    ("es", "Yo|PRON era|AUX tímido|ADJ|Number=Sing", M),
    ("es", "Me|PRON siento|VERB sola|ADJ|Number=Sing", F),
    ("es", "He|AUX sido|AUX|VerbForm=Part,Number=Sing elegida|VERB|VerbForm=Part,Number=Sing", F),
    ("es", "Soy|AUX una|DET persona|NOUN tímida|ADJ|Number=Sing", None),
    ("es", "Soy|AUX buena|ADJ|Number=Sing persona|NOUN", None),
    ("es", "Soy|AUX capaz|ADJ|Number=Sing,Gender=Fem", None),
    ("es", "Siento|VERB mucho|ADV", None),
    ("es", "Era|AUX tímida|ADJ|Number=Sing", None),
    ("it", "Sono|AUX andata|VERB|VerbForm=Part,Number=Sing", F),
    (
        "it",
        "Sono|AUX stata|AUX|VerbForm=Part,Number=Sing licenziata|VERB|VerbForm=Part,Number=Sing",
        F,
    ),
    ("it", "Sono|AUX stanche|ADJ|Number=Plur", None),
    ("it", "Ho|AUX mangiato|VERB|VerbForm=Part,Number=Sing", None),
    # French: behind a copula with je, or of the first person alone; with avoir nothing agrees
    ("fr", "Je|PRON suis|AUX fatiguée|ADJ|Number=Sing", F),
    ("fr", "Je|PRON suis|AUX très|ADV heureux|ADJ", M),
    ("fr", "Je|PRON suis|AUX arrivée|VERB|VerbForm=Part,Number=Sing", F),
    (
        "fr",
        "J'|PRON ~ai|AUX été|AUX|VerbForm=Part,Number=Sing élu|VERB|VerbForm=Part,Number=Sing",
        M,
    ),
    ("fr", "J'|PRON ~étais|AUX timide|ADJ|Number=Sing et|CCONJ seule|ADJ|Number=Sing", None),
    ("fr", "J'|PRON ~étais|AUX toute|ADV seule|ADJ|Number=Sing", F),
    ("fr", "Je|PRON me|PRON sens|VERB prête|ADJ|Number=Sing", F),
    ("fr", "Je|PRON me|PRON suis|AUX assise|VERB|VerbForm=Part,Number=Sing", F),
    (
        "fr",
        "Je|PRON me|PRON suis|AUX demandé|VERB|VerbForm=Part,Number=Sing,Gender=Masc pourquoi|ADV",
        None,
    ),
    ("fr", "J'|PRON ~ai|AUX mangé|VERB|VerbForm=Part,Number=Sing", None),
    ("fr", "Tu|PRON étais|AUX fatiguée|ADJ|Number=Sing", None),
    ("fr", "Je|PRON suis|AUX une|DET personne|NOUN timide|ADJ|Number=Sing", None),
    ("fr", "Je|PRON l'|PRON ~ai|AUX fait|VERB|VerbForm=Part moi-même|PRON", None),
    ("fr", "Elle|PRON est|AUX fatiguée|ADJ|Number=Sing", None),
    # Hebrew and Arabic: predicates of the present, in Hebrew verbs, too
    ("he", f"אני|{ICH} אוהבת|VERB|VerbForm=Part,Number=Sing,Gender=Fem", F),
    ("he", f"שאני|{ICH} אוהב|VERB|VerbForm=Part,Number=Sing,Gender=Masc", M),
    ("he", f"אני|{ICH} רוצה|VERB|VerbForm=Part,Number=Sing,Gender=Masc", None),
    ("he", f"הלכתי|VERB|{FIRST},Tense=Past", None),
    ("ar", f"أنا|{ICH} متعبة|ADJ|Number=Sing,Gender=Fem", F),
    ("ar", "أمي|NOUN|Number=Sing,Gender=Fem متعبة|ADJ|Number=Sing,Gender=Fem", None),
    # German shows nothing but nouns
    ("de", f"Ich|{ICH} bin|AUX|{FIRST} müde|ADJ", None),
    # both forms at once; a bracket of its own is none
    ("ru", f"Я|{ICH} устал|VERB|{PAST}=Masc ~(а)|X", N),
    ("cs", f"{JSEM} rád|ADJ ~/|PUNCT ~ráda|ADJ", N),
    ("ru", f"Я|{ICH} устала|VERB|{PAST}=Fem (да)|X", F),
]


@pytest.mark.parametrize(("code", "sentence", "expected"), SPOKEN)
def test_what_agrees_with_the_speaker(
    analyse: Callable[[str], Analysis], code: str, sentence: str, expected: Gender | None
) -> None:
    call = speaker_call("x", analyse(sentence), SplitTexts(get_language(code)))
    assert call.gender is expected
    if expected is None:
        assert (call.reason, call.evidence) == (Reason.NO_MORPHOLOGY, ())
    else:
        assert all(piece.gender is expected for piece in call.evidence) or expected is N
        assert len(call.target) == len(call.evidence) > 0


def test_words_that_contradict_each_other_are_ambiguous(analyse: Callable[[str], Analysis]) -> None:
    text = f"Я|{ICH} устала|VERB|{PAST}=Fem ~,|PUNCT и|CCONJ я|{ICH} лёг|VERB|{PAST}=Masc"
    call = speaker_call("x", analyse(text), SplitTexts(get_language("ru")))
    assert (call.gender, call.reason) == (None, Reason.AMBIGUOUS)
    assert [(e.word, e.gender, e.kind) for e in call.evidence] == [
        ("устала", F, "verb"),
        ("лёг", M, "verb"),
    ]
