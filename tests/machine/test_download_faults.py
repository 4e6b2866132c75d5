"""Why a download failed, in plain words, with the errors that the libraries themselves raise."""

from __future__ import annotations

import errno
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests

from mtbias.errors import OfflineError
from mtbias.machine.network import why_failed


@pytest.fixture(autouse=True)
def _directly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")


def _requested(url: str, *, timeout: float = 600) -> str:
    try:
        requests.get(url, timeout=timeout).raise_for_status()
    except requests.RequestException as error:
        return why_failed(error)
    raise AssertionError


@contextmanager
def _server(status: int) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/file"
        thread.join()


def test_a_host_that_is_not_known() -> None:
    # .invalid never resolves (RFC 2606); without a resolver the look-up fails with the same class
    # of error.
    assert _requested("http://nowhere.invalid/file") == "the name of the host could not be resolved"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (404, "HTTP 404: there is nothing at that address"),
        (403, "HTTP 403: the server refuses access"),
        (503, "HTTP 503: the server cannot give it now"),
    ],
)
def test_a_status(status: int, said: str) -> None:
    with _server(status) as url:
        assert _requested(url) == said


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert _requested(url, timeout=0.2) == "timed out: the server did not answer"


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert _requested(f"http://127.0.0.1:{port}/") == "the host refused the connection"


def test_what_another_library_wraps_is_found_below() -> None:
    error = RuntimeError("<Pool object at 0x7f>: Max retries exceeded")
    error.__cause__ = socket.gaierror(-2, "Name or service not known")
    assert why_failed(error) == "the name of the host could not be resolved"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENETUNREACH, "x"), "the network cannot be reached"),
        (OSError(errno.ENOSPC, "x"), "the disk is full"),
        (ConnectionResetError(), "the connection broke off"),
        (
            ssl.SSLCertVerificationError(1, "verify failed"),
            "the certificate of the server was not accepted",
        ),
        (OfflineError("--offline forbids the network"), "--offline forbids the network"),
        (ValueError("strange\nand long"), "ValueError: strange"),
        (ssl.SSLError(1, "handshake"), "the secure connection failed"),
        (KeyError(), "KeyError"),
    ],
)
def test_other_errors(error: BaseException, said: str) -> None:
    assert why_failed(error) == said
