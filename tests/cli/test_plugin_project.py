"""A language of a third party, built and installed for real: found, listed, checked and used."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.new_language.policy_rows import read_policy_rows
from mtbias.types import Gender, Reason
from scripts.policy import read_policy

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


@pytest.mark.slow
def test_the_language_is_listed_with_its_distribution(bare: Machine, installed: Path) -> None:
    assert "\npt " not in bare.run("list", "languages").stdout
    done = Machine(bare.folder, site=installed).run("list", "languages")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("pt ")]
    assert line.split()[1] == "Portuguese"
    assert "mtbias-portuguese 0.1.0" in line


def test_the_language_keeps_the_contract(bare: Machine, installed: Path) -> None:
    code = "from mtbias.language.installed import get_language; from mtbias.testing import check_language; "
    done = subprocess.run(
        [sys.executable, "-c", code + "check_language(get_language('pt'))"],
        capture_output=True,
        text=True,
        env=Machine(bare.folder, site=installed).environment(),
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


TRANSLATED = """\
The nurse was tired because she had worked all night .\tA enfermeira estava cansada.\tnurse\tfemale\tfemale
The carpenter said that he would come .\tO carpinteiro disse que viria.\tcarpenter\tmale\tmale
The manager said that she would come .\tA gerente disse que viria.\tmanager\tfemale\tfemale
The student said that she would come .\tCada estudante disse que viria.\tstudent\tfemale\tnone
The victim said that he would come .\tA vítima disse que viria.\tvictim\tmale\tnone
"""


def test_portuguese_translations_are_scored(installed: Path, stanza_dir: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, _with_portuguese(stanza_dir, tmp_path / "stanza"))
    rows = [line.split("\t") for line in TRANSLATED.splitlines()]
    corpus, given, out = tmp_path / "own.tsv", tmp_path / "pt.txt", tmp_path / "run"
    corpus.write_text("source\tgender\tentity\n" + "".join(f"{s}\t{g}\t{e}\n" for s, _, e, g, _ in rows), "utf-8")
    given.write_text("".join(f"{target}\n" for _, target, *_ in rows), "utf-8")
    command: tuple[str | Path, ...] = ("score", "--lang", "pt", "--translations", given, "--dataset", "custom")
    command += ("--data", corpus, "--out", out)
    done = machine.run(*command)
    assert done.returncode == 2
    assert "no language 'pt' is installed" in done.stderr
    done = replace(machine, site=installed).run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert "|lang:pt|" in done.stdout
    assert "|plugin:pt/" in done.stdout
    calls = [json.loads(line) for line in (out / "calls.jsonl").read_text("utf-8").splitlines()]
    assert [call["gender"] or "none" for call in calls] == [wanted for *_, wanted in rows]


def test_every_occupation_has_a_noun_for_women_and_men(bare: Machine, installed: Path) -> None:
    done = Machine(bare.folder, site=installed).run("languages", "check", "pt", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["contract_problems"] == found["without_noun"] == found["one_gender_only"] == []


def test_its_own_sentences_have_their_calls(bare: Machine, installed: Path) -> None:
    # There are no Portuguese models at hand: the analyses are by hand, in the form of UD's Portuguese treebanks.
    command = ("--challenge", PROJECT / "challenge" / "pt.tsv", "--analyses", PROJECT / "challenge" / "pt.conllu")
    done = Machine(bare.folder, site=installed).run("languages", "check", "pt", "--json", *command)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["wrong_calls"] == []
    rows = read_policy_rows(PROJECT / "challenge" / "pt.tsv")
    assert found["sentences"] == len(rows) > 60
    assert {row.call for row in rows} == {*Gender, Reason.NO_MORPHOLOGY, Reason.NO_PERSON, Reason.AMBIGUOUS}
    # Each kind of the policy is there; of the evidence all but that of case.
    shipped = {(row.kind, row.evidence): row.call for row in read_policy()}
    assert {row.kind for row in rows} == {kind for kind, _ in shipped}
    assert all(shipped[row.kind, row.evidence] is row.call for row in rows)


def _with_portuguese(models: Path, folder: Path) -> Path:
    """Stanza's folder with Spanish's models under Portuguese's name.

    No Portuguese models are at hand. A tagger of the wrong language is enough where the plugin's own table and articles
    decide, and what is tested is that a third party's language goes through the whole of `score`.
    """
    folder.mkdir()
    for name in ("es", "pt"):
        (folder / name).symlink_to(models / "es")
    resources = json.loads((models / "resources.json").read_text("utf-8"))
    resources["pt"] = {**resources["es"], "lang_name": "Portuguese"}
    (folder / "resources.json").write_text(json.dumps(resources), "utf-8")
    return folder


BROKEN = {
    "pt": ("LANGUAGE = 1 / 0", "fails to load (broken_pt:LANGUAGE): ZeroDivisionError"),
    "nl": ("LANGUAGE = 'Dutch'", "expected a mtbias.plugin.Language, got str"),
    "sv": ("", "fails to load (broken_sv:LANGUAGE): AttributeError"),
}


@pytest.mark.slow
def test_plugins_that_fail_are_named_and_the_others_go_on(bare: Machine, tmp_path: Path) -> None:
    place = tmp_path / "site"
    for code, (plugin, _) in BROKEN.items():
        _distribution(place, f"mtbias-broken-{code}", f"{code} = broken_{code}:LANGUAGE")
        (place / f"broken_{code}.py").write_text(plugin + "\n", encoding="utf-8")
    done = bare.run("list", "languages", PYTHONPATH=str(place))
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    for code, (_, says) in BROKEN.items():
        assert f"mtbias-broken-{code} 9.9" in lines[code]
        assert says in lines[code]
    assert "German" in lines["de"]
    done = bare.run("validate", "--lang", "pt", "--gold", "x.tsv", PYTHONPATH=str(place))
    assert (done.returncode, done.stdout) == (1, "")
    assert BROKEN["pt"][1] in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
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
