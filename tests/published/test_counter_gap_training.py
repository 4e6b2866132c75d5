"""The presets of training against table 8 of Counter-GAP (Xie et al., EACL 2023), as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.training import TrainingSettings, training_presets

MODELS = ("BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large")
TABLE_8 = {
    "bert_learning_rate": ("1e-5", "1e-5", "2e-5", "1e-5"),
    "task_learning_rate": ("2e-4", "2e-4", "1e-4", "3e-4"),
    "max_segment_len": ("128", "384", "384", "512"),
    "max_training_sentences": ("11", "3", "3", "3"),
}
SETTINGS = {
    "bert_learning_rate": "encoder_learning_rate",
    "task_learning_rate": "learning_rate",
    "max_segment_len": "window",
    "max_training_sentences": "segments",
}
"""What the options of the trainer are called here."""


def test_the_table_is_as_printed(shared: Path) -> None:
    path = shared / "papers" / "counter_gap_xie_2023.txt"
    if not path.is_file():
        pytest.skip("no text of the paper")
    text = path.read_text(encoding="utf-8")
    assert f"| | {' | '.join(MODELS)} |" in text
    for name, cells in TABLE_8.items():
        assert f"| ${name}$ | {' | '.join(cells)} |" in text
    # Appendix A.
    assert "fine-tuned for 20 epochs with a dropout rate of 0.3" in text


@pytest.mark.parametrize("model", MODELS)
def test_the_settings_of_each_encoder(model: str) -> None:
    settings = TrainingSettings(preset=model.lower())  # type: ignore[arg-type]
    printed = {name: float(cells[MODELS.index(model)]) for name, cells in TABLE_8.items()}
    assert {name: getattr(settings, SETTINGS[name]) for name in TABLE_8} == printed
    assert (settings.epochs, settings.dropout) == (20, 0.3)
    # Of BERT and SpanBERT, base and large, and cased as those of Joshi et al. (2019, 2020).
    family, size = model.split("-")
    assert settings.chosen_encoder().endswith(f"/{family.lower()}-{size}-cased")


def test_presets_are_listed_with_their_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "presets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [model.lower() for model in MODELS]
    assert list(training_presets()) == [model.lower() for model in MODELS]
    assert "learning-rate 0.0003, window 512, segments 3, epochs 20, dropout 0.3" in lines[-1]
