"""What a translation does with the person's gender: one sentence for each strategy, and what is
none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading import decide
from mtbias.types import Alignment, Candidate, GenderCall, Reason, Span, Strategy, Trust
from tests.reading.conftest import analysis_of

Call = Callable[..., GenderCall]
S = Strategy


@pytest.mark.parametrize(
    ("lang", "number", "sentence", "does"),
    [
        ("de", "pl", "Die|DET *Lehrer|NOUN lernen|VERB", S.MALE),
        ("de", "pl", "Die|DET *Lehrer*innen|NOUN lernen|VERB", S.STAR),
        ("de", "pl", "Die|DET *Lehrer:innen|NOUN lernen|VERB", S.COLON),
        ("de", "pl", "Die|DET *Lehrer_innen|NOUN lernen|VERB", S.GAP),
        ("de", "pl", "Die|DET *LehrerInnen|NOUN lernen|VERB", S.CAPITAL),
        ("de", "pl", "Die|DET *Lehrer|NOUN ~/|PUNCT ~-innen|X lernen|VERB", S.SLASH),
        ("de", "pl", "Die|DET *Lehrer(innen)|NOUN lernen|VERB", S.BRACKETS),
        ("de", "pl", "Die|DET *Lehrer-(innen)|NOUN lernen|VERB", S.BRACKETS),
        ("de", "pl", "Die|DET *Student(inn)en|NOUN lernen|VERB", S.BRACKETS),
        (
            "de",
            "pl",
            "Die|DET *Lehrerinnen|NOUN bzw|CCONJ ~.|PUNCT Lehrer|NOUN lernen|VERB",
            S.PAIR,
        ),
        ("de", "sg", "Der|DET ~/|PUNCT ~die|DET *Angestellte|NOUN lernt|VERB", S.SLASH),
        ("de", "pl", "*Lehrerinnen|NOUN und|CCONJ Lehrer|NOUN lernen|VERB", S.PAIR),
        ("de", "pl", "Liebe|ADJ *Lehrerinnen|NOUN und|CCONJ liebe|ADJ Lehrer|NOUN", S.PAIR),
        ("de", "pl", "Liebe|ADJ *Lehrerinnen|NOUN und|CCONJ alte|ADJ Lehrer|NOUN", S.FEMALE),
        ("es", "pl", "Los|DET y|CCONJ las|DET *docentes|NOUN enseñan|VERB", S.PAIR),
        ("fr", "pl", "Les|DET *étudiant·e·s|NOUN lisent|VERB", S.POINT),
        ("fr", "pl", "Les|DET *étudiant-e-s|NOUN lisent|VERB", S.POINT),
        ("fr", "sg", "Un(e)|DET *journaliste|NOUN écrit|VERB", S.BRACKETS),
        ("he", "sg", "*העובד/ת|NOUN הלך|VERB", S.SLASH),
        ("es", "pl", "*niñes|NOUN juegan|VERB", S.ENDING),
        ("es", "pl", "*médiques|NOUN curan|VERB", S.ENDING),
        ("it", "pl", "*ragazz*|NOUN giocano|VERB", S.ENDING),
        ("it", "pl", "*autorɜ|NOUN scrivono|VERB", S.ENDING),
        ("de", "pl", "Die|DET *Studierenden|NOUN lernen|VERB", S.PARTICIPLE),
        ("de", "sg", "Der|DET *Studierende|NOUN lernt|VERB", S.MALE),
        ("de", "sg", "Die|DET *Studierende|NOUN lernt|VERB", S.FEMALE),
        ("de", "sg", "Die|DET *Lehrkraft|NOUN lernt|VERB", S.COMPOUND),
        ("de", "sg", "Die|DET *Kraft|NOUN lernt|VERB", S.EPICENE),
        (
            "de",
            "pl",
            "Die|DET *Gäste|NOUN essen|VERB",
            S.EPICENE,
        ),  # ends like a participle, and is of fixed gender
        ("de", "sg", "Das|DET *Reinigungspersonal|NOUN lernt|VERB", S.COLLECTIVE),
        ("es", "sg", "La|DET *persona|NOUN encargada|ADJ salió|VERB", S.COMPOUND),
        (
            "es",
            "sg",
            "La|DET *persona|NOUN que|PRON|PronType=Int,Rel limpia|VERB salió|VERB",
            S.COMPOUND,
        ),
        ("es", "sg", "La|DET *persona|NOUN salió|VERB", S.EPICENE),
        ("fr", "sg", "Le|DET *corps|NOUN enseignant|ADJ écrit|VERB", S.COLLECTIVE),
        ("fr", "pl", "Les|DET *membres|NOUN du|ADP personnel|NOUN écrivent|VERB", S.COMPOUND),
        ("it", "sg", "Il|DET *personale|NOUN lavora|VERB", S.COLLECTIVE),
        ("pt", "sg", "O|DET *professorado|NOUN ensina|VERB", S.COLLECTIVE),
        ("es", "pl", "*Estudiantes|NOUN leen|VERB", S.EPICENE),
        (
            "es",
            "pl",
            "*Agentes|NOUN leen|VERB",
            S.EPICENE,
        ),  # ends like "gente", and is of common gender
        ("de", "sg", "Er|PRON lernt|VERB", S.OMITTED),
        ("de", "sg", "Der|DET *Wagen|NOUN fährt|VERB", S.OMITTED),
        ("de", "sg", "dem|DET *Sekretärin|NOUN", None),
    ],
)
def test_strategies(
    call: Call, lang: str, number: str, sentence: str, does: Strategy | None
) -> None:
    language = get_language(lang)
    found = call(language, sentence, number=number, translations=("lehrer", "lehrerinnen"))
    assert found.does is does, found


def test_a_thing_in_the_persons_place_is_no_omission_and_an_office_is_a_collective(
    call: Call,
) -> None:
    spanish = get_language("es")
    thing = call(spanish, "El|DET *motor|NOUN corre|VERB", translations=("motor",))
    office = call(spanish, "La|DET *dirección|NOUN llama|VERB", translations=("dirección",))
    address = call(spanish, "La|DET *dirección|NOUN llama|VERB")
    assert [c.reason for c in (thing, office, address)] == [Reason.NO_PERSON] * 3
    assert [c.does for c in (thing, office, address)] == [None, S.COLLECTIVE, S.OMITTED]


def test_where_other_people_are_left_nobody_can_say_who_is_rendered() -> None:
    analysis, target = analysis_of("Der|DET Arzt|NOUN und|CCONJ der|DET Lehrer|NOUN *lernen|VERB")
    aligned = Candidate(target, "links")
    doctor = Candidate((Span(4, 8),), "lexicon", Trust.ONLY_PERSON)
    teacher = Candidate((Span(17, 23),), "lexicon", Trust.ONLY_PERSON)
    texts = SplitTexts(get_language("de"))
    both = Alignment("x", (aligned, doctor, teacher))
    assert decide(both, analysis, texts).does is S.UNALIGNED
    # The only one is taken.
    assert decide(Alignment("x", (aligned, doctor)), analysis, texts).does is S.MALE
