"""Ranks and ties, from results whose tests are given by hand; and files of results that contradict
themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.report.publishing import PublishedCorpus, PublishedResult, read_results, write_results
from mtbias.report.results_page import Block, make_blocks, render_results
from mtbias.report.run_page import render_html
from mtbias.scoring.definitions import Best
from mtbias.scoring.ranking import Rank, Relation
from mtbias.stats.results import Difference

from .page_reader import F, M, make_record, make_run, read_page, table_rows
from .result_maker import make_number, make_result, with_tests
from .test_comparison_tables import PAIR, PLAIN


def ranks_of(block: Block, key: str = "accuracy") -> dict[str, Rank]:
    return {result.system: block.ranks[key][result.identity] for result in block.results}


def relations_of(block: Block, key: str = "accuracy") -> dict[str, Relation]:
    return {
        f"{pair.first.system} {pair.second.system}": pair.outcomes[key].relation
        for pair in block.pairs
    }


def test_systems_that_do_not_differ_significantly_share_a_rank() -> None:
    results = with_tests(
        {"A B": 0.4, "A C": 0.001, "B C": 0.002},
        make_result("C", make_number(50.0)), make_result("A", make_number(70.0)), make_result("B", make_number(69.0)),
    )  # fmt: skip
    (block,) = make_blocks(results)
    assert [result.system for result in block.results] == ["A", "B", "C"]
    assert ranks_of(block) == {"A": Rank(1, 2, 0), "B": Rank(1, 2, 0), "C": Rank(3, 3, 0)}
    assert relations_of(block) == {
        "A B": Relation.TIE,
        "A C": Relation.FIRST,
        "B C": Relation.FIRST,
    }


def test_a_tie_need_not_be_transitive_and_the_ranges_show_it() -> None:
    results = with_tests(
        {"A B": 0.5, "A C": 0.001, "B C": 0.5},
        *(
            make_result(name, make_number(value))
            for name, value in (("A", 70.0), ("B", 68.0), ("C", 66.0))
        ),
    )
    (block,) = make_blocks(results)
    assert ranks_of(block) == {"A": Rank(1, 2, 0), "B": Rank(1, 3, 0), "C": Rank(2, 3, 0)}


def test_holm_makes_a_tie_of_what_one_test_alone_would_call_different() -> None:
    # Holm over three: 0.02 · 3 = 0.06, so no pair is significant; a single test of 0.02 is.
    three = [
        make_result(name, make_number(value))
        for name, value in (("A", 70.0), ("B", 68.0), ("C", 66.0))
    ]
    (block,) = make_blocks(with_tests({"A B": 0.02, "A C": 0.02, "B C": 0.02}, *three))
    assert set(relations_of(block).values()) == {Relation.TIE}
    assert [pair.outcomes["accuracy"].p_holm for pair in block.pairs] == pytest.approx([0.06] * 3)
    (block,) = make_blocks(with_tests({"A B": 0.02}, *three[:2]))
    assert relations_of(block) == {"A B": Relation.FIRST}


def test_a_pair_that_was_never_tested_is_neither_tie_nor_difference() -> None:
    results = with_tests(
        {"A B": 0.001},
        *(
            make_result(name, make_number(value))
            for name, value in (("A", 70.0), ("B", 60.0), ("C", 10.0))
        ),
    )
    (block,) = make_blocks(results)
    assert relations_of(block) == {
        "A B": Relation.FIRST, "A C": Relation.NOT_TESTED, "B C": Relation.NOT_TESTED,
    }  # fmt: skip
    assert ranks_of(block) == {"A": Rank(1, 2, 1), "B": Rank(2, 3, 1), "C": Rank(1, 3, 2)}
    assert block.families == {"accuracy": 1}


def test_a_comparison_with_other_calls_of_a_run_is_none() -> None:
    one, other = with_tests(
        {"A B": 0.001}, make_result("A", make_number(70.0)), make_result("B", make_number(60.0))
    )
    again = replace(other, calls="others", comparisons=())
    assert relations_of(make_blocks([one, again])[0]) == {"A B": Relation.NOT_TESTED}


@pytest.mark.parametrize(
    ("best", "values", "expected"),
    [
        (Best.ZERO, (-2.0, -9.0), Relation.FIRST),
        (
            Best.ZERO,
            (2.0, -9.0),
            Relation.DIFFERENT,
        ),  # +2 − −9: not the difference of their distances
        (Best.EVEN, (55.0, 80.0), Relation.FIRST),
        (Best.EVEN, (45.0, 80.0), Relation.DIFFERENT),
        (Best.OPEN, (45.0, 80.0), Relation.DIFFERENT),
    ],
)
def test_which_is_better_where_the_best_is_not_the_highest(
    best: Best, values: tuple[float, float], expected: Relation
) -> None:
    results = [
        make_result(name, make_number(value, best))
        for name, value in zip("AB", values, strict=True)
    ]
    (block,) = make_blocks(with_tests({"A B": 0.001}, *results))
    assert relations_of(block) == {"A B": expected}
    assert ("accuracy" in block.ranks) is (best is not Best.OPEN)
    if best is not Best.OPEN:
        first, second = ranks_of(block).values()
        ordered = Rank(1, 1, 0), Rank(2, 2, 0)
        assert (first, second) == (
            ordered if expected is Relation.FIRST else (Rank(1, 2, 0, 1),) * 2
        )


def test_an_undefined_number_has_no_rank_and_comes_last() -> None:
    (block,) = make_blocks(
        [make_result("A", make_number(None)), make_result("B", make_number(5.0))]
    )
    assert [result.system for result in block.results] == ["B", "A"]
    assert block.ranks["accuracy"] == {("fp-B", "calls-B"): Rank(1, 1, 0)}


def test_more_calls_alone_make_no_system_better() -> None:
    # As of whole persons, whose share with a call comes first, and is compared.
    systems = {"A": (90.0, 50.0), "B": (80.0, 60.0)}
    (block,) = make_blocks(
        [
            make_result(
                name,
                make_number(called, key="decided_percent"),
                make_number(right, key="all_right"),
            )
            for name, (called, right) in systems.items()
        ]
    )
    assert [result.system for result in block.results] == ["B", "A"]
    assert block.ranked_by is not None
    assert block.ranked_by.key == "all_right"
    page = read_page(render_results([block]))
    rows = table_rows(page, "German (de): systems, with 95 % intervals over sentences")
    assert rows[0] == ["rank", "system", "decided_percent", "all_right", "warnings"]
    assert [row[1:4] for row in rows[1:]] == [
        ["B", "80.0rank 1–2, 1 not tested · n 80", "60.0n 80"],
        ["A", "90.0rank 1–2, 1 not tested · n 80", "50.0n 80"],
    ]


def test_other_evaluators_stand_in_a_block_of_their_own_with_what_differs() -> None:
    other = make_result("C", make_number(99.0), evaluator={"aligner": "agree/1", "plugin": "de/2"})
    first, second = make_blocks([other, *(make_result(name, make_number(5.0)) for name in "AB")])
    assert [result.system for result in first.results] == ["A", "B"]
    assert (second.apart, second.ranks) == (("plugin de/2 here, de/1 there",), {})


def test_other_corpora_and_languages_are_blocks_and_nothing_is_apart_in_them() -> None:
    other = PublishedCorpus("own", {"own.tsv": "ff00"})
    number = make_number(5.0)
    results = [
        make_result("A", number),
        make_result("A", number, language="es"),
        make_result("A", number, corpus=other),
    ]
    blocks = make_blocks(results)
    assert [(len(block.results), block.apart) for block in blocks] == [(1, ())] * 3


def test_too_few_rearrangements_are_told() -> None:
    # Two thousand give at least 1/2001; times 101 that is above 0.05.
    results = with_tests(
        {"A B": 0.001}, make_result("A", make_number(70.0)), make_result("B", make_number(60.0))
    )
    (block,) = make_blocks(results)
    assert not block.too_few_resamples
    assert replace(block, families={"accuracy": 101}).too_few_resamples


def _written(folder: Path, *results: PublishedResult) -> Path:
    write_results(results, folder / "results.jsonl")
    return folder / "results.jsonl"


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    results = with_tests(
        {"A B": 0.25}, make_result("A", make_number(70.5)), make_result("B", make_number(60.0))
    )
    assert read_results(_written(tmp_path, *results)) == results


def test_two_results_of_one_run_are_refused(tmp_path: Path) -> None:
    path = _written(tmp_path, make_result("A", make_number(5.0)))
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(
        DataError, match=r"results\.jsonl: expected each run once, got fp-A twice; leave one out"
    ):
        read_results(path)


def test_two_systems_of_one_name_are_refused(tmp_path: Path) -> None:
    number = make_number(5.0)
    path = _written(
        tmp_path, make_result("A", number), make_result("A", number, fingerprint="other")
    )
    with pytest.raises(
        DataError,
        match="expected a name for each system, got 'A' twice on own in de; leave one out",
    ):
        read_results(path)


def test_comparisons_that_contradict_each_other_are_refused() -> None:
    one, other = with_tests(
        {"A B": 0.25}, make_result("A", make_number(70.0)), make_result("B", make_number(60.0))
    )
    (comparison,) = other.comparisons
    changed = {"accuracy": replace(comparison.numbers["accuracy"], p=0.5)}
    with pytest.raises(
        DataError, match="expected one comparison of B and A in de, got two that differ"
    ):
        make_blocks([one, replace(other, comparisons=(replace(comparison, numbers=changed),))])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "expected schema 1, got 2; publish the run again"),
        ({"system": 5}, "system: expected text, got 5"),
        ({"system": "other"}, "expected the numbers as they were published, got others"),
        ({"more": 1}, "more: unknown key"),
        (
            {"link": "javascript:alert(1)"},
            "link: expected an address that begins with https:// or http://",
        ),
    ],
)
def test_a_line_that_was_changed_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = _written(tmp_path, make_result("A", make_number(5.0)))
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}), encoding="utf-8")
    with pytest.raises(DataError) as refused:
        read_results(path)
    assert "results.jsonl:1: " in str(refused.value)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_link_note_and_licence_may_be_edited_by_hand(tmp_path: Path) -> None:
    path = _written(tmp_path, make_result("A", make_number(5.0)))
    edited = {
        **json.loads(path.read_bytes()),
        "link": "https://example.org",
        "note": "Beam 5.",
        "licence": "MIT",
    }
    path.write_text(json.dumps(edited), encoding="utf-8")
    (result,) = read_results(path)
    assert (result.link, result.note, result.licence) == ("https://example.org", "Beam 5.", "MIT")


def test_no_file_no_results_and_no_result_are_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with pytest.raises(
        DataError, match=r"expected a file of results, got none; `mtbias publish RUN --out DIR`"
    ):
        read_results(path)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected results, got none"):
        read_results(path)
    path.write_text("\n[]\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"jsonl:2: expected a result that `mtbias publish` wrote"):
        read_results(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"jsonl:1: damaged: "):
        read_results(path)


def test_the_page_of_a_comparison_and_that_of_results_rank_alike() -> None:
    # Accuracies by count of 100 sentences. Holm over three: 0.001 · 3, 0.002 · 2, 0.4.
    right = {"C": 50, "A": 70, "B": 69, "D": 70}
    p = {"A B": 0.4, "A C": 0.001, "B C": 0.002}
    p_holm = {"A B": 0.4, "A C": 0.003, "B C": 0.004}
    results = with_tests(
        p, *(make_result(name, make_number(float(n))) for name, n in right.items())
    )
    runs, pairs = [], []
    for name, n in right.items():
        records = [make_record(i, F if i < n else M) for i in range(100)]
        runs.append(make_run(records, name))
    for first, second in combinations(right, 2):
        corrected = p_holm.get(f"{first} {second}", p_holm.get(f"{second} {first}"))
        difference = Difference(
            right[first], right[second], right[first] - right[second], None, corrected, corrected
        )
        plain = dict.fromkeys(PAIR.plain, difference)
        pairs.append(replace(PAIR, first=first, second=second, plain=plain))
    compared = replace(PLAIN, systems=(), pairs=tuple(pairs))
    of_runs = table_rows(
        read_page(render_html(runs, compared)), "Systems by accuracy, in per cent and points"
    )
    of_results = table_rows(
        read_page(render_results(make_blocks(results))),
        "German (de): systems, with 95 % intervals over sentences",
    )
    # D was tested against nobody, and stands beside A by its value.
    expected = [
        ["1–3, 1 not tested", "A"],
        ["1–4, 3 not tested", "D"],
        ["1–3, 1 not tested", "B"],
        ["3–4, 1 not tested", "C"],
    ]
    assert [row[:2] for row in of_runs[1:]] == expected
    assert [row[:2] for row in of_results[1:]] == expected
