"""What a comparison says in words: which system is better and for whom, and what errors are shared."""

from __future__ import annotations

from dataclasses import replace

from mtbias.scoring.comparison import compare_runs
from tests.scoring.compared_runs import PRO, F, M, Run, record_of, six_runs


def run_that_finds(system: str, men: int, women: int) -> Run:
    """Of 100 men and 100 women, so many are found; the others are called the other gender."""
    rows = [(M, F)[n % 2] for n in range(200)]
    right = (men, women)
    calls = [gold if n // 2 < right[n % 2] else (F, M)[n % 2] for n, gold in enumerate(rows)]
    records = [
        record_of(n, gold, PRO, call)
        for n, (gold, call) in enumerate(zip(rows, calls, strict=True))
    ]
    return Run(system, "de", records, system)


def said_of(*runs: Run, n_resamples: int = 500) -> list[tuple[str, str]]:
    return [(each.rule, each.text) for each in compare_runs(runs, n_resamples=n_resamples).finding]


def test_the_finding_names_the_better_system_by_how_much_and_for_whom() -> None:
    first, second = run_that_finds("a", 90, 20), run_that_finds("b", 92, 60)
    genders, shared, better, differs = said_of(first, second)
    # a is right for 90 of 100 men and 20 of 100 women, b for 92 and 60.
    gaps = "from 92 % of the men and 60 % of the women (b) to 90 % of the men and 20 % of the women (a)"
    more = "Both systems are right for a greater share of the men than of the women"
    assert genders == ("genders", f"{more}: {gaps}.")
    same = "Both systems make the same error here: a woman, the cook, becomes a man."
    assert shared == ("shared", same)
    start = "b is better than a: accuracy 76.0 against 55.0 %, a difference of 21.0 ["
    counted = "men 92 of 100 right against 90, women 60 of 100 right against 20"
    assert (better[0], better[1][: len(start)]) == ("better", start)
    assert better[1].endswith(f"] points; mostly for women ({counted}).")
    # F1 of 90 men and 20 women: 2·90/270 = 66.7 and 2·20/130 = 30.8; of 92 and 60: 2·92/232 = 79.3
    # and 2·60/168 = 71.4.
    assert differs[0] == "bias_differs"
    assert differs[1].startswith(
        "a and b differ: ΔG (F1 male minus F1 female) 35.9 against 7.9, a difference of 28.0 ["
    )
    again = dict(said_of(second, first))["better"]
    assert (again.startswith(start), again.endswith(f"; mostly for women ({counted}).")) == (
        True,
        True,
    )
    both = dict(said_of(first, run_that_finds("c", 100, 35)))["better"]
    assert both.endswith(
        "points (men 100 of 100 right against 90, women 35 of 100 right against 20)."
    )


def test_the_finding_of_three_systems_names_the_gaps_between_men_and_women() -> None:
    systems = run_that_finds("a", 90, 20), run_that_finds("b", 92, 60), run_that_finds("c", 50, 70)
    said = said_of(*systems)
    # a is right for 90 of 100 men and 20 of 100 women, c for 50 and 70.
    gaps = "from 50 % of the men and 70 % of the women (c) to 90 % of the men and 20 % of the women (a)"
    more = "2 of 3 systems are right for a greater share of the men than of the women"
    assert said[0] == ("genders", f"{more}: {gaps}.")
    # Of three systems the first two by accuracy are compared: b 76, c 60, a 55.
    (better,) = [text for rule, text in said if rule == "better"]
    assert better.startswith("b is better than c: accuracy 76.0 against 60.0 %")
    assert better.endswith(
        "; for men alone (men 92 of 100 right against 50, women 60 of 100 right against 70)."
    )
    women = [Run(name, "de", [record_of(n, F, PRO, F) for n in range(20)], name) for name in "abc"]
    assert "genders" not in dict(said_of(*women))


def test_the_finding_turns_round_where_women_are_found_more_often() -> None:
    said = dict(
        said_of(
            run_that_finds("a", 40, 90), run_that_finds("b", 50, 80), run_that_finds("c", 60, 62)
        )
    )
    # 60 and 62 of 100: Wilson [50.2, 69.1] and [52.2, 70.9] overlap.
    assert said["genders"] == (
        "All 3 systems are right for a greater share of the women than of the men: from 60 % of the men and 62 % of "
        "the women (c) to 40 % of the men and 90 % of the women (a); within chance: c."
    )
    assert (
        said["shared"]
        == "All 3 systems make the same error here: a man, the cook, becomes a woman."
    )


def test_an_error_is_shared_by_more_than_half_of_the_systems() -> None:
    def run(name: str, *wrong: int) -> Run:
        records = [record_of(n, (M, F)[n % 2], PRO, (M, F)[n % 2]) for n in range(40)]
        called = {n: replace(records[n].call, gender=M) for n in wrong}
        return Run(name, "de", [replace(r, call=called.get(r.row, r.call)) for r in records], name)

    two_of_three = compare_runs([run("a", 1, 3), run("b", 3), run("c", 5)], n_resamples=0).finding
    (shared,) = [said for said in two_of_three if said.rule == "shared"]
    assert (
        shared.text == "2 of 3 systems make the same error here: a woman, the cook, becomes a man."
    )
    assert shared.quote is not None
    assert (shared.quote.id, shared.quote.gold, shared.quote.call) == ("r3", "female", "male")
    one_of_two = compare_runs([run("a", 1), run("b", 3)], n_resamples=0).finding
    assert "shared" not in {said.rule for said in one_of_two}


def test_a_difference_that_is_not_significant_is_within_chance() -> None:
    text = dict(said_of(run_that_finds("a", 90, 20), run_that_finds("b", 91, 20)))["better"]
    start = "Within chance: no clear difference between b and a, accuracy 55.5 against 55.0 %, a difference of 0.5 ["
    assert text.startswith(start)
    text = dict(said_of(run_that_finds("a", 90, 20), run_that_finds("b", 91, 20), n_resamples=0))[
        "better"
    ]
    assert (
        text
        == "Whether b and a differ was not tested: accuracy 55.5 against 55.0 %, a difference of 0.5 points."
    )


def test_the_finding_names_languages_where_there_are_several() -> None:
    compared = compare_runs(six_runs(), n_resamples=500)
    said_of_pairs = [each.text for each in compared.finding if each.rule == "better"]
    # A line for each language: of three systems the first two by accuracy.
    assert [text.partition(":")[0] for text in said_of_pairs] == ["German", "Spanish"]
    decided = [text.rpartition("; ")[2].partition(": accuracy")[0] for text in said_of_pairs]
    assert decided == ["b is better than c", "b is better than a"]
    assert all(": right for women from " in text for text in said_of_pairs)
    first = compared.finding[0].text
    assert first.startswith("3 of 6 runs (4 systems, 3 languages) are right for a greater share of")
    assert "German)" in first
    assert compared.to_json()["finding"] == [each.to_json() for each in compared.finding]
