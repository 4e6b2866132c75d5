"""What takes long to build, once for all test processes of a session."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.files.writing import waiting_lock


def built(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` is given and fills, unless another process of this session has; tests
    copy and never change it.
    """
    home = factory.getbasetemp()
    home = (
        home.parent / f"built-{home.parent.name}"
        if "PYTEST_XDIST_WORKER" in os.environ
        else home / "built"
    )
    folder, done = home / name, home / f"{name}.done"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with waiting_lock(home / f"{name.replace('/', '-')}.lock"):
        if not done.is_file():
            make(folder)
            done.touch()
    return folder
