"""Fixtures for all tests: where the public data is, and how to skip without it."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from mtbias import entry_points as registry

# The same examples each time, and no deadline, so that a test that fails fails because of a change
# and not because of luck or a busy machine; new examples are looked for with `pytest
# --hypothesis-profile=search`.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile("same")

# A slow machine writes no lines of progress, of which tests of standard error would count one too
# many.
os.environ.setdefault("MTBIAS_LOG_SECONDS", "0")

# A script's background jobs ignore Ctrl-C, and so would the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays: the garbage collector passes over it, now and in the
    tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder of public data: ``MTBIAS_SHARED``, by default ``../shared`` beside the
    checkout."""
    return Path(os.environ.get("MTBIAS_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data, or a skip that says what to set."""
    folder = shared_folder()
    if not (folder / "data").is_dir():
        pytest.skip(f"public data not found at {folder}: set MTBIAS_SHARED")
    return folder


@pytest.fixture(scope="session")
def winomt(shared: Path) -> Path:
    """WinoMT's folder in the public data."""
    return shared / "data" / "winomt"


@pytest.fixture(scope="session")
def stanza_dir(shared: Path) -> Path:
    """The folder of small Stanza pipelines."""
    folder = shared / "stanza_resources"
    if not folder.is_dir():
        pytest.skip(f"no Stanza resources at {folder}: set MTBIAS_SHARED")
    return folder


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo in German, run once for all test processes: nothing is in its cache, and the network
    is forbidden."""
    from tests.built import built
    from tests.cli.machine import Machine

    def make(folder: Path) -> None:
        done = Machine(folder).run(
            "eval", "--model", "demo", "--lang", "de", "--out", folder / "run", "--offline"
        )
        assert (done.returncode, done.stderr) == (0, "")
        (folder / "stdout.txt").write_text(done.stdout, encoding="utf-8")

    return built(tmp_path_factory, "demo-run", make) / "run"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium, or a skip that says what is missing."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: --group pictures"
    )
    from scripts.look_at_report import find_chromium

    if (path := find_chromium()) is None:
        pytest.skip("no Chromium on the path")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hugging Face's cache, empty (``HF_HOME`` is read when the library is imported)."""
    from huggingface_hub import constants

    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path))
    return folder


@pytest.fixture
def mount_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """``mount_disk("96k")``: a file system of that size, where we may mount one; unmounted after
    the test."""
    path = tmp_path / "disk"

    def mount(size: str) -> Path:
        path.mkdir()
        if sys.platform != "linux" or os.getuid() != 0 or shutil.which("mount") is None:
            pytest.skip(
                "needs root on Linux to mount a small tmpfs; the test of file size limits covers the same code"
            )
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if mounted.returncode:
            pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.strip()}")
        return path

    yield mount
    if path.is_mount():
        subprocess.run(["umount", str(path)], check=True)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """``install(distribution, entry, module, source, group=…)``: a distribution with one plugin,
    `name` of the module, which is called `entry` in its group of entry points."""
    monkeypatch.syspath_prepend(str(tmp_path))
    modules: set[str] = set()

    def make(
        distribution: str,
        entry: str,
        module: str,
        source: str,
        *,
        group: str = "mtbias.languages",
        name: str = "TOY",
        version: str = "1.0",
    ) -> None:
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[{group}]\n{entry} = {module}:{name}\n")
        (tmp_path / f"{module}.py").write_text(source)
        modules.add(module)
        importlib.invalidate_caches()

    registry._load.cache_clear()
    yield make
    registry._load.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)
