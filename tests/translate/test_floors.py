"""The oldest releases that pyproject.toml allows translate what the newest do: found by trying, not by reading."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .checkpoints import ROOT
from .conftest import Checkpoint
from .reference import translate

FAMILIES = {"marian": "de", "marian-multi": "ar", "m2m100": "de", "mbart50": "de", "nllb": "de", "madlad": "de"}
TRANSLATING = f"""
import json, sys
sys.path[:0] = {[str(ROOT), str(ROOT / "languages")]!r}
import transformers
from pathlib import Path
from tests.translate.reference import translate
made = {{name: translate(Path(folder), lang) for name, (folder, lang) in json.loads(sys.argv[1]).items()}}
print(json.dumps([transformers.__version__, made]))
"""


def floor(name: str) -> str:
    """The oldest release of a dependency that pyproject.toml allows."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    (found,) = (re.fullmatch(rf"{name}>=([\d.]+)", one) for one in declared if one.startswith(f"{name}>"))
    assert found is not None
    return found[1]


@pytest.mark.slow
def test_the_oldest_transformers(checkpoint: Checkpoint, tmp_path: Path) -> None:
    # Into a folder before everything else: torch, which it does not need to be installed, is the one that is here.
    oldest = floor("transformers")
    target = tmp_path / "older"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), f"transformers=={oldest}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip installs no transformers {oldest} here: {done.stderr.strip().splitlines()[-1]}")
    folders = {name: (str(checkpoint(name)), lang) for name, lang in FAMILIES.items()}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", TRANSLATING, json.dumps(folders)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    version, made = json.loads(done.stdout)
    assert version == oldest if oldest.count(".") == 2 else version.startswith(oldest)
    assert made == {name: translate(checkpoint(name), lang) for name, lang in FAMILIES.items()}
