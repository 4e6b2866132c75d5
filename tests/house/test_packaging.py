"""The wheel as users get it: what is in it, and that it works from outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

from mtbias import __version__, entry_points
from scripts.labelled import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
CODES = SHIPPED


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        str(folder),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content as `pip install` lays it out; put before everything else, it hides the
    checkout."""
    target = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(wheel)],
        check=True,
        capture_output=True,
    )
    return target


def _run(installed: Path, cwd: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed), "MTBIAS_CACHE": str(cwd / "cache")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_wheel_is_for_every_machine(wheel: Path) -> None:
    assert wheel.name == f"mtbias-{__version__}-py3-none-any.whl"


def test_the_wheel_holds_code_data_and_licence_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    info = f"mtbias-{__version__}.dist-info"
    assert {PurePosixPath(name).parts[0] for name in names} == {"mtbias", "mtbias_languages", info}
    assert {f"{info}/licenses/LICENSE", "mtbias/py.typed", "mtbias_languages/py.typed"} <= set(
        names
    )
    assert "mtbias/corpora/catalog.toml" in names
    for code in CODES:
        assert {
            f"mtbias_languages/data/{code}.toml",
            f"mtbias_languages/data/{code}_nouns.tsv",
        } <= set(names)
    suffixes = {PurePosixPath(name).suffix for name in names if not name.startswith(info)}
    # The report's templates, style and script; a new language's templates and list of occupations;
    # a harness's task; the demo's model and Stanza models.
    of_the_demo = {".json", ".model", ".safetensors", ".pt"}
    of_pages = {".html", ".svg", ".css", ".js"}
    assert (
        suffixes
        == {".py", ".toml", ".tsv", ".typed", ".jinja", ".txt", ".yaml"} | of_pages | of_the_demo
    )
    assert {name.split("/")[1] for name in names if PurePosixPath(name).suffix in of_the_demo} == {
        "demo"
    }
    here = {str(p.relative_to(ROOT)) for p in (ROOT / "mtbias").rglob("*.py")}
    assert {name for name in names if name.startswith("mtbias/") and name.endswith(".py")} == here


def test_the_metadata_say_what_the_project_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"mtbias-{__version__}.dist-info/METADATA").decode()
        entries = archive.read(f"mtbias-{__version__}.dist-info/entry_points.txt").decode()
    metadata = Parser().parsestr(text)
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == (
        "mtbias",
        __version__,
        "Apache-2.0",
    )
    assert "mtbias = mtbias.cli:main" in entries
    for code in CODES:
        assert f"\n{code} = mtbias_languages." in entries


@pytest.mark.slow
def test_the_wheel_works_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = (
        "import mtbias, mtbias_languages; print(mtbias.__file__); print(mtbias_languages.__file__)"
    )
    places = _run(installed, tmp_path, "-c", code).splitlines()
    assert places == [
        str(installed / name / "__init__.py") for name in ("mtbias", "mtbias_languages")
    ]
    assert _run(installed, tmp_path, "-m", "mtbias", "--version") == f"mtbias {__version__}\n"
    listed = {
        line.split()[0]
        for line in _run(installed, tmp_path, "-m", "mtbias", "list", "languages").splitlines()
    }
    assert set(CODES) <= listed
    assert "winomt" in _run(installed, tmp_path, "-m", "mtbias", "list", "datasets")


def test_the_checkout_registers_the_same_languages() -> None:
    assert set(entry_points.installed("mtbias.languages")) >= set(CODES)
