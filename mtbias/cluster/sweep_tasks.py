"""The plan of a sweep: cells, each with a run folder, and the tasks that fill them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from mtbias.cluster.sweep_file import Resources, Sweep
from mtbias.corpora import cache_folder, datasets, load_corpus
from mtbias.corpora.corpus_kinds import check_dataset, needs_language
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.language.installed import get_language
from mtbias.language.source import refuse_same
from mtbias.report.tables import columns
from mtbias.settings import LANG
from mtbias.stats.results import UNDEFINED
from mtbias.translate.outputs import Shard
from mtbias.translate.seq2seq.checkpoints import check_language
from mtbias.translate.system import SystemKind
from mtbias.translate.system_kinds import find_kind, is_other_program
from mtbias.types import frozen

TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One run: a model with a preset, or a system with a file of translations; a language; a data
    set.
    """

    dataset: str
    model: str
    preset: str
    lang: str
    system: str
    """The model's name in paths and tables, with the preset where it is not ``paper``."""
    folder: Path
    sentences: int | None
    """Sentences of the corpus; None where it is neither here nor in the catalog."""
    shards: int
    """Shards of its translation; 0 where the translations are in a file."""
    translations: Path | None = None
    """The file of translations, for a system that has one."""

    @property
    def id(self) -> str:
        """``dataset/system/lang``, the folder below the sweep's."""
        return f"{self.dataset}/{self.system}/{self.lang}"


@frozen
class Task:
    """The work of one process. `id` is ``translate:CELL:K/N``, ``score:LANG`` or ``table``."""

    kind: str
    cells: tuple[Cell, ...]
    shard: Shard | None = None

    @property
    def id(self) -> str:
        """The name by which ``mtbias sweep FILE --task ID`` runs it."""
        if self.kind == "translate":
            return f"translate:{self.cells[0].id}:{self.shard}"
        return TABLE if self.kind == TABLE else f"score:{self.cells[0].lang}"

    @property
    def needs_network(self) -> bool:
        """Whether its system is on another machine, such as an endpoint."""
        kind = self._system_kind
        return kind is not None and kind.needs_network

    @property
    def computes_here(self) -> bool:
        """Whether it translates with a model in this process, for which a GPU is useful."""
        kind = self._system_kind
        return kind is not None and not (kind.needs_network or kind.is_other_program)

    @property
    def _system_kind(self) -> SystemKind | None:
        """The kind of system that translates; None for other tasks."""
        return find_kind(self.cells[0].model)[0] if self.kind == "translate" else None

    @property
    def file_name(self) -> str:
        """The id as part of a file name; ids have no "+"."""
        return self.id.replace("/", "+").replace(":", "+")


@dataclass(frozen=True)
class SweepPlan:
    """The cells of a sweep, by data set, model, preset and language, and its tasks in an order in
    which they can run.
    """

    sweep: Sweep
    cells: tuple[Cell, ...]
    tasks: tuple[Task, ...]

    def task(self, name: str) -> Task:
        """The task of that id.

        Raises:
            UsageError: there is none.
        """
        for task in self.tasks:
            if task.id == name:
                return task
        examples = {task.kind: task.id for task in reversed(self.tasks) if task.kind != TABLE}
        raise UsageError(
            f"--task: this sweep has no task {name!r}; "
            f"its tasks are such as {', '.join(reversed(examples.values()))} and {TABLE}; "
            "`mtbias sweep FILE --tasks` lists them"
        )

    def resources(self, task: Task) -> Resources:
        """The resources that Slurm is asked for."""
        return self.sweep.slurm if task.computes_here else self.sweep.slurm.score

    def needs(self, task: Task) -> tuple[Task, ...]:
        """The tasks that must have ended before `task` begins."""
        kind = {TABLE: "score", "score": "translate"}.get(task.kind)
        langs = {cell.lang for cell in task.cells}
        return tuple(
            other for other in self.tasks if other.kind == kind and other.cells[0].lang in langs
        )


def make_plan(sweep: Sweep, count: Callable[[Sweep, str], int | None] | None = None) -> SweepPlan:
    """The plan of a sweep; `count` gives the sentences of a data set (default: `count_sentences`).

    Scoring is one task a language, over all its cells: so each distinct translation is analysed
    once, by the one process that writes the language's cache.

    Raises:
        DataError: two models would share a folder.
        UsageError: an unknown data set, language or name of a model.
    """
    systems = _systems(sweep)
    check_names(sweep)
    cells: list[Cell] = []
    for dataset in sweep.datasets:
        sentences = (count or count_sentences)(sweep, dataset)
        cells += _cells(sweep, dataset, systems, sentences)

    translate: list[Task] = []
    score: list[Task] = []
    for lang in sweep.languages:
        cells_of_language = tuple(cell for cell in cells if cell.lang == lang)
        for cell in cells_of_language:
            shards = (Shard(number, cell.shards) for number in range(1, cell.shards + 1))
            translate += [Task("translate", (cell,), shard) for shard in shards]
        score.append(Task("score", cells_of_language))
    table = Task(TABLE, tuple(cells))
    return SweepPlan(sweep, tuple(cells), (*translate, *score, table))


