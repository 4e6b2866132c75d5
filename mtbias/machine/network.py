"""No network: every attempt of this process to leave the machine is an error, at once and by name.

`MTBIAS_NO_NETWORK=1` or ``--offline`` asks for it. The guard is an audit hook of Python: it sees sockets that Python
opens, not those of libraries in C, nor of other programs. Where that matters, cut the network off underneath, with
``unshare --net`` or as the cluster does.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

from mtbias.errors import OfflineError

VARIABLE = "MTBIAS_NO_NETWORK"
_HUB = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""What tells Hugging Face's libraries; they read it when they are imported."""
_TRUE = {"1", "ON", "YES", "TRUE"}
_CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
"""Events whose arguments are a socket and an address."""
_LOOKS_UP = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
"""Events whose first argument is a host."""

_reasons: list[str] = []
_refused: list[str] = []
_hooked = False

_log = logging.getLogger(__name__)


def asked_for() -> bool:
    """Whether `MTBIAS_NO_NETWORK` forbids the network."""
    return _says_yes(VARIABLE)


def downloads_allowed(*, offline: bool) -> bool:
    """Whether downloads are allowed: not with ``--offline``, `VARIABLE`, or Hugging Face's ``HF_HUB_OFFLINE=1``."""
    return not (offline or asked_for() or _says_yes(_HUB[0]))


def _says_yes(variable: str) -> bool:
    return os.environ.get(variable, "").strip().upper() in _TRUE


@contextmanager
def no_network(reason: str) -> Iterator[None]:
    """Make every attempt to reach another machine within the block an `OfflineError`; `reason` is who forbids it.

    An attempt whose error a library kept to itself is named in a warning at the end.
    """
    global _hooked  # noqa: PLW0603 - an audit hook is there for as long as the process
    before = {name: os.environ.get(name) for name in _HUB}
    os.environ.update(dict.fromkeys(_HUB, "1"))
    if not _hooked:
        sys.addaudithook(_refuse)
        _hooked = True
    _reasons.append(reason)
    try:
        yield
        for attempt in dict.fromkeys(_refused):
            _log.warning("something tried to %s, but %s forbids the network; it was refused", attempt, reason)
    finally:
        _refused.clear()
        _reasons.remove(reason)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not _reasons or not event.startswith("socket."):
        return
    if event in _CONNECTS and isinstance(arguments[1], tuple):
        host, port = arguments[1][:2]
        attempt = f"connect to {host}, port {port}"
    elif event == "socket.getnameinfo" or event in _LOOKS_UP:
        host = arguments[0][0] if event == "socket.getnameinfo" else arguments[0]
        attempt = f"look up {_text(host)}"
    else:
        return
    if is_local(host):
        return
    _refused.append(attempt)
    raise OfflineError(
        f"tried to {attempt}, but {_reasons[-1]} forbids the network; download what is missing with `mtbias fetch` on "
        "a machine with network"
    )


def is_local(host: object) -> bool:
    """Whether a host is this machine: a loopback address, ``localhost``, its own name, or none."""
    name = _text(host)
    if name in {"", "localhost", socket.gethostname()}:
        return True
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _text(host: object) -> str:
    if host is None:
        return ""
    return host.decode(errors="replace") if isinstance(host, bytes | bytearray) else str(host)
