"""Settings are checked where they are made, and passed on by name."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from mtbias.errors import SettingError, UsageError
from mtbias.settings import (
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
        (DecodingSettings, "max_length", "200", 3),
        (EvaluatorSettings, "processes", 0, 1),
        (BootstrapSettings, "seed", -1, 0),
        (BootstrapSettings, "resamples", True, 0),
        (EvalSettings, "resamples", 1.5, 0),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(
    kind: type[Settings], name: str, value: Any, least: int
) -> None:
    with pytest.raises(SettingError) as caught:
        kind(**{name: value})
    assert (
        str(caught.value) == f"{name}: expected a whole number of at least {least}, got {value!r}"
    )
    assert isinstance(caught.value, UsageError)


@pytest.mark.parametrize(
    ("kind", "name", "value", "said"),
    [
        (DecodingSettings, "beams", 1001, "a whole number of at most 1,000, got 1001"),
        (
            DecodingSettings,
            "max_length",
            10**12,
            "a whole number of at most 100,000, got 1000000000000",
        ),
        (DecodingSettings, "length_penalty", nan, "a number of at least -10, got nan"),
        (DecodingSettings, "length_penalty", -inf, "a number of at least -10, got -inf"),
        (DecodingSettings, "length_penalty", 10.5, "a number of at most 10, got 10.5"),
        (DecodingSettings, "length_penalty", "x", "a number of at least -10, got 'x'"),
        (
            BootstrapSettings,
            "seed",
            2**63,
            "a whole number of at most 9,223,372,036,854,775,807, got 9223372036854775808",
        ),
        (
            BootstrapSettings,
            "seed",
            10**40,
            "a whole number of at most 9,223,372,036,854,775,807, got a number of more than 30 digits",
        ),
        (BootstrapSettings, "resamples", 1, "at least 200, or 0 for no intervals, got 1"),
        (BootstrapSettings, "resamples", 199, "at least 200, or 0 for no intervals, got 199"),
        (
            BootstrapSettings,
            "resamples",
            10**7,
            "a whole number of at most 1,000,000, got 10000000",
        ),
        (EvaluatorSettings, "processes", 10**9, "a whole number of at most 1,024, got 1000000000"),
        (
            DecodingSettings,
            "dtype",
            "int8",
            "float32, bfloat16, float16 with the engine transformers, got 'int8'",
        ),
    ],
)
def test_every_number_has_a_finite_range(
    kind: type[Settings], name: str, value: Any, said: str
) -> None:
    with pytest.raises(SettingError) as caught:
        kind(**{name: value})
    assert str(caught.value) == f"{name}: expected {said}"


def test_the_ends_of_ranges_are_in_them() -> None:
    DecodingSettings(beams=1000, max_length=3, length_penalty=-10, dtype="int8", engine="ct2")
    assert BootstrapSettings(seed=2**63 - 1, resamples=1_000_000).seed == 2**63 - 1
    assert DecodingSettings(length_penalty=1).length_penalty == 1


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
