"""A sweep of coreference on this machine: documents, training, evaluation, and one table of all
systems.

Below the sweep's folder are ``documents`` (CoNLL-2012), ``models/SYSTEM`` (`mtbias coref train`),
``runs/SYSTEM`` (`mtbias coref eval`), ``logs``, the tables and the page. A task whose result is
there is passed over, so a sweep that was stopped resumes with the same command.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

from mtbias.cluster.coref_sweep_file import (
    DEV,
    CorefSweep,
    DocumentSource,
    TrainedSystem,
    read_coref_sweep,
)
from mtbias.cluster.task_places import OFFLINE
from mtbias.coref.augmentation import augment
from mtbias.coref.bug_links import Bug
from mtbias.coref.coref_datasets import limited, open_dataset, spread, texts_of
from mtbias.coref.counterfactual_quadruples import find_proper_nouns
from mtbias.coref.dataset import CorefDataset
from mtbias.coref.documents import CorefText, exported, read_conll
from mtbias.coref.evaluation import (
    METRICS,
    compare_evaluations,
    evaluate,
    read_evaluation,
)
from mtbias.coref.systems import StanzaCoref
from mtbias.coref.training import train
from mtbias.coref.training_documents import training_data
from mtbias.corpora.catalog import cache_folder
from mtbias.errors import DataError, MtbiasError, UsageError, choices
from mtbias.files.reading import (
    parse_json_by_id,
    read_text,
    sha256_of,
    sha256_of_file,
    split_lines,
)
from mtbias.files.writing import explained, make_folder, write_atomic, write_json
from mtbias.machine.stage_progress import ProgressLine
from mtbias.morphology.stanza_models import stanza_folder
from mtbias.report.coref_page import render_coref_page
from mtbias.report.coref_tables import render_evaluation
from mtbias.settings import BootstrapSettings
from mtbias.types import Stereotype

DOCUMENTS, TABLE = "documents", "table"
TRAINING, EVALUATION = "train:", "eval:"
"""How the names of tasks begin, before that of a system."""
MODELS, RUNS, LOGS = "models", "runs", "logs"
FORMS = {"table.txt": "text", "table.md": "markdown", "table.tex": "latex", "table.csv": "csv"}
PAGE = "report.html"
_IDENTITY = "sweep.json"
_SIDES = {"pro": Stereotype.PRO, "anti": Stereotype.ANTI}

_PAUSE = 0.2
"""Seconds between two checks whether a task has ended."""

Say = Callable[[str], object]


def coref_sweep(
    file: Path,
    changes: Sequence[str] = (),
    *,
    dry_run: bool = False,
    list_tasks: bool = False,
    task: str | None = None,
    jobs: int = 1,
    say: Say,
) -> None:
    """Run the sweep in `file` and write its tables, or run its `task` alone in this process.

    Tasks run in processes of their own, `jobs` at a time. `say` is called with lines for the user;
    with `list_tasks` these are the names of tasks, with `dry_run` the names with what each needs.

    Raises:
        MtbiasError: the sweep cannot be read, its folder is another sweep's, or tasks failed.
    """
    sweep = read_coref_sweep(file, changes)
    needs = tasks_of(sweep)
    if task is None and not list_tasks:
        _datasets(sweep)  # what is missing of them is said before systems are trained
    if list_tasks or dry_run:
        for name, needed in needs.items():
            say(f"{name}: after {', '.join(needed)}" if dry_run and needed else name)
        return
    if task is not None and task not in needs:
        raise UsageError(f"--task: this sweep has no task {task!r}; {choices(task, needs)}")
    _claim(sweep)
    if task is not None:
        run_task(sweep, task, say)
        return
    run = _Run(file, changes, sweep, say)
    run.run(needs, jobs)
    if run.failed:
        raise MtbiasError(
            f"{len(run.failed)} of {len(needs)} tasks failed: {', '.join(run.failed)}; "
            f"{sweep.out / LOGS} has why; the same command does only what is missing"
        )
    say(f"\n{(sweep.out / 'table.txt').read_text(encoding='utf-8')}")
    say(f"Files:  {', '.join(str(sweep.out / name) for name in (*FORMS, PAGE))}")


def tasks_of(sweep: CorefSweep) -> dict[str, tuple[str, ...]]:
    """The tasks in an order in which they can run, each with the tasks that it needs."""
    needs: dict[str, tuple[str, ...]] = {DOCUMENTS: ()}
    for name, system in sweep.systems.items():
        first = () if system.weights is None else (f"{TRAINING}{system.weights}",)
        needs[f"{TRAINING}{name}"] = (DOCUMENTS, *first)
    for name in sweep.systems:
        needs[f"{EVALUATION}{name}"] = (f"{TRAINING}{name}",)
    needs[TABLE] = tuple(f"{EVALUATION}{name}" for name in sweep.systems)
    return needs


def _claim(sweep: CorefSweep) -> None:
    """Write down what the folder is of.

    Raises:
        DataError: it is of another sweep, or was begun with other documents, names or swaps.
    """
    settings = asdict(sweep)
    settings["training"] = {**settings["training"], "device": ""}  # it changes no result
    settings = {key: value for key, value in settings.items() if key not in {"name", "out"}}
    digest = sha256_of(repr(sorted(settings.items())))
    path = sweep.out / _IDENTITY
    make_folder(sweep.out)
    if not path.exists():
        identity = {"sweep": "coreference", "sha256": digest, "files": _inputs(sweep)}
        write_json(path, identity, own=True)
        return
    before = parse_json_by_id(read_text(path))
    if digest != before.get("sha256"):
        message = (
            "this folder is of a sweep with other settings: choose another with --set out=FOLDER"
        )
        raise DataError(message, path=path)
    files = before.get("files", {})
    for name, content in _inputs(sweep).items():
        if files.get(name) != content:
            message = (
                "expected the file that this sweep began with, got another: choose another folder "
                "with --set out=FOLDER"
            )
            raise DataError(message, path=Path(name))


def _inputs(sweep: CorefSweep) -> dict[str, str]:
    """The SHA-256 of the files that documents and copies are made of, by path."""
    paths = [source.data for source in chain.from_iterable(sweep.documents.values())]
    paths += [path for path in (sweep.names, sweep.swaps) if path is not None]
    files: list[Path] = []
    for path in paths:
        files += sorted(path.iterdir()) if path.is_dir() else [path]
    return {str(path): sha256_of_file(path) for path in files if not path.is_dir()}


class _Run:
    """The tasks of a sweep that are run in processes of their own."""

    def __init__(self, file: Path, changes: Sequence[str], sweep: CorefSweep, say: Say) -> None:
        """None is begun yet."""
        self.failed: list[str] = []
        """Tasks that failed, or that need one that did."""
        self._command = [sys.executable, "-m", "mtbias", "sweep", str(file)]
        for change in changes:
            self._command += ["--set", change]
        self._sweep, self._say = sweep, say
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, needs: Mapping[str, Sequence[str]], jobs: int) -> None:
        """Run all tasks that are not done, `jobs` at a time; whatever ends this call ends them."""
        make_folder(self._sweep.out / LOGS)
        sorter = TopologicalSorter(needs)
        sorter.prepare()
        waiting: list[str] = []
        try:
            while sorter.is_active():
                waiting += sorter.get_ready()
                while waiting and len(self._processes) < jobs:
                    name = waiting.pop(0)
                    if any(need in self.failed for need in needs[name]):
                        self.failed.append(name)
                        sorter.done(name)
                    elif is_done(self._sweep, name):
                        self._say(f"{name}: done already")
                        sorter.done(name)
                    else:
                        self._begin(name)
                for name in self._ended():
                    sorter.done(name)
        finally:
            for process in self._processes.values():
                process.terminate()
                process.wait()

    def _begin(self, name: str) -> None:
        self._say(f"{name}: begins")
        log = self._log(name)
        with explained(log, "write"), log.open("wb") as printed:
            self._processes[name] = subprocess.Popen(
                [*self._command, "--task", name],
                stdout=printed,
                stderr=subprocess.STDOUT,
                env={**os.environ, **OFFLINE},
            )

    def _ended(self) -> list[str]:
        """The tasks that have ended, after a pause where none has."""
        ended = [name for name, process in self._processes.items() if process.poll() is not None]
        for name in ended:
            code = self._processes.pop(name).returncode
            if code:
                self.failed.append(name)
                text = self._log(name).read_text(encoding="utf-8", errors="replace")
                last = text.strip().rpartition("\n")[2] or f"exit code {code}"
                self._say(f"{name}: failed: {last}")
            else:
                self._say(f"{name}: done")
        if self._processes and not ended:
            time.sleep(_PAUSE)
        return ended

    def _log(self, name: str) -> Path:
        return self._sweep.out / LOGS / f"{name.replace(':', '+')}.log"


def is_done(sweep: CorefSweep, task: str) -> bool:
    """Whether a task has its result."""
    kind, _, name = task.partition(":")
    if task == DOCUMENTS:
        return all(path.is_file() for path in _document_files(sweep).values())
    if f"{kind}:" == TRAINING:
        return _model(sweep, name).is_file()
    if f"{kind}:" == EVALUATION:
        return (sweep.out / RUNS / name / METRICS).is_file()
    return False


def run_task(sweep: CorefSweep, task: str, say: Say) -> None:
    """Do one task; `say` is called with lines about what was written.

    Raises:
        MtbiasError: what writing documents, training, evaluating or comparing raise.
    """
    kind, _, name = task.partition(":")
    if task == DOCUMENTS:
        _write_documents(sweep, say)
    elif task == TABLE:
        _write_tables(sweep)
    elif f"{kind}:" == TRAINING:
        _train(sweep, name)
    else:
        system = StanzaCoref(_model(sweep, name), device=sweep.training.device)
        evaluate(
            system, _datasets(sweep), sweep.out / RUNS / name, _bootstrap(sweep), ProgressLine()
        )


def _model(sweep: CorefSweep, name: str) -> Path:
    return sweep.out / MODELS / name / "model.pt"


def _document_files(sweep: CorefSweep) -> dict[str, Path]:
    """The files of documents by the names of documents, and those with copies by these and the
    kind of copies.
    """
    folder = sweep.out / DOCUMENTS
    files = {name: folder / f"{name}.conll" for name in sweep.documents}
    for system in sweep.systems.values():
        files[_documents_of(system)] = folder / f"{_documents_of(system)}.conll"
    return files


def _documents_of(system: TrainedSystem) -> str:
    return system.documents if system.copies is None else f"{system.documents}+{system.copies}"


def _write_documents(sweep: CorefSweep, say: Say) -> None:
    files = _document_files(sweep)
    make_folder(sweep.out / DOCUMENTS)
    for name, sources in sweep.documents.items():
        write_atomic(files[name], _lines(sources))
    tagger = partial(
        find_proper_nouns, folder=stanza_folder(sweep.stanza_dir, cache_folder(sweep.cache_dir))
    )
    for system in sweep.systems.values():
        path = files[_documents_of(system)]
        if system.copies is not None and not path.exists():
            augmented = augment(
                files[system.documents],
                system.copies,
                path,
                names=sweep.names,
                swaps=sweep.swaps,
                proper_nouns=tagger,
            )
            counts = ", ".join(f"{count:,} {what}" for what, count in augmented.counts.items())
            say(f"{path.name}: {counts}")


def _lines(sources: Sequence[DocumentSource]) -> Iterator[str]:
    """The lines of CoNLL-2012 of several sources."""
    for source in sources:
        if source.dataset is None:
            yield from split_lines(read_conll(source.data).file.text)
        else:
            yield from exported(_texts(source), "conll", gold=True)


def _texts(source: DocumentSource) -> list[CorefText]:
    """The documents of a data set that have a cluster, as the source chooses them."""
    if source.dataset is None:
        raise ValueError("expected the source of a data set")
    dataset = open_dataset(source.dataset, source.data, part=source.part)
    if source.placed and isinstance(dataset, Bug):
        dataset = replace(dataset, rows=tuple(row for row in dataset.rows if not row.misplaced))
    texts: Sequence[CorefText] = dataset.texts
    if source.stereotype is not None:
        texts = texts_of(dataset, _SIDES[source.stereotype])
    with_clusters = [text for text in texts if text.gold]
    return spread(with_clusters, source.limit or len(with_clusters))


def _train(sweep: CorefSweep, name: str) -> None:
    system, files = sweep.systems[name], _document_files(sweep)
    settings = replace(sweep.training, epochs=system.epochs or sweep.training.epochs)
    documents = training_data(read_conll(files[_documents_of(system)]).documents)
    dev = training_data(read_conll(files[DEV]).documents)
    weights = None if system.weights is None else _model(sweep, system.weights)
    unfinished = sweep.out / MODELS / f".{name}.part"
    with explained(unfinished, "remove"):
        if unfinished.exists():
            shutil.rmtree(unfinished)
    train(documents, dev, settings, unfinished, weights)
    with explained(unfinished, "rename"):
        unfinished.replace(unfinished.with_name(name))


def _datasets(sweep: CorefSweep) -> list[CorefDataset]:
    """The data sets that the systems are scored on."""
    datasets = []
    for name, path in sweep.data.items():
        dataset = open_dataset(name, path, part=sweep.part if name == "winobias" else ())
        datasets.append(dataset if sweep.limit is None else limited(dataset, sweep.limit))
    return datasets


def _bootstrap(sweep: CorefSweep) -> BootstrapSettings:
    return BootstrapSettings(seed=sweep.seed, resamples=sweep.resamples)


def _write_tables(sweep: CorefSweep) -> None:
    """The tables of all systems, with the first minus each other, and the page."""
    datasets, settings = _datasets(sweep), _bootstrap(sweep)
    shown = [read_evaluation(sweep.out / RUNS / name, datasets, settings) for name in sweep.systems]
    differences = compare_evaluations(shown[0], shown[1:], settings)
    for name, form in FORMS.items():
        table = render_evaluation(shown, differences, form, compared=True)
        write_atomic(sweep.out / name, table.encode(), own=True)
    write_atomic(sweep.out / PAGE, render_coref_page(shown, differences).encode(), own=True)
