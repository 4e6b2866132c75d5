"""Two measures of the same translations: what a sentence counts as, and runs that do not belong together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from mtbias.errors import DataError
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.crosscheck import crosscheck
from mtbias.scoring.reference_words import FoundWords, WordRecord
from mtbias.types import Gender, GenderCall, Reason, Stereotype

M, F = Gender.MALE, Gender.FEMALE


@dataclass
class Run:
    """As much of a run as is needed."""

    measure: str
    calls: list[Any]
    system: str = "s"
    lang: str = "de"
    signature: str = field(default="signed")


def by_words(source: str, *, right: str = "", wrong: str = "", translation: str | None = "t") -> WordRecord:
    """A sentence with these words of the two references."""
    found = FoundWords(tuple(right.split()), tuple(wrong.split()))
    correct = None if translation is None else not found.wrong
    return WordRecord(source, 0, source, translation, F, "other", "r", correct, found)


def person(source: str, gold: Gender, gender: Gender | None, *, number: int = 1, translation: str = "t") -> CallRecord:
    """A person of that sentence, with the gender that was read."""
    reason = None if gender else Reason.NO_MORPHOLOGY
    call = GenderCall(f"{source}-{number}", gender, reason)
    return CallRecord(0, source, translation, "baker", gold, Stereotype.NONE, "wikipedia", 0, call)


WORDS = [
    by_words("a", right="Bäckerin"),
    by_words("b", right="Sie", wrong="Bäcker"),
    by_words("c", wrong="der"),
    by_words("d"),
    by_words("e", right="Sie"),
    by_words("f", wrong="der"),
    by_words("g", translation=None),
]
PERSONS = [
    person("a", F, F),
    person("b", F, F),
    person("b", F, M, number=2),  # one of two in the wrong gender: the sentence is wrong
    person("c", F, F),
    person("c", M, None, number=2),  # one of two without a call: the other one decides
    person("d", F, M),
    person("e", F, None),
]


def test_sentences_are_counted_by_both_measures() -> None:
    found = crosscheck(Run("mt-geneval", WORDS), Run("gender", PERSONS))
    none = {"right": 0, "wrong": 0, "no call": 0, "no person": 0}
    assert found.table == {
        "right": {**none, "right": 1, "no call": 1},
        "right without evidence": {**none, "wrong": 1},
        "wrong": {**none, "right": 1, "wrong": 1, "no person": 1},
        "untranslated": {**none, "no person": 1},
    }
    # a, b, c and d are decided by both; of them a and b alike.
    assert (found.agreement.value, found.agreement.n) == (50.0, 4)
    assert [sentence.words.id for sentence in found.differing] == ["c", "d"]
    assert crosscheck(Run("gender", PERSONS), Run("mt-geneval", WORDS)).table == found.table  # in any order


def test_as_a_plain_value_it_has_counts_and_the_evidence_of_both() -> None:
    found = crosscheck(Run("mt-geneval", WORDS), Run("gender", PERSONS))
    plain = found.to_json()
    assert (plain["n"], plain["decided"], plain["differing"], plain["agreement"]) == (7, 4, 2, 50.0)
    low, high = plain["agreement_interval"]
    assert (round(low, 1), round(high, 1)) == (15.0, 85.0)  # Wilson, 2 of 4 (Newcombe 1998, method 3, by hand)
    first = found.differing[0].to_json()
    assert (first["by_words"], first["by_persons"], first["words"]) == (
        "wrong",
        "right",
        {"right": [], "wrong": ["der"]},
    )
    assert [(line["id"], line["gender"], line["reason"]) for line in first["persons"]] == [
        ("c-1", "female", None),
        ("c-2", None, "no morphology"),
    ]


def test_where_nothing_is_decided_there_is_no_agreement() -> None:
    found = crosscheck(Run("mt-geneval", WORDS[4:5]), Run("gender", PERSONS[-1:]))
    assert (found.agreement.value, found.agreement.interval, found.to_json()["agreement"]) == (None, None, None)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Run("mt-geneval", WORDS), "a run of the measure mt-geneval and one of the measure gender, got mt-geneval and"),
        (Run("gender", PERSONS, lang="es"), "expected runs of one language, got de and es"),
        (
            Run("gender", [*PERSONS, person("z", F, F)]),
            "expected runs over the same sentences, got 1 of 8 persons in sentences .* the first is z-1",
        ),
        (
            Run("gender", [person("a", F, F, translation="another")]),
            "expected two runs over the same translations, got other ones for a",
        ),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(other: Run, said: str) -> None:
    with pytest.raises(DataError, match=said):
        crosscheck(Run("mt-geneval", WORDS), other)
