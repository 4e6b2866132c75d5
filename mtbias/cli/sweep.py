"""Translate and score many models × languages × data sets on this machine, and write the table of the paper.

FILE is a sweep in TOML; the same can be given as options. The plan is printed first. What is done already is not done
again; a task that fails stops no other. On a Slurm cluster: `mtbias submit`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli import options
from mtbias.errors import MtbiasError, UsageError

if TYPE_CHECKING:
    from mtbias.cluster.local_processes import Ended
    from mtbias.cluster.sweep_file import Sweep
    from mtbias.cluster.sweep_tasks import Plan

_OF_A_SWEEP = (
    "model",
    "lang",
    "dataset",
    "preset",
    "out",
    "data",
    "shards",
    "engine",
    "dtype",
    "beams",
    "stanza_dir",
    "cache_dir",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="the sweep, a TOML file")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and stop")
    parser.add_argument("--tasks", action="store_true", help="print the names of all tasks and stop")
    parser.add_argument("--task", metavar="ID", help="do this task alone, in this process")
    parser.add_argument("--gpus", type=options.at_least_1, metavar="N", help="one process on each of N GPUs")
    parser.add_argument(
        "--jobs", type=options.at_least_1, default=1, metavar="N", help="processes on the CPU (default: 1)"
    )
    parser.add_argument(
        "--device", choices=["auto", "cpu", "cuda"], help="where to translate (default: the file's, else a GPU if any)"
    )
    group = parser.add_argument_group("instead of FILE")
    for name, metavar, text in (
        ("--model", "MODEL", "a model"),
        ("--lang", "CODE", "a language"),
        ("--dataset", "NAME", "a data set"),
        ("--preset", "NAME", "paper (default) or fast"),
    ):
        group.add_argument(name, action="append", metavar=metavar, help=f"{text}; may be given several times")
    group.add_argument("--out", type=Path, metavar="DIR", help="folder of all runs; sweep.toml is written there")
    group.add_argument("--data", type=Path, metavar="PATH", help="file or folder of the data set instead of the cache")
    group.add_argument("--shards", type=options.at_least_1, metavar="N", help="parts of every translation")
    group.add_argument("--engine", metavar="NAME", help="transformers (default) or ct2")
    group.add_argument("--dtype", metavar="TYPE", help="as in mtbias eval")
    group.add_argument("--beams", type=options.at_least_1, metavar="N", help="as in mtbias eval")
    group.add_argument("--stanza-dir", metavar="DIR", help="folder of Stanza models")
    group.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")


def run(args: argparse.Namespace) -> None:
    """Print the plan; run what is left of it."""
    from mtbias.cluster.plan_table import plan_text
    from mtbias.cluster.sweep_file import read_sweep
    from mtbias.cluster.sweep_tasks import make_plan
    from mtbias.cluster.task_runs import translation_device

    file, written = _file(args)
    plan = make_plan(read_sweep(file) if written is None else written)
    if args.tasks:
        print("".join(f"{task.id}\n" for task in plan.tasks), end="")
        return
    device = args.device or ("cuda" if args.gpus else plan.sweep.device)
    if args.task is not None:
        _one(plan, args.task, translation_device(device))
        return
    _check_gpus(args.gpus)
    device = translation_device(device)
    print(plan_text(plan, gpu=device == "cuda"), end="", flush=True)
    if not args.dry_run:
        _all(plan, file, args, device)


def _all(plan: Plan, file: Path, args: argparse.Namespace, device: str) -> None:
    from mtbias.cluster.inventory import refuse_missing
    from mtbias.cluster.local_processes import run_locally, workers
    from mtbias.cluster.sweep_file import to_toml
    from mtbias.cluster.sweep_table import FILES, read_text
    from mtbias.files.writing import explained, write_atomic

    refuse_missing(plan.sweep, file)
    if args.file is None:
        with explained(file.parent, "make the folder"):
            file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, to_toml(plan.sweep).encode())
    print(flush=True)
    ended = run_locally(
        plan,
        file.resolve(),
        device=device,
        places=workers(gpus=args.gpus or 0, jobs=args.jobs),
        say=lambda line: print(line, flush=True),
    )
    failed = [end for end in ended if end.failure is not None]
    if failed:
        _summary(plan, failed)
        raise MtbiasError(
            f"{len(failed)} of {len(plan.tasks)} tasks failed; mend it and run the same command again: it does only "
            "what is missing"
        )
    print(f"\n{read_text(plan)}\nFiles:  {', '.join(str(plan.sweep.out / name) for name in FILES)}")


def _summary(plan: Plan, failed: list[Ended]) -> None:
    print(f"\n{len(plan.tasks) - len(failed)} of {len(plan.tasks)} tasks are done; failed:")
    for end in failed:
        if end.failure is not None:
            print(f"  {end.task.id}: {end.failure.error}" + (f"\n    {end.failure.log}" if end.failure.log else ""))


def _one(plan: Plan, name: str, device: str) -> None:
    from mtbias.cluster.task_runs import recorded, run_task

    task = plan.task(name)
    log = _own_log()
    line = options.ProgressLine()
    recorded(plan, task, log, lambda: run_task(plan, task, device=device, say=print, progress=line))


def _own_log() -> str:
    """The file that this process prints to; empty where it is none."""
    try:
        path = Path(f"/proc/self/fd/{sys.stderr.fileno()}").resolve()
    except (OSError, ValueError, AttributeError):
        return ""
    return str(path) if path.is_file() else ""


def _file(args: argparse.Namespace) -> tuple[Path, Sweep | None]:
    """The sweep's file and, where options stand for it, the sweep that is to be written there."""
    given = [f"--{name.replace('_', '-')}" for name in _OF_A_SWEEP if getattr(args, name) is not None]
    if args.file is not None:
        if given:
            raise UsageError(f"{', '.join(given)}: give a FILE or options, not both; write it into {args.file}")
        return args.file, None
    missing = [name for name in ("--model", "--lang", "--dataset", "--out") if name not in given]
    if missing:
        raise UsageError(f"expected a FILE, or {', '.join(missing)} too")
    from mtbias.cluster.sweep_file import Sweep, model_path, stanza_path

    here = Path.cwd()
    if args.data is not None and len(args.dataset) > 1:
        raise UsageError("--data is for one --dataset; write a FILE with a table [data] for several")
    out = args.out.resolve()
    return out / "sweep.toml", Sweep(
        name=out.name,
        out=out,
        models=tuple(dict.fromkeys(model_path(model, here) for model in args.model)),
        languages=tuple(dict.fromkeys(args.lang)),
        datasets=tuple(dict.fromkeys(args.dataset)),
        presets=tuple(dict.fromkeys(args.preset or ("paper",))),
        data={} if args.data is None else {args.dataset[0]: args.data.resolve()},
        shards=args.shards,
        engine=args.engine or "transformers",
        dtype=args.dtype,
        beams=args.beams,
        stanza_dir=None if args.stanza_dir is None else stanza_path(args.stanza_dir, here),
        cache_dir=None if args.cache_dir is None else args.cache_dir.resolve(),
    )


def _check_gpus(gpus: int | None) -> None:
    if gpus:
        import torch

        if gpus > torch.cuda.device_count():
            raise UsageError(
                f"--gpus {gpus}: torch sees {torch.cuda.device_count()} GPUs here; leave it out for the CPU"
            )
