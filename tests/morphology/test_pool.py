"""Several processes analyse; the cache is the same as with one, also where a process dies."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest

from mtbias.errors import MissingResourceError
from mtbias.machine import devices
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
from mtbias.morphology import analyser as module
from mtbias.morphology.stanza_models import StanzaModels

TEXTS = [
    f"{who} {does} {how}."
    for who in ("La cuoca", "Il sarto")
    for does in ("ride", "dorme")
    for how in "abcdefg"
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of 4, so that 8 texts are worth two processes."""
    monkeypatch.setattr(module, "BATCH", 4)
    monkeypatch.setattr(module, "WORTH_PROCESSES", 8)
    monkeypatch.setattr(module, "WORTH_UNASKED", 16)


def rows(analyser: StanzaAnalyser) -> list[tuple[bytes, bytes]]:
    return analyser._cache._db.execute("SELECT key, value FROM analysis ORDER BY key").fetchall()


@pytest.fixture(scope="module")
def expected(stanza_dir: Path) -> list[tuple[bytes, bytes]]:
    """What one process finds."""
    one = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), device="cpu")
    one.prepare(TEXTS)
    assert len(rows(one)) == len(TEXTS)
    return rows(one)


def make(stanza_dir: Path, monkeypatch: pytest.MonkeyPatch | None = None) -> StanzaAnalyser:
    """An analyser of two processes; with `monkeypatch` this process itself must not analyse."""
    two = StanzaAnalyser(
        find_package("it", stanza_dir), AnalysisCache(None), device="cpu", processes=2
    )
    if monkeypatch is not None:
        monkeypatch.setattr(StanzaModels, "analyse", None)
    return two


@pytest.mark.slow
def test_two_processes_find_what_one_finds_and_not_again_what_was_submitted(
    stanza_dir: Path, expected: list[tuple[bytes, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    two = make(stanza_dir, monkeypatch)
    two.submit(TEXTS[:6])  # a batch, and a half that waits
    two.submit(TEXTS[4:9])
    assert list(two._left) == TEXTS[8:9]
    done: list[int] = []
    two.prepare(TEXTS * 2, done.append)
    assert rows(two) == expected
    assert sum(done) == len(TEXTS)
    assert two._pool is None  # they have ended


@pytest.mark.slow
def test_of_two_files_the_second_is_analysed_beside_the_first(
    stanza_dir: Path, expected: list[tuple[bytes, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    two = make(stanza_dir, monkeypatch)
    batches: list[list[str]] = []
    send = two._send

    def watched(batch: list[str]) -> None:
        batches.append(batch)
        send(batch)

    monkeypatch.setattr(two, "_send", watched)
    first, second = TEXTS[:14], TEXTS[10:]  # four texts are in both
    two.submit(first, whole=True)
    two.submit(second, whole=True)
    assert [len(batch) for batch in batches] == [4, 4, 4, 2, 4, 4, 4, 2]
    assert [text for batch in batches for text in batch] == TEXTS
    done: list[int] = []
    two.prepare(first, done.append)
    assert sum(done) == len(first)  # of its own texts; those of the other may be done, too
    assert list(two._cache.missing(first)) == []
    done.clear()
    two.prepare(second, done.append)
    assert sum(done) <= len(second)
    assert rows(two) == expected
    assert len(batches) == 8  # none was sent again
    assert two._pool is None


@pytest.mark.slow
def test_of_two_files_the_first_is_not_wanted(
    stanza_dir: Path, expected: list[tuple[bytes, bytes]]
) -> None:
    two = make(stanza_dir)
    first, second = TEXTS[:14], TEXTS[12:]
    two.submit(first, whole=True)
    two.submit(second, whole=True)
    two.abandon(first)
    assert two._pool is not None  # the second is still wanted
    two.prepare(second)
    assert list(two._cache.missing(second)) == []
    two.abandon()
    two.prepare(first)
    assert rows(two) == expected
    assert list(two._left) == list(two._sent) == []


def test_what_is_not_wanted_is_not_sent(stanza_dir: Path) -> None:
    two = make(stanza_dir)
    two.submit(TEXTS[:3])  # less than a batch
    two.abandon(TEXTS[1:])
    assert list(two._left) == TEXTS[:1]
    two.abandon()
    assert two._left == {}
    assert two._pool is None


@pytest.mark.slow
def test_after_a_process_was_killed_one_goes_on(
    stanza_dir: Path, expected: list[tuple[bytes, bytes]], caplog: pytest.LogCaptureFixture
) -> None:
    two = make(stanza_dir)
    two.submit(TEXTS[:4])
    assert two._pool is not None
    for process in two._pool._processes:
        os.kill(process, signal.SIGKILL)
    with caplog.at_level(logging.WARNING):
        two.prepare(TEXTS)
    assert rows(two) == expected
    (record,) = caplog.records
    assert "was ended" in record.message
    assert "one process" in record.message


def test_with_one_process_nothing_is_begun(stanza_dir: Path) -> None:
    one = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), device="cpu")
    one.submit(TEXTS)
    assert one._pool is None
    assert rows(one) == []


@pytest.mark.slow
def test_beside_generation_two_begin_where_there_are_cores_and_memory(
    stanza_dir: Path, expected: list[tuple[bytes, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: 4 << 30)
    monkeypatch.setattr(module, "usable_cores", lambda: 3)
    two = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), processes=None)
    two.submit(TEXTS[:4])
    assert two._pool is not None
    assert two._processes == 2
    assert two._device == "cpu"  # whatever else there is: the GPU translates
    two.prepare(TEXTS)
    assert rows(two) == expected


@pytest.mark.parametrize(
    ("cores", "gibibytes", "gpus", "processes"),
    [(2, 4, 0, 2), (3, 64, 0, 3), (64, 64, 0, 4), (1, 64, 0, 1), (64, 3, 0, 1), (64, 64, 1, 1)],
)
def test_the_whole_of_a_file_has_two_to_four_where_there_are_cores_and_memory_and_no_gpu(
    stanza_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    gibibytes: int,
    gpus: int,
    processes: int,
) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: gibibytes << 30)
    monkeypatch.setattr(module, "threads", lambda: cores)
    monkeypatch.setattr(devices, "gpu_count", lambda: gpus)
    usual = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), processes=None)
    monkeypatch.setattr(usual, "_send", lambda _: None)
    usual.submit(TEXTS, whole=True)
    assert usual._processes == processes


@pytest.mark.parametrize(
    ("cores", "gibibytes", "processes"), [(4, 64, 2), (16, 64, 14), (16, 20, 10)]
)
def test_beside_generation_all_cores_but_two_analyse_as_memory_allows(
    stanza_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    gibibytes: int,
    processes: int,
) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: gibibytes << 30)
    monkeypatch.setattr(module, "usable_cores", lambda: cores)
    usual = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), processes=None)
    monkeypatch.setattr(usual, "_send", lambda _: None)
    usual.submit(TEXTS)
    assert usual._processes == processes


