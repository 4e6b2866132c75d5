"""`mtbias crosscheck`: two runs over one file of translations, as table, rows, JSON and page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.runs.call_records import CallRecord
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.reference_words import FoundWords, WordRecord
from mtbias.types import Evidence, Gender, GenderCall, Json, Span, Stereotype, Translation

M, F = Gender.MALE, Gender.FEMALE

SOURCES = ["She is a baker.", "Her teacher slept.", "He is a baker.", "His teacher slept."]
TARGETS = [
    "Sie ist Bäckerin.",
    "Die Lehrerin schlief.",
    "Er ist Bäckerin.",
    "Der Lehrer <b>schlief, Ihre Bank und ihre Uhr.",  # "Ihre" is about something else
]
RIGHT = ["Sie Bäckerin.", "Lehrerin", "Er", "Lehrer"]
WRONG = ["", "", "Bäckerin.", "Ihre"]
PERSONS = [("baker", F, F), ("teacher", F, F), ("baker", M, F), ("teacher", M, M)]
"""Entity, gold and call of each sentence."""


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """The folders of two runs over `TARGETS`."""
    words, persons = [], []
    for n, (source, target, (entity, gold, called)) in enumerate(zip(SOURCES, TARGETS, PERSONS, strict=True)):
        found = FoundWords(tuple(RIGHT[n].split()), tuple(WRONG[n].split()))
        pair = "masculine" if gold is F else "feminine"
        words.append(
            WordRecord(f"{n}", n, source, target, gold, f"{pair}-{n % 2}", "–", correct=not found.wrong, evidence=found)
        )
        noun = target.split()[-1 if entity == "baker" else 1]
        span = Span(target.index(noun), target.index(noun) + len(noun))
        call = GenderCall(f"geneval-{n}-1", called, None, (span,), (Evidence("noun", noun, called, "lexicon"),))
        persons.append(CallRecord(n, source, target, entity, gold, Stereotype.NONE, "wikipedia", 0, call))
    return (
        _folder(tmp_path / "words", "mt-geneval", words, measure="mt-geneval", variant="plain"),
        _folder(tmp_path / "persons", "mt-geneval-entities", persons, aligner="agree/1"),
    )


def _folder(path: Path, dataset: str, records: Sequence[WordRecord | CallRecord], **identity: Json) -> str:
    same: dict[str, Json] = {
        "dataset": dataset, "data": {"x.tsv": "00ff"}, "language": "de", "system": "google", "stanza": "stanza/1",
        "plugin": "de/1", "mtbias": "0.1.0", "seed": 0, "resamples": 0,
    }  # fmt: skip
    with RunFolder(path).open_or_create({**same, **identity}) as folder:
        folder.write_translations([Translation(r.id, r.translation) for r in records])
        folder.write_calls(record.to_json() for record in records)
        folder.write_metrics({"schema": 1, "fingerprint": folder.manifest.fingerprint, "n": len(records)})
    return str(path)


def test_the_table_says_on_how_many_sentences_the_measures_agree(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crosscheck", *runs, "--rows", "-"]) == 0
    out = capsys.readouterr().out
    cells = {line.split("  ")[0]: line.split()[-4:] for line in out.splitlines() if line.startswith(("right", "wrong"))}
    assert cells == {
        "right": ["2", "0", "0", "0"],
        "right without evidence": ["0", "0", "0", "0"],
        "wrong": ["1", "1", "0", "0"],
    }
    assert "The measures agree on 75.0 % [30.1, 95.4] of the 4 sentences that both decide, and differ on 1\n" in out
    assert "3: wrong by words, right by persons\n" in out
    assert "  words        right: Lehrer; wrong: Ihre\n" in out
    assert "  person       teacher (male): male [noun Lehrer: male (lexicon)]\n" in out


def test_json_rows_and_page(runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, page = tmp_path / "rows.jsonl", tmp_path / "page.html"
    assert main(["crosscheck", *runs, "--rows", str(rows), "--report", str(page), "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["lang"], plain["agreement"], plain["differing"], plain["n"]) == ("de", 75.0, 1, 4)
    assert plain["signatures"].keys() == {"mt-geneval", "gender"}
    (row,) = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert (row["id"], row["words"]["wrong"], row["persons"][0]["gender"]) == ("3", ["Ihre"], "male")
    assert main(["crosscheck", *runs, "--rows", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == [row]
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert '<mark class="head">Lehrer</mark>' in text
    assert '<mark class="other">Ihre</mark> Bank und ihre Uhr.' in text  # the word as it is written, no other
    assert '<mark class="head">teacher</mark>' in text
    assert "</mark> &lt;b&gt;schlief, " in text
    assert "75.0 % [30.1, 95.4]" in text


def test_what_is_no_pair_of_runs_is_one_line(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, persons = runs
    for given, code, said in (
        ([words, words], 1, "expected a run of the measure mt-geneval and one of the measure gender"),
        ([words, str(tmp_path)], 1, str(tmp_path)),
        ([words, persons, "--report", str(tmp_path)], 2, "--report: expected a file, got the folder"),
        ([words, persons, "--rows", str(tmp_path)], 2, "--rows: expected a file, got the folder"),
    ):
        assert main(["crosscheck", *given]) == code
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert said in err
