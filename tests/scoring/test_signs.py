"""Signs in translations: another language, copies, repetition, entities that are missing or in a neighbouring line."""

from __future__ import annotations

import pytest

from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.scoring.alarms import SAME_FOR, copies, loops, repeated, unrendered
from mtbias.translate.text_language import languages

GERMAN = "Der Arzt bat die Krankenschwester um Hilfe, weil sie viel zu tun hatte."
ENGLISH = "The doctor asked the nurse for help because she was very busy."
RUSSIAN = "Врач попросил медсестру о помощи, потому что она была очень занята."


@pytest.mark.parametrize(
    ("text", "lang", "found"),
    [
        (GERMAN, "de", "de"),
        (ENGLISH, "de", "en"),
        (RUSSIAN, "de", "ru"),
        (RUSSIAN, "ru", "ru"),
        (RUSSIAN, "uk", "ru"),
        (None, "de", None),
        ("The doctor came home.", "de", None),  # too short to be surely in another one
        ("The doctor came home late.", "de", "en"),
    ],
)
def test_another_language(text: str | None, lang: str, found: str | None) -> None:
    assert languages([text], lang) == [found]


def test_a_language_that_nobody_can_tell_is_never_missed() -> None:
    assert languages([ENGLISH], "xx") == [None]


def test_a_copy_is_the_source_or_nearly() -> None:
    source = "The developer argued with the designer because she did not like the design."  # 13 words
    texts = [
        source,
        "the developer argued with the DESIGNER, because she did not like the design",
        source.replace("designer", "Designer-in"),  # 12 of 13 and 14 words: 24 / 27 = 0.89
        "Die developer argued mit the designer weil she did nicht like the Design.",  # 9 of 13 and 13: 0.69
        None,
        "...",
    ]
    assert copies([source] * 6, texts) == [True, True, True, False, None, False]


def test_a_phrase_over_and_over() -> None:
    assert loops(["der Arzt der Arzt der Arzt der Arzt", GERMAN, None]) == [True, False, None]


def test_one_translation_for_many_sources() -> None:
    sources = [f"sentence {n}" for n in range(SAME_FOR)]
    assert repeated(sources, ["Ja, ja."] * (SAME_FOR - 1) + ["ja ja"]) == [True] * SAME_FOR
    assert repeated(sources, ["Ja."] * (SAME_FOR - 1) + ["Nein."]) == [False] * SAME_FOR
    assert repeated(["the same"] * SAME_FOR, ["Ja."] * SAME_FOR) == [False] * SAME_FOR  # of one source: no sign
    assert repeated(sources, [None] * SAME_FOR) == [None] * SAME_FOR


def test_an_entity_in_its_own_line_in_a_neighbouring_one_or_nowhere() -> None:
    entities = ["doctor", "baker", "teacher", "farmer", "zorblax", "baker"]
    # The lines of doctor, baker and teacher are those of the next sentence; "zorblax" is in no table.
    texts = ["Der Bäcker kam.", "Die Lehrerin kam.", "Der Bauer kam.", "Der Bauer kam.", "Der Zorblax kam.", None]
    absent, moved = unrendered(entities, texts, SplitTexts(get_language("de")))
    assert absent == [True, True, True, False, None, None]
    assert moved == [False, True, True, False, None, None]  # nobody's line has a doctor


def test_arabic_in_presentation_forms_is_arabic() -> None:
    plain = "طلبت الطبيبة من الممرض أن يساعدها في الإجراء اليوم"
    forms = "ﻳﻌﺘﻤﺪ اﻟﺸﺮﻳﻒ ﻋﻠﻰ اﻟﻤﻀﻴﻒ ﻷﻧﻪ ﺷﺨﺺ ﻣﻮﺛﻮق ﺑﻪ."  # as a system of 2019 wrote
    assert languages([plain, forms], "ar") == ["ar", "ar"]
    assert languages([forms], "de") == ["ar"]
