"""Translations that the tables know: of plurals, compounds and phrases, and which mention each of them renders."""

from __future__ import annotations

import dataclasses

import pytest

from mtbias.align import Pair
from mtbias.align.entity_scores import prior_links
from mtbias.align.sentence_pairs import index_pairs
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.candidates import align_entity
from mtbias.reading.known_translations import KnownTranslations
from mtbias.reading.target_words import EntityScores
from mtbias.types import Span, Trust
from tests.reading.toy_alignment import (
    LANGUAGE,
    alignment_of,
    glossed,
    heads,
    pair,
    scores,
    spans,
    words_and_basis,
)


def test_the_glossary_holds_for_plurals_and_for_heads() -> None:
    cases = [
        pair("The doctors slept.", "doctor", "Die Ärzte schliefen.", "doctors"),
        pair("The worker slept.", "worker", "Der Maurer schlief."),
        pair(
            "The ladies and the landladies slept.", "landlady", "Die Wirt schliefen.", "landladies"
        ),
        pair("The Auto broke.", "auto", "Das Auto ging kaputt."),  # one spelling in both languages
    ]
    tokens = index_pairs(cases, SplitTexts(LANGUAGE))
    keys, links = prior_links(tokens, LANGUAGE)
    words = [divmod(int(k), len(tokens.target.types)) for k in keys]
    assert {(tokens.source.types[e], tokens.target.types[f]) for e, f in words} == {
        ("doctors", "ärzte"),
        ("worker", "maurer"),  # the head of "construction worker"
        ("landladies", "wirt"),
        ("auto", "auto"),
    }
    assert (links > 0).all()
    assert keys.tolist() == sorted(keys.tolist())


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("eye-doctor", {"arzt", "ärzte"}),  # unknown as a whole
        ("ex-doctors", {"arzt", "ärzte"}),
        ("doctor-in-law", {"wirt"}),  # known as a whole: no doctor
        ("doctor-like", set()),
        ("doctor", {"arzt", "ärzte"}),
    ],
)
def test_an_unknown_word_with_a_hyphen_is_known_by_its_last_part(
    word: str, known: set[str]
) -> None:
    language = dataclasses.replace(
        LANGUAGE, glossary={**LANGUAGE.glossary, "doctor-in-law": frozenset({"wirt"})}
    )
    assert KnownTranslations(language).forms(word) == known
    case = pair(f"The {word} slept.", word, "Arzt Ärzte Wirt")
    indexed = index_pairs([case], SplitTexts(language))
    keys, _ = prior_links(indexed, language)
    source = indexed.source.types.index(word)
    linked = {indexed.target.types[k % 3] for k in keys.tolist() if k // 3 == source}
    assert linked == known


def test_the_one_known_translation_is_taken_whatever_the_links_say() -> None:
    case = pair("The doctor slept well.", "doctor", "Dort schlief der Arzt.")
    # A small file links at random: "Dort" with the entity, "Arzt" with "well".
    assert words_and_basis(
        case, scores(0.9, 0.1, 0.1, 0.1, lexicon=(0.9,), explained=(0.0, 0.9, 0.9, 0.6))
    )[0] == ["Arzt"]
    # A corpus knows better: the word surely renders another one.
    assert words_and_basis(
        case, scores(0.9, 0.1, 0.1, 0.1, lexicon=(0.9,), explained=(0.0, 0.9, 0.9, 0.99))
    )[0] == ["Dort"]


def test_what_explains_the_first_part_of_a_compound_does_not_claim_it() -> None:
    # "Parallax" explains "Parallax-Arzt", and "well" surely "Arzt".
    language = dataclasses.replace(LANGUAGE, compounds=True)
    for text, head in (
        ("Dort schlief der Parallax-Arzt.", "Parallax-Arzt"),
        ("Dort schlief der Arzt.", "Dort"),
    ):
        case = pair("The Parallax doctor slept well.", "doctor", text)
        given = scores(0.9, 0.1, 0.1, 0.1, lexicon=(0.9,), explained=(0.0, 0.9, 0.9, 0.99))
        span = align_entity(
            case, SplitTexts(language).words(text), given, KnownTranslations(language)
        ).target[0]
        assert text[slice(*span)] == head


def test_a_known_translation_that_another_word_claims_is_not_taken_for_that_alone() -> None:
    # "Wirt" translates *landlady* too, and a second doctor may be the one who is rendered.
    language = dataclasses.replace(
        LANGUAGE, glossary={**LANGUAGE.glossary, "host": frozenset(("wirt",))}
    )
    given = scores(0.9, 0.1, 0.1, 0.1, lexicon=(0.9,), explained=(0.0, 0.9, 0.9, 0.6))
    case = pair("The host met the landlady.", "landlady", "Dort war der Wirt.")
    words = SplitTexts(language).words(case.text)
    assert align_entity(case, words, given, KnownTranslations(language)).target[0] == Span(0, 4)
    again = pair("The doctor met the other doctor.", "doctor", "Dort war der Arzt.")
    assert words_and_basis(again, given)[0] == ["Dort"]


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ("ward-doctor", {"arzt", "ärzte"}),  # by its last part
        ("land-lady", {"wirt"}),  # written in one
        ("construction-worker", {"maurer"}),  # as two words
        ("step-doctor", set()),  # kin by another word
        ("doctor-in-chief", {"arzt", "ärzte"}),  # by its first part, before a preposition
        ("landlady-to-be", {"wirt"}),
        ("doctor-patient", set()),
        ("ward doctor in landlady", {"arzt", "ärzte"}),  # of several words as well
        ("at landlady", {"wirt"}),
    ],
)
def test_translations_of_a_word_of_several_parts(entity: str, expected: set[str]) -> None:
    assert KnownTranslations(LANGUAGE).forms(entity) == expected


