"""`mtbias corpora describe`: sizes, means and histograms by hand, and what Gold BUG is known to have."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_entities
from mtbias.mining.corpus_balance import describe
from tests.mining.mined_files import write_mined


def test_a_small_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five sentences of 6, 6, 7, 7, 4 words; distances 2, 2, 2, 2, 1."""
    data = write_mined(tmp_path / "c.tsv")
    found = describe(load_entities("bug", data))
    assert (found.sentences, found.genders) == (5, ["male", "female"])
    # the nurse lost her keys doctor his carpenter and friends slept clerk
    assert found.vocabulary == 12
    means = {(one.property, one.of): (one.mean, one.deviation, one.n) for one in found.means}
    assert means["length", "all"] == pytest.approx((6.0, sqrt(6 / 5), 5))
    assert means["distance", "pro"] == pytest.approx((5 / 3, sqrt(2) / 3, 3))
    assert means["distance", "anti"] == pytest.approx((2.0, 0.0, 2))
    assert found.histograms["length"] == {"0 to 4": [1, 0], "5 to 9": [2, 2]}
    assert found.histograms["pronouns"] == {"1": [3, 2]}
    assert found.histograms["stereotype"] == {"anti": [1, 1], "pro": [2, 1]}
    assert main(["corpora", "describe", "--dataset", "bug", "--data", str(data)]) == 0
    out = capsys.readouterr().out
    assert "length  male  female     %\n0 to 4     1       0  20.0  ██████████\n" in out
    assert main(["corpora", "describe", "--dataset", "bug", "--data", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vocabulary"] == 12


def test_gold_bug_and_winomt(shared: Path) -> None:
    """1,719 rows have a sentence, 1 is skipped; 383 feminine, 435 neither, 420 anti-stereotypical (authors' file).

    BUG's table 2 has 1,868 words of WinoMT; ours are letters in a row.
    """
    found = describe(load_entities("bug-gold-paper", shared / "data" / "bug"))
    assert found.sentences == 1718
    assert [sum(of) for of in found.histograms["stereotype"].values()] == [420, 435, 863]
    assert [sum(of) for of in zip(*found.histograms["domain"].values(), strict=True)] == [1335, 383]
    assert describe(load_entities("winomt", shared / "data" / "winomt")).vocabulary == 1873
