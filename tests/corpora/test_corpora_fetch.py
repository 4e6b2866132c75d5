"""Fetching from a server on this machine, and archives that mean harm."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mtbias.corpora.catalog import Download, Downloaded, Source, read_record
from mtbias.corpora.downloads import fetch_dataset, fetch_source, unpack
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.files.writing import LOCK_NAME
from mtbias.machine import downloads as machine_downloads


class Server:
    """Serves bytes by path and counts the requests."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.seconds = 0.0
        """Until an answer begins."""
        self.pause = 0.0
        """Seconds before each byte."""
        self.length: str | None = None
        """What is said instead of the length of what is sent."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                outer.requests.append(self.path)
                time.sleep(outer.seconds)
                body = outer.content.get(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Length", outer.length or str(len(body or b"")))
                self.end_headers()
                for start in range(len(body or b"")) if outer.pause else ():
                    time.sleep(outer.pause)
                    self.wfile.write((body or b"")[start : start + 1])
                self.wfile.write(b"" if outer.pause else body or b"")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}"

    def run(self) -> None:
        self.server.serve_forever(poll_interval=0.05)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    served = Server()
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.server.shutdown()
        served.server.server_close()
        thread.join(timeout=10)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def source(*downloads: Download) -> Source:
    return Source("small", "home", "c0ffee", "MIT", "@misc{x}", downloads)


def plain(server: Server, *names: str) -> Source:
    for name in names:
        server.content[f"/{name}"] = f"content of {name}\n".encode()
    return source(
        *(Download(f"{server.base}/{n}", digest(server.content[f"/{n}"]), (n,)) for n in names)
    )


def tar(add: Callable[[tarfile.TarFile], None]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        add(archive)
    return buffer.getvalue()


def member(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        info.size = len(data) if kind == tarfile.REGTYPE else 0
        fine = tarfile.TarInfo("data/a.csv")
        fine.size = 1
        archive.addfile(fine, io.BytesIO(b"a"))
        archive.addfile(info, io.BytesIO(data))

    return tar(add)


def files(folder: Path) -> dict[str, bytes]:
    """The content of the files, the lock aside."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.name != LOCK_NAME]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_files_are_fetched_checked_and_then_left_alone(tmp_path: Path, server: Server) -> None:
    wanted = plain(server, "a.txt", "b.txt")
    folder = tmp_path / "datasets" / "small"
    result = fetch_source(wanted, folder)
    assert [(d.verified, d.fresh) for d in result.downloads] == [(True, True)] * 2
    assert (folder / "a.txt").read_bytes() == b"content of a.txt\n"
    assert sorted(files(folder)) == ["a.txt", "b.txt", "fetched.json"]
    again = fetch_source(wanted, folder)
    assert [d.fresh for d in again.downloads] == [False, False]
    assert [(d.sha256, d.verified) for d in again.downloads] == [
        (d.sha256, d.verified) for d in result.downloads
    ]
    assert server.requests == ["/a.txt", "/b.txt"]


def test_a_damaged_file_is_fetched_again(tmp_path: Path, server: Server) -> None:
    wanted = plain(server, "a.txt", "b.txt")
    fetch_source(wanted, tmp_path)
    (tmp_path / "b.txt").write_bytes(b"content of")
    assert [d.fresh for d in fetch_source(wanted, tmp_path).downloads] == [False, True]
    assert (tmp_path / "b.txt").read_bytes() == b"content of b.txt\n"


def test_another_hash_keeps_what_was_there(tmp_path: Path, server: Server) -> None:
    wanted = plain(server, "a.txt")
    server.content["/a.txt"] = b"something else"
    with pytest.raises(
        DataError, match=rf"expected bytes with SHA-256 .*, got {digest(b'something else')};"
    ):
        fetch_source(wanted, tmp_path)
    assert files(tmp_path) == {}
    (tmp_path / "a.txt").write_bytes(b"old")
    with pytest.raises(DataError, match="nothing was kept"):
        fetch_source(wanted, tmp_path)
    assert files(tmp_path) == {"a.txt": b"old"}


def test_what_cannot_be_downloaded_names_address_and_way_out(
    tmp_path: Path, server: Server
) -> None:
    gone = source(Download(f"{server.base}/gone", "0" * 64, ("gone",)))
    with pytest.raises(
        MissingResourceError, match=r"/gone: could not be downloaded: HTTP 404: .*--data"
    ):
        fetch_source(gone, tmp_path)
    server.server.shutdown()
    server.server.server_close()
    with pytest.raises(
        MissingResourceError,
        match="could not be downloaded: the host refused the connection; check",
    ):
        fetch_source(gone, tmp_path)
    assert files(tmp_path) == {}


