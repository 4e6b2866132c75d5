"""Calls that are expected to be wrong: classes of evidence, rates of labelled calls, the interval
of their sum."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest
from scipy.stats import binomtest

from mtbias.scoring.evidence import (
    OUTSIDE,
    TABLE,
    ErrorRate,
    EvidenceClass,
    count_classes,
    evidence_class,
    expected_wrong,
    shipped_rates,
    sum_expected,
    withheld,
)
from mtbias.types import Evidence, Gender, GenderCall, Reason, Span

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL


def _noun(rule: str, word: str, gender: Gender | None, source: str, shows: str = "") -> Evidence:
    return Evidence(rule, "noun", word, Span(4, 4 + len(word)), gender, source, shows)


IN_TABLE = _noun("masculine_noun", "Arzt", M, "lexicon", "Arzt")
SILENT = _noun("common_noun", "Angestellte", None, "lexicon", "Angestellte")
UNKNOWN = _noun("noun_by_tagger", "Sheriffin", None, "tagger", "no gender")
ARTICLE = Evidence("article", "determiner", "die", Span(0, 3), F, "form", "f.nom.sg")


def _call(gender: Gender | None, *evidence: Evidence) -> GenderCall:
    return GenderCall("x", gender, None if gender else Reason.NO_MORPHOLOGY, (), evidence)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (_call(M, IN_TABLE), EvidenceClass.NOUN),
        (_call(M, _noun("generic_masculine", "врач", M, "lexicon")), EvidenceClass.GENERIC),
        (_call(F, ARTICLE, SILENT), EvidenceClass.AGREEMENT),
        (_call(F, ARTICLE, UNKNOWN), EvidenceClass.AGREEMENT_OUTSIDE),
        (_call(F, _noun("feminine_noun", "Sheriffin", F, "form", "-in")), EvidenceClass.ENDING),
        (_call(F, _noun("noun_by_tagger", "Pastora", F, "tagger")), EvidenceClass.TAGGER),
        (_call(N, _noun("ending_written_on", "Lehrer*in", N, "form")), EvidenceClass.BOTH),
        (_call(M), EvidenceClass.AGREEMENT_OUTSIDE),
        (_call(None, SILENT), None),
    ],
)
def test_what_a_call_rests_on(call: GenderCall, kind: EvidenceClass | None) -> None:
    assert evidence_class(call) is kind


def test_both_forms_are_known_words() -> None:
    assert EvidenceClass.BOTH not in OUTSIDE
    assert EvidenceClass.AGREEMENT not in OUTSIDE


def test_only_a_noun_of_fixed_gender_withholds_a_call() -> None:
    fixed = _noun("fixed_gender_noun", "Person", None, "lexicon", "Person")
    assert withheld(_call(None, fixed))
    assert not withheld(_call(None, SILENT))


def test_one_class_has_wilsons_interval_of_its_rate() -> None:
    # 2 of 40 labelled calls are wrong: of 1,000 calls 50 are expected, from 1,000 times Wilson's
    # ends.
    low, high = binomtest(2, 40).proportion_ci(0.95, method="wilson")
    found = expected_wrong(
        {(EvidenceClass.NOUN, M): 1000}, {(EvidenceClass.NOUN, M): ErrorRate(40, 2)}
    )["male"]
    assert found["expected"] == 50
    assert found["interval"] == pytest.approx([1000 * low, 1000 * high], abs=1e-4)


def test_the_interval_of_a_sum_is_narrower_than_the_sum_of_intervals() -> None:
    # By hand: e 10 [4, 18] and 5 [1, 11]: 15 - √(36 + 16) = 7.789, 15 + √(64 + 36) = 25.
    total, (low, high) = sum_expected([(10, (4, 18)), (5, (1, 11))], 100)
    assert [total, low, high] == pytest.approx([15, 15 - sqrt(52), 25])
    assert (
        sum_expected([(10, (4, 18)), (5, (1, 11))], 20)[1][1] == 20
    )  # never more than there are calls


def test_too_few_labels_give_no_number() -> None:
    kinds = {(EvidenceClass.NOUN, F): 100, (EvidenceClass.TAGGER, F): 7}
    found = expected_wrong(
        kinds,
        {(EvidenceClass.NOUN, F): ErrorRate(10, 0), (EvidenceClass.TAGGER, F): ErrorRate(9, 4)},
    )
    assert (
        found["female"]["calls"],
        found["female"]["estimated"],
        found["female"]["expected"],
    ) == (107, 100, 0)
    assert found["by_class"]["tagger, noun outside the table"]["female"] == {
        "calls": 7, "labels": 9, "wrong": 4, "expected": None, "interval": None,
    }  # fmt: skip
    assert found["male"] == {"calls": 0, "estimated": 0, "expected": None, "interval": None}


def test_calls_are_counted_by_class_and_gender() -> None:
    calls = [_call(M, IN_TABLE), _call(M, IN_TABLE), _call(F, ARTICLE, SILENT), _call(None, SILENT)]
    assert count_classes(calls) == {(EvidenceClass.NOUN, M): 2, (EvidenceClass.AGREEMENT, F): 1}


def test_the_rates_that_ship_are_counts_of_labels_of_the_language() -> None:
    german, hebrew = shipped_rates("de"), shipped_rates("he")
    assert german != hebrew
    assert all(
        0 <= rate.wrong <= rate.labels for rates in (german, hebrew) for rate in rates.values()
    )
    assert german[EvidenceClass.NOUN, M].labels >= 10
    assert shipped_rates("xx") == {}


def test_a_language_without_labels_has_no_number() -> None:
    found = expected_wrong({(EvidenceClass.NOUN, M): 100}, shipped_rates("xx"))
    assert (found["labels"], found["male"]["expected"], found["male"]["interval"]) == (
        0,
        None,
        None,
    )


def test_the_manual_has_the_sums_of_the_table_that_ships() -> None:
    root = Path(__file__).resolve().parents[2]
    manual = " ".join((root / "docs" / "alarms.md").read_text(encoding="utf-8").split())
    shipped = (root / "mtbias" / "scoring" / "data" / TABLE).read_text(encoding="utf-8")
    rows = [line.split("\t") for line in shipped.splitlines() if not line.startswith("#")][1:]
    labels, wrong = (sum(int(row[column]) for row in rows) for column in (3, 4))
    assert f"of {labels} calls on labelled persons {wrong} are wrong" in manual
