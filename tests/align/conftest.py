"""Small encoders for the tests of neural alignment, made once a session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.built import built

os.environ["HF_HUB_OFFLINE"] = (
    "1"  # before transformers is imported: nothing here may ask the network
)


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mBERT's layout, English and German."""
    from .encoders import make_bert

    return built(tmp_path_factory, "bert", make_bert)


@pytest.fixture(scope="session")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XLM-R's layout, English and German."""
    from .encoders import make_xlmr

    return built(tmp_path_factory, "xlmr", make_xlmr)
