"""Why a download failed, in a few plain words: libraries give chains of their own classes."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

from mtbias.errors import MtbiasError

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

    The error itself and all that led to it are looked at, whatever the library; what is not known is named by the type
    and the first line of the innermost error.
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
    line = (str(last).strip().splitlines() or [""])[0][:_LONGEST]
    return f"{type(last).__name__}: {line}" if line else type(last).__name__


def _known(error: BaseException) -> str:
    if isinstance(error, socket.gaierror):
        return "the name of the host could not be resolved"
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timed out: the server did not answer"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "the certificate of the server was not accepted"
    if isinstance(error, ssl.SSLError):
        return "the secure connection failed"
    if isinstance(error, ConnectionRefusedError):
        return "the host refused the connection"
    if isinstance(error, ConnectionError):
        return "the connection broke off"
    if isinstance(error, OSError) and error.errno in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
        return "the network cannot be reached"
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "the disk is full"
    return ""


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
