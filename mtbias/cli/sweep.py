"""``mtbias sweep``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from mtbias.cli.shared import Bootstrap, Count, Decoding, Evaluator, Flag, LanguageModel, SweepFile
from mtbias.errors import MtbiasError, SettingError, UsageError
from mtbias.machine.stage_progress import ProgressLine
from mtbias.settings import Preset, Settings

if TYPE_CHECKING:
    from mtbias.cluster.sweep_file import Sweep
    from mtbias.cluster.sweep_tasks import SweepPlan

_INSTEAD = Group.create_ordered("Instead of FILE")


def command(
    file: SweepFile | None = None,
    /,
    *,
    dry_run: Flag = False,
    tasks: Flag = False,
    task: str | None = None,
    gpus: Count | None = None,
    jobs: Count = 1,
    device: Literal["auto", "cpu", "cuda"] | None = None,
    models: Annotated[list[str] | None, Parameter(name="--model", group=_INSTEAD)] = None,
    languages: Annotated[list[str] | None, Parameter(name="--lang", group=_INSTEAD)] = None,
    datasets: Annotated[list[str] | None, Parameter(name="--dataset", group=_INSTEAD)] = None,
    presets: Annotated[list[Preset] | None, Parameter(name="--preset", group=_INSTEAD)] = None,
    out: Annotated[Path | None, Parameter(group=_INSTEAD)] = None,
    data: Annotated[Path | None, Parameter(group=_INSTEAD)] = None,
    shards: Annotated[Count | None, Parameter(group=_INSTEAD)] = None,
    decoding: Decoding | None = None,
    language_model: LanguageModel | None = None,
    evaluator: Evaluator | None = None,
    bootstrap: Bootstrap | None = None,
) -> None:
    """Run many models, languages and data sets on this machine, and write the table of the paper.

    FILE is a sweep in TOML; the same can be given as options. The plan is printed first. Tasks that
    are done are skipped; a failed task does not stop the others. On a Slurm cluster: `mtbias submit`.

    Parameters
    ----------
    dry_run
        Print the plan and stop.
    tasks
        Print the names of all tasks and stop.
    task
        Do this task alone, in this process.
    gpus
        One process on each of so many GPUs.
    jobs
        Processes on the CPU.
    device
        Where to translate (default: the file's, else a GPU where there is one).
    models
        A model; may be given several times, as --lang, --dataset and --preset may.
    languages
        A language.
    datasets
        A data set.
    presets
        How to translate (default: paper).
    out
        Folder of all runs; sweep.toml is written there.
    data
        File or folder of the data set instead of the cache.
    shards
        Parts of every translation.
    """
    from mtbias.cluster.plan_table import plan_text
    from mtbias.cluster.sweep_file import read_sweep
    from mtbias.cluster.sweep_tasks import make_plan
    from mtbias.cluster.task_runs import translation_device
    from mtbias.machine.devices import gpu_count

    given: dict[str, Any] = {
        "model": models, "lang": languages, "dataset": datasets, "preset": presets, "out": out, "data": data,
        "shards": shards,
    }  # fmt: skip
    settings = [part for part in (decoding, language_model, evaluator, bootstrap) if part is not None]
    written = None
    if file is None:
        written = _sweep(given, settings)
        file = written.out / "sweep.toml"
    elif set_ := [f"--{name}" for name, value in given.items() if value] + [_named(part) for part in settings]:
        raise UsageError(f"{', '.join(set_)}: give a FILE or options, not both; write it into {file}")
    plan = make_plan(written or read_sweep(file))
    if tasks:
        print("".join(f"{each.id}\n" for each in plan.tasks), end="")
        return
    where: str = device or ("cuda" if gpus else plan.sweep.device)
    if task is not None:
        _one(plan, task, translation_device(where))
        return
    if gpus and gpus > (seen := gpu_count()):
        raise SettingError("gpus", f"asked for {gpus}, torch sees {seen} here; leave it out for the CPU")
    where = translation_device(where)
    print(plan_text(plan, gpu=where == "cuda"), end="", flush=True)
    if not dry_run:
        _all(plan, file, where, gpus=gpus or 0, jobs=jobs, write=written is not None)


def _all(plan: SweepPlan, file: Path, device: str, *, gpus: int, jobs: int, write: bool) -> None:
    from mtbias.cluster.inventory import refuse_missing
    from mtbias.cluster.local_processes import run_locally, workers
    from mtbias.cluster.sweep_file import to_toml
    from mtbias.cluster.sweep_table import read_text, table_files
    from mtbias.files.writing import explained, write_atomic

    refuse_missing(plan.sweep, file)
    if write:
        with explained(file.parent, "make the folder"):
            file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, to_toml(plan.sweep).encode())
    print(flush=True)
    ended = run_locally(
        plan,
        file.resolve(),
        device=device,
        places=workers(gpus=gpus, jobs=jobs),
        say=lambda line: print(line, flush=True),
    )
    failed = {end.task.id: end.failure for end in ended if end.failure is not None}
    if failed:
        print(f"\n{len(plan.tasks) - len(failed)} of {len(plan.tasks)} tasks are done; failed:")
        for name, failure in failed.items():
            print(f"  {name}: {failure.error}" + (f"\n    {failure.log}" if failure.log else ""))
        raise MtbiasError(
            f"{len(failed)} of {len(plan.tasks)} tasks failed; correct what is wrong and run the same command again: "
            "it does only what is missing"
        )
    print(f"\n{read_text(plan)}\nFiles:  {', '.join(str(plan.sweep.out / name) for name in table_files(plan))}")


def _one(plan: SweepPlan, name: str, device: str) -> None:
    from mtbias.cluster.task_runs import recorded, run_task

    task = plan.task(name)
    with recorded(plan, task, _own_log()):
        run_task(plan, task, device=device, say=print, progress=ProgressLine())


def _own_log() -> str:
    """The file that this process prints to; empty where it is none."""
    try:
        path = Path(f"/proc/self/fd/{sys.stderr.fileno()}").resolve()
    except (OSError, ValueError, AttributeError):
        return ""
    return str(path) if path.is_file() else ""


def _named(part: Settings) -> str:
    """The options of a group that are not the defaults, or one of them."""
    default = type(part)()
    names = [each.name for each in fields(part)]
    changed = [name for name in names if getattr(part, name) != getattr(default, name)] or names[:1]
    return ", ".join(f"--{name.replace('_', '-')}" for name in changed)


def _sweep(given: dict[str, Any], settings: Sequence[Settings]) -> Sweep:
    """The sweep that options stand for."""
    if missing := [f"--{name}" for name in ("model", "lang", "dataset", "out") if not given[name]]:
        raise UsageError(f"expected a FILE, or {', '.join(missing)} too")
    from mtbias.cluster.sweep_file import Sweep, model_path, name_of, resolved
    from mtbias.settings import combined

    here, data = Path.cwd(), given["data"]
    if data is not None and len(given["dataset"]) > 1:
        raise UsageError("--data is for one --dataset; write a FILE with a table [data] for several")
    out = given["out"].resolve()
    sweep = combined(
        Sweep,
        *settings,
        name=name_of(out.name),
        out=out,
        models=tuple(dict.fromkeys(model_path(model, here) for model in given["model"])),
        languages=tuple(dict.fromkeys(given["lang"])),
        datasets=tuple(dict.fromkeys(given["dataset"])),
        presets=tuple(dict.fromkeys(given["preset"] or ("paper",))),
        data={} if data is None else {given["dataset"][0]: data},
        shards=given["shards"],
    )
    return resolved(sweep, here)
