"""Our engines on a CPU against the way EasyNMT 2.0 translates: one call, the same weights, beams
and lengths.

    python scripts/bench_translate.py [--families opus-mt m2m100 mbart50]
        [--engines transformers ct2] [--json FILE]

Baseline: transformers as EasyNMT 2.0 calls it: sentences sorted by length, batches of 16, beam 5,
fp32. Ours: the product's engines with its plan of batches (`cpu_budget`) and its loop, beam 5. What
a run does besides is left out: tokenising, writing, the tail where one batch is left for several
cores, Stanza. `scripts/bench_eval.py` times whole runs; `scripts/bench_gpu.py` does all that is to
be measured on a GPU.

Weights are random, of the true shapes. Lengths are BUG's: words log-normal with the median (29) and
the 95th percentile (58) of BUG's gold file, 96 at most; 1.3 tokens a word; a translation has
exp(N(0, 0.15)) times its source's tokens. As many sentences as BUG has (105,687) are drawn and
planned; of every plan as many batches are timed, evenly spaced, as hold --sentences in batches of
16. The end token's weights are zero, so that it is never among the best and a search ends at the
most new tokens. Neither engine takes a length for each sentence: all of a batch have the longest
that was drawn in it. transformers computes that long for a whole batch anyway; CTranslate2 would
drop what is finished.

Every variant is a process of its own, with its own peak memory. On a CPU each has all cores
(--threads): the baseline's share each product of matrices, our engines' work on batches side by
side. Variants take turns, round by round. Seconds are wall time; with --threads 1 CPU seconds, so
that other work on the machine counts little. Ratios are medians of the rounds, with the least and
the most. "limit": the least time for the work (`floor_seconds`) over the time it took, and what
binds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import IO, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mtbias.machine.devices import usable_cores
from scripts.bench.families import SHAPES, TINY, Shape, make_checkpoint
from scripts.bench.limits import floor_seconds, measure_limits
from scripts.bench.runner import BASELINE, ON_CPU, Place, Runner, Variant
from scripts.bench.scratch import scratch
from scripts.bench.work import BASELINE_BATCH, CORPUS

SENTENCES = {"opus-mt": 64, "m2m100": 32, "mbart50": 32}
LEFT_OUT = (
    "Left out of these figures: tokenising, writing, the tail of a corpus, Stanza; python scripts/bench_eval.py times "
    "whole runs."
)
Json = dict[str, Any]


class Failed(Exception):  # noqa: N818 - one variant's end, not the benchmark's
    """A process ended without an answer; says how."""


class Process:
    """The script in another process, which answers every line with a line of JSON."""

    def __init__(self, job: str, omp: int, **spec: Any) -> None:  # noqa: ANN401
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by `end`
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        environment["OMP_NUM_THREADS"] = str(omp)
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker", json.dumps({"job": job, **spec})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
        )

    def ask(self, line: str = "") -> Json:
        """The next answer, after sending `line` where there is one.

        Raises:
            Failed: the process has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            if line:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
            answer: Json = json.loads(self._process.stdout.readline())
        except (BrokenPipeError, ValueError):
            code = self._process.wait()
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines() or ["no message"]
            raise Failed(f"exit {code}: {said[-1][:300]}") from None
        return answer

    def end(self) -> None:
        """Close its input, which ends it."""
        self._process.communicate()
        self.errors.close()


@dataclass
class Row:
    """A variant's results."""

    variant: Variant
    ready: Json
    """What the process said once it was loaded: batches, sentences, tokens, floor, binds."""
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    peak: float = 0.0

    def seconds(self, *, cpu: bool) -> list[float]:
        """Seconds of each round."""
        return self.cpu if cpu else self.wall

    def rates(self, *, cpu: bool) -> list[float]:
        """Sentences a second in each round."""
        return [float(self.ready["sentences"]) / seconds for seconds in self.seconds(cpu=cpu)]


def ratios(row: Row, baseline: Row, *, cpu: bool) -> list[float]:
    """How many times as fast as the baseline, round by round."""
    return [
        one / other for one, other in zip(row.rates(cpu=cpu), baseline.rates(cpu=cpu), strict=False)
    ]