@pytest.mark.parametrize(
    ("text", "link"),
    [
        # The table knows the doctor: (0.4 + 1) / 2 against 0.6 / 2.
        ("Arzt sah ihn", (0.4, 0.6, 0.0)),
        ("Arzt sah Arzt", (0.8, 0.2, 0.6)),
        # The one known translation is taken before a word with a surer link.
        ("Arzt sah ihn", (0.0, 1.0, 0.0)),
        ("Arzt", (1.0,)),
    ],
)
def test_a_known_translation_is_the_head(text: str, link: tuple[float, ...]) -> None:
    alignment = alignment_of(pair("The doctor slept.", "doctor", text), scores(*link))
    assert alignment.target[0] == Span(0, 4)


def test_the_nth_mention_is_the_nth_known_translation() -> None:
    text = "Arzt und Wirt, Arzt"
    first, second = (
        Pair("x", "doctor, host, doctor", text, Span(at, at + 6), "doctor") for at in (0, 14)
    )
    given = scores(0.4, 0.0, 0.0, 0.6)
    assert alignment_of(first, given).target[0] == Span(0, 4)
    assert alignment_of(second, given).target[0] == Span(15, 19)
    # Two mentions, three renderings: nobody can count.
    third = first._replace(text="Arzt und Wirt, Arzt, Arzt")
    assert alignment_of(third, scores(0.4, 0.0, 0.0, 0.6, 0.0)).target[0] == Span(15, 19)


def test_the_beginning_of_a_compound_renders_a_possessive() -> None:
    language = dataclasses.replace(LANGUAGE, compounds=True, derivations=("schaft",))

    def part(source: str, text: str) -> Span | None:
        case = pair(source, "doctor", text, "doctors" if "doctors" in source else "doctor")
        words = SplitTexts(language).words(text)
        given = scores(*[0.1] * len(words))
        alignment = align_entity(case, words, given, KnownTranslations(language))
        return next(iter(spans(alignment, Trust.IN_COMPOUND)), None)

    assert part("the doctors' house", "das Ärztehaus") == Span(4, 9)
    assert part("a doctor's house", "das Arzthaus") == Span(4, 8)
    assert part("a doctor house", "das Arzthaus") is None  # no possessive
    assert part("the doctors' house", "die Ärzteschaft") is None  # a derivation
    assert part("the doctors' house", "das arzthaus") is None  # no noun
    assert (
        part("the doctors' house", "das Haus der Ärzte und das Ärztehaus") is None
    )  # a word of its own renders it


def test_a_word_is_known_by_a_phrase_in_which_the_entity_stands() -> None:
    nothing = scores(0.0, 0.0, 0.0)
    assert words_and_basis(pair("the worker slept", "worker", "der Maurer schlief"), nothing) == (
        ["Maurer"],
        "lexicon",
    )
    # Not where a word is known that translates the entity itself.
    language = dataclasses.replace(
        LANGUAGE, glossary={**LANGUAGE.glossary, "head doctor": frozenset(("wirt",))}
    )
    case = pair("the doctor slept", "doctor", "ein Arzt, der Wirt")
    alignment = align_entity(
        case, SplitTexts(language).words(case.text), scores(*[0.0] * 4), KnownTranslations(language)
    )
    assert alignment.translations == (Span(4, 8),)


