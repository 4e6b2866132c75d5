"""Damaged translations: no call may differ from those of good ones without an alarm, or a word of
what was undone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from mtbias.corpora import load_entities
from mtbias.demo import reference_file
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings
from mtbias.types import Instance
from scripts.damage import Damage, Reading, damages, read
from tests.draws import sampled

LANGUAGES = ("ar", "cs", "de", "es", "he", "it", "ru", "uk")
ROWS = 160
"""Of the demo's corpus: pairs of a man and a woman."""
DAMAGES = [damage for damage in damages() if damage.outcome != "large"]
CASES = [(f"{lang}: {damage.name}", (lang, damage)) for lang in LANGUAGES for damage in DAMAGES]


@cache
def _measure(lang: str) -> GenderMeasure:
    settings = EvaluatorSettings(stanza_dir=Path("mtbias:demo"))
    return GENDER_MEASURE.open(
        MeasureOptions(lang=lang, settings=settings, device="cpu", demo=True)
    )


@cache
def _sentences() -> tuple[Instance, ...]:
    return load_entities("demo", None).instances[:ROWS]


@cache
def _texts(lang: str) -> tuple[str, ...]:
    lines = reference_file(lang).read_text(encoding="utf-8").splitlines()[1:]
    targets = dict(line.split("\t") for line in lines)
    return tuple(targets[instance.id] for instance in _sentences())


@cache
def _good(lang: str) -> Reading:
    return read(_texts(lang), _sentences(), _measure(lang))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_good_translations_are_without_alarm(lang: str) -> None:
    good = _good(lang)
    assert (good.raised, good.undone) == ([], {})
    assert good.calls.count("male") == good.calls.count("female") == ROWS // 2


@pytest.mark.slow
@pytest.mark.parametrize("case", sampled(CASES, one_in=10))
def test_no_call_differs_without_a_word(case: tuple[str, Damage]) -> None:
    lang, damage = case
    good = _good(lang)
    sources = [instance.source for instance in _sentences()]
    texts = damage.applied(_texts(lang), sources)
    found = read(texts, _sentences(), _measure(lang))
    differing = found.differing(good)
    if texts == list(_texts(lang)):  # the language has nothing that could be damaged so
        assert differing == 0
    elif damage.outcome == "undone":
        assert (differing, bool(found.undone)) == (0, True)
    else:
        assert differing == 0 or found.raised, f"{differing} calls differ, and nothing says so"
