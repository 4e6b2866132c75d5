"""`translate_shard`, `evaluate` on what shards kept, and `mtbias eval --shard`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.demo import stanza_folder_of_demo
from mtbias.errors import MissingTranslationsError, RunFolderError
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.evaluation.stages import Request, evaluate, translate_shard
from mtbias.files.kept_results import NOTHING_KEPT
from mtbias.files.kept_work import read_plan
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
from mtbias.morphology import analyser as analyser_module
from mtbias.runs.run_folder import RunFolder, run_progress
from mtbias.translate.outputs import Shard
from mtbias.translate.seq2seq.checkpoint_system import CheckpointPlan
from mtbias.translate.system import Begun, Plan, Sources

from .machine import Machine
from .shard_processes import FILES, PARTS, contents, make_request

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shards")


@pytest.fixture(scope="module")
def request_(home: Path) -> Request:
    """64 sentences of the demo in 16 batches."""
    return make_request(home)


@pytest.fixture(scope="module")
def whole(home: Path, request_: Request) -> dict[str, bytes]:
    """The files of a run that nothing disturbed and that was never in parts."""
    evaluate(request_, out=home / "whole")
    return contents(home / "whole")


@pytest.mark.parametrize("of", [1, 3, 20])
def test_the_number_of_shards_changes_nothing(
    request_: Request, whole: dict[str, bytes], tmp_path: Path, of: int
) -> None:
    out = tmp_path / "run"
    reports = [translate_shard(request_, Shard(k, of), out=out) for k in range(of, 0, -1)]
    assert sum(report.parts for report in reports) == 16
    assert (
        sum(report.generated for report in reports)
        == sum(report.sentences for report in reports)
        == 64
    )
    assert run_progress(out).translated
    metrics = evaluate(request_, out=out, generate=False).metrics
    assert contents(out) == whole
    assert metrics == json.loads(whole["metrics.json"])
    execution = RunFolder(out).manifest.execution
    assert (execution["sentences_generated"], execution["sentences_resumed"]) == (0, 64)
    assert not (out / PARTS).exists()


def test_a_shard_that_is_done_is_not_done_again(request_: Request, tmp_path: Path) -> None:
    first = translate_shard(request_, Shard(2, 3), out=tmp_path)
    again = translate_shard(request_, Shard(2, 3), out=tmp_path)
    # 16 batches of 4, every third of them, from the second: 1, 4, 7, 10, 13
    assert (first.parts, first.sentences, first.generated, first.resumed) == (5, 20, 20, 0)
    assert (again.parts, again.sentences, again.generated, again.resumed) == (5, 20, 0, 20)


def test_a_shard_of_a_complete_run_has_nothing_to_do(
    request_: Request, whole: dict[str, bytes], home: Path
) -> None:
    report = translate_shard(request_, Shard(2, 3), out=home / "whole")
    assert (report.parts, report.sentences, report.generated, report.resumed) == (0, 0, 0, 0)
    assert contents(home / "whole") == whole
    assert not (home / "whole" / PARTS).exists()


def test_what_is_missing_is_counted_before_anything_else_is_done(
    request_: Request, tmp_path: Path
) -> None:
    stages: list[str] = []
    with pytest.raises(
        MissingTranslationsError,
        match=re.escape(f"{tmp_path}: no translations; `mtbias eval … --out"),
    ):
        evaluate(
            request_, out=tmp_path, generate=False, progress=lambda stage, *_: stages.append(stage)
        )
    translate_shard(request_, Shard(1, 3), out=tmp_path)
    translate_shard(request_, Shard(3, 3), out=tmp_path)
    with pytest.raises(
        MissingTranslationsError, match="5 of 16 parts of the translations are missing"
    ):
        evaluate(
            request_, out=tmp_path, generate=False, progress=lambda stage, *_: stages.append(stage)
        )
    assert stages == []
    with pytest.raises(ValueError, match="expected a run folder"):
        evaluate(request_, generate=False)


def test_without_a_shard_the_rest_is_translated(
    request_: Request, whole: dict[str, bytes], tmp_path: Path
) -> None:
    translate_shard(request_, Shard(1, 3), out=tmp_path)
    evaluate(request_, out=tmp_path)
    assert contents(tmp_path) == whole
    execution = RunFolder(tmp_path).manifest.execution
    assert (execution["sentences_resumed"], execution["sentences_generated"]) == (24, 40)


def test_all_plan_as_the_first_one_did(home: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    # On another device the batches would be others: here those of a CPU, 80 rows, stand for them.
    translate_shard(make_request(home, batch_rows=4), Shard(1, 2), out=tmp_path)
    other = make_request(home, batch_rows=None)
    assert other.system.plan(other.corpus, {}).settings == {"budget": [80, 80 * 4096]}
    report = translate_shard(other, Shard(2, 2), out=tmp_path)
    assert report.parts == 8
    last = make_request(home, batch_rows=None)
    evaluate(last, out=tmp_path, generate=False)
    assert contents(tmp_path) == whole


def test_of_two_that_plan_at_once_one_plans_again(
    home: Path, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = make_request(home, batch_rows=None)
    plan = late.system.plan

    def plan_late(corpus: Sources, begun: Begun) -> Plan:
        planned = plan(corpus, begun)
        if not (tmp_path / PARTS).exists():  # meanwhile, on another device
            translate_shard(make_request(home, batch_rows=4), Shard(1, 2), out=tmp_path)
        return planned

    monkeypatch.setattr(late.system, "plan", plan_late)
    assert translate_shard(late, Shard(2, 2), out=tmp_path).parts == 8
    evaluate(late, out=tmp_path, generate=False)
    assert contents(tmp_path) == whole


def test_in_half_precision_the_batches_are_part_of_the_run_and_taken_over_too(
    home: Path, tmp_path: Path
) -> None:
    translate_shard(make_request(home, batch_rows=4, dtype="bfloat16"), Shard(1, 1), out=tmp_path)
    assert RunFolder(tmp_path).manifest.identity["batch"] == [4, 16384]
    evaluate(make_request(home, batch_rows=None, dtype="bfloat16"), out=tmp_path, generate=False)
    made = contents(tmp_path)
    evaluate(make_request(home, batch_rows=None, dtype="bfloat16"), out=tmp_path)  # complete: read
    assert contents(tmp_path) == made
    with pytest.raises(
        RunFolderError, match=r"belongs to another run: batch: \[4, 16384\] here, \[8, 32768\]"
    ):
        evaluate(make_request(home, batch_rows=8, dtype="bfloat16"), out=tmp_path)


def test_a_shard_with_other_batches_is_refused(home: Path, tmp_path: Path) -> None:
    translate_shard(make_request(home, batch_rows=4), Shard(1, 2), out=tmp_path)
    with pytest.raises(
        RunFolderError,
        match=r"into 16 parts \(budget \[4, 16384\]\), asked for: 8 parts \(budget \[8, 32768\]\)",
    ):
        translate_shard(make_request(home, batch_rows=8), Shard(2, 2), out=tmp_path)
    plan = read_plan(tmp_path)
    assert plan is not None
    assert plan.settings == {"budget": [4, 16384]}


def test_eval_with_shards_and_without(
    machine: Machine, whole: dict[str, bytes], home: Path, tmp_path: Path
) -> None:
    run = (
        "eval", "--model", "demo", "--dataset", "demo", "--data", home / "corpus.tsv", "--stanza-dir", "mtbias:demo",
        "--lang", "de", "--beams", "1", "--batch-rows", "4", "--resamples", "200", "--out", tmp_path / "run",
    )  # fmt: skip
    for k, parts, sentences in ((1, 8, 32), (2, 8, 32)):
        done = machine.run(*run, "--shard", f"{k}/2")
        assert (done.returncode, done.stderr) == (0, "")
        expected = f"Shard {k}/2 of {tmp_path}/run: {parts} parts, {sentences} sentences; {sentences} translated now"
        assert done.stdout.startswith(expected)
        assert done.stdout.endswith(", 0 were there\n")
    done = machine.run(*run, "--shard", "1/2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report.pop("seconds") >= 0
    counts = {"parts": 8, "sentences": 32, "generated": 0, "resumed": 32}
    assert report == {"shard": "1/2", "out": str(tmp_path / "run"), **counts}
    done = machine.run(*run)
    assert (done.returncode, done.stderr) == (0, "")
    assert {name: (tmp_path / "run" / name).read_bytes() for name in FILES} == whole


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(home)


def test_wrong_shards(machine: Machine) -> None:
    small = ("eval", "--model", "demo", "--lang", "de")
    done = machine.run(*small, "--shard", "1/2")
    assert done.returncode == 2
    assert (
        "--shard: translations are kept in the folder of the run; name it with --out" in done.stderr
    )
    done = machine.run(*small, "--shard", "3/2", "--out", machine.folder / "x")
    assert done.returncode == 2
    assert "shard 3/2: expected a number from 1 to 2" in done.stderr
    assert not (machine.folder / "x").exists()


@pytest.mark.parametrize("processes", [None, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_translations_are_analysed_while_later_ones_are_made(
    request_: Request,
    whole: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processes: int | None,
) -> None:
    monkeypatch.setattr(analyser_module, "BATCH", 8)
    monkeypatch.setattr(
        analyser_module, "_affordable", lambda *_: 2
    )  # as where there are cores for them
    package = find_package("de", stanza_folder_of_demo())
    cache = AnalysisCache(tmp_path / "fresh.sqlite")
    analyser = StanzaAnalyser(package, cache, device="cpu", processes=processes)
    submitted: list[int] = []
    sent: list[int] = []
    sent_before_the_end: list[int] = []
    submit, send = analyser.submit, analyser._send

    def watched(texts: Iterable[str], *, whole: bool = False) -> None:
        every = list(texts)
        if whole:  # all is translated
            sent_before_the_end.append(sum(sent))
        else:
            submitted.append(len(every))
        submit(every, whole=whole)

    def counted(batch: Sequence[str]) -> None:
        sent.append(len(batch))
        send(batch)

    monkeypatch.setattr(analyser, "submit", watched)
    monkeypatch.setattr(analyser, "_send", counted)
    monkeypatch.setattr(CheckpointPlan, "frees_cpu", True)  # as where a GPU translates
    assert isinstance(request_.measure, GenderMeasure)
    measure = replace(request_.measure, analyser=analyser, results=NOTHING_KEPT)
    request = replace(request_, measure=measure)
    evaluate(request, out=tmp_path / "run")
    assert contents(tmp_path / "run") == whole
    assert submitted == [4] * 16  # every batch, as soon as it was there
    # 64 sentences have some equal translations; in batches of 8 all but the last few were begun
    # before the end.
    assert sent_before_the_end[0] >= 40


def test_where_translating_ends_early_so_do_the_processes_that_analyse(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyser_module, "BATCH", 8)
    package = find_package("de", stanza_folder_of_demo())
    analyser = StanzaAnalyser(package, AnalysisCache(None), device="cpu", processes=2)
    monkeypatch.setattr(CheckpointPlan, "frees_cpu", True)
    assert isinstance(request_.measure, GenderMeasure)
    pids: list[int] = []

    def interrupted(_: str, done: int, __: int) -> None:
        if done == 32:  # of 64
            assert analyser._pool is not None
            pids.extend(analyser._pool._processes)
            raise KeyboardInterrupt

    measure = replace(request_.measure, analyser=analyser, results=NOTHING_KEPT)
    request = replace(request_, measure=measure)
    with pytest.raises(KeyboardInterrupt):
        evaluate(request, out=tmp_path / "run", progress=interrupted)
    assert analyser._pool is None
    assert len(pids) >= 1
    assert not any(_lives(pid) for pid in pids)


PROGRAM = """
import sys, time
from dataclasses import replace
from pathlib import Path
from mtbias.evaluation.stages import evaluate
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package, analyser
from mtbias.demo import stanza_folder_of_demo
from mtbias.translate.seq2seq.checkpoint_system import CheckpointPlan
from tests.cli.shard_processes import make_request

