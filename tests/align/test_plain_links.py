"""Scores of plain links, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mtbias.align import Pair
from mtbias.align.entity_scores import Links, scores_of_links
from mtbias.align.sentence_pairs import index_pairs
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.target_words import EntityScores
from mtbias.types import Span

TOY = Language(code="xh", name="Toy")
# "baker" once as an entity, once elsewhere; the third translation is empty, the fourth pair has no
# entity.
PAIRS = [
    Pair("a", "The baker slept", "Der Mann schlief", Span(4, 9), "baker"),
    Pair("b", "A baker", "Ein Mann", Span(2, 7), "baker"),
    Pair("c", "The baker", "", Span(4, 9), "baker"),
    Pair("d", "He slept", "Er schlief"),
]
FORWARD: list[Links] = [{(0, 0), (1, 1), (1, 2)}, {(1, 0)}, set(), {(1, 1)}]
BACKWARD: list[Links] = [{(1, 1), (2, 2)}, {(1, 0), (1, 1)}, set(), {(1, 1)}]


def scores(language: Language) -> list[EntityScores | None]:
    links = list(zip(FORWARD, BACKWARD, strict=True))
    return list(scores_of_links(index_pairs(PAIRS, SplitTexts(language)), links, language))


def test_scores_by_hand() -> None:
    first, second, *rest = scores(TOY)
    assert rest == [None, None]
    assert first is not None
    assert second is not None
    # Der: no link of the baker's; Mann: both directions; schlief: one.
    np.testing.assert_array_equal(first.link, [0, 1, 0.5])
    np.testing.assert_array_equal(first.belongs, [0, 1, 1])
    # "The" is linked with Der, "slept" with schlief; a link is not sure.
    np.testing.assert_array_equal(first.explained, [0.9, 0, 0.9])
    np.testing.assert_array_equal(second.link, [1, 0.5])
    # Links of both directions: baker–Mann in a, baker–Ein in b, slept–schlief in d. Dice of baker
    # (2 links) and Mann (1): 2·1 / (2 + 1); of Ein the same; Der and schlief have none with baker.
    assert first.lexicon == pytest.approx([0, 2 / 3, 0])
    assert second.lexicon == pytest.approx([2 / 3, 2 / 3])
    # A type is common that is in more than a twentieth of four sentences: in one.
    assert not first.rare.any()


def test_what_the_table_knows_counts_as_a_link() -> None:
    known = Language(code="xh", name="Toy", glossary={"baker": frozenset({"schlief"})})
    first, *_ = scores(known)
    assert first is not None
    # One link more for baker and schlief: baker has 3, schlief 1 + 1.
    assert first.lexicon == pytest.approx([0, 2 * 1 / (3 + 1), 2 * 1 / (3 + 2)])
