"""``mtbias explain``: how one call came about, of a sentence by itself or of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.demo import reference_file

STANZA = ("--stanza-dir", "mtbias:demo")
SOURCE = "The pilot talked with {} colleagues yesterday."
TARGETS = {
    "female": "Die Pilotin hat gestern mit ihren Kollegen gesprochen.",
    "male": "Der Pilot hat gestern mit seinen Kollegen gesprochen.",
}


@pytest.mark.parametrize(
    ("gender", "pronoun", "evidence"),
    [
        ("female", "her", "noun Pilotin female feminine_noun feminine: Pilotin"),
        ("male", "his", "noun Pilot male masculine_noun masculine: Pilot"),
    ],
)
def test_a_sentence_by_itself(
    gender: str, pronoun: str, evidence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", "--lang", "de", "--entity", "pilot", *STANZA]
    assert main([*words, SOURCE.format(pronoun), TARGETS[gender]]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    noun = evidence.split()[1]
    aligned = f"aligned {noun} links+lexicon, a known translation"
    assert any(line.startswith(aligned) for line in lines)
    assert evidence in lines
    assert f"Call: {gender}, at '{noun}' (aligned, links+lexicon)" in lines
    assert any(line.startswith("may_be_subject yes The phrase holds") for line in lines)


def test_a_sentence_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    given = ["--dataset", "demo", "--translations", str(reference_file("de")), "--resamples", "0"]
    assert main(["score", "--lang", "de", *STANZA, *given, "--out", run]) == 0
    capsys.readouterr()
    assert main(["explain", run, "demo-0002", *STANZA]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{SOURCE.format('her')}\n{TARGETS['female']}\n")
    assert "Call: female, at 'Pilotin'" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a", "b", "--lang", "de"), "expected --lang and --entity with a sentence, or neither"),
        (("nowhere", "demo-0001"), "nowhere: nowhere/manifest.json: no such file"),
        (
            ("The pilot left.", "Der Pilot ging.", "--lang", "de", "--entity", "cook"),
            "--entity: expected words that stand once in 'The pilot left.', got 'cook'",
        ),
    ],
)
def test_what_cannot_be_explained(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *words, *STANZA]) != 0
    assert said in capsys.readouterr().err


def test_an_id_that_no_sentence_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(tmp_path / "run")
    given = ["--dataset", "demo", "--translations", str(reference_file("de")), "--resamples", "0"]
    assert main(["score", "--lang", "de", *STANZA, *given, "--out", run]) == 0
    assert main(["explain", run, "demo-9999", *STANZA]) == 1
    expected = "expected the id of a translated sentence, such as 'demo-0001', got 'demo-9999'"
    assert expected in capsys.readouterr().err
