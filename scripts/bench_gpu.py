"""All that is to be measured on a GPU, in one call of at most nine minutes, without network and
without Stanza.

    python scripts/bench_gpu.py --out DIR [--minutes 9]
        [--checkpoint FOLDER --lang de --sources FILE] [--stages FILE]

DIR gets results.jsonl (a line a result, as soon as it is there), report.md (written again after
each) and the translations of the prices. At the deadline it ends with what it has; what was not
reached is named. In this order:

- machine: products of matrices and copies, the limits against which all else is held;
- speed: random weights of the three families' true sizes, lengths drawn from BUG's, beam 5 (the
  rules are those of `scripts/bench_translate.py`): EasyNMT's way, ours in fp16 and fp32,
  CTranslate2; per variant as many batches, spread over the plan of 105,687 sentences, as its share
  of the time allows;
- cascade: a batch that fits, then the same under a cap on memory: how often it is halved, and what
  is left in memory when each half begins;
- prices: the sentences of --sources (one a line; default: the demo's) translated by --checkpoint
  (default: the demo's) in fp32, bf16 and fp16: how many translations change. `mtbias score
  --translations DIR/translations-…` and `mtbias compare` give the calls that change, where Stanza
  is. The demo's grammar says little: use a real model;
- hours: 3 families × 8 languages × 105,687 sentences by these speeds, with each stage's share.

On a GPU translations of a batch have equal lengths here, so what two stages and leaving sentences
save is not in it (`scripts/experiments/count_steps.py`). With --device cpu --tiny it shows within
two minutes whether all of it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "languages"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.bench.families import SHAPES
from scripts.bench.hours import CPU_STAGES, hours_of, stage_seconds, wall_hours
from scripts.bench.runner import BASELINE, Variant
from scripts.bench.scratch import scratch
from scripts.bench.work import CORPUS

ROOT = Path(__file__).resolve().parent.parent
GROUPS = (
    (BASELINE, Variant("transformers", "float16", 20.0), Variant("transformers")),
    (Variant("ct2", "float16"), Variant("ct2", "bfloat16"), Variant("ct2", "int8_bfloat16")),
)
"""Variants that share a process, the most telling first."""
TOY_GROUPS = ((BASELINE, Variant("transformers")), (Variant("ct2"), Variant("ct2", "int8")))
TYPES = (
    "transformers:float32",
    "transformers:bfloat16",
    "transformers:float16",
    "ct2:bfloat16",
    "ct2:float16",
)
PRESETS = (
    ("as EasyNMT 2.0", (("easynmt", "float32"),)),
    ("paper", (("transformers", "float32"),)),
    ("fast", (("ct2", "float16"), ("transformers", "float16"))),
)
"""What the presets take, the first that was measured."""
RESERVED = 0.3
"""Share of the time that is left for what follows the speeds."""
PLANNED = 16
"""Batches of a plan, at most, that are timed."""
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

    def of(self, kind: str) -> list[Json]:
        """The results of a kind."""
        return [one for one in self.results if one["kind"] == kind]

    def report(self) -> str:
        """All results as Markdown."""
        return "\n\n".join(part for part in report(self, self._stages) if part) + "\n"


def run(kind: str, job: Json, log: Log, ends: float) -> list[Json]:
    """Do a job in a process of its own, which is killed at `ends`; its results, which are in `log`,
    too.
    """
    left = ends - time.perf_counter()
    if left <= 0:
        log.add({"kind": "not reached", "job": kind, "family": job.get("family")})
        return []
    paths = [str(ROOT), str(ROOT / "languages"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if job["device"] == "cpu":
        environment["OMP_NUM_THREADS"] = "1"
    if (
        job["device"] == "cpu" and kind == "cascade"
    ):  # large blocks go back to the system, and the cap sees them
        environment |= {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    found: list[Json] = []
    with subprocess.Popen(
        [sys.executable, "-m", "scripts.bench.gpu_jobs", kind, json.dumps(job)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    ) as process:
        timer = threading.Timer(left, process.kill)
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                found.append(json.loads(line))
                log.add(found[-1])
            code = process.wait()
        finally:
            process.kill()
            timer.cancel()
    if code:
        why = "the time was over" if time.perf_counter() >= ends else f"exit {code}"
        log.add({"kind": "ended early", "job": kind, "family": job.get("family"), "why": why})
    return found


def measure(args: argparse.Namespace, log: Log, home: Path, ends: float) -> None:
    """All jobs, one after the other; checkpoints are made beside the first ones."""
    cuda = args.device != "cpu"
    groups = GROUPS if cuda else TOY_GROUPS
    common: Json = {
        "device": args.device,
        "tiny": args.tiny,
        "corpus": args.corpus,
        "ct2": args.ct2,
    }
    found = run("machine", common, log, ends)
    if not found:
        raise SystemExit(
            f"--device {args.device}: torch cannot compute there; --device cpu --tiny shows that all runs"
        )
    common["limits"] = found[0]["limits"]
    with ThreadPoolExecutor(len(args.families) if cuda else 1) as makers:
        made = {
            name: makers.submit(
                run,
                "checkpoint",
                {**common, "family": name, "folder": str(home / name / "checkpoint")},
                log,
                ends,
            )
            for name in args.families
        }
        begin, speeds_end = time.perf_counter(), ends - RESERVED * (ends - time.perf_counter())
        jobs = list(
            _speed_jobs(groups if args.ct2 else groups[:1], common, home, made)
        )  # CTranslate2 comes last
        for n, (waiting, job) in enumerate(jobs):
            waiting.result()
            stop = begin + (speeds_end - begin) * (n + 1) / len(jobs)
            share = max(0.0, stop - time.perf_counter())
            job["seconds"] = (
                share / len(job["variants"]) / 3
            )  # the rest: loading, planning, warming up
            run("speed", job, log, speeds_end)
    family = args.families[len(args.families) // 2]
    folder = str(home / family / "checkpoint")
    sentences = 256 if cuda else 48
    run(
        "cascade", {**common, "family": family, "folder": folder, "sentences": sentences}, log, ends
    )
    model = str(args.checkpoint) if args.checkpoint else "demo"
    more = {"lang": args.lang, "sources": args.sources and str(args.sources), "limit": args.limit}
    run(
        "codec", {**common, **more, "folder": model if args.checkpoint else str(_demo())}, log, ends
    )
    types = [one for one in TYPES if args.ct2 or not one.startswith("ct2")]
    out, cache = str(args.out.resolve()), str(home / "cache")
    run(
        "price",
        {**common, **more, "checkpoint": model, "types": types, "out": out, "cache": cache},
        log,
        ends,
    )


def _speed_jobs(
    groups: Sequence[Sequence[Variant]],
    common: Json,
    home: Path,
    made: Mapping[str, Future[list[Json]]],
) -> Iterator[tuple[Future[list[Json]], Json]]:
    for group in groups:
        variants = [asdict(one) for one in group]
        for name in made:
            folder = str(home / name / "checkpoint")
            yield (
                made[name],
                {
                    **common,
                    "family": name,
                    "folder": folder,
                    "variants": variants,
                    "batches": PLANNED,
                },
            )


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
        copies = f"copies {one['limits']['bandwidth'] / 1e9:,.0f} GB/s"
        yield f"# {one['name']}\n\nMeasured: {speeds}, {copies}. {versions}."
    yield _speeds(log.of("speed"))
    yield _hours(log.of("speed"), log.of("codec"), stages)
    for one in log.of("cascade"):
        alive = ", ".join(f"{mib:,.0f}" for mib in one["alive"])
        yield (
            f"Cascade: {one['sentences']} sentences need {one['need']:,.0f} MiB beside the weights, the cap left less: "
            f"halved {one['halved']} times, {one['translated']} translated, {one['equal']} equal to those without a "
            f"cap; MiB alive as each part begins: {alive}."
        )
    yield _prices(log.of("price"))
    ended = [*log.of("not reached"), *log.of("ended early")]
    yield "\n".join(
        f"- {one['kind']}: {one['job']} {one['family'] or ''} {one.get('why', '')}".rstrip()
        for one in ended
    )


def _rate(one: Json) -> float:
    """Sentences a second of the whole plan: by tokens, since the batches that were timed may be of
    the longer ones.
    """
    return float(one["tokens"] / one["seconds"] / one["tokens_a_sentence"])


def _speeds(found: Iterable[Json]) -> str:
    lines = [
        "| family | engine | batches × sentences | sentences/s | × EasyNMT | MiB | limit |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    baseline: dict[str, float] = {}
    for one in found:
        name = f"{one['family']} | {one['variant']['engine']} {one['variant']['dtype']}"
        if "left_out" in one:
            lines.append(f"| {name} | left out: {one['left_out']} | | | | |")
            continue
        if one["variant"]["engine"] == BASELINE.engine:
            baseline[one["family"]] = _rate(one)
        times = f"{_rate(one) / baseline[one['family']]:.1f}" if one["family"] in baseline else "–"
        size = f"{one['batches']} of {one['planned']} × {one['sentences'] / one['batches']:.0f}"
        limit = f"{one['floor'] / one['seconds']:.0%} ({one['binds']})"
        lines.append(
            f"| {name} | {size} | {_rate(one):,.4g} | {times} | {one['peak']:,.0f} | {limit} |"
        )
    return "\n".join(lines) if len(lines) > 2 else ""


def _hours(found: Sequence[Json], codec: Sequence[Json], stages: Mapping[str, float]) -> str:
    measured = {
        (one["family"], one["variant"]["engine"], one["variant"]["dtype"]): _rate(one)
        for one in found
        if "left_out" not in one
    }
    parts = []
    for preset, kinds in PRESETS:
        rates: dict[str, float] = {}
        for family in SHAPES:
            own = [measured[family, *kind] for kind in kinds if (family, *kind) in measured]
            rates |= {family: own[0]} if own else {}
        if len(rates) < len(SHAPES):
            continue
        hours = hours_of(rates, stages)
        total = sum(hours.values())
        shares = ", ".join(f"{stage} {h:.2f} h ({h / total:.0%})" for stage, h in hours.items())
        parts.append(
            f"{preset}: {len(rates) * 8} cells × {CORPUS:,} sentences: {total:.2f} h one stage after the other, "
            f"{wall_hours(rates, stages):.2f} h with two processes that analyse beside generation: {shares}."
        )
    parts += [
        f"Not in the speeds, for 1,000 sentences: tokenising {one['encode']:.2f} s, putting translations together "
        f"{one['decode']:.2f} s (beside generation)."
        for one in codec
    ]
    return "\n\n".join(parts)


def _prices(found: Iterable[Json]) -> str:
    lines = [
        "| type | translations that change | sentences/s | in the second stage |",
        "|---|---:|---:|---:|",
    ]
    for one in found:
        if "left_out" in one:
            lines.append(f"| {one['type']} | left out: {one['left_out']} | | |")
            continue
        changed = (
            f"{one['changed']:,} of {one['sentences']:,} ({one['changed'] / one['sentences']:.1%})"
        )
        rate = one["sentences"] / one["seconds"]
        lines.append(f"| {one['type']} | {changed} | {rate:,.4g} | {one['in_second_stage']:,} |")
    return "\n".join(lines) if len(lines) > 2 else ""


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
    parser.add_argument("--minutes", type=float, default=9.0, help="until the end of all")
    parser.add_argument("--checkpoint", type=Path, help="a real checkpoint, for the prices")
    parser.add_argument("--lang", default="de", help="its target language")
    parser.add_argument("--sources", type=Path, help="sentences, one a line")
    parser.add_argument("--limit", type=int, help="only the first of them")
    parser.add_argument(
        "--stages", type=Path, help="what bench_scale.py --json wrote: the stages on this CPU"
    )
    parser.add_argument(
        "--corpus", type=int, default=CORPUS, metavar="N", help="sentences that are planned"
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
