"""A system and a corpus with its own measure, each in a third party's distribution: no change to
mtbias is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .machine import Machine

PROJECTS = Path(__file__).resolve().parent.parent / "toy_projects"
NAMES = (
    "Anna",
    "Boris",
    "Chen",
    "Dina",
    "Ema",
    "Farid",
    "Gil",
    "Hana",
    "Igor",
    "Juan",
    "Kim",
    "Lea",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions as `pip install` lays them out."""
    target = tmp_path_factory.mktemp("site")
    options = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        str(target),
    ]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        str(PROJECTS / "system"),
        str(PROJECTS / "corpus"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve polar and thirteen open questions, and two glossaries; neither translates "Hm?".

    With the glossary `good` all other questions keep their mark; with `bad` the polar ones lose it.
    """
    folder = tmp_path_factory.mktemp("data")
    rows = [f"p{n}\tIs {name} here?\tpolar" for n, name in enumerate(NAMES)]
    rows += [f"o{n}\tWhere is {name}?\topen" for n, name in enumerate(NAMES)] + ["hm\tHm?\topen"]
    (folder / "questions.tsv").write_text(
        "id\tsource\tkind\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    (folder / "good.tsv").write_text("is\test\nwhere\toù\nhere?\tici ?\nhm?\t\n", encoding="utf-8")
    (folder / "bad.tsv").write_text("is\test\nwhere\toù\nhere?\tici.\nhm?\t\n", encoding="utf-8")
    return folder


def _eval(machine: Machine, data: Path, glossary: str, *more: str | Path) -> str:
    done = machine.run(
        "eval", "--model", f"glossary:{data / glossary}.tsv", "--lang", "fr", "--dataset", "questions",
        "--data", data / "questions.tsv", "--out", machine.folder / glossary, *more,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def machine(tmp_path: Path, site: Path) -> Machine:
    return Machine(tmp_path, site=site)


def test_both_are_unknown_where_they_are_not_installed(bare: Machine) -> None:
    done = bare.run("eval", "--model", "glossary:x", "--lang", "de", "--dataset", "demo")
    assert (done.returncode, "got 'glossary:x'" in done.stderr) == (2, True)
    done = bare.run("eval", "--model", "demo", "--lang", "de", "--dataset", "questions")
    assert (done.returncode, "unknown dataset 'questions'" in done.stderr) == (2, True)


def test_a_run_has_the_measures_numbers_and_table(machine: Machine, data: Path) -> None:
    out = _eval(machine, data, "good")
    metrics = json.loads((machine.folder / "good" / "metrics.json").read_text(encoding="utf-8"))
    overall = metrics["overall"]
    # 24 of 25 keep their mark; all 12 polar ones, 12 of 13 open ones.
    assert (overall["n"], overall["kept"]) == (25, 96.0)
    assert overall["gap"] == pytest.approx(100 - 1200 / 13, abs=1e-6)
    assert overall["denominators"] == {"polar": 12, "open": 13}
    assert {kind: group["n"] for kind, group in metrics["by_kind"].items()} == {
        "polar": 12,
        "open": 13,
    }
    assert metrics["confusion_axes"] == {"kind": ["polar", "open"], "mark": ["kept", "lost", None]}
    low, high = overall["ci"]["kept"]
    assert low <= 96.0 <= high
    assert metrics["translations"]["empty"] == 1
    assert re.search(r"^Questions kept +96\.0 ", out, re.MULTILINE)
    assert "|model:glossary:good|" in metrics["signature"]
    identity = json.loads((machine.folder / "good" / "manifest.json").read_text(encoding="utf-8"))[
        "identity"
    ]
    assert (identity["measure"], identity["marks"]) == ("questions", "?？؟")
    assert "Gap" in (machine.folder / "good" / "report.html").read_text(encoding="utf-8")
    lines = (machine.folder / "good" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {
        "id": "p0", "source": "Is Anna here?", "translation": "est Anna ici ?", "kind": "polar", "kept": True,
    }  # fmt: skip


@pytest.mark.slow
def test_a_run_in_shards_is_the_same_run(machine: Machine, data: Path, tmp_path: Path) -> None:
    _eval(machine, data, "good")
    other = Machine(tmp_path / "other", site=machine.site)
    for k in (2, 1):
        assert f"Shard {k}/2" in _eval(other, data, "good", "--shard", f"{k}/2")
    _eval(other, data, "good")
    for name in ("calls.jsonl", "metrics.json", "translations.jsonl"):
        assert (machine.folder / "good" / name).read_bytes() == (
            other.folder / "good" / name
        ).read_bytes()
    execution = json.loads((other.folder / "good" / "manifest.json").read_text(encoding="utf-8"))[
        "execution"
    ]
    assert (execution["sentences_resumed"], execution["sentences_generated"]) == (25, 0)


@pytest.mark.slow
def test_two_runs_are_compared_and_reported(machine: Machine, data: Path) -> None:
    for glossary in ("good", "bad"):
        _eval(machine, data, glossary)
    runs = [machine.folder / "good", machine.folder / "bad"]
    done = machine.run("compare", *runs, "--json", "--rows", machine.folder / "rows.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    (pair,) = found["pairs"]
    # 96 % and 48 %: the twelve polar questions.
    assert pair["plain"]["kept"]["difference"] == 48.0
    assert (pair["mcnemar"]["first_only"], pair["mcnemar"]["second_only"]) == (12, 0)
    assert pair["mcnemar"]["p"] == round(2 / 2**12, 6)
    assert found["rows"] == {"n": 25, "polar": 12, "open": 13}
    rows = [
        json.loads(line)
        for line in (machine.folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {row["kind"] for row in rows} == {"polar"}
    assert {(row["first_call"], row["second_call"]) for row in rows} == {("kept", "lost")}
    for form in ("csv", "latex", "markdown"):
        done = machine.run("report", *runs, "--format", form)
        assert (done.returncode, done.stderr) == (0, "")
        assert "96.0" in done.stdout
    done = machine.run("report", *runs, "--out", machine.folder / "page.html")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_sweep_has_them_beside_others(machine: Machine, data: Path) -> None:
    file = machine.folder / "sweep.toml"
    file.write_text(
        f"out = 'sweep'\nmodels = ['glossary:{data}/good.tsv', 'glossary:{data}/bad.tsv']\nlanguages = ['fr']\n"
        f"datasets = ['questions']\n[data]\nquestions = '{data}/questions.tsv'\n"
    )
    done = machine.run("sweep", file)
    assert (done.returncode, done.stderr) == (0, "")
    table = (machine.folder / "sweep" / "table.txt").read_text(encoding="utf-8")
    assert table.startswith("Questions kept on questions, per cent with 95 % intervals (n fr 25)")
    assert "Gap on questions" in table
