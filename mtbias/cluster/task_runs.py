"""Doing one task of a sweep in this process, and what is written down about tasks: who runs, who
failed and why.
"""

from __future__ import annotations

import fcntl
import json
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.sweep_table import table_is_current, write_tables
from mtbias.cluster.sweep_tasks import TABLE, Cell, SweepPlan, Task
from mtbias.corpora import cache_folder
from mtbias.errors import MissingTranslationsError, MtbiasError, UsageError
from mtbias.evaluation.preparation import prepare_eval, prepare_score
from mtbias.evaluation.stages import Request, evaluate, translate_shard
from mtbias.files.reading import input_bytes, sha256_of
from mtbias.files.strict_json import DecodingError, decoded
from mtbias.files.writing import explained, make_folder, write_atomic
from mtbias.language.installed import get_language
from mtbias.machine.devices import chosen_device, free_unused, require_device
from mtbias.morphology.stanza_models import stanza_folder
from mtbias.report.report_runs import report_run
from mtbias.report.run_page import render_html
from mtbias.report.run_table import headline_text
from mtbias.runs.finished_run import read_run
from mtbias.runs.run_folder import RunProgress, run_progress
from mtbias.scoring.measure import Measure
from mtbias.settings import EvalSettings, ScoreSettings, combined
from mtbias.translate.given_translations import given_file
from mtbias.types import Progress, frozen
from mtbias.version import __version__

TASKS, LOGS = "tasks", "logs"
"""Folders of a sweep for records of tasks, and for what tasks print."""
_NOT_OF_A_CELL = frozenset(
    {"name", "out", "cache_dir", "device", "shards", "sentences_per_shard", "slurm"}
    | {"models", "systems", "languages", "datasets", "presets", "data", "processes"}
)
"""Settings of a sweep on which no cell's result depends, and those of which a cell has its own."""


@frozen
class _Run:
    """A run that was looked at."""

    progress: RunProgress
    current: bool
    """Whether it is complete, and was made of, or compared with, the sweep and its files as they
    are."""


Looked = dict[str, _Run]
"""Runs that were looked at, by the ids of their cells."""


@frozen
class Failure:
    """Why a task failed."""

    error: str
    """One line."""
    log: str
    """The file with all that the task printed; empty where it is not known."""


def is_done(plan: SweepPlan, task: Task, looked: Looked | None = None) -> bool:
    """Whether the result of a task is there, by the files of the run folders alone.

    `looked` holds what was found of runs that were looked at before, and is added to: a complete
    run's files are hashed each time that it is looked at. A score task whose cells were made of
    other settings or files is not done: doing it refuses them, or finds that nothing of them has
    changed.

    Raises:
        RunFolderError: a folder cannot be read.
    """
    looked = {} if looked is None else looked
    if task.kind == TABLE:
        return not _other(plan, looked) and table_is_current(plan)
    if task.shard is None:
        there = all(look(plan.sweep, cell, looked).current for cell in task.cells)
        return there and all(page.is_file() for page in pages(plan.sweep, task))
    shard, run = task.shard, look(plan.sweep, task.cells[0], looked).progress
    return run.translated or (
        run.parts is not None and run.missing.isdisjoint(shard.parts(run.parts))
    )


def look(sweep: Sweep, cell: Cell, looked: Looked) -> _Run:
    """The run of a cell, from `looked` where it is there.

    Raises:
        RunFolderError: its folder cannot be read.
    """
    if cell.id not in looked:
        progress, kept = run_progress(cell.folder), b""
        with suppress(OSError):  # none, or none that can be read: the run is compared
            kept = _made_file(sweep, cell).read_bytes()
        looked[cell.id] = _Run(
            progress, progress.complete and kept == _made_of(sweep, cell).encode()
        )
    return looked[cell.id]


def _made_file(sweep: Sweep, cell: Cell) -> Path:
    return sweep.out / TASKS / f"{cell.id.replace('/', '+')}.made"


def _made_of(sweep: Sweep, cell: Cell) -> str:
    """Hash of all that a cell's result depends on, files by size and time of change.

    Where it is not what it was, the run's identity tells whether the result is still that of the
    sweep.
    """
    stanza = stanza_folder(sweep.stanza_dir, cache_folder(sweep.cache_dir))
    own = (cell.model, cell.given, sweep.data.get(cell.dataset), sweep.aligner_model, sweep.prompt)
    named = (*own, stanza / "resources.json", stanza / cell.lang)
    states = [
        (str(path), stat.st_size, stat.st_mtime_ns)
        for root in (Path(name) for name in named if name is not None)
        for path in (
            [root, *sorted(root.rglob("*"))] if root.is_absolute() else ()
        )  # else the name of a model
        if path.is_file() and (stat := path.stat())
    ]
    settings = {key: value for key, value in asdict(sweep).items() if key not in _NOT_OF_A_CELL}
    plugin = None
    with suppress(UsageError):  # only a plugin's corpus needs none
        plugin = get_language(cell.lang).version
    return sha256_of(
        json.dumps([__version__, plugin, settings, cell.model, cell.preset, states], default=str)
    )


