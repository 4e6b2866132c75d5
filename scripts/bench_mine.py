"""How fast `mtbias corpora mine` reads and parses, with and without its cheap filter, and the
memory that it takes.

    python scripts/bench_mine.py --text FILE… --stanza-dir DIR --occupations FILE
        [--sizes 1 4 16] [--processes 1 2]

First it prints how fast the texts are read and filtered, and nothing else done with them. Each row
of the tables is a run of its own, in a process of its own, into a new folder:

- speed, of the texts as they are: sentences of the text a second, with the cheap filter and without
  it (then everything is parsed, and the number of sentences is counted), by number of processes.
  The share of passages (lines) that the filter lets through is that of the text: in other texts it
  is another, and so is the speed.
- memory, of the texts 1, 4 and 16 times over with one process, each copy's lines with its number
  behind them: the largest amount of memory that the process had, in MiB, and how much of it was new
  since the first chunk.

Seconds are those of the CPU, of all processes together, and wall time, both with loading the
models. Wall time says something of several processes only where the machine has nothing else to do.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.mining.mined_rows import read_occupations  # noqa: E402
from mtbias.mining.mining_run import STAGES, MiningPlan, mine  # noqa: E402 - the path above comes first
from mtbias.mining.patterns import read_patterns  # noqa: E402
from mtbias.mining.text_input import WordFilter, input_files, read_chunks  # noqa: E402

READ, CHOSEN, SENTENCES, PARSED = STAGES
Json = dict[str, Any]
CHILD = "--child"


class Everything:
    """A filter that lets everything through."""

    words = ()

    def __call__(self, text: str) -> bool:
        """Whether there is any text."""
        return bool(text.strip())


def measured(job: Json) -> Json:
    """One run: its seconds, memory and counts."""
    if not job["filtered"]:
        MiningPlan.words = property(lambda _: Everything())  # type: ignore[assignment, method-assign]
    after: list[int] = []
    start, begun = time.perf_counter(), time.process_time()
    mined = mine(
        [Path(path) for path in job["text"]],
        Path(job["out"]),
        occupations=Path(job["occupations"]),
        stanza_dir=Path(job["stanza_dir"]),
        device="cpu",
        processes=job["processes"],
        progress=lambda *_: after.append(_peak()),
    )
    seconds = time.perf_counter() - start
    of_others = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() + of_others.ru_utime + of_others.ru_stime - begun
    return {
        "seconds": seconds,
        "cpu": cpu,
        "peak": _peak(),
        "grown": _peak() - after[0],
        "rows": mined.rows,
        **mined.read,
    }


def _peak() -> int:
    """Most memory of this process until now, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(job: Json) -> Json:
    """`measured` in a process of its own."""
    with TemporaryDirectory() as folder:
        given = {**job, "out": str(Path(folder) / "corpus.tsv")}
        done = subprocess.run(
            [sys.executable, __file__, CHILD, json.dumps(given)],
            check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def copies(texts: list[Path], size: int, out: Path) -> Path:
    """The texts `size` times over, each copy with its number at the end of its lines."""
    lines = [
        line
        for path in texts
        for line in path.read_text(encoding="utf-8").split("\n")
        if line.strip()
    ]
    with out.open("w", encoding="utf-8") as file:
        for copy in range(size):
            file.writelines(f"{line} ({copy})\n" for line in lines)
    return out


def reading(texts: list[Path], occupations: Path) -> str:
    """How fast the texts are read and filtered, in a second of this process."""
    words = (word for pattern in read_patterns() for word in pattern.words)
    keep = WordFilter(read_occupations(occupations).majority, words)
    files, read, times = input_files(texts), 0, 0
    begun = time.process_time()
    while (seconds := time.process_time() - begun) < 1:
        read += sum(chunk.read for chunk in read_chunks(files, keep))
        times += 1
    megabytes = times * sum(file.size for file in files) / 1e6
    return f"read and filtered in a CPU second: {read / seconds:,.0f} passages, {megabytes / seconds:.1f} MB"


def speed_table(results: list[tuple[str, int, Json]]) -> str:
    """The table of speeds; sentences of the text are those that a run without the filter
    counted.
    """
    sentences = next((found[SENTENCES] for name, _, found in results if name == "no"), None)
    lines = [
        "| filter | processes | passages | with the words | parsed | rows | CPU s | s | sentences per CPU s |",
        f"| --- |{' ---: |' * 8}",
    ]
    for name, processes, found in results:
        share = 100 * found[CHOSEN] / found[READ]
        of_text = "" if sentences is None else f"{sentences / found['cpu']:,.0f}"
        lines.append(
            f"| {name} | {processes} | {found[READ]:,} | {found[CHOSEN]:,} ({share:.1f} %) | {found[PARSED]:,} | "
            f"{found['rows']:,} | {found['cpu']:.1f} | {found['seconds']:.1f} | {of_text} |"
        )
    return "\n".join(lines)


def memory_table(results: list[tuple[int, Json]]) -> str:
    """The table of memory."""
    lines = [
        "| text | passages | rows | peak MiB | since the first chunk |",
        f"| --- |{' ---: |' * 4}",
    ]
    lines += [
        f"| {size}× | {found[READ]:,} | {found['rows']:,} | {found['peak'] / 1024:.0f} | {found['grown'] / 1024:.0f} |"
        for size, found in results
    ]
    return "\n".join(lines)


def main(
    *,
    text: Annotated[list[Path], cyclopts.Parameter(consume_multiple=True)],
    stanza_dir: Path,
    occupations: Path,
    sizes: Annotated[list[int] | None, cyclopts.Parameter(consume_multiple=True)] = None,
    processes: Annotated[list[int] | None, cyclopts.Parameter(consume_multiple=True)] = None,
    unfiltered: bool = True,
) -> None:
    """Measure, and print two tables."""
    common: Json = {"stanza_dir": str(stanza_dir), "occupations": str(occupations)}
    print(f"{reading(text, occupations)}\n", flush=True)
    speeds = []
    for filtered in (True, False) if unfiltered else (True,):
        for number in processes or [1, 2]:
            job = {
                **common,
                "text": [str(path) for path in text],
                "filtered": filtered,
                "processes": number,
            }
            speeds.append(("yes" if filtered else "no", number, run(job)))
    print(speed_table(speeds), flush=True)
    memory = []
    with TemporaryDirectory() as folder:
        for size in sizes or [1, 4, 16]:
            path = copies(text, size, Path(folder) / "text.txt")
            memory.append(
                (size, run({**common, "text": [str(path)], "filtered": True, "processes": 1}))
            )
    print(f"\n{memory_table(memory)}")


if __name__ == "__main__":
    if CHILD in sys.argv:
        print(json.dumps(measured(json.loads(sys.argv[-1]))))
    else:
        cyclopts.run(main)
