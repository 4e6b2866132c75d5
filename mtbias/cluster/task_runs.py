"""One task of a sweep in this process, and records of tasks: which run, which failed and why."""

from __future__ import annotations

import fcntl
import json
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

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
"""Folders of a sweep for the records of tasks and for their logs."""
_NOT_OF_A_CELL = frozenset(
    {"name", "out", "cache_dir", "device", "shards", "sentences_per_shard", "slurm"}
    | {"models", "systems", "languages", "datasets", "presets", "data", "processes"}
)
"""Settings of a sweep that change no cell's result, or that each cell sets for itself."""


@frozen
class _RunState:
    """How far the run of a cell is."""

    progress: RunProgress
    current: bool
    """Whether it is complete and the result of the sweep and its files as they are now."""


RunStates = dict[str, _RunState]
"""The states of runs, by the ids of their cells."""


@frozen
class Failure:
    """Why a task failed."""

    error: str
    """One line."""
    log: str
    """The file with everything that the task printed; empty where unknown."""


def is_done(plan: SweepPlan, task: Task, states: RunStates | None = None) -> bool:
    """Whether the result of a task exists, by the files of the run folders alone.

    `states` holds the states of runs that are known already, and is added to, since all files of a
    complete run are hashed to get its state. A score task with a cell of other settings or files is
    not done: running it refuses that cell, or finds that the result is the same.

    Raises:
        RunFolderError: a folder cannot be read.
    """
    states = {} if states is None else states
    if task.kind == TABLE:
        return not _outdated(plan, states) and table_is_current(plan)
    if task.shard is None:
        scored = all(run_state(plan.sweep, cell, states).current for cell in task.cells)
        return scored and all(page.is_file() for page in pages(plan.sweep, task))
    shard, run = task.shard, run_state(plan.sweep, task.cells[0], states).progress
    return run.translated or (
        run.parts is not None and run.missing.isdisjoint(shard.parts(run.parts))
    )


def run_state(sweep: Sweep, cell: Cell, states: RunStates) -> _RunState:
    """The state of a cell's run, taken from `states` where it is known.

    Raises:
        RunFolderError: its folder cannot be read.
    """
    if cell.id not in states:
        progress, recorded_hash = run_progress(cell.folder), b""
        with suppress(OSError):  # without a record the run counts as outdated, and is compared
            recorded_hash = _inputs_file(sweep, cell).read_bytes()
        same_inputs = progress.complete and recorded_hash == _inputs_hash(sweep, cell).encode()
        states[cell.id] = _RunState(progress, same_inputs)
    return states[cell.id]


def _inputs_file(sweep: Sweep, cell: Cell) -> Path:
    return sweep.out / TASKS / f"{cell.id.replace('/', '+')}.made"


def _inputs_hash(sweep: Sweep, cell: Cell) -> str:
    """Hash of all that a cell's result depends on, with files by size and time of change.

    Where it has changed, the run's identity tells whether the result is still that of the sweep.
    """
    stanza = stanza_folder(sweep.stanza_dir, cache_folder(sweep.cache_dir))
    data = sweep.data.get(cell.dataset)
    own = (cell.model, cell.translations, data, sweep.aligner_model, sweep.prompt)
    paths = (*own, stanza / "resources.json", stanza / cell.lang)
    states: list[tuple[str, int, int]] = []
    for path in paths:
        if path is not None and Path(path).is_absolute():  # else the name of a model
            states += _file_states(Path(path))

    settings = {key: value for key, value in asdict(sweep).items() if key not in _NOT_OF_A_CELL}
    plugin = None
    with suppress(UsageError):  # only a plugin's corpus needs none
        plugin = get_language(cell.lang).version
    return sha256_of(
        json.dumps([__version__, plugin, settings, cell.model, cell.preset, states], default=str)
    )


