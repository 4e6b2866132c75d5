"""The data sets of coreference by name: where they are, what opens them, and which options each
has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from mtbias.coref.bug_links import Bug, read_bug
from mtbias.coref.conll_scorer import Conll, read_conll_gold
from mtbias.coref.counter_gap import ROLES, CounterGap, open_counter_gap
from mtbias.coref.dataset import CorefDataset
from mtbias.coref.documents import DATASETS, CorefText, DatasetName
from mtbias.coref.gap import Gap, open_gap
from mtbias.coref.sowinobias import SoWinoBias, open_sowinobias
from mtbias.coref.winobias import WinoBias, read_winobias
from mtbias.coref.winobias_data import SetKey, WinoBiasDocument
from mtbias.coref.winogender import Winogender, read_winogender
from mtbias.corpora.catalog import (
    UNPUBLISHED,
    cache_folder,
    cached_file,
    fetched_source,
    unpublished_files,
)
from mtbias.errors import DataError, MissingResourceError, UsageError, choices
from mtbias.types import Stereotype

T = TypeVar("T")


class _Known(NamedTuple):
    kind: type[CorefDataset]
    read: Callable[..., CorefDataset]
    places: Mapping[str, Sequence[str]]
    """Its places in a folder of data sets, the first that exists counting; for each the names by
    which `mtbias fetch` gets it, and then the files that go with it."""


_KNOWN: Mapping[str, _Known] = {
    "winobias": _Known(WinoBias, read_winobias, {"winobias": ["winobias"]}),
    "winogender": _Known(Winogender, read_winogender, {"winogender": ["winogender"]}),
    "gap": _Known(Gap, open_gap, {"gap": ["gap", "gap-spans", "gap-weights"]}),
    "counter-gap": _Known(CounterGap, open_counter_gap, {"counter-gap/C-GAP.tsv": ["counter-gap"]}),
    "bug": _Known(
        Bug,
        read_bug,
        {"bug/gold_BUG.csv": ["bug-gold"], "bug-gold-paper/gold_BUG.csv": ["bug-gold-paper"]},
    ),
    "sowinobias": _Known(SoWinoBias, open_sowinobias, {"sowinobias.toml": []}),
    "conll": _Known(Conll, read_conll_gold, {}),
}
WITHOUT_DATA = "sowinobias"
"""The data set that is generated, and needs no data."""


def open_dataset(name: DatasetName, data: Path | None, **options: object) -> CorefDataset:
    """One of `DATASETS`.

    Args:
        name: which.
        data: its file or folder, None for what `mtbias fetch` got; of SoWinoBias the vocabulary,
            None for the paper's.
        options: of GAP: ``name_spans``, the file of the names of each text, and ``weights``, files
            of weights; of WinoBias ``part``, some of `PARTS_OF_DATA`; of Counter-GAP
            ``titles_without_stop``.

    Raises:
        DataError: what the data set's reader raises; no data.
        UsageError: an option that the data set does not have.
    """
    refuse_others(name, options)
    data = located({}, [], [name])[name] if data is None else data
    if data is not None and not data.exists():
        raise DataError(f"there is no such file or folder; give another{_fetched(name)}", path=data)
    return _KNOWN[name].read(data, **{option: value for option, value in options.items() if value})


def limited(dataset: CorefDataset, most: int) -> CorefDataset:
    """About `most` documents of a data set, spread evenly over it, as a data set of their own.

    Documents that are compared stay together: quadruples of Counter-GAP, and the lines of WinoBias
    with both conditions in each of its parts. A signature names the limit. GAP's weights, which are
    of all its texts, are left out.

    Raises:
        UsageError: the data set cannot be divided.
    """
    signed = {**dataset.signed, "limit": str(most)}
    match dataset:
        case Gap():
            instances = tuple(spread(dataset.file.instances, most))
            file = replace(dataset.file, instances=instances)
            return replace(dataset, file=file, weights={}, signed=signed)
        case CounterGap():
            chosen = tuple(spread(dataset.quadruples, max(1, most // len(ROLES))))
            instances = tuple(chain.from_iterable(one.instances for one in chosen))
            file = replace(dataset.file, instances=instances)
            return replace(dataset, file=file, quadruples=chosen, signed=signed)
        case Bug():
            rows = tuple(spread(dataset.rows, most))
            return replace(dataset, rows=rows, signed=signed)
        case WinoBias():
            documents = dataset.documents.values()
            lines = sorted({one.line for one in documents})
            chosen_lines = set(spread(lines, max(1, most // len(dataset.sets))))
            sets: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
            for key, of_set in dataset.sets.items():
                sets[key] = tuple(one for one in of_set if one.line in chosen_lines)
            return replace(dataset, sets=sets, signed=signed)
        case _:
            raise UsageError(
                f"limit: expected it for gap, counter-gap, bug and winobias, got {dataset.name}"
            )


def spread(items: Sequence[T], count: int) -> list[T]:
    """`count` of `items`, evenly spread; all of them if there are no more."""
    total = len(items)
    return [items[n * total // count] for n in range(count)] if count < total else list(items)


def texts_of(dataset: CorefDataset, stereotype: Stereotype) -> list[CorefText]:
    """The documents whose gender fits the stereotype, or does not.

    Raises:
        UsageError: the data set has no stereotypes for its documents.
    """
    match dataset:
        case WinoBias():
            ids: set[str] = set()
            for (_, _, condition), documents in dataset.sets.items():
                if condition is stereotype:
                    ids.update(document.id for document in documents)
        case Bug():
            ids = {row.id for row in dataset.rows if row.stereotype is stereotype}
        case _:
            raise UsageError(f"stereotype: expected it for winobias and bug, got {dataset.name}")
    return [text for text in dataset.texts if text.id in ids]


def file_notes(dataset: CorefDataset) -> list[str]:
    """A note for each file of a data set whose name is published but whose bytes differ."""
    names = list(chain.from_iterable(_KNOWN[dataset.name].places.values()))
    return [UNPUBLISHED.format(file) for file in unpublished_files(names, dataset.files)]


def refuse_others(name: DatasetName, options: Mapping[str, object]) -> None:
    """`UsageError` for an option with a value that the data set does not have."""
    for option, value in options.items():
        if value and option not in _KNOWN[name].kind.options:
            having = " and ".join(
                other for other, known in _KNOWN.items() if option in known.kind.options
            )
            raise UsageError(f"--{option.replace('_', '-')} goes with {having}, not with {name}")


def places_of(data: Sequence[str]) -> tuple[dict[str, Path], list[Path]]:
    """Paths by the names of data sets, and folders of data sets, of ``NAME=PATH`` and paths.

    Raises:
        UsageError: neither; a name twice.
    """
    named: dict[str, Path] = {}
    folders: list[Path] = []
    for text in data:
        name, equals, path = text.partition("=")
        if equals and path and name in DATASETS:
            if name in named:
                raise UsageError(f"--data: expected {name} once, got {named[name]} and {path}")
            named[name] = Path(path)
        elif Path(text).is_dir():
            folders.append(Path(text))
        else:
            known = "" if name in DATASETS else f"; {choices(name, DATASETS)}"
            raise UsageError(f"--data: expected NAME=PATH, or a folder, got {text}{known}")
    return named, folders


def located(
    named: Mapping[str, Path],
    folders: Sequence[Path],
    names: Sequence[str] = (),
    cache: Path | None = None,
) -> dict[DatasetName, Path | None]:
    """The place of each data set of `names` (empty: all that exist), in the order of `DATASETS`.

    Args:
        named: paths by name, as `open_dataset` takes them.
        folders: folders of data sets; after them comes ``datasets`` of mtbias's cache.
        names: of data sets.
        cache: mtbias's cache; None: as `cache_folder` has it.

    SoWinoBias needs no data: if it is named without a vocabulary, its place is None. If it is not
    named, it is left out, since the paper's lists make 16,384 sentences. Files of the cache are
    checked as by `cached_file`.

    Raises:
        DataError: a data set of `names` is nowhere; there is none at all; a file of the cache is
            damaged.
        MissingResourceError: a file of it is missing in the cache.
        UsageError: a name that no data set has.
    """
    for name in (*named, *names):
        if name not in DATASETS:
            raise UsageError(f"no coreference data set {name!r}; {choices(name, DATASETS)}")
    cached = cache_folder(cache) / "datasets"
    located: dict[DatasetName, Path | None] = {}
    for dataset in DATASETS:
        if names and dataset not in names:
            continue
        path, missing = named.get(dataset), None
        places = _places(dataset, (*folders, cached))
        if path is None:
            path, missing = _first_whole(places, cached, cache)

        if path is None and dataset in names and dataset != WITHOUT_DATA:
            looked = f"nothing at {' or '.join(map(str, places))}" if places else "no file"
            raise missing or DataError(
                f"{dataset}: {looked}; give its place with --data{_fetched(dataset)}"
            )
        if path is not None or dataset in names:
            located[dataset] = path

    if not located:
        known = ", ".join(chain.from_iterable(dataset.places for dataset in _KNOWN.values()))
        raise DataError(
            f"no data set: neither given nor in {', '.join(map(str, (*folders, cached)))}; give "
            f"--data NAME=PATH, or a folder with {known}; or run mtbias fetch"
        )
    return located


def _places(dataset: DatasetName, folders: Iterable[Path]) -> dict[Path, Sequence[str]]:
    """Where a data set may be in `folders`, and the files that `mtbias fetch` gets for each."""
    places: dict[Path, Sequence[str]] = {}
    for folder in folders:
        for place, files in _KNOWN[dataset].places.items():
            places[folder / place] = files
    return places


def _first_whole(
    places: Mapping[Path, Sequence[str]], cached: Path, cache: Path | None
) -> tuple[Path | None, MissingResourceError | None]:
    """The first of `places` that exists, and in the cache has all of its files.

    Without one, the error of the first place in the cache that lacks a file.
    """
    missing: MissingResourceError | None = None
    for place, files in places.items():
        if not place.exists():
            continue
        try:
            for file in files if place.is_relative_to(cached) else ():
                if (cached / fetched_source(file).name).is_dir():
                    cached_file(file, cache)
        except MissingResourceError as error:  # never fetched whole: try the next place
            missing = missing or error
            continue
        return place, None
    return None, missing


def _fetched(dataset: DatasetName) -> str:
    """The end of a message: how to get a data set."""
    name = next((files[0] for files in _KNOWN[dataset].places.values() if files), None)
    return f", or run: mtbias fetch --dataset {name}" if name else ""
