"""Two systems on one data set: differences by hand, over rows and over occupations, and the
commands' refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtbias.cli import main
from mtbias.coref.sowinobias import generate, parse_vocabulary
from mtbias.coref.winogender import read_winogender
from mtbias.errors import DataError
from mtbias.files.reading import read_text
from mtbias.stats.paired import Draw, NumberUnits, corrected
from mtbias.stats.results import Difference, Floats, percent
from tests.coref.small_corpora import (
    ANTI_SENTENCES,
    PRO_SENTENCES,
    write_winobias,
    write_winogender,
)

OCCUPATIONS = ("cook", "cook", "nurse")


def share(sums: Floats) -> Mapping[str, Floats]:
    return {"share": percent(sums[:, 0], sums[:, 1])}


def units(right: str, occupations: tuple[str, ...] = OCCUPATIONS) -> NumberUnits:
    """A row for each digit: 1 is right."""
    return NumberUnits(
        np.array([[int(bit), 1] for bit in right], dtype=np.float64), occupations, share
    )


def test_rows_are_exchanged_one_by_one_or_an_occupation_at_a_time() -> None:
    # Of three rows the first system has all right, the second none: 100 points. By rows 2 of 2**3
    # exchanges give as much. The two of the cook go together: 2 of 2**2.
    by_rows = units("111").minus(units("000"), "rows", 100, 0)["share"]
    by_occupations = units("111").minus(units("000"), "occupations", 100, 0)["share"]
    assert (by_rows.first, by_rows.second, by_rows.difference) == (100, 0, 100)
    assert (by_rows.p, by_occupations.p) == (2 / 8, 2 / 4)
    assert by_rows.interval is None  # three rows are too few
    assert by_occupations.difference == 100


def test_intervals_over_occupations_are_those_of_a_bootstrap_by_hand() -> None:
    # Twenty occupations of two rows, both right or both wrong: over rows the interval is that of 40
    # rows, over occupations of 20, and so wider by about the square root of two.
    of = units("11" * 10 + "00" * 10, tuple(f"o{n // 2}" for n in range(40)))
    draws: tuple[Draw, ...] = ("rows", "occupations")
    rows, occupations = (of.over(over, 4000, 1)["share"] for over in draws)
    assert (rows.value, rows.n, occupations.value, occupations.n) == (50, 40, 50, 20)
    assert rows.interval is not None
    assert occupations.interval is not None
    widths = [high - low for low, high in (rows.interval, occupations.interval)]
    assert widths[1] / widths[0] == pytest.approx(2**0.5, rel=0.1)
    drawn = (
        np.random.default_rng(7).binomial(20, 0.5, 100_000) * 5
    )  # per cent of 20 draws that are right
    assert occupations.interval == pytest.approx(tuple(np.quantile(drawn, (0.025, 0.975))), abs=5)


def test_paired_intervals_leave_out_what_both_systems_share() -> None:
    # Both are right on the same half; the first is right on one row more: the difference moves by
    # that row alone.
    first, second = units("1" * 20 + "0" * 20, ("x",) * 40), units("1" * 19 + "0" * 21, ("x",) * 40)
    found = first.minus(second, "rows", 4000, 0)["share"]
    assert found.difference == 2.5
    assert found.interval is not None
    assert found.interval[0] == 0
    assert found.interval[1] <= 10  # the row is drawn up to four times of forty
    assert found.p == 1  # exact: exchanged or not, the difference is as large


def test_other_rows_are_refused() -> None:
    with pytest.raises(DataError, match="two systems on the same rows, got other rows"):
        units("111").minus(units("111", ("cook", "nurse", "nurse")), "rows", 10, 0)


def test_p_is_corrected_over_all_parts() -> None:
    parts = [
        {"a": Difference(1, 0, 1, p=0.01), "b": Difference(1, None, None)},
        {"a": Difference(1, 0, 1, p=0.04)},
    ]
    found = corrected(parts, together=True)
    assert [of["a"].p_holm for of in found] == [0.02, 0.04]
    assert found[0]["b"].p_holm is None


def predictions(folder: Path, name: str, *, right: bool) -> Path:
    """Clusters of all sentences of the small WinoBias: the gold ones, or none."""
    lines = []
    for condition, sentences in (("pro", PRO_SENTENCES), ("anti", ANTI_SENTENCES)):
        for n, (_, gold) in enumerate(sentences):
            clusters = [[list(mention) for mention in gold]] if right else []
            lines.append(json.dumps({"id": f"nw/{condition}//{n}", "clusters": clusters}))
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def differences(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    """By key, what `mtbias coref score` says of two systems."""
    assert main(["coref", "score", *map(str, words), "--json"]) == 0
    return {one["key"]: one for one in json.loads(capsys.readouterr().out)["differences"]}


def test_winobias_against_a_second_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_winobias(tmp_path)
    gold, nothing = (
        predictions(tmp_path, f"{right}.jsonl", right=right) for right in (True, False)
    )
    words = [
        "winobias",
        "--data",
        tmp_path,
        "--predictions",
        gold,
        "--against",
        nothing,
        "--resamples",
        200,
    ]
    numbers = differences(capsys, *words)
    assert {one["drawn"] for one in numbers.values()} == {
        3
    }  # lines: a pro and an anti sentence each
    assert {one["part"] for one in numbers.values()} == {"dev type 1"}
    assert numbers["link_pro"]["values"] == [100, 0]
    assert numbers["f1_average"]["difference"] == 100
    assert numbers["link_difference"]["difference"] == 0
    assert numbers["link_average"]["p"] == 2 / 8
    over = differences(capsys, *words, "--over", "occupations")
    assert {one["drawn"] for one in over.values()} == {3}  # the plumber, the florist and the nanny
    assert main(["coref", "score", *map(str, words), "--over", "occupations", "--full"]) == 0
    shown = capsys.readouterr().out
    assert "link accuracy, pro, over occupations" in shown
    assert "|over:occupations|" in shown
    assert (
        "False, winobias: documents without any cluster: all 6\n" in shown
    )  # of the second, not of the first


def test_winogender_against_a_second_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_winogender(tmp_path)
    places = {id_: sentence.places for id_, sentence in read_winogender(tmp_path).sentences.items()}
    for name, person in (("one", 0), ("other", 1)):  # the occupation, the participant
        lines = [
            {"id": id_, "clusters": [[[at[person]] * 2, [at[2]] * 2]]} for id_, at in places.items()
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    files = (tmp_path / "one.jsonl", "--against", tmp_path / "other.jsonl")
    numbers = differences(
        capsys, "winogender", "--data", tmp_path, "--predictions", *files, "--resamples", 200
    )
    assert {one["drawn"] for one in numbers.values()} == {3}  # occupations
    assert numbers["male_occupation"]["difference"] == 100
    assert numbers["male_occupation"]["p"] == 2 / 8
    assert numbers["consistency"]["difference"] == 0
    assert numbers["pearson_bls"]["difference"] is None  # neither prefers anything


def test_bug_and_sowinobias_against_a_second_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # BUG: "the cook … he" linked by the first system alone, a man's and a woman's row: 2 of 2
    # against 0 of 2.
    header = "sentence_text,profession,g,profession_first_index,g_first_index,predicted gender,stereotype,distance,"
    rows = [
        "the cook said he left,cook,he,1,3,Male,1,2,1,pubmed",
        "the cook said she left,cook,she,1,3,Female,-1,2,1,pubmed",
    ]
    bug = tmp_path / "bug.csv"
    bug.write_text("\n".join([header + "num_of_pronouns,corpus", *rows]) + "\n", encoding="utf-8")
    files = []
    for name, clusters in (("one", [[[0, 1], [3, 3]]]), ("other", [])):
        files.append(tmp_path / f"{name}.jsonl")
        lines = [json.dumps({"id": str(n), "clusters": clusters}) for n in range(2)]
        files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["--predictions", files[0], "--against", files[1], "--resamples", 200]
    numbers = differences(capsys, "bug", "--data", bug, *words)
    assert {key: d["difference"] for key, d in numbers.items()} == {
        "accuracy": 100,
        "delta_g": 0,
        "delta_s": 0,
    }
    assert numbers["accuracy"]["p"] == 2 / 4

    lists = {"male_occupations": ["smith"], "female_occupations": ["nurse"], "positive_adjectives": ["kind"],
             "negative_adjectives": ["shy"]}  # fmt: skip
    vocabulary = tmp_path / "words.toml"
    vocabulary.write_text(
        "".join(f"{name} = {json.dumps(of)}\n" for name, of in lists.items()), encoding="utf-8"
    )
    sentences = generate(parse_vocabulary(read_text(vocabulary)))
    assert len(sentences) == len(list(product(("pro", "anti"), ("positive", "negative"))))
    for name, path in zip(("second", "first"), files, strict=True):
        lines = [
            json.dumps({"id": s.id, "clusters": [[getattr(s, name), s.pronoun]]}) for s in sentences
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    numbers = differences(capsys, "sowinobias", "--data", vocabulary, *words)
    assert {one["drawn"] for one in numbers.values()} == {2}  # pairs
    assert numbers["all:pro"]["difference"] == 100
    assert numbers["all:difference"]["difference"] == 0
