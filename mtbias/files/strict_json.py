"""Strict reading of JSON and TOML into dataclasses: every key is known and of its type, or the
message names it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, time
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_type_hints

from mtbias.errors import choices
from mtbias.types import JsonDict, JsonObject

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

EXACT = {"extra": "forbid"}
"""``__pydantic_config__`` of a dataclass that takes no other keys than its fields."""

_WORDS = {
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid string": "text",
    "a valid boolean": "true or false",
    "a valid array": "a list",
    "a valid tuple": "a list",
    "an object": "a table",
    "a valid dictionary": "a table",
    "Tuple should have at least 1 item after validation, not 0": "one or more",
    "String should have at least 1 character": "text that is not empty",
}
"""pydantic's names of types and limits, as a reader of JSON or TOML knows them."""


class DecodingError(ValueError):
    """A value of the wrong kind: one line with its key (``slurm.gpus``), what was expected and what
    came.
    """


def decoded(kind: type[T], text: bytes | str) -> T:
    """The JSON `text` as a value of a dataclass (or a list or mapping of such): no type converted,
    no key missing.

    Keys that the class does not have are refused where its ``__pydantic_config__`` is `EXACT`, else
    ignored.

    Raises:
        DecodingError: it is something else, or a check of the class refuses it.
    """
    from pydantic import ValidationError

    try:
        value: T = _adapter(cast(Hashable, kind)).validate_json(text, strict=True)
    except ValidationError as error:
        raise DecodingError(_in_words(kind, error.errors(include_url=False), text)) from None
    return value


def encoded(kind: type[T], value: T) -> bytes:
    """The JSON text of a value of a dataclass (or a list or mapping of such), which `decoded`
    reads.
    """
    text: bytes = _adapter(cast(Hashable, kind)).dump_json(value)
    return text


def converted(kind: type[T], content: object) -> T:
    """`decoded` of a plain value, such as a TOML file holds.

    Raises:
        DecodingError: as there; a date or a time of TOML, since no setting is one and its text
            would pass for a path.
    """
    _refuse_dates(content)
    return decoded(kind, json.dumps(content))


def load_json(
    text: bytes | str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:  # noqa: ANN401
    """The value of any JSON text, as `json.loads` gives it; `pairs` makes the objects of their keys
    and values.

    Raises:
        ValueError: it is not JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None


def once(pairs: list[tuple[str, Any]]) -> JsonDict:
    """The object of these keys and values, for `load_json`.

    Raises:
        ValueError: a key occurs twice; `json` alone would silently keep the last.
    """
    content = dict(pairs)
    if len(content) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        raise ValueError(f"expected each key once, got {twice!r} twice; remove one")
    return content


def _refuse_dates(content: object, where: str = "") -> None:
    inner: Iterable[tuple[object, object]] = ()
    if isinstance(content, date | time):  # a datetime is a date
        raise DecodingError(
            f"{where}: expected text or a number, got the date or time {content}; put it in quotes"
        )
    if isinstance(content, Mapping):
        inner = content.items()
    elif isinstance(content, list):
        inner = enumerate(content)
    for key, part in inner:
        _refuse_dates(part, f"{where}.{key}" if where else str(key))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - a class, or a generic of one
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _in_words(
    kind: Any,  # noqa: ANN401 - as `_adapter`
    errors: Sequence[JsonObject],
    text: bytes | str,
) -> str:
    """The first error in one line.

    An unknown key comes first: a missing one may be that key, misspelt. Where several types are
    allowed, the line names all of them.
    """
    unknown = "unexpected_keyword_argument"
    first = next((error for error in errors if error["type"] == unknown), errors[0])
    if first["type"] == "json_invalid":
        return str(first["msg"])
    where = _place(first["loc"], load_json(text))
    key, value = ".".join(map(str, where)), first["input"]
    if first["type"] == unknown:
        return f"{key}: unknown key; {choices(str(where[-1]), sorted(_keys(kind, where[:-1])))}"
    if first["type"] in {"missing", "missing_argument"}:
        return f"{key}: expected this key, it is not there"
    if first["type"] == "value_error":  # from a check of our own, which names the key in the table
        return ".".join(filter(None, (key, first["msg"].removeprefix("Value error, "))))
    alike = (str(e["msg"]) for e in errors if e["loc"][: len(where)] == where)
    plain = (message.removeprefix("Input should be ").partition(" (")[0] for message in alike)
    expected = " or ".join(dict.fromkeys(_WORDS.get(each, each.replace("'", "")) for each in plain))
    return f"{key}{': ' if key else ''}expected {expected}, got {value!r}"[:200]


def _place(
    loc: tuple[str | int, ...],
    content: Any,  # noqa: ANN401 - any JSON
) -> tuple[str | int, ...]:
    """Where in `content` an error is: without the names of types that pydantic puts behind it."""
    for n, step in enumerate(loc):
        if not isinstance(content, list if isinstance(step, int) else dict):
            return loc[:n]
        if step not in (range(len(content)) if isinstance(content, list) else content):
            return loc[: n + 1]
        # An int for a list, a str for a dict, as just checked.
        content = content[step]  # type: ignore[index]
    return loc


def _keys(
    kind: Any,  # noqa: ANN401 - a class, or a generic of one
    where: tuple[str | int, ...],
) -> list[str]:
    """The fields of the dataclass at a place within `kind`."""
    for step in where:
        inner = get_type_hints(kind).get(str(step)) if is_dataclass(kind) else None
        kind = inner or next(
            (part for part in reversed(get_args(kind)) if part not in {type(None), ...}), Mapping
        )
    return [each.name for each in fields(kind)] if is_dataclass(kind) else []
