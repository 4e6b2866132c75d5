"""The table of shapes in which programs write translations (``file_shapes.toml``), and what is read
by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from mtbias.files.reading import parse_toml, read_text
from mtbias.files.strict_json import EXACT
from mtbias.types import frozen


@frozen
class Row:
    """A translation of a file."""

    line: int
    """Of the file, from 1; of a JSON list or an archive, the number of the item."""
    id: str
    source: str
    target: str
    part: str = ""
    """Of which system, or by which prompt, where a file has several."""


@dataclass(frozen=True, slots=True)
class LogShape:
    """Where a log has what is needed: paths, empty where there is nothing of the kind."""

    __pydantic_config__: ClassVar = EXACT
    name: str
    has: tuple[str, ...]
    """What a row of it has, by which it is known."""
    target: str
    origin: str
    """The program, its version, and the file of it that writes such rows."""
    id: str = ""
    record: str = ""
    """The data set's own row, with an id or a source under the names of columns."""
    prompt: str = ""
    """What was asked, which may be the source."""
    reading: str = ""
    """What tells two translations of one sentence apart."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """The table of shapes."""

    __pydantic_config__: ClassVar = EXACT
    columns: Mapping[str, tuple[str, ...]]
    """Of ``id``, ``source`` and ``target``, the names that a column or key may have."""
    log: tuple[LogShape, ...]
    """In the order in which they are tried."""


@cache
def shapes() -> Shapes:
    """The table of shapes that ships."""
    file = read_text(Path(__file__).with_name("file_shapes.toml"))
    return file.converted(Shapes, parse_toml(file))


@frozen
class Wanted:
    """Which translations of a file are meant, where it has those of several languages, data sets or
    systems; empty: all.
    """

    lang: str = ""
    source_lang: str = "en"
    dataset: str = ""
    part: str = ""
    """`Row.part`."""


ALL = Wanted()
"""Everything that a file has."""


@frozen
class FileRows:
    """The rows of a file, and how they find their sentences."""

    rows: Sequence[Row]
    log: str = ""
    """The name of its shape, where it is a log's."""
    in_order: bool = False
    """Whether the rows have nothing but their place."""
    prompted: bool = False
    """Whether sources are what a model was asked, not what was translated."""


class TwoReadingsError(ValueError):
    """Something stands there twice, and differs."""

    def __init__(self, one: object, other: object) -> None:
        super().__init__(
            f"expected one translation, got two readings: {one!r:.100} and {other!r:.100}; "
            "keep one of the two"
        )


def only(values: Sequence[object]) -> object:
    """The only value of a list, however often it stands there; None of an empty one.

    Raises:
        TwoReadingsError: two differ.
    """
    for value in values:
        if value != values[0]:
            raise TwoReadingsError(values[0], value)
    return values[0] if values else None


def at(value: object, path: str) -> object:
    """What stands at a path of ``file_shapes.toml``; None where nothing does.

    Raises:
        TwoReadingsError: a list has several that differ.
    """
    for step in path.split("."):
        if isinstance(value, list) and step.startswith("["):
            kind = step[1:-1]
            items = [item for item in value if not kind or _is_of_type(item, kind)]
            value = only(items)
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _is_of_type(item: object, kind: str) -> bool:
    return isinstance(item, Mapping) and item.get("type") == kind
