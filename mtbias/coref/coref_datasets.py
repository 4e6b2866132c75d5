"""The data sets of coreference: where they are, and what a system and its scorer need of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mtbias.coref import counter_gap, dataset_scores, sowinobias
from mtbias.coref.bug_links import read_bug
from mtbias.coref.coref_text import CorefText
from mtbias.coref.dataset_scores import DatasetScores
from mtbias.coref.dataset_texts import (
    bug_texts,
    gap_texts,
    sowinobias_texts,
    winobias_texts,
    winogender_texts,
)
from mtbias.coref.gap_instances import read_instances
from mtbias.coref.gap_spans import files_in
from mtbias.coref.names import DATASETS
from mtbias.coref.winobias_data import read_winobias
from mtbias.coref.winogender import read_winogender
from mtbias.corpora.catalog import cache_folder
from mtbias.errors import DataError, UsageError
from mtbias.settings import BootstrapSettings

PLACES: Mapping[str, Sequence[str]] = {
    "winobias": ("winobias",),
    "winogender": ("winogender",),
    "gap": ("gap",),
    "counter-gap": ("counter-gap/C-GAP.tsv",),
    "bug": ("bug/gold_BUG.csv", "bug-gold-paper/gold_BUG.csv"),
    "sowinobias": ("sowinobias.toml",),
}
"""Where each data set is in a folder of data sets: the first of them that is there."""


@dataclass(frozen=True, slots=True)
class CorefDataset:
    """A data set as a system and its scorer need it."""

    name: str
    texts: Sequence[CorefText]
    files: Mapping[str, str]
    """SHA-256 by name of what it was read from."""
    score: Callable[[Path, BootstrapSettings], DatasetScores]
    """The scores of a file that `mtbias.coref.running.run_system` wrote."""


def located(
    given: Mapping[str, Path], folders: Sequence[Path], wanted: Sequence[str] = (), cache: Path | None = None
) -> dict[str, Path | None]:
    """Where each data set is that is `wanted` (empty: all that are found), in the order of `DATASETS`.

    Args:
        given: paths by name; what the data set's command takes as --data.
        folders: folders of data sets, by `PLACES`; after them comes ``datasets`` of mtbias's cache.
        wanted: names.
        cache: mtbias's cache; None: as `cache_folder` has it.

    SoWinoBias needs no data: its place is None where it is wanted and no vocabulary is given. Unless it is, it is left
    out, since the example list makes 16,384 sentences.

    Raises:
        DataError: a data set that is wanted is nowhere; there is none at all.
        UsageError: a name that no data set has.
    """
    for name in (*given, *wanted):
        if name not in DATASETS:
            raise UsageError(f"no coreference data set {name!r}; there are {', '.join(DATASETS)}")
    folders = [*folders, cache_folder(cache) / "datasets"]
    found: dict[str, Path | None] = {}
    for name in DATASETS:
        if wanted and name not in wanted:
            continue
        places = [folder / place for folder in folders for place in PLACES[name]]
        there = given.get(name) or next((place for place in places if place.exists()), None)
        if there is None and name in wanted and name != "sowinobias":
            looked = ", ".join(map(str, places))
            raise DataError(f"{name}: expected its data at one of {looked}; --data {name}=PATH says where it is")
        if there is not None or name in wanted:
            found[name] = there
    if not found:
        raise DataError(
            f"no data set: neither given nor in {', '.join(map(str, folders))}; give --data NAME=PATH, or a folder "
            f"with {', '.join(place for places in PLACES.values() for place in places)}"
        )
    return found


def open_dataset(name: str, data: Path | None) -> CorefDataset:
    """One of `DATASETS` at `data`, what its command takes as --data.

    Of SoWinoBias `data` is the vocabulary (None: the example list), and all sentences that it makes are taken.

    Raises:
        DataError: what the data set's reader raises.
    """
    if name == "sowinobias":
        return _sowinobias(data)
    if data is None:
        raise DataError(f"{name}: expected where its data is, got nothing")
    return _OPENED[name](data)


def _winobias(path: Path) -> CorefDataset:
    data = read_winobias(path)
    texts = winobias_texts(data)
    return CorefDataset("winobias", texts, data.files, partial(dataset_scores.score_winobias, data, texts))


def _winogender(path: Path) -> CorefDataset:
    data = read_winogender(path)
    score = partial(dataset_scores.score_winogender, data)
    return CorefDataset("winogender", winogender_texts(data), data.files, score)


def _gap(path: Path) -> CorefDataset:
    data = read_instances(files_in(path, None)[0])
    score = partial(dataset_scores.score_gap, data)
    return CorefDataset("gap", gap_texts(data), {data.path.name: data.sha256}, score)


def _counter_gap(path: Path) -> CorefDataset:
    data = read_instances(path)
    score = partial(dataset_scores.score_counter_gap, data, counter_gap.quadruples(data))
    return CorefDataset("counter-gap", gap_texts(data), {data.path.name: data.sha256}, score)


def _bug(path: Path) -> CorefDataset:
    data = read_bug(path)
    texts = bug_texts(data)
    score = partial(dataset_scores.score_bug, data, texts)
    return CorefDataset("bug", texts, {data.path.name: data.sha256}, score)


def _sowinobias(path: Path | None) -> CorefDataset:
    vocabulary = sowinobias.read_vocabulary(path or sowinobias.EXAMPLE_VOCABULARY)
    sentences = sowinobias.generate(vocabulary)
    texts, files = sowinobias_texts(sentences), {"vocabulary": vocabulary.sha256}
    words = "example" if path is None else "given"
    return CorefDataset(
        "sowinobias", texts, files, partial(dataset_scores.score_sowinobias, sentences, texts, files, words)
    )


_OPENED: Mapping[str, Callable[[Path], CorefDataset]] = {
    "winobias": _winobias,
    "winogender": _winogender,
    "gap": _gap,
    "counter-gap": _counter_gap,
    "bug": _bug,
}
