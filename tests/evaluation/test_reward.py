"""The reward of single translations: by the demo's models, in pairs of a man and a woman."""

from __future__ import annotations

from pathlib import Path

import pytest

import mtbias
from mtbias.demo import demo_file, reference_file
from mtbias.errors import SettingError, UsageError
from mtbias.settings import ScoreSettings
from mtbias.types import Gender

LATE = "The doctor said that she was late."


@pytest.fixture
def settings(tmp_path: Path) -> ScoreSettings:
    return ScoreSettings(stanza_dir=Path("mtbias:demo"), cache_dir=tmp_path / "cache", device="cpu")


def test_right_is_one_wrong_is_minus_one_and_no_call_is_zero(settings: ScoreSettings) -> None:
    found = mtbias.rewards(
        [LATE, LATE, LATE, LATE],
        ["Die Ärztin kam spät.", "Der Arzt kam spät.", "Es regnete.", " "],
        "de",
        entities=["doctor"] * 4,
        settings=settings,
    )
    assert [each.value for each in found] == [1, -1, 0, 0]
    assert [each.gender for each in found] == [Gender.FEMALE, Gender.MALE, None, None]
    assert [each.reason for each in found] == ["", "", "no person", "untranslated"]
    assert [each.words for each in found[:2]] == [("Ärztin",), ("Arzt",)]
    assert not (settings.cache_dir or Path()).exists()  # nothing is kept


def test_the_gender_of_the_pronouns_is_asked_unless_another_is_given(
    settings: ScoreSettings,
) -> None:
    def value(source: str, gender: str | None = None) -> int:
        return mtbias.reward(
            source, "Der Arzt kam spät.", "de", entity="doctor", gender=gender, settings=settings
        ).value

    assert value(LATE) == -1
    assert value(LATE.replace("she", "he")) == 1
    assert value("The doctor was late.", "male") == 1
    assert value("The doctor was late.", "female") == -1
    with pytest.raises(SettingError, match="gender: expected male or female for a sentence"):
        value("The doctor was late.")


def test_a_reward_does_not_depend_on_what_stands_beside_it(settings: ScoreSettings) -> None:
    rows = [line.split("\t") for line in demo_file().read_text(encoding="utf-8").splitlines()]
    columns = {name: n for n, name in enumerate(rows[0])}
    texts = [line.split("\t") for line in reference_file("de").read_text("utf-8").splitlines()]
    translation = {row[0]: row[1] for row in texts[1:]}
    chosen = [row for row in rows[1:] if row[columns["id"]] in translation][:24]
    assert len(chosen) == 24
    sources = [row[columns["source"]] for row in chosen]
    translations = [translation[row[columns["id"]]] for row in chosen]
    entities = [row[columns["entity"]] for row in chosen]
    genders = [row[columns["gender"]] for row in chosen]
    together = mtbias.rewards(
        sources, translations, "de", entities=entities, genders=genders, settings=settings
    )
    alone = [
        mtbias.reward(s, t, "de", entity=e, gender=g, settings=settings)
        for s, t, e, g in zip(sources, translations, entities, genders, strict=True)
    ]
    assert together == alone
    assert {each.value for each in together} == {1}  # the demo's references are right


def test_what_does_not_fit_is_refused(settings: ScoreSettings) -> None:
    with pytest.raises(UsageError, match=r"as many sources, .* got 1, 2, 1, 1"):
        mtbias.rewards([LATE], ["Er kam.", "Sie kam."], "de", entities=["doctor"])
    with pytest.raises(SettingError, match=r"entity: expected words that occur once.*'nurse'"):
        mtbias.reward(LATE, "Er kam.", "de", entity="nurse", settings=settings)
    for gender in ("woman", "unknown"):  # who is unknown has no wrong gender
        with pytest.raises(SettingError, match=f"gender: expected male, .* got '{gender}'"):
            mtbias.reward(LATE, "Er kam.", "de", entity="doctor", gender=gender, settings=settings)


def test_one_of_two_persons_of_one_name_is_told_by_its_place(settings: ScoreSettings) -> None:
    source = "The doctor met a doctor before she left."
    german = "Der Arzt traf eine Ärztin, bevor sie ging."
    with pytest.raises(SettingError, match="expected words that occur once"):
        mtbias.reward(source, german, "de", entity="doctor", settings=settings)
    second = mtbias.reward(source, german, "de", entity=4, settings=settings)
    assert (second.value, second.words) == (1, ("Ärztin",))
