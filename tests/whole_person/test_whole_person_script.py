"""``scripts/labels.py whole-person``: what it counts, and a person as a corpus would have it."""

from __future__ import annotations

from dataclasses import replace

from mtbias.scoring.whole_person import Outcome, PersonRecord, Unjudged
from mtbias.types import Gender, Span
from scripts.label_sets.whole_person import count, describe, instance_of
from scripts.label_sets.whole_person_labels import LabelledOutcome as Label
from scripts.label_sets.whole_person_labels import LabelledPerson
from scripts.labelled import line_of

SOURCE = "She left. <sep> Ann was a cook."


def labelled(outcome: Label) -> LabelledPerson:
    start = SOURCE.index("cook")
    return LabelledPerson(
        text="context-original-1",
        source=SOURCE,
        target="Ann era cocinera.",
        entity=Span(start, start + 4),
        gender=Gender.FEMALE,
        outcome=outcome,
        right=("cocinera",) if outcome in ("right", "mixed") else (),
        wrong=(),
        part="dev",
        note="",
        line=2,
    )


def judged(outcome: Outcome | None) -> PersonRecord:
    return PersonRecord(
        id="1",
        row=0,
        source="Ann was a cook.",
        translation="Ann era cocinera.",
        entity="cook",
        gold=Gender.FEMALE,
        domain="context-original",
        outcome=outcome,
        reason=None if outcome else Unjudged.NOTHING_SHOWN,
        mentions=(),
    )


def test_precision_and_recall_are_of_wrong_and_mixed_together() -> None:
    labels: list[Label] = ["right", "right", "mixed", "wrong", "none", "wrong"]
    called = [Outcome.RIGHT, Outcome.WRONG, Outcome.WRONG, Outcome.WRONG, None, None]
    rows = [(labelled(a), judged(b)) for a, b in zip(labels, called, strict=True)]
    counts = count(rows)
    # called wrong or mixed: 3, of which the labels of 2 are; so labelled: 3, of which 2 are called;
    # with both a call and a label: the first four, of which the first and the fourth are alike
    assert counts == {"called": (4, 6), "precision": (2, 3), "recall": (2, 3), "same": (2, 4)}


def test_a_share_of_nobody_has_no_value() -> None:
    shown = line_of("es", count([(labelled("right"), judged(Outcome.RIGHT))]), intervals=True)
    assert "precision     – (0/0)" in shown
    # Wilson's interval of 1 of 1: from 1/(1 + 1.96²) = 0.207 to 1.
    assert "called 100.0 % [21, 100] (1/1)" in shown


def test_the_second_sentence_is_the_source() -> None:
    instance = instance_of(labelled("right"), 3)
    assert instance.source == "Ann was a cook."
    assert instance.source[slice(*instance.head)] == instance.entity == "cook"
    assert (instance.domain, instance.gold, instance.row) == ("context-original", Gender.FEMALE, 3)


def test_a_row_that_differs_names_label_and_call() -> None:
    person = replace(labelled("right"), note="a note")
    said = describe(person, judged(None)).splitlines()
    assert said[0] == "1 female: label right (right cocinera; wrong ); got nothing shown a note"
    assert said[1:] == ["    Ann was a cook.", "    Ann era cocinera."]
