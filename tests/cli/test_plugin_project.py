"""A language of a third party, drafted, filled in, built and installed for real: found, listed,
checked and used.

It is Dutch with the 104 entities of WinoMT: what the draft gives, and the work by hand of
`tests/new_language/dutch`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.new_language.policy_rows import read_policy_rows
from scripts.label_sets.policy import read_policy

from .machine import Machine

BY_HAND = Path(__file__).resolve().parent.parent / "new_language" / "dutch"
NEUTER = ("kind", "slachtoffer")
"""Nouns that the list has as one form for both, and whose gender says nothing of the person: two
rows to correct."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin as `pip install` lays it out."""
    project, target = (
        tmp_path_factory.mktemp("project") / "mtbias-dutch",
        tmp_path_factory.mktemp("installed"),
    )
    draft = [
        "languages",
        "new",
        "nl",
        "--lexicon",
        str(BY_HAND / "nouns.tsv"),
        "--out",
        str(project),
    ]
    assert main([*draft, "--stanza-dir", str(target)]) == 0
    data = project / "mtbias_dutch" / "data"
    nouns = (data / "nl_nouns.tsv").read_text("utf-8").replace("# check ", "")
    for noun in NEUTER:
        nouns = nouns.replace(f"\t{noun}\tcommon\t", f"\t{noun}\tfixed\t")
    (data / "nl_nouns.tsv").write_text(nouns, "utf-8")
    shutil.copy(BY_HAND / "rules.toml", data / "nl.toml")
    options = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        str(target),
    ]
    command = [sys.executable, "-m", "pip", "install", *options, str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.slow
def test_the_language_is_listed_with_its_distribution(bare: Machine, installed: Path) -> None:
    done = replace(bare, site=installed).run("list", "languages")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("nl ")]
    assert line.split()[1] == "Dutch"
    assert "mtbias-dutch 0.1.0" in line


def test_its_contract_its_nouns_and_its_sentences(bare: Machine, installed: Path) -> None:
    # There are no Dutch models at hand: the analyses are by hand.
    sentences, analyses = BY_HAND / "challenge.tsv", BY_HAND / "challenge.conllu"
    command = (
        "languages",
        "check",
        "nl",
        "--json",
        "--challenge",
        sentences,
        "--analyses",
        analyses,
    )
    done = replace(bare, site=installed).run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["contract_problems"] == found["winomt_without_noun"] == found["wrong_calls"] == []
    assert (
        found["gender_pairs"]["male"]
        == found["gender_pairs"]["female"]
        == found["gender_pairs"]["pairs"]
        > 500
    )
    assert (found["winomt_entities"], len(found["without_noun"])) == (104, 442)
    rows = read_policy_rows(sentences)
    assert found["sentences"] == len(rows) == 21
    shipped = {(row.kind, row.evidence): row.call for row in read_policy()}
    assert all(shipped[row.kind, row.evidence] is row.call for row in rows)


TRANSLATED = """\
The nurse was tired because she had worked all night .\tDe verpleegster was moe.\tnurse\tfemale\tfemale
The carpenter said that he would come .\tDe timmerman zei dat hij zou komen.\tcarpenter\tmale\tmale
The manager said that she would come .\tDe manager zei dat zij zou komen.\tmanager\tfemale\tnone
The victim said that he would come .\tHet slachtoffer zei dat hij zou komen.\tvictim\tmale\tnone
"""


def test_translations_are_scored(installed: Path, stanza_dir: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, _with_dutch(stanza_dir, tmp_path / "stanza"))
    rows = [line.split("\t") for line in TRANSLATED.splitlines()]
    corpus, given, out = tmp_path / "own.tsv", tmp_path / "nl.txt", tmp_path / "run"
    corpus.write_text(
        "source\tgender\tentity\n" + "".join(f"{s}\t{g}\t{e}\n" for s, _, e, g, _ in rows), "utf-8"
    )
    given.write_text("".join(f"{target}\n" for _, target, *_ in rows), "utf-8")
    command: tuple[str | Path, ...] = (
        "score",
        "--lang",
        "nl",
        "--translations",
        given,
        "--dataset",
        "custom",
    )
    command += ("--data", corpus, "--out", out)
    done = machine.run(*command)
    assert done.returncode == 2
    assert "no language 'nl' is installed" in done.stderr
    done = replace(machine, site=installed).run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert "|lang:nl|" in done.stdout
    assert "|plugin:nl/" in done.stdout
    calls = [json.loads(line) for line in (out / "calls.jsonl").read_text("utf-8").splitlines()]
    assert [call["gender"] or "none" for call in calls] == [wanted for *_, wanted in rows]
    assert [call["does"] for call in calls] == [
        "female",
        "male",
        "neutral:epicene",
        "neutral:epicene",
    ]


def _with_dutch(models: Path, folder: Path) -> Path:
    """Stanza's folder with German's models under Dutch's name.

    No Dutch models are at hand. A tagger of the wrong language is enough where the plugin's own
    table decides, and what is tested is that a third party's language goes through the whole of
    `score`.
    """
    folder.mkdir()
    for name in ("de", "nl"):
        (folder / name).symlink_to(models / "de")
    resources = json.loads((models / "resources.json").read_text("utf-8"))
    resources["nl"] = {**resources["de"], "lang_name": "Dutch"}
    (folder / "resources.json").write_text(json.dumps(resources), "utf-8")
    return folder


BROKEN = {
    "pl": ("LANGUAGE = 1 / 0", "fails to load (broken_pl:LANGUAGE): ZeroDivisionError"),
    "no": ("LANGUAGE = 'Norwegian'", "expected a mtbias.plugin.Language, got str"),
    "sv": ("", "fails to load (broken_sv:LANGUAGE): AttributeError"),
}


@pytest.mark.slow
def test_plugins_that_fail_are_named_and_the_others_go_on(bare: Machine, tmp_path: Path) -> None:
    place = tmp_path / "site"
    for code, (plugin, _) in BROKEN.items():
        _distribution(place, f"mtbias-broken-{code}", f"{code} = broken_{code}:LANGUAGE")
        (place / f"broken_{code}.py").write_text(plugin + "\n", encoding="utf-8")
    machine = replace(bare, site=place)
    done = machine.run("list", "languages")
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    for code, (_, says) in BROKEN.items():
        assert f"mtbias-broken-{code} 9.9" in lines[code]
        assert says in lines[code]
    assert "German" in lines["de"]
    done = machine.run("validate", "--lang", "pl", "--gold", "x.tsv")
    assert (done.returncode, done.stdout) == (1, "")
    assert BROKEN["pl"][1] in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_two_plugins_for_one_language_are_both_named(bare: Machine, tmp_path: Path) -> None:
    place = tmp_path / "site"
    _distribution(place, "mtbias-deutsch", "de = mtbias_languages.german:GERMAN")
    done = replace(bare, site=place).run("validate", "--lang", "de", "--gold", "x.tsv")
    assert (done.returncode, done.stdout) == (1, "")
    assert "language 'de' is registered twice" in done.stderr
    assert "mtbias-deutsch 9.9" in done.stderr
    assert "uninstall one of them" in done.stderr


def _distribution(place: Path, name: str, entry: str) -> None:
    """The metadata of an installed distribution that registers a language."""
    folder = place / f"{name.replace('-', '_')}-9.9.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n", encoding="utf-8"
    )
    (folder / "entry_points.txt").write_text(f"[mtbias.languages]\n{entry}\n", encoding="utf-8")
