"""The other benchmarks through every command, on their first real lines: a sweep, a comparison, a
killed run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from mtbias.cli import main
from tests.cli.machine import Machine

pytestmark = pytest.mark.slow

FILES = ("translations.jsonl", "calls.jsonl", "metrics.json")
DATASETS = ("mt-geneval", "mt-geneval-context", "gest")
TARGET = "es"  # of all three, and of the demo's model


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("benchmarks"))


@pytest.fixture(scope="module")
def data(shared: Path, machine: Machine) -> Mapping[str, Path]:
    """Eight sentences of each of both versions, eight with a context, 16 in the first person."""
    for place, lines in (("sentences", 8), ("context", 8), ("gest", 17)):
        folder = machine.folder / place
        folder.mkdir()
        source = shared / "data" / ("gest" if place == "gest" else f"mtgeneval/{place}")
        for file in [source / "gest.csv"] if place == "gest" else source.glob(f"*en_{TARGET}.*"):
            head = file.read_text(encoding="utf-8").split("\n")[:lines]
            (folder / file.name).write_text("".join(f"{line}\n" for line in head), encoding="utf-8")
    return dict(
        zip(
            DATASETS,
            (machine.folder / place for place in ("sentences", "context", "gest")),
            strict=True,
        )
    )


def asked(name: str, data: Path) -> tuple[str | Path, ...]:
    model = ("eval", "--model", "demo", "--lang", TARGET, "--stanza-dir", "mtbias:demo")
    return (*model, "--dataset", name, "--data", data)


def test_a_sweep_over_all_of_them_is_as_eval_and_its_runs_are_compared_and_reported(
    machine: Machine,
    data: Mapping[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "all.toml"
    file.write_text(
        f"out = 'runs'\nmodels = ['demo']\nlanguages = ['{TARGET}']\ndatasets = {list(DATASETS)}\n"
        "presets = ['fast']\nbeams = 2\nmax_length = 50\nstanza_dir = 'mtbias:demo'\n[data]\n"
        + "".join(f"{name} = '{folder}'\n" for name, folder in data.items())
    )
    planned = machine.run("sweep", file, "--dry-run")
    assert (planned.returncode, planned.stderr) == (0, "")
    sizes = {"mt-geneval": "16", "mt-geneval-context": "8", "gest": "16"}
    for name, size in sizes.items():
        assert any(
            line.split()[:3] == [f"{name}/demo-fast/{TARGET}", size, "1"]
            for line in planned.stdout.splitlines()
        )
    assert not (tmp_path / "runs").exists()
    done = machine.run("sweep", file)
    assert (done.returncode, done.stderr) == (0, "")
    table = (tmp_path / "runs" / "table.txt").read_text()
    assert "Judged on mt-geneval-context" in table
    assert "Accuracy of pairs on mt-geneval," in table
    monkeypatch.setenv("MTBIAS_CACHE", str(machine.cache))
    for name, folder in data.items():
        made, other = (tmp_path / name / beams for beams in ("2", "1"))
        for out in (made, other):
            words = (
                *asked(name, folder),
                "--preset",
                "fast",
                "--beams",
                out.name,
                "--max-length",
                "50",
                "--out",
                out,
            )
            assert main([*map(str, words)]) == 0
        for each in FILES:
            swept = tmp_path / "runs" / name / "demo-fast" / TARGET / each
            assert (made / each).read_bytes() == swept.read_bytes(), (name, each)
        page = tmp_path / f"{name}.html"
        runs = [*map(str, (made, other)), "--name", "two", "one"]
        assert main(["report", *runs, "--out", str(page)]) == 0
        assert "<html" in page.read_text(encoding="utf-8")
        capsys.readouterr()
        assert main(["compare", *runs, "--full"]) == 0
        assert f"{name}: {sizes[name]} sentences" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "mt-geneval-context",
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("mt-geneval", "gest")),
    ],
)
def test_a_killed_run_resumes_and_ends_with_the_same_bytes(
    machine: Machine, data: Mapping[str, Path], tmp_path: Path, name: str
) -> None:
    decoding = (
        "--beams",
        "2",
        "--max-length",
        "50",
        "--batch-rows",
        "4",
        "--device",
        "cpu",
    )  # two sentences a batch
    words = (*asked(name, data[name]), *decoding)
    whole = machine.run(*words, "--out", tmp_path / "whole")
    assert (whole.returncode, whole.stderr) == (0, "")
    killed = tmp_path / "killed"
    with machine.start(*words, "--out", killed) as process:
        while process.poll() is None and not list(killed.glob("translations.parts/0*.jsonl")):
            time.sleep(0.01)
        process.kill()
        process.communicate()
    # However far it came before it was killed, the same command ends it.
    done = machine.run(*words, "--out", killed)
    assert (done.returncode, done.stderr) == (0, "")
    for each in FILES:
        assert (killed / each).read_bytes() == (tmp_path / "whole" / each).read_bytes(), each
