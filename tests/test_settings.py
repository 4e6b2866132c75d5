"""Settings are checked where they are made, and passed on by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtbias.cli.coref_shared import ManyResamples
from mtbias.errors import SettingError, UsageError
from mtbias.settings import (
    MOST_RESAMPLES,
    BootstrapSettings,
    CorpusSettings,
    DecodingSettings,
    EvalSettings,
    EvaluatorSettings,
    ScoreSettings,
    Settings,
    TranslationSettings,
    combined,
)


@pytest.mark.parametrize(
    ("kind", "name", "value", "least"),
    [
        (DecodingSettings, "beams", 0, 1),
        (DecodingSettings, "batch_rows", -3, 1),
        (DecodingSettings, "max_length", "200", 1),
        (EvaluatorSettings, "processes", 0, 1),
        (BootstrapSettings, "seed", -1, 0),
        (BootstrapSettings, "resamples", True, 0),
        (EvalSettings, "resamples", 1.5, 0),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(kind: type[Settings], name: str, value: Any, least: int) -> None:
    with pytest.raises(SettingError) as caught:
        kind(**{name: value})
    assert str(caught.value) == f"{name}: expected a whole number, {least} or more, got {value!r}"
    assert isinstance(caught.value, UsageError)


@pytest.mark.parametrize("kind", [BootstrapSettings, ScoreSettings, ManyResamples])
def test_more_resamples_than_memory_holds_are_refused(kind: type[BootstrapSettings]) -> None:
    assert kind(resamples=MOST_RESAMPLES).resamples == 1_000_000
    with pytest.raises(SettingError, match=r"^resamples: expected at most 1,000,000, got 1,000,001; "):
        kind(resamples=1_000_001)


def test_text_becomes_a_path() -> None:
    settings = CorpusSettings(data="own.tsv", dataset="custom")  # type: ignore[arg-type]
    assert settings == CorpusSettings(data=Path("own.tsv"), dataset="custom")
    assert type(settings.dataset) is str


def test_settings_are_combined_by_name() -> None:
    parts = (CorpusSettings(dataset="bug"), TranslationSettings(beams=3), BootstrapSettings(seed=7))
    settings = combined(EvalSettings, *parts, offline=True)
    assert settings == EvalSettings(dataset="bug", beams=3, seed=7, offline=True)
    assert combined(ScoreSettings, settings) == ScoreSettings(dataset="bug", seed=7)
    assert combined(DecodingSettings, settings, beams=2) == DecodingSettings(beams=2)
