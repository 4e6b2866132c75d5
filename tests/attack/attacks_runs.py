"""Damaged folders of runs, to every command that reads or resumes them."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .attack import Attack
from .attacks_files import DAMAGES

READERS: Mapping[str, str] = {
    "report": "report runs/a runs/b --out out.html",
    "compare": "compare runs/a runs/b --resamples 200",
    "correct": "validate --lang de --stanza-dir mtbias:demo --resamples 200 --gold labels.csv --correct runs/a",
}
_AGAIN = (
    "score --dataset custom --data corpus.tsv --translations target.tsv --lang de --stanza-dir mtbias:demo "
    "--resamples 200 --system a --out out"
)


def _generic() -> list[Attack]:
    rows = []
    for file in ("manifest.json", "metrics.json", "calls.jsonl"):
        for damage, apply in DAMAGES.items():
            for n, (command, argv) in enumerate(READERS.items()):
                if n == 0 or damage in {"absent", "binary", "half"}:
                    name = f"run: {file} {damage}" + (f" ({command})" if n else "")
                    code, why = (
                        (0, "JSON in another encoding of Unicode")
                        if damage == "UTF-16" and file != "calls.jsonl"
                        else (1, "")
                    )
                    rows.append(Attack(name, argv, partial(apply, Path("runs/a") / file), code, why))
    return rows


def _changed(file: str, change: Callable[[dict[str, Any]], object]) -> Callable[[], object]:
    """A change within the JSON of a run's file."""

    def apply() -> None:
        path = Path("runs/a") / file
        content = json.loads(path.read_bytes())
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    return apply


def _put(place: str, value: object) -> Callable[[dict[str, Any]], object]:
    def change(content: dict[str, Any]) -> None:
        *way, last = place.split(".")
        for step in way:
            content = content[step]
        if value is ...:
            del content[last]
        else:
            content[last] = value

    return change


_OTHERS: tuple[tuple[str, object], ...] = (
    ("schema", 2), ("schema", "1"), ("schema", ...), ("n", "six"), ("n", -6), ("n", None), ("overall", None),
    ("overall", []), ("overall", ...), ("overall.n", -1), ("overall.accuracy", "high"), ("overall.accuracy", -5),
    ("overall.accuracy", 1e308), ("overall.accuracy", float("nan")), ("overall.ci", None), ("overall.ci", ...),
    ("overall.ci", 5), ("overall.confusion", None), ("overall.denominators", []), ("fingerprint", None),
    ("fingerprint", "0"), ("signature", 7), ("files", None), ("files", {}), ("files.calls.jsonl", "0"),
    ("by_domain", None), ("by_domain", []), ("by_domain", {"x": None}), ("intervals", None), ("confusion_axes", None),
    ("reasons", None), ("reasons", {"x": -1}), ("by_domain", 5), ("by_domain", "x"), ("by_colour", None),
    ("intervals", 5), ("intervals", {}), ("sha256", None), ("sha256", 5), ("consistency", None), ("corpus", None),
    ("corpus", 5), ("corpus", []), ("corpus.rows", -1), ("corpus.rows", "six"), ("corpus.rows", 7),
    ("corpus.notes", None), ("corpus.notes", {"x": "y"}), ("translations", 5), ("translations", []),
    ("translations.empty", "many"), ("translations.empty", -1), ("translations.empty", float("nan")),
    ("translations.examples", None), ("translations.examples", {"empty": 5}), ("files.other", None),
)  # fmt: skip


def _metrics() -> list[Attack]:
    rows = []
    for place, value in _OTHERS:
        if place == "files.calls.jsonl":
            change = lambda content: content["files"].update({"calls.jsonl": "0"})  # noqa: E731
        else:
            change = _put(place, value)
        told = "absent" if value is ... else f"is {value!r}"
        rows.append(Attack(f"metrics.json: {place} {told}", READERS["report"], _changed("metrics.json", change)))
    return rows


def _newer() -> None:
    """What a newer release may write: another schema, with the hash that is right for it."""
    from mtbias.runs.run_folder import SHA256, _own_hash

    path = Path("runs/a/metrics.json")
    content = {**json.loads(path.read_bytes()), "schema": 2}
    path.write_text(json.dumps({**content, SHA256: _own_hash(content)}), encoding="utf-8")


