"""The link model on bitexts small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.align import link_model as model
from mtbias.align.link_model import (
    P_NULL,
    SMOOTHING,
    LinkCounts,
    TokenPairs,
    cells_of,
    chunks,
    posteriors,
    train,
)
from mtbias.align.sentence_pairs import Side, index_side, merge_types

NO_PRIOR = (np.zeros(0, np.int64), np.zeros(0))
HOUSE = index_side([["the", "house"], ["the", "book"]])
HAUS = index_side([["das", "haus"], ["das", "buch"]])


def links(table: LinkCounts, source: Side, target: Side) -> dict[tuple[str, str], float]:
    """Expected links by pair of words."""
    pairs = (divmod(int(k), len(target.types)) for k in table.keys)
    return {
        (source.types[e], target.types[f]): float(c)
        for (e, f), c in zip(pairs, table.links, strict=True)
    }


def test_sides_number_types_by_first_appearance() -> None:
    assert HOUSE.types == ("the", "house", "book")
    assert HOUSE.ids.tolist() == [0, 1, 0, 2]
    assert HOUSE.offsets.tolist() == [0, 2, 4]
    assert HOUSE.lengths.tolist() == [2, 2]


def test_merged_types_are_one() -> None:
    side = index_side([["haus", "buch"], [], ["hauses"]])
    merged = merge_types(side, {"haus": "haus", "hauses": "haus", "buch": "buch"})
    assert merged.types == ("haus", "buch")
    assert merged.ids.tolist() == [0, 1, 0]
    assert merged.lengths.tolist() == [2, 0, 1]


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "UNIFORM_ROUNDS", 1)
    monkeypatch.setattr(model, "DIAGONAL_ROUNDS", 0)


def test_the_first_round_spreads_every_target_word_evenly(one_round: None) -> None:
    # Each of the two target words of a pair is half linked to each of its two source words;
    # "the"–"das" stands in both pairs: 0.5 + 0.5.
    table, null = train(TokenPairs(HOUSE, HAUS), NO_PRIOR)
    assert links(table, HOUSE, HAUS) == {
        ("the", "das"): 1.0,
        ("the", "haus"): 0.5,
        ("the", "buch"): 0.5,
        ("house", "das"): 0.5,
        ("house", "haus"): 0.5,
        ("book", "das"): 0.5,
        ("book", "buch"): 0.5,
    }
    assert table.source_totals.tolist() == [2.0, 1.0, 1.0]
    assert table.target_totals.tolist() == [2.0, 1.0, 1.0]
    # The null word emits words by their frequency: "das" is two of four.
    assert null[1].tolist() == [0.5, 0.25, 0.25]


def test_posteriors_of_the_second_round(one_round: None) -> None:
    # "das" in the first pair, uniform positions: each source word gets (1 − 0.08) / 2 = 0.46 of the
    # prior.
    #   the:    1.0 / 2.01 × 0.46 = 0.228856        house:  0.5 / 1.01 × 0.46 = 0.227723
    #   null:   0.08 × 0.5        = 0.04            sum:                       0.496579
    # "haus": the 0.5 / 2.01 × 0.46 = 0.114428, house 0.227723, null 0.08 × 0.25 = 0.02; sum
    # 0.362151.
    assert (P_NULL, SMOOTHING) == (0.08, 0.01)
    table, null = train(TokenPairs(HOUSE, HAUS), NO_PRIOR)
    forward, backward = posteriors(cells_of(HOUSE, HAUS, table.keys, 0, 2), table, null, 0.0)
    first = [0.228856 / 0.496579, 0.114428 / 0.362151, 0.227723 / 0.496579, 0.227723 / 0.362151]
    assert forward[:4] == pytest.approx(first, abs=1e-5)  # the–das, the–haus, house–das, house–haus
    # Both sides are alike here, with source and target exchanged.
    assert backward[:4] == pytest.approx([first[0], first[2], first[1], first[3]], abs=1e-5)


def test_the_words_that_are_left_find_each_other() -> None:
    # IBM model 1: "das" explains "the" in both pairs, so that "haus" is left for "house" and "buch"
    # for "book".
    table, _ = train(TokenPairs(HOUSE, HAUS), NO_PRIOR)
    found = links(table, HOUSE, HAUS)
    assert found["the", "das"] > 10 * max(found["the", "haus"], found["house", "das"])
    assert found["house", "haus"] > 10 * found["the", "haus"]
    assert found["book", "buch"] > 10 * found["book", "das"]
    # At most one link a token: two tokens of "das", one of "haus".
    assert found["the", "das"] <= 2
    assert found["house", "haus"] <= 1


def test_a_prior_decides_what_the_corpus_leaves_open() -> None:
    # One pair of two words each: but for the diagonal nothing tells the links apart. A prior on the
    # crossed pair does.
    source, target = index_side([["a", "b"]]), index_side([["x", "y"]])
    keys = np.array([0 * 2 + 1], np.int64)  # a–y
    table, _ = train(TokenPairs(source, target), (keys, np.array([1.0])))
    found = links(table, source, target)
    assert found["a", "y"] > found["a", "x"]
    assert found["b", "x"] > found["b", "y"]


def test_a_prior_on_words_that_never_meet_is_ignored() -> None:
    keys = np.array([1 * 3 + 2, 99], np.int64)  # house–buch, and a key of no pair
    with_prior, _ = train(TokenPairs(HOUSE, HAUS), (keys, np.ones(2)))
    without, _ = train(TokenPairs(HOUSE, HAUS), NO_PRIOR)
    assert with_prior.links.tolist() == without.links.tolist()


def test_the_diagonal_breaks_ties() -> None:
    source, target = index_side([["a", "b"]]), index_side([["x", "y"]])
    found = links(train(TokenPairs(source, target), NO_PRIOR)[0], source, target)
    assert found["a", "x"] > found["a", "y"]
    assert found["b", "y"] > found["b", "x"]


SENTENCES = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcde"), max_size=6),
        st.lists(st.sampled_from("vwxyz"), max_size=6),
    ),
    max_size=8,
)


@given(SENTENCES, st.sampled_from([0.0, 4.0]))
def test_posteriors_are_probabilities(
    pairs: list[tuple[list[str], list[str]]], strength: float
) -> None:
    source, target = index_side(s for s, _ in pairs), index_side(t for _, t in pairs)
    table, null = train(TokenPairs(source, target), NO_PRIOR)
    assert len(table.keys) <= int(
        (source.lengths * target.lengths).sum()
    )  # memory: at most one row a token pair
    cells = cells_of(source, target, table.keys, 0, len(pairs))
    if not len(cells.pair):
        return
    for values, side in zip(
        posteriors(cells, table, null, strength), (cells.target, cells.source), strict=True
    ):
        assert (values >= 0).all()
        assert (np.bincount(side, values) <= 1 + 1e-12).all()  # the rest is the null word's


@given(SENTENCES, st.integers(1, 40))
def test_chunks_cover_all_sentences_in_order(
    pairs: list[tuple[list[str], list[str]]], size: int
) -> None:
    source, target = index_side(s for s, _ in pairs), index_side(t for _, t in pairs)
    cells = source.lengths * target.lengths
    ranges = list(chunks(source, target, size))
    assert [n for first, last in ranges for n in range(first, last)] == list(range(len(pairs)))
    assert all(cells[first:last].sum() <= size or last == first + 1 for first, last in ranges)


@given(SENTENCES, st.integers(1, 30))
def test_chunks_change_nothing(pairs: list[tuple[list[str], list[str]]], size: int) -> None:
    source, target = index_side(s for s, _ in pairs), index_side(t for _, t in pairs)
    whole, _ = train(TokenPairs(source, target), NO_PRIOR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "CHUNK", size)
        patch.setattr(chunks, "__defaults__", (size,))
        parts, _ = train(TokenPairs(source, target), NO_PRIOR)
    assert parts.keys.tolist() == whole.keys.tolist()
    assert parts.links == pytest.approx(whole.links, rel=1e-9)


def test_empty_sides() -> None:
    nothing = index_side([[], []])
    for source, target in (
        (nothing, nothing),
        (HOUSE, nothing),
        (nothing, HAUS),
        (index_side([]), index_side([])),
    ):
        table, _ = train(TokenPairs(source, target), NO_PRIOR)
        assert len(table.keys) == 0
