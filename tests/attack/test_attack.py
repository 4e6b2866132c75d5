"""Bad inputs of all kinds to all commands: each is refused in one line, and nothing is left behind.

The tables are in `attacks_*.py`: a row is a name, a command line, what is damaged, and the exit code. The commands run
in this process, a handful as processes of their own. The slow tests run a fifth of the rows, `make test-exhaustive` the
others.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.machine import Machine
from tests.draws import sampled

from .attack import Attack, Console, Outcome, faults, half_written, snapshot
from .attacks_checkpoints import CHECKPOINTS
from .attacks_destroy import DESTROY
from .attacks_files import FILES, GOOD
from .attacks_runs import RUNS
from .attacks_sweeps import SWEEPS
from .attacks_usage import USAGE
from .good_inputs import write_good_inputs

pytestmark = pytest.mark.slow

TABLE = (*FILES, *RUNS, *SWEEPS, *USAGE, *CHECKPOINTS, *DESTROY)
LEAST = 2000
_RUNS = {"a": "target.tsv", "b": "target.txt"}
_SCORE = "score --dataset custom --data corpus.tsv --lang de --stanza-dir mtbias:demo --resamples 200"
_OWN_PROCESS = ("usage: no command", "corpus.tsv: binary", "sweep: not a number", "run: calls.jsonl absent", "pickle")
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
            done = console.run([*_SCORE.split(), "--translations", target, "--system", name, "--out", f"runs/{name}"])
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
def inputs(tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the good inputs as the current folder."""
    folder = tmp_path / "inputs"
    shutil.copytree(good, folder)
    _settle(monkeypatch, folder)
    yield folder
    shutil.rmtree(folder)  # hundreds of copies would stay until the session's end


def _check(row: Attack, folder: Path, run: Callable[[list[str]], Outcome]) -> None:
    if row.prepare is not None:
        row.prepare()
    given, before = half_written(folder), snapshot(folder)
    outcome = run(row.words)
    found = faults(row, outcome, before, folder, given)
    assert not found, "\n".join([f"mtbias {' '.join(map(ascii, row.words))}", *found])


@pytest.mark.parametrize("argv", sorted(set(GOOD.values())))
def test_the_good_inputs_are_taken(argv: str, inputs: Path, console: Console) -> None:
    """Else what is refused below would be refused for another reason."""
    row = Attack("good", argv, code=0)
    _check(row, inputs, console.run)


@pytest.mark.parametrize("row", sampled((row.name, row) for row in TABLE))
def test_what_is_bad_is_refused(row: Attack, inputs: Path, console: Console) -> None:
    _check(row, inputs, console.run)


@pytest.mark.parametrize("name", _OWN_PROCESS)
def test_as_a_process_of_its_own(name: str, inputs: Path) -> None:
    (row,) = [row for row in TABLE if row.name == name]

    def run(words: list[str]) -> Outcome:
        done = Machine(inputs).run(*words)
        return Outcome(done.returncode, done.stdout, done.stderr)

    _check(row, inputs, run)


def test_the_table() -> None:
    names = [row.name for row in TABLE]
    assert sorted(names) == sorted(set(names))
    assert len(names) >= LEAST
    assert [row.name for row in TABLE if row.code == 0 and not row.why] == []
