"""Reading a TOML table strictly: every key is known and of its type, or the error names file and key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from mtbias.errors import DataError

T = TypeVar("T")

_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


class Table:
    """A table whose keys are taken one by one; `finish` refuses those that nobody took."""

    def __init__(self, content: Mapping[str, Any], path: Path, prefix: str = "") -> None:
        self._content, self._path, self._prefix = dict(content), path, prefix
        self._known: list[str] = []

    @classmethod
    def read(cls, path: Path) -> Table:
        """The whole of a file.

        Raises:
            DataError: there is no such file, or it is not TOML.
        """
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8")), path)
        except FileNotFoundError:
            raise DataError("no such file; expected a sweep in TOML", path=path) from None
        except IsADirectoryError:
            raise DataError("expected a sweep in TOML, found a folder", path=path) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"not TOML: {error}", path=path) from None

    def keys(self) -> list[str]:
        """Keys that nobody took yet."""
        return list(self._content)

    def text(self, key: str, default: str | None = None) -> str | None:
        """A text that is not empty, or `default` where the key is not there."""
        value = self._take(key, str)
        if value == "":
            raise self.error(key, "expected a text that is not empty, got an empty one")
        return default if value is None else value

    def whole(self, key: str, *, least: int = 1) -> int | None:
        """A whole number, `least` or more."""
        value = self._take(key, int)
        if value is not None and value < least:
            raise self.error(key, f"expected a whole number, {least} or more, got {value}")
        return value

    def number(self, key: str) -> float | None:
        """A number above 0."""
        value = self._take(key, float)
        if value is not None and value <= 0:
            raise self.error(key, f"expected a number above 0, got {value:g}")
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of distinct texts, at least one."""
        value: list[Any] | None = self._take(key, list)
        if value is None:
            return None
        if not value or not all(isinstance(item, str) and item for item in value):
            raise self.error(key, f"expected a list of texts, at least one, got {value!r}")
        twice = [item for n, item in enumerate(value) if item in value[:n]]
        if twice:
            raise self.error(key, f"expected each value once, got {twice[0]!r} twice")
        return tuple(value)

    def one_of(self, key: str, choices: tuple[str, ...]) -> str | None:
        """One of `choices`."""
        value = self.text(key)
        if value is not None and value not in choices:
            raise self.error(key, f"expected {', '.join(choices[:-1])} or {choices[-1]}, got {value!r}")
        return value

    def table(self, key: str) -> Table:
        """A table within this one; an empty one where it is not there."""
        value: dict[str, Any] | None = self._take(key, dict)
        return Table(value or {}, self._path, f"{self._prefix}{key}.")

    def plain(self) -> dict[str, Any]:
        """What nobody took, unchecked."""
        rest, self._content = self._content, {}
        return rest

    def each(self, take: Callable[[str], T | None]) -> dict[str, T]:
        """``take(key)`` of every key."""
        return {key: value for key in self.keys() if (value := take(key)) is not None}

    def finish(self) -> None:
        """Refuse keys that nobody took.

        Raises:
            DataError: there is one; the message lists those that exist.
        """
        for key in self._content:
            raise self.error(key, f"unknown key; there are {', '.join(sorted(self._known))}")

    def error(self, key: str, message: str) -> DataError:
        """A `DataError` that names file and key."""
        return DataError(f"{self._prefix}{key}: {message}", path=self._path)

    def _take(self, key: str, kind: type[T]) -> T | None:
        self._known.append(key)
        if key not in self._content:
            return None
        value = self._content.pop(key)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise self.error(key, f"expected {_NAMES[kind]}, got {value!r}"[:200])
        return value
