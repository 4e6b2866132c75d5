"""docs/papers.md: its rows are 96, its commands are those that its rows name, and those that need
no download run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from mtbias.cli import main
from mtbias.embeddings.vectors import EXAMPLE_LISTS
from tests.embeddings.toy_vectors import make_vectors, write_vectors

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "papers.md").read_text(encoding="utf-8")
COMMANDS = dict(re.findall(r"^\| ([a-z]+) \| `(.+?)`", PAGE, re.MULTILINE))
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if re.match(r"\| \d", line)]
NOT_HERE = re.compile(r"\b[A-Z]{3,}\b(?!\.)|paper\.toml|coref_fine_tuning")
"""Files that the reader has to have: in capitals."""
SLOW = {*"abdeijwx", "rn", "xn"}
"""Commands of more than two seconds of processor time."""


def test_the_table_has_the_96_things() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 97))
    assert {len(row) for row in ROWS} == {5}
    named = {letter for row in ROWS for letter in row[2].split()}
    assert named == set(COMMANDS)
    assert len(PAGE.split()) <= 2560


@pytest.mark.parametrize(
    "letter",
    [
        pytest.param(letter, marks=pytest.mark.slow if letter in SLOW else ())
        for letter, command in COMMANDS.items()
        if not NOT_HERE.search(command)
    ],
)
def test_a_command_of_the_page_runs(
    letter: str,
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for place in ("coref/gap", "coref/winobias", "coref/countergap", "bug", "winomt"):
        (tmp_path / Path(place).name).symlink_to(shared / "data" / place)
    words = tuple(dict.fromkeys(re.findall(r'"(.+?)"', EXAMPLE_LISTS.read_text(encoding="utf-8"))))
    matrix = np.random.default_rng(0).normal(size=(len(words), 20))
    write_vectors(tmp_path, make_vectors(words, matrix), "vectors.txt")
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(COMMANDS[letter])
    assert program == "mtbias"
    assert main(arguments) == 0, capsys.readouterr().err
