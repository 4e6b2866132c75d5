"""Commands whose output would be written over a file that they read, or that a run keeps."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from .attack import Attack

SPELLINGS: Mapping[str, str] = {
    "its name": "{}",
    "with a dot": "./{}",
    "by another folder": "winomt/../{}",
    "absolute": "/proc/self/cwd/{}",
    "a symbolic link": "linked",
    "a hard link": "linked",
}
"""How a file may be named."""
_LINKS = {"a symbolic link": Path.symlink_to, "a hard link": Path.hardlink_to}


def table() -> list[dict[str, str]]:
    """The rows of the table.

    `file` would be lost; {} stands for its name in `argv`. `read` says whether the command reads
    it: a run's file that it does not read is not lost by writing under the name of a hard link,
    which the new file replaces.
    """
    with Path(__file__).with_name("destroy.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _attacks() -> Iterator[Attack]:
    for row in table():
        spellings = dict(SPELLINGS if "{}" in row["argv"] else {"its name": ""})
        if row["read"] == "no":
            spellings.pop("a hard link", None)
        for spelling, pattern in spellings.items():
            ending = Path(row["file"]).suffix if spelling in _LINKS else ""
            argv = row["argv"].replace("{}", f"{pattern.replace('{}', row['file'])}{ending}")
            prepare = partial(_prepare, row["file"], spelling)
            yield Attack(f"destroy: {row['name']} ({spelling})", argv, prepare, int(row["code"]))


def _prepare(file: str, spelling: str) -> None:
    """Begin a run, which has its manifest and a part of its translations; and make the link."""
    parts = Path("runs/begun/translations.parts")
    parts.mkdir(parents=True)
    shutil.copy("runs/a/manifest.json", parts.parent)
    (parts / "000000.jsonl").write_text("{}\n", encoding="utf-8")
    if spelling in _LINKS:
        _LINKS[spelling](Path(f"linked{Path(file).suffix}"), Path(file).absolute())


DESTROY = tuple(_attacks())
