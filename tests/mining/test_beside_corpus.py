"""What is made of a corpus that is written: its card, its balanced part."""

from __future__ import annotations

from pathlib import Path

from mtbias.mining.beside_corpus import mined_rows, write_balanced, write_card
from mtbias.mining.corpus_card import CardFacts
from tests.mining.mined_files import ROWS, write_mined


def test_rows_are_read_as_they_were(tmp_path: Path) -> None:
    rows = list(mined_rows(write_mined(tmp_path / "ward.tsv")))
    assert [(row.sentence_text, row.profession, row.g, row.predicted_gender) for row in rows] == [r[:4] for r in ROWS]
    last = rows[-1]
    assert (last.tokens[last.profession_first_index], last.tokens[last.g_first_index]) == ("doctor", "His")
    assert (last.stereotype, last.distance, last.data_index, last.confidence, last.offset) == (1, 1, 11, 0.41, 400)


def test_the_balanced_part_is_lines_of_the_corpus(tmp_path: Path) -> None:
    # Women: one row of each stereotype; men: two pro, one anti. The smallest quarter has one row.
    corpus = write_mined(tmp_path / "ward.tsv")
    out = tmp_path / "balanced.tsv"
    assert write_balanced(corpus, out, seed=0).n == 1
    lines, kept = corpus.read_text(encoding="utf-8").splitlines(), out.read_text(encoding="utf-8").splitlines()
    assert kept in ([*lines[:5]], [lines[0], lines[1], lines[3], lines[4], lines[5]])
    drawn = {write_balanced(corpus, out, seed).chosen for seed in range(20)}
    assert drawn == {(0, 1, 2, 3), (0, 2, 3, 4)}


def test_the_card_is_written_beside(tmp_path: Path) -> None:
    card = write_card(write_mined(tmp_path / "ward.tsv"), CardFacts(counts={}, left_out={}, signature="s"))
    assert card == tmp_path / "ward.md"
    assert "| conjunct | 11 | 3 | 60.0 | 0.50 |" in card.read_text(encoding="utf-8").splitlines()
