"""Words that are known for the entity's translation by their letters: copies, loans, one letter off, the same
consonants."""

from __future__ import annotations

import dataclasses

import pytest

from mtbias.align import Pair
from mtbias.align.entity_scores import ALIKE_LINKS, prior_links
from mtbias.align.sentence_pairs import index_pairs
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language
from mtbias.types import DERIVED, ELIMINATION, Span
from tests.reading.toy_alignment import (
    aligned_candidate,
    alignment_of,
    heads,
    pair,
    scores,
    words_and_basis,
)


@pytest.mark.parametrize(
    ("word", "explained", "meant"),
    [
        ("Mahurer", 0.0, "maurer"),
        ("Mahurer", 0.5, None),  # another source word explains it
        ("Maahurer", 0.0, None),  # two letters off
        ("Mourer", 0.0, None),  # another letter
        ("Maurerr", 0.0, "maurer"),
        ("Maurers", 0.0, None),  # at the end, or at the beginning
        ("Amaurer", 0.0, None),
        ("Murer", 0.0, None),  # too short to tell
    ],
)
def test_a_word_one_letter_off_a_known_translation_is_it(
    word: str, explained: float, meant: str | None
) -> None:
    case = pair("The construction worker slept.", "construction worker", f"Gestern {word} dort")
    alignment = alignment_of(case, scores(0, 0.2, 0, explained=(0, explained, 0)))
    assert (aligned_candidate(alignment).meant if alignment.target else None) == meant
    assert bool(alignment.translations) == (meant is not None)
    # A word that the table has is what it is, and where one is known no other is meant.
    case = pair("The doctor slept.", "doctor", f"Arzt {word}")
    assert aligned_candidate(alignment_of(case, scores(0.2, 0))).meant is None


def test_a_word_that_derives_from_a_known_translation() -> None:
    # "Maurer" translates "construction worker"; "Maurerkelle" shares its six letters with it, 6 of
    # 11 is under three fifths; "Maureres" shares six of eight
    case = pair("The construction worker slept.", "construction worker", "Gestern Maureres dort")
    assert words_and_basis(case, scores(0, 0, 0)) == (["Maureres"], DERIVED)
    case = pair("The construction worker slept.", "construction worker", "Gestern Maurerkelle dort")
    assert words_and_basis(case, scores(0.02, 0, 0)) == (["Gestern"], ELIMINATION)


@pytest.mark.parametrize(
    ("text", "copied"),
    [("Der Officer kam", True), ("Der OFFICER kam", True), ("Der Polizist kam", False)],
)
def test_the_english_word_left_as_it_is(text: str, copied: bool) -> None:
    case = pair("The officer came.", "officer", text)
    alignment = alignment_of(case, scores(0.0, 0.9, 0.0))
    assert aligned_candidate(alignment).copied is copied


def test_names_of_another_script_are_known_by_their_letters() -> None:
    """Baas and Баас are one spelling; Arabic has the consonants alone, Правления and دقيقة
    others."""
    for code, source, text, word in (
        ("ru", "de Baas left", "де Баас правления", "баас"),
        ("ar", "the senator left", "سناتورة دقيقة", "سناتورة"),
    ):
        language = get_language(code)
        pairs = index_pairs([Pair("x", source, text)], SplitTexts(Language(code="xh", name="Toy")))
        keys, links = prior_links(pairs, dataclasses.replace(language, glossary={}, nouns={}))
        width = len(pairs.target.types)
        found = [
            (pairs.source.types[k // width], pairs.target.types[k % width]) for k in keys.tolist()
        ]
        assert found == [(source.lower().split()[1], word)]
        assert links.tolist() == [ALIKE_LINKS]


def test_a_word_spelt_alike_translates_an_entity_that_no_table_has() -> None:
    text = "Dort schlief die Esperantista"
    alignment = alignment_of(
        pair("An esperantist slept there.", "esperantist", text), scores(0.3, 0.0, 0.0, 0.2)
    )
    assert alignment.target == alignment.translations == (Span(17, 29),)
    # Of "Esperanto" the source speaks itself, and seven of ten letters are too few.
    for other in ("Esperanto", "Esperante"):
        case = pair(
            "An esperantist of Esperanto slept.", "esperantist", f"Dort schlief das {other}"
        )
        assert alignment_of(case, scores(0.3, 0.0, 0.0, 0.2)).translations == ()


def test_a_word_of_the_same_consonants_translates_an_entity_that_no_table_has() -> None:
    arabic = dataclasses.replace(get_language("ar"), glossary={})
    assert (
        heads(arabic, "then the senator came", "senator", "ثم جاءت السناتورة", 0.9, 0.0, 0.1)[0]
        == "السناتورة"
    )
    # Three consonants are in too many words.
    assert (
        heads(arabic, "then the caller came", "caller", "ثم جاءت الكلارة", 0.9, 0.0, 0.1)[0] == "ثم"
    )
    # Where vowels are written they count: fr *patronne* is no veteran.
    french = dataclasses.replace(get_language("fr"), glossary={}, nouns={})
    assert (
        heads(french, "then the veteran came", "veteran", "puis vint patronne", 0.9, 0.0, 0.1)[0]
        == "puis"
    )


def test_a_loan_is_known_as_one_where_the_tables_have_no_translation() -> None:
    given = scores(0.3, 0.0, 0.0, 0.2)
    case = pair("An esperantist slept.", "esperantist", "Dort schlief die Esperantista")
    assert aligned_candidate(alignment_of(case, given)).loan
    case = pair("A doctor slept.", "doctor", "Dort schlief die Doctora")
    assert not aligned_candidate(alignment_of(case, given)).loan
