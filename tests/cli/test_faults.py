"""What can go wrong under a run in parts: nothing lost, nothing doubled, results as those of an
undisturbed run.

docs/faults.md names these tests, fault by fault.
"""

from __future__ import annotations

import ast
import json
import logging
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import mtbias
from mtbias import cli
from mtbias.errors import MissingTranslationsError, ModelError, RunFolderError
from mtbias.evaluation.stages import Request, evaluate, translate_shard
from mtbias.runs.run_folder import RunFolder, run_progress
from mtbias.translate.outputs import Shard
from mtbias.translate.seq2seq.checkpoints import locate

from .machine import Machine
from .shard_processes import FILES, PARTS, contents, make_request

pytestmark = pytest.mark.slow

FIRST, SECOND = Shard(1, 2), Shard(2, 2)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def request_(home: Path) -> Request:
    """64 sentences of the demo in 16 batches."""
    return make_request(home)


@pytest.fixture(scope="module")
def whole(home: Path, request_: Request) -> dict[str, bytes]:
    """The files of a run that nothing disturbed."""
    evaluate(request_, out=home / "whole")
    return contents(home / "whole")


def _go_on(request: Request, out: Path) -> dict[str, bytes]:
    """What the same commands make of the folder afterwards."""
    for shard in (FIRST, SECOND):
        translate_shard(request, shard, out=out)
    evaluate(request, out=out, generate=False)
    assert not [path for path in out.rglob("*") if path.name.endswith(".tmp")]
    return contents(out)


# ----- processes that are killed or stopped


def _kill(home: Path, seed: int, kills: int) -> None:
    program = [
        sys.executable,
        str(Path(__file__).with_name("shard_processes.py")),
        str(home),
        str(seed),
        str(kills),
    ]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "",
    }
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    # The kills did hit in the midst of it: not all before the first batch was kept, nor all after
    # the last.
    assert any(0 < kept < said["parts"] for kept in said["kept"]), said


def test_killed_ten_times(tmp_path: Path) -> None:
    _kill(tmp_path, seed=0, kills=10)


@pytest.mark.exhaustive
def test_killed_a_hundred_times(tmp_path: Path) -> None:
    _kill(tmp_path, seed=1, kills=100)


