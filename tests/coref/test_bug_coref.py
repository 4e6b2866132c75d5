"""BUG as a coreference data set, on rows of our own: links, groups, what is undefined, bad input,
the command."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mtbias.coref.bug_links import Bug, linking_clusters, read_bug
from mtbias.coref.dataset import DatasetScores
from mtbias.coref.documents import Clusters
from mtbias.errors import DataError

COLUMNS = [
    "", "sentence_text", "profession", "g", "profession_first_index", "g_first_index", "predicted gender", "stereotype",
    "corpus", "distance", "num_of_pronouns",
]  # fmt: skip

# Sentence, profession, pronoun, their indices, gender, stereotype, corpus, distance, pronouns.
ROWS = [
    ("The baker sold his shop .", "baker", "his", 1, 3, "Male", "-1", "wikipedia", 2, 1),
    ("The baker sold her shop .", "baker", "her", 1, 3, "Female", "1", "wikipedia", 2, 1),
    (
        "The pilot who came late said that he slept .",
        "pilot",
        "he",
        1,
        7,
        "male",
        "1",
        "pubmed",
        6,
        2,
    ),
    ("", "guard", "he", 1, 7, "Male", "1", "pubmed", 6, 2),
    (" A guest  lost his hat .\n", "guest", "his", 1, 4, "Male", "0", "covid19", 3, 0),
    ("The pilot hid .", "pilot", "she", 1, 9, "Female", "-1", "pubmed", 8, 1),
]


def _csv(path: Path, rows: list[tuple[object, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([(number, *row) for number, row in enumerate(rows)])
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return _csv(tmp_path / "gold_BUG.csv", list(ROWS))


@pytest.fixture
def data(file: Path) -> Bug:
    return read_bug(file)


def _predictions(folder: Path, answers: Mapping[int, Clusters]) -> Path:
    path = folder / "p.jsonl"
    rows = [{"id": row, "clusters": clusters} for row, clusters in answers.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


LINKED: dict[int, Clusters] = {
    0: (((0, 1), (3, 3)),),
    1: (((1, 1),), ((3, 3),)),
    2: (((0, 4), (7, 7)),),
    4: (((0, 1), (4, 4)),),
    5: (((0, 3),),),
}
"""Right in rows 0, 2 and 4."""


def _score(
    data: Bug, folder: Path, answers: Mapping[int, Clusters], resamples: int = 0
) -> DatasetScores:
    answered = data.read([_predictions(folder, answers)], spans="included")
    return data.score(answered, resamples=resamples)


def _values(scores: DatasetScores, part: str = "") -> tuple[float | None, ...]:
    return tuple(scores[part, key].value for key in ("accuracy", "delta_g", "delta_s"))


def _shares(
    scores: DatasetScores, part: str, *kinds: str
) -> list[tuple[float | None, float | None]]:
    """Right and all rows of each kind."""
    return [(scores.counts[part][f"{kind}, right"], scores.counts[part][kind]) for kind in kinds]


def test_rows(data: Bug) -> None:
    assert [row.id for row in data.rows] == ["0", "1", "2", "4", "5"]
    assert data.skipped == 1
    # Blanks around the sentence go; the doubled one inside makes an empty word, as the indices
    # count it.
    assert data.rows[3].words == ("A", "guest", "", "lost", "his", "hat", ".")
    assert [row.misplaced for row in data.rows] == [False, False, False, False, True]


@pytest.mark.parametrize(
    ("clusters", "n"),
    [
        ((((1, 1), (3, 3)),), 1),
        ((((0, 1), (3, 4)),), 1),  # the first and the last word of a mention count
        ((((1, 2), (3, 3)),), 1),
        ((((0, 5),),), 1),  # one mention that holds both
        ((((2, 2), (3, 3)),), 0),
        ((((1, 1),), ((3, 3),)), 0),
        ((((1, 1), (3, 3)), ((0, 1), (3, 4))), 2),
        ((), 0),
    ],
)
def test_a_cluster_contains_words_with_both_ends(clusters: Clusters, n: int) -> None:
    assert linking_clusters(clusters, 1, 3) == n


def test_accuracy_and_gaps(data: Bug, tmp_path: Path) -> None:
    scores = _score(data, tmp_path, LINKED)
    # Row 4 is on neither side.
    kinds = ("all", "male", "female", "stereotypical", "anti")
    assert _shares(scores, "all", *kinds) == [(3, 5), (3, 3), (0, 2), (1, 2), (1, 2)]
    assert _values(scores) == (60, 100, 0)
    assert [scores[key].n for key in ("accuracy", "delta_g", "delta_s")] == [5, 5, 4]


def test_groups(data: Bug, tmp_path: Path) -> None:
    scores = _score(data, tmp_path, LINKED, resamples=100)
    # By our count and the file's: row 2 has 1 and 2 pronouns, row 4 has 1 and 0, row 5 has 0 and 1.
    assert {part: _shares(scores, part, "all")[0] for part in scores.counts if part != "all"} == {
        "distance 0-4": (2, 3), "distance 5-9": (1, 2), "pronouns 0": (0, 1), "pronouns 1": (3, 4),
        "corpus pronouns 0": (1, 1), "corpus pronouns 1": (1, 3), "corpus pronouns 2": (1, 1),
        "covid19": (1, 1), "pubmed": (1, 2), "wikipedia": (1, 2),
    }  # fmt: skip
    assert _values(scores, "distance 0-4")[1:] == (100, -100)
    # ΔS of one row that is wrong (0 %) and one that is right (100 %): Wilson's ends of these are
    # [0, u] and [100 − u, 100] with u = 100·z² / (1 + z²) = 79.35. Newcombe's of the difference:
    # −100 − √(0² + 0²) and −100 + √(u² + u²).
    u = 100 * 1.959964**2 / (1 + 1.959964**2)
    assert scores["distance 0-4", "delta_s"].interval == pytest.approx((-100, -100 + 2**0.5 * u))
    # ΔG of one man that is right and one woman that is not, the other way round.
    assert scores["distance 5-9", "delta_g"].interval == pytest.approx((100 - 2**0.5 * u, 100))
    # One side is missing: no number, no crash.
    assert _values(scores, "corpus pronouns 2") == (100, None, None)
    assert [scores["corpus pronouns 2", key].interval for key in ("delta_g", "delta_s")] == [
        None,
        None,
    ]


def test_a_row_in_two_clusters_counts_once(data: Bug, tmp_path: Path) -> None:
    note = "linked by more than one cluster, counted once: 1 rows"
    scores = _score(data, tmp_path, {**LINKED, 0: (((0, 1), (3, 3)), ((1, 1), (3, 4)))})
    assert note in scores.notes
    assert _shares(scores, "all", "all") == [(3, 5)]
    # The same mentions in both clusters: BUG's script knows no repeated mention, and nothing is
    # dropped here.
    assert note in _score(data, tmp_path, {**LINKED, 0: (((0, 1), (3, 3)), ((0, 1), (3, 3)))}).notes


def test_the_order_of_bins_is_that_of_numbers(tmp_path: Path) -> None:
    rows = [
        (*ROWS[0][:8], distance, pronouns) for distance, pronouns in ((52, 11), (7, 2), (104, 1))
    ]
    data = read_bug(_csv(tmp_path / "b.csv", list(rows)))
    parts = list(_score(data, tmp_path, dict.fromkeys(range(3), ())).counts)
    assert parts[1:4] == ["distance 5-9", "distance 50-54", "distance 100-104"]
    assert parts[4:8] == [
        "pronouns 1",
        "corpus pronouns 1",
        "corpus pronouns 2",
        "corpus pronouns 11",
    ]


def _with_index(path: Path, rows: dict[object, tuple[object, ...]]) -> Path:
    """A file of `rows` by what its index says of each."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([(number, *row) for number, row in rows.items()])
    return path


