"""Tokens by their characters: word pieces, other tokens, what does not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.coref.output_reading import align


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        (["He", "left"], ["He", "left"], [(0, 0), (1, 1)]),
        (["He left"], ["He", "left"], [(0, 1)]),
        (["H", "e", " ", "left"], ["He", "left"], [(0, 0), (0, 0), None, (1, 1)]),
        (
            ["-LRB-", "he", "-RRB-", "``", "x", "''"],
            ["(", "he", ")", '"', "x", '"'],
            [(n, n) for n in range(6)],
        ),
        (
            list("-LRB- (he)"),
            ["-LRB-", "-LRB-", "he", ")"],
            [*[(0, 0)] * 5, None, (1, 1), (2, 2), (2, 2), (3, 3)],
        ),
        (["“x”"], ["'", "'", "x", "''"], [(0, 3)]),
        (["cafe", "STRASSE"], ["Café", "straße"], [(0, 0), (1, 1)]),
        (["a\u200b", "\u200e", "b"], ["a", "b"], [(0, 0), None, (1, 1)]),
        (
            ["[CLS]", "wo", "##rk", "##er", "[SEP]"],
            ["worker"],
            [None, (0, 0), (0, 0), (0, 0), None],
        ),
        (["<s>", "Ġhe", "Ġle", "ft"], ["he", "left"], [None, (0, 0), (1, 1), (1, 1)]),
        (
            ["[CLS]", "[UNK]", "left", "[UNK]"],
            ["Żółw", "left", "now"],
            [None, (0, 0), (1, 1), (2, 2)],
        ),
        (["he", "left"], ["he", "_", "left"], [(0, 0), (2, 2)]),  # a word without characters
        (["##", "###", "x"], ["#", "####", "x"], [(0, 1), (1, 1), (2, 2)]),  # no word pieces
        ([], [], []),
    ],
)
def test_pieces_and_their_tokens(
    theirs: list[str], ours: list[str], expected: list[tuple[int, int] | None]
) -> None:
    assert align(theirs, ours) == expected


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        (["He", "ran"], "token 1 is 'left' in the data set, 'ran' here"),
        (["He"], "expected 2 tokens, got 1, which end before 'left'"),
        (["He", "left", "x"], "token 2 is '' in the data set, 'x' here"),
        (["Hel", "ex"], "token 1 is 'left' in the data set, 'ex' here"),
    ],
)
def test_other_characters(theirs: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        align(theirs, ["He", "left"])


@given(
    st.lists(st.text(alphabet="abéß(", min_size=1, max_size=4), min_size=1, max_size=6), st.data()
)
def test_any_cut_of_a_text_aligns(ours: list[str], data: st.DataObject) -> None:
    text = "".join(ours)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)))))
    theirs = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    owners = [at for at, token in enumerate(ours) for _ in token]
    expected = [
        (owners[a], owners[b - 1])
        for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)
        if b > a
    ]
    assert [found for found in align(theirs, ours) if found is not None] == expected
