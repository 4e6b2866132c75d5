"""Checking a run: shares above their limits, the sentences concerned, and the numbers without
them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import binomtest

from mtbias.corpora.corpus import GENDER
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.alarms import SIGNS, checks
from mtbias.types import Evidence, Gender, GenderCall, Reason, Span, Stereotype

M, F = Gender.MALE, Gender.FEMALE
MEN, WOMEN = ("Arzt", "Bäcker", "Lehrer", "Koch"), ("Ärztin", "Bäckerin", "Lehrerin", "Köchin")
ENTITIES = ("doctor", "baker", "teacher", "cook")
PERSON = Evidence("fixed_gender_noun", "noun", "Person", Span(4, 10), None, "lexicon", "Person")


def _record(n: int, *, translation: str | None = "", call: GenderCall | None = None) -> CallRecord:
    """The n-th sentence, with a good translation unless another is given; men and women in turn."""
    gold, kind = (M, F)[n % 2], (Stereotype.PRO, Stereotype.ANTI)[n // 2 % 2]
    entity, noun = ENTITIES[n % 4], (WOMEN if n % 2 else MEN)[n % 4]
    source = f"The {entity} number {n} came home because {('he', 'she')[n % 2]} was tired of the long meeting."
    good = f"{('Der', 'Die')[n % 2]} {noun} mit der Nummer {n} kam nach Hause, weil die lange Sitzung so müde machte."
    rule = ("masculine_noun", "feminine_noun")[n % 2]
    evidence = Evidence(rule, "noun", noun, Span(4, 4 + len(noun)), gold, "lexicon", noun)
    text = good if translation == "" else translation
    made = call or GenderCall(f"{n}", gold, None, (), (evidence,), stanza_gender=gold)
    return CallRecord(n, source, text, entity, gold, kind, "own", 1, made)


def _check(records: list[CallRecord]) -> dict[str, Any]:
    alarms: dict[str, Any] = checks(records, "de", GENDER, n_resamples=100, seed=0)["alarms"]
    return alarms


def _outside(n: int) -> GenderCall:
    found = (Evidence("noun_by_tagger", "noun", "Zug", Span(4, 7), M, "tagger", "Gender=Masc"),)
    return GenderCall(f"{n}", M, None, (), found, stanza_gender=M)


def test_good_translations_raise_nothing() -> None:
    found = _check([_record(n) for n in range(40)])
    assert found["raised"] == []
    # `no_glossary` is looked at where the source is not English, `source_unknown` where mtbias
    # translated.
    assert [share["n"] for share in found["shares"].values()] == [0] * (len(SIGNS) - 2)
    assert {share["of"] for share in found["shares"].values()} == {40}
    assert (found["concerned"], found["without"]) == (0, None)


def test_the_english_itself_is_announced() -> None:
    records = [_record(n) for n in range(25)]
    none = {n: GenderCall(f"{n}", None, Reason.NO_MORPHOLOGY) for n in range(25)}
    found = _check(
        [_record(n, translation=record.source, call=none[n]) for n, record in enumerate(records)]
    )
    assert {"other_language", "copies", "unrendered"} <= set(found["raised"])
    assert found["other_languages"] == {"en": 25}
    assert (found["concerned"], found["without"]) == (25, None)  # nothing is left


def test_lines_moved_by_one_are_announced() -> None:
    good = [_record(n) for n in range(40)]
    found = _check([_record(n, translation=good[n - 1].translation) for n in range(40)])
    assert found["raised"] == ["unrendered", "moved"]
    assert (
        found["shares"]["moved"]["n"] == 39
    )  # the first sentence's translation stands at no line near it


def test_the_numbers_without_the_calls_in_doubt_are_those_of_the_other_sentences() -> None:
    records = [_record(n, call=_outside(n)) if n < 20 else _record(n) for n in range(60)]
    found = _check(records)
    assert found["raised"] == ["outside_tables"]
    share = found["shares"]["outside_tables"]
    low, high = binomtest(20, 60).proportion_ci(0.95, method="wilson")
    assert (share["n"], share["of"], share["percent"]) == (20, 60, pytest.approx(100 / 3))
    assert share["interval"] == pytest.approx([100 * low, 100 * high], abs=1e-5)
    assert found["concerned"] == 20
    # All 40 others are right: 20 men, 20 women.
    without = found["without"]
    assert (without["n"], without["accuracy"], without["delta_g"], without["delta_s"]) == (
        40,
        100,
        0,
        0,
    )
    assert without["denominators"]["male"] == 20


def test_without_has_the_intervals_that_these_sentences_have_by_themselves() -> None:
    records = [_record(n, call=_outside(n)) if n < 20 else _record(n) for n in range(60)]
    from mtbias.scoring.scores import score

    alone = score(records[20:], n_resamples=100, seed=0).overall.to_json()
    alone.pop("ci_entities", None)  # of a whole corpus alone
    assert _check(records)["without"] == alone


def test_a_few_sentences_raise_nothing_by_chance() -> None:
    # One of five calls outside the tables is 20 %, its interval [3.6, 62.4]: below the limit of 8
    # at its lower end.
    found = _check([_record(n, call=_outside(n)) if n == 0 else _record(n) for n in range(5)])
    assert found["raised"] == []
    # One copy of five: [3.6, 62.4] is above 1 %, but one row alone tells nothing.
    found = _check([_record(0, translation=_record(0).source), *(_record(n) for n in range(1, 5))])
    assert found["shares"]["copies"]["n"] == 1
    assert found["raised"] == []


def test_a_share_of_nothing_is_undefined() -> None:
    share = _check([_record(0, translation=None, call=GenderCall("0", None, Reason.UNTRANSLATED))])[
        "shares"
    ]["copies"]
    assert (share["of"], share["percent"], share["interval"], share["above"]) == (
        0,
        None,
        None,
        False,
    )


def test_missing_translations_are_counted_and_nothing_else_is_said_of_them() -> None:
    call = GenderCall("0", None, Reason.UNTRANSLATED)
    found = _check([_record(0, translation=None, call=call), *(_record(n) for n in range(1, 11))])
    assert (found["shares"]["empty"]["n"], found["shares"]["empty"]["of"]) == (1, 11)
    assert {
        found["shares"][key]["of"]
        for key in ("other_language", "copies", "unaligned", "unrendered")
    } == {10}


def test_an_unknown_language_has_no_share_of_its_words() -> None:
    records = [_record(n) for n in range(5)]
    found = checks(records, "xx", GENDER, n_resamples=0, seed=0)["alarms"]
    assert found["shares"]["other_language"]["of"] == 0
    assert "unrendered" not in found["shares"]


def test_another_measures_translations_are_checked_too() -> None:
    records = [_record(n) for n in range(12)]
    found = checks(records, "de", "gest", n_resamples=0, seed=0)
    assert list(found) == ["alarms"]
    assert {"copies", "looping"} <= found["alarms"]["shares"].keys()
    assert "outside_tables" not in found["alarms"]["shares"]


def _read_twice(
    n: int, tables: Gender | None, stanza: Gender | None, form: str = "arzt"
) -> CallRecord:
    """The n-th sentence, in which one word was read by both."""
    reason = None if tables else Reason.NO_MORPHOLOGY
    call = GenderCall(f"{n}", tables, reason, (Span(4, 4 + len(form)),), stanza_gender=stanza)
    return _record(n, translation=f"Der {form.title()} der {n}. Woche kam.", call=call)


def test_the_agreement_of_the_readers_is_counted_where_both_call() -> None:
    calls = [
        *((M, M, "arzt") for _ in range(7)), (M, F, "arzt"), (M, F, "gast"), (M, None, "koch"),
        *((F, F, "wirtin") for _ in range(2)), (F, M, "wirtin"), (F, M, "wirtin"), (F, None, "wirtin"),
        (None, M, "chef"), (Gender.NEUTRAL, M, "chef"), (None, None, "chef"),
    ]  # fmt: skip
    records = [_read_twice(n, *one) for n, one in enumerate(calls)]
    found = checks(records, "de", GENDER, n_resamples=0, seed=0)
    # By hand: of 10 men Stanza calls 9, 7 of them men; of 5 women 4, 2 of them women; 4 of 13
    # differ.
    low, high = binomtest(7, 9).proportion_ci(0.95, method="wilson")
    men = found["readers"]["male"]
    assert (men["calls"], men["n"], men["of"], men["percent"]) == (10, 7, 9, pytest.approx(700 / 9))
    assert men["interval"] == pytest.approx([100 * low, 100 * high], abs=1e-5)
    women = found["readers"]["female"]
    assert (women["calls"], women["n"], women["of"], women["percent"]) == (5, 2, 4, 50)
    assert found["readers"]["words"] == [
        {"form": "wirtin", "tables": "female", "stanza": "male", "n": 2},
        {"form": "arzt", "tables": "male", "stanza": "female", "n": 1},
        {"form": "gast", "tables": "male", "stanza": "female", "n": 1},
    ]
    share = found["alarms"]["shares"]["readers_differ"]
    assert (share["n"], share["of"]) == (4, 13)


def test_a_run_of_an_earlier_release_has_no_second_reader() -> None:
    old = [
        replace(r, call=replace(r.call, stanza_gender=None))
        for r in (_record(n) for n in range(12))
    ]
    found = checks(old, "de", GENDER, n_resamples=0, seed=0)
    assert "readers_differ" not in found["alarms"]["shares"]
    assert [found["readers"][g]["of"] for g in ("male", "female")] == [0, 0]
    line = {key: value for key, value in old[0].to_json().items() if key != "stanza_gender"}
    assert CallRecord.from_line(json.dumps(line)) == old[0]


def test_letters_that_lost_their_marks_everywhere_are_announced() -> None:
    def share(change: Callable[[str], str], n: int) -> Any:
        records = [_record(k, translation=change(str(_record(k).translation))) for k in range(n)]
        return checks(records, "de", "gest", n_resamples=0, seed=0)["alarms"]["shares"]["unmarked"]

    plain = str.maketrans("äöüÄÖÜ", "aouAOU")
    # Every sentence has "für", "müde" or the like: "so müde machte".
    assert (share(str, 40)["n"], share(str, 40)["above"]) == (0, False)
    stripped = share(lambda text: text.translate(plain), 40)
    assert (stripped["n"], stripped["of"], stripped["above"]) == (40, 40, True)
    hebrew = [
        replace(_record(k), translation="הרופא אמר לאחות שהוא בא הביתה מוקדם היום")
        for k in range(40)
    ]
    assert "unmarked" not in checks(hebrew, "he", GENDER, n_resamples=0, seed=0)["alarms"]["shares"]


def test_one_row_in_200_that_is_certainly_damaged_is_announced() -> None:
    def raised(text: str, n: int) -> Any:
        records = [_record(k, translation=text if k == 3 else "") for k in range(n)]
        return checks(records, "de", GENDER, n_resamples=0, seed=0)["alarms"]["raised"]

    lost = "Der Bäcker mit der Nummer 3 kam nach Hause, weil die lange Sitzung so m\ufffdde machte."
    assert raised(lost, 200) == ["damaged"]  # one in 200
    assert raised(lost, 201) == [], "one of 201: [0.1, 2.8] per cent is below 1 at its lower end"
    assert raised(lost.replace("\ufffd", "ü"), 10) == []


def test_characters_that_no_good_text_has_are_named() -> None:
    records = [
        _record(k, translation=str(_record(k).translation).replace("kam", "k■am"))
        for k in range(10)
    ]
    found = _check(records)
    assert "damaged" in found["raised"]
    assert found["unusual_characters"] == {"■": 10}


def test_each_reason_without_a_call_has_a_share() -> None:
    reasons = [
        Reason.NO_MORPHOLOGY,
        Reason.AMBIGUOUS,
        Reason.COPIED,
        Reason.NO_PERSON,
        Reason.UNALIGNED,
    ]
    calls = {n: GenderCall(f"{n}", None, reasons[n % 5]) for n in range(30)}
    found = _check([_record(n, call=calls.get(n)) for n in range(60)])
    for sign in ("no_morphology", "ambiguous", "copied", "no_person", "unaligned"):
        assert (found["shares"][sign]["n"], found["shares"][sign]["of"]) == (6, 60)
    # 6 of 60: [4.7, 20.1] per cent.
    silent = GenderCall("0", None, Reason.NO_MORPHOLOGY, (), (PERSON,))
    found = _check([_record(0, call=silent), *(_record(n) for n in range(1, 20))])
    share = found["shares"]["no_morphology"]
    assert (share["n"], share["of"]) == (0, 19), "nouns of fixed gender are the corpus's doing"


def test_nouns_of_fixed_gender_are_counted_where_the_main_numbers_are() -> None:
    fixed = GenderCall("x", None, Reason.NO_MORPHOLOGY, (), (PERSON,))
    shown = [_record(n, call=fixed if n < 3 else None) for n in range(12)]
    unknown = [replace(_record(n, call=fixed), gold=None) for n in range(12, 20)]
    for records, n, of in ((shown + unknown, 3, 12), (unknown, 8, 8)):
        found = checks(records, "de", GENDER, n_resamples=0, seed=0)["grammatical_gender_only"]
        assert found == {"n": n, "percent": pytest.approx(100 * n / of)}


def test_what_metrics_json_gets() -> None:
    found = checks([_record(n) for n in range(12)], "de", GENDER, n_resamples=0, seed=0)
    assert list(found) == [
        "grammatical_gender_only",
        "evidence_classes",
        "expected_wrong",
        "readers",
        "alarms",
    ]
    assert found["evidence_classes"]["noun in the table"] == {"male": 6, "female": 6, "neutral": 0}
    assert found["grammatical_gender_only"] == {"n": 0, "percent": 0}