def progress(stage, done, total):
    if done == 32:
        print(*made._pool._processes, flush=True)
        time.sleep(600)

if __name__ == "__main__":
    analyser.BATCH = 8
    CheckpointPlan.frees_cpu = True
    request = make_request(Path(sys.argv[1]))
    package = find_package("de", stanza_folder_of_demo())
    made = StanzaAnalyser(package, AnalysisCache(None), device="cpu", processes=2)
    evaluate(replace(request, measure=replace(request.measure, analyser=made)), progress=progress)
"""


def test_a_run_that_is_killed_leaves_no_process_behind(home: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    root = Path(__file__).resolve().parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)]),
    }
    with subprocess.Popen(
        [sys.executable, str(program), str(home)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as run:
        assert run.stdout is not None
        pids = [int(pid) for pid in run.stdout.readline().split()]
        assert pids
        assert all(_lives(pid) for pid in pids)
        run.kill()
    ends = time.monotonic() + 60
    while any(_lives(pid) for pid in pids) and time.monotonic() < ends:
        time.sleep(0.1)
    assert not any(_lives(pid) for pid in pids)


def _lives(pid: int) -> bool:
    """Whether there is such a process, other than as an entry that nobody has read."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
            != "Z"
        )
    except OSError:
        return False


def test_on_a_cpu_nothing_is_analysed_before_all_is_translated(request_: Request) -> None:
    assert not request_.system.plan(request_.corpus, {}).frees_cpu
