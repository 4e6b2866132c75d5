"""`mtbias validate` on the public half of the human labels: several languages, a page, a run that
is corrected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtbias.cli import main
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.runs.finished_run import read_run
from mtbias.runs.run_folder import RunFolder
from mtbias.types import Stereotype

from .machine import Machine


@pytest.fixture(scope="module")
def gold(shared: Path) -> Path:
    """The labels."""
    path = shared / "data" / "human_agreement" / "dev.csv"
    if not path.is_file():
        pytest.skip(f"no human labels at {path}")
    return path


@pytest.fixture(scope="module")
def run(
    prepared: Machine, german: Path, small: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Google's German for 41 rows of WinoMT, scored."""
    folder = tmp_path_factory.mktemp("runs") / "google"
    arguments = (
        "score",
        "--translations",
        german,
        "--lang",
        "de",
        "--data",
        small,
        "--out",
        folder,
    )
    assert main([str(a) for a in arguments]) == 0
    return folder


@pytest.fixture
def say(prepared: Machine, gold: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run ``mtbias validate`` with the labels; exit code, standard output and error."""

    def said(*arguments: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["validate", "--gold", str(gold), *map(str, arguments)])
        return code, *capsys.readouterr()

    return said


def test_one_language_keeps_its_shape(say: Any) -> None:
    code, out, _ = say("--lang", "de", "--json")
    found = json.loads(out)
    assert code == 0
    assert found.keys() >= {
        "lang", "n", "agreement", "kappa", "balanced_accuracy", "undecided", "head_exact", "by_basis", "head_n",
        "agreement_decided", "fixed_nouns", "annotator", "agreement_interval", "recall", "labels", "signature",
    }  # fmt: skip
    # The file has 15 male, 19 female and 6 neutral usable labels of the first annotator in German.
    assert found["labels"] == {"male": 15, "female": 19, "neutral": 6}
    evidence, reasons = found["by_evidence"].values(), found["reasons"].values()
    assert sum(part["n"] for part in (*evidence, *reasons)) == found["n"] == 40
    assert (
        sum(part["agreed"] for part in evidence)
        == found["agreed"]
        == round(found["agreement"] * 40 / 100)
    )
    assert [sum(row) for row in found["confusion"]] == [15, 19, 6]
    assert "corrections" not in found


def test_labels_by_basis_leave_the_calls_as_they_are(say: Any) -> None:
    _, everything, _ = say("--lang", "de", "--json")
    code, out, _ = say("--lang", "de", "--basis", "N", "--basis", "D", "--json")
    whole, part = json.loads(everything), json.loads(out)
    assert code == 0
    assert part["by_basis"] == {kind: whole["by_basis"][kind] for kind in ("D", "N")}
    assert part["n"] == sum(group["n"] for group in part["by_basis"].values())
    assert part["signature"].endswith("|basis:N,D")


def test_rows_of_disagreement(say: Any, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    _, out, _ = say("--lang", "de", "--rows", file, "--json")
    found = json.loads(out)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    called_otherwise = [row for row in rows if row["called"] != row["label"]]
    assert len(called_otherwise) == found["n"] - found["agreed"]
    for row in rows:
        assert row["lang"] == "de"
        assert (row["called"] is None) == (row["reason"] is not None)
        assert all(word in row["translation"] for word in row["target"])


def test_several_languages_a_page_and_a_corrected_run(say: Any, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "validation.html"
    options = (
        "--lang",
        "de",
        "--lang",
        "it",
        "--correct",
        run,
        "--resamples",
        "200",
        "--out",
        page,
    )
    code, out, err = say(*options)
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()[1:4]] == [
        ["de", "40"],
        ["it", "41"],
        ["all", "81"],
    ]
    assert f"\nReport: {page}\n" in out
    assert "<h1>How far to trust the evaluator: German (de), Italian (it)</h1>" in page.read_text(
        encoding="utf-8"
    )
    _, out, _ = say(*options, "--json")
    found = json.loads(out)
    assert list(found) == ["languages", "all", "corrections"]
    assert found["all"]["n"] == found["languages"]["de"]["n"] + found["languages"]["it"]["n"]
    (correction,) = found["corrections"]
    assert (correction["lang"], correction["n"]) == ("de", 41)
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["overall"]
    for name, estimate in correction["plain"].items():
        assert estimate["value"] == metrics[name]
    low, high = correction["corrected"]["accuracy"]["interval"]
    assert low <= correction["corrected"]["accuracy"]["value"] <= high
    # 12 German labels of women rest on a pronoun against a masculine noun (C), 2 on a pronoun alone
    # (P).
    assert correction["labels_on_pronouns"] == 14
    others = [part for basis in "NDVX" for part in ("--basis", basis)]
    _, out, _ = say("--lang", "de", *others, *options[4:], "--json")
    without = json.loads(out)["corrections"][0]["corrected"]
    for name, share in correction["percent_from_pronouns"].items():
        plain, corrected = (
            correction["plain"][name]["value"],
            correction["corrected"][name]["value"],
        )
        assert share == pytest.approx(
            100 * (corrected - without[name]["value"]) / (corrected - plain), abs=1e-3
        )
    assert correction["percent_from_pronouns"]["delta_g"] > 50
    assert "14 labels rest on a pronoun, alone or against the noun phrase" in correction["warning"]
    _, out, _ = say(
        "--lang",
        "de",
        "--basis",
        "N",
        "--basis",
        "D",
        "--correct",
        run,
        "--resamples",
        "200",
        "--json",
    )
    assert json.loads(out)["corrections"][0]["warning"] is None


def test_what_does_not_fit_is_refused(say: Any, run: Path, german: Path, tmp_path: Path) -> None:
    code, out, err = say("--lang", "it", "--correct", run)
    assert (code, out) == (1, "")
    assert (
        "expected a run in one of the languages validated here (it), got 'de'; add --lang de" in err
    )
    code, _, err = say("--lang", "de", "--correct", run, run)
    assert (code, "twice; leave one out" in err) == (1, True)
    code, _, err = say("--lang", "de", "--lang", "it", "--translations", german)
    assert (code, "expected a folder with en-CODE.txt for several languages" in err) == (2, True)
    code, _, err = say("--lang", "de", "--basis", "Z")
    assert (code, 'Invalid value "Z" for --basis. Choose from: "N", "D"' in err) == (2, True)
    code, _, err = say("--lang", "de", "--correct", tmp_path)
    assert (code, err.count("\n")) == (1, 1)


def test_a_run_of_another_evaluator_is_refused(say: Any, run: Path, tmp_path: Path) -> None:
    from mtbias.language.installed import get_language

    manifest = {**read_run(run).manifest.identity, "plugin": "de/older"}
    folder = tmp_path / "older"
    with RunFolder(folder).open_or_create(manifest, {}) as other:
        other.write_calls(call.to_json() for call in read_run(run).calls)
        other.write_metrics({**read_run(run).metrics, "fingerprint": other.manifest.fingerprint})
    code, _, err = say("--lang", "de", "--correct", folder)
    assert code == 1
    ours = f"plugin de/{get_language('de').version}"
    assert (
        f"expected a run that this evaluator scored ({ours}), got plugin de/older; score the translations"
        in err
    )
    code, _, err = say("--lang", "de", "--correct", run, "--resamples", "0")
    assert (code, "resamples: expected at least 200 where runs are corrected" in err) == (2, True)
    code, _, err = say("--lang", "de", "--evidence", "stanza", "--correct", run)
    assert (
        code,
        "expected a run that this evaluator scored (evidence stanza/1), got evidence None" in err,
    ) == (
        1,
        True,
    )


def test_sentences_of_unknown_gender_are_not_corrected(say: Any, run: Path, tmp_path: Path) -> None:
    read = read_run(run)

    def written(name: str, unknown: int) -> Path:
        """The run with so many sentences as if they showed no gender."""
        lone = [replace(call, pair=None, control=None) for call in read.calls]
        calls = [
            replace(call, gold=None, stereotype=Stereotype.NONE) for call in lone[:unknown]
        ] + lone[unknown:]
        with RunFolder(tmp_path / name).open_or_create(
            {**read.manifest.identity, "seed": unknown}, {}
        ) as folder:
            fingerprint = folder.manifest.fingerprint
            scores = GENDER_MEASURE.score(calls, n_resamples=20, seed=0).to_json(
                fingerprint=fingerprint
            )
            folder.write_calls(call.to_json() for call in calls)
            folder.write_metrics({**read.metrics, **scores})
        return tmp_path / name

    code, out, _ = say(
        "--lang", "de", "--correct", written("some", 5), "--resamples", "200", "--json"
    )
    assert (code, json.loads(out)["corrections"][0]["n"]) == (0, len(read.calls) - 5)
    code, _, err = say("--lang", "de", "--correct", written("all", len(read.calls)))
    assert (code, err.count("\n")) == (1, 1)
    assert (
        "expected sentences that show a gender, got none; what is corrected is accuracy, ΔG and ΔS"
        in err
    )
