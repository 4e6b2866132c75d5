"""Bad inputs of all kinds to all commands: each is refused in one line, and nothing is left behind.

The tables are TSV files: a row is a name, a command line, the exit code, what is damaged
(`preparations`), and where an input is acceptable the reason. The commands run in this process, a
handful as processes of their own. The slow tests run a fifth of the rows, `make test-exhaustive`
the others.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.machine import Machine
from tests.draws import sampled

from .attack import Attack, Console, Outcome, faults, half_written, snapshot
from .good_inputs import write_good_inputs
from .preparations import prepare
from .tables import bare_commands, damaged_inputs, inputs, lost_files, table

pytestmark = pytest.mark.slow

TABLES = ("files", "runs", "sweeps", "usage", "checkpoints", "notices")
TABLE = (
    *damaged_inputs(),
    *bare_commands(),
    *lost_files(),
    *(row for name in TABLES for row in table(name)),
)
LEAST = 2000
_RUNS = {"a": "target.tsv", "b": "target.txt"}
_SCORE = (
    "score --dataset custom --data corpus.tsv --lang de --stanza-dir mtbias:demo --resamples 200"
)
_OWN_PROCESS = (
    *("usage: no command", "corpus.tsv: binary", "sweep: not a number"),
    *("runs/a/calls.jsonl: absent", "pickle"),
)
"""Rows that are run as processes of their own too."""


@pytest.fixture(scope="session")
def console() -> Iterator[Console]:
    made = Console()
    yield made
    made.close()


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory, console: Console) -> Path:
    """The good inputs, with two finished runs."""
    folder = tmp_path_factory.mktemp("good")
    write_good_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        _settle(patch, folder)
        for name, target in _RUNS.items():
            done = console.run(
                [
                    *_SCORE.split(),
                    "--translations",
                    target,
                    "--system",
                    name,
                    "--out",
                    f"runs/{name}",
                ]
            )
            assert done.code == 0, done.err
        done = console.run(
            [
                *_SCORE.replace("custom", "winomt").replace("corpus.tsv", "winomt").split(),
                "--translations",
                "target.txt",
                "--out",
                "runs/winomt",
            ]
        )
        assert done.code == 0, done.err
    return folder


def _settle(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.chdir(folder)
    patch.setenv("MTBIAS_CACHE", str(folder / "cache"))
    patch.setenv("HF_HOME", str(folder / "cache" / "hub"))
    patch.setenv("HF_HUB_OFFLINE", "1")
    patch.setenv("MTBIAS_NO_NETWORK", "1")
    patch.delenv("STANZA_RESOURCES_DIR", raising=False)


@pytest.fixture
def folder(tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the good inputs as the current folder."""
    copy = tmp_path / "inputs"
    shutil.copytree(good, copy)
    _settle(monkeypatch, copy)
    yield copy
    shutil.rmtree(copy)  # hundreds of copies would stay until the session's end


def _check(row: Attack, folder: Path, run: Callable[[list[str]], Outcome]) -> None:
    prepare(row.prepare)
    given, before = half_written(folder), snapshot(folder)
    outcome = run(row.words)
    found = faults(row, outcome, before, folder, given)
    assert not found, "\n".join([f"mtbias {' '.join(map(ascii, row.words))}", *found])


@pytest.mark.parametrize("argv", sorted({lines[0] for lines in inputs().values()}))
def test_the_good_inputs_are_taken(argv: str, folder: Path, console: Console) -> None:
    """Else what is refused below would be refused for another reason."""
    row = Attack("good", argv, code=0)
    _check(row, folder, console.run)


@pytest.mark.parametrize("file", sorted(inputs()))
def test_what_windows_writes_is_the_same(file: str, folder: Path, console: Console) -> None:
    """A byte-order mark and Windows' line ends, as Excel and Notepad write them, change nothing."""
    if file.startswith("runs/"):
        pytest.skip("mtbias's own files, which are hashed")
    argv = inputs()[file][0]
    row = Attack("Windows", argv, f"damage {file} → byte-order mark and CRLF", code=0)
    _check(row, folder, console.run)


@pytest.mark.parametrize("row", sampled((row.name, row) for row in TABLE))
def test_what_is_bad_is_refused(row: Attack, folder: Path, console: Console) -> None:
    _check(row, folder, console.run)


@pytest.mark.parametrize("name", _OWN_PROCESS)
def test_as_a_process_of_its_own(name: str, folder: Path) -> None:
    (row,) = [row for row in TABLE if row.name == name]

    def run(words: list[str]) -> Outcome:
        done = Machine(folder).run(*words)
        return Outcome(done.returncode, done.stdout, done.stderr)

    _check(row, folder, run)


def test_the_table() -> None:
    names = [row.name for row in TABLE]
    assert sorted(names) == sorted(set(names))
    assert len(names) >= LEAST
    assert [row.name for row in TABLE if row.code == 0 and not row.why] == []
