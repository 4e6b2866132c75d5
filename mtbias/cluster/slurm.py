"""Submission of a sweep's tasks as Slurm job arrays (through submitit), and the state of the queue.

A record with a unique mark is written before an array is submitted, and the jobs carry the mark as
their comment: so they are found again whatever happens to the process that submits them. A lock
keeps two submissions from doubling tasks. Nothing reads a clock.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from mtbias.cluster.inventory import missing_here, refuse_missing
from mtbias.cluster.sweep_file import Resources, Slurm, read_sweep
from mtbias.cluster.sweep_tasks import SweepPlan, Task, make_plan, plan_text
from mtbias.cluster.task_places import OFFLINE
from mtbias.cluster.task_runs import LOGS, RunStates, forget_failure, is_done, recorded, run_task
from mtbias.errors import DataError, DependencyError, MtbiasError
from mtbias.files.reading import input_bytes
from mtbias.files.strict_json import DecodingError, decoded
from mtbias.files.writing import locked_folder, write_json
from mtbias.machine.devices import install_command
from mtbias.machine.network import no_network
from mtbias.types import JsonDict, frozen, quiet

SUBMISSIONS = "submissions"
"""Folder of a sweep with a record for every array."""
SIGNAL_DELAY = 120
"""Seconds before its end at which Slurm warns a job."""
MOST_REQUEUES = 50
"""Times that a task may reach its time limit and resume."""
_COMMENT = "mtbias-"


@frozen
class Array:
    """Tasks that are submitted together, and the resources of each."""

    tasks: tuple[Task, ...]
    """All of one kind; the systems of all need the network, or those of none."""
    resources: Resources

    @property
    def kind(self) -> str:
        """The kind of its tasks."""
        return self.tasks[0].kind


@frozen
class Submission:
    """The record of an array."""

    mark: str
    job: str
    """Slurm's number; empty where the process that submitted ended before it knew."""
    tasks: tuple[str, ...]
    """Ids, in the order of the array."""


