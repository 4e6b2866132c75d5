"""Small corpora with real translations, and machines to run mtbias on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.built import built

from .machine import Machine

CORPUS = ("en.txt", "en_pro.txt", "en_anti.txt")


def small_winomt(winomt: Path, folder: Path, *, every: int) -> Path:
    """A folder with each `every`-th row of WinoMT and the stereotype files of those rows."""
    folder.mkdir(parents=True)
    rows = (winomt / "en.txt").read_text(encoding="utf-8").splitlines(keepends=True)[::every]
    for name in CORPUS:
        known = set((winomt / name).read_text(encoding="utf-8").splitlines(keepends=True))
        (folder / name).write_text("".join(row for row in rows if row in known), encoding="utf-8")
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A machine with nothing on it."""
    return Machine(tmp_path)


@pytest.fixture(scope="session")
def small(winomt: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """41 rows of WinoMT (3,888 rows, every 97th)."""
    return small_winomt(winomt, tmp_path_factory.mktemp("small") / "winomt", every=97)


@pytest.fixture(scope="session")
def german(winomt: Path) -> Path:
    """Google's German of 2019 for the whole of WinoMT."""
    return winomt / "translations" / "google" / "en-de.txt"


@pytest.fixture(scope="session")
def analysed(
    small: Path, german: Path, stanza_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Machine:
    """A machine whose cache has the analyses of `small` in German already: no models are loaded any
    more. Each test process has a copy of its cache."""

    def make(folder: Path) -> None:
        folder.mkdir()
        done = Machine(folder, stanza_dir).run(
            "score", "--translations", german, "--lang", "de", "--data", small
        )
        assert (done.returncode, done.stderr) == (0, "")

    folder = tmp_path_factory.mktemp("prepared") / "machine"
    shutil.copytree(built(tmp_path_factory, "analysed", make), folder)
    return Machine(folder, stanza_dir)


@pytest.fixture(scope="module")
def prepared(analysed: Machine, stanza_dir: Path) -> Iterator[Machine]:
    """That machine, and what runs in this process finds the same; no longer than a module, whose
    tests expect it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MTBIAS_CACHE", str(analysed.cache))
        patch.setenv("STANZA_RESOURCES_DIR", str(stanza_dir))
        yield analysed
