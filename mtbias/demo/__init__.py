"""What ships with mtbias so that it can be tried without any network: a corpus, a model, Stanza
pipelines.

All of it is made by ``scripts/build_demo.py`` from a small parallel grammar. The model has learned
from text with a stereotyped imbalance, on purpose: what it scores says something about mtbias and
nothing about any real system.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

__all__ = [
    "STANZA_NAME",
    "demo_file",
    "languages",
    "model_folder_of_demo",
    "reference_file",
    "stanza_folder_of_demo",
]

STANZA_NAME = "mtbias:demo"
"""What ``--stanza-dir`` is given to use the demo's Stanza pipelines with translations from
elsewhere."""


def _folder() -> Path:
    return Path(str(resources.files("mtbias"))) / "demo"


def demo_file() -> Path:
    """The corpus: 512 English sentences."""
    return _folder() / "corpus.tsv"


def languages() -> list[str]:
    """The languages into which the model translates."""
    return sorted(path.stem for path in (_folder() / "references").iterdir())


def reference_file(language: str) -> Path:
    """The correct translations of the corpus: columns ``id`` and ``target``."""
    return _folder() / "references" / f"{language}.tsv"


def model_folder_of_demo() -> Path:
    """The translation model, a checkpoint in Hugging Face's layout."""
    return _folder() / "model"


def stanza_folder_of_demo() -> Path:
    """The Stanza pipelines, a folder of Stanza resources."""
    return _folder() / "stanza"
