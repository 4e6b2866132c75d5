"""Whom a system favours, in sentences: rules and texts by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.coref.coref_finding import CONTRASTS, RULES, system_finding, systems_finding
from mtbias.coref.dataset import DatasetScores, NamedNumber, Share, shares_by_group
from mtbias.coref.evaluation import DatasetResult, Evaluation, NumberDifference
from mtbias.coref.gap_data import write_instances
from mtbias.coref.winobias import read_winobias
from mtbias.errors import SettingError, UsageError
from mtbias.report.coref_tables import notes, system_table
from mtbias.settings import BootstrapSettings
from mtbias.stats.results import Difference, Estimate
from tests.coref.small_corpora import write_winobias
from tests.coref.test_counter_gap import quadruple, scored, written


def texts(dataset: str, scores: DatasetScores) -> dict[str, str]:
    """The sentences by their rules."""
    return {said.rule: said.text for said in system_finding(dataset, scores)}


def test_sentences_of_counter_gap_by_hand() -> None:
    # As in `test_numbers_by_hand`: 3 of 6 masculine texts are right, 5 of 6 feminine ones; of the
    # pairs across genders 2 + 2 + 4 of 12 differ, of those within one 1 + 1 of 6.
    scores = scored(quadruple("1") + quadruple("2") + quadruple("3", feminine=True), "110110111100")
    assert texts("counter-gap", scores) == {
        "favours": "Not tested: right in 50 % of 6 texts about men and in 83.33 % of 6 texts about "
        "women: 33.33 points fewer.",
        "gender_alone": "Right for one of the two texts alone are 66.67 % of 12 pairs that differ in "
        "gender and 33.33 % of 6 pairs that differ in a name of the same gender: 33.33 points more.",
    }


@pytest.mark.parametrize(
    ("dataset", "difference", "favoured"),
    [
        ("counter-gap", Estimate(1.0, (0.5, 1.5)), "men"),
        ("counter-gap", Estimate(-1.0, (-1.5, -0.5)), "women"),
        ("counter-gap", Estimate(1.0, (-0.5, 1.5)), None),
        ("counter-gap", Estimate(1.0), None),
        ("winobias", Estimate(100.0, p=0.001), "the stereotype"),
        ("winobias", Estimate(-9.0, p=0.04), "the opposite of the stereotype"),
        ("winobias", Estimate(9.0, p=0.06), None),
        ("winobias", Estimate(None), None),
        # A ratio, women over men: below 1 it is the men whom the system finds more often.
        ("gap", Estimate(0.9, (0.8, 0.95)), "men"),
        ("gap", Estimate(1.2, (1.1, 1.3)), "women"),
        ("gap", Estimate(0.9, (0.8, 1.0)), None),
    ],
)
def test_a_side_is_favoured_where_the_interval_or_p_says_so(
    dataset: str, difference: Estimate, favoured: str | None
) -> None:
    side = CONTRASTS[dataset][0].favoured(difference)
    assert (side and side.favoured) == favoured


def test_occupations_that_differ_clearly() -> None:
    # Wilson's intervals of 0 of 10 and 10 of 10 are [0, 27.75] and [72.25, 100]; two rows are too
    # few to say anything.
    rows = [("nurse", side, side == 1) for side in (0, 1) for _ in range(10)]
    rows += [("cook", side, n < 5) for side in (0, 1) for n in range(10)]
    rows += [("rare", side, side == 0) for side in (0, 1) for _ in range(2)]
    sides = shares_by_group(rows)
    assert sides["nurse"] == (Share(0, 10), Share(10, 10))
    assert texts("winobias", DatasetScores((), {}, sides=sides)) == {
        "occupation": "1 of 2 occupations differs clearly, most of all nurse (pro 0 of 10 right, anti "
        "10 of 10)."
    }


def test_a_part_is_named(tmp_path: Path) -> None:
    write_winobias(tmp_path)
    data = read_winobias(tmp_path)
    scores = data.score(data.baseline("stereotype"), resamples=0)
    # McNemar's exact p of three pairs of which the pro sentence alone is right: 2 / 2³ = 0.25.
    assert texts("winobias", scores)["favours"] == (
        "No clear difference in dev type 1: right in 100 % of 3 sentences that fit the stereotype and "
        "in 0 % of 3 sentences that break it: 100 points more."
    )


def in_parts(*differences: Estimate) -> DatasetScores:
    """WinoBias with a difference of link accuracy in each part."""
    rows = []
    for n, difference in enumerate(differences):
        part = f"part {n}"
        sides = ("link_pro", "link_anti")
        rows += [NamedNumber(part, key, key, Estimate(50.0, n=9)) for key in sides]
        rows.append(NamedNumber(part, "link_difference", "pro − anti", difference))
    return DatasetScores(tuple(rows), {})


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        # The widest difference rests on few sentences: the part with the clear one is told.
        (
            [Estimate(9.0, (-2, 20)), Estimate(4.0, (1, 7))],
            "It favours the stereotype in 1 of 2 parts, most in part 1",
        ),
        (
            [Estimate(9.0, (-2, 20)), Estimate(4.0, (-1, 9))],
            "No clear difference in any of 2 parts, the widest in part 0",
        ),
        (
            [Estimate(9.0, (2, 16)), Estimate(-4.0, (-7, -1))],
            "It favours the stereotype in 1 of 2 parts (the reverse in 1), most in part 0",
        ),
    ],
)
def test_a_clear_part_is_told_before_a_wider_one(
    differences: list[Estimate], expected: str
) -> None:
    assert texts("winobias", in_parts(*differences))["favours"].startswith(f"{expected}:")


def in_part(part: str, first: float, second: float, p: float) -> NumberDifference:
    """Of CoNLL F1 in a part of WinoBias; `p` is corrected."""
    number = NamedNumber(part, "f1_average", "CoNLL F1, average", Estimate(None))
    difference = Difference(first, second, first - second, None, p, p_holm=p)
    return NumberDifference("winobias", "a", "b", number, difference, 396)


def test_of_two_systems_the_part_is_named_in_which_one_is_clearly_better() -> None:
    """10 points in a part where nothing is clear do not stand for 2 in one where they are."""
    differences = [in_part("dev", 60, 70, 0.3), in_part("test", 64, 62, 0.01)]
    evaluations = [Evaluation(name, "", BootstrapSettings(), {}) for name in ("a", "b")]
    (said,) = systems_finding("winobias", evaluations, differences)
    assert said.text.startswith(
        "a is better in 1 of 2 parts than b, most in test: CoNLL F1, average, 64.00 against 62.00"
    )


def test_a_table_of_one_data_set_has_its_notes_alone() -> None:
    results = {
        dataset: DatasetResult(1, {}, {}, "", DatasetScores((), {}, notes=(f"of {dataset}",)))
        for dataset in ("gap", "bug")
    }
    systems = [Evaluation(name, "", BootstrapSettings(), results) for name in ("a", "b")]
    assert system_table(systems, "bug").notes == ["a, bug: of bug", "b, bug: of bug"]
    assert len(notes(systems)) == 4


def test_every_rule_is_used() -> None:
    of_systems = {"systems", "better", "bias_differs"}
    by_contrast = {one.rule for of in CONTRASTS.values() for one in of} & RULES.keys()
    assert {*by_contrast, *of_systems, "occupation", "workers"} == set(RULES)


@pytest.fixture
def systems(tmp_path: Path) -> list[str]:
    """Three systems on forty quadruples: of three quarters of them one is right about the men
    alone, one about the women alone; one is right about all.
    """
    rows = []
    for n in range(40):
        rows += quadruple(str(n), feminine=n >= 20)
    written(tmp_path, write_instances(rows), "data.tsv")
    words = []
    for name, wrong in (("men", "she"), ("women", "he"), ("both", "")):
        lines = []
        for row in rows:
            is_wrong = row.pronoun == wrong and int(row.id.partition("-")[0]) % 20 < 15
            a = row.gold.a if not is_wrong else not row.gold.a
            lines.append(f"{row.id}\t{str(bool(a)).upper()}\tFALSE")
        written(tmp_path, "\n".join(lines), f"{name}.tsv")
        words.append(f"{name}={tmp_path / name}.tsv")
    return ["--data", str(tmp_path / "data.tsv"), *words]


def test_many_systems_in_one_command(systems: list[str], coref: Callable[..., str]) -> None:
    said = coref("score", "counter-gap", *systems, "--resamples", 500)
    flat = " ".join(said.split())
    # 100 % of the masculine texts and 25 % of the feminine ones; and the reverse.
    assert "1 of 3 systems clearly favours men, 1 women; accuracy, masculine − feminine" in flat
    assert "men is worse than both; not clearly better or worse than women (accuracy)." in flat
    table = [line.split()[:2] for line in said.splitlines() if line.startswith(("men ", "women "))]
    assert table == [["men", "is"], ["men", "62.50"], ["women", "62.50"]]
    assert "both minus" not in said
    assert len(said.splitlines()) <= 20
    assert "men minus both" in coref("score", "counter-gap", *systems, "--full", "--resamples", 200)


def test_one_system_in_a_score_of_lines(systems: list[str], coref: Callable[..., str]) -> None:
    said = coref("score", "counter-gap", *systems[:3], "--resamples", 500).splitlines()
    assert said[0].startswith("It favours men: right in 100 % of 80 texts about men and in 25 % of")
    assert len(said) <= 20
    assert "--full prints all 21 numbers of a system" in said[-3]
    assert said[-1].startswith("Signature: ")


def test_two_systems(systems: list[str], coref: Callable[..., str]) -> None:
    said = coref(
        "score", "counter-gap", *systems[:4], "--resamples", 500, "--name", "a", "--name", "b"
    )
    flat = " ".join(said.split())
    assert "a: It favours men: " in flat
    assert "b: It favours women: " in flat
    assert (
        "Accuracy, masculine − feminine, differs: 75.00 (a) against -75.00 (b), a difference of 150.00"
        in flat
    )


def test_names_that_cannot_be_meant(systems: list[str], coref: Callable[..., str]) -> None:
    words = ["score", "counter-gap", *systems]
    with pytest.raises(SettingError, match="expected a name for each of 3 systems, got 1"):
        coref(*words, "--name", "a")
    with pytest.raises(
        UsageError, match="expected a name for each system, NAME=FILE; got two for men"
    ):
        coref(*words, systems[2])
    with pytest.raises(UsageError, match="expected systems that differ, got a, a, b"):
        coref(*words, "--name", "a", "--name", "a", "--name", "b")


def test_the_papers_tables(systems: list[str], coref: Callable[..., str]) -> None:
    words = ["score", "counter-gap", *systems, "--resamples", 500, "--layout", "paper"]
    said = [line.split() for line in coref(*words).splitlines()]
    first = said.index(["Acc_M", "Acc_F", "Acc_Diff"])
    # The star is one-sided: in favour of men alone.
    assert said[first + 1 : first + 4] == [
        ["men", "100.00", "25.00", "+75.00*"],
        ["women", "25.00", "100.00", "-75.00"],
        ["both", "100.00", "100.00", "0.00"],
    ]
    note = "one-sided bootstrap over quadruples; 500 resamples (the papers' 10,000: --resamples)"
    assert note in coref(*words)
    rows = coref(*words, "--format", "csv").splitlines()
    assert (
        rows[3]
        == '"Accuracy on Counter-GAP, as in Xie et al. (2023), table 2",men,3,Acc_Diff,75.00,*'
    )
    assert "\\begin{tabular}" in coref(*words, "--format", "latex")
    with pytest.raises(UsageError, match="--layout paper goes with text, markdown, latex and csv"):
        coref(*words, "--json")
    assert "no stars: nothing was tested" in coref(
        *[*words[:-4], "--resamples", 0, "--layout", "paper"]
    )


def test_stars_of_winobias_are_those_of_two_sided_p(
    tmp_path: Path, coref: Callable[..., str]
) -> None:
    write_winobias(tmp_path)
    said = coref(
        "score", "winobias", "--data", tmp_path, "--baseline", "stereotype", "--layout", "paper"
    )  # fmt: skip
    # Three pairs are exchanged in 2³ ways, of which two have so large a difference: p = 0.25.
    (row,) = [line for line in said.splitlines() if line.startswith("stereotype ")]
    assert row.split()[1] == "100.0"
    assert "*" not in row
    assert "test" not in said.splitlines()[0]


def test_json_has_the_finding(systems: list[str], coref: Callable[..., str]) -> None:
    found = json.loads(coref("score", "counter-gap", *systems, "--resamples", 200, "--json"))
    assert [one["rule"] for one in found["systems"][0]["finding"]] == ["favours", "gender_alone"]
    assert [one["rule"] for one in found["finding"]] == ["systems", "systems", "better"]


def test_the_page_of_given_labels(
    systems: list[str], tmp_path: Path, coref: Callable[..., str]
) -> None:
    path = tmp_path / "page.html"
    said = coref("score", "counter-gap", *systems[:3], "--resamples", 500, "--report", path)
    assert said.endswith(f"Report: {path}\n")
    page = path.read_text(encoding="utf-8")
    assert '<p class="finding">It favours men: right in 100 % of 80 texts about men' in page
    # The shortest quadruple that is half right: a sentence of either kind, with what was found.
    assert '<mark class="head">Kim</mark> met Lee. Then <mark class="head">he</mark> left.' in page
    assert page.index("men − women") < page.index('<h2 id="numbers-title">')
    assert "<summary>All 21 numbers of Counter-GAP</summary>" in page
    with pytest.raises(SettingError, match="expected a file, got the folder"):
        coref("score", "counter-gap", *systems[:3], "--report", tmp_path)
