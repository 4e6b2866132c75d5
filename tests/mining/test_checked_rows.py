"""Rows for people to check, and the precision that their judgements give."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.mining.corpus_check import check_judgements, draw, read_corpus, read_judgements
from tests.mining.mined_files import ROWS, write_mined

HEAD = "key\tjudgement\n"


def _judgements(path: Path, *said: tuple[str, str]) -> Path:
    path.write_text(
        HEAD + "".join(f"{key}\t{judgement}\n" for key, judgement in said), encoding="utf-8"
    )
    return path


def test_the_smaller_sample_is_the_beginning_of_the_larger(tmp_path: Path) -> None:
    rows = read_corpus(write_mined(tmp_path / "c.tsv")).rows
    assert [row.key for row in draw(rows, 9, seed=1)[:3]] == [
        row.key for row in draw(rows, 3, seed=1)
    ]
    assert len({row.key for row in draw(rows, 9, seed=1)}) == 5
    assert len({draw(rows, 1, seed)[0].key for seed in range(40)}) == 5


def test_a_key_is_of_the_sentence_and_not_of_its_place(tmp_path: Path) -> None:
    keys = [row.key for row in read_corpus(write_mined(tmp_path / "c.tsv")).rows]
    turned = [row.key for row in read_corpus(write_mined(tmp_path / "d.tsv", ROWS[::-1])).rows]
    assert turned == keys[::-1]
    twice = read_corpus(write_mined(tmp_path / "e.tsv", [*ROWS, ROWS[0]])).rows
    assert len(draw(twice, 99, seed=0)) == 5


def test_rows_with_another_word_at_an_index_are_left_out(tmp_path: Path) -> None:
    path = write_mined(tmp_path / "c.tsv")
    path.write_text(
        path.read_text().replace("The clerk and", "Well the clerk and"), encoding="utf-8"
    )
    corpus = read_corpus(path)
    assert (len(corpus.rows), corpus.left_out) == (4, 1)


@pytest.mark.parametrize(
    ("confidence", "name"), [(0.0, "0.0 to 0.1"), (0.6, "0.6 to 0.7"), (1.0, "0.9 to 1.0")]
)
def test_bins_of_confidence(confidence: float, name: str, tmp_path: Path) -> None:
    data = write_mined(tmp_path / "c.tsv", [(*ROWS[0][:6], confidence)])
    (row,) = read_corpus(data).rows
    checked = check_judgements(data, _judgements(tmp_path / "v.tsv", (row.key, "right")))
    assert [part.name for part in checked.by_confidence] == [name]


def test_gold_bug_can_be_checked(shared: Path) -> None:
    # BUG_MINING.md: 1,720 rows, of which one has no sentence and 31 have another word at an index.
    corpus = read_corpus(shared / "data" / "bug" / "gold_BUG.csv")
    assert (len(corpus.rows), corpus.left_out) == (1688, 32)


def test_precision_together_by_pattern_and_by_confidence(tmp_path: Path) -> None:
    data = write_mined(tmp_path / "c.tsv")
    keys = [row.key for row in read_corpus(data).rows]
    said = [
        *zip(keys, ["right", "right", "right", "wrong", "unsure"], strict=True),
        ("0" * 16, "wrong"),
    ]
    checked = check_judgements(data, _judgements(tmp_path / "v.tsv", *said))
    all_ = checked.together
    # 3 of 4. Wilson with z = 1.959964: centre (0.75 + z²/8) / (1 + z²/4) = 0.6275, half-width
    # z·√(0.1875/4 + z²/64) / (1 + z²/4) = 0.3269.
    assert (all_.right, all_.wrong, all_.unsure, all_.precision) == (3, 1, 1, 75.0)
    assert all_.interval == pytest.approx((30.06, 95.44), abs=0.01)
    assert [(p.name, p.right, p.wrong, p.unsure) for p in checked.by_pattern] == [
        ("conjunct", 1, 1, 1), ("object", 2, 0, 0),
    ]  # fmt: skip
    assert [(p.name, p.precision) for p in checked.by_confidence] == [
        ("0.4 to 0.5", None), ("0.5 to 0.6", 50.0), ("0.9 to 1.0", 100.0),
    ]  # fmt: skip
    assert [(p.name, p.precision) for p in checked.by_gender] == [("female", 100.0), ("male", 50.0)]
    assert checked.unknown == 1


def test_files_of_judgements_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"v\.tsv:2: judgement: expected right, wrong, unsure, wrong: .*, got 'ok'"
    ):
        read_judgements(_judgements(tmp_path / "v.tsv", ("a", "ok")))
    with pytest.raises(
        DataError, match=r"v\.tsv:3: expected one judgement a row, got a second for 'a'"
    ):
        read_judgements(_judgements(tmp_path / "v.tsv", ("a", "right"), ("a", "right")))
    with pytest.raises(DataError, match="expected judgements on rows of this corpus, got none"):
        check_judgements(
            write_mined(tmp_path / "c.tsv"), _judgements(tmp_path / "v.tsv", ("a", "right"))
        )


def test_two_readers_and_why_rows_are_wrong(tmp_path: Path) -> None:
    data = write_mined(tmp_path / "c.tsv")
    keys = [row.key for row in read_corpus(data).rows]
    first = _judgements(
        tmp_path / "a.tsv",
        *zip(keys, ["right", "right", "wrong: ambiguous", "wrong", "unsure"], strict=True),
    )
    second = _judgements(
        tmp_path / "b.tsv",
        *zip(keys[:4], ["right", "wrong", "wrong: quoted", "wrong"], strict=True),
    )
    checked = check_judgements(data, first, second)
    assert checked.errors == {"ambiguous": 1}
    assert (checked.together.right, checked.together.wrong, checked.together.unsure) == (2, 2, 1)
    # Both have judged four rows and agree on three: p_o = 3/4. The first says right 2, wrong 2; the
    # second right 1, wrong 3: p_e = (2·1 + 2·3) / 16 = 1/2, κ = (3/4 − 1/2) / (1 − 1/2) = 1/2.
    agreement = checked.second_reader
    assert agreement is not None
    assert (agreement.n, agreement.agreed, agreement.kappa) == (4, 75.0, 0.5)
    assert checked.disagreements == ["right, wrong: The doctor lost his keys ."]
    alone = check_judgements(data, first)
    assert (alone.second_reader, alone.disagreements) == (None, None)
