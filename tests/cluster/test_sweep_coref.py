"""Coreference in sweeps: a task a system, tables of all of them, and what is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.cluster.inventory import inventory
from mtbias.cluster.model_sizes import coref_resources
from mtbias.cluster.plan_table import plan_text
from mtbias.cluster.slurm import submission_device, to_submit
from mtbias.cluster.sweep_file import read_sweep
from mtbias.cluster.sweep_status import status_json, status_text, sweep_status
from mtbias.cluster.sweep_table import read_text, table_files
from mtbias.cluster.sweep_tasks import SweepPlan, make_plan
from mtbias.cluster.task_runs import is_done, run_task
from mtbias.errors import DataError, MissingResourceError, MissingTranslationsError
from mtbias.types import quiet
from tests.cluster.small_coref_sweep import coref_sweep

TRANSLATION = "models = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A sweep of two systems on two data sets."""
    return coref_sweep(tmp_path, tmp_path)


@pytest.fixture
def plan(file: Path) -> SweepPlan:
    return make_plan(read_sweep(file))


def _run(plan: SweepPlan, *names: str) -> list[str]:
    said: list[str] = []
    for name in names:
        run_task(plan, plan.task(name), device="cpu", say=said.append, progress=quiet)
    return said


def test_a_system_is_a_task_and_the_table_comes_after_all(plan: SweepPlan, file: Path) -> None:
    assert [task.id for task in plan.tasks] == ["coref:first", "coref:fourth", "table"]
    assert [task.id for task in plan.needs(plan.task("table"))] == ["coref:first", "coref:fourth"]
    assert plan_text(plan, gpu=False).startswith("Coreference: first, fourth on bug, winogender; ")
    file.write_text(file.read_text().replace("out = 'runs'\n", f"out = 'runs'\n{TRANSLATION}"), encoding="utf-8")
    both = make_plan(read_sweep(file))
    assert [task.id for task in both.tasks] == [
        "translate:demo/demo/de:1/1", "score:de", "coref:first", "coref:fourth", "table"
    ]  # fmt: skip
    assert [task.id for task in both.needs(both.task("table"))] == ["score:de", "coref:first", "coref:fourth"]
    assert "demo/demo/de" in plan_text(both, gpu=False)
    assert "Coreference: first" in plan_text(both, gpu=False)
    assert table_files(both) == (
        "table.txt", "table.md", "table.tex", "table.csv", "coref.txt", "coref.md", "coref.tex", "coref.csv",
        "coref.html",
    )  # fmt: skip


def test_a_task_is_an_evaluation_and_is_done_once(
    plan: SweepPlan, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(MissingTranslationsError, match=r"no table yet: .*, left: coref:first, coref:fourth$"):
        _run(plan, "table")
    assert _run(plan, "coref:first", "coref:first") == ["coref:first: winogender, bug", "coref:first: done already"]
    found = status_json(sweep_status(plan))
    assert found["coref"] == [{"system": "first", "state": "done"}, {"system": "fourth", "state": "left"}]
    assert "\ncoref:fourth   left " in status_text(sweep_status(plan))
    _run(plan, "coref:fourth", "table")
    assert all(is_done(plan, task) for task in plan.tasks)
    assert to_submit(plan, []) == []
    assert "first minus fourth" in read_text(plan)
    # The same as the command alone.
    words = ["coref", "eval", "--system", "command", "--command", plan.sweep.coref.systems["fourth"].command or ""]  # type: ignore[union-attr]
    folder = file.parent
    words += ["--data", f"bug={folder}/bug.csv", "--data", f"winogender={folder}/winogender", "--seed", "3"]
    assert main([*words, "--resamples", "20", "--out", str(folder / "alone"), "--dataset", "bug",
                 "--dataset", "winogender"]) == 0  # fmt: skip
    capsys.readouterr()
    evaluation = plan.sweep.out / "coref" / "fourth"
    for name in ("metrics.json", "bug.jsonl", "winogender.jsonl"):
        assert (evaluation / name).read_bytes() == (folder / "alone" / name).read_bytes()
    # Other settings, a changed file: not done, and neither is the table.
    other = replace(plan.sweep, resamples=30)
    assert [is_done(replace(plan, sweep=other), task) for task in plan.tasks] == [False, False, True]
    (evaluation / "bug.jsonl").write_text("", encoding="utf-8")
    assert not is_done(plan, plan.task("coref:fourth"))
    for name in ("bug.run.json", "bug.jsonl"):
        (evaluation / name).unlink()
    _run(plan, "coref:fourth")
    assert is_done(plan, plan.task("coref:fourth"))
    (plan.sweep.out / "coref.csv").unlink()
    assert not is_done(plan, plan.task("table"))


def test_no_table_of_systems_that_are_not_done(plan: SweepPlan, file: Path) -> None:
    for name in ("first", "fourth"):
        _run(plan, f"coref:{name}")
    # One data set of two: a run that was stopped.
    evaluation = plan.sweep.out / "coref" / "fourth"
    for name in ("winogender.run.json", "winogender.jsonl", "metrics.json"):
        (evaluation / name).unlink()
    with pytest.raises(MissingTranslationsError, match=r"no table yet: .*, left: coref:fourth$"):
        _run(plan, "table")
    # Another command is another system: what the first found is not its.
    file.write_text(file.read_text(encoding="utf-8").replace("{out} 1", "{out} 2"), encoding="utf-8")
    other = make_plan(read_sweep(file))
    assert not is_done(other, other.task("coref:first"))
    with pytest.raises(DataError, match=r"bug\.run\.json: this was found by .* choose another folder, or remove what"):
        _run(other, "coref:first")


def test_what_a_sweep_needs_is_looked_for(plan: SweepPlan, file: Path) -> None:
    assert [(part.kind, part.name, part.problem) for part in inventory(plan.sweep)] == [
        ("coref system", "first", ""), ("coref system", "fourth", ""), ("coref data", "bug, winogender", "")
    ]  # fmt: skip
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}[coref.systems.ours]\nmodel = 'model.pt'\n".replace("'bug'", "'gap'"), encoding="utf-8")
    system, data = (part for part in inventory(read_sweep(file)) if part.problem)
    assert (system.title, "model.pt: there is no such file" in system.problem) == ("coref system ours", True)
    assert "gap: expected its data at one of" in data.problem
    from mtbias.cluster.inventory import fetch

    with pytest.raises(MissingResourceError, match="it is not fetched"):
        fetch(read_sweep(file), [system], print, sha256=None, accept_unverified=False)


