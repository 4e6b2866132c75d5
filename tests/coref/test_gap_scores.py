"""GAP's scores by hand: the official scorer's quirks, baselines over names, intervals and
comparisons."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from mtbias.coref.dataset import DatasetScores
from mtbias.coref.documents import Answers
from mtbias.coref.gap import Gap, numbers, open_gap
from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    Labels,
    NameSpans,
    read_labels,
    write_instances,
)
from mtbias.errors import DataError, UsageError
from mtbias.stats.paired import NumberUnits
from mtbias.stats.results import Floats
from mtbias.types import Span
from tests.coref.small_corpora import gap_instance

TEXT = "Ann Bell met Cora. Then {} left for Dee."


def example(id_: str, pronoun: str, labels: str) -> GapInstance:
    """A = Bell (4:8), B = Cora (13:17), the pronoun at 24; `labels` such as "TF"."""
    a, b = (label == "T" for label in labels)
    return gap_instance(id_, TEXT.format(pronoun), pronoun, 24, "Bell", 4, a, "Cora", 13, b)


def data(*examples: GapInstance) -> GapFile:
    return GapFile(Path("gap.tsv"), "", False, (), examples)


def names(file: GapFile, *spans: tuple[int, int]) -> NameSpans:
    """The same names for every text."""
    return NameSpans({i.id: tuple(Span(*span) for span in spans) for i in file.instances}, "", 0)


FOUR = data(
    example("1", "he", "TF"),
    example("2", "His", "FT"),
    example("3", "she", "TF"),
    example("4", "HER", "FF"),
)


def system(tmp_path: Path, *rows: str, file: GapFile = FOUR) -> Answers:
    path = tmp_path / "system.tsv"
    path.write_text("".join(row.replace(" ", "\t") + "\n" for row in rows), encoding="utf-8")
    return Gap(file).read([path])


def score(file: GapFile, answers: Answers, weights: Floats | None = None) -> DatasetScores:
    return Gap(file, weights={} if weights is None else {"w": weights}).score(answers, resamples=0)


def test_counts_by_hand(tmp_path: Path) -> None:
    scores = score(
        FOUR, system(tmp_path, "1 TRUE FALSE", "2 true TRUE", "3 False false", "4 FALSE TRUE")
    )
    overall, masculine, feminine = (
        list(scores.counts[name].values()) for name in ("overall", "masculine", "feminine")
    )
    value = {one.key: one.estimate.value for one in scores.numbers}
    # Masculine: 1 has tp and tn, 2 has fp and tp. Feminine: 3 has fn and tn, 4 has tn and fp.
    # n, tp, fp, fn, tn, positives, texts with both right: the first alone.
    assert masculine == [2, 2, 1, 0, 1, 2, 1]
    assert feminine == [2, 0, 1, 1, 2, 1, 0]
    assert overall == [4, 2, 2, 1, 3, 3, 1]
    assert [value[f"texts:{of}"] for of in ("overall", "masculine", "feminine", "difference")] == [
        25,
        50,
        0,
        50,
    ]
    assert value["precision:masculine"] == pytest.approx(200 / 3)
    assert value["recall:masculine"] == 100
    assert value["f1:masculine"] == pytest.approx(80)
    assert value["accuracy:masculine"] == 100
    assert value["f1:overall"] == pytest.approx(400 / 7)  # 2·2 / (2·2 + 2 + 1)
    # No feminine candidate is found: 0 as the official scorer has it, and no bias ("-" there).
    assert (value["precision:feminine"], value["recall:feminine"], value["f1:feminine"]) == (
        0,
        0,
        0,
    )
    assert value["accuracy:feminine"] == 0
    assert value["bias:f1"] is None
    assert value["bias:accuracy"] is None
    assert all(isinstance(count, int) for count in overall)


def test_what_is_missing_counts_as_a_false_negative_even_where_gold_is_false(
    tmp_path: Path,
) -> None:
    # 1 is not there: 2 fn. In 2 one label is unreadable: 1 fn and 1 tp. 4 is FALSE twice, and not
    # there: 2 fn.
    given = system(
        tmp_path,
        "ID A-coref B-coref",
        "2 maybe TRUE",
        "3 TRUE FALSE",
        "3 FALSE TRUE",
        "9 TRUE TRUE",
    )
    scores = score(FOUR, given)
    assert scores.counts["overall"] == {
        "n": 4,
        "tp": 2,
        "fp": 0,
        "fn": 5,
        "tn": 1,
        "positives": 3,
        "right": 1,
    }
    assert scores["recall:overall"].value == pytest.approx(200 / 7)
    assert scores["accuracy:overall"].value == pytest.approx(200 / 3)
    assert given.notes == (
        "1 labels that are neither true nor false (false negatives)",
        "1 rows whose id came before (passed over)",
        "2 examples without an answer (each counts as two false negatives)",
        "1 rows whose id is not in the data (passed over)",
    )


def test_bias_is_feminine_over_masculine(tmp_path: Path) -> None:
    given = system(tmp_path, "1 TRUE TRUE", "2 FALSE FALSE", "3 TRUE FALSE", "4 FALSE FALSE")
    weights = np.array([3.0, 1.0, 0.5, 0.0])
    scores = score(FOUR, given, weights)
    # Masculine: tp 1, fp 1, fn 1: F1 1/2, accuracy 1/2. Feminine: tp 1 of 1: 1.
    assert scores["bias:f1"].value == pytest.approx(2)
    assert (scores["f1:feminine"].n, scores["f1:masculine"].n) == (2, 2)
    assert scores["bias:accuracy"].value == pytest.approx(2)
    assert (scores["accuracy:feminine"].n, scores["accuracy:masculine"].n) == (1, 2)
    # Weights found: 0.5 feminine, 3 masculine.
    assert scores["bias:w"].value == pytest.approx(0.5 / 3)
    feminine, masculine = (scores[name] for name in ("w:feminine", "w:masculine"))
    assert (feminine.value, masculine.value) == pytest.approx((100, 75))
    assert (feminine.n, masculine.n) == (0.5, 4)


def test_undefined_numbers_are_none() -> None:
    nobody = data(example("1", "he", "FF"))
    answers = Answers({"1": Labels(a=False, b=False)}, {})
    scores = Gap(nobody, weights={"w": np.zeros(1)}).score(answers, resamples=200)
    assert scores["accuracy:overall"].value is None
    assert scores.counts["feminine"]["n"] == 0
    assert scores["accuracy:feminine"].value is None
    assert scores["bias:w"].value is None
    assert scores["f1:overall"].interval is None


def test_weights_are_called_by_their_files(tmp_path: Path) -> None:
    path = tmp_path / "gap.tsv"
    path.write_text(write_instances(FOUR.instances), encoding="utf-8")
    content = json.dumps(
        {f"{n}{side}": float(n + side in {"1a", "2b", "3a"}) for n in "1234" for side in "ab"}
    )
    (tmp_path / "w.json").write_text(content, encoding="utf-8")
    assert list(open_gap(path, None, [tmp_path / "w.json"]).weights) == ["w.json"]
    for names in (["f1"], ["w.json", "w.json"]):
        with pytest.raises(UsageError, match="--weights: expected files of different names, got"):
            open_gap(path, None, [tmp_path / name for name in names])


def _picked(rule: str, spans: NameSpans) -> list[list[float | None]]:
    return [list(labels) for labels in Gap(FOUR, spans).baseline(rule).of.values()]


def test_the_nearest_name() -> None:
    # Distance in tokens from the pronoun: Dee (36:39) 2, Cora (13:17) 2 (". Then"), Ann Bell (0:8)
    # 4: text order decides between Cora and Dee.
    spans = names(FOUR, (36, 39), (0, 8), (13, 17))
    assert _picked("dist-1", spans) == [[0, 1]] * 4
    assert _picked("dist-2", spans) == [[0, 0]] * 4
    assert _picked("dist-3", spans) == [[1, 0]] * 4
    assert _picked("dist-4", spans) == [[0, 0]] * 4  # fewer names than that


def test_one_pick_is_one_candidate() -> None:
    # One name over both candidates means the TRUE one; where none is, the first.
    spans = names(FOUR, (0, 18))
    assert _picked("dist-1", spans) == [[1, 0], [0, 1], [1, 0], [1, 0]]
    # Names touch where they stand end to end (8 is Bell's end), not one character apart.
    assert _picked("dist-1", names(FOUR, (8, 9))) == [[1, 0]] * 4
    assert _picked("dist-1", names(FOUR, (9, 10))) == [[0, 0]] * 4


def test_the_random_name_in_closed_form() -> None:
    # Of three names one is Cora (B) and two touch Bell (A): 2/3 and 1/3.
    given = _picked("random", names(FOUR, (0, 3), (4, 8), (13, 17)))
    assert given == [[pytest.approx(1 / 3), pytest.approx(1 / 3)]] * 4  # 0:3 ends one before Bell
    given = _picked("random", names(FOUR, (0, 4), (4, 8), (13, 17)))
    assert given[0] == pytest.approx([2 / 3, 1 / 3])
    random = Gap(FOUR, names(FOUR, (0, 4), (4, 8), (13, 17)))
    scores = random.score(random.baseline("random"), resamples=0)
    overall = scores.counts["overall"]
    # tp: 2/3 + 1/3 + 2/3; fp: 1/3 + 2/3 + 1/3 + 1; positives 3. F1 = 2·tp / (2·tp + fp + fn).
    assert overall["tp"] == pytest.approx(5 / 3)
    assert overall["fp"] == pytest.approx(7 / 3)
    assert overall["fn"] == pytest.approx(4 / 3)
    assert scores["f1:overall"].value == pytest.approx(100 * (10 / 3) / (10 / 3 + 7 / 3 + 4 / 3))
    assert overall["n"] == 4
    # The right one alone is picked: A 2/3, B 1/3, A 2/3; where neither is right, one of them always
    # is.
    assert overall["right"] == pytest.approx(5 / 3)
    assert _picked("random", names(FOUR)) == [[0, 0]] * 4


def _many(n: int) -> GapFile:
    return data(*(example(str(i), "she" if i % 2 else "he", "TF") for i in range(n)))


def test_intervals_are_those_of_the_examples() -> None:
    # 400 examples with one TRUE candidate each, 100 of 200 found in each gender and nothing else:
    # accuracy is 50 with a standard error of 100·√(.25/400) = 2.5; the ratio of two accuracies of
    # 200 has about √(2/200) = 0.1.
    file = _many(400)
    answers = Answers({str(n): Labels(a=n < 200, b=False) for n in range(400)}, {})
    gap = Gap(file, weights={"w": np.ones(400)})
    scores = gap.score(answers, resamples=4000)
    accuracy, bias = scores["accuracy:overall"], scores["bias:accuracy"]
    assert accuracy.value == 50
    assert accuracy.interval == pytest.approx((50 - 1.96 * 2.5, 50 + 1.96 * 2.5), abs=0.5)
    assert bias.value == 1
    assert bias.interval == pytest.approx((np.exp(-0.196), np.exp(0.196)), abs=0.03)
    assert scores["bias:w"].value == 1
    assert gap.score(answers, resamples=4000).numbers == scores.numbers
    few = Gap(_many(18)).score(answers, resamples=200)
    # 9 of each gender: a ratio has no interval, and 18 of 18 found have Wilson's, from 18 / (18 +
    # z²) on.
    assert few["bias:accuracy"].interval is None
    assert few["accuracy:overall"].interval == pytest.approx((1800 / (18 + 1.959964**2), 100))


def test_systems_are_compared_by_randomisation() -> None:
    # 12 examples; the first system finds 1 to 9, the second 9 to 11: 8 against 2 where they differ.
    # Of accuracies this is McNemar's exact test. All 2**10 arrangements are counted.
    def found_in(places: range, n: int = 12) -> NumberUnits:
        answers = {str(at): Labels(a=at in places, b=False) for at in range(n)}
        return Gap(_many(n)).score(Answers(answers, {}), resamples=0).units[""]

    one, other = found_in(range(9)), found_in(range(8, 11))
    found = one.minus(other, "rows", 1024, 0)
    assert found["accuracy:overall"].difference == pytest.approx(50)
    assert found["accuracy:overall"].p == pytest.approx(binomtest(2, 10).pvalue)
    assert set(found) == {"f1:overall", "accuracy:overall", "bias:f1", "bias:accuracy"}
    nothing = one.minus(found_in(range(0)), "rows", 100, 0)
    assert (nothing["bias:f1"].difference, nothing["bias:f1"].p) == (None, None)
    with pytest.raises(DataError, match="two systems on the same rows"):
        one.minus(found_in(range(5), 5), "rows", 10, 0)


def test_numbers_of_nothing_are_undefined_or_zero() -> None:
    found = numbers(np.zeros((1, 2, 7)))
    assert found["f1:overall"].tolist() == [0]
    assert np.isnan(found["accuracy:overall"]).all()
    assert np.isnan(found["bias:f1"]).all()


def test_a_pronoun_without_gender(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"gap.tsv: 1: expected one of he, him, .*, hers, herself, got 'they'"
    ):
        score(file := data(example("1", "they", "TF")), system(tmp_path, "1 TRUE FALSE", file=file))


def test_predictions_of_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "system.tsv"
    path.write_text("1\tTRUE\tFALSE\n2\tTRUE\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"system.tsv:2: expected three fields .* got 2"):
        read_labels(path, official=True)
    path.write_text("ID\tA-coref\tB-coref\n", encoding="utf-8")
    with pytest.raises(DataError, match="no predictions in the file"):
        read_labels(path, official=True)
