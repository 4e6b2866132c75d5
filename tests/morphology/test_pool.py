"""Several processes analyse; the cache is the same as with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.errors import MissingResourceError
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
from mtbias.morphology import analyser as module
from mtbias.morphology.stanza_models import StanzaModels

TEXTS = [f"{who} {does} {how}." for who in ("La cuoca", "Il sarto") for does in ("ride", "dorme") for how in "abcdefg"]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of 4, so that 28 texts are worth two processes."""
    monkeypatch.setattr(module, "BATCH", 4)
    monkeypatch.setattr(module, "WORTH_PROCESSES", 8)


def rows(analyser: StanzaAnalyser) -> list[tuple[bytes, str]]:
    return analyser._cache._db.execute("SELECT key, value FROM analysis ORDER BY key").fetchall()


@pytest.fixture(scope="module")
def expected(stanza_dir: Path) -> list[tuple[bytes, str]]:
    """What one process finds."""
    one = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), device="cpu")
    one.prepare(TEXTS)
    assert len(rows(one)) == len(TEXTS)
    return rows(one)


def make(stanza_dir: Path, monkeypatch: pytest.MonkeyPatch | None = None) -> StanzaAnalyser:
    """An analyser of two processes; with `monkeypatch` this process itself must not analyse."""
    two = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), device="cpu", processes=2)
    if monkeypatch is not None:
        monkeypatch.setattr(StanzaModels, "analyse", None)
    return two


@pytest.mark.slow
def test_two_processes_find_what_one_finds(
    stanza_dir: Path, expected: list[tuple[bytes, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    two = make(stanza_dir, monkeypatch)
    done: list[int] = []
    two.prepare(TEXTS * 2, done.append)
    assert rows(two) == expected
    assert sum(done) == len(TEXTS)
    assert two.ways == ["direct tensors"]


def test_few_texts_start_no_process(stanza_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = make(stanza_dir)
    monkeypatch.setattr(two, "_together", None)
    two.prepare(TEXTS[:7])
    assert len(rows(two)) == 7


@pytest.mark.slow
def test_an_error_in_a_process_is_the_same_error_here(stanza_dir: Path, tmp_path: Path) -> None:
    package = find_package("it", stanza_dir)
    nowhere = type(package)(package.language, tmp_path, package.models)
    two = StanzaAnalyser(nowhere, AnalysisCache(None), device="cpu", processes=2)
    with pytest.raises(MissingResourceError, match="mtbias fetch --lang it"):
        two.prepare(TEXTS)
