"""Words of two languages that are spelt alike."""

from __future__ import annotations

import pytest

from mtbias.reading.spelling import common_beginning, likeness, romanised, skeleton


@pytest.mark.parametrize(
    ("form", "letters"),
    [
        ("presidente", "presidente"),
        ("präsident", "prasident"),
        ("офицер", "oficer"),
        ("аналитик", "analitik"),
        ("учитель", "uchitel"),
        ("жюри", "zhyuri"),
        ("їжак", "yizhak"),
        ("الطبيب", ""),
        ("רופא", ""),
    ],
)
def test_romanised(form: str, letters: str) -> None:
    assert romanised(form) == letters


@pytest.mark.parametrize(
    ("form", "other", "length"),
    [
        ("maureres", "maurer", 6),  # 6 of 8
        ("maurerkelle", "maurer", 0),  # 6 of 11
        ("schreibtisch", "schreiber", 0),  # 7 of 12 is under three fifths, …
        ("abcxx", "abcyy", 3),  # … 3 of 5 is not
        ("abc", "xbc", 0),
        ("", "", 0),
    ],
)
def test_common_beginning(form: str, other: str, length: int) -> None:
    assert common_beginning(form, other) == length


@pytest.mark.parametrize(
    ("english", "letters", "share"),
    [
        ("president", "presidente", 0.9),
        ("president", "president", 1.0),
        ("captain", "capitano", 0.0),  # "cap": three letters
        ("dean", "decano", 0.0),
        ("club", "club", 1.0),
        # A doubled letter may stand for one: "impresionis" of "impresionista".
        ("impressionist", "impresionista", 12 / 13),
        ("address", "adres", 1.0),
    ],
)
def test_likeness(english: str, letters: str, share: float) -> None:
    assert likeness(english, letters) == pytest.approx(share)


@pytest.mark.parametrize(
    ("english", "form"),
    [
        ("senator", "سناتور"),
        ("professor", "بروفيسور"),
        ("captain", "كابتن"),
        ("president", "פרזידנט"),
        ("analyst", "אנליסט"),
        ("officer", "אופיסר"),
    ],
)
def test_a_transliteration_keeps_the_consonants(english: str, form: str) -> None:
    assert skeleton(english) == skeleton(form)


@pytest.mark.parametrize(
    ("english", "form"),
    [("senator", "سكرتير"), ("doctor", "طبيب"), ("nurse", "אחות"), ("doctor", "врач")],
)
def test_other_words_have_other_consonants(english: str, form: str) -> None:
    assert skeleton(english) != skeleton(form)
