"""From text to a report in one test: mined, evaluated with the demo's model, taken by all that take one of BUG's."""

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

TREE = """\
# text = The {noun} lost {pronoun} keys.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\t{noun}\t{noun}\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_
3\tlost\tlose\tVERB\tVBD\t_\t0\troot\t_\t_
4\t{pronoun}\t{pronoun}\tPRON\tPRP$\tPoss=Yes\t5\tnmod:poss\t_\t_
5\tkeys\tkey\tNOUN\tNNS\tNumber=Plur\t3\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
"""The paper's pattern 11."""

PAIRS = [("nurse", "her"), ("nurse", "his"), ("carpenter", "his"), ("clerk", "her"), ("writer", "his")]
"""The last is not on the list."""


def _run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The output of a command that succeeds."""
    code = main(list(map(str, words)))
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def _mine(folder: Path, capsys: pytest.CaptureFixture[str], *options: object) -> tuple[Path, Table, dict[str, Any]]:
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
         "--stanza-dir", "mtbias:demo", "--resamples", 20)  # fmt: skip
    calls = [json.loads(line) for line in (run / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [call["source"] for call in calls] == [record.get("sentence_text") for record in table.records]
    assert [call["entity"] for call in calls] == [record.get("profession").lower() for record in table.records]
    report = folder / "report.html"
    _run(capsys, "report", run, "--out", report)
    assert "<h1>" in report.read_text(encoding="utf-8")

    bug = read_bug(corpus)
    assert len(bug.rows) == n
    assert bug.misplaced == {"both": 0, "pronoun": 0, "profession": 0}
    exported, found = folder / "documents.jsonl", folder / "clusters.jsonl"
    _run(capsys, "coref", "export", "bug", *data, "--format", "jsonl", "--out", exported)
    assert len(exported.read_text(encoding="utf-8").splitlines()) == n
    program = f"{shlex.quote(sys.executable)} -c 'import shutil, sys; shutil.copy(*sys.argv[1:])' {{in}} {{out}}"
    _run(capsys, "coref", "run", "--system", "command", "--command", program, "--dataset", "bug", *data, "--out", found)
    shown = _run(capsys, "coref", "score", "bug", *data, "--predictions", found, "--counts")
    assert f"all {n} 0" in " ".join(shown.split())

    pairs = folder / "pairs.tsv"
    made = json.loads(_run(capsys, "corpora", "counterfactual", "--dataset", "bug", *data, "--out", pairs, "--json"))
    assert (made["swapped"], made["written"]) == (n, 2 * n)
    assert f"{n} of {n} rows" in _run(capsys, "corpora", "check", *data, "--out", folder / "check.html")


def test_from_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees = tmp_path / "ward.conllu"
    trees.write_text("".join(TREE.format(noun=noun, pronoun=one) for noun, one in PAIRS), encoding="utf-8")
    corpus, table, report = _mine(tmp_path, capsys, "--conllu", trees)
    assert report["rows"] == 4
    kept = ("profession", "g", "predicted gender", "stereotype", "distance", "num_of_pronouns", "corpus", "data_index")
    assert [[record.get(column) for column in kept] for record in table.records] == [
        ["nurse", "her", "Female", "1", "2", "1", "ward", "17"],
        ["nurse", "his", "Male", "-1", "2", "1", "ward", "17"],
        ["carpenter", "his", "Male", "1", "2", "1", "ward", "17"],
        ["clerk", "her", "Female", "1", "2", "1", "ward", "17"],
    ]
    assert "- Rows: 4\n" in corpus.with_suffix(".md").read_text(encoding="utf-8")
    _use(corpus, table, tmp_path, capsys)
    sample = tmp_path / "sample.tsv"
    _run(capsys, "corpora", "balance", "--dataset", "bug", "--data", corpus, "--sample", sample, "--over", "length")
    assert len(read_table(sample).records) == 4


def test_from_text(stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text(TEXT, encoding="utf-8")
    corpus, table, report = _mine(tmp_path, capsys, "--text", notes, "--stanza-dir", stanza_dir)
    rows = {record.get("profession"): record for record in table.records}
    assert report["rows"] == len(table.records) == len(rows)
    assert rows["carpenter"].get("sentence_text") == "The carpenter and her friends slept late ."
    assert rows["carpenter"].get("pattern").startswith("13")
    assert rows["manager"].get("g") == "he"
    _use(corpus, table, tmp_path, capsys)
