"""Shares of women: read from tables of several forms, and put beside the entities of a run."""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path

import pytest

from mtbias.errors import DataError, UsageError
from mtbias.scoring.metrics_records import GroupMetrics
from mtbias.scoring.women_share import WomenShares, correlation, read_women, shipped_shares
from mtbias.stats.results import Estimate


def _file(tmp_path: Path, text: str, name: str = "women.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def _group(accuracy: float, men: float | None, women: float | None) -> GroupMetrics:
    rows = {"male": 0 if men is None else 6, "female": 0 if women is None else 4}
    n = rows["male"] + rows["female"]
    values = {"accuracy": accuracy, "recall_male": men, "recall_female": women}
    return GroupMetrics(whole={"n": n}, values=values, denominators=rows)


def _shares(**percent: float) -> WomenShares:
    return WomenShares("women.csv", "share", "00ff", percent)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        (
            "entity,share\nNurse,0.9\nconstruction  Worker,0.035\n",
            "share",
            {"nurse": 90, "construction worker": 3.5},
        ),
        ("entity,percent\nnurse,90\ncleaner,0.5\n", "percent", {"nurse": 90, "cleaner": 0.5}),
        # Per cent whatever the values.
        ("occupation,percent\nplumber,0.7\n", "percent", {"plumber": 0.7}),
        # The share that mtbias documents before statistics, labour statistics before text; empty is
        # not known.
        ("occupation,bergsma_pct_female,bls_pct_female\na,1,2\nb,3,\n", "bls_pct_female", {"a": 2}),
    ],
)
def test_tables_of_shares(
    tmp_path: Path, text: str, column: str, expected: dict[str, float]
) -> None:
    read = read_women(_file(tmp_path, text))
    assert (read.name, read.column) == ("women.csv", column)
    assert read.percent == pytest.approx(expected)


def test_a_column_can_be_chosen(tmp_path: Path) -> None:
    path = _file(tmp_path, "occupation,bergsma_pct_female,bls_pct_female\na,0.5,2\n")
    assert read_women(path, "bergsma_pct_female").percent == {"a": 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "job,share\na,1\n",
            r"women\.csv:1: expected the columns entity or occupation, and share or percent",
        ),
        ("entity,women\na,1\n", "got 'entity', 'women'"),
        ("entity,share\na,90\n", r"women\.csv:2: share: expected a number from 0 to 1, got '90'"),
        ("entity,share\na,nan\n", "got 'nan'"),
        ("entity,share\na,many\n", "got 'many'"),
        (
            "entity,share\na,1\nA ,0\n",
            r"women\.csv:3: expected each occupation once, got 'a' again; remove a row",
        ),
        (
            "entity,percent\na,101\n",
            r"women\.csv:2: percent: expected a number from 0 to 100, got '101'",
        ),
        ("entity,share\na,\n", "expected shares of women in column 'share', got none"),
    ],
)
def test_what_is_no_table_of_shares_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_women(_file(tmp_path, text))


def test_winogenders_own_file(shared: Path) -> None:
    read = read_women(shared / "data" / "coref" / "winogender" / "occupations-stats.tsv")
    # 60 occupations (Rudinger et al. 2018); its line "technician 9.42 40.34".
    assert len(read.percent) == 60
    assert read.share_of("Technician") == 40.34
    assert read.share_of("astronaut") is None


def test_the_statistics_that_ship(shared: Path) -> None:
    ships = shipped_shares()
    # Winogender's 60 as published, and 20 of WinoBias's 40 occupations that it lacks (the other 20
    # are in both).
    winogender = read_women(shared / "data" / "coref" / "winogender" / "occupations-stats.tsv")
    assert {name: ships.percent[name] for name in winogender.percent} == winogender.percent
    lists = shared / "data" / "coref" / "winobias"
    winobias = {
        "mechanic" if name == "mechanician" else name
        for file in ("male_occupations.txt", "female_occupations.txt")
        for name in (lists / file).read_text(encoding="utf-8").casefold().splitlines()
        if name.strip()
    }
    assert set(ships.percent) == set(winogender.percent) | winobias
    assert len(ships.percent) == 80
    # Zhao et al. 2018, table 1: a column of its own, whose occupations are those of WinoBias's
    # lists.
    assert [ships.share_of(name) for name in ("construction worker", "CEO", "housekeeper")] == [
        4,
        39,
        89,
    ]
    table_1 = shipped_shares("winobias")
    assert set(table_1.percent) == winobias
    assert [
        table_1.share_of(name)
        for name in ("carpenter", "physician", "tailor", "nurse", "secretary")
    ] == [
        2,
        38,
        80,
        90,
        95,
    ]
    assert sum(ships.percent[name] != share for name, share in table_1.percent.items()) == 20
    with pytest.raises(
        UsageError,
        match="--women-column without --women FILE: expected percent or winobias, got share",
    ):
        shipped_shares("share")


def test_the_first_line_of_the_statistics_names_source_years_and_licence() -> None:
    text = (
        resources.files("mtbias.scoring")
        .joinpath("data", "women_share.tsv")
        .read_text(encoding="utf-8")
    )
    first = text.splitlines()[0]
    for part in (
        "U.S. Bureau of Labor Statistics",
        "2015",
        "2017",
        "Rudinger",
        "Zhao",
        "licence",
        "public domain",
    ):
        assert part in first


def test_entities_beside_their_shares() -> None:
    by_entity = {
        "nurse": _group(60, 40, 90),
        "Plumber": _group(50, 80, 5),
        "guard": _group(70, 70, None),
        "clerk": _group(55, 60, 50),
        "stranger": _group(99, 99, 99),
    }
    shares = _shares(nurse=90, plumber=2, guard=20, clerk=70)
    gap = correlation(shares, by_entity, "recall_female", "recall_male")
    accuracy = correlation(shares, by_entity, "accuracy")
    # Gaps −75, −10, 50 rise with the shares: ρ = 1. Accuracies 50, 70, 55, 60 have the ranks 1, 4,
    # 2, 3 against 1, 2, 3, 4: Σd² = 0 + 4 + 1 + 1 = 6, ρ = 1 − 6·6/(4·15) = 0.4.
    assert (gap.value, gap.n) == (1, 3)
    assert accuracy.value == pytest.approx(0.4)
    assert accuracy.n == 4
    low, high = accuracy.interval or (math.nan, math.nan)
    assert -1 <= low < 0.4 < high <= 1


def test_the_interval_is_repeatable_and_absent_where_it_says_nothing() -> None:
    groups = {name: _group(10.0 * (i % 5), 50, 50) for i, name in enumerate("abcdefgh")}
    shares = _shares(**{name: 10.0 * i for i, name in enumerate("abcdefgh")})
    one, other = (correlation(shares, groups, "accuracy") for _ in range(2))
    assert one == other
    assert one.interval is not None
    # All gaps are 0: no ranks, so no ρ. Two entities: ρ, but no interval.
    gap = correlation(shares, groups, "recall_female", "recall_male")
    assert gap == Estimate(None, None, 8)
    two = {entity: groups[entity] for entity in "ab"}
    assert correlation(shares, two, "accuracy") == Estimate(1.0, None, 2)
    assert correlation(shares, {}, "accuracy") == Estimate(None, None, 0)