def _file_states(root: Path) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of a file, or of all files in a folder."""
    for path in (root, *sorted(root.rglob("*"))):
        if path.is_file():
            status = path.stat()
            yield str(path), status.st_size, status.st_mtime_ns


def _outdated(plan: SweepPlan, states: RunStates) -> list[str]:
    """The ids of cells whose runs are complete, but of other settings or files."""
    runs = {cell.id: run_state(plan.sweep, cell, states) for cell in plan.cells}
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
    """Do what is left of a task, which is nothing where its result exists.

    Args:
        plan: that of the sweep.
        task: the task.
        device: ``cpu`` or ``cuda``, on which the sweep translates (`translation_device`).
        say: called with a line about what was done.
        progress: called with the progress of each stage.
        last: the cell that this process translated before.

    Raises:
        MtbiasError: the first error; a score task tries its other cells all the same.
    """
    if is_done(plan, task):
        say(f"{task.id}: done already")
    elif task.kind == TABLE:
        if outdated := _outdated(plan, {}):
            raise MissingTranslationsError(
                f"no table yet: {outdated[0]} was made with other settings or files"
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
            f"{task.id}: {report.sentences:,} sentences, {report.generated:,} translated now, "
            f"{report.resumed:,} were there, {report.seconds:.0f} s"
        )
    else:
        _score(plan.sweep, task, device, say, progress)


class LastCell:
    """The cell that this process translated last, whose corpus, token ids and weights are kept for
    the next one.
    """

    def __init__(self) -> None:
        """Begin without a cell."""
        self._id = ""
        self._request: Request | None = None

    def request(self, cell: Cell, make: Callable[[], Request]) -> Request:
        """The request of a cell: the last one if it is of that cell, else a new one, which takes
        over the weights if it can use them; otherwise their memory is freed.
        """
        if self._request is not None and cell.id == self._id:
            return self._request
        request = make()
        if self._request is not None and not request.system.take_over(self._request.system):
            self._request = None
            free_unused()
        self._id, self._request = cell.id, request
        return request


def translation_device(name: str) -> str:
    """The device of that name; ``auto`` is a GPU where torch sees one here, else the CPU.

    Raises:
        UsageError: the name is ``cuda`` and there is no GPU.
    """
    if name == "cuda":
        require_device(name)
    return chosen_device(None if name == "auto" else name)


def _score(
    sweep: Sweep, task: Task, device: str, say: Callable[[str], object], progress: Progress
) -> None:
    """Score all cells of a language one after the other, with Stanza's models loaded once, and
    write the pages that compare systems.
    """
    errors: list[MtbiasError] = []
    for page in pages(sweep, task):  # an earlier one may show fewer systems
        with explained(page, "remove"):
            page.unlink(missing_ok=True)

    scorer = _CellScorer(sweep, device, progress)
    for number, cell in enumerate(task.cells, start=1):
        try:
            if run_state(sweep, cell, {}).current:
                say(f"{task.id}: {cell.id} done already")
                continue
            headline = scorer.score(cell)
            say(f"{task.id}: {cell.id} scored, {headline}, {number} of {len(task.cells)}")
        except MissingTranslationsError as error:
            first = str(error).partition(";")[0]
            advice = "`mtbias sweep FILE` or `mtbias submit FILE` makes them"
            errors.append(MissingTranslationsError(f"{first}; {advice}"))
        except MtbiasError as error:
            errors.append(error)
    if errors:
        earliest, *others = errors
        if others:
            earliest.args = (f"{earliest} (and {len(others)} more cells of {task.cells[0].lang})",)
        raise earliest

    for page, cells in pages(sweep, task).items():
        runs = [report_run(read_run(cell.folder), cell.system) for cell in cells]
        write_atomic(page, render_html(runs).encode())
        say(f"{task.id}: {page}")


class _CellScorer:
    """Scores cells of one language; measures and what files of translations share are kept."""

    def __init__(self, sweep: Sweep, device: str, progress: Progress) -> None:
        self._sweep, self._device, self._progress = sweep, device, progress
        self._here = chosen_device(None)
        self._measures: dict[str, Measure] = {}
        self._requests: dict[str, Request] = {}
        """The last request of a file of translations, by its data set."""

    def score(self, cell: Cell) -> str:
        """Score a cell into its folder; gives the run's headline."""
        # Before its files are read, so that a later change is noticed.
        inputs_hash = _inputs_hash(self._sweep, cell)
        request = self._request(cell)
        run = evaluate(
            request,
            out=cell.folder,
            generate=cell.translations is not None,
            progress=self._progress,
        )
        make_folder(self._sweep.out / TASKS)
        write_atomic(_inputs_file(self._sweep, cell), inputs_hash.encode(), own=True)
        return headline_text(run.metrics, run.numbers)

    def _request(self, cell: Cell) -> Request:
        """The request of a cell, with the measure of an earlier cell where that is the same."""
        beside = self._requests.get(cell.dataset)
        request = make_request(self._sweep, cell, self._device, here=self._here, beside=beside)
        if cell.translations is not None:
            self._requests[cell.dataset] = request
        measure = self._measures.setdefault(request.corpus.measure, request.measure)
        if measure.identity == request.measure.identity:
            return replace(request, measure=measure)
        return request


