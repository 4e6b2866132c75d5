"""Pipes, devices and links as inputs and outputs: what is read, what is written in place, what is
refused."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mtbias.errors import DataError, RunFolderError
from mtbias.files.reading import own_descriptor, read_bytes, read_text
from mtbias.files.writing import write_atomic

pytestmark = pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system has no /dev/fd")


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe: the descriptors to read from and to write to."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_descriptors_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/fd/63")
    (tmp_path / "further").symlink_to("link")
    (tmp_path / "round").symlink_to("round")
    named = {
        "/dev/fd/7": 7,
        "/proc/self/fd/0": 0,
        f"/proc/{os.getpid()}/fd/12": 12,
        f"/proc/{os.getppid()}/fd/12": None,  # another process's
        "/dev/null": None,
        "a\0b": None,
        str(tmp_path / "further"): 63,
        str(tmp_path / "round"): None,
        str(tmp_path / "fd" / "3"): None,
    }
    assert {name: own_descriptor(name) for name in named} == named


def test_a_pipe_that_is_open_already_is_read(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    handle = os.dup(writing)
    os.write(handle, b"one\ntwo\n")
    os.close(handle)
    writer = threading.Timer(
        0.1, lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), writing)
    )  # the end of the pipe
    writer.start()
    assert read_text(Path(f"/dev/fd/{reading}")).text == "one\ntwo\n"
    writer.join()


def test_devices_and_named_pipes_are_no_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")  # without a writer: to open it would wait for ever
    (tmp_path / "link").symlink_to("/dev/zero")
    paths = {
        "/dev/zero": "a device",
        str(tmp_path / "link"): "a device",
        str(tmp_path / "fifo"): "a named pipe",
    }
    for path, kind in paths.items():
        with pytest.raises(
            DataError,
            match=f"^{path}: the file cannot be read: expected a regular file, got {kind}; write the content into",
        ):
            read_bytes(Path(path))
    with pytest.raises(DataError, match="expected a file, got a folder"):
        read_bytes(tmp_path)


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link", tmp_path / "folder" / "file"
    link.symlink_to("folder/file")
    for content in (b"new", b"newer"):  # first to where nothing is
        write_atomic(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["file"]
    (tmp_path / "to-folder").symlink_to("folder")
    for folder in (tmp_path / "to-folder", tmp_path / "folder"):
        with pytest.raises(
            RunFolderError, match=r"expected a file, got a folder; name a file in it$"
        ):
            write_atomic(folder, b"x")


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    write_atomic(Path(os.devnull), ["a line"])
    assert Path(os.devnull).is_char_device()
    (tmp_path / "null").symlink_to(os.devnull)
    write_atomic(tmp_path / "null", b"x")
    assert (tmp_path / "null").is_symlink()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no /dev/full")
def test_a_device_that_takes_nothing_is_an_error() -> None:
    with pytest.raises(RunFolderError, match=r"/dev/full: cannot write: .*make room"):
        write_atomic(Path("/dev/full"), b"x")


def test_a_named_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    fifo, found = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()))
    reader.start()
    write_atomic(fifo, (f"line {n}" for n in range(3)))
    reader.join()
    assert found == [b"line 0\nline 1\nline 2\n"]
    assert fifo.is_fifo()


def test_an_open_descriptor_is_written_to(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    write_atomic(Path(f"/dev/fd/{writing}"), b"content")
    assert os.read(reading, 100) == b"content"


_PRINTS_AND_WRITES = """
from pathlib import Path
from mtbias.files.writing import write_atomic
print("before")
write_atomic(Path("/dev/stdout"), b"content\\n")
print("after")
"""


@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_keeps_its_order_in_a_pipe_and_in_a_file(
    tmp_path: Path, redirected: bool
) -> None:
    command = [sys.executable, "-c", _PRINTS_AND_WRITES]
    if not redirected:
        assert (
            subprocess.run(command, capture_output=True, check=True).stdout
            == b"before\ncontent\nafter\n"
        )
        return
    with (tmp_path / "out").open("wb") as file:
        subprocess.run(command, stdout=file, check=True)
    assert (tmp_path / "out").read_bytes() == b"before\ncontent\nafter\n"
