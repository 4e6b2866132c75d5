"""Status of a sweep, and what a submission leaves out: by files, locks and the queue of Slurm,
without any clock."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.cluster.local_processes import SweepSchedule, _why_failed, run_locally
from mtbias.cluster.slurm import (
    SUBMISSIONS,
    divided,
    most_tasks,
    queue_states,
    read_submissions,
    to_submit,
)
from mtbias.cluster.sweep_file import Slurm, Sweep
from mtbias.cluster.sweep_status import status_json, status_text, sweep_status
from mtbias.cluster.sweep_tasks import SweepPlan, make_plan
from mtbias.cluster.task_places import Place, task_places
from mtbias.cluster.task_runs import (
    TASKS,
    Failure,
    _inputs_file,
    _inputs_hash,
    is_done,
    is_running,
    log_file,
    read_failure,
    recorded,
)
from mtbias.errors import DataError, MtbiasError, RunFolderError
from mtbias.files.file_ledger import PARTS
from mtbias.files.kept_work import PartStore, PlanRecord
from mtbias.files.writing import locked_folder
from mtbias.runs.run_folder import RunFolder

SHARDS = 2
PARTS_OF_A_RUN = 5


@pytest.fixture
def plan(tmp_path: Path) -> SweepPlan:
    sweep = Sweep(
        name="s",
        out=tmp_path / "runs",
        models=("demo",),
        languages=("de", "es"),
        datasets=("demo",),
        shards=SHARDS,
    )
    return make_plan(sweep)


@pytest.fixture(autouse=True)
def no_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture
def queue(tmp_path: Path) -> Callable[[str], None]:
    """A program squeue that prints what it is told."""

    def tell(answer: str, code: int = 0) -> None:
        program = tmp_path / "bin" / "squeue"
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f"#!/bin/sh\n[ {code} = 0 ] || echo slurm_load_jobs error >&2\nprintf '{answer}'\nexit {code}\n"
        )
        program.chmod(0o755)

    return tell


def _translate(plan: SweepPlan, cell: int, parts: list[int]) -> None:
    """A run folder in which these of five parts are kept."""
    folder = plan.cells[cell].folder
    RunFolder(folder).open_or_create({"dataset": "demo"}).close()
    PartStore(folder, PlanRecord("key", {}, (1,) * PARTS_OF_A_RUN), alone=True)
    for number in parts:
        (folder / PARTS / f"{number:06d}.jsonl").write_text("")


def _finish(plan: SweepPlan, cell: int) -> None:
    with RunFolder(plan.cells[cell].folder).open_or_create({"dataset": "demo"}) as folder:
        folder.write_calls([])
        folder.write_metrics({"fingerprint": folder.manifest.fingerprint})
    (plan.sweep.out / TASKS).mkdir(exist_ok=True)
    _inputs_file(plan.sweep, plan.cells[cell]).write_text(
        _inputs_hash(plan.sweep, plan.cells[cell])
    )


def _states(plan: SweepPlan) -> dict[str, str]:
    return dict(sweep_status(plan).tasks)


def _submitted(plan: SweepPlan, tasks: list[str], mark: str = "mtbias-0a") -> None:
    folder = plan.sweep.out / "submissions"
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.iterdir())) + 1
    (folder / f"{number:06d}.json").write_text(
        json.dumps({"mark": mark, "job": "7", "tasks": tasks})
    )


def test_a_shard_is_done_when_all_its_parts_are_kept(plan: SweepPlan) -> None:
    first, second = plan.tasks[:2]
    assert not is_done(plan, first)
    _translate(plan, 0, [0, 2, 4])  # shard 1/2 has parts 0, 2, 4; shard 2/2 has 1, 3
    assert is_done(plan, first)
    assert not is_done(plan, second)
    _translate(plan, 0, [0, 1, 2, 3])
    (plan.cells[0].folder / PARTS / "000004.jsonl").unlink()
    assert not is_done(plan, first)
    assert is_done(plan, second)
    _finish(plan, 0)
    assert is_done(plan, first)
    assert is_done(plan, plan.task("score:de"))
    assert not is_done(plan, plan.task("score:es"))


def test_each_run_is_looked_at_once(plan: SweepPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its files are hashed each time, and there are a task a shard, one a language and the table.
    for cell in range(2):
        _finish(plan, cell)
    hashed: list[Path] = []
    incomplete_because = RunFolder.incomplete_because

    def counted(run: RunFolder) -> str | None:
        hashed.append(run.path)
        return incomplete_because(run)

    monkeypatch.setattr(RunFolder, "incomplete_because", counted)
    monkeypatch.setattr("mtbias.cluster.task_runs.table_is_current", lambda _: False)
    for look in (sweep_status, lambda plan: to_submit(plan, [])):
        hashed.clear()
        look(plan)
        assert sorted(hashed) == sorted(cell.folder for cell in plan.cells)


def test_nothing_is_there_in_the_beginning(plan: SweepPlan) -> None:
    status = sweep_status(plan)
    assert status.counts() == {"done": 0, "running": 0, "queued": 0, "failed": 0, "left": 7}
    assert [(c.state, c.parts_done, c.parts) for c in status.cells] == [("left", 0, None)] * 2


def test_a_task_that_runs_holds_a_lock_and_one_that_failed_left_word(plan: SweepPlan) -> None:
    task = plan.tasks[0]
    seen: list[str] = []

    def work() -> None:
        seen.append(_states(plan)[task.id])
        raise DataError("two\nlines", path="file")

    with pytest.raises(DataError), recorded(plan, task, "the.log"):
        work()
    assert seen == ["running"]
    assert not is_running(plan.sweep.out, task)
    status = sweep_status(plan)
    assert status.cells[0].state == "failed"
    assert status.cells[1].state == "left"
    text = status_text(status)
    assert "7 tasks: 0 done, 0 running, 0 queued, 1 failed, 6 left" in text
    assert "translate:demo/demo/de:1/2: file: two lines\n  the.log\n" in text
    assert status_json(status)["failed"] == [
        {"task": task.id, "error": "file: two lines", "log": "the.log"}
    ]
    with recorded(plan, task, "the.log"):
        pass
    assert read_failure(plan.sweep.out, task) is None


def test_an_error_that_nobody_expected_is_recorded_too(plan: SweepPlan) -> None:
    with pytest.raises(ZeroDivisionError), recorded(plan, plan.tasks[0], ""):
        print(1 / 0)
    failure = read_failure(plan.sweep.out, plan.tasks[0])
    assert failure is not None
    assert failure.error == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(("code", "said"), [(-15, "ended by signal 15"), (1, "exit code 1")])
def test_a_task_that_left_no_word_failed_as_its_process_ended(
    plan: SweepPlan, code: int, said: str
) -> None:
    task = plan.tasks[0]
    assert _why_failed(plan, task, code) == Failure(said, str(log_file(plan, task)))


def test_a_task_whose_process_the_system_killed_is_told_what_needs_less_memory(
    plan: SweepPlan,
) -> None:
    failure = _why_failed(plan, plan.tasks[0], -9)
    assert failure.error.startswith("ended by signal 9, ")
    assert "fewer --jobs" in failure.error


def test_done_goes_before_an_old_failure(plan: SweepPlan) -> None:
    with pytest.raises(DataError), recorded(plan, plan.tasks[0], ""):
        _fail()
    _finish(plan, 0)
    assert _states(plan)[plan.tasks[0].id] == "done"


def _fail() -> None:
    raise DataError("no")


def test_parts_are_counted_without_corpus_or_model(plan: SweepPlan) -> None:
    _translate(plan, 0, [0, 2])
    status = sweep_status(plan)
    assert (status.cells[0].parts_done, status.cells[0].parts) == (2, PARTS_OF_A_RUN)
    assert "demo/demo/de   left  2 of 5" in status_text(status)


def test_slurm_knows_what_runs_and_what_waits(
    plan: SweepPlan, queue: Callable[[str], None]
) -> None:
    _submitted(plan, [task.id for task in plan.tasks[:4]])
    queue(
        "mtbias-0a|7|0|RUNNING\\nmtbias-0a|7|2|PENDING\\n(null)|8|N/A|RUNNING\\nmtbias-ff|9|0|RUNNING\\n"
    )
    assert queue_states(plan.sweep.out) == {plan.tasks[0].id: "running", plan.tasks[2].id: "queued"}
    states = _states(plan)
    assert [states[task.id] for task in plan.tasks] == [
        "running",
        "failed",
        "queued",
        "failed",
        "left",
        "left",
        "left",
    ]
    status = sweep_status(plan)
    log = str(plan.sweep.out / "logs" / "7_1_0_log.err")
    assert status.failures[plan.tasks[1].id] == Failure(
        "ended without a result: killed, or its node died", log
    )


def test_a_slurm_that_does_not_answer_is_an_error(
    plan: SweepPlan, queue: Callable[..., None]
) -> None:
    _submitted(plan, [plan.tasks[0].id])
    queue("", 1)
    with pytest.raises(MtbiasError, match="Slurm does not answer: slurm_load_jobs error"):
        sweep_status(plan)


def test_only_what_is_neither_done_nor_queued_is_submitted(plan: SweepPlan) -> None:
    everything = [task.id for array in to_submit(plan, []) for task in array.tasks]
    assert everything == [task.id for task in plan.tasks]
    _finish(plan, 0)
    queued = [plan.tasks[2].id, "score:es", "table"]
    # es 1/2 waits already, es 2/2 is new, so what comes after it must wait for it again
    assert [[t.id for t in array.tasks] for array in to_submit(plan, queued)] == [
        ["translate:demo/demo/es:2/2"],
        ["score:es"],
        ["table"],
    ]
    queued.append(plan.tasks[3].id)
    assert to_submit(plan, queued) == []


def test_tasks_of_like_resources_are_one_array(plan: SweepPlan) -> None:
    mixed = make_plan(
        replace(plan.sweep, models=("demo", "opus-mt", "openai:small"), slurm=Slurm(minutes=30))
    )
    arrays = to_submit(mixed, [])
    assert [(a.kind, len(a.tasks), a.resources.minutes) for a in arrays] == [
        ("translate", 8, 30),
        ("translate", 4, 480),  # on another machine
        ("score", 2, 480),
        ("table", 1, 480),
    ]


def test_an_array_has_no_more_tasks_than_the_cluster_allows(
    plan: SweepPlan, tmp_path: Path
) -> None:
    arrays = to_submit(plan, [])
    assert most_tasks() is None  # no Slurm
    assert [len(array.tasks) for array in divided(arrays, None)] == [4, 2, 1]
    program = tmp_path / "bin" / "scontrol"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        "#!/bin/sh\necho 'MailProg = /bin/mail'\necho 'MaxArraySize            = 3'\n"
    )
    program.chmod(0o755)
    assert most_tasks() == 3
    parts = list(divided(arrays, most_tasks()))
    assert [len(array.tasks) for array in parts] == [3, 1, 2, 1]
    assert [task for array in parts for task in array.tasks] == list(plan.tasks)


def test_two_submissions_at_once_are_refused(plan: SweepPlan) -> None:
    folder = plan.sweep.out / SUBMISSIONS
    with (
        locked_folder(folder),
        pytest.raises(
            RunFolderError,
            match=rf"process {os.getpid()} on .* is writing into this folder; wait for it",
        ),
        locked_folder(folder),
    ):
        pass
    with locked_folder(folder):  # it is free again
        pass


def test_a_damaged_record_is_named(plan: SweepPlan) -> None:
    _submitted(plan, ["table"])
    path = plan.sweep.out / "submissions" / "000001.json"
    path.write_text("{}")
    with pytest.raises(DataError, match=rf"{path}: damaged: mark: expected this key"):
        read_submissions(plan.sweep.out)


CPU = Place({})


def test_what_another_process_does_just_now_is_waited_for(plan: SweepPlan) -> None:
    schedule = SweepSchedule(plan)
    with recorded(plan, plan.tasks[0], ""):
        assert schedule.next_task(CPU, None, []) == plan.tasks[1]
    assert schedule.waiting == [plan.tasks[0], *plan.tasks[2:]]
    assert schedule.next_task(CPU, None, []) == plan.tasks[0]


def test_a_language_is_scored_as_soon_as_its_translations_have_ended(plan: SweepPlan) -> None:
    schedule = SweepSchedule(plan)
    german, spanish = plan.tasks[:2], plan.tasks[2:4]  # two shards each
    begun = [schedule.next_task(CPU, None, []) for _ in range(4)]
    assert begun == [*german, *spanish]
    schedule.has_ended(german[0], None)
    assert schedule.next_task(CPU, None, []) is None
    schedule.has_ended(german[1], None)
    assert schedule.next_task(CPU, None, []) == plan.task("score:de")


def test_a_gpu_translates_and_the_cores_beside_it_score(plan: SweepPlan) -> None:
    mixed = make_plan(replace(plan.sweep, models=("openai:small", "demo"), shards=1))
    schedule = SweepSchedule(mixed)
    gpu, beside = Place({}, has_gpu=True), Place({}, beside_gpus=True)
    assert schedule.next_task(beside, None, []) == mixed.task("translate:demo/openai_small/de:1/1")
    german = schedule.next_task(gpu, None, [])
    assert german == mixed.task("translate:demo/demo/de:1/1")
    assert german is not None
    spanish = schedule.next_task(gpu, german, [])
    assert spanish == mixed.task("translate:demo/demo/es:1/1")
    assert schedule.next_task(gpu, spanish, []) is None
    for task in mixed.tasks[:2]:
        schedule.has_ended(task, None)
    assert schedule.next_task(gpu, spanish, []) is None
    assert schedule.next_task(beside, None, []) == mixed.task("translate:demo/openai_small/es:1/1")
    assert schedule.next_task(beside, None, []) == mixed.task("score:de")


def test_a_process_goes_on_with_its_cell_then_with_its_model(plan: SweepPlan) -> None:
    two = make_plan(replace(plan.sweep, models=("demo", "opus-mt"), shards=2))
    schedule = SweepSchedule(two)
    order: list[str] = []
    last = None
    while (task := schedule.next_task(CPU, last, [])) is not None:
        order.append(task.id.removeprefix("translate:demo/"))
        last = task
    # The second language begins with the model whose weights are there.
    assert order == [
        "demo/de:1/2",
        "demo/de:2/2",
        "opus-mt/de:1/2",
        "opus-mt/de:2/2",
        "opus-mt/es:1/2",
        "opus-mt/es:2/2",
        "demo/es:1/2",
        "demo/es:2/2",
    ]
    fresh = SweepSchedule(two)
    first = fresh.next_task(CPU, None, [])
    assert first is not None
    beside = fresh.next_task(CPU, None, [first])  # at another place: another cell
    assert beside == two.task("translate:demo/opus-mt/de:1/2")


def test_a_log_that_cannot_be_written_ends_the_sweep(plan: SweepPlan) -> None:
    log = log_file(plan, plan.tasks[0])
    log.mkdir(parents=True)
    with pytest.raises(MtbiasError, match=re.escape(str(log))):
        run_locally(plan, Path("s.toml"), device="cpu", places=task_places(gpus=0, jobs=1), say=str)


def test_a_lock_that_a_dead_process_left_means_nothing(plan: SweepPlan) -> None:
    task = plan.tasks[0]
    folder = plan.sweep.out / TASKS
    folder.mkdir(parents=True)
    path = folder / f"{task.file_name}.lock"
    path.touch()
    assert not is_running(plan.sweep.out, task)
    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert is_running(plan.sweep.out, task)


def test_a_place_is_a_gpu_or_a_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    assert task_places(gpus=0, jobs=3) == [Place({"OMP_NUM_THREADS": "5"})] * 3  # 16 cores / 3
    assert task_places(gpus=0, jobs=None) == [Place({"OMP_NUM_THREADS": "16"})]
    score = Place({"OMP_NUM_THREADS": "4", "CUDA_VISIBLE_DEVICES": ""}, beside_gpus=True)
    assert task_places(gpus=2, jobs=None) == [
        Place({"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": "0"}, has_gpu=True),
        Place({"OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": "1"}, has_gpu=True),
        *[score] * 3,  # 2 cores for each GPU, 4 for each score
    ]
    assert [place.has_gpu for place in task_places(gpus=1, jobs=2)] == [True, False, False]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")  # those that this process may use
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    named = [place.environment["CUDA_VISIBLE_DEVICES"] for place in task_places(gpus=2, jobs=1)]
    assert named == ["5", "7", ""]
    assert task_places(gpus=0, jobs=1) == [Place({"OMP_NUM_THREADS": "1"})]