def test_a_download_that_does_not_come_to_an_end_is_given_up(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_downloads, "TIMEOUT", 2)
    wanted, server.pause = plain(server, "a.txt"), 0.5
    with pytest.raises(
        MissingResourceError, match="could not be downloaded: timed out: the server did not answer"
    ):
        fetch_source(wanted, tmp_path)
    assert files(tmp_path) == {}
    server.pause = 0.0
    fetch_source(wanted, tmp_path)


@pytest.mark.parametrize("length", ["9" * 400, "9" * 5000, "a"])
def test_a_length_that_cannot_be_is_one_line(length: str, tmp_path: Path, server: Server) -> None:
    wanted, server.length = plain(server, "a.txt"), length
    with pytest.raises(
        MissingResourceError, match=r"could not be downloaded: .* check the network"
    ):
        fetch_source(wanted, tmp_path, progress=True)


_FETCHING = """
import json, sys
from pathlib import Path
from mtbias.corpora.catalog import Download, Source
from mtbias.corpora.downloads import fetch_source
wanted, folder = json.loads(sys.argv[1]), Path(sys.argv[2])
downloads = tuple(Download(url, digest, (name,)) for url, digest, name in wanted)
print(json.dumps([d.fresh for d in fetch_source(Source("s", "", "", "", "", downloads), folder).downloads]))
"""


