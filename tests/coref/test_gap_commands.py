"""`mtbias coref score gap` and `mtbias coref gap-weights`: what they print, write and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.errors import DataError, UsageError

COLUMNS = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
ROW = "{}\tAnn met Cora. Then {} left.\t{}\t19\tAnn\t0\t{}\tCora\t8\t{}\thttp://example.org"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """24 examples, every other one feminine, A TRUE in two thirds, with their names; a system that
    says A always."""
    rows, names = [COLUMNS], {}
    for n in range(24):
        pronoun = "she" if n % 2 else "he"
        truths = ("TRUE", "false") if n % 3 else ("FALSE", "True")
        rows.append(ROW.format(f"t-{n}", pronoun, pronoun, *truths))
        names[f"t-{n}"] = [[0, 3, "Ann"], [8, 12, "Cora"]]
    (tmp_path / "gap-test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "gap-test-name-spans.json").write_text(json.dumps(names), encoding="utf-8")
    answers = "".join(f"t-{n}\ttrue\tFALSE\n" for n in range(24))
    (tmp_path / "system.tsv").write_text(answers, encoding="utf-8")
    return tmp_path


def test_scores_of_a_system(folder: Path, coref: Callable[..., str]) -> None:
    arguments = (
        "--data",
        folder / "gap-test.tsv",
        "--predictions",
        folder / "system.tsv",
        "--resamples",
        200,
    )
    text = coref("score", "gap", *arguments, "--counts")
    # 16 of 24 antecedents are A, half of them feminine: tp 16, fp 8, fn 8, tn 16.
    assert "overall    24  16   8   8  16         24     16" in text
    assert "\nSignature: coref:gap|data:" in text
    (found,) = json.loads(coref("score", "gap", *arguments, "--json"))["systems"]
    assert found["counts"]["overall"] == {
        "n": 24,
        "tp": 16,
        "fp": 8,
        "fn": 8,
        "tn": 16,
        "positives": 24,
        "right": 16,
    }
    values = {one["key"]: one["value"] for one in found["numbers"]}
    assert values["f1:overall"] == pytest.approx(200 / 3)
    assert values["bias:f1"] == pytest.approx(1)
    assert found["notes"] == ["gap-test.tsv is not the published file"]
    assert text.endswith(f"Signature: {found['signature']}\n")
    assert "|counts:official|unit:example|seed:0|resamples:200|mtbias:" in found["signature"]
    again = json.loads(coref("score", "gap", *arguments, "--json"))["systems"]
    assert again == [found]  # the same seed, the same intervals
    assert json.loads(coref("score", "gap", *arguments, "--seed", 1, "--json"))["systems"] != [
        found
    ]


def test_what_was_left_out_is_said(folder: Path, coref: Callable[..., str]) -> None:
    (folder / "system.tsv").write_text(
        "t-0\ttrue\tperhaps\nt-0\tTRUE\tTRUE\nx\tTRUE\tTRUE\n", encoding="utf-8"
    )
    text = coref(
        "score", "gap", "--data", folder, "--predictions", folder / "system.tsv", "--resamples", 0
    )
    assert "23 examples without an answer (each counts as two false negatives)\n" in text
    assert "1 labels that are neither true nor false (false negatives)\n" in text
    assert "1 rows whose id came before (passed over)\n" in text
    assert "1 rows whose id is not in the data (passed over)\n" in text


def test_a_file_of_other_ids_is_refused(folder: Path, coref: Callable[..., str]) -> None:
    (folder / "system.tsv").write_text("a\tTRUE\tFALSE\nb\tTRUE\tFALSE\n", encoding="utf-8")
    said = r"system.tsv: expected ids of .*gap-test.tsv such as 't-0', got 2 ids of which it has none, such as 'a'; "
    with pytest.raises(DataError, match=said):
        coref(
            "score",
            "gap",
            "--data",
            folder,
            "--predictions",
            folder / "system.tsv",
            "--resamples",
            0,
        )


def test_a_folder_gives_data_and_names(folder: Path, coref: Callable[..., str]) -> None:
    words = [
        "score",
        "gap",
        "--data",
        folder,
        "--baseline",
        "random",
        "--baseline",
        "dist-1",
        "--resamples",
        200,
    ]
    found = json.loads(coref(*words, "--json"))
    assert [system["name"] for system in found["systems"]] == ["random", "dist-1"]
    # Random: each of two names with probability 1/2. Dist-1: Cora, which is nearer, always.
    assert found["systems"][0]["counts"]["overall"]["tp"] == pytest.approx(12)
    assert found["systems"][1]["counts"]["overall"]["tp"] == 8
    differences = {one["key"]: one for one in found["differences"]}
    assert {one["second"] for one in found["differences"]} == {"dist-1"}
    assert differences["accuracy:overall"]["difference"] == pytest.approx(50 - 100 / 3)
    assert "|system:random|names:" in found["systems"][0]["signature"]


def test_weights_go_from_one_command_to_the_other(folder: Path, coref: Callable[..., str]) -> None:
    text = coref("gap-weights", "--data", folder, "--out", folder / "a\x1b[1m.json")
    assert f"\nOut: {folder}/a?[1m.json\nSignature: " in text
    out = folder / "weights.json"
    text = coref("gap-weights", "--data", folder, "--out", out)
    assert "properties: balanced: names=2, distance=1, distance=2\n" in text
    assert f"\nOut: {out}\nSignature: coref:gap-weights|data:" in text
    # A is TRUE (place 2) in 8 women's and 8 men's examples, B in 4 and 4: all weights are 1.
    weights = json.loads(out.read_text(encoding="utf-8"))
    assert len(weights) == 48
    assert sum(weights.values()) == pytest.approx(24)
    assert out.read_text(encoding="utf-8").startswith('{\n"t-0a": 0.0,\n"t-0b": ')
    found = json.loads(coref("gap-weights", "--data", folder, "--json"))
    assert found["solution"]["objective"] == pytest.approx(
        2 * 12 * 11 / 2
    )  # all pairs of either gender
    assert (found["solution"]["n_cells"], found["solution"]["n_zero"], found["histograms"]) == (
        4,
        0,
        None,
    )
    assert found["properties"]["of_one_group"] == []
    assert found["n_drawn"] == 24
    assert "weight, in tenths (4.0: and more): 1.0      12    12\n" in coref(
        "gap-weights", "--data", folder, "--histograms"
    )
    assert found["groups"][0] == {
        "name": "female",
        "n": 12,
        "effective_size": pytest.approx(12),
        "noise_bound": pytest.approx(0, abs=1e-9),
    }
    scored = coref(
        "score",
        "gap",
        "--data",
        folder,
        "--predictions",
        folder / "system.tsv",
        "--weights",
        out,
        "--resamples",
        200,
    )
    assert "bias (F/M), weights.json " in scored
    only = json.loads(
        coref("gap-weights", "--data", folder, "--over", "distance", "--max-distance", 4, "--json")
    )
    assert only["properties"]["balanced"] == ["distance=1", "distance=2"]
    assert "|over:distance|max-names:all|max-distance:4|" in only["signature"]


def test_names_that_balance_nothing_are_warned_of(
    folder: Path, coref: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    spans = folder / "gap-test-name-spans.json"
    for names, warning in (
        ([], "its texts have no names: there is nothing to balance"),
        ([[14, 18, "Then"]], "no name touches an antecedent: no distance can be balanced"),
    ):
        spans.write_text(json.dumps({f"t-{n}": names for n in range(24)}), encoding="utf-8")
        caplog.clear()
        coref("gap-weights", "--data", folder)
        assert [record.message for record in caplog.records] == [
            f"{folder}/gap-test.tsv: {warning}"
        ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to score: give --predictions FILE, or --baseline NAME"),
        (["--baseline", "dist-0"], "unknown baseline 'dist-0'; there are random, dist-1, dist-2"),
        (["--baseline", "nearest"], "unknown baseline 'nearest'"),
        (["--baseline", "dist-1"], "give them with --name-spans FILE"),
        (
            ["--predictions", "s", "--weights", "w", "--weights", "w"],
            "--weights: expected files of different names, got w, w",
        ),
        (
            ["--baseline", "random", "--ids", "order"],
            "--ids: expected it with --predictions, got it 1 times",
        ),
    ],
)
def test_calls_of_gap_that_cannot_be_meant(
    arguments: list[str], said: str, coref: Callable[..., str], folder: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        coref("score", "gap", "--data", folder / "gap-test.tsv", *arguments)


def test_weights_without_names(folder: Path, coref: Callable[..., str]) -> None:
    with pytest.raises(UsageError, match="--name-spans is missing"):
        coref("gap-weights", "--data", folder / "gap-test.tsv")


def test_systems_without_a_bias_favour_nobody(folder: Path, coref: Callable[..., str]) -> None:
    # Who finds no antecedent has no F1 of men or women to divide: F1 is 0 for both, 0 / 0.
    labels = {"a": "TRUE\tFALSE", "b": "FALSE\tTRUE", "both": "TRUE\tTRUE", "none": "FALSE\tFALSE"}
    systems = []
    for name, answer in labels.items():
        lines = "".join(f"t-{n}\t{answer}\n" for n in range(24))
        (folder / f"{name}.tsv").write_text(lines, encoding="utf-8")
        systems.append(f"{name}={folder / name}.tsv")
    words = ["score", "gap", "--data", folder / "gap-test.tsv", "--resamples", 200]
    said = " ".join(coref(*words, *systems).split())
    assert "None of 3 systems clearly favour men, none women; bias (F/M), F1: from " in said
    assert "; without this number: none." in said
    # With one bias alone there is nothing to count.
    copy = folder / "again.tsv"
    copy.write_text((folder / "none.tsv").read_text(encoding="utf-8"), encoding="utf-8")
    said = coref(*words, systems[0], systems[3], f"again={copy}")
    assert "bias (F/M), F1: from" not in " ".join(said.split())
