"""From text to a report in one test: mined, evaluated with the demo's model, taken by all that take
one of BUG's."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from mtbias.cli import main
from mtbias.coref.bug_links import read_bug
from mtbias.files.reading import Table, read_table

OCCUPATIONS = """\
occupation,entities,M_workers,F_workers
nurses,nurse,12,88
carpenters,carpenter,97,3
clerks,"clerk, receptionist",20,80
managers,manager,60,40
"""

TEXT = """\
The manager told us that he would call again. Nobody came.
The carpenter and her friends slept late. It rained all day.
The receptionist lost his keys on the way to the hall.
The nurse is known for her patience.
"""


def _run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The output of a command that succeeds."""
    code = main(list(map(str, words)))
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def _mine(
    folder: Path, capsys: pytest.CaptureFixture[str], *options: object
) -> tuple[Path, Table, dict[str, Any]]:
    occupations, out = folder / "occupations.csv", folder / "mined.tsv"
    occupations.write_text(OCCUPATIONS, encoding="utf-8")
    given = ["--occupations", occupations, "--out", out, "--cache-dir", folder / "cache", "--json"]
    report = json.loads(_run(capsys, "corpora", "mine", *options, *given))
    return out, read_table(out), report


def _use(corpus: Path, table: Table, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evaluate, and give the corpus to every command that takes one of BUG's."""
    n, data = len(table.records), ("--data", corpus)
    run = folder / "run"
    _run(capsys, "eval", "--model", "demo", "--lang", "de", "--dataset", "bug", *data, "--out", run,
         "--stanza-dir", "mtbias:demo", "--resamples", 200)  # fmt: skip
    calls = [
        json.loads(line) for line in (run / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [call["source"] for call in calls] == [
        record.get("sentence_text") for record in table.records
    ]
    assert [call["entity"] for call in calls] == [
        record.get("profession").lower() for record in table.records
    ]
    report = folder / "report.html"
    _run(capsys, "report", run, "--out", report)
    assert "<h1>" in report.read_text(encoding="utf-8")

    bug = read_bug(corpus)
    assert len(bug.rows) == n
    assert not any(row.misplaced for row in bug.rows)
    exported, found = folder / "documents.jsonl", folder / "clusters.jsonl"
    _run(capsys, "coref", "export", "bug", *data, "--format", "jsonl", "--out", exported)
    assert len(exported.read_text(encoding="utf-8").splitlines()) == n
    program = f"{shlex.quote(sys.executable)} -c 'import shutil, sys; shutil.copy(*sys.argv[1:])' {{in}} {{out}}"
    _run(
        capsys,
        "coref",
        "run",
        "--system",
        "command",
        "--command",
        program,
        "--dataset",
        "bug",
        *data,
        "--out",
        found,
    )
    shown = _run(capsys, "coref", "score", "bug", *data, "--predictions", found, "--counts")
    assert f"all {n} 0" in " ".join(shown.split())

    pairs = folder / "pairs.tsv"
    made = json.loads(
        _run(
            capsys, "corpora", "counterfactual", "--dataset", "bug", *data, "--out", pairs, "--json"
        )
    )
    assert (made["swapped"], made["written"]) == (n, 2 * n)
    page = json.loads(
        _run(capsys, "corpora", "check", *data, "--out", folder / "check.html", "--json")
    )
    assert (page["rows"], page["drawn"]) == (n, n)


@pytest.mark.slow
def test_from_text(stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text(TEXT, encoding="utf-8")
    corpus, table, report = _mine(tmp_path, capsys, "--text", notes, "--stanza-dir", stanza_dir)
    rows = {record.get("profession"): record for record in table.records}
    assert report["rows"] == len(table.records) == len(rows)
    assert rows["carpenter"].get("sentence_text") == "The carpenter and her friends slept late ."
    assert rows["carpenter"].get("pattern").startswith("13")
    assert rows["manager"].get("g") == "he"
    kept = (
        "g",
        "predicted gender",
        "stereotype",
        "distance",
        "num_of_pronouns",
        "corpus",
        "data_index",
    )
    assert [rows["receptionist"].get(column) for column in kept] == [
        "his",
        "Male",
        "-1",
        "2",
        "1",
        "notes",
        "17",
    ]
    assert f"- Rows: {report['rows']}\n" in corpus.with_suffix(".md").read_text(encoding="utf-8")
    _use(corpus, table, tmp_path, capsys)
    sample = tmp_path / "sample.tsv"
    _run(
        capsys,
        "corpora",
        "balance",
        "--dataset",
        "bug",
        "--data",
        corpus,
        "--out",
        sample,
        "--over",
        "domain",
    )
    assert len(read_table(sample).records) == 4
