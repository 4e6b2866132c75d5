"""Persons whose words are all right, mixed or all wrong, as a man's and as a woman's, in each
language: what each sentence shows was derived by hand from its grammar.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from mtbias.evaluation.person_calls import PersonMeasure
from mtbias.scoring.whole_person import Outcome, PersonRecord
from mtbias.types import Gender, Instance, Span, Stereotype
from scripts.label_sets.whole_person import measure_of

NAME = "{name} was a teacher. {She} lived in London."
"""The name, what the person was, and a pronoun."""
PLAIN = "The teacher said that {she} was tired."
PRONOUNS = {Gender.MALE: "he", Gender.FEMALE: "she"}

# For each language the translations of NAME and PLAIN about a woman and about a man, and one that
# has words of both: a woman's noun with a man's pronoun or predicate.
LANGUAGES = {
    "ar": (
        ("كانت ماريا معلمة. عاشت في لندن.", "كان ماريا معلما. عاش في لندن."),
        ("قالت المعلمة إنها متعبة.", "قال المعلم إنه متعب."),
        "",
    ),
    "cs": (
        ("Maria byla učitelka. Žila v Londýně.", "Maria byl učitel. Žil v Londýně."),
        ("Učitelka řekla, že ona je unavená.", "Učitel řekl, že on je unavený."),
        "Maria byla učitel. Žila v Londýně.",
    ),
    "de": (
        ("Maria war Lehrerin. Sie lebte in London.", "Maria war Lehrer. Er lebte in London."),
        ("Die Lehrerin sagte, dass sie müde war.", "Der Lehrer sagte, dass er müde war."),
        "Maria war Lehrer. Sie lebte in London.",
    ),
    "es": (
        ("Maria era maestra. Ella vivía en Londres.", "Maria era maestro. Él vivía en Londres."),
        ("La maestra dijo que ella tenía sueño.", "El maestro dijo que él tenía sueño."),
        "Maria era maestro. Ella vivía en Londres.",
    ),
    "fr": (
        (
            "Maria était institutrice. Elle vivait à Londres.",
            "Maria était instituteur. Il vivait à Londres.",
        ),
        (
            "L'institutrice a dit qu'elle avait sommeil.",
            "L'instituteur a dit qu'il avait sommeil.",
        ),
        "Maria était instituteur. Elle vivait à Londres.",
    ),
    "he": (
        ("מריה הייתה מורה. היא גרה בלונדון.", "מריה היה מורה. הוא גר בלונדון."),
        ("המורה אמרה שהיא עייפה.", "המורה אמר שהוא עייף."),
        "",
    ),
    "it": (
        ("Maria era maestra. Lei viveva a Londra.", "Maria era maestro. Lui viveva a Londra."),
        ("La maestra disse che lei aveva sonno.", "Il maestro disse che lui aveva sonno."),
        "Maria era maestro. Lei viveva a Londra.",
    ),
    "pt": (
        (
            "Maria era professora. Ela vivia em Londres.",
            "Maria era professor. Ele vivia em Londres.",
        ),
        ("A professora disse que ela tinha sono.", "O professor disse que ele tinha sono."),
        "Maria era professor. Ela vivia em Londres.",
    ),
    "ru": (
        ("Мария была учительницей. Она жила в Лондоне.", "Мария был учителем. Он жил в Лондоне."),
        ("Учительница сказала, что она устала.", "Учитель сказал, что он устал."),
        "Мария была учителем. Она жила в Лондоне.",
    ),
    "uk": (
        ("Марія була вчителькою. Вона жила в Лондоні.", "Марія був учителем. Він жив у Лондоні."),
        ("Учителька сказала, що вона втомилася.", "Учитель сказав, що він утомився."),
        "Марія була учителем. Вона жила в Лондоні.",
    ),
}


@pytest.fixture(scope="module")
def measures(stanza_dir: Path) -> Callable[[str], PersonMeasure]:
    """The measure of a language, opened once."""
    return cache(lambda lang: measure_of(lang, stanza_dir))


def person(source: str, entity: str, gold: Gender) -> Instance:
    start = source.index(entity)
    return Instance(
        id="1",
        row=0,
        source=source,
        head=Span(start, start + len(entity)),
        entity=entity.lower(),
        gold=gold,
        stereotype=Stereotype.NONE,
        domain="test",
        pronouns=1,
    )


def judged(
    measure: PersonMeasure, source: str, entity: str, gold: Gender, text: str
) -> PersonRecord:
    (record,) = measure.judge_texts([person(source, entity, gold)], [text])
    return record


def named(gold: Gender) -> str:
    return NAME.format(name="Maria", She=PRONOUNS[gold].title())


@pytest.mark.parametrize("gold", [Gender.MALE, Gender.FEMALE])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_man_and_a_woman(
    measures: Callable[[str], PersonMeasure], lang: str, gold: Gender
) -> None:
    by_name, plain, _ = LANGUAGES[lang]
    sources = {
        by_name: named(gold),
        plain: PLAIN.format(she=PRONOUNS[gold]),
    }
    for (of_woman, of_man), source in sources.items():
        right, wrong = (of_woman, of_man) if gold is Gender.FEMALE else (of_man, of_woman)
        outcomes = [
            judged(measures(lang), source, "teacher", gold, text).outcome for text in (right, wrong)
        ]
        assert outcomes == [Outcome.RIGHT, Outcome.WRONG], source


@pytest.mark.parametrize("lang", [lang for lang, texts in LANGUAGES.items() if texts[-1]])
def test_words_of_both_genders(measures: Callable[[str], PersonMeasure], lang: str) -> None:
    for gold in (Gender.MALE, Gender.FEMALE):
        record = judged(measures(lang), named(gold), "teacher", gold, LANGUAGES[lang][-1])
        assert record.outcome is Outcome.MIXED
        assert {word.right for word in record.words} == {True, False}
