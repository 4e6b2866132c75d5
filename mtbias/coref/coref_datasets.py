"""The data sets of coreference by name: where they are, what opens them, and which options each has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mtbias.coref.bug_links import Bug, read_bug
from mtbias.coref.counter_gap import CounterGap, open_counter_gap
from mtbias.coref.dataset import CorefDataset
from mtbias.coref.documents import DATASETS, DOWNLOADS, DatasetName
from mtbias.coref.gap import Gap, open_gap
from mtbias.coref.sowinobias import SoWinoBias, open_sowinobias
from mtbias.coref.winobias import WinoBias, read_winobias
from mtbias.coref.winogender import Winogender, read_winogender
from mtbias.corpora.catalog import cache_folder
from mtbias.errors import DataError, UsageError, choices


class _Known(NamedTuple):
    kind: type[CorefDataset]
    opened: Callable[..., CorefDataset]
    places: Sequence[str]
    """Where it is in a folder of data sets: the first of them that is there."""


_KNOWN: Mapping[str, _Known] = {
    "winobias": _Known(WinoBias, read_winobias, ["winobias"]),
    "winogender": _Known(Winogender, read_winogender, ["winogender"]),
    "gap": _Known(Gap, open_gap, ["gap"]),
    "counter-gap": _Known(CounterGap, open_counter_gap, ["counter-gap/C-GAP.tsv"]),
    "bug": _Known(Bug, read_bug, ["bug/gold_BUG.csv", "bug-gold-paper/gold_BUG.csv"]),
    "sowinobias": _Known(SoWinoBias, open_sowinobias, ["sowinobias.toml"]),
}


def open_dataset(name: DatasetName, data: Path | None, **options: object) -> CorefDataset:
    """One of `DATASETS`.

    Args:
        name: which.
        data: its file or folder; of SoWinoBias, which is made and not read, the vocabulary (None: the example list).
        options: of GAP: ``name_spans``, the file of the names of each text, and ``weights``, files of weights.

    Raises:
        DataError: what the data set's reader raises.
        UsageError: no data where there must be some; an option that the data set does not have.
    """
    refuse_others(name, options)
    if data is None and name in DOWNLOADS:
        raise UsageError(f"--data: expected where the data of {name} are, got nothing; download {DOWNLOADS[name]}")
    if data is not None and name in DOWNLOADS and not data.exists():
        raise DataError(f"there is no such file or folder; for {name} download {DOWNLOADS[name]}", path=data)
    return _KNOWN[name].opened(data, **{option: value for option, value in options.items() if value})


def refuse_others(name: DatasetName, options: Mapping[str, object]) -> None:
    """`UsageError` for an option with a value that the data set does not have."""
    for option, value in options.items():
        if value and option not in _KNOWN[name].kind.options:
            having = " and ".join(other for other, of in _KNOWN.items() if option in of.kind.options)
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
    named: Mapping[str, Path], folders: Sequence[Path], names: Sequence[str] = (), cache: Path | None = None
) -> dict[DatasetName, Path | None]:
    """Where each data set is of `names` (empty: all that are there), in the order of `DATASETS`.

    Args:
        named: paths by name, as `open_dataset` takes them.
        folders: folders of data sets; after them comes ``datasets`` of mtbias's cache.
        names: of data sets.
        cache: mtbias's cache; None: as `cache_folder` has it.

    SoWinoBias needs no data: its place is None where it is named and no vocabulary is given. Unless it is, it is left
    out, since the example list makes 16,384 sentences.

    Raises:
        DataError: a data set of `names` is nowhere; there is none at all.
        UsageError: a name that no data set has.
    """
    for name in (*named, *names):
        if name not in DATASETS:
            raise UsageError(f"no coreference data set {name!r}; {choices(name, DATASETS)}")
    folders = [*folders, cache_folder(cache) / "datasets"]
    located: dict[DatasetName, Path | None] = {}
    for dataset in DATASETS:
        if names and dataset not in names:
            continue
        places = [folder / place for folder in folders for place in _KNOWN[dataset].places]
        there = named.get(dataset) or next((place for place in places if place.exists()), None)
        if there is None and dataset in names and dataset != "sowinobias":
            looked = " or ".join(map(str, places))
            raise DataError(
                f"{dataset}: nothing at {looked}; download {DOWNLOADS[dataset]}, and say with --data {dataset}=PATH "
                "where it is"
            )
        if there is not None or dataset in names:
            located[dataset] = there
    if not located:
        raise DataError(
            f"no data set: neither given nor in {', '.join(map(str, folders))}; give --data NAME=PATH, or a folder "
            f"with {', '.join(place for one in _KNOWN.values() for place in one.places)}; --dataset NAME says what to "
            "download"
        )
    return located
