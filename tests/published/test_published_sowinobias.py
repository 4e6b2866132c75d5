"""Dawkins, *SoWinoBias* (GeBNLP 2021): its words, and the arithmetic of its tables 4 and 5.

The outputs of its systems are not published: no file can be held against a cell. What can be is how
the printed cells are made of each other.
"""

from __future__ import annotations

import re
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from mtbias.coref.dataset import by_kind
from mtbias.coref.sowinobias import PAPER_VOCABULARY, parse_vocabulary
from mtbias.embeddings.vectors import EXAMPLE_LISTS, read_lists
from mtbias.files.reading import read_text

# By polarity and in total: pro, anti, difference. Rows: GloVe, Hard-GloVe, GN-GloVe, RAN-GloVe and
# INLP-GloVe, each without and with augmented data.
TABLE_4 = """
69.4 49.2 20.1 58.9 44.3 14.6 64.2 46.8 17.4
64.2 60.4 3.9 61.4 52.6 8.8 62.8 56.5 6.4
64.6 49.8 14.7 62.6 48.7 13.9 63.6 49.2 14.3
77.2 51.5 25.8 76.9 48.7 28.2 77.1 50.1 27.0
71.6 52.9 18.6 64.4 46.5 17.9 68.0 49.7 18.3
71.5 70.5 1.0 72.7 69.0 3.7 72.1 69.7 2.4
70.9 61.5 9.4 69.4 58.5 11.0 70.2 60.0 10.2
73.6 67.0 6.7 65.3 51.9 13.4 69.5 59.4 10.0
74.2 54.0 20.2 62.7 38.2 24.5 68.4 46.1 22.4
76.4 67.9 8.5 70.4 62.3 8.2 73.4 65.1 8.3
"""
# WinoBias: pro, anti, average, difference; GloVe, Hard-GloVe, GN-GloVe, GN-GloVe(w_a), RAN-GloVe.
TABLE_5 = """
76.2 46.0 61.1 30.2
70.6 54.9 62.8 15.7
72.4 51.9 62.2 20.5
70.0 53.9 62.0 16.1
61.4 61.8 61.6 0.4
"""
ROUNDED = 0.1 + 1e-9
"""Two numbers of one decimal and what is made of them are as far apart at most."""


def _rows(table: str) -> np.ndarray:
    return np.array([line.split() for line in table.split("\n") if line], dtype=np.float64)


def test_the_words_are_those_of_appendix_a(shared: Path) -> None:
    paper = shared / "papers" / "sowinobias_dawkins_2021.txt"
    if not paper.is_file():
        pytest.skip(f"the paper is not at {paper}")
    appendix = paper.read_text(encoding="utf-8").partition("Appendix A")[2]
    printed = [tuple(words.split(", ")) for words in re.findall(r"\{ ([^{}]*) \}", appendix)]
    ours = astuple(parse_vocabulary(read_text(PAPER_VOCABULARY)))
    assert [len(words) for words in printed] == [16] * 4 + [8] * 2
    women, men, positive, negative, of_men, of_women = printed
    assert ours == (men, women, positive, negative)
    # Those of word vectors: table 2 has the adjectives both ways, table 3 GIPE of all but the
    # definitional words.
    lists, adjectives = read_lists(EXAMPLE_LISTS), positive + negative
    assert astuple(lists.weat["adjectives-occupations"]) == (adjectives, women, men)
    assert astuple(lists.weat["adjectives-gender"]) == (adjectives, of_women, of_men)
    assert lists.gipe["sowinobias"].words == women + men + adjectives


def test_totals_and_differences_are_made_as_printed() -> None:
    """Total: the unweighted mean of the polarities. Difference: pro − anti, signed, but for table
    5's last line, RAN-GloVe, whose −0.4 is printed as 0.4. Average: their mean."""
    positive, negative, total = np.split(_rows(TABLE_4), 3, axis=1)
    assert np.abs(total - (positive + negative) / 2).max() <= ROUNDED
    for part in (positive, negative, total):
        assert (
            np.abs(by_kind("", part[:, 0], part[:, 1])["difference"] - part[:, 2]).max() <= ROUNDED
        )
    pro, anti, average, difference = _rows(TABLE_5).T
    ours = by_kind("", pro, anti)
    assert np.abs(ours["average"] - average).max() <= ROUNDED
    signed = difference * [1, 1, 1, 1, -1]
    assert np.abs(ours["difference"] - signed).max() <= ROUNDED