def _cells(
    sweep: Sweep, dataset: str, systems: Mapping[tuple[str, str], str], sentences: int | None
) -> Iterator[Cell]:
    """The cells of a data set: its models, then its systems with files, each in all languages."""
    shards = sweep.shards or max(1, -(-(sentences or 0) // sweep.sentences_per_shard))
    for ((model, preset), system), lang in product(systems.items(), sweep.languages):
        yield Cell(
            dataset=dataset,
            model=model,
            preset=preset,
            lang=lang,
            system=system,
            folder=sweep.out / dataset / system / lang,
            sentences=sentences,
            shards=shards,
        )
    for (system, file), lang in product(sweep.systems.items(), sweep.languages):
        yield Cell(
            dataset=dataset,
            model=system,
            preset="",
            lang=lang,
            system=system,
            folder=sweep.out / dataset / system / lang,
            sentences=sentences,
            shards=0,
            translations=Path(str(file).replace(LANG, lang)),
        )


def check_names(sweep: Sweep) -> None:
    """Refuse names that no task could use, before anything is planned; what is on this machine is
    not checked.

    Raises:
        UsageError: a data set or language is unknown, a language is that of the sources, or no
            model can have a name.
        PluginError: a language's plugin fails to load.
    """
    for model in sweep.models:
        find_kind(model)
    for dataset in sweep.datasets:
        check_dataset(dataset)
    refuse_same(sweep.source_lang, sweep.languages)
    if any(map(needs_language, sweep.datasets)):
        for lang in sweep.languages:
            get_language(lang)
    for model, lang in product(sweep.models, sweep.languages):
        check_language(model, lang, sweep.source_lang)


def count_sentences(sweep: Sweep, dataset: str) -> int | None:
    """The sentences of a data set, counted where it is here, else by the catalog; None where it is
    in neither.

    Raises:
        UsageError: the data set is unknown.
        DataError: its file is damaged.
    """
    try:
        # A data set with sentences of its own for each language has as many in each.
        first, cache = sweep.languages[0], cache_folder(sweep.cache_dir)
        path = sweep.data.get(dataset)
        corpus = load_corpus(dataset, path, cache=cache, lang=first, source_lang=sweep.source_lang)
        return len(corpus.spread(sweep.limit).instances)
    except MissingResourceError:
        known = datasets().get(dataset)
        return None if known is None else min(known.rows, sweep.limit or known.rows)


def _systems(sweep: Sweep) -> dict[tuple[str, str], str]:
    """Names of models with their presets, unique and safe as a folder's name."""
    systems: dict[tuple[str, str], str] = {}
    for model in sweep.models:
        name = Path(model).name if Path(model).is_absolute() else model.replace("/", "--")
        knows_presets = not is_other_program(model)
        for preset in sweep.presets if knows_presets else sweep.presets[:1]:
            names_preset = knows_presets and preset != "paper"
            system = f"{_safe(name)}-{_safe(preset)}" if names_preset else _safe(name)
            if system in systems.values():
                other = next(key[0] for key, value in systems.items() if value == system)
                raise DataError(
                    f"models: {other} and {model} would share the folder {system!r}; "
                    "rename the folder of one"
                )
            systems[model, preset] = system
    if both := sweep.systems.keys() & set(systems.values()):
        raise DataError(
            f"systems: {min(both)} would share the folder of a model; give it another name"
        )
    return systems


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII).lstrip(".") or "model"


def plan_text(plan: SweepPlan) -> str:
    """One line per cell: its sentences and shards; and the totals."""
    counts = [cell.sentences for cell in plan.cells]
    total = None if None in counts else sum(count or 0 for count in counts)
    rows = [(cell.id, cell.sentences, cell.shards) for cell in plan.cells]
    rows.append((f"{len(plan.cells)} cells", total, sum(cell.shards for cell in plan.cells)))
    texts = [
        [name, UNDEFINED if count is None else f"{count:,}", str(shards)]
        for name, count, shards in rows
    ]
    return f"{columns(['', 'sentences', 'shards'], texts)}\n{len(plan.tasks)} tasks\n"
