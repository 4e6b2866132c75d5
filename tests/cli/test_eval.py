"""`mtbias eval` as a process of its own: the demo, resuming after a kill, the same as plain
generation, offline."""

from __future__ import annotations

import importlib.metadata
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.demo import demo_file, model_folder_of_demo, stanza_folder_of_demo

from .machine import Machine
from .shard_processes import small_corpus

FILES = ("translations.jsonl", "calls.jsonl", "metrics.json")
DEMO = ("eval", "--model", "demo", "--lang", "de")


def _files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("eval"))


@pytest.fixture(scope="module")
def demo(machine: Machine, demo_run: Path) -> Path:
    """A copy of the demo's run, for tests that run it again."""
    return Path(shutil.copytree(demo_run, machine.folder / "demo"))


def test_the_demo_prints_its_tables_and_where_the_page_is(demo_run: Path) -> None:
    printed = (demo_run.parent / "stdout.txt").read_text(encoding="utf-8")
    assert printed.startswith(
        "512 sentences, 512 with a call (100.0 %)\nIt finds 94 % of the men (240 of 256) but 47 %"
    )
    assert len(printed.splitlines()) <= 30
    assert f"Report: {demo_run}/report.html" in printed


def test_the_demo_is_biased_and_says_so_with_intervals(demo: Path) -> None:
    overall = json.loads((demo / "metrics.json").read_text())["overall"]
    assert overall["n"] == 512
    assert overall["ci"]["delta_g"][0] > 0
    assert overall["ci"]["delta_s"][0] > 0


def test_the_signature_says_how_the_translations_were_made(demo: Path) -> None:
    manifest = json.loads((demo / "manifest.json").read_text())
    assert "|model:demo|revision:sha256:" in manifest["signature"]
    assert "|direction:en>__de__|engine:transformers/" in manifest["signature"]
    assert "|dtype:float32|decoding:beam5,penalty1,max200,early|" in manifest["signature"]
    assert manifest["execution"]["batches_halved"] == 0
    assert manifest["execution"]["analysed_by"] == [
        "direct tensors"
    ]  # with the release of Stanza that is tested with
    assert not (demo / "translations.parts").exists()
    assert (demo / "report.html").read_text().startswith("<!doctype html>")


def test_a_complete_run_is_read_and_not_made_again(machine: Machine, demo: Path) -> None:
    before = {
        path.name: path.stat().st_mtime_ns
        for path in demo.iterdir()
        if path.name not in {".lock", "manifest.json"}
    }
    done = machine.run(*DEMO, "--out", demo, "--json")
    assert json.loads(done.stdout) == json.loads((demo / "metrics.json").read_text())
    after = {
        path.name: path.stat().st_mtime_ns
        for path in demo.iterdir()
        if path.name not in {".lock", "manifest.json"}
    }
    assert after == before


def test_another_way_of_decoding_is_another_run(machine: Machine, demo: Path) -> None:
    done = machine.run(*DEMO, "--out", demo, "--beams", "2")
    assert done.returncode == 1
    assert (
        'belongs to another run: decoding: "beam5,penalty1,max200,early" here, "beam2,'
        in done.stderr
    )


def test_its_translations_score_the_same_when_they_are_given(machine: Machine, demo: Path) -> None:
    done = machine.run(
        "score", "--translations", demo / "translations.jsonl", "--dataset", "demo", "--lang", "de",
        "--stanza-dir", "mtbias:demo", "--json",
    )  # fmt: skip
    given, made = json.loads(done.stdout), json.loads((demo / "metrics.json").read_text())
    assert given["overall"] == made["overall"]
    assert given["by_entity"] == made["by_entity"]


def test_correct_translations_show_no_bias(machine: Machine) -> None:
    reference = demo_file().parent / "references" / "de.tsv"
    done = machine.run(
        "score",
        "--translations",
        reference,
        "--dataset",
        "demo",
        "--lang",
        "de",
        "--stanza-dir",
        "mtbias:demo",
        "--json",
    )
    overall = json.loads(done.stdout)["overall"]
    assert (overall["accuracy"], overall["delta_g"], overall["delta_s"]) == (100.0, 0.0, 0.0)