def test_a_file_system_without_locks_is_used_with_a_warning(
    tmp_path: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def no_locks(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    fetch_source(plain(server, "a.txt"), tmp_path)
    assert sorted(files(tmp_path)) == ["a.txt", "fetched.json"]
    assert f"{tmp_path}: no file locks here" in caplog.text


def test_two_processes_that_fetch_the_same_download_it_once_and_record_all(
    tmp_path: Path, server: Server
) -> None:
    wanted = plain(server, "a.txt", "b.txt", "c.txt")
    server.seconds = 0.3  # so that both are at it
    told = [(download.url, download.sha256, download.files[0]) for download in wanted.downloads]
    orders = (told, told[::-1])  # each begins with another file: neither record may be lost
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _FETCHING, json.dumps(order), str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in orders
    ]
    outputs = [process.communicate(timeout=600)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert sorted(server.requests) == ["/a.txt", "/b.txt", "/c.txt"]
    assert sum(map(sum, map(json.loads, outputs))) == 3
    assert read_record(tmp_path).downloads.keys() == {download.url for download in wanted.downloads}


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path, server: Server) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(MissingResourceError, match="cannot be written"):
        fetch_source(plain(server, "a.txt"), tmp_path / "file" / "small")


# An archive whose hash nobody has checked


@pytest.fixture
def archive(server: Server) -> Source:
    def add(opened: tarfile.TarFile) -> None:
        for name in ("data/a.csv", "data/b.csv", "data/README.md"):
            info = tarfile.TarInfo(name)
            info.size = len(name)
            opened.addfile(info, io.BytesIO(name.encode()))

    server.content["/data.tar.gz"] = tar(add)
    return source(Download(f"{server.base}/data.tar.gz", "", ("a.csv", "b.csv"), archive=True))


def test_an_unknown_hash_is_refused(tmp_path: Path, server: Server, archive: Source) -> None:
    with pytest.raises(MissingResourceError, match=r"--sha256 HASH, or --accept-unverified"):
        fetch_source(archive, tmp_path)
    assert server.requests == []


def test_a_given_hash_is_checked(tmp_path: Path, server: Server, archive: Source) -> None:
    right = digest(server.content["/data.tar.gz"])
    with pytest.raises(DataError, match="expected bytes with SHA-256 0000"):
        fetch_source(archive, tmp_path, sha256="0" * 64)
    result = fetch_source(archive, tmp_path, sha256=right.upper())
    assert [(d.verified, d.sha256) for d in result.downloads] == [(True, right)]
    assert files(tmp_path).keys() == {"a.csv", "b.csv", "fetched.json"}
    assert (tmp_path / "b.csv").read_bytes() == b"data/b.csv"


def test_an_accepted_download_is_written_down_and_must_stay_the_same(
    tmp_path: Path, server: Server, archive: Source
) -> None:
    url = archive.downloads[0].url
    came = digest(server.content["/data.tar.gz"])
    result = fetch_source(archive, tmp_path, accept_unverified=True)
    assert [(d.verified, d.fresh, d.sha256) for d in result.downloads] == [(False, True, came)]
    record = read_record(tmp_path)
    assert record.downloads == {url: Downloaded(came, verified=False)}
    assert record.files == {"a.csv": digest(b"data/a.csv"), "b.csv": digest(b"data/b.csv")}
    assert [d.fresh for d in fetch_source(archive, tmp_path).downloads] == [False]
    # damaged: fetched again without a flag, since the hash is on record now
    (tmp_path / "a.csv").write_bytes(b"")
    assert [(d.fresh, d.verified) for d in fetch_source(archive, tmp_path).downloads] == [
        (True, False)
    ]
    assert (tmp_path / "a.csv").read_bytes() == b"data/a.csv"
    # the hash learnt from elsewhere makes it verified, without another download
    asked = len(server.requests)
    assert [
        (d.verified, d.fresh) for d in fetch_source(archive, tmp_path, sha256=came).downloads
    ] == [(True, False)]
    assert len(server.requests) == asked
    assert read_record(tmp_path).downloads == {url: Downloaded(came, verified=True)}
    # other bytes than before are refused
    (tmp_path / "a.csv").unlink()
    server.content["/data.tar.gz"] = member("data/b.csv")
    with pytest.raises(DataError, match="the published file has changed"):
        fetch_source(archive, tmp_path, accept_unverified=True)


def test_wrong_use_of_sha256(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected 64 hexadecimal digits, got 'abc'"):
        fetch_dataset("bug", tmp_path, sha256="abc")
    with pytest.raises(UsageError, match="it knows that of winomt"):
        fetch_dataset("winomt", tmp_path, sha256="0" * 64)
    with pytest.raises(UsageError, match=r"no data set 'custom' to fetch; there are winomt, bug,"):
        fetch_dataset("custom", tmp_path)
    with pytest.raises(MissingResourceError, match="not known to mtbias"):
        fetch_dataset("bug-gold", tmp_path)


# Archives


NONE = r"expected b\.csv once in the archive, got it 0"
BAD = {
    "symlink out": (
        member("data/b.csv", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        NONE,
    ),
    "symlink inside": (
        member("data/b.csv", kind=tarfile.SYMTYPE, link="a.csv"),
        NONE,
    ),
    "hard link": (
        member("data/b.csv", kind=tarfile.LNKTYPE, link="data/a.csv"),
        NONE,
    ),
    "character device": (member("data/b.csv", kind=tarfile.CHRTYPE), NONE),
    "fifo": (member("data/b.csv", kind=tarfile.FIFOTYPE), NONE),
    "file absent": (member("data/c.csv"), NONE),
    "cut off": (member("data/b.csv")[:40], "cannot be unpacked"),
    "no archive": (b"no archive at all", "cannot be unpacked"),
    "nothing": (b"", "cannot be unpacked"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_archive_that_is_broken_or_lacks_a_file_is_refused_whole(
    tmp_path: Path, server: Server, name: str
) -> None:
    server.content["/x.tar.gz"], says = BAD[name]
    wanted = source(Download(f"{server.base}/x.tar.gz", "", ("a.csv", "b.csv"), archive=True))
    with pytest.raises(DataError, match=says) as caught:
        fetch_source(wanted, tmp_path / "cache", accept_unverified=True)
    assert caught.value.path == f"{server.base}/x.tar.gz"
    assert files(tmp_path) == {}


@pytest.mark.parametrize("name", ["../b.csv", "data/../../b.csv", "/b.csv", "data/b.csv"])
def test_a_path_in_an_archive_decides_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(member(name))
    assert unpack(path, tmp_path / "u" / "v", ["a.csv", "b.csv"])["b.csv"].read_bytes() == b"x"
    assert sorted(files(tmp_path)) == ["u/v/a.csv", "u/v/b.csv", "x.tar.gz"]


def test_a_file_twice_in_an_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(member("other/a.csv"))
    with pytest.raises(DataError, match=r"expected a.csv once in the archive, got it 2"):
        unpack(path, tmp_path / "u", ["a.csv"])


def test_an_archive_that_grows_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mtbias.corpora.downloads.MAX_UNPACKED", 10)
    path = tmp_path / "x.tar.gz"
    path.write_bytes(member("data/b.csv", b"0" * 20))
    with pytest.raises(DataError, match=r"b\.csv has more than 10 bytes"):
        unpack(path, tmp_path / "u", ["b.csv"])
    assert not (tmp_path / "u" / "b.csv").exists()
