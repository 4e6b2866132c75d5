"""The tables of a comparison: what stands in them, in every form, and names that are markup."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from mtbias.report.comparison_tables import render_comparison
from mtbias.scoring.bias import GENDER_COUNTING, count
from mtbias.scoring.comparable_runs import SystemNumbers, SystemPair
from mtbias.scoring.comparison import Comparison
from mtbias.scoring.counting import EntityIntervals
from mtbias.scoring.statements import Statement
from mtbias.scoring.weighted import Weighting
from mtbias.stats.balance import Balance
from mtbias.stats.paired import McNemar
from mtbias.stats.results import Difference, Estimate
from mtbias.types import Gender, Stereotype

M, F = Gender.MALE, Gender.FEMALE
NUMBERS = ("accuracy", "delta_g", "delta_s")


def _system(name: str, *values: float) -> SystemNumbers:
    plain = {key: Estimate(v, (v - 1, v + 1)) for key, v in zip(NUMBERS, values, strict=True)}
    return SystemNumbers(
        "de", name, f"{name:0<16}", GENDER_COUNTING.group(count([]), 0, 0), plain, {}
    )


FIRST, SECOND = _system("alpha", 52.91, 24.83, 18.75), _system("beta", 70.32, 3.91, 15.47)
PAIR = SystemPair(
    lang="de",
    first="alpha",
    second="beta",
    plain={
        "accuracy": Difference(52.91, 70.32, -17.41, (-18.75, -16.05), 0.0005, 0.0015),
        "delta_g": Difference(24.83, 3.91, 20.92, None, 0.04, 0.12),
        "delta_s": Difference(None, 15.47, None, None, None, None),
    },
    weighted={},
    consistency={"across": Difference(74.69, 37.99, 36.71, (34.07, 39.21), 0.0005, 0.001)},
    differing=948,
    mcnemar=McNemar(1962, 95, 772, 1059, 1e-9),
)
PLAIN = Comparison(
    dataset="winomt",
    files={},
    rows={
        "n": 3888,
        "male": 1826,
        "female": 1822,
        "pro": 1584,
        "anti": 1584,
        "pairs": 1798,
        "quadruples": 0,
    },
    systems=(FIRST, SECOND),
    pairs=(PAIR,),
    weightings={},
    evaluators={},
    n_resamples=2000,
    seed=0,
)


def _flat(line: str) -> str:
    """The line with one blank between its cells."""
    return " ".join(line.split())


def test_intervals_over_entities_have_a_table_of_their_own() -> None:
    def over(**ends: tuple[float, float] | None) -> EntityIntervals:
        return EntityIntervals(
            104, {**dict.fromkeys(("accuracy", "delta_g", "delta_s")), **ends}, None
        )

    compared = replace(
        PLAIN,
        systems=tuple(
            replace(s, over_entities=over(accuracy=(47.04, 58.36))) for s in PLAIN.systems
        ),
        pairs=(replace(PAIR, over_entities=over(accuracy=(-26.2, -9.1))),),
        methods={"accuracy": "wilson", "delta_g": "bootstrap", "delta_s": "bootstrap"},
    )
    assert "104 entities" not in render_comparison(compared)
    text = render_comparison(compared, full=True)
    assert "Per cent [95 % interval over sentences]" in text
    assert "Intervals: Wilson for the accuracy of a system, bootstrap for all others\n" in text
    lines = [
        _flat(line)
        for line in text[text.index("Per cent [95 % interval over 104 entities]") :].splitlines()
    ]
    assert lines[2].startswith("de alpha 52.9 [47.0, 58.4] ")
    assert lines[4].startswith("alpha - beta -17.4 [-26.2, -9.1] * ")
    assert lines[5].startswith(
        "Intervals over sentences: other sentences about these entities; over entities: other"
    )
    row = next(r for r in compared.table() if r["minus"] == "beta" and r["number"] == "accuracy")
    assert (row["low_entities"], row["high_entities"]) == (-26.2, -9.1)
    plain = compared.to_json()["pairs"][0]["plain"]
    assert plain["accuracy"]["interval_entities"] == [-26.2, -9.1]
    assert plain["delta_g"]["interval_entities"] is None
    few = EntityIntervals(3, None, "expected 10 entities or more, got 3")
    without = replace(PLAIN, systems=tuple(replace(s, over_entities=few) for s in PLAIN.systems))
    assert "No intervals over entities: expected 10 entities or more, got 3\n" in render_comparison(
        without
    )
    assert without.to_json()["entity_intervals"]["reason"] == few.reason


def test_the_finding_stands_above_one_table_and_all_is_one_option_away() -> None:
    said = (
        Statement("better", "beta is better. " * 6),
        Statement("bias_differs", "They *differ*."),
    )
    one = replace(PLAIN, finding=said)
    lines = render_comparison(one).splitlines()
    assert lines[:4] == [
        "beta is better. " * 4 + "beta is better.",
        "  beta is better.",
        "They *differ*.",
        "",
    ]
    assert len(lines) <= 14
    assert render_comparison(one, "markdown").startswith("beta is better. ")
    assert "\n\nThey \\*differ\\*.\n\nwinomt" in render_comparison(one, "markdown")
    assert "better" not in render_comparison(one, "latex")
    # Of many pairs the decisions alone.
    assert "They" not in render_comparison(replace(one, pairs=(PAIR, PAIR)))
    assert "They" in render_comparison(replace(one, pairs=(PAIR, PAIR)), full=True)


def test_text_has_every_number_and_ends_with_the_signature() -> None:
    lines = render_comparison(PLAIN, full=True).splitlines()
    assert (
        "3,888 sentences, 1,826 about men, 1,822 about women; pro stereotype 1,584, anti 1,584"
        in lines[0]
    )
    assert _flat(lines[2]) == "de alpha 52.9 [51.9, 53.9] 24.8 [23.8, 25.8] 18.8 [17.8, 19.8]"
    # One difference is significant; one has no interval; one is undefined.
    assert _flat(lines[4]) == "alpha - beta -17.4 [-18.8, -16.1] * 20.9 –"
    assert "de alpha - beta <0.001 0.002 0.040 0.120 – –" in map(_flat, lines)
    assert "de alpha - beta 948 1,962 95 772 1,059 <0.001" in map(_flat, lines)
    assert lines[-1] == f"Signature: {PLAIN.signature}"


def test_delta_s_of_a_system_that_finds_few_women_has_its_caution_beside_it() -> None:
    # 5 of 100 women are found, below 10 %.
    rows = [(M, M)] * 90 + [(M, F)] * 10 + [(F, F)] * 5 + [(F, M)] * 95
    counts = count([(gold, Stereotype.PRO, call) for gold, call in rows])
    few = replace(FIRST, group=GENDER_COUNTING.group(counts, 0, 0))
    lines = render_comparison(replace(PLAIN, systems=(few, SECOND))).splitlines()
    assert lines[2].endswith("18.8 [17.8, 19.8] †")
    assert "†" not in lines[3]
    assert "† ΔS means little: alpha finds 5 of 100 women (5.0 %)" in lines


def test_numbers_stand_below_each_other() -> None:
    lines = render_comparison(PLAIN).splitlines()
    assert lines[2].index("]") == lines[4].index("]")


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
def test_every_form_has_the_numbers_and_the_signature(form: str) -> None:
    text = render_comparison(PLAIN, form)
    assert PLAIN.signature in text
    assert "17.4" in text
    assert text.endswith("\n")


def test_markdown_rows_have_the_columns_of_their_header() -> None:
    blocks = render_comparison(PLAIN, "markdown", full=True).split("\n\n")
    tables = [block for block in blocks if block.startswith("|")]
    assert len(tables) == 4
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_csv_and_json_are_read_back() -> None:
    rows = list(csv.DictReader(io.StringIO(render_comparison(PLAIN, "csv"))))
    assert len(rows) == 10
    assert (rows[0]["system"], rows[0]["minus"], rows[0]["value"], rows[0]["p_holm"]) == (
        "alpha", "beta", "-17.41", "0.0015",
    )  # fmt: skip
    assert rows[2]["value"] == ""
    assert (rows[3]["number"], rows[3]["value"]) == ("across", "36.71")
    assert [row["minus"] for row in rows] == ["beta"] * 4 + [""] * 6
    assert json.loads(render_comparison(PLAIN, "json"))["pairs"][0]["differing"] == 948


def test_weights_are_shown_with_what_they_cost() -> None:
    import numpy as np

    weights = np.repeat(
        (0.0, 1.0), (7, 1815 + 1826)
    )  # 7 of 1,822 women do not count: (Σw)² / Σw² = 1815² / 1815
    balance = Balance(
        weights=weights, groups=("female", "male"), is_second=np.repeat((False, True), (1822, 1826)), objective=0.0,
        gap=0.0, n_cells=4, balanced=("pronouns=1",), one_sided=("pronouns=3",),
    )  # fmt: skip
    weighting = Weighting(
        number="delta_g", properties=("pronouns",), constant=("distance",), balance=balance,
        largest=(("r1", 2.5),), weights=weights, kinds=np.zeros(len(weights), dtype=np.int64),
    )  # fmt: skip
    systems = tuple(
        replace(s, weighted={"delta_g": Estimate(1.5, (0.5, 2.5))}) for s in PLAIN.systems
    )
    pair = replace(PAIR, weighted={"delta_g": Difference(1.5, 1.5, 0.0, (-1, 1), 1.0, 1.0)})
    text = render_comparison(
        replace(PLAIN, systems=systems, pairs=(pair,), weightings={"delta_g": weighting})
    )
    flat = [" ".join(line.split()) for line in text.splitlines()]
    assert "de alpha 24.8 [23.8, 25.8] 1.5 [0.5, 2.5]" in flat
    assert "alpha - beta 20.9 0.0 [-1.0, 1.0]" in flat
    assert flat[flat.index("ΔG: balanced over pronouns") :][:5] == [
        "ΔG: balanced over pronouns", "ΔG: the same in all sentences or not known: distance",
        "ΔG: cannot be balanced, weight 0: pronouns=3 (7 sentences)",
        "ΔG: effective sentences: female 1,815.0 of 1,822, male 1,826.0 of 1,826", "ΔG: largest weights: 2.50 (r1)",
    ]  # fmt: skip


def test_the_family_of_the_tests_is_named() -> None:
    two = replace(PLAIN, pairs=(PAIR, replace(PAIR, lang="es")))
    assert "corrected by Holm over the 2 tests of the same number" in render_comparison(two)
    assert "too few" not in render_comparison(two)
    assert "20 resamples are too few for any of 2 tests" in render_comparison(
        replace(two, n_resamples=20)
    )


def test_different_evaluators_are_named() -> None:
    text = render_comparison(
        replace(PLAIN, evaluators={"de": ("aligner a in alpha and b in beta",)})
    )
    assert "de: read by different evaluators: aligner a in alpha and b in beta" in text


def test_three_systems_are_ranked_and_their_pairs_shown_when_asked_for() -> None:
    third = replace(
        FIRST,
        system="gamma",
        plain={**FIRST.plain, "accuracy": replace(FIRST.plain["accuracy"], value=60)},
    )
    three = replace(PLAIN, systems=(FIRST, SECOND, third), pairs=(PAIR,) * 3)
    text = render_comparison(three)
    names = [
        name
        for line in text.splitlines()
        for name in ("alpha", "beta", "gamma")
        if f" {name} " in line
    ]
    assert names == ["beta", "gamma", "alpha"]  # 70.32, 60, 52.91
    assert "alpha - beta" not in text
    assert "The 3 pairs, each difference with its interval and corrected test: --full" in text
    assert "alpha - beta" in render_comparison(three, full=True)
    assert "alpha - beta" in render_comparison(three, "markdown")


def test_names_are_text_in_every_form() -> None:
    odd = "a|b_<i>\x1b[1m"
    named = replace(
        PLAIN, systems=(replace(FIRST, system=odd), SECOND), pairs=(replace(PAIR, first=odd),)
    )
    for form in ("text", "markdown", "latex"):
        assert "\x1b" not in render_comparison(named, form)
    assert r"a\|b\_\<i\>?\[1m" in render_comparison(named, "markdown")
    assert r"a\textbar{}b\_\textless{}i\textgreater{}?{[}1m" in render_comparison(named, "latex")


def test_consistency_has_a_table_of_its_own_where_the_corpus_has_pairs() -> None:
    text = render_comparison(PLAIN, full=True)
    title = "Consistency: 1,798 pairs that differ in gender alone, no controls. Per cent of pairs right for one gender only"
    assert title in text
    line = _flat(text.split(title)[1].splitlines()[2])
    assert (
        line == "de alpha - beta 74.7 38.0 36.7 [34.1, 39.2] * <0.001 0.001"
    )  # no ΔI without quadruples
    without = replace(PLAIN, pairs=(replace(PAIR, consistency={}),))
    assert "Consistency" not in render_comparison(without)
