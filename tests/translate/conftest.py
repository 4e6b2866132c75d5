"""Checkpoints for the tests of generation: small ones made once a session, and a small trained one
where it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.built import built

os.environ["HF_HUB_OFFLINE"] = (
    "1"  # before transformers is imported: nothing here may ask the network
)

Checkpoint = Callable[[str], Path]
OTHERS = {"marian-multi", "nllb", "madlad"}
"""Families beside the three that the papers use: their cases are slow tests."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases of other families."""
    for item in items:
        case = getattr(item, "callspec", None)
        if (
            case is not None
            and case.params.get("name") in OTHERS
            and item.path.parent == Path(__file__).parent
        ):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """``checkpoint("m2m100")``: the folder of a small checkpoint of `checkpoints.MAKERS`, made when
    first asked for.

    Tests that change a checkpoint copy it first.
    """
    from .checkpoints import MAKERS

    return cache(lambda name: built(tmp_path_factory, name, MAKERS[name]))


@pytest.fixture
def copied(checkpoint: Checkpoint, tmp_path: Path) -> Callable[[str], Path]:
    """``copied("m2m100")``: a checkpoint that a test may change."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(checkpoint(name), tmp_path / name))

    return copy


@pytest.fixture(scope="session")
def marian(checkpoint: Checkpoint) -> Path:
    """Opus-MT, English into German."""
    return checkpoint("marian")


@pytest.fixture(scope="session")
def marian_multi(checkpoint: Checkpoint) -> Path:
    """Opus-MT into ``>>ara<<`` and ``>>heb<<``."""
    return checkpoint("marian-multi")


@pytest.fixture(scope="session")
def m2m100(checkpoint: Checkpoint) -> Path:
    """M2M100."""
    return checkpoint("m2m100")


@pytest.fixture(scope="session")
def mbart50(checkpoint: Checkpoint) -> Path:
    """mBART50 many-to-many."""
    return checkpoint("mbart50")


@pytest.fixture(scope="session")
def nllb(checkpoint: Checkpoint) -> Path:
    """NLLB-200."""
    return checkpoint("nllb")


@pytest.fixture(scope="session")
def madlad(checkpoint: Checkpoint) -> Path:
    """MADLAD-400."""
    return checkpoint("madlad")


@pytest.fixture(scope="session")
def mini(shared: Path) -> Path:
    """A small trained M2M100 of the public data."""
    folder = shared / "mt_checkpoints" / "winomt-m2m100-mini"
    if not (folder / "config.json").is_file():
        pytest.skip(f"no small trained checkpoint at {folder}: set MTBIAS_SHARED")
    return folder


@pytest.fixture(scope="session")
def ct2_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for checkpoints that are converted to CTranslate2 once a session."""
    return tmp_path_factory.mktemp("cache")
