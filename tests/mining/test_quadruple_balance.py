"""The draw of quadruples with as many originals about men as about women."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.coref.counter_gap import quadruples
from mtbias.coref.gap_data import read_instances
from mtbias.errors import DataError
from mtbias.mining.quadruple_balance import balance_quadruples
from tests.mining.test_quadruple_check import write_quadruples


def test_originals_are_drawn_until_the_genders_are_even(tmp_path: Path) -> None:
    """Three originals about men and one about a woman: two of the former go."""
    pronouns = {"1": "he", "2": "she", "3": "he", "4": "he"}
    data = write_quadruples(tmp_path / "q.tsv", pronouns)
    drawn = set()
    for seed in range(20):
        found = balance_quadruples(data, tmp_path / "b.tsv", seed)
        assert found.before == {"male": 3, "female": 1}
        assert found.dropped == {"more originals, male": 2, "more originals, female": 0}
        left = [one.id for one in quadruples(read_instances(tmp_path / "b.tsv", labelled=False))]
        assert left == sorted(left)
        assert "2" in left
        drawn.add(tuple(left))
    assert len(drawn) == 3
    with pytest.raises(DataError, match="expected originals of both genders, got male 1, female 0"):
        balance_quadruples(write_quadruples(data, {"1": "he"}), tmp_path / "b.tsv")
