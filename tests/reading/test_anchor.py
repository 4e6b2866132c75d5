"""From links to the entity's words: the anchor, the words around it, and where it yields to a free noun for
people."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import NounKind
from mtbias.reading.candidates import align_entity
from mtbias.reading.known_translations import KnownTranslations
from mtbias.reading.target_words import EntityScores
from mtbias.types import ELIMINATION, Span, Trust
from tests.reading.toy_alignment import LANGUAGE, alignment_of, pair, scores, spans, words_and_basis

DOCTOR = pair(
    "The doctor saw the old house.", "doctor", "Der Arzt sah das alte Haus"
)  # six target words


@pytest.mark.parametrize(
    ("given", "words", "basis"),
    [
        # the surest link ("Arzt" is another's)
        (
            scores(0, 0, 0.9, 0, 0, 0.1, lexicon=(0, 0, 0.3, 0, 0, 0), explained=(0, 0.5)),
            ["sah"],
            "links+lexicon",
        ),
        (scores(0, 0, 0.9, 0, 0, 0.1, explained=(0, 0.5)), ["sah"], "links"),
        # The plugin's nouns outweigh a link of 0.9, which counts as they do, by half.
        (scores(0.0, 0.0, 0.9, 0.0, 0.0, 0.0, explained=(0, 0.5)), ["Arzt"], "lexicon"),
        (scores(0.1, 0.9, 0.3, 0.1, 0.1, 0.1), ["Arzt"], "links+lexicon"),
    ],
)
def test_the_anchor(given: EntityScores, words: list[str], basis: str) -> None:
    case = DOCTOR if words == ["Arzt"] else DOCTOR._replace(entity="judge")
    assert words_and_basis(case, given) == (words, basis)


def test_neighbours_that_the_entity_explains_belong_to_it() -> None:
    case = pair(
        "The construction worker slept.",
        "construction worker",
        "Der Arbeiter an dem Bau schlief tief fest dort",
    )
    # "Arbeiter" is the anchor; "Bau", behind two words, is the entity's too; "dort", behind three
    # more, is not reached.
    given = scores(0, 0.9, 0, 0, 0.1, 0, 0, 0, 0, belongs=(0, 0.9, 0, 0, 0.8, 0, 0, 0, 0.9))
    assert words_and_basis(case, given) == (["Arbeiter", "Bau"], "links")


def test_a_noun_for_people_before_the_anchor_belongs_to_it_over_function_words_only() -> None:
    case = pair("The construction worker slept.", "worker", "Wirt von der Firma schlief")
    sure = (
        0,
        0,
        0,
        0.3,
        0,
    )  # with the link of 0.9 a score of 0.6: the anchor is believed though it is no known noun
    near = scores(0, 0, 0, 0.9, 0, lexicon=sure, rare=(True, False, False, True, True))
    assert words_and_basis(case, near) == (["Firma", "Wirt"], "links+lexicon")
    apart = scores(0, 0, 0, 0.9, 0, lexicon=sure, rare=(True, True, False, True, True))
    assert words_and_basis(case, apart) == (["Firma"], "links+lexicon")
    taken = scores(
        0,
        0,
        0,
        0.9,
        0,
        lexicon=sure,
        rare=(True, False, False, True, True),
        explained=(0.8, 0, 0, 0, 0),
    )
    assert words_and_basis(case, taken) == (["Firma"], "links+lexicon")


def test_a_weak_anchor_yields_to_a_free_noun_for_people() -> None:
    case = pair("The construction worker slept.", "worker", "Wirt von der Firma schlief")
    # 0.5 × 0.9 is under SURE_SCORE, "Firma" is not in the table, and nobody else explains "Wirt"
    assert words_and_basis(case, scores(0.3, 0, 0, 0.9, 0)) == (["Wirt"], "lexicon")
    assert words_and_basis(case, scores(0.3, 0, 0, 0.9, 0, explained=(0.8, 0, 0, 0, 0))) == (
        ["Firma"],
        "links",
    )


def test_free_nouns_for_people_are_named_as_others() -> None:
    case = pair("The construction worker slept.", "worker", "Firma schlief Wirt dort")
    alignment = alignment_of(case, scores(0.9, 0, 0.1, 0, lexicon=(0.3, 0, 0, 0)))
    assert [case.text[a:b] for a, b in alignment.target] == ["Firma"]
    assert [case.text[a:b] for a, b in spans(alignment, Trust.PERSON_LEFT)] == ["Wirt"]
    # Among all words that are left it comes first by its link, 0.1; those of none stand in order.
    left = [case.text[a:b] for a, b in spans(alignment, Trust.WORD_LEFT)]
    assert left == ["Wirt", "schlief", "dort"]


def test_what_is_left_over() -> None:
    case = pair("The judge slept.", "judge", "Gestern schlief Wirt dort")
    low = (0.02, 0.03, 0.01, 0.0)
    # the noun for people, however weak its link
    assert words_and_basis(case, scores(*low)) == (["Wirt"], ELIMINATION)
    # one that another source word explains is not left over: then the likeliest rare word that
    # nobody explains
    wirt = (0.0, 0.9, 0.9, 0.0)
    assert words_and_basis(case, scores(*low, explained=wirt)) == (["Gestern"], ELIMINATION)
    assert words_and_basis(case, scores(*low, explained=wirt, rare=(False, True, True, True))) == (
        ["dort"],
        ELIMINATION,
    )
    # nothing
    assert words_and_basis(case, scores(*low, explained=(0.9,) * 4)) == ([], None)
    assert words_and_basis(case, scores(*low, explained=wirt, rare=(False, True, True, False))) == (
        [],
        None,
    )


def test_without_scores_there_is_no_alignment() -> None:
    assert words_and_basis(DOCTOR, None) == ([], None)


def test_people_whom_no_other_word_claims_are_named_where_nobody_is_found() -> None:
    case = pair("the miner helped the doctor", "miner", "der Maurer half dem Arzt im Bergwerk")
    # The link is at Bergwerk, a thing; Arzt is the doctor's.
    assert spans(
        alignment_of(case, scores(0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9)), Trust.ONLY_PERSON
    ) == [Span(4, 10)]
    # Too far off: at the end of the sentence.
    far = pair("miner, go to the doctor now", "miner", "der Arzt half im Bergwerk dem Maurer")
    assert (
        spans(alignment_of(far, scores(0.1, 0.0, 0.0, 0.0, 0.9, 0.0, 0.0)), Trust.ONLY_PERSON) == []
    )
    known = pair("the doctor went", "doctor", "der Arzt ging")
    assert spans(alignment_of(known, scores(0.0, 0.9, 0.0)), Trust.ONLY_PERSON) == []
    # A word of fixed gender where there is nobody else.
    fixed = pair("the miner came", "miner", "die Person im Bergwerk kam")
    assert spans(alignment_of(fixed, scores(0.1, 0.0, 0.0, 0.9, 0.0)), Trust.ONLY_PERSON) == [
        Span(4, 10)
    ]


def test_a_name_of_the_source_renders_nobody_else() -> None:
    # "Arzt" is a name of the source, unless the tables know it; "Erfurt" is the town.
    given = scores(0.0, 0.9, 0.0, 0.2)
    assert words_and_basis(
        pair("the warden left Erfurt", "warden", "der Erfurt verließ Wärter"), given
    )[0] == ["Wärter"]
    assert words_and_basis(pair("the doctor met Arzt", "doctor", "der Arzt traf jemanden"), given)[
        0
    ] == ["Arzt"]
    # The entity itself may be left as it is.
    assert words_and_basis(pair("the Warden slept", "warden", "der Warden schlief dort"), given)[
        0
    ] == ["Warden"]


def test_a_word_that_another_word_needs_does_not_render_the_entity() -> None:
    # *The miner* is left out; the one Arzt is the doctor's.
    given = scores(0.0, 0.9, 0.1)
    assert words_and_basis(pair("the miner saw the doctor", "miner", "dem Arzt half"), given)[
        0
    ] != ["Arzt"]
    # Of two one is left for the miner.
    two = pair("the miner saw the doctor", "miner", "dem Arzt half ein Arzt")
    assert words_and_basis(two, scores(0.0, 0.9, 0.1, 0.0, 0.2))[0] == ["Arzt"]
    # "Injured people" may be one noun.
    both = pair("the doctor people left", "people", "der Arzt ging")
    assert words_and_basis(both, given)[0] == ["Arzt"]


def test_what_stands_in_the_entity_itself_needs_no_other_rendering() -> None:
    given, text = scores(0.0, 0.0, 0.0, 0.9), "der Arzt kam bald"
    case = pair("the doctor help came soon", "doctor help", text)
    assert spans(alignment_of(case, given), Trust.ONLY_PERSON) == [Span(4, 8)]
    assert (
        spans(
            alignment_of(pair("the help of the doctor came", "help", text), given),
            Trust.ONLY_PERSON,
        )
        == []
    )
    # A possessor is somebody else.
    case = pair("the doctor's help came soon", "doctor's help", text)
    assert spans(alignment_of(case, given), Trust.ONLY_PERSON) == []


def test_two_words_of_the_source_claim_what_translates_both() -> None:
    given, text = scores(0.9, 0.0, 0.0, 0.0), "dort half der Maurer"
    two = pair("the construction worker helped the miner", "miner", text)
    assert spans(alignment_of(two, given), Trust.ONLY_PERSON) == []
    one = pair("the worker helped the miner", "miner", text)
    assert spans(alignment_of(one, given), Trust.ONLY_PERSON) == [Span(14, 20)]


def test_a_common_word_is_not_believed_before_a_noun_for_people() -> None:
    case = pair("The construction worker slept.", "worker", "an der Baustelle schlief Wirt")
    sure = scores(0.9, 0.0, 0.0, 0.0, 0.1, lexicon=(0.3,), rare=(False, False, True, True, True))
    assert words_and_basis(case, sure)[0] == ["Wirt"]
    assert words_and_basis(case, dataclasses.replace(sure, rare=np.array([True] * 5)))[0] == ["an"]


def test_beyond_a_person_and_a_preposition_only_a_translation_belongs_to_the_entity() -> None:
    case = pair("the royal marriage to his doctor", "doctor", "Heirat mit dem Arzt")
    given = scores(
        0.2, 0.0, 0.0, 0.9, belongs=(0.9, 0.0, 0.0, 0.9), rare=(True, False, False, True)
    )
    assert words_and_basis(case, given)[0] == ["Arzt"]
    # "Arzt" is one of two forms of one person.
    both = pair("the doctor slept", "doctor", "Ärzte und Arzt")
    given = scores(0.2, 0.0, 0.9, belongs=(0.9, 0.0, 0.9), rare=(True, False, True))
    assert sorted(words_and_basis(both, given)[0]) == ["Arzt", "Ärzte"]


def test_a_noun_that_the_word_before_the_head_is_linked_with() -> None:
    language = dataclasses.replace(LANGUAGE, noun_endings={"ist": NounKind.MASCULINE})
    case = pair("a strong tenor player", "tenor player", "dort stark Tenorist")
    words = SplitTexts(language).words(case.text)
    for belongs, basis in (((0.0, 0.0, 0.9), "lexicon"), ((0.0, 0.0, 0.4), ELIMINATION)):
        alignment = align_entity(
            case, words, scores(0.0, 0.0, 0.0, belongs=belongs), KnownTranslations(language)
        )
        assert (case.text[slice(*alignment.target[0])], alignment.basis) == ("Tenorist", basis)
