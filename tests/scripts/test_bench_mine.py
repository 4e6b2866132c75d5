"""The benchmark of mining: its tables, and that it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bench_mine import copies, memory_table, speed_table

ROOT = Path(__file__).resolve().parents[2]
COUNTS = {
    "passages": 200,
    "passages with the words": 50,
    "sentences": 80,
    "sentences parsed": 40,
    "rows": 3,
}


def test_tables() -> None:
    filtered = {**COUNTS, "cpu": 2.0, "seconds": 4.0}
    whole = {**COUNTS, "sentences": 300, "cpu": 10.0, "seconds": 12.0}
    rows = speed_table([("yes", 1, filtered), ("no", 2, whole)]).splitlines()
    # The text has the 300 sentences of the run that parsed everything: 300 / 2 and 300 / 10.
    assert rows[2] == "| yes | 1 | 200 | 50 (25.0 %) | 40 | 3 | 2.0 | 4.0 | 150 |"
    assert rows[3] == "| no | 2 | 200 | 50 (25.0 %) | 40 | 3 | 10.0 | 12.0 | 30 |"
    memory = memory_table([(4, {**COUNTS, "peak": 2048, "grown": 1024})]).splitlines()
    assert memory[-1] == "| 4× | 200 | 3 | 2 | 1 |"


def test_copies_differ_in_their_number(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.\n\nTwo.\n", encoding="utf-8")
    out = copies([tmp_path / "a.txt"], 2, tmp_path / "out.txt")
    assert out.read_text(encoding="utf-8").splitlines() == [
        "One. (0)",
        "Two. (0)",
        "One. (1)",
        "Two. (1)",
    ]


@pytest.mark.exhaustive
def test_it_runs(tmp_path: Path, shared: Path, stanza_dir: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The writer finished her book.\nNobody came.\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, "scripts/bench_mine.py", "--text", str(text), "--stanza-dir", str(stanza_dir),
            "--sizes", "1", "--occupations", str(shared / "data" / "bug" / "inc_occ_gender.csv"), "--processes", "1",
        ],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert [line.count("|") for line in lines if line] == [0] + [10] * 4 + [6] * 3
    assert "| yes | 1 | 2 | 1 (50.0 %) | 1 | 1 |" in done.stdout