def test_shuffled_rows_keep_their_index_and_their_predictions(data: Bug, tmp_path: Path) -> None:
    # The same rows in another order, two of them left out, with the index that they had.
    shuffled = read_bug(_with_index(tmp_path / "s.csv", {n: ROWS[n] for n in (4, 0, 2, 1)}))
    assert [row.id for row in shuffled.rows] == ["4", "0", "2", "1"]
    answers = {n: LINKED[n] for n in (0, 1, 2, 4)}
    scores = _score(shuffled, tmp_path, answers)
    # Right are 0, 2 and 4; by place it would be what the answers to other sentences say.
    assert _shares(scores, "all", "all") == [(3, 4)]
    note = "row whose number in the file's index is not its place: ids have the number (3 rows)"
    assert note in scores.notes  # 2 stands at place 2
    assert not any(
        "index is not its place" in note for note in _score(data, tmp_path, LINKED).notes
    )
    with pytest.raises(DataError, match=r"id '3': none of the data's documents, .* such as '4'"):
        _score(shuffled, tmp_path, dict.fromkeys(range(4), ()))


@pytest.mark.parametrize(
    "index", [("0", "0", "2"), ("0", "", "2"), ("a", "b", "c"), ("-1", "1", "2")]
)
def test_an_index_that_does_not_tell_rows_apart_is_none(
    tmp_path: Path, index: tuple[str, ...]
) -> None:
    path = _csv(tmp_path / "b.csv", list(ROWS[:3]))
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [f"{mark},{line.partition(',')[2]}" for mark, line in zip(index, lines[1:], strict=True)]
    path.write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")
    assert [row.id for row in read_bug(path).rows] == ["0", "1", "2"]


