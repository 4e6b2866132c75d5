"""The table of the paper: what stands where, from numbers that were written into the runs by
hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.sweep_table import render_sweep, table_is_current, write_tables
from mtbias.cluster.sweep_tasks import Cell, SweepPlan, make_plan
from mtbias.errors import MissingTranslationsError
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.metrics_records import RunMetrics
from mtbias.types import Gender, GenderCall, Instance, Span, Stereotype


@pytest.fixture
def plan(tmp_path: Path) -> SweepPlan:
    sweep = Sweep(
        name="s",
        out=tmp_path,
        models=("opus-mt", "demo"),
        languages=("de", "he"),
        datasets=("winomt",),
        cache_dir=tmp_path,
    )
    return make_plan(sweep)


def _metrics(cell: Cell) -> RunMetrics:
    """Accuracy 60 and 61 in German, 70 and 71 in Hebrew; ΔG -1.25 for all; no ΔS in Hebrew."""
    accuracy = 60.0 + 10 * (cell.lang == "he") + (cell.model == "demo")
    overall = {"n": 3888, "decided": 3000, "accuracy": accuracy, "delta_g": -1.25}
    overall["delta_s"] = None if cell.lang == "he" else 18.04  # type: ignore[assignment]
    overall["ci"] = {
        "accuracy": [accuracy - 1, accuracy + 1],
        "delta_g": [-3.0, 0.5],
        "delta_s": None,
    }  # type: ignore[assignment]
    how = {"level": 95.0, "resamples": 2000}
    signature = f"lang:{cell.lang}|model:{cell.model}"
    return read_metrics({"signature": signature, "overall": overall, "intervals": how})


def test_rows_are_models_and_columns_languages(plan: SweepPlan) -> None:
    text = render_sweep(plan, {cell.id: _metrics(cell) for cell in plan.cells}, "text")
    blocks = text.split("\n\n")
    assert blocks[0].splitlines() == [
        "Accuracy on winomt, per cent with 95 % intervals (n de 3,888, he 3,888)",
        "                        de                 he",
        "opus-mt  60.0 [59.0, 61.0]  70.0 [69.0, 71.0]",
        "demo     61.0 [60.0, 62.0]  71.0 [70.0, 72.0]",
    ]
    assert blocks[1].splitlines()[2].split("  ")[-1] == "-1.2 [-3.0, 0.5]"
    assert blocks[2].splitlines()[2].split() == [
        "opus-mt",
        "18.0",
        "–",
    ]  # no interval, and no number
    assert "  winomt/demo/he: lang:he|model:demo" in blocks[3]


def test_markdown_and_latex_carry_denominators_and_signatures(plan: SweepPlan) -> None:
    metrics = {cell.id: _metrics(cell) for cell in plan.cells}
    markdown = render_sweep(plan, metrics, "markdown")
    assert (
        "Accuracy on winomt, per cent with 95 % intervals (n de 3,888, he 3,888)\n\n"
        "|  | de | he |\n| --- | ---: | ---: |\n| opus-mt | 60.0 [59.0, 61.0] | 70.0 [69.0, 71.0] |"
        in markdown
    )
    assert "- winomt/opus-mt/de: `lang:de|model:opus-mt`" in markdown
    latex = render_sweep(plan, metrics, "latex")
    assert (
        r"$\Delta G$ & opus-mt & $-$1.2 {\scriptsize [$-$3.0, 0.5]} & $-$1.2 {\scriptsize [$-$3.0, 0.5]} \\"
        in latex
    )
    assert r"$\Delta S$ & demo & 18.0 & -- \\" in latex
    assert (
        r"\caption{Accuracy, $\Delta G$, $\Delta S$ on winomt, per cent with 95 \% intervals (n de 3,888, he 3,888)."
        in latex
    )
    assert "% winomt/opus-mt/de: lang:de|model:opus-mt" in latex


def _finish(cell: Cell, gender: Gender) -> None:
    """A complete run of one sentence."""
    from mtbias.runs.call_records import join_records
    from mtbias.scoring.scores import score
    from mtbias.types import Translation

    instance = Instance(
        id="w-1",
        row=0,
        source="The doctor slept.",
        entity="doctor",
        head=Span(4, 10),
        gold=Gender.FEMALE,
        stereotype=Stereotype.ANTI,
        domain="d",
        pronouns=1,
    )
    call = GenderCall("w-1", gender, None)
    with RunFolder(cell.folder).open_or_create({"dataset": "winomt", "cell": cell.id}) as folder:
        records = list(join_records([instance], [Translation("w-1", "x")], [call]))
        folder.write_calls(record.to_json() for record in records)
        manifest = folder.manifest
        scores = score(records, n_resamples=0)
        folder.write_metrics(
            scores.to_json(signature=manifest.signature(), fingerprint=manifest.fingerprint)
        )


def test_the_table_is_made_once_all_runs_are_complete_and_again_when_one_changes(
    plan: SweepPlan,
) -> None:
    for cell in plan.cells[:-1]:
        _finish(cell, Gender.FEMALE)
    with pytest.raises(MissingTranslationsError, match=f"no table yet: {plan.cells[-1].folder}: "):
        write_tables(plan)
    assert not table_is_current(plan)
    _finish(plan.cells[-1], Gender.MALE)
    written = write_tables(plan)
    names = ["table.txt", "table.md", "table.tex", "table.csv", "groups.csv", "groups.html"]
    assert [path.name for path in written] == names
    whole, groups = (path.read_text(encoding="utf-8").splitlines() for path in written[3:5])
    assert len(whole) == 1 + len(plan.cells)
    assert set(whole) < set(groups)
    breakdown = groups[0].split(",").index("breakdown")
    added = {line.split(",")[breakdown] for line in groups if line not in whole}
    assert {"by_pronouns", "by_stereotype"} <= added
    assert table_is_current(plan)
    written[1].write_text("changed")
    assert not table_is_current(plan)
    write_tables(plan)
    _finish(plan.cells[0], Gender.MALE)  # another result in the same folder
    assert not table_is_current(plan)
    write_tables(plan)
    lines = (plan.sweep.out / "table.txt").read_text().splitlines()
    assert (
        lines[0] == "Accuracy on winomt, per cent (n de 1, he 1)"
    )  # without resamples there are no intervals
    assert lines[2].split() == ["opus-mt", "0.0", "100.0"]
    assert lines[3].split() == ["demo", "100.0", "0.0"]
