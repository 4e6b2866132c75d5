"""docs/tutorial.md does what it says: its blocks are run in order, in an empty folder, with the
real command line.

``bash`` and ``python`` blocks are run. A ``text`` block shows lines of the output of the block
before it: each of its lines must occur there; where a line has "…", the parts around it must.
Blocks of any other kind are not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_RUN = {"bash", "python"}


@dataclass(frozen=True)
class Step:
    """A block to run, and the lines that its output must have."""

    kind: str
    code: str
    expected: tuple[str, ...]


def steps(text: str) -> list[Step]:
    """The steps of a tutorial."""
    blocks = _BLOCK.findall(text)
    found = []
    for place, (kind, code) in enumerate(blocks):
        if kind in _RUN:
            following = blocks[place + 1] if place + 1 < len(blocks) else ("", "")
            lines = following[1].splitlines() if following[0] == "text" else []
            found.append(Step(kind, code, tuple(line for line in lines if line.strip())))
    return found


def missing(expected: tuple[str, ...], output: str) -> list[str]:
    """The expected lines that the output does not have."""
    lines = output.splitlines()
    patterns = {line: ".*".join(re.escape(part) for part in line.split("…")) for line in expected}
    return [
        line
        for line, pattern in patterns.items()
        if not any(re.fullmatch(pattern, found) for found in lines)
    ]


def _environment(folder: Path) -> dict[str, str]:
    """`mtbias` and `python` are those of this test; the cache is empty; the network is
    forbidden."""
    programs = folder / "programs"
    programs.mkdir()
    for name, command in {"mtbias": "-m mtbias", "python": ""}.items():
        (programs / name).write_text(
            f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n', encoding="utf-8"
        )
        (programs / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "STANZA_RESOURCES_DIR"}
    own = {
        "MTBIAS_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
    }
    return {**kept, **own, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.slow
def test_the_tutorial_runs_from_top_to_bottom(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    folder = tmp_path / "empty"
    folder.mkdir()
    found = steps(TUTORIAL.read_text(encoding="utf-8"))
    assert {step.kind for step in found} == _RUN
    for step in found:
        command = (
            ["bash", "-euo", "pipefail", "-c"] if step.kind == "bash" else [sys.executable, "-c"]
        )
        done = subprocess.run(
            [*command, step.code],
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{step.code}\n{done.stderr}"
        assert missing(step.expected, done.stdout) == [], f"{step.code}\n{done.stdout}"


def test_a_line_that_does_not_occur_is_found() -> None:
    assert missing(("a 1", "b … d", "b … e"), "a 1\nb c d\n") == ["b … e"]
    assert missing(("a",), "a 1\n") == ["a"]  # whole lines
    assert missing((".",), "x\n") == ["."]  # a character like any other


def test_only_the_block_after_a_command_is_its_output() -> None:
    text = "```bash\nls\n```\n\n```text\na\n\nb\n```\n\n```sh\nrm\n```\n\n```text\nc\n```\n\n```python\nprint()\n```\n"
    assert steps(text) == [Step("bash", "ls\n", ("a", "b")), Step("python", "print()\n", ())]
