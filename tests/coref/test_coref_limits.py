"""Some documents of a data set, evenly spread, and those of one stereotype."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mtbias.coref.coref_datasets import limited, open_dataset, spread, texts_of
from mtbias.coref.documents import Answers
from mtbias.errors import UsageError
from mtbias.settings import BootstrapSettings
from mtbias.types import Stereotype


def test_items_are_spread_evenly() -> None:
    # n × 10 / 4, rounded down.
    assert spread(range(10), 4) == [0, 2, 5, 7]
    assert spread(range(3), 3) == spread(range(3), 9) == [0, 1, 2]


def test_quadruples_stay_together(shared: Path) -> None:
    whole = open_dataset("counter-gap", shared / "data/coref/countergap/C-GAP.tsv")
    some = limited(whole, 10)
    # Two quadruples of 1,002: the first and that in the middle.
    ids = [text.id for text in some.texts]
    first = [text.id for text in whole.texts]
    assert len(ids) == 8
    assert set(Counter(text.group for text in some.texts).values()) == {4}
    assert {id_.partition("-")[0] for id_ in ids} == {
        first[0].partition("-")[0],
        first[4 * 501].partition("-")[0],
    }


def test_lines_of_winobias_stay_together(shared: Path) -> None:
    folder = shared / "data/coref/winobias"
    some = limited(open_dataset("winobias", folder, part=["test-type1"]), 10)
    # Five of 396 lines with both conditions: n × 396 / 5, and lines count from 1.
    assert Counter(text.group for text in some.texts) == {
        f"test 1 {1 + n * 396 // 5}": 2 for n in range(5)
    }
    assert len(texts_of(some, Stereotype.PRO)) == len(texts_of(some, Stereotype.ANTI)) == 5


def test_rows_of_bug_by_stereotype(shared: Path) -> None:
    whole = open_dataset("bug", shared / "data/bug/gold_BUG.csv")
    # The file's own column: of 1,719 rows with a sentence 864 are 1, 435 are 0, 420 are -1.
    assert len(texts_of(whole, Stereotype.ANTI)) == 420
    assert len(texts_of(whole, Stereotype.PRO)) == 864
    assert len(limited(whole, 100).texts) == 100


def test_the_signature_names_the_limit(shared: Path) -> None:
    whole = open_dataset("gap", shared / "data/coref/gap/gap-test.tsv")
    some = limited(whole, 50)
    settings = BootstrapSettings(resamples=0)
    signatures = [one.signature(Answers({}, {}), settings) for one in (whole, some)]
    assert ["|limit:50|" in signature for signature in signatures] == [False, True]


def test_what_cannot_be_divided() -> None:
    made = open_dataset("sowinobias", Path("docs/examples/sowinobias.toml"))
    with pytest.raises(UsageError, match="limit: expected it for gap, counter-gap, bug and wino"):
        limited(made, 10)
    with pytest.raises(UsageError, match="stereotype: expected it for winobias and bug, got sowin"):
        texts_of(made, Stereotype.PRO)
