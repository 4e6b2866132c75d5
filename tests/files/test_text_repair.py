"""Damaged characters: what is certain is undone and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mtbias.files.encodings import usual_pages, without_mojibake
from mtbias.files.text_repair import Repaired, is_damaged, repair
from tests.text_damage import DAMAGE, as_windows_1252


@pytest.mark.parametrize(
    ("text", "repaired", "kinds"),
    [
        ("plain", "plain", ()),
        ("café, naïve, “yes”", "café, naïve, “yes”", ()),  # sound text stays
        ("La mÃ©dica", "La médica", ("encoding",)),
        ("“La mÃ©dicaâ€\x9d", "“La mÃ©dicaâ€\x9d", ()),  # a part alone was damaged
        ("La mГ©dica", "La médica", ("encoding",)),  # as Windows-1251
        ("La mΓ©dica, niΓ±a", "La médica, niña", ("encoding",)),  # as Windows-1253
        ("La m├®dica", "La médica", ("encoding",)),  # as code page 850
        ("La m챕dica, ni챰a", "La médica, niña", ("encoding",)),  # as cp949
        ("La m茅dica, ni帽a", "La médica, niña", ("encoding",)),  # as GB 18030
        ("El me\u0301dico", "El médico", ("composed",)),
        ("fu \u0308r die A \u0308rztin", "für die Ärztin", ("composed",)),
        ("el medı\u0301co", "el medíco", ("composed",)),
        ("L&#39;infirmi&egrave;re &amp; moi", "L'infirmière & moi", ("entities",)),
        ("infirmi&Atilde;&uml;re", "infirmière", ("entities", "encoding")),
        ("AT&T; R&D", "AT&T; R&D", ()),  # no references
        ("m&amp;#233;dico m&#233dico", "médico médico", ("entities",)),
        ("A IRMÃ disse", "A IRMÃ disse", ()),  # Portuguese in capitals
        ("PIÙ” disse", "PIÙ” disse", ()),  # which decodes to one letter of N'Ko
        ("¿La médica? Sí.", "¿La médica? Sí.", ()),
        ("中文", "中文", ()),
        ("m\\u00e9dico \\'\\ud83d\\ude00\\'", "médico '😀'", ("escapes",)),
        ("m%u00e9dico", "médico", ("escapes",)),
        ("m\\303\\251dico", "médico", ("escapes",)),
        ("la m=C3=A9dica", "la médica", ("escapes",)),
        ("la m\\xc3\\xa9dica", "la médica", ("escapes",)),
        ("b'La m\\xc3\\xa9dica'", "La médica", ("escapes",)),
        ("la m<0xC3><0xA9>dica", "la médica", ("escapes",)),
        ("la mU+00E9dica y U+00E9l", "la médica y él", ("escapes",)),
        ("U+00E9 es una letra", "U+00E9 es una letra", ()),
        ("l''avocat d''une", "l'avocat d'une", ("escapes",)),
        ("מנכ''ל", "מנכ''ל", ()),  # gershayim
        ("La%20m%C3%A9dica", "La médica", ("escapes",)),
        ("100%20 = 5=20", "100%20 = 5=20", ()),
        ("Ее брат №1, её «врач»", "Ее брат №1, её «врач»", ()),
        ("<b>El</b> *médico* **joven**<br/>vino", "El médico joven vino", ("markup",)),
        ("`El` médico ~~joven~~ ==vino== ||hoy||", "El médico joven vino hoy", ("markup",)),
        ('<ent id="1">El médico</ent>', "El médico", ("markup",)),
        ("uno <sep> dos", "uno <sep> dos", ()),
        ("der*die Lehrer*in, 3 * 4 * 5, a < b > c", "der*die Lehrer*in, 3 * 4 * 5, a < b > c", ()),
        ("▁El ▁mé dico", "El médico", ("pieces",)),
        ("El mé@@ dico jo ##ven", "El médico joven", ("pieces",)),
        ("ElĠmÃ©dicoĠjoven", "El médico joven", ("pieces",)),
        ("El</w> médico</w>", "El médico", ("pieces",)),
        ("El mé dico</w>", "El mé dico</w>", ()),  # nobody can tell a piece from a word
        ("Name: ▁▁▁ _x_", "Name: ▁▁▁ _x_", ()),
        ("\u202bal\u200bmu\u2060di\xadr\ufeff\u202c\0", "almudir", ("invisible",)),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष", ()),  # the scripts' own
        ("el m\u0435dico \uff45\uff53 o\ufb01cial", "el medico es oficial", ("letters",)),
        ("сотpyдник", "сотрудник", ("letters",)),
        ("l`avocat, l´homme, м`який, об＇їзд", "l'avocat, l'homme, м'який, об'їзд", ("letters",)),
        ("сьруred", "сьруred", ()),
        ("l’homme qu’il a vu, 5 °C", "l’homme qu’il a vu, 5 °C", ()),
    ],
)
def test_repair(text: str, repaired: str, kinds: tuple[str, ...]) -> None:
    assert repair(text) == Repaired(repaired, kinds)


@pytest.mark.parametrize(
    ("text", "damaged"),
    [
        ("“La mÃ©dicaâ€\x9d", True),
        ("vis - Ã - vis", True),  # the no-break space of "à" is lost
        ("la m\ufffddica", True),
        ("???? ??", True),
        ("el m<unk>dico", True),
        ("el m<0xC3>dico", True),  # half of a letter
        ("El mé dico</w>", True),
        ("el me´dico", True),
        ("A IRMÃ disse, ¿La médica? Sí.", False),
        ("l´homme qu´il a vu, 5 °C", False),
    ],
)
def test_what_cannot_be_undone_is_told(text: str, damaged: bool) -> None:
    assert is_damaged(repair(text).text) is damaged


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
        *(
            pytest.param("google", lang, marks=pytest.mark.slow)
            for lang in ("ar", "de", "fr", "he", "it", "ru", "uk")
        ),
    ],
)
def test_all_that_systems_wrote_comes_back_and_stays_when_nothing_is_wrong(
    shared: Path, system: str, lang: str
) -> None:
    lines = (shared / "data" / "winomt" / "translations" / system / f"en-{lang}.txt").read_text(
        encoding="utf-8"
    )
    targets = [line.split(" ||| ")[1] for line in lines.splitlines()]
    assert len(targets) == 3888
    targets = targets[::8]
    assert [repair(text) for text in targets] == [Repaired(text) for text in targets]
    for damage in DAMAGE.values():
        assert [repair(damage(text)).text for text in targets] == targets


def read_in(page: str, text: str) -> str:
    """UTF-8 that was read in a code page."""
    return text.encode().decode(page)


SPANISH = ("El diseñador llegó.", "La médica habló.", "Él es el jefe.")


def test_the_code_page_of_a_file_is_that_of_most_of_its_texts() -> None:
    # "Ăą" is ñ in ISO 8859-2 and ù in Windows-1250, which has no character for the second byte of É.
    damaged = [read_in("iso8859_2", text) for text in SPANISH]
    pages = usual_pages(damaged)
    assert "iso8859_2" in pages
    assert "cp1250" not in pages
    assert [repair(text, pages=pages).text for text in damaged] == list(SPANISH)


def test_a_text_of_which_two_code_pages_make_different_ones_stays() -> None:
    damaged = read_in("iso8859_2", "el diseñador")
    assert {damaged.encode(page).decode() for page in ("iso8859_2", "cp1250")} == {
        "el diseñador",
        "el diseùador",
    }
    assert repair(damaged) == Repaired(damaged)
    assert repair(damaged, pages=("iso8859_2",)).text == "el diseñador"


def test_good_texts_have_no_code_page() -> None:
    assert usual_pages(SPANISH) == ()
    assert usual_pages(["Врач сказала.", "الطبيبة قالت.", "הרופאה אמרה."]) == ()


def test_a_blank_before_arabic_marks_is_taken_out() -> None:
    # أ is alef with a hamza above, which NFD writes as two characters.
    assert repair("ا \u0654ستاذ").text == "أستاذ"
