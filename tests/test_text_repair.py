"""Damaged characters: what is certain is undone and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mtbias.files.text_repair import Repaired, is_damaged, repair, without_mojibake
from tests.text_damage import DAMAGE, as_windows_1252


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", Repaired("plain")),
        ("café, naïve, “yes”", Repaired("café, naïve, “yes”")),  # sound text stays
        ("La mÃ©dica", Repaired("La médica", ("encoding",))),
        ("“La mÃ©dicaâ€\x9d", Repaired("“La mÃ©dicaâ€\x9d", (), damaged=True)),  # a part alone was damaged
        ("El me\u0301dico", Repaired("El médico", ("composed",))),
        ("L&#39;infirmi&egrave;re &amp; moi", Repaired("L'infirmière & moi", ("entities",))),
        ("infirmi&Atilde;&uml;re", Repaired("infirmière", ("entities", "encoding"))),
        ("AT&T; R&D", Repaired("AT&T; R&D")),  # no references
        ("vis - Ã - vis", Repaired("vis - Ã - vis", (), damaged=True)),  # the no-break space of "à" is lost
        ("A IRMÃ disse", Repaired("A IRMÃ disse")),  # Portuguese in capitals
        ("PIÙ” disse", Repaired("PIÙ” disse")),  # which decodes to one letter of N'Ko
        ("la m\ufffddica", Repaired("la m\ufffddica", (), damaged=True)),
        ("la m?dica", Repaired("la m?dica", (), damaged=True)),
        ("???? ??", Repaired("???? ??", (), damaged=True)),
        ("¿La médica? Sí.", Repaired("¿La médica? Sí.")),
        ("中文", Repaired("中文")),
        ("m&amp;#233;dico m&#233dico", Repaired("médico médico", ("entities",))),
        ("m\\u00e9dico \\'\\ud83d\\ude00\\'", Repaired("médico '😀'", ("escapes",))),
        ("la m=C3=A9dica", Repaired("la médica", ("escapes",))),
        ("la m\\xc3\\xa9dica", Repaired("la médica", ("escapes",))),
        ("La%20m%C3%A9dica", Repaired("La médica", ("escapes",))),
        ("100%20 = 5=20", Repaired("100%20 = 5=20")),
        ("La mГ©dica", Repaired("La médica", ("encoding",))),  # as Windows-1251
        ("La m├®dica", Repaired("La médica", ("encoding",))),  # as code page 850
        ("Ее брат №1, её «врач»", Repaired("Ее брат №1, её «врач»")),
        ("<b>El</b> *médico* **joven**<br/>vino", Repaired("El médico joven vino", ("markup",))),
        ("der*die Lehrer*in, 3 * 4 * 5, a < b > c", Repaired("der*die Lehrer*in, 3 * 4 * 5, a < b > c")),
        ("▁El ▁mé dico", Repaired("El médico", ("pieces",))),
        ("El mé@@ dico jo ##ven", Repaired("El médico joven", ("pieces",))),
        ("Name: ▁▁▁ _x_", Repaired("Name: ▁▁▁ _x_")),
        ("\u202bal\u200bmu\u2060dir\ufeff\u202c\0", Repaired("almudir", ("invisible",))),
        ("می\u200cخواهم क्\u200dष", Repaired("می\u200cخواهم क्\u200dष")),  # the scripts' own
        ("el m\u0435dico \uff45\uff53 o\ufb01cial", Repaired("el medico es oficial", ("letters",))),
        ("сотpyдник", Repaired("сотрудник", ("letters",))),
        ("сьруred", Repaired("сьруred")),
        ("el m<unk>dico", Repaired("el m<unk>dico", (), damaged=True)),
        ("el mйdico", Repaired("el mйdico", (), damaged=True)),  # Latin-1 read as Windows-1251
        ("el mÈdico", Repaired("el mÈdico", (), damaged=True)),  # as Mac Roman
        ("el me´dico", Repaired("el me´dico", (), damaged=True)),
        ("l´homme qu´il a vu, 5 °C", Repaired("l´homme qu´il a vu, 5 °C")),
    ],
)
def test_repair(text: str, expected: Repaired) -> None:
    assert repair(text) == expected


@settings(deadline=None)
@given(st.text())
def test_whatever_was_damaged_by_windows_1252_is_undone(text: str) -> None:
    assume(without_mojibake(text, chance=0) == text)  # what was damaged before is undone too
    assert without_mojibake(as_windows_1252(text), chance=0) == text


@settings(deadline=None)
@given(st.text())
def test_what_was_repaired_is_as_before_the_second_time(text: str) -> None:
    once = repair(text).text
    assume("&" not in once)  # "&amp;amp;" is one reference, and its text another
    assert repair(once).text == once or is_damaged(text)


@pytest.mark.parametrize(
    ("system", "lang"),
    [
        ("google", "es"),
        *(pytest.param("google", lang, marks=pytest.mark.slow) for lang in ("ar", "de", "fr", "he", "it", "ru", "uk")),
    ],
)
def test_all_that_systems_wrote_comes_back_and_stays_when_nothing_is_wrong(
    shared: Path, system: str, lang: str
) -> None:
    lines = (shared / "data" / "winomt" / "translations" / system / f"en-{lang}.txt").read_text(encoding="utf-8")
    targets = [line.split(" ||| ")[1] for line in lines.splitlines()]
    assert len(targets) == 3888
    targets = targets[::8]
    assert [repair(text) for text in targets] == [Repaired(text) for text in targets]
    for damage in DAMAGE.values():
        assert [repair(damage(text)).text for text in targets] == targets