def _call_lines(change: Callable[[list[str]], list[str]]) -> Callable[[], object]:
    """Other lines of calls, with the hash that metrics.json must have: as somebody would who edits both."""

    def apply() -> None:
        from hashlib import sha256

        folder = Path("runs/a")
        lines = (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        content = ("\n".join(change(lines)) + "\n").encode()
        metrics = (folder / "metrics.json").read_text(encoding="utf-8")
        old = sha256((folder / "calls.jsonl").read_bytes()).hexdigest()
        assert old in metrics
        (folder / "calls.jsonl").write_bytes(content)
        (folder / "metrics.json").write_text(metrics.replace(old, sha256(content).hexdigest()), encoding="utf-8")

    return apply


def _calls() -> list[Attack]:
    changes: Mapping[str, Callable[[list[str]], list[str]]] = {
        "a line twice": lambda lines: [lines[0], *lines],
        "a line less": lambda lines: lines[1:],
        "an array": lambda lines: ["[]", *lines[1:]],
        "null": lambda lines: ["null", *lines[1:]],
        "nested without end": lambda lines: ["[" * 100_000, *lines[1:]],
        "no id": lambda lines: [lines[0].replace('"id": "demo-0001", ', ""), *lines[1:]],
        "an unknown gender": lambda lines: [lines[0].replace('"gender": "male"', '"gender": "king"', 1), *lines[1:]],
        "gender and reason": lambda lines: [lines[0].replace('"reason": null', '"reason": "unaligned"'), *lines[1:]],
        "a row that is text": lambda lines: [lines[0].replace('"row": 0', '"row": "0"'), *lines[1:]],
        "a negative row": lambda lines: [lines[0].replace('"row": 0', '"row": -1'), *lines[1:]],
        "a negative number of pronouns": lambda lines: [
            re.sub('"pronouns": [0-9]+', '"pronouns": -1', lines[0]),
            *lines[1:],
        ],
        "evidence that is null": lambda lines: [lines[0].split('"evidence"')[0] + '"evidence": null}', *lines[1:]],
        "spans beyond the text": lambda lines: [lines[0].replace("[[4, 9]]", "[[4, 900]]"), *lines[1:]],
        "an unknown key": lambda lines: [lines[0].replace('"row"', '"line": 1, "row"'), *lines[1:]],
    }
    return [
        Attack(
            f"calls.jsonl: {name} ({command})",
            READERS[command],
            _call_lines(change),
        )
        for name, change in changes.items()
        for command in ("report", "compare")
    ]


def _copied(damage: Callable[[Path], object] | None = None, file: str = "manifest.json") -> Callable[[], object]:
    """The run as ``out``, damaged: to be run again."""

    def apply() -> None:
        shutil.copytree("runs/a", "out")
        if damage is not None:
            damage(Path("out") / file)

    return apply


def _text(path: str, text: str = "") -> Callable[[], object]:
    return lambda: Path(path).write_text(text, encoding="utf-8")


def _stranger() -> None:
    Path("out").mkdir()
    _text("out/thesis.tex", "months of work")()


def _pipe_with_a_reader() -> None:
    os.mkfifo("pipe")
    threading.Thread(target=Path("pipe").read_bytes, daemon=True).start()


def _full_device() -> None:
    """A device of our own that is always full: what replaced one of the machine's would harm the machine."""
    there = Path("/dev/full")
    if not there.is_char_device():
        pytest.skip("this system has no /dev/full")
    try:
        os.mknod("full", stat.S_IFCHR | 0o600, there.stat().st_rdev)
        Path("full").open("wb").close()
    except OSError as error:  # not root, or a file system without devices
        pytest.skip(f"a device cannot be made here: {error.strerror}")


RUNS = (
    *_generic(),
    *_metrics(),
    *_calls(),
    *(
        Attack(f"a run again: {file} {damage}", _AGAIN, _copied(DAMAGES[damage], file))
        for file in ("manifest.json",)
        for damage in ("a folder", "a named pipe", "empty", "binary", "half", "a web page")
    ),
    *(
        Attack(f"a run again: {file} a named pipe", _AGAIN, _copied(DAMAGES["a named pipe"], file))
        for file in ("metrics.json", "calls.jsonl", ".lock")
    ),
    Attack("a run again: of another corpus", _AGAIN.replace("corpus.tsv", "corpus.csv"), _copied()),
    Attack("a run again: with another seed", f"{_AGAIN} --seed 5", _copied()),
    Attack("a run into a folder of something else", _AGAIN, _stranger),
    Attack("a run into a file", _AGAIN, _text("out")),
    Attack("a run below a file", _AGAIN.replace("--out out", "--out women.tsv/run")),
    Attack("a run into /proc", _AGAIN.replace("--out out", "--out /proc/run")),
    Attack("a run into a folder of a name too long", _AGAIN.replace("--out out", f"--out {'o' * 300}")),
    Attack("report: a file for a run", "report women.tsv --out out.html"),
    Attack("report: no such run", "report runs/z --out out.html"),
    Attack("report: the folder of runs", "report runs --out out.html"),
    Attack("report: a dangling link", "report link --out out.html", lambda: Path("link").symlink_to("nowhere")),
    *(Attack(f"metrics.json: of a newer release ({name})", argv, _newer) for name, argv in READERS.items()),
    Attack("compare: runs of two corpora", "compare runs/a runs/winomt"),
    Attack("compare: a run with itself", "compare runs/a runs/a"),
    Attack("correct: a run of another corpus's measure", f"{READERS['correct']} --correct runs/z"),
    Attack("report: out is a folder", "report runs/a --out runs"),
    Attack("report: out below a file", "report runs/a --out women.tsv/page.html"),
    Attack(
        "report: out is a pipe",
        "report runs/a --out pipe",
        _pipe_with_a_reader,
        0,
        "it is written to, and stays a pipe",
    ),
    Attack("report: out is a full device", "report runs/a --out full", _full_device),
    *(
        Attack(f"a path with an escape: {' '.join(argv[:3])}", argv, code=0, why="a file may be named so")
        for argv in (
            ["report", "runs/a", "--out", "out\x1b[31m.html"],
            ["report", "runs/a", "--format", "csv", "--out", "out\x1b[31m.csv"],
            ["publish", "runs/a", "--out", "out\x1b[31m"],
            ["compare", "runs/a", "runs/b", "--report", "out\x1b[31m.html", "--resamples", "200"],
            [*_AGAIN.replace("--out out", "--out").split(), "out\x1b[31m"],
        )
    ),
    Attack("report: plots into a file", "report runs/a --plots women.tsv"),
    Attack(
        "compare: rows into a folder that is not there",
        "compare runs/a runs/b --rows no/where/rows.csv --resamples 200",
    ),
)
