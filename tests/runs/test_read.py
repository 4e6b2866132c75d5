"""A finished run, read as one value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.errors import DataError, RunFolderError
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import read_run
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.scores import score
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


# ----- metrics that were changed


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """The folder of a run with the numbers of its one call."""
    with RunFolder(tmp_path).open_or_create({**IDENTITY, "resamples": 20}) as folder:
        manifest = folder.manifest
        folder.write_translations([Translation("a", "La médica.")])
        folder.write_calls([CALL.to_json()])
        numbers = score([CALL], n_resamples=20).to_json(
            signature=manifest.signature(), fingerprint=manifest.fingerprint
        )
        folder.write_metrics({**numbers, "corpus": {"rows": 1}})
    return tmp_path / "metrics.json"


def test_metrics_hold_their_own_hash_and_are_trusted(scored: Path) -> None:
    run = read_run(scored.parent)
    assert run.metrics == json.loads(scored.read_bytes())
    assert run.metrics["overall"]["accuracy"] == 100
    assert list(run.metrics)[-1] == "sha256"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"accuracy": 100.0', '"accuracy": 10.0'),
        ('"accuracy": 100.0', '"accuracy": NaN'),
        ('"rows": 1', '"rows": 1, "notes": {"a": 1}'),
        ('"by_domain": {', '"by_domain": 5, "x": {'),
        ('"sha256": "', '"sha256": "0'),
    ],
)
def test_changed_metrics_are_refused(scored: Path, old: str, new: str) -> None:
    text = scored.read_text(encoding="utf-8")
    assert old in text
    scored.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(
        RunFolderError,
        match=r"metrics\.json was changed since it was written; run the same command",
    ):
        read_run(scored.parent)


def test_metrics_of_a_newer_release_are_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path).open_or_create(IDENTITY) as folder:
        folder.write_calls([CALL.to_json()])
        folder.write_metrics({"schema": 2, "fingerprint": folder.manifest.fingerprint})
    with pytest.raises(
        DataError, match="expected schema 1, got 2; read it with the mtbias that wrote it"
    ):
        read_run(tmp_path)


@pytest.mark.parametrize("name", ["metrics.json", "manifest.json"])
def test_a_file_that_is_nested_too_deeply_is_damaged(scored: Path, name: str) -> None:
    scored.with_name(name).write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(RunFolderError, match=f"{name}: .*: nested too deeply"):
        read_run(scored.parent)
