"""Fixtures for all tests: where the public data is, and how to skip without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder of public data: ``MTBIAS_SHARED``, by default ``../shared`` beside the checkout."""
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