class SlurmTask:
    """A task as submitit pickles it: called on a node, and called again after a pre-emption or a
    time limit.
    """

    def __init__(self, file: str, task: str, device: str) -> None:
        self.file, self.task, self.device = file, task, device

    def __call__(self) -> str:
        """Do the task. The environment that forbids the network is set by the job's script."""
        lines: list[str] = []
        plan = make_plan(read_sweep(self.file))
        task = plan.task(self.task)
        guard = nullcontext() if task.needs_network else no_network("a task of a sweep")
        with guard, recorded(plan, task, _own_log()):
            run_task(plan, task, device=self.device, say=lines.append, progress=quiet)
        return "\n".join(lines)

    def checkpoint(self) -> Any:  # noqa: ANN401 - submitit's
        """The same task, which resumes, for submitit to put into the queue again."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def _own_log() -> str:
    from submitit import JobEnvironment

    with suppress(Exception):  # outside of a job
        return str(JobEnvironment().paths.stderr)
    return ""


def to_submit(plan: SweepPlan, queued: Sequence[str]) -> list[Array]:
    """The arrays of the tasks that are neither done nor in Slurm's queue.

    A score task or the table that waits in the queue is submitted again only together with a task
    that it needs, since the waiting one would not wait for that.
    """
    new: set[str] = set()
    arrays: dict[tuple[str, bool], list[Task]] = {}
    states: RunStates = {}
    for task in plan.tasks:
        renewed = any(need.id in new for need in plan.needs(task))
        if is_done(plan, task, states) or (task.id in queued and not renewed):
            continue
        new.add(task.id)
        arrays.setdefault((task.kind, task.needs_network), []).append(task)
    return [Array(tuple(tasks), plan.resources(tasks[0])) for tasks in arrays.values()]


def submit_sweep(
    file: Path, *, dry_run: bool, max_parallel: int | None, say: Callable[[str], object]
) -> None:
    """Submit the tasks of the sweep in `file` that are neither done nor queued; with `dry_run` only
    list them.

    Raises:
        MtbiasError: the sweep cannot be read, something that it needs is missing here, or Slurm
            refuses it.
    """
    changes = [] if max_parallel is None else [f"slurm.max_parallel={max_parallel}"]
    plan = make_plan(read_sweep(file, changes))
    device = submission_device(plan)
    say(plan_text(plan))
    if dry_run:
        for array in to_submit(plan, list(queue_states(plan.sweep.out))):
            for line in _described(plan, array):
                say(line)
        missing = missing_here(plan.sweep)
        if missing:
            say(f"\nNot usable here (`mtbias fetch --sweep {file}` downloads what is missing):")
        for problem in missing:
            say(f"  {problem}")
        return
    refuse_missing(plan.sweep, file)
    with locked_folder(plan.sweep.out / SUBMISSIONS):
        queue = queue_states(plan.sweep.out)
        arrays = to_submit(plan, list(queue))
        submit(plan, file.resolve(), arrays, device=device, say=say)
    if queue:
        say(f"{len(queue)} tasks are in the queue already")
    if arrays or queue:
        say(f"`mtbias status {file}` shows how far it is")
    else:
        say("nothing is left to submit")


def submit(
    plan: SweepPlan,
    file: Path,
    arrays: Sequence[Array],
    *,
    device: str,
    say: Callable[[str], object],
) -> None:
    """Submit the arrays of `to_submit`, each to begin when all that its tasks need has ended, well
    or not.

    `file` holds the sweep in a place that all nodes see; `device` is ``cpu`` or ``cuda``; at most
    `max_parallel` tasks of an array run at once; `say` is called with a line for each array.

    Raises:
        DependencyError: submitit, or Slurm's programs, are not here.
        MtbiasError: Slurm refuses a job.
        RunFolderError: a record cannot be written.
    """
    queued = {mark: job for mark, job, *_ in _queue()}
    records = [record for record in read_submissions(plan.sweep.out) if record.mark in queued]
    waited: dict[str, str] = {}
    for record in records:
        waited |= dict.fromkeys(record.tasks, queued[record.mark])
    for array in divided(arrays, most_tasks()):
        needs = chain.from_iterable(map(plan.needs, array.tasks))
        jobs = sorted({waited[need.id] for need in needs if need.id in waited})
        record = _submit(plan, file, array, jobs, device)
        waited |= dict.fromkeys(record.tasks, record.job)
        after = f", after {', '.join(jobs)}" if jobs else ""
        say(f"job {record.job}: {len(array.tasks)} × {array.kind} ({_amounts(array)}){after}")


def _amounts(array: Array) -> str:
    """The resources of each task of an array: ``1 GPUs, 4 CPUs, 64G memory, 480 minutes``."""
    names = {"gpus": "GPUs", "cpus": "CPUs", "mem": "memory", "minutes": "minutes"}
    amounts = []
    for key, what in names.items():
        value = getattr(array.resources, key)
        if value:
            amounts.append(f"{value} {what}")
    return ", ".join(amounts)


def _described(plan: SweepPlan, array: Array) -> Iterator[str]:
    """Lines about an array that is not submitted: its size, the resources of each task, and the
    head of its job's script.
    """
    parameters = _parameters(plan.sweep.slurm, array, _job_name(plan, array))
    yield f"would submit {len(array.tasks)} × {array.kind} ({_amounts(array)})"
    for key in ("partition", "account", "array_parallelism"):
        if key in parameters:
            yield f"  {key}: {parameters[key]}"
    for key, value in plan.sweep.slurm.extra.items():
        yield f"  {key}: {value}"
    for line in parameters["setup"]:
        yield f"  {line}"
    yield f"  mtbias sweep FILE --task {array.tasks[0].id}"


def _job_name(plan: SweepPlan, array: Array) -> str:
    return f"mtbias-{plan.sweep.name}-{array.kind}"


def most_tasks() -> int | None:
    """Most tasks of an array on this cluster (``MaxArraySize``); None where Slurm does not say."""
    if shutil.which("scontrol") is None:
        return None
    command = ["scontrol", "show", "config"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        return None
    line = re.search(r"^MaxArraySize\s*=\s*(\d+)\s*$", answer.stdout, re.MULTILINE)
    return None if line is None else max(1, int(line[1]))


def divided(arrays: Iterable[Array], most: int | None) -> Iterator[Array]:
    """`arrays` in parts of at most `most` tasks, in order; None leaves them whole."""
    for array in arrays:
        size = most or len(array.tasks)
        for first in range(0, len(array.tasks), size):
            yield replace(array, tasks=array.tasks[first : first + size])


def _submit(
    plan: SweepPlan, file: Path, array: Array, after: Sequence[str], device: str
) -> Submission:
    submitit = _submitit()
    out = plan.sweep.out
    for task in array.tasks:
        forget_failure(out, task)
    mark = f"{_COMMENT}{secrets.token_hex(8)}"
    record = Submission(mark, "", tuple(task.id for task in array.tasks))
    # No other submission runs: the folder is locked.
    earlier = sorted((out / SUBMISSIONS).glob("[0-9]*.json"))
    number = int(earlier[-1].stem) + 1 if earlier else 1
    path = out / SUBMISSIONS / f"{number:06d}.json"
    write_json(path, asdict(record), own=True)
    executor = submitit.SlurmExecutor(folder=out / LOGS, max_num_timeout=MOST_REQUEUES)
    executor.update_parameters(
        **_parameters(plan.sweep.slurm, array, _job_name(plan, array)),
        comment=mark,
        **({"dependency": f"afterany:{':'.join(after)}"} if after else {}),
    )
    try:
        with executor.batch():
            jobs = [executor.submit(SlurmTask(str(file), task.id, device)) for task in array.tasks]
    except (
        submitit.core.utils.FailedJobError,
        submitit.core.utils.FailedSubmissionError,
        OSError,
    ) as error:
        reason = (str(error).strip().splitlines() or [""])[-1]
        raise MtbiasError(f"Slurm refused the job: {reason}; correct [slurm] in {file}") from error
    record = replace(record, job=jobs[0].job_id.partition("_")[0])
    write_json(path, asdict(record), own=True)
    return record


def _parameters(slurm: Slurm, array: Array, name: str) -> JsonDict:
    resources = array.resources
    offline = {} if array.tasks[0].needs_network else OFFLINE
    setup = [
        # Since Slurm 22.05 srun does not take this over by itself.
        "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK",
        "export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$SLURM_CPUS_PER_TASK}",
        *(f"export {key}={value}" for key, value in offline.items()),
        *slurm.setup,
    ]
    parameters: JsonDict = {
        "job_name": name,
        "partition": slurm.partition,
        "account": slurm.account,
        "time": resources.minutes,
        "cpus_per_task": resources.cpus,
        "mem": resources.mem,
        "gpus_per_node": resources.gpus or None,
        "signal_delay_s": SIGNAL_DELAY,
        "array_parallelism": slurm.max_parallel or len(array.tasks),
        "setup": setup,
        "additional_parameters": {"requeue": True, **slurm.extra},
    }
    return {key: value for key, value in parameters.items() if value is not None}


def _submitit() -> Any:  # noqa: ANN401 - a module without types
    try:
        import submitit
        import submitit.core.utils
    except ImportError:
        raise DependencyError(f"mtbias submit needs submitit: {install_command('slurm')}") from None
    missing = [name for name in ("sbatch", "srun", "squeue") if shutil.which(name) is None]
    if missing:
        raise DependencyError(
            f"Slurm's {missing[0]} is not on this machine: "
            "run mtbias submit on a login node of the cluster, or `mtbias sweep` here"
        )
    return submitit


def read_submissions(out: Path) -> list[Submission]:
    """The records of a sweep's arrays, in the order in which they were submitted.

    Raises:
        DataError: one is damaged.
    """
    submissions = []
    for path in sorted((out / SUBMISSIONS).glob("[0-9]*.json")):
        try:
            submissions.append(decoded(Submission, input_bytes(path)))
        except DecodingError as error:
            raise DataError(
                f"damaged: {error}; move it away once none of its jobs is queued", path=path
            ) from None
    return submissions


def queue_states(out: Path) -> dict[str, str]:
    """``running`` or ``queued`` for each task of a sweep in Slurm's queue; empty without Slurm.

    Raises:
        MtbiasError: Slurm does not answer.
    """
    records = {record.mark: record for record in read_submissions(out)}
    if not records:
        return {}
    states: dict[str, str] = {}
    for mark, _, index, state in _queue():
        for name in records[mark].tasks[index : index + 1] if mark in records else ():
            if states.get(name) != "running":
                states[name] = "running" if state in {"RUNNING", "COMPLETING"} else "queued"
    return states


def _queue() -> list[tuple[str, str, int, str]]:
    """(mark, job, index, state) of every task of ours in Slurm's queue."""
    if shutil.which("squeue") is None:
        return []
    command = ["squeue", "--noheader", "--array", "--format=%k|%F|%K|%T"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        raise MtbiasError("Slurm does not answer (squeue, two minutes); try again later") from None
    if answer.returncode:
        first = (answer.stderr.strip().splitlines() or ["no reason given"])[0]
        raise MtbiasError(f"Slurm does not answer: {first}")
    tasks = []
    for line in answer.stdout.splitlines():
        mark, job, index, state = [*line.split("|"), "", "", ""][:4]
        if mark.startswith(_COMMENT):
            tasks.append((mark, job, int(index) if index.isdigit() else 0, state))
    return tasks


def submission_device(plan: SweepPlan) -> str:
    """The device of the sweep; where that is ``auto``, ``cuda`` if translations ask Slurm for GPUs,
    else ``cpu``.
    """
    if plan.sweep.device != "auto":
        return plan.sweep.device
    translations = [task for task in plan.tasks if task.kind == "translate"]
    on_gpus = any(plan.resources(task).gpus for task in translations)
    return "cuda" if on_gpus else "cpu"


def log_of(out: Path, task: Task) -> str:
    """The file of a task's standard error when it was last submitted; empty where unknown."""
    record = next((each for each in reversed(read_submissions(out)) if task.id in each.tasks), None)
    if record is None or not record.job:
        return ""
    job = f"{record.job}_{record.tasks.index(task.id)}" if len(record.tasks) > 1 else record.job
    return str(out / LOGS / f"{job}_0_log.err")
