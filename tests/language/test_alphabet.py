"""What no good text of a language is written with: damage of every kind is seen without a list of
kinds."""

from __future__ import annotations

import unicodedata

import pytest

from mtbias.language.alphabet import alphabet
from mtbias.language.installed import get_language

GOOD = {
    "ar": "قالت الطبيبة إنّ «المريض» – وهو من ABC – بخير، أليس كذلك؟",
    "cs": "Přišla lékařka Müllerová (ČR), a řekla: „Příliš žluťoučký kůň“ – 20 % z 5 km².",
    "de": "Die Ärztin aus Dvořáks Straße sprach mit den Lehrer*innen, Schüler:innen und Kolleg_innen; AT&T.",
    "es": "¿La médica vio al niño? ¡Sí! El 1.º de mayo «l@s amig@s» de Čapek, S.A., ganaron 3,5 €.",
    "fr": "L'avocate d’Œuvres & Cie – l'étudiant·e, les lycéen(ne)s et l’élève – arriva à 10 h 30.",
    "he": 'המנכ"לית אמרה ל"הארץ" שה-CEO בא; ד״ר כהן וג\'ורג\' לא.',
    "it": 'L\'infermiera dell’ospedale («perché no?») è andata dal signor Šefčovič: "Sì".',
    "pt": "A médica disse à irmã: “não há pão”; o 2.º e a 3.ª ficaram.",
    "ru": "Врач из ООО «Ромашка» (Ivanov & Co) сказала: за́мок – это №1; ещё 5 °C.",
    "uk": "Лікарка з «Київстар» сказала: об'їзд, п’ять, ґанок – і все… SMS за 5 грн.",
}  # fmt: skip


@pytest.mark.parametrize("lang", sorted(GOOD))
def test_good_texts_have_nothing_unusual(lang: str) -> None:
    assert get_language(lang).alphabet.unusual(GOOD[lang]) is None
    decomposed = unicodedata.normalize("NFD", GOOD[lang])
    assert get_language(lang).alphabet.unusual(decomposed) is None, (
        "marks count as they are written"
    )


@pytest.mark.parametrize(
    ("lang", "text", "unusual"),
    [
        ("es", "la mιdica vino", "ι"),  # Latin-1 read as cp1253
        ("es", "la m챕dica vino", "챕"),  # UTF-8 read as EUC-KR
        ("es", "la medı\u0301ca vino", "medı"),  # dotless i
        ("es", "la mediﾧa vino", "ﾧ"),
        ("de", "die A\u0308rztin fu \u0308r alle", "\u0308"),  # a mark without its letter
        ("de", "die mediz‧inerin", None),  # a hyphenation point may join both genders' forms
        ("de", "die ￼Ärztin", "￼"),
        ("de", "die ■ Ärztin", "■"),
        ("de", "die `Ärztin kam", "`"),
        ("de", "die |Ärztin kam", "|"),
        ("de", "die Ärztin~ kam", "~"),
        ("de", "die 😀Ärztin kam", "😀"),
        ("de", "die </w> Ärztin kam", ">"),
        ("de", "die Ärztin<x kam", "<"),
        ("de", "die mitarb;eiterin kam", ";"),
        ("de", "die mitarb3iterin kam", "b3i"),
        (
            "fr",
            "la diseñatrice vint",
            "diseñatrice",
        ),  # a letter that the language lacks, in a word without a capital
        ("fr", "Núñez vint", None),  # and in a name
        ("it", 'l"avvocata venne', '"'),
        ("he", 'המנכ"לית באה', None),  # which Hebrew writes within words
        ("pt", "a mÃ©dica veio", "©"),
        ("ru", "врaч пришла", "рa"),  # a Latin letter within a Cyrillic word
        ("ru", "врач пришла τ", "τ"),
        ("uk", "лікарка помыла", "помыла"),  # Russian
        ("ar", "قالت الطبيبہ", "ہ"),  # Urdu
        ("ar", "قال medوctor", "dو"),
    ],
)
def test_what_no_good_text_has_is_seen_where_it_stands(
    lang: str, text: str, unusual: str | None
) -> None:
    found = get_language(lang).alphabet.unusual(text)
    assert found == unusual


def test_a_language_that_does_not_say_its_letters_has_all_of_its_scripts() -> None:
    greek = alphabet(["γιατρός", "νοσοκόμα"])
    assert greek.unusual("η γιατρός ήρθε ϊ") is None
    assert greek.unusual("η γιαtρός") == "αt"
    hindi = alphabet(["डॉक्टर", "नर्स"])
    assert hindi.unusual("नर्स ने डॉक्टर\u200cको बुलाया") is None
    assert hindi.unusual("नर्सм") == "м"
    with_letters = alphabet(["arts"], letters="abcdefghijklmnopqrstuvwxyzéë")
    assert with_letters.unusual("de arts is één zus") is None
    assert with_letters.unusual("de arts is ößs") == "ößs"
