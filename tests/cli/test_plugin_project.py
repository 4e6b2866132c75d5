"""A language of a third party, built and installed for real: found, listed, checked and used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import small_winomt
from .machine import Machine

PROJECT = Path(__file__).resolve().parent.parent / "plugin_project"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin as `pip install` lays it out, from a copy, so that the checkout stays as it is."""
    target = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *options, str(PROJECT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def test_the_language_is_listed_with_its_distribution(bare: Machine, installed: Path) -> None:
    assert "fr " not in bare.run("languages").stdout
    done = bare.run("languages", PYTHONPATH=str(installed))
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("fr ")]
    assert line.split()[1] == "French"
    assert "mtbias-french 0.1.0" in line


def test_the_language_keeps_the_contract(bare: Machine, installed: Path) -> None:
    code = "from mtbias.language.installed import get_language; from mtbias.testing import check_language; "
    done = subprocess.run(
        [sys.executable, "-c", code + "check_language(get_language('fr'))"],
        capture_output=True,
        text=True,
        env=bare.environment(PYTHONPATH=str(installed)),
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_french_translations_are_scored(installed: Path, winomt: Path, stanza_dir: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, stanza_dir)
    corpus = small_winomt(winomt, tmp_path / "winomt", every=30)  # 130 rows
    given = winomt / "translations" / "google" / "en-fr.txt"
    command: tuple[str | Path, ...] = ("score", "--lang", "fr", "--translations", given, "--data", corpus)
    done = machine.run(*command)
    assert done.returncode == 2
    assert "no language 'fr' is installed" in done.stderr
    done = machine.run(*command, PYTHONPATH=str(installed))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("130 sentences, ")
    assert "|lang:fr|" in done.stdout
    assert "|plugin:fr/" in done.stdout


@pytest.mark.parametrize(
    ("plugin", "says"),
    [
        ("FRENCH = 1 / 0", "fails to load (broken:FRENCH): ZeroDivisionError"),
        ("FRENCH = 'French'", "expected a mtbias.plugin.Language, got str"),
        ("", "fails to load (broken:FRENCH): AttributeError"),
    ],
)
def test_a_plugin_that_fails_is_named_and_the_others_go_on(
    bare: Machine, tmp_path: Path, plugin: str, says: str
) -> None:
    place = tmp_path / "site"
    _distribution(place, "mtbias-broken", "fr = broken:FRENCH")
    (place / "broken.py").write_text(plugin + "\n", encoding="utf-8")
    done = bare.run("languages", PYTHONPATH=str(place))
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "mtbias-broken 9.9" in lines["fr"]
    assert says in lines["fr"]
    assert "German" in lines["de"]
    done = bare.run("validate", "--lang", "fr", "--gold", "x.tsv", PYTHONPATH=str(place))
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_two_plugins_for_one_language_are_both_named(bare: Machine, tmp_path: Path) -> None:
    place = tmp_path / "site"
    _distribution(place, "mtbias-deutsch", "de = mtbias_languages.german:GERMAN")
    done = bare.run("validate", "--lang", "de", "--gold", "x.tsv", PYTHONPATH=str(place))
    assert (done.returncode, done.stdout) == (1, "")
    assert "language 'de' is registered twice" in done.stderr
    assert "mtbias-deutsch 9.9" in done.stderr
    assert "uninstall one of them" in done.stderr


def _distribution(place: Path, name: str, entry: str) -> None:
    """The metadata of an installed distribution that registers a language."""
    folder = place / f"{name.replace('-', '_')}-9.9.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(f"[mtbias.languages]\n{entry}\n", encoding="utf-8")