def _until_kept(out: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait for the first batch."""
    end = time.monotonic() + 300
    while (
        not list((out / PARTS).glob("[0-9]*.jsonl"))
        and process.poll() is None
        and time.monotonic() < end
    ):
        time.sleep(0.001)


@pytest.mark.parametrize("shard", [(), ("--shard", "1/1")])
def test_sigterm(
    request_: Request, whole: dict[str, bytes], home: Path, tmp_path: Path, shard: tuple[str, ...]
) -> None:
    out = tmp_path / "run"
    with Machine(home).start(
        "eval", "--model", "demo", "--dataset", "demo", "--data", home / "corpus.tsv", "--stanza-dir", "mtbias:demo",
        "--lang", "de", "--beams", "1", "--batch-rows", "4", "--resamples", "200", "--out", out, *shard,
    ) as process:  # fmt: skip
        _until_kept(out, process)
        process.send_signal(signal.SIGTERM)
        said = process.communicate()
    assert (process.returncode, *said) == (
        143,
        b"",
        b"mtbias: stopped by SIGTERM; the same command resumes\n",
    )
    assert not list(out.rglob("*.tmp"))
    assert not RunFolder(out).is_complete()
    assert run_progress(out).parts_done > 0
    assert _go_on(request_, out) == whole


def test_another_programs_sigterm_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def none() -> dict[str, object]:
        seen.append(signal.getsignal(signal.SIGTERM))
        return {}

    monkeypatch.setattr("mtbias.cli.listing.catalogued", none)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert cli.main(["list", "datasets"]) == 0
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        assert cli.main(["list", "datasets"]) == 0
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen[0] is signal.SIG_IGN
    assert callable(seen[1])


@pytest.mark.parametrize("place", ["manifest.json", f"{PARTS}/plan.json", f"{PARTS}/000003.jsonl"])
def test_a_node_that_dies_between_write_and_rename(
    request_: Request, whole: dict[str, bytes], tmp_path: Path, place: str
) -> None:
    # What is written before `place` is there, `place` itself half and under its temporary name.
    out = tmp_path / "run"
    translate_shard(request_, FIRST, out=out)
    path = out / place
    if place.startswith(PARTS):
        content = (
            (out / f"{PARTS}/000000.jsonl").read_bytes() if "0003" in place else path.read_bytes()
        )
        path.unlink(missing_ok=True)
    else:
        content = path.read_bytes()
        for entry in [*(out / PARTS).iterdir(), out / PARTS, path]:
            entry.rmdir() if entry.is_dir() else entry.unlink()
    left = path.with_name(f".{path.name}.0a1b2c3d4e5f6071.tmp")
    left.write_bytes(content[: len(content) // 2])
    assert _go_on(request_, out) == whole


# ----- disks


def test_a_full_disk(
    request_: Request, whole: dict[str, bytes], mount_disk: Callable[[str], Path]
) -> None:
    disk = mount_disk("64k")  # 16 pages: manifest, plan and lock, and not the 16 batches
    out = disk / "run"
    with pytest.raises(
        RunFolderError,
        match="No space left on device; make room and run the same command again, it",
    ):
        translate_shard(request_, Shard(1, 1), out=out)
    assert 0 < run_progress(out).parts_done < 16
    assert not list(out.rglob("*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
    assert _go_on(request_, out) == whole


def test_a_folder_that_can_only_be_read(
    request_: Request, whole: dict[str, bytes], mount_disk: Callable[[str], Path]
) -> None:
    disk = mount_disk("8m")
    out = disk / "run"
    translate_shard(request_, FIRST, out=out)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for attempt in (
        lambda: translate_shard(request_, SECOND, out=out),
        lambda: evaluate(request_, out=out),
        lambda: translate_shard(request_, SECOND, out=disk / "another"),
    ):
        with pytest.raises(
            RunFolderError, match="Read-only file system; choose a folder that you may write to"
        ):
            attempt()
    assert run_progress(out).parts_done == 8
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert _go_on(request_, out) == whole


# ----- damage


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_damaged_shard_is_noticed_and_made_again(
    request_: Request, whole: dict[str, bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for shard in (FIRST, SECOND):
        translate_shard(request_, shard, out=tmp_path)
    _flip(tmp_path / PARTS / "000003.jsonl", -20)
    _flip(tmp_path / PARTS / "000004.jsonl", 20)
    assert run_progress(tmp_path).translated  # by the names; the content is checked when it is read
    with (
        caplog.at_level(logging.WARNING, "mtbias"),
        pytest.raises(MissingTranslationsError, match="2 of 16 parts"),
    ):
        evaluate(request_, out=tmp_path, generate=False)
    assert "000003.jsonl is damaged" in caplog.text
    assert run_progress(tmp_path).missing == {3, 4}
    assert (
        translate_shard(request_, FIRST, out=tmp_path).generated == 4
    )  # batches 0, 2, 4, …: four sentences of 4
    assert _go_on(request_, tmp_path) == whole


def test_a_damaged_shard_is_made_again_by_its_own_task(
    request_: Request, whole: dict[str, bytes], tmp_path: Path
) -> None:
    translate_shard(request_, FIRST, out=tmp_path)
    (tmp_path / PARTS / "000002.jsonl").write_bytes(b"")
    assert translate_shard(request_, FIRST, out=tmp_path).generated == 4
    assert _go_on(request_, tmp_path) == whole


def _women_for_men(row: bytes) -> bytes:
    """A row of the cache, of another content than its checksum says."""
    content = zlib.decompress(row[4:]).replace(b"Gender=Masc", b"Gender=Fem")
    return row[:4] + zlib.compress(content)


def test_a_damaged_cache_of_analyses(
    whole: dict[str, bytes], home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "corpus.tsv").write_bytes((home / "corpus.tsv").read_bytes())
    evaluate(make_request(tmp_path), out=tmp_path / "first")
    assert contents(tmp_path / "first") == whole
    (path,) = (tmp_path / "cache" / "analyses").glob("*.sqlite")
    # A word that makes women of men, in every row: neither SQLite nor zlib sees anything wrong, the
    # rows' checksums do.
    db = sqlite3.connect(path)
    db.create_function("hurt", 1, _women_for_men)
    with db:
        changed = db.execute("UPDATE analysis SET value = hurt(value)").rowcount
    db.close()
    assert changed > 0
    shutil.rmtree(tmp_path / "cache" / "results")  # the calls that were made of them
    evaluate(make_request(tmp_path), out=tmp_path / "second")
    assert contents(tmp_path / "second") == whole
    # The file itself.
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    shutil.rmtree(tmp_path / "cache" / "results")
    with caplog.at_level(logging.WARNING, "mtbias"):
        evaluate(make_request(tmp_path), out=tmp_path / "third")
    assert "sentences are analysed again" in caplog.text
    assert contents(tmp_path / "third") == whole


def test_a_damaged_record_of_models(tmp_path: Path) -> None:
    for content in ("", "{", "[]", '{"a/b": 1}'):
        (tmp_path / "models.json").write_text(content)
        with pytest.raises(
            ModelError, match=r"models\.json: .*delete it and run mtbias fetch again"
        ):
            locate("opus-mt", "de", cache=tmp_path, offline=True)


# ----- clocks


def test_clocks_that_go_wrong(
    request_: Request, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One node lives in 1990, another in 2090; files carry their times, the oldest were written
    last."""
    for shard, year in ((FIRST, 2090), (SECOND, 1990)):
        there = time.mktime((year, 1, 1, 0, 0, 0, 0, 1, 0))
        with monkeypatch.context() as clock:
            clock.setattr(time, "time", lambda there=there: there)
            clock.setattr(time, "time_ns", lambda there=there: int(there * 1e9))
            translate_shard(request_, shard, out=tmp_path)
        for path in tmp_path.rglob("*"):
            os.utime(path, (there, there))
    assert run_progress(tmp_path).translated
    assert _go_on(request_, tmp_path) == whole


_CLOCKS = {
    "time",
    "time_ns",
    "localtime",
    "gmtime",
    "strftime",
    "now",
    "utcnow",
    "today",
    "getmtime",
    "st_mtime",
    "st_ctime",
}
_MODULES = {"time", "datetime", "date", "path"}
# A server's model may be another one tomorrow, so the day of the first request is a part of the
# identity, which a run that resumes keeps; and Retry-After may be a time of day.
_MAY_READ = {
    "translate/remote_server.py: now",
    "translate/language_models/endpoint_client.py: time",
}


def test_nothing_that_decides_reads_a_clock() -> None:
    """`time.perf_counter` measures how long something took; the time of day and the times of files
    are never read."""
    package = Path(mtbias.__file__).parent
    found = []
    for folder in ("runs", "translate", "morphology", "align", "reading", "scoring"):
        for path in (package / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in _CLOCKS:
                    of_module = isinstance(node.value, ast.Name) and node.value.id in _MODULES
                    if of_module or node.attr.startswith("st_"):
                        found.append(f"{path.relative_to(package)}: {node.attr}")
    assert set(found) == _MAY_READ


# ----- two at once


def test_one_that_completes_and_one_that_translates(
    request_: Request, whole: dict[str, bytes], tmp_path: Path
) -> None:
    translate_shard(request_, FIRST, out=tmp_path)
    identity = request_.identity(request_.system.plan(request_.corpus, {}))
    with (
        RunFolder(tmp_path).open_or_create(identity, shared=True),
        pytest.raises(
            RunFolderError,
            match=re.escape("a task that translates a shard is writing into this folder"),
        ),
    ):
        evaluate(request_, out=tmp_path)
    with (
        RunFolder(tmp_path).open_or_create(identity),
        pytest.raises(
            RunFolderError, match=f"process {os.getpid()} on .* is writing into this folder"
        ),
    ):
        translate_shard(request_, SECOND, out=tmp_path)
    assert _go_on(request_, tmp_path) == whole
    assert set(FILES) <= {path.name for path in tmp_path.iterdir()}