def _kill_and_go_on(
    machine: Machine,
    whole: Path,
    waits: Sequence[Callable[[Path], object]],
    *options: str | Path,
    **environment: str,
) -> None:
    """One process after the other is killed when a wait is over; the last one is left alone."""
    folder = machine.folder / f"killed-{whole.name}"
    for wait in waits:
        with machine.start(*DEMO, *options, "--out", folder, **environment) as process:
            wait(folder)
            process.kill()
            process.communicate()
    done = machine.run(*DEMO, *options, "--out", folder, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert _files(folder) == _files(whole)


def _until_kept(folder: Path) -> None:
    """Wait for the first batch."""
    end = time.monotonic() + 300
    while not list(folder.glob("translations.parts/0*.jsonl")) and time.monotonic() < end:
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.exhaustive), "int8"])
def test_ct2_on_three_threads_gives_the_bytes_of_one_even_killed(
    machine: Machine, tmp_path: Path, dtype: str
) -> None:
    data = (
        "--dataset",
        "demo",
        "--data",
        small_corpus(tmp_path, every=4),
        "--stanza-dir",
        "mtbias:demo",
    )
    options = (
        *data,
        "--batch-rows",
        "20",
        "--engine",
        "ct2",
        "--dtype",
        dtype,
    )  # 128 sentences, four a batch
    folder = machine.folder / f"ct2-{dtype}"
    done = machine.run(*DEMO, *options, "--out", folder)
    assert (done.returncode, done.stderr) == (0, "")
    _kill_and_go_on(machine, folder, [_until_kept], *options, OMP_NUM_THREADS="3")


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(20, 25))
def test_killed_at_any_moment_it_ends_with_the_same_bytes(
    machine: Machine, demo_run: Path, seed: int
) -> None:
    whole = Path(shutil.copytree(demo_run, machine.folder / f"demo-{seed}"))
    seconds = json.loads((whole / "manifest.json").read_text())["execution"]["seconds"] + 4
    chance = random.Random(seed)
    moments = [chance.random() * seconds for _ in range(4)]
    waits = [lambda _, moment=moment: time.sleep(moment) for moment in moments]
    _kill_and_go_on(machine, whole, waits)


def test_what_is_missing_offline_is_named_with_the_command_that_downloads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("STANZA_RESOURCES_DIR", raising=False)
    for missing, expected in (
        (
            ("opus-mt", "--dataset", "demo", "--stanza-dir", "mtbias:demo"),
            "mtbias fetch --model opus-mt --lang de",
        ),
        (("demo", "--dataset", "winomt"), "run: mtbias fetch --dataset winomt"),
        (
            ("demo", "--dataset", "demo", "--data", str(demo_file())),
            "`mtbias fetch --lang de` downloads it",
        ),
    ):
        options = ("--lang", "de", "--offline", "--cache-dir", str(tmp_path))
        assert main(["eval", "--model", *missing, *options]) == 1
        assert expected in capsys.readouterr().err


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, expected in (
        (
            ("--model", "opus"),
            "checkpoint, got 'opus'; did you mean opus-mt? there are opus-mt, m2m100, ",
        ),
        (
            ("--model", "demo", "--preset", "quick"),
            'Invalid value "quick" for --preset. Choose from: "paper", "fast"',
        ),
        (
            ("--model", "demo", "--engine", "vllm"),
            'Invalid value "vllm" for --engine. Choose from: "transformers", "ct2"',
        ),
        (
            ("--model", "demo", "--beams", "0"),
            "--beams: expected a whole number of at least 1, got 0",
        ),
        (
            ("--model", "demo", "--device", "cuda:7"),
            "--device: expected a GPU of this machine, got cuda:7; torch sees",
        ),
        (("--model", "demo", "--revision", "main"), "--revision is for models of the hub; demo"),
    ):
        assert (
            main(
                ["eval", "--lang", "de", "--dataset", "demo", "--stanza-dir", "mtbias:demo", *wrong]
            )
            == 2
        )
        assert expected in capsys.readouterr().err


def test_the_demo_fits_into_the_wheel() -> None:
    files = [
        path
        for path in demo_file().parent.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert sum(path.stat().st_size for path in files) <= 12 * 1024 * 1024
    assert model_folder_of_demo().is_dir()
    assert sorted(p.name for p in stanza_folder_of_demo().iterdir()) == sorted(
        ["ar", "cs", "de", "es", "he", "it", "pt", "resources.json", "ru", "uk"]
    )


@pytest.mark.parametrize(
    ("wrong", "expected", "code"),
    [
        (("--model", "nosuch"), "--model: expected a short name, a hub id ", 2),
        (("--model", "opus-mt", "--engine", "ct2"), "--engine ct2 needs ctranslate2: ", 1),
        (
            ("--model", "opus-mt", "--aligner", "eflomal"),
            "--aligner eflomal needs the eflomal package: ",
            1,
        ),
        (("--model", "opus-mt", "--data", "nowhere.txt"), "nowhere.txt: there is no such file", 1),
        (("--model", "demo", "--target-code", "xx"), "xx", 2),
        (("--model", "demo", "--revision", "main"), "--revision is for models of the hub", 2),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_downloaded(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    wrong: tuple[str, ...], expected: str, code: int,
) -> None:  # fmt: skip
    def download(*_: object, **__: object) -> None:
        pytest.fail("a download was begun")

    def version(name: str) -> str:
        if name in {"ctranslate2", "eflomal"}:
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    known = importlib.metadata.version
    monkeypatch.setenv("MTBIAS_CACHE", str(machine.cache))
    for name in ("HF_HUB_OFFLINE", "MTBIAS_NO_NETWORK", "STANZA_RESOURCES_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setitem(sys.modules, "eflomal", None)
    monkeypatch.setattr("mtbias.corpora.downloads.fetch_dataset", download)
    monkeypatch.setattr("mtbias.evaluation.gender_calls.download", download)
    monkeypatch.setattr("mtbias.translate.seq2seq.checkpoints._download", download)
    assert main(["eval", "--lang", "de", *wrong]) == code
    assert expected in capsys.readouterr().err