def _other(plan: SweepPlan, looked: Looked) -> list[str]:
    """The ids of cells whose runs are complete, and were made of something else."""
    runs = {cell.id: look(plan.sweep, cell, looked) for cell in plan.cells}
    return [id_ for id_, run in runs.items() if run.progress.complete and not run.current]


def run_task(
    plan: SweepPlan,
    task: Task,
    *,
    device: str,
    say: Callable[[str], object],
    progress: Progress,
    last: LastCell | None = None,
) -> None:
    """Do what is left of a task; nothing where its result is there.

    `device`, ``cpu`` or ``cuda``, is that on which the sweep translates (`translation_device`);
    `say` is called with a line about what was done; `last` holds what the process translated
    before.

    Raises:
        MtbiasError: the first error; the other cells of a score task were tried all the same.
    """
    if is_done(plan, task):
        say(f"{task.id}: done already")
    elif task.kind == TABLE:
        if other := _other(plan, {}):
            raise MissingTranslationsError(
                f"no table yet: {other[0]} was made with other settings or files"
            )
        say(f"{task.id}: {', '.join(map(str, write_tables(plan)))}")
    elif task.shard is not None:
        (cell,) = task.cells
        here = device if task.computes_here else chosen_device(None)
        offline = not task.needs_network
        make = partial(make_request, plan.sweep, cell, device, here=here, offline=offline)
        request = make() if last is None else last.request(cell, make)
        report = translate_shard(request, task.shard, out=cell.folder, progress=progress)
        say(
            f"{task.id}: {report.sentences:,} sentences, {report.generated:,} translated now, {report.resumed:,} were "
            f"there, {report.seconds:.0f} s"
        )
    else:
        _score(plan.sweep, task, device, say, progress)


class LastCell:
    """The cell that this process translated last: corpus, token ids and weights are held for what
    comes next.
    """

    def __init__(self) -> None:
        """None yet."""
        self._id = ""
        self._request: Request | None = None

    def request(self, cell: Cell, make: Callable[[], Request]) -> Request:
        """The request of a cell: that of the last one, or a new one, which takes over what it can
        use; what it cannot is given back.
        """
        if self._request is not None and cell.id == self._id:
            return self._request
        request = make()
        if self._request is not None and not request.system.take_over(self._request.system):
            self._request = None
            free_unused()
        self._id, self._request = cell.id, request
        return request


def translation_device(asked: str) -> str:
    """``auto`` is a GPU where torch sees one here, else the CPU.

    Raises:
        UsageError: a GPU is asked for and there is none.
    """
    if asked == "cuda":
        require_device(asked)
    return chosen_device(None if asked == "auto" else asked)


def _score(
    sweep: Sweep, task: Task, device: str, say: Callable[[str], object], progress: Progress
) -> None:
    """All cells of a language, one after the other, Stanza's models loaded once; then pages that
    compare systems.
    """
    here = chosen_device(None)
    errors: list[MtbiasError] = []
    opened: dict[str, Measure] = {}
    given: dict[str, Request] = {}
    for page in pages(sweep, task):  # one that is there may be of fewer systems
        with explained(page, "remove"):
            page.unlink(missing_ok=True)
    for cell in task.cells:
        try:
            if look(sweep, cell, {}).current:
                say(f"{task.id}: {cell.id} done already")
                continue
            made_of = _made_of(
                sweep, cell
            )  # before its files are read, so that a later change is noticed
            request = make_request(sweep, cell, device, here=here, beside=given.get(cell.dataset))
            if cell.given is not None:
                given[cell.dataset] = request
            measure = opened.setdefault(request.corpus.measure, request.measure)
            if measure.identity == request.measure.identity:
                request = replace(request, measure=measure)
            generate = cell.given is not None
            run = evaluate(request, out=cell.folder, generate=generate, progress=progress)
            make_folder(sweep.out / TASKS)
            write_atomic(_made_file(sweep, cell), made_of.encode(), own=True)
            place = f"{task.cells.index(cell) + 1} of {len(task.cells)}"
            headline = headline_text(run.metrics, run.numbers)
            say(f"{task.id}: {cell.id} scored, {headline}, {place}")
        except MissingTranslationsError as error:
            first = str(error).partition(";")[0]
            errors.append(
                MissingTranslationsError(
                    f"{first}; `mtbias sweep FILE` or `mtbias submit FILE` makes them"
                )
            )
        except MtbiasError as error:
            errors.append(error)
    if errors:
        earliest, *others = errors
        if others:
            earliest.args = (f"{earliest} (and {len(others)} more cells of {task.cells[0].lang})",)
        raise earliest
    for page, cells in pages(sweep, task).items():
        shown = [report_run(read_run(cell.folder), cell.system) for cell in cells]
        write_atomic(page, render_html(shown).encode())
        say(f"{task.id}: {page}")


