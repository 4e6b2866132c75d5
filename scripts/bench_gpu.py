"""All that is to be measured on a GPU, in one call of at most nine minutes, without network and
without Stanza.

    python scripts/bench_gpu.py --out DIR [--minutes 9] [--checkpoint FOLDER --lang de]
        [--sources WINOMT.txt BUG-GOLD.txt] [--stages FILE] [--stanza DIR]

DIR gets results.jsonl (a line a result, as soon as it is there), report.md (written again after
each) and the translations of the prices. Each job is a process with a time of its own (`SECONDS`,
of nine minutes), after which it is ended; what ended early or was not reached is named. Checkpoints
are made beside the first jobs. In this order:

- machine: products of matrices and copies, the limits against which all else is held; how long a
  kernel takes that does nothing, started by Python and replayed from a CUDA graph;
- equal: sentences of which our search finds what `model.generate` finds, in fp32;
- price: the sentences of the files of --sources (one a line: WinoMT's, BUG's gold; default: the
  demo's) translated by --checkpoint (default: the demo's) in fp32, bf16 and fp16: how many
  translations change. `mtbias score --translations DIR/translations-…` and `mtbias compare` give
  the calls that change, where Stanza is. The demo's grammar says little: use a real model;
- easynmt: EasyNMT's way;
- steps: our search in fp16, bf16 and fp32, with one, two, four and six times the sentences of
  `scripts.bench.gpu_jobs.BASE`;
- graphs: steps as they are, and replayed from CUDA graphs;
- ct2: CTranslate2 in fp16 and bf16, and in two replicas;
- profile: 12 steps of each family by kind of kernel, and how long the GPU does nothing;
- sweep: two cells of 4,000 sentences, M2M100's size, with what `nvidia-smi` says ten times a second
  of how busy the GPU is. With --stanza, the folder of Stanza's models, it is `mtbias sweep` with
  all of its tasks, else translating alone.

Speeds are those of random weights of the three families' true sizes, lengths drawn from BUG's, beam
5: the first 30 steps of the middle batch of a plan of 20,000 sentences, the encoder among them.
Sentences a second are by tokens, and all translations of a batch have the length of the longest, so
what sentences that leave early and two stages save is not in it
(`scripts/experiments/count_steps.py`). "of the limit": the least time in which the machine could do
these steps (`scripts.bench.limits.floor_seconds`, by its own products and copies) over the time they
took. The hours of the 24 cells (3 families × 8 languages × 105,687 sentences) are sums of these
speeds and of the stages on a CPU (--stages FILE: what `scripts/bench_scale.py --json` wrote on the
same machine).

With --device cpu --tiny it shows within two minutes whether all of it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "languages"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mtbias.machine.devices import usable_cores
from scripts.bench.families import SHAPES
from scripts.bench.hours import CPU_STAGES, PROCESSES, hours_of, stage_seconds, wall_hours
from scripts.bench.runner import BASELINE
from scripts.bench.scratch import scratch
from scripts.bench.work import CORPUS

ROOT = Path(__file__).resolve().parent.parent
SECONDS = {
    "machine": 20,
    "equal": 20,
    "price": 60,
    "easynmt": 40,
    "steps": 110,
    "graphs": 110,
    "ct2": 60,
    "profile": 45,
    "sweep": 60,
}
"""Of each job, where all have nine minutes."""
MINUTES = 9.0
WAKING = 40
"""Seconds more for the first job: a machine that was just started reads libraries slowly."""
PLANNED = 20_000
"""Sentences that are planned."""
SPEEDS = ("easynmt", "steps", "graphs", "ct2")
"""Jobs that time steps."""
TYPES = (
    "transformers:float32",
    "transformers:float16",
    "ct2:float16",
    "transformers:bfloat16",
    "ct2:bfloat16",
)
"""Of the prices, the most telling first."""
HALF = ("float16", "bfloat16")
PRESETS = {
    "as EasyNMT 2.0": ("easynmt", ("float32",), False),
    "paper": ("transformers", ("float32",), False),
    "fast": ("transformers", HALF, False),
    "fast with CUDA graphs": ("transformers", HALF, True),
    "fast with CTranslate2": ("ct2", HALF, False),
}
"""Engine, types and recording of which the hours of the table are computed, by the fastest batch."""
Json = dict[str, Any]


class Log:
    """The results, in a file and in memory, and the report that is made of them."""

    def __init__(self, out: Path, stages: Mapping[str, float], began: float) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._file, self._page, self._stages, self._began = (
            out / "results.jsonl",
            out / "report.md",
            stages,
            began,
        )
        self._file.write_text("", encoding="utf-8")
        self._lock = threading.Lock()
        self.results: list[Json] = []

    def add(self, found: Json) -> None:
        """Keep a result; it may come from another thread."""
        with self._lock:
            self.results.append(found)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            self._page.write_text(self.report(), encoding="utf-8")
            print(
                f"{time.perf_counter() - self._began:6.0f} s  {json.dumps(found)[:240]}",
                file=sys.stderr,
                flush=True,
            )

    def of(self, *kinds: str) -> list[Json]:
        """The results of some kinds."""
        return [one for one in self.results if one["kind"] in kinds]

    def report(self) -> str:
        """All results as Markdown."""
        return "\n\n".join(part for part in report(self, self._stages) if part) + "\n"


def run(kind: str, job: Json, log: Log, ends: float) -> list[Json]:
    """Do a job in a process of its own, which is killed at `ends` with what it started; its
    results, which are in `log`, too.
    """
    left = ends - time.perf_counter()
    if left <= 0:
        log.add({"kind": "not reached", "job": kind})
        return []
    paths = [str(ROOT), str(ROOT / "languages"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if job["device"] == "cpu":
        environment["OMP_NUM_THREADS"] = "1"
    found: list[Json] = []
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "scripts.bench.gpu_jobs",
            kind,
            json.dumps({**job, "seconds": left}),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
        start_new_session=True,
    ) as process:
        timer = threading.Timer(left, _kill, [process])
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found.append(json.loads(line))
                log.add(found[-1])
            code = process.wait()
        finally:
            _kill(process)
            timer.cancel()
    if code:
        why = "its time was over" if time.perf_counter() >= ends else f"exit {code}"
        log.add({"kind": "ended early", "job": kind, "why": why})
    return found


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process and those that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def measure(args: argparse.Namespace, log: Log, home: Path, ends: float) -> None:
    """All jobs, one after the other; checkpoints are made beside the first ones."""
    cuda = args.device != "cpu"
    common: Json = {
        "device": args.device,
        "tiny": args.tiny,
        "corpus": args.corpus,
        "ct2": args.ct2,
        "cache": str(home / "cache"),
        "lang": args.lang,
    }

    longer: float = max(1.0, args.minutes / MINUTES)

    def until(kind: str) -> float:
        return min(ends, time.perf_counter() + SECONDS[kind] * longer)

    found = run("machine", common, log, min(ends, until("machine") + WAKING))
    if not found and time.perf_counter() < ends:
        raise SystemExit(
            f"--device {args.device}: torch cannot compute there; --device cpu --tiny shows that all runs"
        )
    common["limits"] = found[0]["limits"] if found else {}
    folders = {name: str(home / name / "checkpoint") for name in args.families}
    checkpoint = args.checkpoint and args.checkpoint.resolve()
    of_user: Json = {**common, "checkpoint": str(checkpoint) if checkpoint else "demo"}
    # Three processes, where there are cores for them.
    parts = [{name: folder} for name, folder in folders.items()] if cuda else [folders]
    with ThreadPoolExecutor(len(parts)) as makers:
        for part in parts:
            makers.submit(run, "checkpoint", {**common, "folders": part}, log, ends)
        of_equal = {**of_user, "folder": str(checkpoint or _demo())}
        run("equal", of_equal, log, until("equal"))
        sources = [str(file.resolve()) for file in args.sources]
        types = [one for one in TYPES if args.ct2 or not one.startswith("ct2")]
        more = {"sources": sources, "limit": args.limit, "types": types}
        run("price", {**of_user, **more, "out": str(args.out.resolve())}, log, until("price"))
    common["folders"] = {one["family"]: folders[one["family"]] for one in log.of("checkpoint")}
    for kind in ("easynmt", "steps", "graphs", *(["ct2"] if args.ct2 else []), "profile"):
        run(kind, common, log, until(kind))
    job = {
        "checkpoint": folders[args.families[len(args.families) // 2]],
        "home": str(home / "sweep"),
    }
    sizes = {"sentences": 40 if args.tiny else 4000, "tokens": 16 if args.tiny else 48}
    stanza = args.stanza and str(args.stanza.resolve())
    run("sweep", {**common, **job, **sizes, "stanza": stanza}, log, until("sweep"))


def _demo() -> Path:
    from mtbias.demo import model_folder_of_demo

    return model_folder_of_demo()


def report(log: Log, stages: Mapping[str, float]) -> Iterator[str]:
    """The parts of the page."""
    for one in log.of("machine"):
        speeds = ", ".join(
            f"{name} {speed / 1e9:,.0f} GFLOP/s"
            for name, speed in one["limits"].items()
            if name != "bandwidth"
        )
        versions = ", ".join(
            f"{name} {one[name] or 'absent'}" for name in ("torch", "transformers", "ctranslate2")
        )
        launches = ", ".join(f"{how} {1e6 * s:.1f} µs" for how, s in one["launch"].items())
        copies = f"copies {one['limits']['bandwidth'] / 1e9:,.0f} GB/s"
        yield f"# {one['name']}\n\nMeasured: {speeds}, {copies}; a kernel: {launches}. {versions}."
    yield "\n".join(
        f"- {one['search']}: {one['equal']} of {one['sentences']} translations equal `model.generate`'s"
        for one in log.of("equal")
    )
    yield _speeds(log.of(*SPEEDS))
    yield _hours(log.of(*SPEEDS), stages)
    yield _profiles(log.of("profile"))
    yield "\n".join(map(_sweep, log.of("sweep")[-1:]))
    yield _prices(log.of("price"))
    ended = [*log.of("not reached"), *log.of("ended early")]
    yield "\n".join(f"- {one['kind']}: {one['job']} {one.get('why', '')}".rstrip() for one in ended)


def _rate(one: Json) -> float:
    """Sentences a second of a whole plan of such batches: by tokens, since those that were timed
    are the first of each translation.
    """
    return float(one["tokens"] / one["seconds"] / one["tokens_a_sentence"])


def _table(head: str, lines: Sequence[str], aligned: str) -> str:
    """A Markdown table whose columns are `aligned` by ``l`` and ``r``; nothing without lines."""
    rule = "|".join("---:" if side == "r" else "---" for side in aligned)
    return "\n".join([f"| {head} |", f"|{rule}|", *lines]) if lines else ""


def _variant(one: Json) -> str:
    variant = one["variant"]
    more = ", recorded" * variant["recorded"]
    if variant["replicas"] > 1:
        more += f", {variant['replicas']} replicas"
    return f"{variant['engine']} {variant['dtype']}{more}"


def _speeds(found: Iterable[Json]) -> str:
    lines = []
    baseline: dict[str, float] = {}
    for one in found:
        name = f"| {one['family']} | {_variant(one)}"
        if "left_out" in one:
            lines.append(
                f"{name} | {one.get('sentences', '')} | left out: {one['left_out']} | | | | | |"
            )
            continue
        rate = _rate(one)
        if one["variant"]["engine"] == BASELINE.engine:
            baseline[one["family"]] = rate
        times = f"{rate / baseline[one['family']]:.1f}" if one["family"] in baseline else "–"
        fraction = one["floor"] / one["seconds"]
        lines.append(
            f"{name} | {one['sentences']} × {one['steps']} | {1000 * one['seconds'] / one['steps']:.1f} "
            f"| {rate:,.4g} | {times} | {rate / fraction:,.4g} | {fraction:.0%} ({one['binds']}) "
            f"| {one['peak']:,.0f} |"
        )
    head = "family | engine | sentences × steps | ms a step | sentences/s | × EasyNMT | limit | of the limit | MiB"
    return _table(head, lines, "lllrrrrlr")


def _hours(found: Sequence[Json], stages: Mapping[str, float]) -> str:
    processes = max(PROCESSES, usable_cores() - 2)
    parts = []
    for preset, (engine, types, recorded) in PRESETS.items():
        rates: dict[str, float] = {}
        for one in found:
            variant = one["variant"]
            fits = variant["engine"] == engine and variant["recorded"] == recorded
            if fits and variant["dtype"] in types and "left_out" not in one:
                rates[one["family"]] = max(_rate(one), rates.get(one["family"], 0.0))
        if len(rates) < len(SHAPES):
            continue
        hours = hours_of(rates, stages)
        total = sum(hours.values())
        shares = ", ".join(f"{stage} {h:.2f} h ({h / total:.0%})" for stage, h in hours.items())
        parts.append(
            f"{preset}: {len(rates) * 8} cells × {CORPUS:,} sentences: {total:.2f} h one stage after the other, "
            f"{wall_hours(rates, stages, processes):.2f} h with {processes} processes for the stages on the "
            f"CPU beside generation: {shares}."
        )
    return "\n\n".join(parts)


def _profiles(found: Sequence[Json]) -> str:
    lines = []
    kinds = sorted({kind for one in found for kind in one["kinds"]})
    for one in found:
        size = f"{one['family']} {one['dtype']} | {one['sentences']} × {one['steps']}"
        cells = [one["step"], *(one["kinds"].get(kind, 0.0) for kind in kinds), one["idle"]]
        times = " | ".join(f"{cell:.2f}" for cell in cells)
        lines.append(f"| {size} | {one['started']:.0f} | {times} |")
    head = ["family", "sentences × steps", "started a step", "ms a step", *kinds, "idle"]
    return _table(" | ".join(head), lines, "ll" + "r" * (len(head) - 2))


def _sweep(one: Json) -> str:
    busy = one["busy"]
    said = "the GPU's own counter was not there"
    if busy is not None:
        said = (
            f"the GPU was busy {busy['all']:.0f} % of the time, {busy['between']:.0f} % from the first "
            "to the last time that it was"
        )
    return (
        f"A sweep of {one['cells']} cells × {one['sentences']:,} sentences ({one['tasks']}, {one['ended']}): "
        f"{one['seconds']:.1f} s; {said}."
    )


def _prices(found: Iterable[Json]) -> str:
    lines = []
    for one in found:
        if "left_out" in one:
            lines.append(f"| {one['of']} | {one['type']} | left out: {one['left_out']} | | |")
            continue
        changed = (
            f"{one['changed']:,} of {one['sentences']:,} ({one['changed'] / one['sentences']:.1%})"
        )
        rate = one["sentences"] / one["seconds"]
        lines.append(
            f"| {one['of']} | {one['type']} | {changed} | {rate:,.4g} | {one['in_second_stage']:,} |"
        )
    head = "sentences | type | translations that change | sentences/s | in the second stage"
    return _table(head, lines, "llrrr")


def main() -> None:
    """Measure until the deadline, and print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument(
        "--families", nargs="+", choices=tuple(SHAPES), default=tuple(SHAPES), metavar="NAME"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="until the end of all")
    parser.add_argument("--checkpoint", type=Path, help="a real checkpoint, for the prices")
    parser.add_argument("--lang", default="de", help="its target language")
    parser.add_argument(
        "--sources", type=Path, nargs="+", default=(), metavar="FILE", help="sentences, one a line"
    )
    parser.add_argument("--limit", type=int, help="only the first of them")
    parser.add_argument(
        "--stages", type=Path, help="what bench_scale.py --json wrote: the stages on this CPU"
    )
    parser.add_argument("--stanza", type=Path, help="folder of Stanza's models, for the sweep")
    parser.add_argument(
        "--corpus", type=int, default=PLANNED, metavar="N", help="sentences that are planned"
    )
    parser.add_argument("--tiny", action="store_true", help="tiny shapes, to see whether it runs")
    args = parser.parse_args()
    args.ct2 = find_spec("ctranslate2") is not None
    began = time.perf_counter()
    ends = began + 60 * args.minutes - 5  # to end the last process and to remove what was made
    stages = (
        stage_seconds(json.loads(args.stages.read_text(encoding="utf-8")))
        if args.stages
        else CPU_STAGES
    )
    log = Log(args.out, stages, began)
    with scratch("bench-gpu") as home:
        os.environ["TMPDIR"] = str(
            home
        )  # what the processes leave that are killed at the deadline goes with the rest
        measure(args, log, home, ends)
    print(log.report())


if __name__ == "__main__":
    main()
