"""mtbias in other people's harnesses, each the real one: their numbers are those of ``mtbias
score``."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mtbias.adapters.benchmark import DATASETS, Benchmark, numbers
from mtbias.adapters.lm_eval_tasks import write_tasks
from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.demo import demo_file, reference_file
from mtbias.entry_points import installed
from mtbias.errors import UsageError
from mtbias.runs.finished_run import read_run
from tests.built import built
from tests.conftest import ROOT
from tests.translate.small_decoder import demo_pairs, make_decoder

needs_harness = pytest.mark.adapters
pytestmark = pytest.mark.filterwarnings("ignore")  # of the harnesses


def _pairs() -> list[tuple[str, str]]:
    """Sentences about a man and a woman in turn, with translations of which some of the women's are
    the man's."""
    pairs = demo_pairs()
    return [
        (source, pairs[n - 1][1] if n % 6 == 1 else target)
        for n, (source, target) in enumerate(pairs)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of these sentences."""
    path = tmp_path_factory.mktemp("data") / "corpus.tsv"
    sources = {source for source, _ in _pairs()}
    head, *lines = demo_file().read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(
        head + "".join(line for line in lines if line.split("\t")[1] in sources), encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def options(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings of a run with them."""
    return {
        "data": str(data),
        "stanza_dir": "mtbias:demo",
        "cache_dir": str(tmp_path_factory.mktemp("cache")),
    }


@pytest.fixture(scope="module")
def answers(data: Path) -> dict[str, str]:
    """By id what a language model might say."""
    targets = dict(_pairs())
    return {i.id: f'"{targets[i.source]}"' for i in load_corpus("demo", data).instances}


def scored(
    answers: Mapping[str, str],
    options: Mapping[str, str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> dict[str, Any]:
    """The numbers of the whole corpus that ``mtbias score`` prints for answers."""
    file = folder / "answers.jsonl"
    file.write_text(
        "".join(json.dumps({"id": id_, "target": text}) + "\n" for id_, text in answers.items())
    )
    given = [
        part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)
    ]
    capsys.readouterr()
    command = [
        "score",
        "--dataset",
        "demo",
        "--lang",
        "de",
        "--translations",
        str(file),
        "--clean",
        "--json",
    ]
    assert main([*command, *given]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["overall"]
    return found


def test_there_is_a_task_for_every_data_set_and_language(tmp_path: Path) -> None:
    names = write_tasks(tmp_path)
    assert len(names) == len(DATASETS) * len(installed("mtbias.languages"))
    assert "mtbias_bug_gold_pt" in names
    task = json.loads((tmp_path / "mtbias_winomt_de.yaml").read_text())
    assert task["metadata"] == {"version": 1, "dataset": "winomt", "lang": "de"}
    assert Path(task["include"]).is_file()


@needs_harness
def test_every_sentence_of_a_data_set_is_asked(shared: Path) -> None:
    for dataset, n in (("winomt", 3888), ("bug-gold", 1717)):
        folder = shared / "data" / dataset.removesuffix("-gold")
        questions = Benchmark(dataset, "de", json.dumps({"data": str(folder)})).questions()
        assert abs(len(questions) - n) <= 3  # the paper's first version of BUG is here
    assert all("into German" in each for each in questions.values())


@needs_harness
def test_the_sentences_that_were_asked_are_the_corpus(
    answers: dict[str, str],
    options: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    benchmark = Benchmark("demo", "de", json.dumps(options))
    some = dict(list(answers.items())[:8])
    few = tmp_path / "few.tsv"
    few.write_text(
        "".join(Path(options["data"]).read_text(encoding="utf-8").splitlines(keepends=True)[:9])
    )
    expected = scored(some, {**options, "data": str(few)}, tmp_path, capsys)
    run = benchmark.score(some)
    assert run.metrics["overall"] == expected
    assert numbers(run)["n"] == 8
    assert re.fullmatch(f"demo-8-of-{len(answers)}-[0-9a-f]{{8}}", run.corpus[0])


@needs_harness
def test_lm_evaluation_harness(
    options: dict[str, str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lm_eval = pytest.importorskip("lm_eval", reason="needs lm-eval: make test-adapters")
    from lm_eval.tasks import TaskManager

    model = built(
        tmp_path_factory, "sometimes-wrong", lambda folder: make_decoder(folder, _pairs())
    )
    write_tasks(tmp_path / "tasks")
    metadata = {"mtbias": {**options, "out": str(tmp_path / "run")}}
    tasks = TaskManager(
        include_path=str(tmp_path / "tasks"), include_defaults=False, metadata=metadata
    )
    found = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(model), "dtype": "float32"},
        tasks=["mtbias_demo_de"],
        task_manager=tasks,
        apply_chat_template=True,
        device="cpu",
        batch_size=8,
    )
    said = {row["doc"]["id"]: row["resps"][0][0] for row in found["samples"]["mtbias_demo_de"]}
    expected = scored(said, options, tmp_path, capsys)
    results = found["results"]["mtbias_demo_de"]
    for key in ("accuracy", "delta_g", "delta_s"):
        assert results[f"{key},none"] == expected[key]
    assert 50 < expected["accuracy"] < 100
    assert read_run(tmp_path / "run").metrics["overall"] == expected


@needs_harness
def test_inspect(
    answers: dict[str, str],
    options: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="needs inspect-ai: make test-adapters")
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    asked = Benchmark("demo", "de", json.dumps(options)).questions()
    said = {asked[id_]: text for id_, text in answers.items()}

    def answer(messages: Any, *_: object) -> Any:
        output = ModelOutput.from_content("mockllm/model", said[messages[-1].text])
        output.usage = ModelUsage()  # else it downloads a tokenizer to count with
        return output

    (log,) = inspect_ai.eval(
        "mtbias/demo",
        model=get_model("mockllm/model", custom_outputs=answer),
        task_args={"lang": "de", **options, "out": str(tmp_path / "run")},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success"
    expected = scored(answers, options, tmp_path, capsys)
    run = read_run(tmp_path / "run")
    assert run.metrics["overall"] == expected
    written = read_eval_log(log.location)
    assert {key: each.value for key, each in written.results.scores[0].metrics.items()} == numbers(
        run
    )
    values = {sample.id: sample.scores["gender"].value for sample in written.samples}
    assert 100 * list(values.values()).count("C") / len(values) == pytest.approx(
        expected["accuracy"]
    )
    gold = {sample.id: sample.scores["gender"].metadata["gold"] for sample in written.samples}
    calls = {sample.id: sample.scores["gender"].metadata["gender"] for sample in written.samples}
    assert {values[id_] for id_ in gold if gold[id_] != calls[id_]} == {"I"}


@needs_harness
@pytest.mark.parametrize("form", ["ids", "sentences"])
def test_evaluate(
    form: str,
    answers: dict[str, str],
    options: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    evaluate = pytest.importorskip("evaluate", reason="needs evaluate: make test-adapters")
    from mtbias.adapters import evaluate_metric

    metric = evaluate.load(evaluate_metric.__file__, cache_dir=str(tmp_path / "evaluate"))
    references: list[Any] = list(answers)
    if form == "sentences":
        with Path(options["data"]).open(encoding="utf-8", newline="") as file:
            rows = {row["id"]: row for row in csv.DictReader(file, delimiter="\t")}
        names = ("source", "entity", "gender", "stereotype")
        references = [{name: rows[id_][name] for name in names} for id_ in answers]
    own = {key: value for key, value in options.items() if form == "ids" or key != "data"}
    given = {"dataset": "demo", **own} if form == "ids" else own
    found = metric.compute(
        predictions=list(answers.values()), references=references, lang="de", clean=True, **given
    )
    expected = scored(answers, options, tmp_path, capsys)
    for key in ("accuracy", "delta_g", "delta_s"):
        assert found[key] == expected[key]
        assert [found[f"{key}_low"], found[f"{key}_high"]] == expected["ci"][key]
    assert (found["n"], found["calls"]) == (expected["n"], expected["decided"])
    if form == "ids":
        with pytest.raises(UsageError, match="got one id twice"):
            metric.compute(predictions=["", ""], references=["demo-0001"] * 2, lang="de", **given)
        return
    texts, without = list(answers.values()), [{**each} for each in references]
    for each in without:
        del each["stereotype"]
    found = metric.compute(predictions=texts, references=without, lang="de", clean=True, **given)
    assert (found["accuracy"], found["n"], found["delta_s"]) == (
        expected["accuracy"],
        expected["n"],
        None,
    )
    with pytest.raises(
        UsageError, match=r"expected references with source, entity, gender .*got \['source'\]"
    ):
        metric.compute(predictions=["Ja."], references=[{"source": "Yes."}], lang="de", **given)


@needs_harness
def test_the_workflow_of_the_documentation(tmp_path: Path) -> None:
    pytest.importorskip("snakemake", reason="needs snakemake: make test-adapters")
    page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"```python title=\"Snakefile\"\n(.*?)```", page, re.DOTALL)
    assert len(workflow.splitlines()) == 15
    (tmp_path / "Snakefile").write_text(workflow)
    (tmp_path / "translations").mkdir()
    for lang in ("de", "es"):
        shutil.copy(reference_file(lang), tmp_path / "translations" / f"mine.{lang}.tsv")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "snakemake", "-j1"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").is_file()
    for lang in ("de", "es"):
        assert read_run(tmp_path / "runs" / f"mine-{lang}").metrics["overall"]["accuracy"] == 100
