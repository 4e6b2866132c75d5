"""A first look at a corpus: some of its sentences, evenly spread, as a corpus of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora.own_sentences import custom_corpus


def test_the_sentences_are_evenly_spread() -> None:
    rows = [
        {"id": f"s{n}", "source": f"The doctor {n} left.", "entity": "doctor", "gender": "unknown"}
        for n in range(10)
    ]
    corpus = custom_corpus(rows)
    assert [each.id for each in corpus.spread(4).instances] == ["s0", "s2", "s5", "s7"]
    assert corpus.spread(4).name.startswith("custom-4-of-10-")
    assert corpus.spread(4).name != corpus.spread(3).name
    assert corpus.spread(1).instances[0].id == "s0"
    assert corpus.spread(None) is corpus
    assert corpus.spread(10) is corpus
    assert corpus.spread(99) is corpus


def test_eval_translates_so_many_and_signs_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["eval", "--model", "demo", "--lang", "de", "--cache-dir", str(tmp_path), "--json"]
    assert main([*command, "--limit", "12", "--device", "cpu"]) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert metrics["overall"]["n"] == 12
    assert "dataset:demo-12-of-512-" in metrics["signature"]


def test_a_sweep_limits_models_and_no_given_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    text = "out = 'runs'\nlanguages = ['de']\ndatasets = ['demo']\nlimit = 12\n"
    file.write_text(f"{text}models = ['demo']\n")
    assert main(["sweep", str(file), "--dry-run"]) == 0
    assert "demo/demo/de         12       1" in capsys.readouterr().out
    file.write_text(f"{text}[systems]\nours = 'ours.txt'\n")
    assert main(["sweep", str(file), "--dry-run"]) == 1
    assert "limit: expected none beside [systems]" in capsys.readouterr().err
