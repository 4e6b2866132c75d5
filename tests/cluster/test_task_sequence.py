"""Tasks one after another in one process: what they share, and where they print."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from mtbias.cluster.sweep_file import Sweep, to_toml
from mtbias.cluster.sweep_tasks import SweepPlan, make_plan
from mtbias.cluster.task_places import Place, TaskProcess
from mtbias.cluster.task_runs import is_done, log_file, read_failure
from mtbias.cluster.task_sequence import run_named
from mtbias.errors import MtbiasError, UsageError
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from tests.cli.shard_processes import small_corpus


@pytest.fixture
def plan(tmp_path: Path) -> SweepPlan:
    return make_plan(
        Sweep(
            name="s",
            out=tmp_path / "runs",
            models=("demo",),
            languages=("de", "es"),
            datasets=("demo",),
            data={"demo": small_corpus(tmp_path, every=32)},
            cache_dir=tmp_path / "cache",
            stanza_dir=Path("mtbias:demo"),
            resamples=200,
            shards=2,
            batch_rows=40,
        )
    )


def test_cells_of_one_model_share_weights_and_token_ids(
    plan: SweepPlan, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    loaded: list[Path] = []
    encoded: list[int] = []
    load, encode = TransformersEngine.__init__, Codec.encode

    def counted_load(
        self: TransformersEngine, folder: Path, *, device: str = "cpu", dtype: str = "float32"
    ) -> None:
        loaded.append(folder)
        load(self, folder, device=device, dtype=dtype)

    def counted_encode(self: Codec, texts: Sequence[str]) -> list[Encoded]:
        encoded.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(TransformersEngine, "__init__", counted_load)
    monkeypatch.setattr(Codec, "encode", counted_encode)
    monkeypatch.setenv("MTBIAS_LOG_SECONDS", "0")
    names = [task.id for task in plan.tasks]
    assert len(names) == 7  # four shards of two cells, two scores, the table
    lines: list[str] = []
    run_named(plan, (f"{name}\n" for name in names), device="cpu", say=lines.append)
    assert lines == [f"{name}: done" for name in names]
    assert all(is_done(plan, task) for task in plan.tasks)
    assert len(loaded) == 1
    # English is read in the same way for German and Spanish: once for both, and once a score.
    assert encoded == [16, 16, 16]
    assert capfd.readouterr() == ("", "")
    german = plan.tasks[0]
    log = log_file(plan, german).read_text(encoding="utf-8")
    assert log.startswith(f"{german.id}: 8 sentences, 8 translated now, 0 were there, ")


def test_a_task_that_fails_stops_no_other(
    plan: SweepPlan, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MTBIAS_LOG_SECONDS", "0")
    german, spanish = plan.tasks[0], plan.tasks[2]
    in_the_way = german.cells[0].folder
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("in the way", encoding="utf-8")
    lines: list[str] = []
    with pytest.raises(MtbiasError, match="1 of the 2 tasks of this process failed"):
        run_named(plan, [german.id, "\n", spanish.id], device="cpu", say=lines.append)
    failure = read_failure(plan.sweep.out, german)
    assert failure is not None
    assert lines == [f"{german.id}: failed: {failure.error}", f"{spanish.id}: done"]
    assert failure.log == str(log_file(plan, german))
    expected = f"{in_the_way}: expected a folder, got a file"
    assert expected in failure.error
    assert expected in log_file(plan, german).read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="this sweep has no task 'translate:no'"):
        run_named(plan, ["translate:no"], device="cpu", say=lines.append)
    assert capfd.readouterr() == ("", "")


def test_what_a_process_says_behind_a_task_leaves_the_log_of_the_task(plan: SweepPlan) -> None:
    file = plan.sweep.out.parent / "sweep.toml"
    file.write_text(to_toml(plan.sweep), encoding="utf-8")
    first, other = plan.tasks[:2]
    log = log_file(plan, first)
    log.parent.mkdir(parents=True)
    answers: queue.SimpleQueue[TaskProcess] = queue.SimpleQueue()
    process = TaskProcess(file, Place({}), first, device="cpu", log=log, answers=answers)
    process.begin(first)
    assert answers.get(timeout=120).finish() == (first, 0)
    printed = log.read_text(encoding="utf-8")
    os.kill(process.id, signal.SIGINT)
    assert answers.get(timeout=120).finish() == (None, 130)
    assert not process.can_do(other)
    process.stop()
    interrupted = "mtbias: interrupted; the same command resumes\n"
    assert printed.startswith(f"{first.id}: 8 sentences")
    assert log.read_text(encoding="utf-8") == printed + interrupted
