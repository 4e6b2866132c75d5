"""Processes that translate shards of one small run and are killed: each a fork of a parent that has
loaded everything.

``python shard_processes.py FOLDER SEED KILLS`` prints how many processes were killed, and where the
run then was.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from mtbias.demo import demo_file
from mtbias.evaluation.preparation import prepare_eval
from mtbias.evaluation.stages import Request, evaluate, translate_shard
from mtbias.runs.run_folder import run_progress
from mtbias.settings import EvalSettings
from mtbias.translate.outputs import Shard
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import DEMO

FILES = ("calls.jsonl", "metrics.json", "translations.jsonl")
PARTS = "translations.parts"
SHARDS = tuple(Shard(number, 3) for number in (1, 2, 3))
KILLS_A_RUN = 10


def small_corpus(folder: Path, *, every: int) -> Path:
    """A file with each `every`-th pair of the demo's sentences, which differ in gender alone."""
    head, *rows = demo_file().read_text(encoding="utf-8").splitlines(keepends=True)
    path = folder / "corpus.tsv"
    path.write_text(
        head + "".join(row for n, row in enumerate(rows) if n // 2 % every == 0), encoding="utf-8"
    )
    return path


def make_request(folder: Path, *, batch_rows: int | None = 4, dtype: str | None = None) -> Request:
    """The demo's model, German, 64 sentences in 16 batches of 4, each on its own; the cache is in
    `folder`."""
    corpus = folder / "corpus.tsv"
    settings = EvalSettings(
        dataset=DEMO,
        data=corpus if corpus.exists() else small_corpus(folder, every=8),
        beams=1,
        batch_rows=batch_rows,
        dtype=dtype,
        device="cpu",
        stanza_dir=Path("mtbias:demo"),
        cache_dir=folder / "cache",
        offline=True,
        resamples=200,
    )
    return prepare_eval(DEMO, "de", settings)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a complete run."""
    return {name: (folder / name).read_bytes() for name in FILES}


def parts_in(folder: Path) -> dict[str, bytes]:
    """The parts that are kept, by file name."""
    return {path.name: path.read_bytes() for path in (folder / PARTS).glob("[0-9]*.jsonl")}


def fork(work: Callable[[], object]) -> int:
    """Do `work` in a process of its own; gives its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a fork must not return to the caller's code
        traceback.print_exc()
        os._exit(1)


def wait(pid: int) -> None:
    """Wait for a process that must end well."""
    _, status = os.waitpid(pid, 0)
    if status:
        raise RuntimeError(f"a process ended with status {status}")


class Run:
    """A run folder, its undisturbed files, and a request with the model loaded."""

    def __init__(self, home: Path, request: Request) -> None:
        self.home, self.request = home, request
        whole, parts = home / "whole", home / "parts"
        start = time.monotonic()
        for shard in SHARDS:
            wait(fork(self.translate(shard, parts)))
        self.seconds = (time.monotonic() - start) / len(SHARDS)
        """Of a shard, from fork to end."""
        self.parts = parts_in(parts)
        wait(
            fork(lambda: evaluate(make_request(home), out=whole))
        )  # SQLite must not be carried through a fork
        self.files = contents(whole)

    def translate(self, shard: Shard, out: Path) -> Callable[[], object]:
        return lambda: translate_shard(self.request, shard, out=out)

    def complete(self, out: Path) -> Callable[[], object]:
        return lambda: evaluate(make_request(self.home), out=out, generate=False)

    def check_parts(self, out: Path) -> int:
        """Whatever is kept is whole and what it always is; gives how many parts there are."""
        kept = parts_in(out)
        for name, content in kept.items():
            if content != self.parts[name]:
                raise RuntimeError(f"{out}: {name} is not what it is undisturbed")
        return len(kept)

    def finish(self, out: Path) -> None:
        """Go on undisturbed: nothing is lost, nothing doubled."""
        for shard in SHARDS:
            wait(fork(self.translate(shard, out)))
        if not run_progress(out).translated:
            raise RuntimeError(f"{out}: {run_progress(out)}")
        wait(fork(self.complete(out)))
        left = [path.name for path in out.rglob("*") if path.name.endswith(".tmp")]
        if contents(out) != self.files or left or (out / PARTS).exists():
            raise RuntimeError(f"{out}: not as the undisturbed run; left behind: {left}")


def kill_many(run: Run, seed: int, kills: int) -> Iterator[int]:
    """Kill that many processes at random moments, ten or so a run; gives the parts kept after each
    time."""
    chance, numbers = random.Random(seed), count()
    killed = 0
    while killed < kills:
        out = run.home / f"killed-{next(numbers)}"
        until = min(killed + KILLS_A_RUN, kills)
        while killed < until:
            tasks = [
                run.translate(chance.choice(SHARDS), out) for _ in range(2)
            ]  # at times two on one shard
            pids = [fork(task) for task in tasks]
            time.sleep(chance.uniform(0.0, 1.5 * run.seconds))  # two at once are slower than one
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
                killed += os.WIFSIGNALED(os.waitpid(pid, 0)[1])
            yield run.check_parts(out)
            if out.exists() and run_progress(out).translated:
                pid = fork(run.complete(out))
                time.sleep(chance.uniform(0.0, 2 * run.seconds))
                os.kill(pid, signal.SIGKILL)
                killed += os.WIFSIGNALED(os.waitpid(pid, 0)[1])
                break
        run.finish(out)


def together(run: Run) -> None:
    """Every shard twice, all at once."""
    out = run.home / "together"
    for pid in [fork(run.translate(shard, out)) for shard in SHARDS for _ in range(2)]:
        wait(pid)
    run.check_parts(out)
    run.finish(out)


def main() -> None:
    home, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    request = make_request(home)
    assert isinstance(request.system, CheckpointSystem)
    _ = request.system.engine  # loaded once, before the forks
    run = Run(home, request)
    together(run)
    kept = list(kill_many(run, seed, kills))
    print(json.dumps({"parts": len(run.parts), "kept": kept, "seconds": round(run.seconds, 3)}))


if __name__ == "__main__":
    main()
