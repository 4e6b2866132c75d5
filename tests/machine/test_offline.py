"""No network: every attempt to leave the machine is an error that says what was tried; what is here
works."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import mtbias
from mtbias.errors import MissingResourceError, OfflineError
from mtbias.machine.network import downloads_allowed, is_forbidden, no_network
from mtbias.settings import EvalSettings

# 192.0.2.0/24, 2001:db8::/32 and .invalid are set aside for documentation and tests (RFC 5737,
# 3849, 2606).
FAR, FAR_6, NAME = "192.0.2.1", "2001:db8::1", "models.invalid"


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "MTBIAS_NO_NETWORK"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    """A server on this machine that greets once."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                connection.sendall(b"here")
                connection.close()

        thread = threading.Thread(target=greet)
        thread.start()
        yield server.getsockname()
        server.close()
        thread.join(timeout=5)


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "MTBIAS_NO_NETWORK"])
def test_nothing_is_fetched_where_a_variable_forbids_it(
    variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Of the Python API, whose process has no guard; the host cannot be reached, and is not asked.
    for name in ("HF_ENDPOINT", "STANZA_RESOURCES_URL"):
        monkeypatch.setenv(name, f"https://{NAME}")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert downloads_allowed(offline=False)
    monkeypatch.setenv(variable, "1")
    assert not downloads_allowed(offline=False)
    with pytest.raises(MissingResourceError, match="mtbias fetch"):
        mtbias.evaluate("opus-mt", "de", settings=EvalSettings(cache_dir=tmp_path))


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_no_other_machine_is_reached(family: socket.AddressFamily) -> None:
    address = FAR if family == socket.AF_INET else FAR_6
    with (
        socket.socket(family) as tcp,
        socket.socket(family, socket.SOCK_DGRAM) as udp,
        no_network("the test"),
    ):
        for attempt in (
            lambda: tcp.connect((address, 443)),
            lambda: tcp.connect_ex((address, 443)),
            lambda: udp.connect((address, 53)),
            lambda: udp.sendto(b"?", (address, 53)),
            lambda: udp.sendmsg([b"?"], [], 0, (address, 53)),
        ):
            with pytest.raises(
                OfflineError,
                match=rf"tried to connect to {address}, port \d+, but the test forbids",
            ):
                attempt()


def test_no_name_is_looked_up() -> None:
    with no_network("the test"):
        for attempt in (
            lambda: socket.getaddrinfo(NAME, 443),
            lambda: socket.gethostbyname(NAME),
            lambda: socket.gethostbyname_ex(NAME),
            lambda: socket.getnameinfo((FAR, 443), 0),
            lambda: socket.create_connection((NAME, 443)),
        ):
            with pytest.raises(
                OfflineError,
                match=r"tried to look up .*download what is missing with `mtbias fetch`",
            ):
                attempt()


def test_libraries_are_told_and_refused() -> None:
    with no_network("the test"), pytest.raises(OfflineError, match=f"look up {NAME}"):
        urllib.request.urlopen(f"http://{NAME}/model.safetensors", timeout=1)


def test_this_machine_is_reached(listener: tuple[str, int], tmp_path: Path) -> None:
    with no_network("the test"), socket.create_connection(listener, timeout=5) as here:
        assert here.recv(4) == b"here"
    with (
        no_network("the test"),
        socket.socket(socket.AF_UNIX) as server,
        socket.socket(socket.AF_UNIX) as client,
    ):
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))
        assert socket.getaddrinfo("localhost", 80)
        assert socket.getaddrinfo(None, 80)


def test_afterwards_all_is_as_before() -> None:
    with no_network("the test"):
        assert os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in os.environ
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, suppress(OSError):
        udp.connect((FAR, 9))  # sends nothing; no OfflineError, which is not an OSError


def test_an_attempt_that_a_library_hides_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "mtbias"), no_network("MTBIAS_NO_NETWORK=1"):
        for _ in range(2):
            with suppress(Exception):
                socket.getaddrinfo(NAME, 443)
    assert [record.message for record in caplog.records] == [
        f"something tried to look up {NAME}, but MTBIAS_NO_NETWORK=1 forbids the network; it was refused"
    ]


@pytest.mark.parametrize(
    ("value", "asked"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_the_environment_asks(monkeypatch: pytest.MonkeyPatch, value: str, asked: bool) -> None:
    monkeypatch.setenv("MTBIAS_NO_NETWORK", value)
    assert is_forbidden() is asked


def _mtbias(
    *arguments: str | Path, before: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_OFFLINE")}
    return subprocess.run(
        [*before, sys.executable, "-m", "mtbias", *map(str, arguments)],
        env={**kept, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_missing_in_a_job_is_an_error_and_not_a_download(tmp_path: Path) -> None:
    said = _mtbias(
        "eval", "--model", "opus-mt", "--lang", "de", "--dataset", "demo", "--stanza-dir", "mtbias:demo",
        "--cache-dir", tmp_path, MTBIAS_NO_NETWORK="1", HF_HOME=str(tmp_path / "hub"),
    )  # fmt: skip
    assert said.returncode == 1
    assert "run: mtbias fetch --model opus-mt --lang de" in said.stderr


def test_fetch_in_a_job_says_who_forbids_it(tmp_path: Path) -> None:
    said = _mtbias("fetch", "--dataset", "winomt", "--cache-dir", tmp_path, MTBIAS_NO_NETWORK="1")
    assert said.returncode == 1
    assert said.stderr.count("\n") == 1, said.stderr
    assert "MTBIAS_NO_NETWORK=1 forbids the network" in said.stderr


@pytest.mark.slow
def test_the_demo_runs_where_there_is_no_network_at_all(tmp_path: Path) -> None:
    """In a network namespace of its own, which has not even a loopback that is up."""
    before = ("unshare", "--map-root-user", "--net")
    if (
        shutil.which("unshare") is None
        or subprocess.run([*before, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs Linux and the right to make a network namespace (unshare --net)")
    inside = subprocess.run(
        [
            *before,
            sys.executable,
            "-c",
            f"import socket; socket.create_connection(({FAR!r}, 443), 2)",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Network is unreachable" in inside.stderr
    out = tmp_path / "run"
    said = _mtbias(
        "eval", "--model", "demo", "--lang", "de", "--beams", "1", "--out", out, "--cache-dir", tmp_path / "cache",
        before=before, MTBIAS_NO_NETWORK="1",
    )  # fmt: skip
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("512 sentences, ")
    assert (out / "metrics.json").is_file()
