"""``mtbias explain``: how one call came about, of a sentence by itself or of a run."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.demo import reference_file
from mtbias.runs.finished_run import read_run
from tests.report.page_reader import read_page
from tests.report.run_maker import make_records, write_run

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
            "--entity: expected words that occur once in 'The pilot left.', got 'cook'",
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


def test_the_command_of_a_page_explains_the_call_that_stands_above_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "the demo's run"
    given = ["--dataset", "demo", "--translations", str(reference_file("de")), "--resamples", "0"]
    options = ["--lang", "de", "--evidence", "stanza", *STANZA]
    assert main(["score", *options, *given, "--out", str(run)]) == 0
    page = read_page((run / "report.html").read_text(encoding="utf-8"))
    fold = next(page.one("ol", id="list").all("details"))
    texts = {
        term.text: text.text for term, text in zip(fold.all("dt"), fold.all("dd"), strict=True)
    }
    capsys.readouterr()
    mtbias, *words = shlex.split(texts["all steps"])
    assert mtbias == "mtbias"
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    (call,) = (line for line in lines if line.startswith("Call: "))
    assert call == f"Call: {texts['call']}, at {texts['word']!r}"
    # The rule of the second reader: the page and the command name the same one.
    assert "rule features_alone" in texts["noun"]
    assert any(line.split()[:1] == ["noun"] and "features_alone" in line for line in lines)


def test_a_call_that_is_another_than_the_runs_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    given = ["--dataset", "demo", "--translations", str(reference_file("de")), "--resamples", "0"]
    options = ["--lang", "de", "--evidence", "stanza", *STANZA]
    assert main(["score", *options, *given, "--out", run]) == 0
    capsys.readouterr()
    assert main(["explain", run, "demo-0002", *STANZA]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    # The genders are the same, read by other rules.
    assert last == (
        "In the run the call is another: female (Pilotin female, Die female); "
        "evidence stanza/1, here tables"
    )


def test_an_entity_that_stands_twice_is_the_one_of_the_runs_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second pilot is meant, and hers is the only feminine noun."""
    source = "The pilot talked with the pilot."
    target = "Der Pilot hat mit der Pilotin gesprochen."
    sentences, translations = tmp_path / "own.tsv", tmp_path / "own.txt"
    columns = ("source", "entity", "entity_index", "gender")
    rows = [columns, (source, "pilot", "5", "female")]
    sentences.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    translations.write_text(f"{target}\n", encoding="utf-8")
    run = str(tmp_path / "run")
    given = ["--dataset", "custom", "--data", str(sentences), "--translations", str(translations)]
    options = ["--lang", "de", *STANZA, "--resamples", "0"]
    assert main(["score", *options, *given, "--out", run]) == 0
    (record,) = read_run(run).calls
    assert [record.translation[slice(*span)] for span in record.call.target[:1]] == ["Pilotin"]
    capsys.readouterr()
    assert main(["explain", run, record.id, *STANZA]) == 0
    out = capsys.readouterr().out
    assert "Call: female, at 'Pilotin'" in out
    assert "In the run" not in out


def test_a_run_of_another_measure_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", "opus", make_records([True] * 4), measure="mt-geneval")
    assert main(["explain", str(run), "r0"]) == 2
    expected = "expected a run that reads the gender of a person, got one of mt-geneval"
    assert expected in capsys.readouterr().err