def test_a_system_asks_slurm_for_what_the_sweep_says(plan: SweepPlan, file: Path) -> None:
    assert submission_device(plan) == "cuda"  # as for a model of unknown size
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}[slurm.coref]\ngpus = 0\nmem = '3G'\n", encoding="utf-8")
    small = make_plan(read_sweep(file))
    assert (coref_resources(small.sweep).gpus, coref_resources(small.sweep).mem) == (0, "3G")
    assert submission_device(small) == "cpu"
    arrays = to_submit(small, [])
    assert [(array.kind, len(array.tasks)) for array in arrays] == [("coref", 2), ("table", 1)]


LEAST = "out = 'x'\n[coref]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LEAST}datasets = ['bug']\n", "coref.systems: expected this key"),
        (f"{LEAST}[coref.systems]\n", "coref.systems: expected a table for each system"),
        (f"{LEAST}[coref.systems.a]\n", "coref.systems.a.model: expected either a model (of Stanza's) or a command"),
        (f"{LEAST}[coref.systems.a]\nmodel = 'x'\ncommand = 'y'\n", "coref.systems.a.model: expected either a model"),
        (f"{LEAST}[coref.systems.a]\nmodel = 'x'\nspans = 'included'\n", "coref.systems.a.model: expected no ids"),
        (f"{LEAST}[coref.systems.'a b']\nmodel = 'x'\n", "coref.systems.a b: expected up to 100 letters"),
        (f"{LEAST}datasets = ['winomt']\n[coref.systems.a]\nmodel = 'x'\n", "coref.datasets.0: expected winobias, "),
        (f"{LEAST}[coref.systems.a]\nmodel = 'x'\n[coref.data]\nx = 'y'\n", "coref.data.x: expected one of winobias"),
        (f"models = ['demo']\n{LEAST}[coref.systems.a]\nmodel = 'x'\n", "languages: expected a list of texts"),
        ("out = 'x'\n", "models: expected a list of texts, at least one, got []"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "paper.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(expected)):
        read_sweep(path)


def test_paths_count_from_the_file(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}ids = 'ids.tsv'\nspans = 'excluded'\n", encoding="utf-8")
    sweep = read_sweep(file)
    assert sweep.coref is not None
    assert sweep.coref.data == {name: file.parent / place for name, place in
                                (("bug", "bug.csv"), ("winogender", "winogender"))}  # fmt: skip
    assert sweep.coref.systems["fourth"].ids == file.parent / "ids.tsv"
    assert json.dumps(list(sweep.coref.systems)) == '["first", "fourth"]'
