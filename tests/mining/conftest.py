"""Stanza's English parser, loaded once."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from mtbias.morphology import english_parser
from mtbias.morphology.english_parser import EnglishParser
from mtbias.morphology.stanza_models import PARSER, find_package, load_pipeline


@pytest.fixture(scope="session")
def parser(stanza_dir: Path) -> EnglishParser:
    return EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")


_loaded = functools.cache(load_pipeline)


@pytest.fixture
def pipeline_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every parser of this process has the same pipeline."""
    monkeypatch.setattr(english_parser, "load_pipeline", _loaded)
