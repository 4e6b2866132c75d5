"""The tables of attacks: TSV files beside this module, and what is done to every input and every
command."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from mtbias.cli import COMMANDS

from .attack import Attack
from .preparations import DAMAGES, unescaped

HERE = Path(__file__).parent
_FOR_FURTHER_COMMANDS = ("absent", "a folder", "binary", "Latin-1", "half", "empty")
"""Of a file that several commands read with the same reader: what each may meet before it."""
_NEEDS_NOTHING = ("doctor", "export", "corpora describe")
"""Commands that do something without an option."""
_TAKES_WORDS = ("report", "compare")
"""Commands whose arguments have no option's name."""


def table(name: str) -> Iterator[Attack]:
    """The rows of a table."""
    for row in _rows(name):
        yield Attack(
            name=unescaped(row["name"]),
            argv=unescaped(row["argv"]),
            code=int(row["code"]),
            prepare=row["prepare"],
            why=row["why"],
            says=unescaped(row.get("says", "")),
        )


def inputs() -> dict[str, list[str]]:
    """The command lines that read each of the good inputs."""
    found: dict[str, list[str]] = {}
    for row in _rows("inputs"):
        found.setdefault(row["file"], []).append(row["argv"])
    return found


def damaged_inputs() -> Iterator[Attack]:
    """Every input with every damage of `DAMAGES`, to every command that reads it."""
    accepted = {row["name"]: row["why"] for row in _rows("accepted")}
    for file, command_lines in inputs().items():
        for damage in DAMAGES:
            for number, argv in enumerate(command_lines):
                if number and damage not in _FOR_FURTHER_COMMANDS:
                    continue
                suffix = f" ({' '.join(argv.split()[:2])} {number})" if number else ""
                name = f"{file}: {damage}{suffix}"
                code = 0 if name in accepted else 1
                yield Attack(name, argv, f"damage {file} → {damage}", code, accepted.get(name, ""))


def commands() -> Iterator[str]:
    """The names of all commands, with those of their groups."""
    for group in COMMANDS.values():
        for name, inner in group.items():
            for part in [""] if isinstance(inner, str) else inner:
                yield f"{name} {part}".rstrip()


def bare_commands() -> Iterator[Attack]:
    """Every command with nothing, with an option that it does not have, and with a word too
    many."""
    for name in commands():
        if name not in _NEEDS_NOTHING:
            yield Attack(f"usage: {name}: nothing given", name, code=2)
        yield Attack(f"usage: {name}: an unknown option", f"{name} --wrong 5", code=2)
        if name not in _TAKES_WORDS:
            yield Attack(f"usage: {name}: a word too many", f"{name} x y z", code=2)


SPELLINGS = {
    "its name": "{}",
    "with a dot": "./{}",
    "by another folder": "winomt/../{}",
    "absolute": "/proc/self/cwd/{}",
    "a symbolic link": "linked",
    "a hard link": "linked",
}
"""How a file may be named."""
_VERBS = {"a symbolic link": "link", "a hard link": "hard link"}


def lost_files() -> Iterator[Attack]:
    """Commands whose output would be written over a file that they read, or that a run keeps, in
    all `SPELLINGS`.

    `file` of the table would be lost; {} stands for its name in `argv`. `read` says whether the
    command reads it: a run's file that it does not read is not lost under the name of a hard link,
    which the new file replaces.
    """
    for row in _rows("destroy"):
        file = row["file"]
        spellings = SPELLINGS if "{}" in row["argv"] else {"its name": ""}
        for spelling, pattern in spellings.items():
            if spelling == "a hard link" and row["read"] == "no":
                continue
            steps = ["a run that was begun"]
            name = pattern.replace("{}", file)
            if spelling in _VERBS:
                name += Path(file).suffix
                target = f"/proc/self/cwd/{file}" if spelling == "a symbolic link" else file
                steps.append(f"{_VERBS[spelling]} {name} → {target}")
            yield Attack(
                name=f"destroy: {row['name']} ({spelling})",
                argv=row["argv"].replace("{}", name),
                code=int(row["code"]),
                prepare=" ;; ".join(steps),
            )


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (HERE / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
