"""The bias of a metric by hand, and from the files of people."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.scoring.metric_bias import ScoredContrast, metric_bias
from mtbias.types import Gender

F, M = Gender.FEMALE, Gender.MALE


def _pairs() -> list[ScoredContrast]:
    """Ten pairs of a woman's and a man's source: of the women the first three prefer the masculine
    by 0.2, the fourth is a tie, the others prefer the feminine by 0.1; men all the masculine by
    0.3."""
    women = [ScoredContrast(F, str(n), 0.5, 0.7) for n in range(3)]
    women.append(ScoredContrast(F, "3", 0.5, 0.5))
    women += [ScoredContrast(F, str(n), 0.6, 0.5) for n in range(4, 10)]
    men = [ScoredContrast(M, str(n), 0.5, 0.8) for n in range(10)]
    return [*women, *men]


def test_the_numbers_by_hand() -> None:
    numbers = metric_bias(_pairs(), n_resamples=200, seed=0).to_json()
    women, men = numbers["groups"]["female"], numbers["groups"]["male"]
    assert numbers["n"] == 20
    assert (women["n"], women["prefers_masculine"]["n"], women["ties"]["n"]) == (10, 3, 1)
    assert women["right"]["percent"] == 60.0  # the tie is not right
    assert women["gap"] == pytest.approx((3 * 0.2 + 0 - 6 * 0.1) / 10, abs=1e-6)
    assert "p" not in women  # whose translation ought to be preferred
    assert men["right"]["percent"] == 100.0
    assert men["gap"] == pytest.approx(0.3)
    assert (numbers["pairs"], numbers["difference"]) == (10, 40.0)
    assert (numbers["right_for_men_alone"], numbers["right_for_women_alone"]) == (4, 0)
    assert numbers["p"] == 0.125  # 2 · (1/2)⁴
    # Right translations: men 0.8; women 0.5 four times, 0.6 six times, which is 0.56 on average.
    assert numbers["right_score_gap"] == pytest.approx(0.24)
    low, high = numbers["difference_ci"]
    assert low <= 40.0 <= high


def test_a_metric_that_prefers_nobody_has_no_bias() -> None:
    even = [ScoredContrast(None, str(n), 0.5, 0.5 + 0.1 * (-1) ** n) for n in range(20)]
    numbers = metric_bias(even, n_resamples=200, seed=0).to_json()
    group = numbers["groups"]["unknown"]
    assert group["gap"] == pytest.approx(0.0)
    assert (group["prefers_masculine"]["n"], group["prefers_feminine"]["n"]) == (10, 10)
    assert group["p"] == 1.0
    uneven = [ScoredContrast(None, str(n), 0.5, 0.7 if n < 3 else 0.4) for n in range(9)]
    shown = metric_bias(
        [*uneven, ScoredContrast(None, "9", 0.5, 0.5)], n_resamples=200, seed=0
    ).to_json()
    # A tie counts for nobody: 2 · P(X ≤ 3), X ~ Binomial(9, 1/2) = 2 · (1 + 9 + 36 + 84) / 512.
    assert shown["groups"]["unknown"]["p"] == pytest.approx(260 / 512, abs=1e-6)
    assert "right" not in group
    assert "difference" not in numbers  # nobody's gender is shown


def test_swapping_the_genders_turns_every_sign() -> None:
    swapped = [
        ScoredContrast(F if each.gender is M else M, each.pair, each.masculine, each.feminine)
        for each in _pairs()
    ]
    one = metric_bias(_pairs(), n_resamples=200, seed=0).to_json()
    other = metric_bias(swapped, n_resamples=200, seed=0).to_json()
    assert other["difference"] == -one["difference"]
    assert other["right_score_gap"] == pytest.approx(-one["right_score_gap"])
    assert other["groups"]["male"]["gap"] == pytest.approx(-one["groups"]["female"]["gap"])
    assert other["groups"]["male"]["right"] == one["groups"]["female"]["right"]
    assert other["p"] == one["p"]


def _own(folder: Path) -> Path:
    path = folder / "own.tsv"
    lines = ["source\tfeminine\tmasculine\tgender"]
    lines += [f"The doctor {n} left.\tDie Ärztin {n} ging.\tDer Arzt {n} ging.\t" for n in "ab"]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_ones_own_contrasts_are_written_scored_and_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contrasts, scores = tmp_path / "contrasts.tsv", tmp_path / "comet.tsv"
    assert main(["metric", "contrasts", "--own", str(_own(tmp_path)), "--out", str(contrasts)]) == 0
    rows = [line.split("\t") for line in contrasts.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["id", "source", "translation", "form", "gender", "pair"]
    assert [row[0] for row in rows[1:]] == ["1/female", "1/male", "2/female", "2/male"]
    assert rows[2][2:5] == ["Der Arzt a ging.", "male", "unknown"]
    scores.write_text("id\tcomet\n1/female\t0.5\n1/male\t0.7\n2/male\t0.6\n2/female\t0.6\n")
    capsys.readouterr()
    command = ["metric", "bias", "--contrasts", str(contrasts), "--scores", str(scores)]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "comet: preference of gender, per cent with 95 % intervals" in out
    assert re.search(r"gender not shown +2 +50\.0 \[9\.5, 90\.5\] +50\.0 ", out)
    assert "Signature: metric:comet#" in out
    assert main([*command, "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["groups"]["unknown"]["gap"] == pytest.approx(0.1)
    assert result["groups"]["unknown"]["gap_ci"] is None  # two are too few


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ("id\tcomet\n1/female\t0.5\n", "expected a score for each of 4 sentences, got none for 3"),
        ("id\tcomet\n9/female\t0.5\n", "comet.tsv:2: expected the id of a sentence"),
        ("id\tcomet\n1/female\tgood\n", "comet.tsv:2: comet: expected a number"),
        ("comet\n0.5\n", "expected the columns 'id' or 'source'"),
    ],
)
def test_scores_that_do_not_fit_are_refused(
    scores: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contrasts, file = tmp_path / "contrasts.tsv", tmp_path / "comet.tsv"
    assert main(["metric", "contrasts", "--own", str(_own(tmp_path)), "--out", str(contrasts)]) == 0
    file.write_text(scores)
    assert main(["metric", "bias", "--contrasts", str(contrasts), "--scores", str(file)]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["2\ts\tf\tm\t\t", "\tt\tf\tm\t\t"], "own.tsv:3: expected another id for each row"),
        (
            ["\ts\tf\tm\tfemale\tp", "\tt\tf\tm\tfemale\tp"],
            "own.tsv:3: expected at most one source about a woman and one about a man in a pair",
        ),
    ],
)
def test_own_contrasts_that_cannot_be_told_apart_are_refused(
    rows: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, out = tmp_path / "own.tsv", tmp_path / "c.tsv"
    lines = ["id\tsource\tfeminine\tmasculine\tgender\tpair", *rows]
    own.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert main(["metric", "contrasts", "--own", str(own), "--out", str(out)]) == 1
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda rows: [*rows, rows[1]], "c.tsv:6: id '1/female' occurs twice"),
        (
            lambda rows: [rows[0], *(re.sub("unknown\t.*", "male\tp", row) for row in rows[1:])],
            "c.tsv:5: expected at most one source about a woman and one about a man in a pair",
        ),
    ],
)
def test_no_contrast_is_lost_on_the_way_to_a_difference(
    changed: Callable[[list[str]], list[str]],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    contrasts, scores = tmp_path / "c.tsv", tmp_path / "comet.tsv"
    assert main(["metric", "contrasts", "--own", str(_own(tmp_path)), "--out", str(contrasts)]) == 0
    rows = contrasts.read_text(encoding="utf-8").splitlines()
    contrasts.write_text("".join(f"{row}\n" for row in changed(rows)), encoding="utf-8")
    scores.write_text("id\tcomet\n1/female\t0.5\n1/male\t0.7\n2/male\t0.6\n2/female\t0.6\n")
    assert main(["metric", "bias", "--contrasts", str(contrasts), "--scores", str(scores)]) == 1
    assert message in capsys.readouterr().err


def test_contrasts_of_several_lines_need_a_table_that_can_hold_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.jsonl"
    row = {"source": "A\tdoctor.", "feminine": "Eine\nÄrztin.", "masculine": "Ein Arzt."}
    own.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    command = ["metric", "contrasts", "--own", str(own), "--out"]
    assert main([*command, str(tmp_path / "c.tsv")]) == 2
    assert "holds a tab or a line break" in capsys.readouterr().err
    table = tmp_path / "c.csv"
    assert main([*command, str(table)]) == 0
    scores = tmp_path / "comet.tsv"
    scores.write_text("id\tcomet\n1/female\t0.5\n1/male\t0.7\n")
    assert main(["metric", "bias", "--contrasts", str(table), "--scores", str(scores)]) == 0


def test_contrasts_need_one_source_of_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "c.tsv")]
    assert main(["metric", "contrasts", *out]) == 2
    assert "expected one of --lang, --run and --own" in capsys.readouterr().err
    own = tmp_path / "own.tsv"
    own.write_text("source\tfeminine\tmasculine\tgender\nA.\tB.\tC.\twoman\n")
    assert main(["metric", "contrasts", "--own", str(own), *out]) == 1
    expected = "own.tsv:2: gender: expected female, male or unknown, got 'woman'"
    assert expected in capsys.readouterr().err


def test_two_translations_that_are_the_same_are_no_contrast(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, out = tmp_path / "own.tsv", tmp_path / "c.tsv"
    rows = ["source\tfeminine\tmasculine", "The guest left.\tDer Gast ging.\tDer Gast ging."]
    own.write_text("\n".join([*rows, "She left.\tSie ging.\tEr ging."]), encoding="utf-8")
    assert main(["metric", "contrasts", "--own", str(own), "--out", str(out)]) == 0
    expected = f"{out}: 1 sources, each with two translations; left out: 1 whose translations are"
    assert expected in capsys.readouterr().out
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3


def test_both_references_of_mt_geneval_stand_under_each_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(os.environ.get("MTBIAS_SHARED", "../shared")) / "data/mtgeneval/sentences"
    if not folder.is_dir():
        pytest.skip("needs MT-GenEval's sentences (MTBIAS_SHARED)")
    out = tmp_path / "c.tsv"
    data = ["--lang", "de", "--data", str(folder)]
    assert main(["metric", "contrasts", *data, "--out", str(out)]) == 0
    assert "600 sources, each with two translations" in capsys.readouterr().out
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    lines = {
        form: (folder / f"geneval-sentences-{word}-test.en_de.de").read_text("utf-8").splitlines()
        for form, word in (("female", "feminine"), ("male", "masculine"))
    }
    assert len(rows) == 1200
    for name, _, translation, form, gender, pair in rows:
        source, number = name.rpartition("/")[0].split("-")
        assert translation == lines[form][int(number) - 1]
        assert gender == {"feminine": "female", "masculine": "male"}[source]
        assert pair == f"feminine-{number}"
