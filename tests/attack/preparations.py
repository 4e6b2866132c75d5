"""The language in which a row of a table describes the damage to the good inputs: steps with ``;;``
between them.

A step is a word, what it is done to, and further cells, with ``→`` between them: ``replace
corpus.tsv → male → king``. Cells may hold ``\\t``, ``\\n``, ``\\xHH``, ``\\uHHHH``, ``\\\\``, and
``⟨x×5000⟩`` for five thousand times *x*. Files are named from the folder of inputs; a pattern such
as ``stanza/**/*.pt`` names all that match.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import shutil
import stat
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mtbias.demo import model_folder_of_demo, stanza_folder_of_demo

ABSENT = "absent"


def unescaped(cell: str) -> str:
    """A cell as it is meant."""

    def character(match: re.Match[str]) -> str:
        written = match[1]
        named = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
        return named[written] if written in named else chr(int(written[1:], 16))

    repeated = re.sub(r"⟨(.+?)×(\d+)⟩", lambda match: match[1] * int(match[2]), cell)
    return re.sub(r"\\([tnr\\]|x[0-9a-f]{2}|u[0-9a-f]{4})", character, repeated)


def prepare(steps: str) -> None:
    """Take the steps in the current folder."""
    for step in filter(None, steps.split(" ;; ")):
        verb = next((verb for verb in _VERBS if step == verb or step.startswith(f"{verb} ")), None)
        assert verb is not None, f"no such step: {step}"
        rest = step.removeprefix(verb).lstrip(" ")
        _VERBS[verb](*map(unescaped, rest.split(" → ") if rest else ()))


# Damage of any file


def _binary(_: bytes) -> bytes:
    return random.Random(0).randbytes(3000)


def _latin_1(content: bytes) -> bytes:
    middle = content.find(b"a", len(content) // 2)
    return content[:middle] + "é".encode("latin-1") + content[middle:]


def _half(content: bytes) -> bytes:
    """Cut within a word of the line in the middle, as a download that broke off."""
    lines = content.rstrip(b"\n").split(b"\n")
    whole, cut = lines[: len(lines) // 2], lines[len(lines) // 2]
    return b"\n".join([*whole, cut[: max(1, len(cut) // 3)]])


def _from_windows(content: bytes) -> bytes:
    """As Excel and Notepad write it."""
    return "\ufeff".encode() + content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


CONTENTS: Mapping[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "blank": lambda _: b"\n  \n\n",
    "only a byte-order mark": lambda _: "\ufeff".encode(),
    "binary": _binary,
    "zeros": lambda _: bytes(5000),
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "Latin-1": _latin_1,
    "a web page": lambda _: b"<!DOCTYPE html>\n<html><title>404: Not Found</title></html>\n",
    "half": _half,
    "cut in half": lambda content: content[: len(content) // 2],
    "byte-order mark and CRLF": _from_windows,
}
"""Other contents of a file."""
IN_ITS_PLACE: Mapping[str, Callable[[Path], object]] = {
    ABSENT: lambda _: None,
    "a folder": Path.mkdir,
    "a named pipe": os.mkfifo,  # which nobody writes into
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "unreadable": lambda path: path.symlink_to("/proc/self/mem"),  # EIO for everybody, root too
}
"""What may be there in place of a file."""
DAMAGES = (
    *IN_ITS_PLACE,
    *(name for name in CONTENTS if name not in {"cut in half", "byte-order mark and CRLF"}),
)
"""What befalls files of any format; all are to be refused."""


def _damage(pattern: str, kind: str) -> None:
    for path in _files(pattern):
        if kind in CONTENTS:
            path.write_bytes(CONTENTS[kind](path.read_bytes()))
        else:
            path.unlink(missing_ok=True)
            IN_ITS_PLACE[kind](path)


def _files(pattern: str) -> list[Path]:
    if "*" not in pattern:
        return [Path(pattern)]
    found = sorted(Path().glob(pattern))
    assert found, pattern
    return found


# Changes within a file


def _replace(file: str, old: str, new: str, count: str = "1") -> None:
    text = Path(file).read_text(encoding="utf-8")
    assert old in text, (file, old)
    Path(file).write_bytes(
        text.replace(old, new, int(count)).encode("utf-8", errors="surrogatepass")
    )


def _line(file: str, which: str, what: str) -> None:
    """Drop a line (or all from it on: ``1:``), write it twice, or write another one in its
    place."""
    path = Path(file)
    lines = path.read_text(encoding="utf-8").splitlines()
    start = int(which.removesuffix(":"))
    end = len(lines) if which.endswith(":") else start + 1
    instead = {"drop": [], "twice": lines[start:end] * 2}
    lines[start:end] = instead.get(what, [what])
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _json(file: str, place: str, value: str) -> None:
    """Another value (JSON) at a place of a file: keys with points between, or bars where a key has
    points."""
    path = Path(file)
    content = json.loads(path.read_bytes())
    *way, last = place.split("|") if "|" in place else place.split(".")
    inner: dict[str, Any] = content
    for key in way:
        inner = inner[key]
    if value == ABSENT:
        inner.pop(last, None)
    else:
        inner[last] = json.loads(value)
    path.write_text(json.dumps(content), encoding="utf-8")


def _rehash_calls(run: str) -> None:
    """Write into metrics.json the hash that calls.jsonl has now: as somebody would who edits
    both."""
    folder = Path(run)
    metrics = json.loads((folder / "metrics.json").read_bytes())
    old, new = (
        metrics["files"]["calls.jsonl"],
        sha256((folder / "calls.jsonl").read_bytes()).hexdigest(),
    )
    text = (folder / "metrics.json").read_text(encoding="utf-8")
    (folder / "metrics.json").write_text(text.replace(old, new), encoding="utf-8")


def _rehash_metrics(run: str) -> None:
    """Write into metrics.json its own hash, as another release would."""
    from mtbias.runs.run_folder import SHA256, _own_hash

    path = Path(run) / "metrics.json"
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps({**content, SHA256: _own_hash(content)}), encoding="utf-8")


# Checkpoints


class _Evil:
    """A pickle that makes a folder when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("evil",)