@pytest.mark.parametrize(("cores", "gibibytes"), [(2, 64), (64, 3)])
def test_with_few_cores_or_little_memory_nothing_is_begun(
    stanza_dir: Path, monkeypatch: pytest.MonkeyPatch, cores: int, gibibytes: int
) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: gibibytes << 30)
    monkeypatch.setattr(module, "usable_cores", lambda: cores)
    one = StanzaAnalyser(find_package("it", stanza_dir), AnalysisCache(None), processes=None)
    one.submit(TEXTS)
    assert one._pool is None


def test_few_texts_start_no_process(stanza_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = make(stanza_dir)
    monkeypatch.setattr(two, "_send", None)
    two.prepare(TEXTS[:7])
    assert len(rows(two)) == 7


@pytest.mark.parametrize(("processes", "fewest"), [(2, 8), (None, 16)])
def test_processes_that_nobody_asked_for_are_for_more_texts(
    stanza_dir: Path, monkeypatch: pytest.MonkeyPatch, processes: int | None, fewest: int
) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: 4 << 30)
    monkeypatch.setattr(module, "threads", lambda: 2)
    package = find_package("it", stanza_dir)
    analyser = StanzaAnalyser(package, AnalysisCache(None), device="cpu", processes=processes)
    sent: list[list[str]] = []
    monkeypatch.setattr(analyser, "_send", sent.append)
    analyser.submit(TEXTS[: fewest - 1], whole=True)
    assert sent == []
    analyser.submit(TEXTS[:fewest], whole=True)
    assert [text for batch in sent for text in batch] == TEXTS[:fewest]


@pytest.mark.slow
def test_an_error_in_a_process_is_the_same_error_here(stanza_dir: Path, tmp_path: Path) -> None:
    package = find_package("it", stanza_dir)
    nowhere = type(package)(package.language, tmp_path, package.models)
    two = StanzaAnalyser(nowhere, AnalysisCache(None), device="cpu", processes=2)
    with pytest.raises(MissingResourceError, match="mtbias fetch --lang it"):
        two.prepare(TEXTS)
    assert two._pool is None