def run_family(
    name: str, args: argparse.Namespace, machine: Json
) -> tuple[list[Row], dict[str, str]]:
    """Measure one family: its rows, and the variants that failed with the reason."""
    variants = choose_variants(args.engines, ct2=machine["ctranslate2"] is not None)
    count = args.sentences or SENTENCES[name]
    with scratch("bench-translate") as home:
        common = {"family": name, "tiny": args.tiny, "folder": str(home / "checkpoint")}
        maker = Process(
            "checkpoint", args.threads, **common, ct2=any(v.engine == "ct2" for v in variants)
        )
        maker.ask()
        maker.end()
        common |= {
            "threads": args.threads,
            "batches": max(1, count // BASELINE_BATCH),
            "limits": machine["limits"],
        }
        common |= {"corpus": args.corpus}
        return run_group(variants, common, args.threads, args.rounds, 60 * args.minutes)


def run_group(
    variants: Sequence[Variant], common: Json, threads: int, rounds: int, limit: float
) -> tuple[list[Row], dict[str, str]]:
    """Measure variants that take turns; no round begins after `limit` seconds but the first."""
    failed: dict[str, str] = {}
    running: list[tuple[Row, Process]] = []
    for variant in variants:
        process = Process("variant", threads, **common, variant=asdict(variant))
        try:
            running.append((Row(variant, process.ask()), process))
        except Failed as error:
            failed[label(variant)] = str(error)
            process.end()
    began = time.perf_counter()
    for turn in range(rounds):
        if turn and time.perf_counter() - began > limit:
            break
        start = turn % max(1, len(running))
        for row, process in [*running[start:], *running[:start]]:
            try:
                found = process.ask("run")
            except Failed as error:
                failed[label(row.variant)] = str(error)
                running.remove((row, process))
                process.end()
                continue
            row.cpu.append(found["cpu"])
            row.wall.append(found["wall"])
            row.peak = found["peak"]
    for _, process in running:
        process.end()
    return [row for row, _ in running], failed


def choose_variants(engines: Sequence[str], *, ct2: bool) -> tuple[Variant, ...]:
    """The rows of a table: the baseline, and those of the `engines` that are installed."""
    wanted = {"easynmt", *engines} - (set() if ct2 else {"ct2"})
    return tuple(variant for variant in ON_CPU if variant.engine in wanted)


def label(variant: Variant) -> str:
    """A variant's name in the table."""
    engine = "as EasyNMT 2.0" if variant.engine == BASELINE.engine else variant.engine
    return f"{engine}, {variant.dtype}"


def table(rows: Sequence[Row], *, cpu: bool) -> str:
    """The results as a Markdown table."""
    lines = [
        "| engine | batches × sentences | tokens out | sentences/s | × EasyNMT (least–most) | MiB | limit | goal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    baseline = next((row for row in rows if row.variant == BASELINE), None)
    for row in rows:
        ready, rate = row.ready, median(row.rates(cpu=cpu))
        found = ratios(row, baseline, cpu=cpu) if baseline else []
        times = f"{median(found):.2f} ({min(found):.2f}–{max(found):.2f})" if found else "–"
        share = ready["floor"] / median(row.seconds(cpu=cpu))
        lines.append(
            f"| {label(row.variant)} | {ready['batches']} × {ready['sentences'] / ready['batches']:.0f} "
            f"| {ready['tokens']:,} | {rate:.4g} | {times} | {row.peak:,.0f} | {share:.0%} ({ready['binds']}) "
            f"| {judge(row.variant.goal, found)} |"
        )
    return "\n".join(lines)


def judge(goal: float, found: Sequence[float]) -> str:
    """Whether the median ratio reaches the goal."""
    if not goal or not found:
        return ""
    return f"≥ {goal:g}: {'met' if median(found) >= goal else 'missed'}"


def describe(machine: Json, args: argparse.Namespace) -> str:
    """The machine, its measured limits and the versions, in two lines."""
    limits = machine["limits"]
    speeds = ", ".join(
        f"{name} {limits[name] / 1e9:,.0f} {'Gop/s' if name == 'int8' else 'GFLOP/s'}"
        for name in ("float32", "bfloat16", "float16", "int8")
        if name in limits
    )
    versions = ", ".join(
        f"{name} {machine[name] or 'absent'}" for name in ("torch", "transformers", "ctranslate2")
    )
    where = f"{args.threads} of {os.cpu_count()} threads"
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{machine['name']}, {where}, {load}; measured: {speeds}, copies {limits['bandwidth'] / 1e9:,.1f} GB/s\n"
        f"Python {platform.python_version()}, {versions}"
    )


def work(spec: Json, answers: IO[str]) -> None:
    """What a process started by `Process` does."""

    def answer(content: Mapping[str, object]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    if spec["job"] == "machine":
        answer(_machine(spec["threads"], spec["tiny"]))
        return
    shape: Shape = (TINY if spec["tiny"] else SHAPES)[spec["family"]]
    folder = Path(spec["folder"])
    if spec["job"] == "checkpoint":
        make_checkpoint(shape, folder, tokenizer=spec["ct2"])
        if spec["ct2"]:
            from mtbias.translate.seq2seq.ct2_conversion import convert

            convert(folder, folder.parent)
        answer({})
        return
    place = Place(folder, "cpu", spec["threads"], spec["batches"], spec["corpus"])
    runner = Runner(Variant(**spec["variant"]), shape, place)
    runner.warm_up()
    floor, binds = floor_seconds(shape, runner.work, spec["limits"], runner.variant.dtype)
    tokens = sum(batch.length * len(batch.sources) for batch in runner.work)
    sizes = {"batches": len(runner.work), "sentences": runner.sentences, "tokens": tokens}
    answer({**sizes, "a_batch": runner.sentences_a_batch, "floor": floor, "binds": binds})
    for _ in sys.stdin:
        cpu, wall = runner.run()
        answer({"cpu": cpu, "wall": wall, "peak": runner.peak()})


def _machine(threads: int, tiny: bool) -> Json:
    import torch

    limits = measure_limits("cpu", threads, size=256 if tiny else None)
    installed = version("ctranslate2") if find_spec("ctranslate2") else None
    versions = {
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "ctranslate2": installed,
    }
    return {"name": limits.pop("name"), "limits": limits, **versions}


def benchmark(args: argparse.Namespace) -> None:
    """Measure the families and print a table of each."""
    probe = Process("machine", args.threads, threads=args.threads, tiny=args.tiny)
    machine = probe.ask()
    probe.end()
    print(f"{describe(machine, args)}\n{LEFT_OUT}", flush=True)
    cpu = args.threads == 1
    results: Json = {
        "machine": machine,
        "threads": args.threads,
        "cpu_seconds": cpu,
        "families": {},
    }
    if machine["ctranslate2"] is None and "ct2" in args.engines:
        print("CTranslate2 is not installed: its rows are left out")
    for name in args.families:
        rows, failed = run_family(name, args, machine)
        seconds = "CPU seconds" if cpu else "wall time"
        rounds = min((len(row.cpu) for row in rows), default=0)
        print(f"\n{name}: beam 5, {rounds} rounds, {seconds}\n\n{table(rows, cpu=cpu)}", flush=True)
        for what, why in failed.items():
            print(f"left out: {what}: {why}", flush=True)
        results["families"][name] = {"rows": [asdict(row) for row in rows], "left_out": failed}
        if args.json:
            args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--families", nargs="+", choices=tuple(SHAPES), default=tuple(SHAPES), metavar="NAME"
    )
    parser.add_argument(
        "--engines", nargs="+", choices=("transformers", "ct2"), default=("transformers", "ct2")
    )
    parser.add_argument("--sentences", type=int, metavar="N", help="the baseline's (64, 32, 32)")
    parser.add_argument(
        "--corpus", type=int, default=CORPUS, metavar="N", help="sentences that are planned"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--minutes",
        type=float,
        default=20.0,
        help="no round of a family begins later but the first",
    )
    parser.add_argument("--threads", type=int, default=usable_cores(), help="default: all cores")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--tiny", action="store_true", help="tiny shapes, to see whether it runs")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        answers, sys.stdout = (
            sys.stdout,
            sys.stderr,
        )  # what libraries print must not mix with the answers
        work(json.loads(args.worker), answers)
    else:
        benchmark(args)


if __name__ == "__main__":
    main()
