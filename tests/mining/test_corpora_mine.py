"""`mtbias corpora mine`: a corpus that BUG's reader takes, the same bytes however the run went, and
what it counts."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.errors import MtbiasError
from mtbias.mining import mining_run, text_input
from mtbias.mining.mined_rows import MiningOptions, read_occupations
from mtbias.mining.patterns import read_patterns
from mtbias.mining.text_input import input_files, read_chunks
from mtbias.morphology.stanza_models import PARSER, find_package
from mtbias.types import Gender, Stereotype

HERE = Path(__file__).parent
TEXT = """\
The writer finished her book in the spring. Nobody else was there.
It rained all day.
The nurse and his friends left early. Every nurse finished his or her work.
The writer finished her book in the spring.
The plumber painted himself.
"""
# One find each in lines 1, 3 (two), 4 and 5; "his or her" is out, and line 1 is the same sentence
# as line 4.
OCCUPATIONS = "occupation,M_workers,F_workers,entities\nwriters,40,60,writer\nnurses,10,90,nurse\nplumbers,9,1,plumber\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mine")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    (folder / "occupations.csv").write_text(OCCUPATIONS, encoding="utf-8")
    return folder


@pytest.fixture
def mine(
    home: Path,
    stanza_dir: Path,
    pipeline_loaded_once: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., dict[str, Any]]:
    """Mines in the folder `home`, and gives what --json prints."""
    monkeypatch.chdir(home)

    def run(*arguments: str, code: int = 0) -> dict[str, Any]:
        common = [
            "--occupations",
            "occupations.csv",
            "--cache-dir",
            "cache",
            "--json",
            "--device",
            "cpu",
        ]
        given = ["corpora", "mine", *arguments, *common, "--stanza-dir", str(stanza_dir)]
        assert main(given) == code
        said = capsys.readouterr()
        return json.loads(said.out) if code == 0 else {"error": said.err}

    return run


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_a_text_becomes_a_corpus(home: Path, mine: Callable[..., dict[str, Any]]) -> None:
    report = mine("--text", "text.txt", "--out", "corpus.tsv")
    assert report["read"] == {
        "passages": 5, "passages with the words": 4, "sentences": 6, "sentences parsed": 5,
    }  # fmt: skip
    assert sum(report["matched"].values()) == 6
    assert report["left_out"] == {"duplicate sentence": 1, "he or she": 2}
    assert (report["rows"], report["resumed"]) == (3, False)
    found = rows(home / "corpus.tsv")
    assert [
        (row["profession"], row["g"], row["predicted gender"], row["stereotype"]) for row in found
    ] == [
        ("nurse", "his", "Male", "-1"),
        ("writer", "her", "Female", "1"),
        ("plumber", "himself", "Male", "1"),
    ]
    assert [(row["file"], row["offset"]) for row in found] == [
        ("text.txt:3", "0"),
        ("text.txt:4", "0"),
        ("text.txt:5", "0"),
    ]
    assert not list(home.glob("*.part"))
    assert "left out: he or she" in (home / "corpus.md").read_text(encoding="utf-8")
    for row in found:
        words = row["sentence_text"].split(" ")
        assert words[int(row["profession_first_index"])] == row["profession"]
        assert words[int(row["g_first_index"])] == row["g"]


def test_the_card_is_not_written_over(home: Path, mine: Callable[..., dict[str, Any]]) -> None:
    (home / "notes.md").write_text("mine", encoding="utf-8")
    said = mine("--text", "text.txt", "--out", "notes.tsv", code=1)["error"]
    assert "notes.md: this file is there already: choose another --out" in said
    assert (home / "notes.md").read_text(encoding="utf-8") == "mine"
    assert not (home / "notes.tsv").exists()


def test_the_corpus_is_outside_the_folders_that_are_read(
    home: Path, mine: Callable[..., dict[str, Any]]
) -> None:
    # Inside, a run that was stopped would find its own part there: another input, so it would not
    # resume.
    (home / "texts" / "in").mkdir(parents=True)
    (home / "texts" / "a.txt").write_text("The nurse lost her keys.", encoding="utf-8")
    for text, out in (("texts", "texts/in/c.tsv"), (".", "c.tsv"), ("texts", "texts/in/../c.tsv")):
        said = mine("--text", text, "--out", out, code=2)["error"]
        assert "--out: expected a file outside the folders that are read, got" in said


def test_bugs_reader_takes_it(home: Path, mine: Callable[..., dict[str, Any]]) -> None:
    mine("--text", "text.txt", "--out", "read.tsv", "--name", "Novels")
    corpus = load_corpus("bug", home / "read.tsv")
    assert not corpus.skipped
    assert [
        (i.entity, i.gold, i.stereotype, i.domain, i.source[slice(*i.head)])
        for i in corpus.instances
    ] == [
        ("nurse", Gender.MALE, Stereotype.ANTI, "novels", "nurse"),
        ("writer", Gender.FEMALE, Stereotype.PRO, "novels", "writer"),
        ("plumber", Gender.MALE, Stereotype.PRO, "novels", "plumber"),
    ]


def test_the_corpus_depends_on_neither_processes_nor_chunks(
    home: Path, mine: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = mine("--text", "text.txt", "--out", "one.tsv")
    monkeypatch.setattr(text_input, "PASSAGES", 1)
    several = mine("--text", "text.txt", "--out", "several.tsv", "--processes", "2")
    assert (home / "one.tsv").read_bytes() == (home / "several.tsv").read_bytes()
    assert several == {**first, "out": several["out"], "card": several["card"]}


def test_a_run_that_was_stopped_resumes(
    home: Path, mine: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine("--text", "text.txt", "--out", "whole.tsv")
    monkeypatch.setattr(text_input, "PASSAGES", 1)
    real, seen = mining_run.mine_chunk, []

    def stopped(plan: mining_run.MiningPlan, chunk: text_input.Chunk) -> mining_run.MinedChunk:
        seen.append(chunk)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return real(plan, chunk)

    monkeypatch.setattr(mining_run, "mine_chunk", stopped)
    mine("--text", "text.txt", "--out", "resumed.tsv", code=130)
    with (home / "resumed.tsv.part").open("a") as file:
        file.write('{"half a line')
    assert (
        "options"
        in mine("--text", "text.txt", "--out", "resumed.tsv", "--max-distance", "3", code=1)[
            "error"
        ]
    )
    report = mine("--text", "text.txt", "--out", "resumed.tsv")
    assert report["resumed"] is True
    assert (home / "resumed.tsv").read_bytes() == (home / "whole.tsv").read_bytes()
    assert len(seen) == 3 + 2  # chunks 1 and 2, the third twice, the fourth
    assert "there already" in mine("--text", "text.txt", "--out", "resumed.tsv", code=1)["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x.tsv"], "--text"),
        (["--out", "x.csv", "--text", "text.txt"], "--out: expected a name that ends in .tsv"),
        (
            ["--out", "x.tsv", "--text", "text.txt", "--min-confidence", "2"],
            "--min-confidence: expected",
        ),
        (["--out", "x.tsv", "--text", "text.txt", "--device", "tpu"], "--device: expected cpu"),
    ],
)
def test_wrong_usage_is_said(
    home: Path,
    stanza_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: Sequence[str],
    message: str,
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(stanza_dir))
    assert main(["corpora", "mine", *arguments, "--occupations", "occupations.csv"]) == 2
    assert message in capsys.readouterr().err


def test_text_without_finds_gives_a_header(home: Path, mine: Callable[..., dict[str, Any]]) -> None:
    (home / "none.txt").write_text("Nothing.\n", encoding="utf-8")
    assert mine("--text", "none.txt", "--out", "none.tsv")["rows"] == 0
    assert len((home / "none.tsv").read_text(encoding="utf-8").splitlines()) == 1


def command(home: Path, stanza_dir: Path, out: str, *more: str) -> list[str]:
    common = [
        "--occupations",
        str(home / "occupations.csv"),
        "--cache-dir",
        str(home / "cache"),
        "--device",
        "cpu",
    ]
    return [
        "corpora",
        "mine",
        "--out",
        str(home / out),
        *common,
        "--stanza-dir",
        str(stanza_dir),
        *more,
    ]


def kill(kills: int, seconds: float, small: int, arguments: Sequence[str]) -> None:
    """Kills a command so many times while it runs, then runs it to its end."""
    done = subprocess.run(
        [sys.executable, str(HERE / "killed_runs.py"), str(kills), str(seconds), str(small), *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def many_lines(home: Path, copies: int) -> Path:
    """The text many times over, a number in every sentence."""
    path = home / f"{copies}.txt"
    lines = TEXT.replace(" and ", " and {0} ").replace(" finished", " {0} finished").splitlines()
    path.write_text(
        "\n".join(line.format(n) for n in range(copies) for line in lines), encoding="utf-8"
    )
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "kills"),
    [
        (2, 3),
        *(
            pytest.param(n, kills, marks=pytest.mark.exhaustive)
            for n, kills in ((1, 6), (1, 100), (2, 100))
        ),
    ],
)
def test_kills_change_nothing(home: Path, stanza_dir: Path, processes: int, kills: int) -> None:
    text = many_lines(home, 4 * min(kills, 100))
    name = f"killed-{processes}-{kills}"
    assert main(command(home, stanza_dir, f"{name}.whole.tsv", "--text", str(text))) == 0
    more = ["--text", str(text), "--processes", str(processes)]
    kill(kills, 6, 5 if kills < 100 else 20, command(home, stanza_dir, f"{name}.tsv", *more))
    assert (home / f"{name}.tsv").read_bytes() == (home / f"{name}.whole.tsv").read_bytes()


def is_gone(group: int) -> bool:
    """Whether within ten seconds no process of the group is left."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_sigterm_leaves_no_process_and_the_run_resumes(home: Path, stanza_dir: Path) -> None:
    text = many_lines(home, 300)
    arguments = command(home, stanza_dir, "stopped.tsv", "--text", str(text), "--processes", "2")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MTBIAS_LOG_SECONDS": "0"}
    run = subprocess.Popen(
        [sys.executable, "-m", "mtbias", *arguments],
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    part = home / "stopped.tsv.part"
    while run.poll() is None and not (part.is_file() and part.read_bytes().count(b"\n") > 1):
        time.sleep(0.1)  # until the first chunk is there: the processes are at work
    run.terminate()
    _, said = run.communicate(timeout=600)
    assert (run.returncode, said.decode()) == (
        143,
        "mtbias: stopped by SIGTERM; the same command resumes\n",
    )
    assert is_gone(run.pid)


@pytest.mark.slow
def test_where_a_process_is_ended_the_run_ends_with_a_reason(home: Path, stanza_dir: Path) -> None:
    plan = mining_run.MiningPlan(
        files=input_files([home / "text.txt"]),
        patterns=read_patterns(),
        occupations=read_occupations(home / "occupations.csv"),
        options=MiningOptions(),
        package=find_package("en", stanza_dir, PARSER),
        device="cpu",
    )
    (whole,) = read_chunks(plan.files, plan.words)
    # More than are handed out ahead, so that some are left when the processes end.
    chunks = [replace(whole, passages=(passage,)) for passage in whole.passages] * 5
    together = mining_run.mined_chunks(plan, chunks, 2)
    assert next(together) == next(mining_run.mined_chunks(plan, chunks, 1))
    for process in multiprocessing.active_children():
        process.kill()
    with pytest.raises(MtbiasError, match=r"a process was ended .*: give fewer --processes"):
        list(together)
