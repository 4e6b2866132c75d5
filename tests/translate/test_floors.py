"""The oldest releases that pyproject.toml allows translate what the newest do: found by trying, not
by reading."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mtbias.morphology.stanza_models import KNOWN

from .checkpoints import ROOT
from .conftest import Checkpoint
from .layouts import LAYOUTS, TARGETS
from .reference import translate

TRANSLATING = f"""
import json, sys
sys.path[:0] = {[str(ROOT), str(ROOT / "languages")]!r}
import transformers
from pathlib import Path
from tests.translate.reference import translate
made = {{folder: translate(Path(folder), lang) for folder, lang in json.load(sys.stdin).items()}}
print(json.dumps([transformers.__version__, made]))
"""


def floor(name: str) -> str:
    """The oldest release of a dependency that pyproject.toml allows."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "dependencies"
    ]
    (found,) = (
        re.fullmatch(rf"{name}>=([\d.]+)", one) for one in declared if one.startswith(f"{name}>")
    )
    assert found is not None
    return found[1]


def test_torch_is_the_release_that_transformers_wants_for_pickled_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from transformers.utils import import_utils

    wanted: list[str] = []

    def ask(release: str, **_: object) -> bool:
        wanted.append(release)
        return True

    monkeypatch.setattr(import_utils, "is_torch_greater_or_equal", ask)
    import_utils.check_torch_load_is_safe()
    assert [floor("torch")] == wanted


def test_stanza_is_the_release_that_reads_the_models_of_today() -> None:
    assert floor("stanza") == KNOWN


@pytest.mark.slow
def test_the_oldest_transformers(checkpoint: Checkpoint, tmp_path: Path) -> None:
    # Into a folder before everything else: torch, which it does not need to be installed, is the
    # one that is here.
    oldest = floor("transformers")
    target = tmp_path / "older"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--target",
        str(target),
        f"transformers=={oldest}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(
            f"pip installs no transformers {oldest} here: {done.stderr.strip().splitlines()[-1]}"
        )
    folders: dict[str, str] = {}
    for name, lang in TARGETS.items():
        folders[str(checkpoint(name))] = lang
        for n, (names, make) in enumerate(LAYOUTS.values()):
            if name in names:
                copy = shutil.copytree(checkpoint(name), tmp_path / f"{name}-{n}")
                folders[str(make(Path(copy)))] = lang
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        [sys.executable, "-c", TRANSLATING],
        input=json.dumps(folders),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    version, made = json.loads(done.stdout)
    assert version == oldest if oldest.count(".") == 2 else version.startswith(oldest)
    assert made == {folder: translate(Path(folder), lang) for folder, lang in folders.items()}
