"""The data sets of coreference by name: where they are, what opens them, and which options each
has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from mtbias.coref.winobias import SetKey, WinoBias, WinoBiasDocument, read_winobias
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
    opened: Callable[..., CorefDataset]
    places: Mapping[str, Sequence[str]]
    """Where it is in a folder of data sets, the first of them that is there; and what `mtbias
    fetch` calls what lies there, and then what it is read with, where that is there too."""


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
"""What is made, and not read."""


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
    return _KNOWN[name].opened(
        data, **{option: value for option, value in options.items() if value}
    )


def limited(dataset: CorefDataset, most: int) -> CorefDataset:
    """About `most` documents of a data set, spread evenly over it, as a data set of their own.

    Documents that are compared stay together: quadruples of Counter-GAP, and the lines of WinoBias
    with both conditions in each of its parts. A signature names the limit. GAP's weights, which are
    of all its texts, are left out.

    Raises:
        UsageError: the data set cannot be divided.
    """
    made: CorefDataset
    match dataset:
        case Gap():
            instances = tuple(spread(dataset.file.instances, most))
            made = replace(dataset, file=replace(dataset.file, instances=instances), weights={})
        case CounterGap():
            chosen = tuple(spread(dataset.quadruples, max(1, most // len(ROLES))))
            instances = tuple(chain.from_iterable(one.instances for one in chosen))
            file = replace(dataset.file, instances=instances)
            made = replace(dataset, file=file, quadruples=chosen)
        case Bug():
            made = replace(dataset, rows=tuple(spread(dataset.rows, most)))
        case WinoBias():
            documents = dataset.documents.values()
            lines = sorted({one.line for one in documents})
            kept = set(spread(lines, max(1, most // len(dataset.sets))))
            sets: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
            for key, of in dataset.sets.items():
                sets[key] = tuple(one for one in of if one.line in kept)
            made = replace(dataset, sets=sets)
        case _:
            raise UsageError(
                f"limit: expected it for gap, counter-gap, bug and winobias, got {dataset.name}"
            )
    # Of some data sets this belongs to the class, and the class is frozen.
    object.__setattr__(made, "signed", {**dataset.signed, "limit": str(most)})
    return made


def spread(items: Sequence[T], count: int) -> list[T]:
    """`count` of `items`, evenly spread; all where there are no more."""
    total = len(items)
    return [items[n * total // count] for n in range(count)] if count < total else list(items)


def texts_of(dataset: CorefDataset, stereotype: Stereotype) -> list[CorefText]:
    """The documents whose gender fits the stereotype, or does not.

    Raises:
        UsageError: the data set does not say so of its documents.
    """
    match dataset:
        case WinoBias():
            ids: set[str] = set()
            for (_, _, side), of in dataset.sets.items():
                if side is stereotype:
                    ids.update(one.id for one in of)
        case Bug():
            ids = {row.id for row in dataset.rows if row.stereotype is stereotype}
        case _:
            raise UsageError(f"stereotype: expected it for winobias and bug, got {dataset.name}")
    return [text for text in dataset.texts if text.id in ids]


def file_notes(dataset: CorefDataset) -> list[str]:
    """What is to be said of the files of a data set: which have a published name, and other
    bytes.
    """
    names = [name for place in _KNOWN[dataset.name].places.values() for name in place]
    return [UNPUBLISHED.format(file) for file in unpublished_files(names, dataset.files)]


def refuse_others(name: DatasetName, options: Mapping[str, object]) -> None:
    """`UsageError` for an option with a value that the data set does not have."""
    for option, value in options.items():
        if value and option not in _KNOWN[name].kind.options:
            having = " and ".join(
                other for other, of in _KNOWN.items() if option in of.kind.options
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
    """Where each data set is of `names` (empty: all that are there), in the order of `DATASETS`.

    Args:
        named: paths by name, as `open_dataset` takes them.
        folders: folders of data sets; after them comes ``datasets`` of mtbias's cache.
        names: of data sets.
        cache: mtbias's cache; None: as `cache_folder` has it.

    SoWinoBias needs no data: its place is None where it is named and no vocabulary is given. Unless
    it is, it is left out, since the paper's lists make 16,384 sentences. What is found in the cache
    is checked, as `cached_file` does.

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
        places = {
            folder / place: of
            for folder in (*folders, cached)
            for place, of in _KNOWN[dataset].places.items()
        }
        there, missing = named.get(dataset), None
        for place in [place for place in places if place.exists()] if there is None else ():
            try:
                for fetched in places[place] if place.is_relative_to(cached) else ():
                    if (cached / fetched_source(fetched).name).is_dir():
                        cached_file(fetched, cache)
            except (
                MissingResourceError
            ) as error:  # it was never fetched whole: the next place may be
                missing = missing or error
                continue
            there = place
            break
        if there is None and dataset in names and dataset != WITHOUT_DATA:
            looked = f"nothing at {' or '.join(map(str, places))}" if places else "no file"
            raise missing or DataError(
                f"{dataset}: {looked}; give its place with --data{_fetched(dataset)}"
            )
        if there is not None or dataset in names:
            located[dataset] = there
    if not located:
        raise DataError(
            f"no data set: neither given nor in {', '.join(map(str, (*folders, cached)))}; give --data NAME=PATH, or a "
            f"folder with {', '.join(place for one in _KNOWN.values() for place in one.places)}; or run mtbias fetch"
        )
    return located


def _fetched(dataset: DatasetName) -> str:
    """The end of a message: how to get a data set."""
    name = next((of[0] for of in _KNOWN[dataset].places.values() if of), None)
    return f", or run: mtbias fetch --dataset {name}" if name else ""
