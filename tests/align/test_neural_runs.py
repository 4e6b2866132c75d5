"""Whole runs with the neural aligner: the same bytes again, killed and resumed, and in the
signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mtbias
from mtbias.demo import STANZA_NAME, reference_file
from mtbias.errors import RunFolderError
from tests.cli.shard_processes import small_corpus

FILES = ("translations.jsonl", "calls.jsonl", "metrics.json")


class Killed(BaseException):
    """As Ctrl-C or a signal, which nothing catches."""


def settings(
    bert: Path, tmp_path: Path, data: Path, layer: int | None = None
) -> mtbias.ScoreSettings:
    return mtbias.ScoreSettings(
        dataset="demo",
        data=data,
        stanza_dir=Path(STANZA_NAME),
        aligner="neural",
        aligner_model=str(bert),
        aligner_layer=layer,
        cache_dir=tmp_path / "cache",
        device="cpu",
        resamples=0,
    )


@pytest.mark.slow
def test_a_run_killed_while_it_aligns_ends_with_the_same_bytes(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, data = reference_file("de"), small_corpus(tmp_path, every=4)
    options = settings(bert, tmp_path, data)
    whole = mtbias.score(given, "de", out=tmp_path / "whole", settings=options)
    assert "|aligner:neural(bert@sha256:" in whole.metrics["signature"]
    assert ",2)|stanza:" in whole.metrics["signature"]
    assert whole.metrics["overall"]["n"] == 128
    assert whole.decided_percent is not None
    assert whole.decided_percent > 99

    def kill(stage: str, done: int, total: int) -> None:
        if stage == "align" and 0 < done < total:
            raise Killed

    monkeypatch.setattr("mtbias.align.neural_aligner.LETTERS", 2_500)
    for _ in range(2):
        with pytest.raises(Killed):
            mtbias.score(given, "de", out=tmp_path / "killed", settings=options, progress=kill)
    mtbias.score(given, "de", out=tmp_path / "killed", settings=options)
    for name in FILES:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    manifest = json.loads((tmp_path / "killed" / "manifest.json").read_text())
    assert manifest["identity"]["aligner"].startswith("neural(bert@sha256:")
    with pytest.raises(RunFolderError, match=r"aligner: .*,2\).* here, .*,1\).* asked for"):
        mtbias.score(
            given, "de", out=tmp_path / "whole", settings=settings(bert, tmp_path, data, layer=1)
        )


@pytest.mark.usefixtures("hub")
def test_a_missing_encoder_is_said_before_anything_is_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mtbias.cli import main

    monkeypatch.setenv("MTBIAS_CACHE", str(tmp_path / "cache"))
    asked = ["eval", "--model", "demo", "--lang", "de", "--aligner", "neural", "--offline"]
    assert main(asked) == 1
    assert capsys.readouterr().err == (
        "mtbias: the model google-bert/bert-base-multilingual-cased is not on this machine, and the network may not be "
        "used; on a machine with network run: mtbias fetch --model google-bert/bert-base-multilingual-cased --lang de\n"
    )
    assert main([*asked, "--aligner-model", "nosuch"]) == 2
    assert capsys.readouterr().err.startswith(
        "mtbias: --aligner-model: expected a hub id (OWNER/NAME) or a folder"
    )
    assert main([*asked[:-3], "--aligner-layer", "3"]) == 2
    assert capsys.readouterr().err.startswith(
        "mtbias: --aligner-layer: expected the aligner neural with it, got stat"
    )