def pages(sweep: Sweep, task: Task) -> dict[Path, list[Cell]]:
    """The pages of a score task with their cells: one page for each data set with several systems,
    their runs side by side.
    """
    by_page: dict[Path, list[Cell]] = {}
    for cell in task.cells:
        page = sweep.out / cell.dataset / f"report-{cell.lang}.html"
        by_page.setdefault(page, []).append(cell)
    return {page: cells for page, cells in by_page.items() if len(cells) > 1}


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

    Args:
        sweep: the sweep of the cell.
        cell: the cell.
        device: where the sweep translates, which determines the type of the weights.
        here: where this process computes: a node without GPU can score what one with a GPU
            translated.
        offline: whether the system may not reach other machines (`Task.needs_network`).
        beside: an earlier request, with which one of a file of translations shares what it can.
    """
    common: dict[str, Any] = {
        "dataset": cell.dataset,
        "data": sweep.data.get(cell.dataset),
        "device": here,
    }
    if cell.translations is not None:
        settings = combined(ScoreSettings, sweep, **common)
        system = given_file(cell.translations, name=cell.system)
        return prepare_score(system, cell.lang, settings, beside=beside)
    eval_settings = combined(EvalSettings, sweep, **common, preset=cell.preset, offline=offline)
    return prepare_eval(cell.model, cell.lang, eval_settings, translates_on=device)


@contextmanager
def recorded(plan: SweepPlan, task: Task, log: Path | str) -> Iterator[None]:
    """Do `task` in the block, so that other processes see whether it runs (`is_running`) and why it
    failed (`read_failure`).
    """
    path = _lock_file(plan.sweep.out, task)
    make_folder(path.parent)
    with explained(path, "write"):
        lock = path.open("a+")
    with lock:
        # The system releases the lock when the process ends, however it ends. On a file system
        # without locks nobody sees that the task runs.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_SH)
        try:
            yield
        except Exception as error:
            is_ours = isinstance(error, MtbiasError)
            line = str(error) if is_ours else traceback.format_exception_only(error)[-1]
            write_failure(plan.sweep.out, task, Failure(" ".join(line.split()), str(log)))
            raise
    forget_failure(plan.sweep.out, task)


def _lock_file(out: Path, task: Task) -> Path:
    return out / TASKS / f"{task.file_name}.lock"


def _failure_file(out: Path, task: Task) -> Path:
    return out / TASKS / f"{task.file_name}.json"


def log_file(plan: SweepPlan, task: Task) -> Path:
    """The file that a task on this machine prints into."""
    return plan.sweep.out / LOGS / f"{task.file_name}.log"


def write_failure(out: Path, task: Task, failure: Failure) -> None:
    """Record why a task failed; an error of this itself is ignored beside the task's own."""
    with suppress(MtbiasError, OSError):
        make_folder(out / TASKS)
        content = json.dumps({"task": task.id, **asdict(failure)}, ensure_ascii=False)
        write_atomic(_failure_file(out, task), f"{content}\n".encode(), own=True)


def read_failure(out: Path, task: Task) -> Failure | None:
    """Why a task failed when it last ran; None where it did not fail or left no record."""
    try:
        return decoded(Failure, input_bytes(_failure_file(out, task)))
    except (OSError, DecodingError):
        return None


def forget_failure(out: Path, task: Task) -> None:
    """Remove the record of a failure: the task has ended well, or begins again."""
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
