"""Servers on other machines: their addresses, and their keys, which nobody else may see."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from urllib.parse import SplitResult, urlsplit

from mtbias.errors import ModelError, SettingError, one_line
from mtbias.files.text_repair import AS_WORDS, KINDS, OF_CHARACTERS, repair
from mtbias.translate.system import Begun

_HIDDEN = "[key]"
_READINGS = 16
_MARKS = re.compile(r"[*_`]")
"""Marks that `mtbias.translate.language_models.answer_marks` removes from answers."""
_SECRET = 8
"""Characters of the shortest key that is a secret; servers without keys take words such as ``x``
and ``EMPTY``."""


def server_address(base_url: str) -> SplitResult:
    """The parts of a server's address.

    Raises:
        SettingError: it is not the address of a server, or holds a name, a password or a query,
            which would be published.
    """
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username or parts.password or parts.query or parts.fragment:
        # Not shown, since it may hold a key.
        raise SettingError(
            "base_url",
            "expected an address such as http://127.0.0.1:8000/v1, "
            "without user, password or query (a key belongs into the environment)",
        )
    return parts


def begun_date(begun: Begun) -> str:
    """The date (UTC) on which a run began, since what a server answers may change."""
    date = begun.get("date")
    return date if isinstance(date, str) else datetime.now(tz=UTC).date().isoformat()


def key_from(variable: str, server: str, advice: str = "") -> str:
    """The key of a server, from an environment variable.

    Raises:
        ModelError: the variable is not set, for which the message ends with `advice`; or its value
            cannot be a key.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(
            f"the key of {server} is expected in the environment variable {variable}, "
            f"which is not set{advice}"
        )
    if not key.isascii() or not key.isprintable():
        raise ModelError(
            f"{variable}: expected a key of ASCII letters, digits and signs in one line"
        )
    return key


def without_key(text: str, key: str) -> str:
    """Text of a server without the key, plain or disguised.

    Every text of a server comes here before it is kept, shown or repaired: a server that repeats
    the key must not put it into a file or a message. Where a repair would reveal it, the
    repaired text, without the key, is returned.
    """
    if len(key) < _SECRET:
        return text
    text = text.replace(key, _HIDDEN)
    for reading in _readings(text):
        if key in reading:
            return without_key(reading, key)
    return text


def _readings(text: str) -> list[str]:
    """A text, and all that repairs and the removal of Markdown's marks make of it in any order."""
    readings = [text]
    for reading in readings:
        if len(readings) > _READINGS:  # more than repair undoes of a text, however it was written
            break
        further = [repair(reading, kinds).text for kinds in (KINDS, AS_WORDS, OF_CHARACTERS)]
        further.append(_MARKS.sub("", reading))
        readings += [each for each in dict.fromkeys(further) if each not in readings]
    return readings


def server_line(text: str, key: str) -> str:
    """`without_key` as a short line, for messages and names: all of it harmless to a terminal."""
    # The key first: one that is cut in half would not be recognised.
    return one_line(without_key(text, key))[:200]
