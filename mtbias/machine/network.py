"""A guard against use of the network, and why a download failed in plain words.

With `MTBIAS_NO_NETWORK=1` or ``--offline`` every attempt of this process to reach another machine
is an error that names it. The guard is an audit hook of Python: it sees sockets that Python opens,
not those of libraries in C or of other programs. Where that matters, cut the network off
underneath, with ``unshare --net`` or by the cluster's own means.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from mtbias.errors import MtbiasError, OfflineError, first_line

VARIABLE = "MTBIAS_NO_NETWORK"
_HUB = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""Variables of Hugging Face's libraries, which read them when they are imported."""
_TRUE = {"1", "ON", "YES", "TRUE"}
_CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
"""Events whose arguments are a socket and an address."""
_LOOKS_UP = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
"""Events whose first argument is a host."""

_reasons: list[str] = []
_refused: list[str] = []
_hooked = False

_log = logging.getLogger(__name__)


def is_forbidden() -> bool:
    """Whether `MTBIAS_NO_NETWORK` forbids the network."""
    return _says_yes(VARIABLE)


def downloads_allowed(*, offline: bool) -> bool:
    """Whether downloads are allowed: not with ``--offline``, `VARIABLE`, or Hugging Face's
    ``HF_HUB_OFFLINE=1``.
    """
    return not (offline or is_forbidden() or _says_yes(_HUB[0]))


def _says_yes(variable: str) -> bool:
    return os.environ.get(variable, "").strip().upper() in _TRUE


@contextmanager
def no_network(reason: str) -> Iterator[None]:
    """Make every attempt to reach another machine within the block an `OfflineError`; `reason` is
    who forbids it.

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
            _log.warning(
                "something tried to %s, but %s forbids the network; it was refused", attempt, reason
            )
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
        f"tried to {attempt}, but {_reasons[-1]} forbids the network; "
        "download what is missing with `mtbias fetch` on a machine with network"
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


T = TypeVar("T")


def awaited(
    call: Callable[[], T], seconds: float, progress: Callable[[], object] = lambda: None
) -> T:
    """The result of `call`, which is given up after `seconds` without progress.

    It is for libraries that limit the time of each read, and so wait for ever for a server that
    sends a byte now and then. An abandoned call continues in a thread that ends with the process.

    Args:
        call: what to wait for.
        seconds: longest time without progress.
        progress: how far it is; another value than before is progress.

    Raises:
        TimeoutError: it made no progress for so long.
    """
    ended: SimpleQueue[Future[T]] = SimpleQueue()

    def run() -> None:
        done = Future[T]()
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            done.set_exception(error)
        ended.put(done)
        del done  # which an error would hold by its traceback, and so itself, with its connection

    threading.Thread(target=run, name="mtbias-awaited", daemon=True).start()
    before, since = progress(), time.monotonic()
    while True:
        try:
            return ended.get(timeout=min(seconds, 0.5)).result()
        except Empty:
            if before != (before := progress()):
                since = time.monotonic()
            elif time.monotonic() - since > seconds:
                raise TimeoutError from None


# Why a download failed, in a few plain words: libraries give chains of their own classes.

_STATUS = {
    401: "the server wants a login, or there is nothing of that name",
    403: "the server refuses access",
    404: "there is nothing at that address",
    429: "the server wants fewer requests; try again later",
}
_LONGEST = 160
"""Characters of a text that a library gives."""


def why_failed(error: BaseException) -> str:
    """One line: the host could not be found, no answer in time, HTTP 404, and the like.

    It is taken from the error and all that led to it, whatever the library. An unknown error is
    described by the type and the first line of the innermost one.
    """
    chain = list(_chain(error))
    for each in chain:
        if isinstance(each, MtbiasError):
            return str(each)
        status = getattr(getattr(each, "response", None), "status_code", None)
        if isinstance(status, int) and status >= 400:
            return f"HTTP {status}: {_STATUS.get(status, 'the server cannot give it now')}"
    for each in chain:
        known = _known(each)
        if known:
            return known
    last = chain[-1]
    line = first_line(last)[:_LONGEST]
    return f"{type(last).__name__}: {line}" if line else type(last).__name__


_KINDS: Mapping[type[BaseException], str] = {
    socket.gaierror: "the name of the host could not be resolved",
    TimeoutError: "timed out: the server did not answer",
    ssl.SSLCertVerificationError: "the certificate of the server was not accepted",
    ssl.SSLError: "the secure connection failed",
    ConnectionRefusedError: "the host refused the connection",
    ConnectionError: "the connection broke off",
}
"""An error is described by its first class here."""
_NUMBERS = {
    errno.ENETUNREACH: "the network cannot be reached",
    errno.EHOSTUNREACH: "the network cannot be reached",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
}


def _known(error: BaseException) -> str:
    if "Timeout" in type(error).__name__:
        return _KINDS[TimeoutError]
    of_class = next((text for kind, text in _KINDS.items() if isinstance(error, kind)), "")
    return of_class or _NUMBERS.get(getattr(error, "errno", None) or 0, "")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and those that led to it, the outermost first."""
    seen: list[BaseException] = []
    left: list[object] = [error]
    while left:
        each = left.pop(0)
        if isinstance(each, BaseException) and each not in seen:
            seen.append(each)
            # urllib3 keeps the error below as an attribute, requests as an argument
            left += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
            yield each
