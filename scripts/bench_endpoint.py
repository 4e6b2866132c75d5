"""How long requests to an endpoint take: one at a time, eight at once, and this process's CPU time
for each.

    python -m scripts.bench_endpoint

The server runs in a process of its own and answers after 50 ms; every answer is kept on disk. The
least of ten rounds is printed: other processes on the machine only ever add.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from mtbias.files.kept_work import PartStore, PlanRecord
from tests.translate.endpoint_runs import plan, run, sentences

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 10


def seconds(address: str, concurrency: int, n: int) -> tuple[float, float]:
    """Of one of `n` requests: by the clock, and of this process's CPU time, all threads
    together.
    """
    made = plan(address, sentences(n), concurrency=concurrency)
    with TemporaryDirectory() as folder:
        store = PartStore(
            Path(folder), PlanRecord(made.key, made.settings, tuple(made.sizes)), alone=True
        )
        begun, cpu = time.perf_counter(), time.process_time()
        run(made, store)
        return (time.perf_counter() - begun) / n, (time.process_time() - cpu) / n


def main() -> None:
    """Start the server, measure, and print milliseconds for each request."""
    command = [sys.executable, "-m", "tests.translate.endpoint_server"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        seconds(address, 1, 2)  # imports
        one = min(seconds(address, 1, 30)[0] for _ in range(ROUNDS))
        rounds = [seconds(address, 8, 160) for _ in range(ROUNDS)]
        process.kill()
    eight, cpu = min(r[0] for r in rounds), min(r[1] for r in rounds)
    print(
        f"one at a time {one * 1000:.1f} ms, eight at once {eight * 1000:.1f} ms, CPU {cpu * 1000:.2f} ms a request"
    )


if __name__ == "__main__":
    main()
