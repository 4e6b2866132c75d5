"""`mtbias corpora describe`: sizes, means and histograms by hand, and what Gold BUG is known to
have."""

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
    counts = {str(row["class"]): (row["male"], row["female"]) for row in found.histograms}
    assert (counts["length, 0 to 4"], counts["length, 5 to 9"], counts["pronouns, 1"]) == (
        (1, 0),
        (2, 2),
        (3, 2),
    )
    # A pro sentence about a man and an anti one about a woman have an occupation that mostly men have.
    assert (counts["occupation, mostly men"], counts["occupation, mostly women"]) == (
        (2, 1),
        (1, 1),
    )
    assert (counts["stereotype, anti"], counts["stereotype, pro"]) == ((1, 1), (2, 1))
    assert main(["corpora", "describe", "--dataset", "bug", "--data", str(data)]) == 0
    out = capsys.readouterr().out
    assert "length, 0 to 4" in out
    assert main(["corpora", "describe", "--dataset", "bug", "--data", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vocabulary"] == 12


def test_gold_bug_and_winomt(shared: Path) -> None:
    """1,719 rows have a sentence, 1 is skipped; 383 feminine, 435 neither, 420 anti-stereotypical
    (authors' file).

    BUG's section 3 has 1,868 words of WinoMT, and twice as many sentences of professions that mostly
    men have: in Gold BUG 772 + 120 against 300 + 91.
    """
    found = describe(load_entities("bug-gold-paper", shared / "data" / "bug"))
    assert found.sentences == 1718
    rows = [
        (str(row["class"]).partition(",")[0], row["male"], row["female"])
        for row in found.histograms
    ]
    assert [men + women for name, men, women in rows if name == "stereotype"] == [420, 435, 863]  # type: ignore[operator]
    # Nine rows of the file say 0 pronouns; two have none by our count (scraps).
    pronouns = {str(row["class"]): (row["male"], row["female"]) for row in found.histograms}
    assert (pronouns["corpus_pronouns, 0"], pronouns["pronouns, 0"]) == ((9, 0), (1, 1))
    occupations = [men + women for name, men, women in rows if name == "occupation"]  # type: ignore[operator]
    assert occupations == [772 + 120, 300 + 91]
    domains = [of for name, *of in rows if name == "domain"]
    assert [sum(map(int, of)) for of in zip(*domains, strict=True)] == [1335, 383]
    assert describe(load_entities("winomt", shared / "data" / "winomt")).vocabulary == 1868
