"""A sweep on a real Slurm of two nodes on this host: job arrays, a task killed, one pre-empted, one
that fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts" / "slurm_local.sh"
LANGUAGES = ("cs", "de", "es")
SHARDS = 2
BATCHES = 128
"""512 sentences in batches of 20 rows: four sentences at beam 5. The local run has the usual 32."""
WAIT = 2400
"""Seconds, on a machine that has other things to do."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Cluster:
    """A Slurm, and mtbias beside it."""

    environment: dict[str, str]

    def call(self, *command: str) -> str:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def mtbias(self, *arguments: str | Path) -> str:
        return self.call(sys.executable, "-m", "mtbias", *map(str, arguments))

    def status(self, file: Path) -> dict[str, list[dict[str, str]]]:
        found: dict[str, list[dict[str, str]]] = json.loads(self.mtbias("status", file, "--json"))
        return found

    def idle(self) -> bool:
        return self.call("squeue", "--noheader") == ""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Slurm of our own, stopped in the end; a skip that says why where it cannot be installed or
    started."""
    pytest.importorskip("submitit")
    folder = tmp_path_factory.mktemp("slurm") / "slurm"
    for step in (["install"], ["start", str(folder), "2"]):
        done = subprocess.run([str(SCRIPT), *step], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no Slurm here ({step[0]}): {done.stderr.strip().splitlines()[-1]}")
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("SLURM_", "MTBIAS_CACHE", "STANZA_"))
    }
    kept |= {"SLURM_CONF": str(folder / "slurm.conf"), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": ""}
    kept["PATH"] = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    try:
        yield Cluster(kept)
    finally:
        subprocess.run([str(SCRIPT), "stop", str(folder)], check=True)


def _sweep(folder: Path, *, more: str) -> Path:
    folder.mkdir()
    file = folder / "sweep.toml"
    file.write_text(
        f"out = 'runs'\nmodels = ['demo']\nlanguages = {list(LANGUAGES)}\ndatasets = ['demo']\n{more}\n"
        "resamples = 200\n"
        "cache_dir = 'cache'\n[slurm]\ngpus = 0\ncpus = 1\nmem = '1G'\n[slurm.score]\ncpus = 1\nmem = '2G'\n"
    )
    return file


def _until(happened: Callable[[], object], what: str) -> None:
    end = time.monotonic() + WAIT
    while not happened():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


def _process_of(job: str, index: int) -> int | None:
    """The Python process of a task of an array: the one of submitit that has the task's number in
    its environment."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            told = (path / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        marks = {f"SLURM_ARRAY_JOB_ID={job}".encode(), f"SLURM_ARRAY_TASK_ID={index}".encode()}
        ours = (
            words[0].endswith(Path(sys.executable).name.encode())
            and b"submitit.core._submit" in words
        )
        if ours and marks <= set(told):
            return int(path.name)
    return None


def _catch(
    cluster: Cluster, out: Path, job: str, but: list[int], act: Callable[[int, int], object]
) -> int:
    """The first task that is in the midst of its batches; `act` is called with its index and its
    process."""
    tasks = json.loads((out / "submissions" / "000001.json").read_text())["tasks"]
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        for index, task in enumerate(tasks):
            _, cell, shard = task.split(":")
            number = int(shard.partition("/")[0])
            parts = out / cell / "translations.parts"
            kept = sum(int(path.stem) % SHARDS == number - 1 for path in parts.glob("[0-9]*.jsonl"))
            if index in but or not 1 <= kept <= BATCHES // SHARDS // 2:
                continue
            process = _process_of(job, index)
            if process is not None and act(index, process) is not False:
                return index
        time.sleep(0.05)
    raise AssertionError("no task was caught in the midst of its work")


def _lang(task: str) -> str:
    return task.split(":")[1].rpartition("/")[2]


