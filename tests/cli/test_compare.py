"""`mtbias compare` on finished run folders."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from mtbias.cli import main
from mtbias.runs.call_records import CallRecord
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.scores import score
from mtbias.types import Gender, GenderCall, Json, Reason, Stereotype, Translation

M, F = Gender.MALE, Gender.FEMALE


def _folder(path: Path, system: str, lang: str = "de", **changed: Json) -> Path:
    """A finished run of 80 sentences whose calls depend on the names of system and language."""
    identity: dict[str, Json] = {
        "dataset": "own", "data": {"own.tsv": "00ff"}, "language": lang, "system": system, "aligner": "agree/1",
        "stanza": "stanza/1", "plugin": f"{lang}/1", "mtbias": "0.1.0", "seed": 0,
    }  # fmt: skip
    rng = np.random.default_rng([ord(c) for c in system + lang])
    records = []
    for n in range(80):
        gold, kind = (M, F)[n % 2], (Stereotype.PRO, Stereotype.ANTI)[n // 2 % 2]
        call = gold if rng.random() < 0.6 else (M, F, None)[n % 3]
        made = GenderCall(f"r{n}", call, None if call else Reason.UNALIGNED)
        records.append(
            CallRecord(
                n,
                f"The {'very ' * (n % 5)}good cook {n}.",
                f"Satz {n}",
                "cook",
                gold,
                kind,
                "own",
                1,
                made,
            )
        )
    with RunFolder(path).open_or_create({**identity, **changed}) as folder:
        folder.write_translations([Translation(r.id, r.translation) for r in records])
        folder.write_calls(record.to_json() for record in records)
        numbers = score(records, n_resamples=50).to_json(fingerprint=folder.manifest.fingerprint)
        folder.write_metrics({**numbers, "corpus": {"name": "own", "rows": 80}})
    return path


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    return [str(_folder(tmp_path / name, name)) for name in ("alpha", "beta")]


def _run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["compare", "--resamples", "200", *arguments]) == code
    out, err = capsys.readouterr()
    assert (err if code == 0 else out) == ""
    return out if code == 0 else err


def test_the_table_of_two_runs(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = _run(capsys, *two)
    assert "\n\nown: 80 sentences, 40 about men, 40 about women; pro stereotype 40, anti 40." in out
    assert out.splitlines()[0].split()[0] in {
        "alpha",
        "beta",
        "Within",
        "Whether",
        "Both",
        "1",
    }  # men and women, else which is better
    assert "McNemar" not in out
    assert "McNemar" in _run(capsys, *two, "--full")
    assert "de  alpha" in out
    assert "alpha - beta" in out
    assert out.splitlines()[-1].startswith("Signature: compare|dataset:own|runs:")
    assert "resamples:200|seed:0|mtbias:" in out


def test_systems_have_the_names_that_are_given(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = _run(capsys, *two, "--name", "beam 5", "--name", "greedy")
    assert "beam 5 - greedy" in out
    assert "alpha" not in out
    wrong = _run(capsys, *two, "--name", "beam 5", code=2)
    assert "--name: expected a name for each of 2 runs, got 1" in wrong


def test_a_folder_stands_for_the_runs_in_it(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(two[0]).parent
    (folder / "report.html").write_text("the page of both")
    out = _run(capsys, *two)
    assert _run(capsys, str(folder)) == out
    assert _run(capsys, *map(str, sorted(folder.iterdir()))) == out


def test_languages_are_rows_of_one_table(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spanish = [str(_folder(tmp_path / f"{name}-es", name, "es")) for name in ("alpha", "beta")]
    content = json.loads(_run(capsys, *two, *spanish, "--json"))
    assert [(p["lang"], p["first"], p["second"]) for p in content["pairs"]] == [
        ("de", "alpha", "beta"),
        ("es", "alpha", "beta"),
    ]
    assert content["p"]["tests"] == 2
    assert content == json.loads(_run(capsys, *two, *spanish, "--format", "json"))


def test_rows_in_files(two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    differing = json.loads(_run(capsys, *two, "--json"))["pairs"][0]["differing"]
    assert differing > 0
    table = tmp_path / "rows.csv"
    assert _run(capsys, *two, "--rows", str(table)) == _run(capsys, *two)
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == differing
    assert all(row["first_call"] != row["second_call"] for row in rows)
    lines = tmp_path / "rows.jsonl"
    _run(capsys, *two, "--rows", str(lines))
    assert len(lines.read_text(encoding="utf-8").splitlines()) == differing


def test_a_page_beside_the_table(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    out = _run(capsys, *two, "--report", str(page))
    assert out.endswith(f"\nReport: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert (
        "<h1>alpha and beta: gender in translations from English into German (de) on own</h1>"
        in text
    )
    assert "Sentences on which the calls differ" in text
    # What programs read has nothing but the table.
    assert json.loads(_run(capsys, *two, "--report", str(page), "--json"))["dataset"] == "own"
    assert "--report: expected a file, got the folder" in _run(
        capsys, *two, "--report", str(tmp_path), code=2
    )


def test_weighted_with_one_run(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = _run(capsys, two[0], "--weighted", "all")
    assert "ΔG weighted" in out
    assert "ΔG: the same in all sentences or not known: pronouns, distance, domain" in out
    content = json.loads(
        _run(capsys, two[0], "--json", "--weighted", "length", "--weighted", "pronouns")
    )
    assert content["weightings"]["delta_s"]["properties"] == ["length"]
    assert content["pairs"] == []


@pytest.mark.parametrize("form", ["markdown", "csv", "latex"])
def test_other_formats(two: list[str], form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "compare|dataset:own" in _run(capsys, *two, "--format", form)


def test_the_same_call_prints_the_same_bytes(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(capsys, *two, "--weighted", "all") == _run(capsys, *two, "--weighted", "all")
    assert _run(capsys, *two) != _run(capsys, *two, "--seed", "1")


def test_what_cannot_be_compared_is_one_line(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = str(_folder(tmp_path / "other", "gamma", data={"own.tsv": "11ee"}))
    assert "own.tsv has the SHA-256 00ff in alpha in de and 11ee in gamma in de" in _run(
        capsys, two[0], other, code=1
    )
    assert "twice" in _run(capsys, two[0], two[0], code=1)
    reader = str(_folder(tmp_path / "reader", "gamma", aligner="agree/2"))
    error = _run(capsys, two[0], reader, code=1)
    assert "aligner agree/1 in alpha and agree/2 in gamma" in error
    assert "--different-evaluators" in error
    assert "read by different evaluators" in _run(capsys, two[0], reader, "--different-evaluators")
    assert "manifest.json: no such file" in _run(capsys, two[0], str(tmp_path / "nothing"), code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["alpha"], "expected two runs or more, got one"),
        (
            ["alpha", "beta", "--weighted", "colour"],
            'Invalid value "colour" for --weighted. Choose from: "all", "pronouns"',
        ),
        (["beta", "--rows", "alpha"], "expected two runs or more"),
        (["beta", "alpha", "--rows", "--json"], "--rows"),
        (["beta", "beta", "--rows", "alpha"], "--rows: expected a name that ends in"),
        (["alpha", "beta", "--rows", "-"], "--rows: expected a name that ends in"),
        (["alpha", "beta", "--json", "--format", "csv"], "exclude each other"),
    ],
)
def test_wrong_usage(
    two: list[str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = dict(zip(("alpha", "beta"), two, strict=True))
    assert message in _run(capsys, *(paths.get(a, a) for a in arguments), code=2)
