"""The tasks of a sweep of coreference: documents, training, evaluation, and one table of all
systems.

Below the sweep's folder are ``documents`` (CoNLL-2012), ``models/SYSTEM`` (`mtbias coref train`),
``runs/SYSTEM`` (`mtbias coref eval`), ``logs``, the tables and the page.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mtbias.cluster.coref_sweep_file import DEV, CorefSweep, DocumentSource, TrainedSystem
from mtbias.coref.augmentation import augment
from mtbias.coref.bug_links import Bug
from mtbias.coref.coref_datasets import limited, open_dataset, spread, texts_of
from mtbias.coref.counterfactual_quadruples import find_proper_nouns
from mtbias.coref.dataset import CorefDataset
from mtbias.coref.documents import CorefText, exported, read_conll
from mtbias.coref.evaluation import METRICS, compare_evaluations, evaluate, read_evaluation
from mtbias.coref.systems import StanzaCoref
from mtbias.coref.training import train
from mtbias.coref.training_documents import training_data
from mtbias.corpora.catalog import cache_folder
from mtbias.files.reading import split_lines
from mtbias.files.writing import explained, make_folder, write_atomic
from mtbias.machine.stage_progress import ProgressLine
from mtbias.morphology.stanza_models import stanza_folder
from mtbias.report.coref_page import render_coref_page
from mtbias.report.coref_tables import render_evaluation
from mtbias.settings import BootstrapSettings
from mtbias.types import Stereotype, frozen

DOCUMENTS, TABLE = "documents", "table"
TRAINING, EVALUATION = "train:", "eval:"
"""How the names of tasks begin, before that of a system."""
MODELS, RUNS, LOGS = "models", "runs", "logs"
FORMS = {"table.txt": "text", "table.md": "markdown", "table.tex": "latex", "table.csv": "csv"}
PAGE = "report.html"
_SIDES = {"pro": Stereotype.PRO, "anti": Stereotype.ANTI}

Say = Callable[[str], object]


@frozen
class CorefTask:
    """The work of one process."""

    id: str
    needs: tuple[str, ...]
    """The tasks whose results it uses."""


def tasks_of(sweep: CorefSweep) -> tuple[CorefTask, ...]:
    """The tasks in an order in which they can run."""
    training, evaluation = [], []
    for name, system in sweep.systems.items():
        first = () if system.weights is None else (f"{TRAINING}{system.weights}",)
        training.append(CorefTask(f"{TRAINING}{name}", (DOCUMENTS, *first)))
        evaluation.append(CorefTask(f"{EVALUATION}{name}", (f"{TRAINING}{name}",)))
    table = CorefTask(TABLE, tuple(task.id for task in evaluation))
    return (CorefTask(DOCUMENTS, ()), *training, *evaluation, table)


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
            system, datasets_of(sweep), sweep.out / RUNS / name, _bootstrap(sweep), ProgressLine()
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


def datasets_of(sweep: CorefSweep) -> list[CorefDataset]:
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
    datasets, settings = datasets_of(sweep), _bootstrap(sweep)
    shown = [read_evaluation(sweep.out / RUNS / name, datasets, settings) for name in sweep.systems]
    differences = compare_evaluations(shown[0], shown[1:], settings)
    for name, form in FORMS.items():
        table = render_evaluation(shown, differences, form, compared=True)
        write_atomic(sweep.out / name, table.encode(), own=True)
    write_atomic(sweep.out / PAGE, render_coref_page(shown, differences).encode(), own=True)