def _preempt(cluster: Cluster, task: str, log: Path) -> bool:
    """As Slurm does where a job must make room: SIGTERM, then the signal that submitit waits for.

    While tasks of an array wait, scancel of Slurm 22.05 takes a signal that arrived for refused and
    sends it again: so it is ended once the task has got the signal.
    """
    for name, answer in (("TERM", "Bypassing signal SIGTERM"), ("USR2", "Caught signal SIGUSR2")):
        with subprocess.Popen(
            ["scancel", f"--signal={name}", task], env=cluster.environment
        ) as sender:
            end = time.monotonic() + 10
            while answer not in log.read_text() and time.monotonic() < end:
                time.sleep(0.02)
            sender.kill()
        if answer not in log.read_text():  # it has ended meanwhile
            return False
    return True


def test_a_sweep_with_a_killed_a_preempted_and_a_failing_task_ends_as_one_local_run(
    cluster: Cluster, tmp_path: Path
) -> None:
    file = _sweep(tmp_path / "cluster", more=f"shards = {SHARDS}\nbatch_rows = 20")
    out = file.parent / "runs"
    in_the_way = out / "demo" / "demo" / "cs"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("a file where a folder should be")

    said = cluster.mtbias("submit", file, "--max-parallel", "2")
    assert "6 × translate" in said
    assert "3 × score" in said
    assert "1 × table" in said
    job = json.loads((out / "submissions" / "000001.json").read_text())["job"]
    assert "ArrayTaskThrottle=2" in cluster.call("scontrol", "show", "job", job)

    tasks = json.loads((out / "submissions" / "000001.json").read_text())["tasks"]
    killed = _catch(cluster, out, job, [], lambda index, process: os.kill(process, signal.SIGKILL))
    preempted = _catch(
        cluster,
        out,
        job,
        [killed],
        lambda index, _: _preempt(
            cluster, f"{job}_{index}", out / "logs" / f"{job}_{index}_0_log.err"
        ),
    )
    _until(
        lambda: "Restarts=1" in cluster.call("scontrol", "show", "job", f"{job}_{preempted}"),
        "the requeue",
    )

    # a second submission while the first one runs: the killed task at most, and what waits for it
    again = cluster.mtbias("submit", file)
    assert "tasks are in the queue already" in again
    submitted = [
        json.loads(path.read_text())
        for path in sorted((out / "submissions").glob("[0-9]*.json"))[3:]
    ]
    names = [task for record in submitted for task in record["tasks"]]
    allowed = {tasks[killed], f"score:{_lang(tasks[killed])}", "table"}
    assert set(names) <= allowed | {t for t in tasks if ":demo/demo/cs:" in t} | {"score:cs"}
    _until(cluster.idle, "the end of all jobs")
    found = cluster.status(file)
    failed = {entry["task"]: entry["error"] for entry in found["failed"]}
    of_czech = {f"translate:demo/demo/cs:{k}/{SHARDS}" for k in range(1, SHARDS + 1)} | {
        "score:cs",
        "table",
    }
    assert of_czech <= failed.keys()
    assert failed.keys() <= of_czech | allowed
    assert tasks[preempted] not in failed
    first = f"translate:demo/demo/cs:1/{SHARDS}"
    assert "expected a folder, got a file" in failed[first]
    log = Path(next(entry["log"] for entry in found["failed"] if entry["task"] == first))
    assert "expected a folder, got a file" in log.read_text()

    in_the_way.unlink()
    left = cluster.mtbias("submit", file)
    assert "2 × translate" in left or "3 × translate" in left
    assert "6 × translate" not in left
    _until(cluster.idle, "the end of the second submission")
    found = cluster.status(file)
    assert found["failed"] == []
    assert {entry["state"] for entry in found["cells"]} == {"done"}
    assert "nothing is left to submit" in cluster.mtbias("submit", file)

    # one run on this machine, undisturbed, unsharded
    local = _sweep(tmp_path / "local", more="")
    cluster.mtbias("sweep", local, "--jobs", "2")
    for lang in LANGUAGES:
        for name in ("metrics.json", "calls.jsonl", "translations.jsonl"):
            here, there = (f.parent / "runs" / "demo" / "demo" / lang / name for f in (local, file))
            assert here.read_bytes() == there.read_bytes(), (lang, name)
    for name in ("table.txt", "table.csv", "table.md", "table.tex", "groups.csv", "groups.html"):
        assert (local.parent / "runs" / name).read_bytes() == (out / name).read_bytes()
