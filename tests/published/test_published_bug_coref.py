"""Gold BUG in the paper's first version (Levy et al., Findings of EMNLP 2021): facts of the file,
three rule systems.

Table 4 of the paper (SpanBERT 65.1/10.2/6.0) needs predictions that are not at hand.
"""

from __future__ import annotations

from collections import Counter
from math import floor
from pathlib import Path

import pytest

from mtbias.coref.bug_links import Bug, read_bug
from mtbias.coref.dataset import DatasetScores
from mtbias.coref.documents import Answers, Clusters
from mtbias.types import Gender, Stereotype

PRONOUNS = {"he", "him", "his", "himself", "she", "her", "hers", "herself"}


@pytest.fixture(scope="module")
def data(shared: Path) -> Bug:
    return read_bug(shared / "data" / "bug")


def test_how_many_times_the_size_of_other_data_sets(shared: Path) -> None:
    """Section 3: BUG's 108K sentences are "more than 24 times" GAP and "more than 30 times" WinoMT.
    By the files 108,000 / 4,454 = 24.2 and 108,000 / 3,888 = 27.8."""
    gap = [*(shared / "data" / "coref" / "gap").glob("gap-*.tsv")]
    if len(gap) != 3:
        pytest.skip(f"no GAP at {shared / 'data' / 'coref' / 'gap'}")
    texts = sum(len(path.read_text(encoding="utf-8").splitlines()) - 1 for path in gap)
    assert texts == 4_454
    winomt = (shared / "data" / "winomt" / "en.txt").read_text(encoding="utf-8").splitlines()
    assert len(winomt) == 3_888
    assert 108_000 / texts == pytest.approx(24.2, abs=0.05)
    assert 108_000 / len(winomt) == pytest.approx(27.8, abs=0.05)


def _score(data: Bug, answers: dict[str, Clusters]) -> DatasetScores:
    return data.score(Answers(answers, {}), resamples=0)


def test_rows(data: Bug) -> None:
    assert (len(data.rows), data.skipped) == (1719, 1)
    assert Counter(row.gender for row in data.rows) == {Gender.MALE: 1336, Gender.FEMALE: 383}
    stereotypes = Counter(row.stereotype for row in data.rows)
    assert stereotypes == {Stereotype.PRO: 864, Stereotype.NONE: 435, Stereotype.ANTI: 420}
    domains = Counter(row.domain for row in data.rows)
    assert domains == {"wikipedia": 1107, "pubmed": 405, "covid19": 117, "perseus": 90}
    assert len({row.words for row in data.rows}) == 1719 - 9  # sentences that occur twice


def test_distances_and_pronouns(data: Bug) -> None:
    assert all(row.distance == abs(row.profession - row.pronoun) for row in data.rows)
    assert (min(row.distance for row in data.rows), max(row.distance for row in data.rows)) == (
        1,
        52,
    )
    pronouns = Counter(row.corpus_pronouns for row in data.rows)
    assert (min(pronouns), max(pronouns), pronouns[0]) == (0, 11, 9)


def test_pronouns_of_figure_5_are_the_corpuss_column(data: Bug) -> None:
    """Figure 5, of Full BUG: 65 %, 24 %, 8 %, 3 % have 1, 2, 3, 4 pronouns; Gold BUG's column is
    within 1.5 points.

    mtbias counts *him* too, so that fewer sentences have a single pronoun.
    """
    printed = [65, 24, 8, 3]
    column, own = (
        [100 * counts[n] / len(data.rows) for n in range(1, 5)]
        for counts in (
            Counter(row.corpus_pronouns for row in data.rows),
            Counter(row.pronouns for row in data.rows),
        )
    )
    assert column == pytest.approx(printed, abs=1.5)
    assert own[0] < 62


def test_indices(data: Bug) -> None:
    """1,688 rows have both words where the indices say."""
    assert sum(not row.misplaced for row in data.rows) == 1688


def test_the_bin_on_which_the_official_script_stops(data: Bug) -> None:
    """Bin 10 (50 to 54 words) has two stereotypical rows and no other: ΔS divides by zero there,
    here it is None."""
    scores = _score(data, {row.id: () for row in data.rows})
    last = scores.counts["distance 50-54"]
    assert (last["stereotypical"], last["anti"], last["all"]) == (2, 0, 2)
    assert scores["distance 50-54", "delta_s"].value is None
    assert scores["accuracy"].value == scores["delta_s"].value == 0


def test_one_mention_of_the_whole_sentence_links_what_lies_inside_it(data: Bug) -> None:
    """An index past the sentence is in no mention: 4 rows (3 cut off, 1 sentence with the index one
    too far)."""
    answers: dict[str, Clusters] = {row.id: (((0, len(row.words) - 1),),) for row in data.rows}
    counts = _score(data, answers).counts["all"]
    assert (counts["all"], counts["all, right"]) == (1719, 1715)


def _nearest(data: Bug) -> dict[str, Clusters]:
    """Every pronoun with the nearest profession word before it, in one cluster for each profession
    word."""
    professions = {row.words[row.profession].lower() for row in data.rows if not row.misplaced}
    answers: dict[str, Clusters] = {}
    for row in data.rows:
        lower = [word.lower() for word in row.words]
        clusters: dict[int, list[tuple[int, int]]] = {}
        for at, word in enumerate(lower):
            before = [place for place in range(at) if lower[place] in professions]
            if word in PRONOUNS and before:
                clusters.setdefault(before[-1], [(before[-1], before[-1])]).append((at, at))
        answers[row.id] = tuple(tuple(cluster) for cluster in clusters.values())
    return answers


def _official(rows: list[tuple[int, str, int]]) -> tuple[float, float, float]:
    """Accuracy, ΔG and ΔS from (correct, gender, stereotype), as evaluate_coref.py of SLAB-NLP/BUG
    defines them."""

    def accuracy(hits: list[int]) -> float:
        return sum(hits) / len(hits) * 100

    male, female = (
        [hit for hit, gender, _ in rows if gender == wanted] for wanted in ("male", "female")
    )
    pro, anti = ([hit for hit, _, side in rows if side == wanted] for wanted in (1, -1))
    return (
        accuracy([hit for hit, _, _ in rows]),
        accuracy(male) - accuracy(female),
        accuracy(pro) - accuracy(anti),
    )


def test_a_rule_system_scores_as_by_the_official_definitions(data: Bug) -> None:
    """Written anew from the official script's definitions, row by row, without sharing code."""
    answers = _nearest(data)
    sides = {Stereotype.PRO: 1, Stereotype.NONE: 0, Stereotype.ANTI: -1}
    rows: list[tuple[int, str, int]] = []
    by_bin: dict[int, list[tuple[int, str, int]]] = {}
    for row in data.rows:
        found = [
            {
                n
                for n, cluster in enumerate(answers[row.id])
                for start, end in cluster
                if start <= index <= end
            }
            for index in (row.profession, row.pronoun)
        ]
        rows.append((min(1, len(found[0] & found[1])), str(row.gender), sides[row.stereotype]))
        by_bin.setdefault(floor(row.distance / 5), []).append(rows[-1])
    scores = _score(data, answers)

    def values(part: str) -> tuple[float | None, ...]:
        return tuple(scores[part, key].value for key in ("accuracy", "delta_g", "delta_s"))

    assert values("") == pytest.approx(_official(rows))
    for bin_ in range(9):  # all sides are there in these
        assert values(f"distance {5 * bin_}-{5 * bin_ + 4}") == pytest.approx(
            _official(by_bin[bin_])
        )
    assert 0 < (scores["accuracy"].value or 0) < 100
