"""Signs in translations: another language, copies, repetition, entities that are missing or in a
neighbouring line."""

from __future__ import annotations

import pytest

from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.scoring.alarms import unrendered
from mtbias.scoring.text_signs import SAME_FOR, copies, lengths, letter_case, quotes, repeated
from mtbias.translate.text_language import copied_runs, is_repetitive, languages

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
    source = (
        "The developer argued with the designer because she did not like the design."  # 13 words
    )
    texts = [
        source,
        "the developer argued with the DESIGNER, because she did not like the design",
        source.replace("designer", "Designer-in"),  # 12 of 13 and 14 words: 24 / 27 = 0.89
        "Die developer argued mit the designer weil she nicht liked das Design.",  # 7 of 13 and 12: 0.56
        None,
        "...",
    ]
    assert copies([source] * 6, texts) == [True, True, True, False, None, False]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "The doctor argued with her mother at home. La doctora discutió.",
            "The doctor argued with her mother at home",
        ),
        (
            "La doctora argued with her mother, en casa.",
            "argued with her mother",
        ),  # four words without a capital
        (
            "La doctora with her mother en casa.",
            "with her mother",
        ),  # three, of which one is English alone
        ("La doctora argued her madre.", None),
        ("The Doctor Argued With Her Mother, de 1999.", None),  # a title
        ("The doctor argued con su madre.", None),
    ],
)
def test_words_of_the_source_in_a_row_were_left_untranslated(text: str, left: str | None) -> None:
    source = "The doctor argued with her mother at home in May."
    if text.startswith("The Doctor"):
        source = "In 1999 The Doctor Argued With Her Mother was shown."
    runs = copied_runs(source, text)
    assert [text[slice(*run.span)] for run in runs] == ([] if left is None else [left])
    for run in runs:
        for ours, theirs in run.words:
            assert source[slice(*ours)].lower() == text[slice(*theirs)].lower()


def test_names_and_offices_of_the_source_are_no_words_left() -> None:
    source = "The chief financial officer of Deutsche Bank AG in Hamburg met John Smith and Mary Jane Watson."
    text = "Der chief financial officer der Deutsche Bank AG in Hamburg traf John Smith und Mary Jane Watson."
    assert copied_runs(source, text) == []


def test_what_was_cut_and_what_holds_more_than_the_translation() -> None:
    sources = ["x" * 50] * 10
    texts = ["y" * 55] * 7 + ["y" * 27, "y" * 110, None]
    short, long = lengths(sources, texts, (0.9, 1.2))
    # The usual ratio is the median, 1.1: short below 0.66, long above 1.87.
    assert short == [False] * 7 + [True, False, None]
    assert long == [False] * 8 + [True, None]
    halves = ["y" * 27] * 10
    # Where all were cut the median, 0.54, is no ratio of the language: 0.9 is its least, and 0.54 =
    # 0.6 · 0.9.
    assert lengths(sources, ["y" * 26] * 10, (0.9, 1.2))[0] == [True] * 10
    assert lengths(sources, halves, (0.9, 1.2))[0] == [False] * 10
    assert lengths([], [], (0.9, 1.2)) == ([], [])


def test_capitals_that_were_lost() -> None:
    upper, lower, title = GERMAN.upper(), GERMAN.lower(), GERMAN.title()
    assert letter_case([GERMAN, upper, lower, title, None, "der Arzt"]) == [
        False,
        True,
        True,
        True,
        None,
        None,
    ]
    assert letter_case([RUSSIAN, RUSSIAN.upper()]) == [False, True]
    assert letter_case(["طلبت الطبيبة من الممرض أن يساعدها"]) == [None], "no letter has a case"


def test_quotation_marks_around_words() -> None:
    around = " ".join(f'"{word}"' for word in GERMAN.split())
    said = f'Er sagte: "{GERMAN}" (gestern).'  # four marks for 16 words
    assert quotes([GERMAN, around, said, None]) == [False, True, False, None]


def test_a_phrase_over_and_over() -> None:
    assert is_repetitive("der Arzt der Arzt der Arzt der Arzt")
    assert not is_repetitive(GERMAN)


def test_one_translation_for_many_sources() -> None:
    sources = [f"sentence {n}" for n in range(SAME_FOR)]
    assert repeated(sources, ["Ja, ja."] * (SAME_FOR - 1) + ["ja ja"]) == [True] * SAME_FOR
    assert repeated(sources, ["Ja."] * (SAME_FOR - 1) + ["Nein."]) == [False] * SAME_FOR
    assert (
        repeated(["the same"] * SAME_FOR, ["Ja."] * SAME_FOR) == [False] * SAME_FOR
    )  # of one source: no sign
    assert repeated(sources, [None] * SAME_FOR) == [None] * SAME_FOR


def test_an_entity_in_its_own_line_in_a_neighbouring_one_or_nowhere() -> None:
    entities = ["doctor", "baker", "teacher", "farmer", "zorblax", "baker"]
    # The lines of doctor, baker and teacher are those of the next sentence; "zorblax" is in no
    # table.
    texts = [
        "Der Bäcker kam.",
        "Die Lehrerin kam.",
        "Der Bauer kam.",
        "Der Bauer kam.",
        "Der Zorblax kam.",
        None,
    ]
    absent, moved = unrendered(entities, texts, SplitTexts(get_language("de")))
    assert absent == [True, True, True, False, None, None]
    assert moved == [False, True, True, False, None, None]  # nobody's line has a doctor


def test_arabic_in_presentation_forms_is_arabic() -> None:
    plain = "طلبت الطبيبة من الممرض أن يساعدها في الإجراء اليوم"
    forms = "ﻳﻌﺘﻤﺪ اﻟﺸﺮﻳﻒ ﻋﻠﻰ اﻟﻤﻀﻴﻒ ﻷﻧﻪ ﺷﺨﺺ ﻣﻮﺛﻮق ﺑﻪ."  # as a system of 2019 wrote
    assert languages([plain, forms], "ar") == ["ar", "ar"]
    assert languages([forms], "de") == ["ar"]
