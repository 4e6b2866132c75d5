"""A sweep takes endpoints beside checkpoints: asked once whatever the presets, without GPU, with
the same numbers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.cluster.sweep_file import read_sweep
from mtbias.cluster.sweep_tasks import make_plan
from mtbias.cluster.task_sequence import run_named
from mtbias.demo import demo_file
from tests.translate.endpoint_server import said, serving


@pytest.fixture
def file(tmp_path: Path) -> Path:
    corpus = tmp_path / "few.tsv"
    rows = demo_file().read_text().splitlines()[:25]
    corpus.write_text("".join("\t".join(row.split("\t")[:8]) + "\n" for row in rows))
    path = tmp_path / "both.toml"
    path.write_text(
        'out = "runs"\nmodels = ["demo", "openai:org/small"]\nlanguages = ["de"]\ndatasets = ["custom"]\n'
        'presets = ["paper", "fast"]\nstanza_dir = "mtbias:demo"\ncache_dir = "cache"\nprompt = "tower"\n'
        f'base_url = "BASE"\nconcurrency = 2\n[data]\ncustom = "{corpus}"\n'
    )
    return path


def test_an_endpoint_is_asked_once_and_without_gpu(file: Path) -> None:
    file.write_text(file.read_text().replace("BASE", "https://models.invalid/v1"))
    sweep = read_sweep(file)
    plan = make_plan(sweep)
    assert [cell.system for cell in plan.cells] == ["demo", "demo-fast", "openai_org--small"]
    needs = {task.id: task.needs_network for task in plan.tasks}
    assert needs == {
        "translate:custom/demo/de:1/1": False,
        "translate:custom/demo-fast/de:1/1": False,
        "translate:custom/openai_org--small/de:1/1": True,
        "score:de": False,
        "table": False,
    }
    assert {task.id.split("/")[1]: plan.resources(task).gpus for task in plan.tasks[:3]} == {
        "demo": 1, "demo-fast": 1, "openai_org--small": 0
    }  # fmt: skip
    deepl = make_plan(replace(sweep, models=("deepl:quality_optimized",)))
    assert [cell.system for cell in deepl.cells] == ["deepl_quality_optimized"]
    assert [task.needs_network for task in deepl.tasks] == [True, False, False]


@pytest.mark.slow
def test_its_runs_stand_beside_those_of_checkpoints(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MTBIAS_LOG_SECONDS", "0")
    with serving(
        lambda source, _: said("Die Pilotin hat gestern mit ihren Kollegen gesprochen.")
    ) as server:
        file.write_text(file.read_text().replace("BASE", server.url).replace(', "fast"', ""))
        plan = make_plan(read_sweep(file))
        names = [task.id for task in plan.tasks]
        lines: list[str] = []
        run_named(plan, names, device="cpu", say=lines.append)
        assert lines == [f"{name}: done" for name in names]
        assert len(server.asked) == 24
        assert main(["sweep", str(file), "--device", "cpu"]) == 0, capfd.readouterr().err
        assert len(server.asked) == 24
    assert set(
        Counter(body["messages"][0]["content"].split("\n")[0] for body in server.bodies)
    ) == {"Translate the following text from English into German."}
    folder = file.parent / "runs" / "custom"
    signature = json.loads((folder / "openai_org--small" / "de" / "metrics.json").read_text())[
        "signature"
    ]
    assert "|model:openai:org/small|server:127.0.0.1|prompt:tower/1#" in signature
    assert (
        "prompt"
        not in json.loads((folder / "demo" / "de" / "metrics.json").read_text())["signature"]
    )
    assert "openai_org--small" in (folder / "report-de.html").read_text()