def pages(sweep: Sweep, task: Task) -> dict[Path, list[Cell]]:
    """The pages of a score task: one a data set where there are several systems, with their runs
    side by side.
    """
    found: dict[Path, list[Cell]] = {}
    for cell in task.cells:
        found.setdefault(sweep.out / cell.dataset / f"report-{cell.lang}.html", []).append(cell)
    return {page: cells for page, cells in found.items() if len(cells) > 1}


def make_request(
    sweep: Sweep,
    cell: Cell,
    device: str,
    *,
    here: str,
    offline: bool = True,
    beside: Request | None = None,
) -> Request:
    """The request of a cell, the same as that of ``mtbias eval`` or ``score``. Nothing is
    downloaded.

    The sweep translates on `device`, which chooses the type of the weights; this process computes
    on `here`. So a node without GPU can score what one with a GPU translated. Unless `offline`, the
    system may leave this machine (`Task.needs_network`). That of translations that are there shares
    what it can with the one `beside` it.
    """
    if cell.given is not None:
        scored = combined(
            ScoreSettings,
            sweep,
            dataset=cell.dataset,
            data=sweep.data.get(cell.dataset),
            device=here,
        )
        return prepare_score(
            given_file(cell.given, name=cell.system), cell.lang, scored, beside=beside
        )
    settings = combined(
        EvalSettings,
        sweep,
        dataset=cell.dataset,
        data=sweep.data.get(cell.dataset),
        preset=cell.preset,
        device=here,
        offline=offline,
    )
    return prepare_eval(cell.model, cell.lang, settings, translates_on=device)


@contextmanager
def recorded(plan: SweepPlan, task: Task, log: Path | str) -> Iterator[None]:
    """The block does `task`: others see that it runs (`is_running`), and why it failed
    (`read_failure`).
    """
    path = _lock_file(plan.sweep.out, task)
    make_folder(path.parent)
    with explained(path, "write"):
        lock = path.open("a+")
    with lock:
        with suppress(OSError):  # a file system without locks: nobody sees that the task runs
            fcntl.flock(
                lock, fcntl.LOCK_SH
            )  # which the system releases when the process ends, however it ends
        try:
            yield
        except Exception as error:
            line = (
                str(error)
                if isinstance(error, MtbiasError)
                else traceback.format_exception_only(error)[-1]
            )
            write_failure(plan.sweep.out, task, Failure(" ".join(line.split()), str(log)))
            raise
    forget_failure(plan.sweep.out, task)


def _lock_file(out: Path, task: Task) -> Path:
    return out / TASKS / f"{task.file_name}.lock"


def _failure_file(out: Path, task: Task) -> Path:
    return out / TASKS / f"{task.file_name}.json"


def log_file(plan: SweepPlan, task: Task) -> Path:
    """What a task on this machine prints."""
    return plan.sweep.out / LOGS / f"{task.file_name}.log"


def write_failure(out: Path, task: Task, failure: Failure) -> None:
    """Write down why a task failed; where even that fails, the task's own error is what counts."""
    with suppress(MtbiasError, OSError):
        make_folder(out / TASKS)
        content = json.dumps({"task": task.id, **asdict(failure)}, ensure_ascii=False)
        write_atomic(_failure_file(out, task), f"{content}\n".encode(), own=True)


def read_failure(out: Path, task: Task) -> Failure | None:
    """Why a task failed when it last ran; None where it did not, or left no word."""
    try:
        return decoded(Failure, input_bytes(_failure_file(out, task)))
    except (OSError, DecodingError):
        return None


def forget_failure(out: Path, task: Task) -> None:
    """The task has ended well, or begins again."""
    with suppress(OSError):
        _failure_file(out, task).unlink(missing_ok=True)


def is_running(out: Path, task: Task) -> bool:
    """Whether a process on this host (or, where locks work across hosts, on any) does the task
    now.
    """
    try:
        with _lock_file(out, task).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False
