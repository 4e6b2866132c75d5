"""The file of a sweep of coreference: systems that differ in their training data, and the data
sets that they are scored on. It is a TOML file with a table ``[training]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from mtbias.cluster.sweep_file import absolute_path, check_name, model_path, name_of, read_as
from mtbias.coref.augmentation import Kind
from mtbias.coref.documents import DatasetName
from mtbias.coref.training import TrainingSettings
from mtbias.errors import SettingError, choices
from mtbias.settings import BootstrapSettings, Settings, StanzaSettings, at_least, drawn
from mtbias.types import JsonDict

DEV = "dev"
"""The documents by which the best epoch is chosen."""
TRAIN = "train"
"""The documents of a system that names no others."""


@dataclass(frozen=True, kw_only=True)
class DocumentSource(Settings):
    """Documents with their right clusters: of a CoNLL-2012 file, or of a data set."""

    data: Path
    """The file, or the data set's as `mtbias coref export` takes it."""
    dataset: DatasetName | None = None
    """None: the file is CoNLL-2012, and the other keys are not for it."""
    part: tuple[str, ...] = ()
    """Parts of WinoBias."""
    stereotype: Literal["pro", "anti"] | None = None
    """The documents of WinoBias or BUG whose gender fits the stereotype, or does not, alone."""
    placed: bool = False
    """Of BUG: without the rows whose indices are not at the profession and the pronoun, which the
    authors' converter leaves out too."""
    limit: int | None = at_least(1, None)
    """So many, evenly spread."""

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = bool(self.part or self.stereotype or self.limit or self.placed)
        if chosen and self.dataset is None:
            message = "expected it with part, stereotype, placed and limit, which are of a data set"
            raise SettingError("dataset", f"{message}; got none")
        if self.placed and self.dataset != "bug":
            raise SettingError("placed", f"expected it with bug, got {self.dataset}")


@dataclass(frozen=True, kw_only=True)
class TrainedSystem(Settings):
    """A system to train."""

    documents: str = TRAIN
    """Which of the sweep's documents."""
    copies: Kind | None = None
    """What becomes of names in gender-swapped copies that are added (`mtbias coref augment`); None:
    no copies."""
    weights: str | None = None
    """The system whose model is trained further."""
    epochs: int | None = at_least(1, None)
    """Of this system; None: those of the training."""


@dataclass(frozen=True, kw_only=True)
class CorefSweep(StanzaSettings, BootstrapSettings):
    """All that a sweep of coreference depends on. Paths are absolute."""

    name: str = ""
    """Default: the file's."""
    out: Path
    """Folder of documents, models and evaluations."""
    training: TrainingSettings
    documents: Mapping[str, tuple[DocumentSource, ...]]
    """``dev``, ``train`` and others, by names of one's own."""
    systems: Mapping[str, TrainedSystem]
    """By name; the others are compared with the first."""
    data: Mapping[DatasetName, Path]
    """The data sets to score on."""
    part: tuple[str, ...] = ()
    """The parts of WinoBias that are scored; none: all."""
    limit: int | None = at_least(1, None)
    """Documents of each data set, evenly spread; None: all."""
    names: Path | None = None
    """First names for the copies, as `mtbias coref augment` takes them."""
    swaps: Path | None = None
    """Gendered words for the copies, the same."""
    resamples: int = drawn(10_000)
    """Of intervals and tests; 0: none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.training.chosen_encoder()
        if not self.systems or not self.data:
            missing = "data" if self.systems else "systems"
            raise SettingError(missing, "expected one or more, got none")
        for key, named in (("systems", self.systems), ("documents", self.documents)):
            for name in named:
                check_name(key, name)
        known: list[str] = []
        for name, system in self.systems.items():
            if system.documents not in self.documents:
                there = choices(system.documents, self.documents)
                raise SettingError(
                    f"systems.{name}.documents", f"expected some of [documents], {there}"
                )
            if system.weights is not None and system.weights not in known:
                there = choices(system.weights, known)
                raise SettingError(
                    f"systems.{name}.weights", f"expected a system above it, {there}"
                )
            known.append(name)
        if DEV not in self.documents:
            raise SettingError("documents", f"expected {DEV} among them, got none")


def read_coref_sweep(path: Path, changes: Sequence[str] = ()) -> CorefSweep:
    """Read a sweep's file; `changes` as `mtbias.cluster.sweep_file.read_sweep` takes them.

    Raises:
        DataError: no such file, no TOML, an unknown key, a value of a wrong type; with file, line
            and key.
        UsageError: the same of a change.
    """
    sweep = read_as(CorefSweep, path, changes, _with_paths)
    return replace(sweep, name=sweep.name or name_of(path))


def _with_paths(content: JsonDict, base: Path) -> JsonDict:
    """The content with absolute paths; relative ones count from `base`."""
    absolute = dict(content)
    for key in absolute.keys() & {"out", "stanza_dir", "cache_dir", "names", "swaps"}:
        absolute[key] = _path(absolute[key], base)
    training = absolute.get("training")
    if isinstance(training, dict) and isinstance(training.get("encoder"), str):
        absolute["training"] = {**training, "encoder": model_path(training["encoder"], base)}
    if isinstance(absolute.get("data"), dict):
        absolute["data"] = {name: _path(path, base) for name, path in absolute["data"].items()}
    if isinstance(absolute.get("documents"), dict):
        absolute["documents"] = {
            name: _sources(sources, base) for name, sources in absolute["documents"].items()
        }
    return absolute


def _sources(sources: object, base: Path) -> object:
    if not isinstance(sources, list):
        return sources
    return [_source(source, base) for source in sources]


def _source(source: object, base: Path) -> object:
    if not isinstance(source, dict) or "data" not in source:
        return source
    return {**source, "data": _path(source["data"], base)}


def _path(value: object, base: Path) -> object:
    return str(absolute_path(value, base)) if isinstance(value, str) else value
