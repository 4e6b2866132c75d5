"""The script that measures how right finds are."""

from __future__ import annotations

import math
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.mining.confidence import TERMS, ConfidenceModel, shipped_model
from mtbias.mining.mined_rows import Occupations
from mtbias.mining.patterns import read_patterns
from mtbias.types import Gender
from scripts.mining_precision import (
    LABELS,
    ReadFind,
    fitted,
    found_again,
    readings,
    report,
    unseen_patterns,
    write_weights,
)
from scripts.mining_texts import plain_text
from tests.mining.small_trees import tree

HEADER = "file\tline\tprofession_at\tpronoun_at\tprofession\tpronoun\tline_sha256\tsample\tfirst\tsecond\tlabel\n"
TEXT = "Ann saw it. The nurse lost her pen and his book"
NURSES = Occupations({"nurse": Gender.FEMALE}, sha256="")
PATTERNS = read_patterns()
# The nurse lost her pen and his book: pattern 11 finds her, and, as a conjunct has the role of the
# first, his.
LOST = tree(
    "The/2/det/DT nurse/3/nsubj/NN lost/0/root/VBD her/5/nmod:poss/PRP$ pen/3/obj/NN and/8/cc/CC his/8/nmod:poss/PRP$ "
    "book/5/conj/NN"
)


def labels(folder: Path, digest: str) -> Path:
    path = folder / "finds.tsv"
    row = f"ward.txt\t2\t16\t27\tnurse\ther\t{digest}\t2\tright\tright\tright\n"
    path.write_text(HEADER + row, encoding="utf-8")
    return path


def test_a_find_that_was_read_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "ward.txt").write_text(f"Nothing\n{TEXT}\n", encoding="utf-8")
    (reading,) = readings(tmp_path, labels(tmp_path, sha256(TEXT.encode()).hexdigest()[:12]))
    assert TEXT[16:21] == "nurse"
    assert TEXT[27:30] == "her"
    (again,), unread = found_again(reading, [(12, LOST)], PATTERNS, NURSES)
    assert (again.place, again.label, again.sample, again.pattern) == (
        ("ward.txt", 2, 16, 27),
        "right",
        2,
        "11",
    )
    assert (again.authors_reason, set(again.values[:-1])) == (None, {0.0})
    assert again.values[-1] == math.log(2)
    assert again.around == "annsawitthenurselostherpenandhisbook"
    assert unread == 1  # his


def test_another_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ward.txt").write_text(f"Nothing\n{TEXT}\n", encoding="utf-8")
    with pytest.raises(DataError, match="the paragraph is not the one"):
        readings(tmp_path, labels(tmp_path, "0" * 12))
    (tmp_path / "ward.txt").unlink()
    with pytest.raises(DataError, match=r"mining_texts\.py"):
        readings(tmp_path, labels(tmp_path, "0" * 12))


def made(term: str | None, right: int, wrong: int) -> list[ReadFind]:
    values = tuple(float(name == term) for name in TERMS)
    place = ("ward.txt", 1, 0, 1)
    return [
        ReadFind(
            place, "right" if n < right else "wrong", 1, "A", "11", Gender.MALE, None, values, ""
        )
        for n in range(right + wrong)
    ]


def test_the_fit_is_the_log_odds_but_for_the_penalty() -> None:
    # 3 : 1 right without a doubt, 1 : 3 with one, 400 finds each. With intercept a and weight w the
    # gradient is 0 where 400 s(a + w) = 100 - w and 400 s(a) = 300 + w (s: the logistic function):
    # a = -a - w = ln(297.86 / 102.14) = 1.07, w = -2.14; without the penalty they were ln 3 = 1.10
    # and -2 ln 3 = -2.20.
    model = fitted([*made(None, 300, 100), *made("owned", 100, 300)])
    assert (model.intercept, model.weights["owned"]) == (1.07, -2.14)
    assert model.weights["between"] == 0


def test_the_tables_count_by_hand() -> None:
    finds = [*made(None, 3, 1), *made("owned", 1, 3)]
    lines = list(report(finds, ConfidenceModel(0.0, dict.fromkeys(TERMS, 0.0))))
    assert lines[1].split()[:6] == ["all", "finds", "8", "100.0%", "4", "50.0%"]
    assert any(
        line.split()[:6] == ["confidence", "of", "at", "least", "0.5", "8"] for line in lines
    )
    assert any(
        line.split() == ["confidence", "of", "at", "least", "0.6", "0", "0.0%"] for line in lines
    )


def test_a_pattern_that_the_model_has_not_seen() -> None:
    # Fitted on pattern 11's 300 right of 400 alone; pattern 2's finds are of half B, and 1 of 4
    # right.
    unseen = [
        replace(each, pattern=name, half="B")
        for each in made(None, 1, 3)
        for name in ("2", "2-conjunct")
    ]
    ((family, n, mean, right),) = unseen_patterns([*made(None, 300, 100), *unseen])
    assert (family, n, right) == ("2", 8, 0.25)
    assert mean == pytest.approx(0.75, abs=0.005)


def test_weights_are_written_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "confidence.toml"
    path.write_text("# Where from.\n\nintercept = 0\n", encoding="utf-8")
    write_weights(shipped_model(), path)
    shipped = Path("mtbias/mining/confidence.toml").read_text(encoding="utf-8")
    assert (
        path.read_text(encoding="utf-8").partition("intercept")[2]
        == shipped.partition("intercept")[2]
    )
    assert path.read_text(encoding="utf-8").startswith("# Where from.\n")


def test_the_labels_that_ship_agree_with_their_readings() -> None:
    rows = [line.split("\t") for line in LABELS.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) == 816
    assert all(
        label == (first if first == second else "unsure") for *_, first, second, label in rows
    )


def test_wikipedias_markup_goes() -> None:
    markup = (
        "'''Ann'''<ref name=a/> was a [[nurse|head nurse]]<ref>x</ref> {{born|{{year|1900}}}}in [http://a.b Paris]."
        "<!-- -->[[File:A.jpg|thumb|at [[work]]]]"
    )
    assert plain_text(markup) == "Ann was a head nurse in Paris."
