"""`mtbias score` of several systems: a run each, and one comparison."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from mtbias.cli import main

from .machine import Machine
from .score_commands import FILES, score_command


@pytest.fixture(scope="module")
def both(german: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems' German in folders of their own, under one file name."""
    folder = tmp_path_factory.mktemp("both")
    for name in ("google", "bing"):
        (folder / name).mkdir()
        shutil.copy(german.parent.parent / name / "en-de.txt", folder / name / "en-de.txt")
    return folder


def test_several_systems_have_a_run_each_and_one_comparison(
    prepared: Machine, small: Path, both: Path, tmp_path: Path
) -> None:
    files = [both / name / "en-{lang}.txt" for name in ("google", "bing")]
    done = prepared.run(
        *score_command("--translations", *files, "--data", small, "--out", tmp_path / "all")
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == [
        "bing-de",
        "google-de",
        "report.html",
    ]
    for name in ("google", "bing"):
        alone = tmp_path / "alone" / name
        file = both / name / "en-de.txt"
        assert (
            main(
                score_command(
                    "--translations", file, "--system", name, "--data", small, "--out", alone
                )
            )
            == 0
        )
        for written in FILES:
            assert (tmp_path / "all" / f"{name}-de" / written).read_bytes() == (
                alone / written
            ).read_bytes()
    compared = prepared.run("compare", tmp_path / "all/google-de", tmp_path / "all/bing-de")
    assert done.stdout.startswith(compared.stdout)
    assert done.stdout.splitlines()[-2:] == [
        f"Runs: {tmp_path}/all/google-de, {tmp_path}/all/bing-de",
        f"Report: {tmp_path}/all/report.html",
    ]
    before = (tmp_path / "all/google-de/manifest.json").read_bytes()
    again = prepared.run(
        *score_command(
            "--translations",
            f"google={files[0]}",
            f"bing={files[1]}",
            "--data",
            small,
            "--out",
            tmp_path / "all",
        ),
        "--json",
        MTBIAS_LOG_SECONDS="30",
    )
    lines = (
        r"google-de: accuracy [\d.]+, 1 of 2(, about .+ left)?\nbing-de: accuracy [\d.]+, 2 of 2\n"
    )
    assert re.fullmatch(lines, again.stderr)
    assert (tmp_path / "all/google-de/manifest.json").read_bytes() == before  # what is done is read
    found = json.loads(again.stdout)
    assert [Path(run).name for run in found["runs"]] == ["google-de", "bing-de"]
    assert found["comparison"] == json.loads(
        prepared.run(
            "compare", tmp_path / "all/google-de", tmp_path / "all/bing-de", "--json"
        ).stdout
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a=en-de.txt", "b=en-de.txt"), "expected --out FOLDER with several systems or languages"),
        (
            ("a=en-de.txt", "a=other.txt", "--out", "runs"),
            "expected a name for each system, NAME=FILE; got two for a",
        ),
        (
            ("a=en-de.txt", "b=x.txt", "--out", "runs", "--system", "c"),
            "expected no --system with several",
        ),
        (
            ("a=en-de.txt", "--lang", "es", "--out", "runs"),
            "expected {lang} in the path where there are several",
        ),
        (
            ("../a=en-de.txt", "b=en-de.txt", "--out", "runs"),
            "expected a system's name that a folder can have",
        ),
        (("a=en-{lang}.txt", "b=none.txt", "--out", "runs"), "en-de.txt: there is no such file"),
    ],
)
def test_several_systems_that_cannot_be_told_apart(
    words: Sequence[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(score_command("--translations", *words)) in {1, 2}
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
