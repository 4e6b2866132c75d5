"""A finished run, read as one value."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.errors import RunFolderError
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import read_run
from mtbias.runs.run_folder import RunFolder
from mtbias.types import Gender, GenderCall, Json, Span, Stereotype, Translation

IDENTITY: dict[str, Json] = {
    "dataset": "winomt", "data": {"en.txt": "00ff"}, "language": "es", "system": "online-x", "aligner": "agree/1",
    "stanza": {"version": "1"}, "plugin": "es/1", "mtbias": "0.1.0", "seed": 0,
}  # fmt: skip
CALL = CallRecord(
    0, "The doctor.", "La médica.", "doctor", Gender.FEMALE, Stereotype.ANTI, "demo", 0,
    GenderCall("a", Gender.FEMALE, None, (Span(3, 9),)), distance=4, pair="b", control="c",
)  # fmt: skip


def _write(path: Path, identity: dict[str, Json]) -> None:
    with RunFolder(path).open_or_create(identity) as folder:
        folder.write_translations([Translation("a", "La médica.")])
        folder.write_calls([CALL.to_json()])
        folder.write_metrics({"schema": 1, "fingerprint": folder.manifest.fingerprint, "n": 1})


def test_what_a_run_was_and_what_it_found(tmp_path: Path) -> None:
    _write(tmp_path / "run", IDENTITY)
    run = read_run(tmp_path / "run")
    assert (run.system, run.lang, run.corpus) == ("online-x", "es", ("winomt", {"en.txt": "00ff"}))
    assert run.evaluator == {k: IDENTITY[k] for k in ("aligner", "stanza", "plugin", "mtbias")}
    assert list(run.calls) == [CALL]
    assert run.metrics["n"] == 1


def test_the_model_names_a_run_without_a_system(tmp_path: Path) -> None:
    identity = {k: v for k, v in IDENTITY.items() if k != "system"}
    _write(tmp_path / "run", {**identity, "model": "opus-mt-en-es"})
    assert read_run(tmp_path / "run").system == "opus-mt-en-es"


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path).open_or_create(IDENTITY):
        pass
    with pytest.raises(RunFolderError, match="not finished"):
        read_run(tmp_path)
