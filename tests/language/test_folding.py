"""Folding for look-ups: Arabic presentation forms count as the letters that they show."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from mtbias.language.data_files import Folder
from mtbias.plugin import Language

FORM = re.compile("[\ufb50-\ufdff\ufe70-\ufeff]")


# By the names in the Unicode Character Database.
@pytest.mark.parametrize(
    ("text", "letters"),
    [
        (
            "\ufec3\ufe92\ufef4\ufe90",
            "\u0637\u0628\u064a\u0628",
        ),  # tah initial, beh medial, yeh medial, beh final
        ("\ufefb", "\u0644\u0627"),  # the ligature lam with alef
        ("\ufb90\ufe8e\ufee5", "\u06a9\u0627\u0646"),  # keheh initial, alef final, noon isolated
        (
            "\u0628\ufe76\ufe77",
            "\u0628\u064e\u0640\u064e",
        ),  # fatha isolated (its blank dropped) and on a tatweel
        (
            "\ufd3e\ufeff",
            "\ufd3e\ufeff",
        ),  # ornate parenthesis, zero-width no-break space: not made of letters
        (
            "\uff21\ufb01",
            "\uff41\ufb01",
        ),  # full-width A, the ligature fi: no Arabic forms, NFKC leaves them alone
    ],
)
def test_presentation_forms_fold_to_their_letters(text: str, letters: str) -> None:
    assert Folder("", {})(text) == letters


def test_the_letters_are_folded_like_any_others() -> None:
    fold = Folder("\u0640\u064b", {"\u0623": "\u0627", "\u0644\u0627": "x"})
    assert fold("\ufe83") == "\u0627"  # alef with hamza above, isolated
    assert fold("\ufe71") == ""  # tatweel with fathatan above: both deleted
    assert fold("\ufefb") == "x"  # a fold of two letters sees those of a ligature
    assert Folder("", {"\ufefb": "y"})("\ufefb") == "y"  # the language's own word on a form stands


def test_offsets_belong_to_the_text_as_it_is() -> None:
    language = Language(code="xx", name="X")
    text = "\ufefb \ufec3\ufe92"  # a ligature of two letters, then two forms
    assert [(tuple(t.span), t.text, t.form) for t in language.tokens(text)] == [
        ((0, 1), "\ufefb", "\u0644\u0627"),
        ((2, 4), "\ufec3\ufe92", "\u0637\u0628"),
    ]


def test_nouns_written_in_presentation_forms_are_found(winomt: Path) -> None:
    # Two of Google's lines, 1923 and 3524, are written in presentation forms; their nouns stand in
    # the table.
    from mtbias.language.installed import get_language

    arabic = get_language("ar")
    lines = (
        (winomt / "translations" / "google" / "en-ar.txt").read_text(encoding="utf-8").split("\n")
    )
    shaped = {n: line.partition(" ||| ")[2] for n, line in enumerate(lines, 1) if FORM.search(line)}
    assert list(shaped) == [1923, 3524]
    for number, word in (
        (1923, "\u0627\u0644\u0634\u0631\u064a\u0641"),
        (3524, "\u0627\u0644\u0637\u0627\u0644\u0628"),
    ):
        token = next(t for t in arabic.tokens(shaped[number]) if t.form == arabic.fold(word))
        assert shaped[number][slice(*token.span)] == token.text
        assert unicodedata.normalize("NFKC", token.text) == word  # the sheriff, the student
        assert token.text != word
        assert arabic.noun(token.text) == arabic.noun(word) != ()
