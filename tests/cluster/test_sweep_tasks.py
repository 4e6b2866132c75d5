"""What a task asks of the pipeline, and what it does where its result is there."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtbias.cluster.inventory import fetch, inventory, refuse_missing
from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.sweep_tasks import SweepPlan, make_plan
from mtbias.cluster.task_runs import is_done, make_request, pages, run_task
from mtbias.corpora import Corpus, load_corpus
from mtbias.demo import reference_file
from mtbias.errors import (
    DataError,
    MissingResourceError,
    MissingTranslationsError,
    RunFolderError,
    SettingError,
    UsageError,
)
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.evaluation.stages import Request
from mtbias.morphology import StanzaAnalyser
from mtbias.runs.run_folder import RunFolder
from mtbias.settings import EvalSettings
from mtbias.types import Json
from tests.cli.shard_processes import small_corpus


def _identity(request: Request) -> dict[str, Json]:
    return request.identity(request.system.plan(request.corpus, {}))


@pytest.fixture
def plan(tmp_path: Path) -> SweepPlan:
    return make_plan(
        Sweep(
            name="s",
            out=tmp_path / "runs",
            models=("demo",),
            languages=("de", "he"),
            datasets=("demo",),
            presets=("paper", "fast"),
            cache_dir=tmp_path / "cache",
        )
    )


def test_a_node_without_gpu_scores_what_a_gpu_translated(plan: SweepPlan) -> None:
    fast = next(cell for cell in plan.cells if cell.preset == "fast")
    # The preset fast on a GPU, whatever device asks: of M2M100's family fp16.
    assert _identity(make_request(plan.sweep, fast, "cuda", here="cpu"))["dtype"] == "float16"
    assert _identity(make_request(plan.sweep, fast, "cpu", here="cpu"))["dtype"] == "float32"
    asked = replace(plan.sweep, dtype="bfloat16")
    assert _identity(make_request(asked, fast, "cpu", here="cpu"))["dtype"] == "bfloat16"


def test_the_request_of_a_cell_is_that_of_eval(plan: SweepPlan) -> None:
    from mtbias.evaluation.preparation import prepare_eval

    asked = replace(
        plan.sweep,
        evidence="stanza",
        beams=2,
        length_penalty=1.5,
        max_length=90,
        seed=7,
        resamples=200,
        processes=3,
    )
    settings = EvalSettings(
        dataset="demo",
        preset="fast",
        beams=2,
        length_penalty=1.5,
        max_length=90,
        evidence="stanza",
        device="cpu",
        cache_dir=asked.cache_dir,
        offline=True,
        seed=7,
        resamples=200,
    )
    alone = prepare_eval("demo", "de", settings)
    cell = next(cell for cell in plan.cells if cell.preset == "fast" and cell.lang == "de")
    request = make_request(asked, cell, "cpu", here="cpu")
    assert _identity(request) == _identity(alone)
    assert isinstance(request.measure, GenderMeasure)
    assert isinstance(request.measure.analyser, StanzaAnalyser)
    assert request.measure.evidence == "stanza"
    assert request.measure.analyser._processes == 3  # which changes no result


def test_scoring_without_translations_says_what_makes_them(plan: SweepPlan) -> None:
    with pytest.raises(MissingTranslationsError) as error:
        run_task(plan, plan.task("score:de"), device="cpu", say=print, progress=lambda *_: None)
    assert "`mtbias sweep FILE` or `mtbias submit FILE` makes them (and 1 more cells of de)" in str(
        error.value
    )


def test_a_setting_that_cells_cannot_have_is_named(tmp_path: Path) -> None:
    given = tmp_path / "de.tsv"
    given.write_text("id\ttarget\n", encoding="utf-8")
    sweep = Sweep(
        name="s",
        out=tmp_path / "runs",
        systems={"one": given, "other": given},
        languages=("de",),
        datasets=("demo",),
        variant="plain",
    )
    plan = make_plan(sweep)
    with pytest.raises(SettingError) as error:
        run_task(plan, plan.tasks[0], device="cpu", say=print, progress=lambda *_: None)
    expected = "variant: expected the data set mt-geneval or mt-geneval-context with it"
    assert str(error.value) == f"{expected}; leave it out here (and 1 more cells of de)"


def test_a_task_whose_result_is_there_does_nothing(plan: SweepPlan) -> None:
    with RunFolder(plan.cells[0].folder).open_or_create({"dataset": "demo"}) as folder:
        folder.write_calls([])
        folder.write_metrics({"fingerprint": folder.manifest.fingerprint})
    said: list[str] = []
    run_task(plan, plan.tasks[0], device="cpu", say=said.append, progress=lambda *_: None)
    assert said == ["translate:demo/demo/de:1/1: done already"]


def test_cells_that_were_made_of_something_else_are_not_done(tmp_path: Path) -> None:
    given = tmp_path / "right-de.tsv"
    shutil.copy(reference_file("de"), given)
    sweep = Sweep(
        name="s",
        out=tmp_path / "runs",
        systems={"right": given},
        languages=("de",),
        datasets=("demo",),
        data={"demo": small_corpus(tmp_path, every=32)},
        stanza_dir=Path("mtbias:demo"),
        cache_dir=tmp_path / "cache",
        resamples=200,
    )

    def score(sweep: Sweep) -> list[str]:
        said: list[str] = []
        plan = make_plan(sweep)
        run_task(plan, plan.tasks[0], device="cpu", say=said.append, progress=lambda *_: None)
        return said

    scored = ["score:de: demo/right/de scored, accuracy 100.0, 1 of 1"]
    assert score(sweep) == scored
    metrics = (sweep.out / "demo/right/de/metrics.json").read_bytes()
    assert score(sweep) == ["score:de: done already"]
    assert score(replace(sweep, shards=3, systems={**sweep.systems, "other": given})) == [
        "score:de: demo/right/de done already",
        "score:de: demo/other/de scored, accuracy 100.0, 2 of 2",
        f"score:de: {sweep.out / 'demo' / 'report-de.html'}",
    ]
    with pytest.raises(
        RunFolderError, match=r"demo/right/de: belongs to another run: .*resamples.*200.*300"
    ):
        score(replace(sweep, resamples=300))
    assert score(sweep) == ["score:de: done already"]  # of one system again
    other = make_plan(replace(sweep, resamples=300))
    assert not any(is_done(other, task) for task in other.tasks)
    with pytest.raises(
        MissingTranslationsError, match="no table yet: demo/right/de was made with other settings"
    ):
        run_task(other, other.task("table"), device="cuda", say=print, progress=lambda *_: None)

    given.touch()  # another time and nothing else: compared once
    assert score(sweep) == scored
    assert score(sweep) == ["score:de: done already"]
    given.write_text(given.read_text(encoding="utf-8").replace("Der", "Die"), encoding="utf-8")
    with pytest.raises(RunFolderError, match="demo/right/de: belongs to another run"):
        score(sweep)
    assert (sweep.out / "demo/right/de/metrics.json").read_bytes() == metrics


def test_systems_of_one_language_have_a_page(plan: SweepPlan) -> None:
    page = plan.sweep.out / "demo" / "report-he.html"
    assert {
        path: [c.system for c in cells]
        for path, cells in pages(plan.sweep, plan.task("score:he")).items()
    } == {page: ["demo", "demo-fast"]}
    alone = make_plan(replace(plan.sweep, presets=("paper",)))
    assert pages(alone.sweep, alone.task("score:he")) == {}


def test_a_sweep_needs_the_encoder_of_its_aligner(
    plan: SweepPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(plan.sweep.out / "hub"))
    part = inventory(replace(plan.sweep, aligner="neural"))[-1]
    assert (part.kind, part.title) == (
        "aligner",
        "aligner google-bert/bert-base-multilingual-cased",
    )
    assert (
        "run: mtbias fetch --model google-bert/bert-base-multilingual-cased --lang de"
        in part.status()[1]
    )
    folder = plan.sweep.out / "encoder"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(
        '{"model_type": "bert", "num_hidden_layers": 12}', encoding="utf-8"
    )
    sweep = replace(plan.sweep, aligner="neural", aligner_model=str(folder))
    assert inventory(sweep)[-1].status()[0].endswith(f" in {folder}")
    assert "0 to 12, got 13" in inventory(replace(sweep, aligner_layer=13))[-1].status()[1]


def test_ones_own_sentences_are_read_once(plan: SweepPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    own = plan.sweep.out / "few.tsv"
    own.parent.mkdir(parents=True)
    own.write_text("source\tgender\tentity\nThe doctor slept.\tfemale\tdoctor\n", encoding="utf-8")
    read: list[str] = []

    def counted(name: str, *args: Any, **kwargs: Any) -> Corpus[Any]:
        read.append(name)
        return load_corpus(name, *args, **kwargs)

    monkeypatch.setattr("mtbias.cluster.inventory.load_corpus", counted)
    parts = inventory(replace(plan.sweep, datasets=("custom",), data={"custom": own}))
    assert [part.status() for part in parts if part.kind == "data"] == [
        (f"1 sentences in {own}", "")
    ]
    assert read == ["custom"]


def test_what_a_sweep_needs_is_listed_with_what_is_missing(
    plan: SweepPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(plan.sweep.out))
    monkeypatch.delenv("STANZA_RESOURCES_DIR", raising=False)
    assert [part.status()[1] for part in inventory(plan.sweep)] == [
        ""
    ] * 4  # model, data, Stanza for de and he
    own = plan.sweep.out / "none.tsv"
    needy = replace(
        plan.sweep,
        models=("opus-mt", "m2m100"),
        datasets=("winomt", "custom"),
        data={"custom": own},
        stanza_dir=Path("/no"),
    )
    parts = inventory(needy)
    # opus-mt has a checkpoint for each language, m2m100 one for all
    assert [(part.kind, part.name, part.lang) for part in parts] == [
        ("model", "opus-mt", "de"),
        ("model", "opus-mt", "he"),
        ("model", "m2m100", ""),
        ("data", "winomt", ""),
        ("data", "custom", ""),
        ("stanza", "de", "de"),
        ("stanza", "he", "he"),
    ]
    assert all(part.status()[1] for part in parts)
    with pytest.raises(
        MissingResourceError, match="7 of this sweep's models and data are not usable here"
    ):
        refuse_missing(needy, Path("s.toml"))
    with pytest.raises(
        DataError, match=r"none.tsv: there is no such file"
    ):  # the sweep names that path: not fetched
        parts[4].place(True)
    strange = replace(plan.sweep, languages=("xx",))
    (part,) = (part for part in inventory(strange) if part.kind == "stanza")
    with pytest.raises(
        UsageError, match="no language 'xx' is installed"
    ):  # and no download is begun
        part.place(True)
    with pytest.raises(UsageError, match="no language 'xx' is installed"):
        fetch(strange, print, sha256=None, accept_unverified=False)
    monkeypatch.setattr("mtbias.demo.stanza_folder_of_demo", lambda: plan.sweep.out)
    part = inventory(plan.sweep)[-1]
    assert part.status()[1]
    with pytest.raises(
        MissingResourceError, match="no Stanza resources at"
    ):  # the demo's cannot be downloaded
        part.place(True)