def _pickle(pattern: str) -> None:
    for path in _files(pattern):
        path.write_bytes(pickle.dumps(_Evil()))


def _weights(folder: str, change: str) -> None:
    from safetensors.torch import load_file, save_file

    path = Path(folder) / "model.safetensors"
    tensors = load_file(path)
    name = sorted(tensors)[3]
    if change == "one less":
        del tensors[name]
    elif change == "another shape":
        tensors[name] = tensors[name][:1].clone()
    elif change == "none":
        tensors.clear()
    else:
        for each in sorted(tensors) if change.startswith("all ") else [name]:
            tensors[each].view(-1)[0] = float(change.removeprefix("all "))
    save_file(tensors, path, metadata={"format": "pt"})


# Whole files and folders


def _write(file: str, text: str = "") -> None:
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))


def _copy(old: str, new: str) -> None:
    copy = shutil.copytree if Path(old).is_dir() else shutil.copyfile
    copy(old, new)


def _begun_run() -> None:
    """A run that has its manifest and a part of its translations."""
    parts = Path("runs/begun/translations.parts")
    parts.mkdir(parents=True)
    shutil.copy("runs/a/manifest.json", parts.parent)
    _write(str(parts / "000000.jsonl"), "{}\n")


def _damaged_cache() -> None:
    for folder in Path("cache").iterdir():
        if folder.is_dir():
            (folder / "wrong").touch()
    _write("cache/datasets/bug/full_BUG.csv", "x")


def _pipe_with_a_reader() -> None:
    os.mkfifo("pipe")
    threading.Thread(target=Path("pipe").read_bytes, daemon=True).start()


def _full_device() -> None:
    """A device of our own that is always full: what replaced one of the machine's would harm the
    machine."""
    there = Path("/dev/full")
    if not there.is_char_device():
        pytest.skip("this system has no /dev/full")
    try:
        os.mknod("full", stat.S_IFCHR | 0o600, there.stat().st_rdev)
        Path("full").open("wb").close()
    except OSError as error:  # not root, or a file system without devices
        pytest.skip(f"a device cannot be made here: {error.strerror}")


_VERBS: Mapping[str, Callable[..., object]] = {
    "damage": _damage,
    "replace": _replace,
    "line": _line,
    "json": _json,
    "rehash calls": _rehash_calls,
    "rehash metrics": _rehash_metrics,
    "pickle": _pickle,
    "weights": _weights,
    "write": _write,
    "copy": _copy,
    "remove": lambda file: Path(file).unlink(),
    "folder": lambda path: Path(path).mkdir(),
    "fifo": os.mkfifo,
    "link": lambda path, target: Path(path).symlink_to(target),
    "hard link": lambda path, target: Path(path).hardlink_to(target),
    "checkpoint": lambda folder: shutil.copytree(model_folder_of_demo(), folder),
    "stanza": lambda folder: shutil.copytree(stanza_folder_of_demo(), folder),
    "a run that was begun": _begun_run,
    "a cache that is damaged": _damaged_cache,
    "pipe with a reader": _pipe_with_a_reader,
    "full device": _full_device,
}
