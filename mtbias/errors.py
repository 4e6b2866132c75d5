"""The error tree: what went wrong, where, and what to do next, in one line each.

The library raises these and never exits or prints; only `mtbias.cli` turns them into exit codes.
Everything that is the fault of an input, a model, a plugin or a missing part derives from
`MtbiasError`, so that one ``except`` is enough for a caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

MESSAGE_LENGTH = 400
"""Characters of the longest message; what is between its beginning (where) and its end (what to do)
is left out."""

STANDARD_INPUT = "/dev/stdin"
"""The path that is read for `-`."""

# Controls, which a terminal obeys; marks that turn the direction of what follows; what no file can
# hold, such as the bytes of a file name that is not UTF-8, which Python keeps as lone surrogates.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_FIRST_BYTE = 0xDC00
"""The surrogate that stands for byte 0; those of bytes from 0x80 occur."""


def escaped(text: str) -> str:
    r"""`text` with escapes for what cannot be shown: ``\x1b``, ``\u202e``; ``\xe4`` for a byte that
    is not UTF-8.
    """

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        if 0xDC80 <= code <= 0xDCFF:
            code -= _FIRST_BYTE
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

    return _UNPRINTABLE.sub(escape, text)


def one_line(text: str) -> str:
    """A message as one line of at most `MESSAGE_LENGTH` characters, all of them harmless to a
    terminal.
    """
    line = escaped(" ".join(text.splitlines()))
    if len(line) <= MESSAGE_LENGTH:
        return line
    left = MESSAGE_LENGTH * 3 // 5
    return f"{line[:left]} … {line[left + 3 - MESSAGE_LENGTH :]}"


def first_line(error: BaseException) -> str:
    """The first line of an error's text: libraries give pages."""
    return (str(error).strip().splitlines() or [""])[0]


def choices(
    name: str, known: Iterable[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The end of a message about a `name` that is not among `known`: which may be meant, and which
    there are.

    Where they would fill half a message, so that the middle of it would be left out, either the one
    or the other. `aliases` are other words for some.
    """
    names = list(known)
    words = {**aliases, **{each.lower(): each for each in names}}
    close = dict.fromkeys(words[word] for word in get_close_matches(name.lower(), words))
    meant, there = f"did you mean {' or '.join(close)}?", f"there are {', '.join(names) or 'none'}"
    if not close:
        return there
    return meant if len(there) > MESSAGE_LENGTH // 2 else f"{meant} {there}"


class MtbiasError(Exception):
    """Base of every error that mtbias raises on purpose. The command line exits with 1.

    As text it is one line (`one_line`); ``args`` has the whole message.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


class UsageError(MtbiasError):
    """The call itself is wrong (an option that does not exist, two that exclude each other). Exit
    code 2.
    """


class SettingError(UsageError, ValueError):
    """A setting has a value that cannot be: which one, what was expected, what came.

    `setting` is its name in Python; the command line writes it as the option that it is there.
    """

    def __init__(self, setting: str, message: str) -> None:
        self.setting, self.message = setting, message
        super().__init__(f"{setting}: {message}")


class OutputError(UsageError):
    """A file was not written, which would have lost one that is read, or one of a run's own.

    `setting` is the setting that names it, as of a `SettingError`; None where none does.
    """

    def __init__(self, setting: str | None, message: str) -> None:
        self.setting, self.message = setting, message
        super().__init__(message if setting is None else f"{setting}: {message}")


class DataError(MtbiasError):
    """A file says something that cannot be right: what was expected, what came, and where.

    `path` and `line` (1-based) are printed in front of the message where they are known.
    """

    def __init__(
        self, message: str, *, path: Path | str | None = None, line: int | None = None
    ) -> None:
        self.path = None if path is None else str(path)
        if self.path == STANDARD_INPUT:
            self.path = "standard input"
        self.line = line
        super().__init__(f"{self._where()}{message}")

    def _where(self) -> str:
        if self.path is None:
            return ""
        return f"{self.path}: " if self.line is None else f"{self.path}:{self.line}: "


class MissingResourceError(MtbiasError):
    """Something that must be on disk is not; the message names the command that downloads it."""


class MissingTranslationsError(MtbiasError):
    """A run that may not translate lacks translations; gives their number, and which command makes
    them.
    """


class OfflineError(MtbiasError):
    """Something tried to reach the network where it is forbidden; says what, and who forbids it."""


class DependencyError(MtbiasError):
    """An optional library is not installed; the message names the extra that installs it."""


class ModelError(MtbiasError):
    """A translation checkpoint is of no known family, lacks the language, or does not do what its
    family does.
    """


class PluginError(MtbiasError):
    """A language plugin is unknown, doubly registered, or fails to load; the message names the
    distribution.
    """


class RunFolderError(MtbiasError):
    """A run folder belongs to another run, or cannot be written."""