def test_a_phrase_that_is_somebody_else_in_the_source_lends_the_entity_no_translation() -> None:
    nothing = scores(0.0, 0.0, 0.0)
    both = pair(
        "a construction worker met the worker's friend", "worker", "der Maurer ging", "worker's"
    )
    assert alignment_of(both._replace(head=Span(30, 36)), nothing).translations == ()
    # What another word claims is not the entity's either.
    language = dataclasses.replace(
        LANGUAGE, glossary={**LANGUAGE.glossary, "mason": frozenset(("maurer",))}
    )
    case = pair("the mason met the worker", "worker", "der Maurer ging")
    words = SplitTexts(language).words(case.text)
    assert align_entity(case, words, nothing, KnownTranslations(language)).translations == ()


def test_the_nth_person_is_the_nth_translation_that_several_persons_share() -> None:
    language = glossed(curate="pfarrer kaplan", vicar="pfarrer kaplan", monk="pfarrer mönch")
    assert (
        heads(language, "the curate and the vicar", "curate", "der Kaplan und der Pfarrer")[0]
        == "Kaplan"
    )
    assert (
        heads(language, "the curate and the vicar", "vicar", "der Kaplan und der Pfarrer")[0]
        == "Pfarrer"
    )
    second_word = (0.0, 0.9, 0.0, 0.0, 0.1)
    # Which of three is left out, nobody can tell: the surest link is taken.
    three = (
        "the curate, the vicar and the curate",
        "vicar",
        "der Kaplan und der Pfarrer",
        *second_word,
    )
    assert heads(language, *three)[0] == "Kaplan"
    # No list: a translation may turn it round.
    passive = (
        "the curate was sent by the vicar",
        "vicar",
        "der Pfarrer sandte den Kaplan",
        *second_word,
    )
    assert heads(language, *passive)[0] == "Pfarrer"
    # A monk is a Pfarrer only, which makes no order: the links decide.
    other = (
        "the monk and the curate",
        "curate",
        "der Kaplan und der Pfarrer",
        *second_word,
    )
    assert heads(language, *other)[0] == "Kaplan"


def test_the_word_before_the_entity_may_be_part_of_a_noun_that_is_known() -> None:
    language = glossed(sales_manager="verkaufsleiter", manager="direktor")
    # The corpus marks *manager* alone.
    text = "der Direktor traf den Verkaufsleiter"
    assert heads(
        language,
        "the sales manager met the man",
        "manager",
        "der Verkaufsleiter kam",
        0.9,
        0.0,
        0.0,
    )[0] == ("Verkaufsleiter")
    # Where both are there the links decide.
    assert (
        heads(language, "the sales manager met him", "manager", text, 0.0, 0.0, 0.0, 0.0, 0.9)[0]
        == "Verkaufsleiter"
    )
    assert (
        heads(
            language, "the manager came", "manager", "der Verkaufsleiter Direktor", 0.0, 0.9, 0.0
        )[0]
        == "Direktor"
    )


def test_a_known_translation_that_is_surely_another_words_is_not_the_entitys() -> None:
    glossary = {"secretary": frozenset(("arzt",)), "clerk": frozenset(("arzt",))}
    translations = KnownTranslations(dataclasses.replace(LANGUAGE, glossary=glossary))

    def head(text: str, given: EntityScores) -> str | None:
        case = pair("the secretary met the clerk", "clerk", text)
        target = align_entity(case, SplitTexts(LANGUAGE).words(text), given, translations).target
        return text[slice(*target[0])] if target else None

    text = "der Arzt traf den Wirt"
    assert head(text, scores(0.0, 0.05, 0.0, 0.0, 0.0, explained=(0.0, 0.99))) == "Wirt"
    assert head(text, scores(0.0, 0.05, 0.0, 0.0, 0.0, explained=(0.0, 0.9))) == "Arzt"
    assert head(text, scores(0.0, 0.2, 0.0, 0.0, 0.0, explained=(0.0, 0.99))) == "Arzt"
    # Nor does the entity derive from it.
    assert head("der Arzt kam", scores(0.0, 0.05, 0.0, explained=(0.0, 0.99))) != "Arzt"


def test_a_later_mention_that_is_not_rendered_has_none_of_the_earlier_ones_words() -> None:
    source, text = (
        "the doctor who smiled was paid more than the doctor who did not",
        "der Arzt der lachte bekam mehr als jener",
    )
    first, second = (Pair("x", source, text, Span(at, at + 6), "doctor") for at in (4, 45))
    given = scores(0.0, 0.4, *[0.0] * 6)
    assert words_and_basis(first, given)[0] == ["Arzt"]
    assert words_and_basis(second, given)[0] != ["Arzt"]
    # Nearer to this mention than `MAX_SHIFT` it may be its own, whatever renders the first one.
    assert words_and_basis(
        second._replace(text="jener lachte, mehr bekam der Arzt"), scores(*[0.0] * 5, 0.4)
    )[0] == ["Arzt"]
