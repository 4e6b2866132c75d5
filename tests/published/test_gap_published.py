"""GAP's official scorer, and table 1 of "The Gap on GAP" (Kocijan, Camburu and Lukasiewicz 2020),
cell by cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mtbias.cli import main
from mtbias.coref.dataset import DatasetScores
from mtbias.coref.documents import Answers
from mtbias.coref.gap import GROUPS, Gap
from mtbias.coref.gap_data import GapFile, Labels, NameSpans, read_instances, read_name_spans
from mtbias.coref.gap_weights import Property, properties, read_gap_weights, solve_gap_weights
from mtbias.stats.results import Floats

COLUMNS = ("F1", "Acc", "F1-Bias", "acc-Bias", "W", "W_num", "W_dist", "Wt")

# Table 1, baselines on the annotated names.
PRINTED = {
    "random": ".305 .224 .884 .849 1.000 .995 .899 1.000",
    "dist-1": ".463 .412 .850 .776 1.000 .804 1.000 1.000",
    "dist-2": ".353 .310 .923 .882 1.000 .920 1.000 1.000",
    "dist-3": ".228 .156 1.270 1.347 1.006 1.266 1.010 1.007",
}

# One cell differs. The paper averages 10,000 random runs, with a standard error of .0008; this is
# the exact value.
DIFFERS = {("random", "W_num"): ".996"}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    folder = shared / "data" / "coref" / "gap"
    if not folder.is_dir():
        pytest.skip(f"no GAP at {folder}")
    return folder


@pytest.fixture(scope="module")
def data(folder: Path) -> GapFile:
    return read_instances(folder / "gap-test.tsv")


@pytest.fixture(scope="module")
def spans(folder: Path, data: GapFile) -> NameSpans:
    return read_name_spans(folder / "gap-test-name-spans.json", data)


@pytest.fixture(scope="module")
def weights(folder: Path, data: GapFile, spans: NameSpans) -> list[Floats]:
    """W and W_t as published; W_num and W_dist, of which there is no file, as solved here."""

    examples = properties(data, spans)

    def solved(over: Property) -> Floats:
        found = solve_gap_weights(examples, over=[over]).weights
        return np.array([found[i.id + "a"] + found[i.id + "b"] for i in data.instances])

    published = [
        read_gap_weights(folder / name, data)[0]
        for name in ("linear_weights.json", "linear_weights_trimmed.json")
    ]
    return [published[0], solved("names"), solved("distance"), published[1]]


def _score(data: GapFile, spans: NameSpans, weights: list[Floats], rule: str) -> DatasetScores:
    gap = Gap(data, spans, dict(zip(COLUMNS[4:], weights, strict=True)))
    return gap.score(gap.baseline(rule), resamples=0)


@pytest.mark.parametrize("baseline", PRINTED)
def test_table_1(baseline: str, data: GapFile, spans: NameSpans, weights: list[Floats]) -> None:
    scores = _score(data, spans, weights, baseline)
    found = [(scores[name].value or 0) / 100 for name in ("f1:overall", "accuracy:overall")]
    found += [scores[f"bias:{name}"].value or 0 for name in ("f1", "accuracy", *COLUMNS[4:])]
    printed = [f"{value:.3f}".removeprefix("0") for value in found]
    paper = dict(zip(COLUMNS, PRINTED[baseline].split(), strict=True))
    assert dict(zip(COLUMNS, printed, strict=True)) == {
        c: DIFFERS.get((baseline, c), cell) for c, cell in paper.items()
    }


def test_the_cell_of_table_1_that_differs(
    data: GapFile, spans: NameSpans, weights: list[Floats]
) -> None:
    value = _score(data, spans, weights, "random")["bias:W_num"].value
    assert value is not None
    assert value == pytest.approx(0.99575, abs=5e-6)
    assert (
        abs(value - 0.995) < 2 * 0.00083
    )  # the printed value, and the standard error of the paper's simulation


def test_the_test_set(data: GapFile) -> None:
    none = Answers({i.id: Labels(a=False, b=False) for i in data.instances}, {})
    scores = Gap(data).score(none, resamples=0)
    # 2,000 examples, 1,000 of each gender; 918 + 855 candidates are TRUE, 889 masculine and 884
    # feminine.
    assert [(c["n"], c["positives"]) for c in scores.counts.values()] == [
        (2000, 1773),
        (1000, 889),
        (1000, 884),
    ]
    assert [
        sum(label is True for label in labels)
        for labels in zip(*(i.gold for i in data.instances), strict=True)
    ] == [918, 855]


def _system(data: GapFile, path: Path, rows: list[tuple[str, str, str]]) -> DatasetScores:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    gap = Gap(data)
    return gap.score(gap.read([path]), resamples=0)


# The three systems below were scored with the official gap_scorer.py
# (google-research-datasets/gap-coreference).


def test_everything_true_as_the_official_scorer_has_it(data: GapFile, tmp_path: Path) -> None:
    scores = _system(data, tmp_path / "s.tsv", [(i.id, "TRUE", "TRUE") for i in data.instances])
    f1 = [f"{scores[f'f1:{group}'].value:.4f}" for group in GROUPS]
    assert f1 == ["61.4239", "61.5438", "61.3037"]
    assert f"{scores['bias:f1'].value:.6f}" == "0.996100"


def test_only_a_as_the_official_scorer_has_it(data: GapFile, tmp_path: Path) -> None:
    scores = _system(data, tmp_path / "s.tsv", [(i.id, "true", "FALSE") for i in data.instances])
    assert f"{scores['bias:f1'].value:.6f}" == "1.029214"


def test_gold_on_odd_ids_as_the_official_scorer_has_it(data: GapFile, tmp_path: Path) -> None:
    odd = [i for i in data.instances if int(i.id.removeprefix("test-")) % 2]
    rows = [(i.id, str(i.gold.a), str(i.gold.b)) for i in odd]
    counts = _system(data, tmp_path / "s.tsv", rows).counts["overall"]
    assert (counts["tp"], counts["fn"], counts["fp"]) == (875, 2000, 0)


def test_the_other_parts_of_gap_can_be_read(folder: Path) -> None:
    for name, n in (("gap-development.tsv", 2000), ("gap-validation.tsv", 454)):
        assert len(read_instances(folder / name).instances) == n


def test_table_1_as_the_paper_writes_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["coref", "score", "gap", "--data", str(folder), "--resamples", "0"]
    for baseline in PRINTED:
        words += ["--baseline", baseline]
    for name in ("linear_weights.json", "linear_weights_trimmed.json"):
        words += ["--weights", str(folder / name)]
    assert main([*words, "--layout", "paper"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    first = rows.index(["F1", "Acc", "F1-Bias", "acc-Bias", "W-Bias", "W_t-Bias"]) + 1
    shown = [0, 1, 2, 3, 4, 7]  # W_num and W_dist have no published file
    for row, (baseline, cells) in zip(rows[first:], PRINTED.items(), strict=False):
        printed = [f"{float(cells.split()[place]):.3f}" for place in shown]
        assert row == [baseline, *printed]
