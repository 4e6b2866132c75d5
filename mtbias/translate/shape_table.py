"""The table of shapes in which programs write translations (``file_shapes.toml``), and the values
that are read by it.
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
    """1-based line in the file; in a JSON list or an archive, the number of the item."""
    id: str
    source: str
    target: str
    part: str = ""
    """The system or the prompt, where a file has several."""


@dataclass(frozen=True, slots=True)
class LogShape:
    """The paths of a log to what is needed, each empty where the log has nothing of the kind."""

    __pydantic_config__: ClassVar = EXACT
    name: str
    has: tuple[str, ...]
    """Paths that a row of this shape has, by which it is recognised."""
    target: str
    origin: str
    """The program, its version, and the file of it that writes such rows."""
    id: str = ""
    record: str = ""
    """The data set's own row, with an id or a source under the names of columns."""
    prompt: str = ""
    """The model's input, which may be the source."""
    reading: str = ""
    """The key that tells two translations of one sentence apart."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """The table of shapes."""

    __pydantic_config__: ClassVar = EXACT
    columns: Mapping[str, tuple[str, ...]]
    """The names that the column or key of ``id``, ``source`` and ``target`` may have."""
    log: tuple[LogShape, ...]
    """Shapes of logs in the order in which they are tried."""


@cache
def shapes() -> Shapes:
    """The table of shapes that ships with mtbias."""
    file = read_text(Path(__file__).with_name("file_shapes.toml"))
    return file.converted(Shapes, parse_toml(file))


@frozen
class Selection:
    """A selection of the translations of a file with several languages, data sets or systems; an
    empty field selects all.
    """

    lang: str = ""
    source_lang: str = "en"
    dataset: str = ""
    part: str = ""
    """`Row.part`."""


ALL = Selection()
"""Everything that a file has."""


@frozen
class FileRows:
    """The rows of a file, and how they are joined to sentences."""

    rows: Sequence[Row]
    log: str = ""
    """The name of its shape, if it is a log."""
    in_order: bool = False
    """Whether rows are joined by their place alone."""
    prompted: bool = False
    """Whether a row's source is the whole input of a model, not the sentence."""


class TwoReadingsError(ValueError):
    """Two values that should be the same, and differ."""

    def __init__(self, one: object, other: object) -> None:
        super().__init__(
            f"expected one translation, got two readings: {one!r:.100} and {other!r:.100}; "
            "keep one of the two"
        )


def only(values: Sequence[object]) -> object:
    """The one value of a list, which may be repeated; None for an empty list.

    Raises:
        TwoReadingsError: two differ.
    """
    for value in values:
        if value != values[0]:
            raise TwoReadingsError(values[0], value)
    return values[0] if values else None


def at(value: object, path: str) -> object:
    """The value at a path of ``file_shapes.toml``; None if there is none.

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
