"""An attack: a command line over a damaged copy of the good inputs, and what must come of it."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtbias.cli import main
from mtbias.errors import MESSAGE_LENGTH

OUT = "out"
"""Where commands may write, beside their cache; and names that begin with it."""
_UNFINISHED = {"manifest.json", ".lock"}
"""What a run folder may keep of a run that failed: the next command with it resumes."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of a table."""

    name: str
    argv: str
    """As in a shell, relative to the folder of inputs."""
    prepare: str = ""
    """How the good inputs, which stand in the current folder, are damaged
    (`tests.attack.preparations`)."""
    code: int = 1
    """0 only where the input is in fact acceptable, with `why`."""
    why: str = ""
    says: str = ""
    """A part of what must be said: in the message, in a line of warning, or in what is printed."""

    @property
    def words(self) -> list[str]:
        """The command line as `main` takes it."""
        return shlex.split(self.argv)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str
    warned: Sequence[str] = ()


class Console:
    """Standard output and error as files, for C libraries and for handlers that keep the stream
    they were made with."""

    def __init__(self) -> None:
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115 - `close`
        self._streams = [
            io.TextIOWrapper(io.FileIO(os.dup(f.fileno()), "w"), "utf-8", write_through=True)
            for f in self._files
        ]

    def close(self) -> None:
        """Close the files; to be called by the fixture that made it."""
        for file in (*self._streams, *self._files):
            file.close()

    def run(self, words: Sequence[str]) -> Outcome:
        """Run a command in this process; an exception that leaves `main` is code -1 with its
        text."""
        for file in self._files:
            file.seek(0)
            file.truncate()
        kept, streams = [os.dup(1), os.dup(2)], (sys.stdout, sys.stderr)
        os.dup2(self._files[0].fileno(), 1)
        os.dup2(self._files[1].fileno(), 2)
        sys.stdout, sys.stderr = self._streams
        crash = ""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for category in (
                DeprecationWarning,
                PendingDeprecationWarning,
                ImportWarning,
                ResourceWarning,
            ):
                warnings.simplefilter("ignore", category)  # as Python does for a program
            try:
                code = main(words)
            except BaseException as error:  # noqa: BLE001 - whatever it is, a user would see a traceback
                code, crash = -1, f"{type(error).__name__}: {error}"
            finally:
                sys.stdout, sys.stderr = streams
                for number, descriptor in enumerate(kept, start=1):
                    os.dup2(descriptor, number)
                    os.close(descriptor)
        texts = []
        for file in self._files:
            file.seek(0)
            texts.append(file.read().decode("utf-8", errors="replace"))
        return Outcome(
            code, texts[0], texts[1] + crash, [f"{w.category.__name__}: {w.message}" for w in found]
        )


def snapshot(folder: Path) -> dict[str, str]:
    """What stands in a folder, but for the cache and what a command may write: kind and content by
    path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith((OUT, "cache")):
            continue
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "folder" if path.is_dir() else "other"
    return found


def half_written(folder: Path) -> list[str]:
    """What a failed command left below ``out`` that is neither a run's to be resumed nor finished
    parts."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.glob(f"{OUT}*/**/*"))
        if path.is_file() and path.name not in _UNFINISHED and "translations.parts" not in str(path)
    ] + [path.name for path in folder.glob(f"{OUT}*") if path.is_file()]


def _faults_of_lines(attack: Attack, outcome: Outcome) -> list[str]:
    """What is wrong with standard error: at most three lines of ours where the command failed, else
    none or a warning.

    A message has at most 400 characters, of which a terminal obeys none.
    """
    found, lines = [], outcome.err.splitlines()
    warned = len(lines) == 1 and bool(attack.says) and attack.says in lines[0]
    if outcome.code == 0 and lines and not warned:
        found.append(f"done, with {len(lines)} lines on standard error")
    said = " ".join(f"{outcome.err} {outcome.out}".split())
    if attack.says not in said:
        found.append(f"nowhere said: {attack.says!r}")
    if outcome.code != 0 and (
        not all(line.startswith("mtbias: ") for line in lines) or not 1 <= len(lines) <= 3
    ):
        found.append("standard error is not one to three lines of mtbias's own")
    if "Traceback" in outcome.err or "Warning" in outcome.err:
        found.append("a traceback or a warning")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", outcome.err):
        found.append("control characters on standard error")
    if max(map(len, lines), default=0) > MESSAGE_LENGTH + len("mtbias: "):
        found.append(f"a line of {max(map(len, lines))} characters")
    return found


def faults(
    attack: Attack, outcome: Outcome, before: dict[str, str], folder: Path, given: Sequence[str]
) -> list[str]:
    """Everything that is not as it must be; `given` are the files below ``out`` that the attack
    itself put there."""
    found = _faults_of_lines(attack, outcome)
    if outcome.code != attack.code:
        found.append(f"exit code {outcome.code}, expected {attack.code}")
    if outcome.code != 0:
        if outcome.out:
            found.append(f"standard output: {outcome.out[:80]!r}")
        if left := [name for name in half_written(folder) if name not in given]:
            found.append(f"half-written: {left}")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", outcome.out):
        found.append("control characters on standard output")
    if outcome.warned:
        found.append(f"warnings: {outcome.warned[:3]}")
    if (after := snapshot(folder)) != before:
        changed = sorted(
            {name for name in {*before, *after} if before.get(name) != after.get(name)}
        )
        found.append(f"changed outside --out: {changed}")
    return [*found, f"standard error: {outcome.err[:600]!r}"] if found else []