def test_rows_of_no_corpus_are_a_group_of_their_own(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [ROWS[0], (*ROWS[1][:7], "", *ROWS[1][8:])]
    scores = _score(
        read_bug(_csv(tmp_path / "b.csv", rows)), tmp_path, {0: LINKED[0], 1: LINKED[1]}
    )
    assert _shares(scores, "all", "all") == [(1, 2)]
    assert _shares(scores, "(no corpus)", "all") == [(0, 1)]
    assert (scores["accuracy"].value, scores["accuracy"].n) == (50, 2)


def test_neutral_rows_count_in_accuracy_alone(tmp_path: Path) -> None:
    data = read_bug(_csv(tmp_path / "b.csv", [ROWS[0], (*ROWS[1][:5], "Neutral", *ROWS[1][6:])]))
    scores = _score(data, tmp_path, {0: LINKED[0], 1: LINKED[0]})
    assert _shares(scores, "all", "all", "male", "female") == [(2, 2), (1, 1), (0, 0)]
    assert _values(scores) == (100, None, 0)


def test_intervals_follow_the_seed(data: Bug, tmp_path: Path) -> None:
    answers = data.read([_predictions(tmp_path, LINKED)])
    first, again = (data.score(answers, seed=7, resamples=200) for _ in range(2))
    assert first.numbers == again.numbers
    low, high = first["delta_s"].interval or (0, 0)
    assert low <= 0 <= high


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({**LINKED, 6: ()}, "id '6': none of the data's documents, whose ids are such as '0'"),
        ({**LINKED, 3: ()}, "id '3': none of the data's documents"),  # a row without a sentence
        (
            {row: LINKED[row] for row in (0, 1, 2, 5)},
            "no prediction for 1 of 5 documents, the first '4'",
        ),
        (
            {**LINKED, 5: (((0, 4),),)},
            "id '5': the document has tokens 0 to 3; a mention ends at 4",
        ),
    ],
)
def test_bad_predictions(
    data: Bug, tmp_path: Path, answers: dict[int, Clusters], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        _score(data, tmp_path, answers)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (5, "Unknown", "gender: expected male, female or neutral .*, got 'Unknown'"),
        (6, "2", "stereotype: expected 1, 0 or -1, got '2'"),
        (8, "near", "distance: expected an integer from 0"),
        (3, "-1", "profession_first_index: expected an integer from 0"),
        (9, "", "num_of_pronouns: expected an integer"),
    ],
)
def test_bad_rows(tmp_path: Path, column: int, value: str, message: str) -> None:
    row = (*ROWS[0][:column], value, *ROWS[0][column + 1 :])
    with pytest.raises(DataError, match=message) as caught:
        read_bug(_csv(tmp_path / "b.csv", [ROWS[1], row]))
    assert caught.value.line == 3


def test_a_folder_and_no_file(file: Path, tmp_path: Path) -> None:
    assert list(read_bug(tmp_path).files) == [file.name]
    file.unlink()
    with pytest.raises(DataError, match=r"expected gold_BUG\.csv in this folder"):
        read_bug(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_bug(file)
    (tmp_path / "b.csv").write_text("sentence_text,g\nx,y\n", encoding="utf-8")
    with pytest.raises(DataError, match="column 'profession', "):
        read_bug(tmp_path / "b.csv")


def test_the_command(file: Path, tmp_path: Path, coref: Callable[..., str]) -> None:
    twice = {**LINKED, 0: (((0, 1), (3, 3)), ((1, 1), (3, 4)))}
    argv = [
        "score",
        "bug",
        "--data",
        file,
        "--predictions",
        _predictions(tmp_path, twice),
        "--resamples",
        200,
    ]
    out = coref(*argv)
    assert "accuracy 60.00" in " ".join(out.split())
    assert "without a sentence, left out: 1 of 6 rows" in out
    assert "with another word at an index, counted: 1 rows" in out
    assert "linked by more than one cluster, counted once: 1 rows" in out
    assert "Signature: coref:bug|data:" in out
    (result,) = json.loads(coref(*argv, "--json"))["systems"]
    assert (result["counts"]["all"]["all, right"], result["counts"]["all"]["all"]) == (3, 5)
    values = {(one["part"], one["key"]): one["value"] for one in result["numbers"]}
    assert values["corpus pronouns 2", "delta_s"] is None
    assert values["pronouns 1", "accuracy"] == 75
