"""GAP and Counter-GAP from clusters: the authors' rule, ids, and what the commands say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.coref.documents import Clusters
from mtbias.coref.gap import Gap, labels_of
from mtbias.coref.gap_data import COLUMNS, GapFile, Labels, mentions_of, read_instances, text_of
from mtbias.errors import DataError

#  0  1     2      3 4   5   6   7     8    9  10
# Dr. Ann  Lee met Eve 's  aunt before  she  left .
TEXT = "Dr. Ann Lee met Eve's aunt before she left."


def _row(id_: str, text: str, pronoun: str, a: str, b: str, right: str) -> str:
    places = [
        pronoun,
        text.index(f" {pronoun}") + 1,
        a,
        text.index(a),
        str(right == "A").upper(),
        b,
        text.index(b),
    ]
    return "\t".join(map(str, [id_, text, *places, str(right == "B").upper()]))


@pytest.fixture
def data(tmp_path: Path) -> GapFile:
    rows = [
        "\t".join(COLUMNS),
        _row("test-1", TEXT, "she", "Ann Lee", "Eve", "A"),
        _row("test-2", TEXT.replace("she", "he"), "he", "Ann Lee", "Eve", ""),
        _row("test-3", TEXT, "she", "Ann Lee", "Eve", "B"),
    ]
    path = tmp_path / "gap-test.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return read_instances(path)


def test_the_tokens_and_what_is_asked(data: GapFile) -> None:
    text = text_of(data.instances[0])
    assert text.tokens == (
        "Dr",
        ".",
        "Ann",
        "Lee",
        "met",
        "Eve",
        "'s",
        "aunt",
        "before",
        "she",
        "left",
        ".",
    )
    assert mentions_of(data.instances[0]) == ((9, 9), (2, 3), (5, 5))
    assert text.gold == (((2, 3), (9, 9)),)
    assert text_of(data.instances[1]).gold == ()
    assert text.sentences == (
        text.tokens,
    )  # "Dr." ends no sentence, and what ends the text ends nothing else


@pytest.mark.parametrize(
    ("clusters", "labels"),
    [
        ((((2, 3), (9, 9)),), (True, False)),
        ((((0, 3), (9, 9)),), (True, False)),  # around A
        ((((3, 3), (9, 9)),), (True, False)),  # within A
        ((((0, 2), (9, 9)),), (False, False)),  # neither within nor around
        ((((5, 7), (9, 9)),), (False, True)),  # "Eve's aunt" is around B: the rule takes it
        ((((2, 3), (5, 5), (9, 9)),), (True, True)),
        ((((2, 3), (8, 9)),), (False, False)),  # the pronoun is no mention of its own
        ((((2, 3), (5, 5)),), (False, False)),
        (
            (((5, 5), (9, 9)), ((2, 3), (9, 9))),
            (False, True),
        ),  # the first cluster of the pronoun counts
        ((), (False, False)),
    ],
)
def test_the_rule(data: GapFile, clusters: Clusters, labels: tuple[bool, bool]) -> None:
    assert labels_of(data.instances[0], clusters) == Labels(*labels)


def _lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_clusters_are_told_from_labels_by_content(data: GapFile, tmp_path: Path) -> None:
    path = tmp_path / "system.tsv"
    path.write_text("test-1\tTRUE\tFALSE\n", encoding="utf-8")
    labels = Gap(data).read([path])
    assert (labels.of, labels.signed) == ({"test-1": (True, False)}, {})
    rows = [
        {"id": "test-1", "clusters": [[[2, 3], [9, 9]]]},
        {"id": "test-2", "clusters": []},
    ]
    labels = Gap(data).read([_lines(path, *rows)])
    assert labels.signed == {"labels": "pronoun's-cluster"}
    assert labels.of == {"test-1": (True, False), "test-2": (False, False)}
    # test-3 has no answer: counted as in a table of labels.
    assert labels.notes == ("1 examples without an answer (each counts as two false negatives)",)


def test_the_word_pieces_of_the_authors(data: GapFile, tmp_path: Path) -> None:
    pieces = [
        "[CLS]",
        "Dr",
        ".",
        "Ann",
        "Lee",
        "met",
        "Eve",
        "'",
        "s",
        "aunt",
        "before",
        "s",
        "##he",
        "left",
        ".",
        "[SEP]",
    ]
    row = {
        "doc_key": "test-1",
        "sentences": [pieces],
        "clusters": [],
        "predicted_clusters": [[[6, 6], [11, 12]]],
    }
    labels = Gap(data).read([_lines(tmp_path / "p.jsonl", row)], spans="included")
    assert labels.of == {"test-1": (False, True)}


def test_the_commands(data: GapFile, tmp_path: Path, coref: Callable[..., str]) -> None:
    rows = [
        {"id": "test-1", "clusters": [[[2, 4], [9, 10]]]},
        {"id": "test-2", "clusters": []},
        {"id": "test-3", "clusters": [[[2, 4], [9, 10]]]},
    ]
    path = _lines(tmp_path / "p.jsonl", *rows)
    arguments = ["score", "gap", "--data", data.path, "--predictions", path, "--resamples", 0]
    with pytest.raises(
        DataError,
        match=r"cannot tell what mentions count: \[2, 4\] is 'Ann Lee met' as tokens with the",
    ):
        coref(*arguments)
    for spans, expected in (("excluded", [1, 1, 1, 3]), ("included", [0, 0, 2, 4])):
        (found,) = json.loads(coref(*arguments, "--spans", spans, "--json"))["systems"]
        counts = found["counts"]["overall"]
        # Right once (test-1's A), wrong once (test-3's A), missed once (test-3's B).
        assert [counts[key] for key in ("tp", "fp", "fn", "tn")] == expected
        assert ("|labels:pronoun's-cluster|spans:excluded|" in found["signature"]) == (
            spans == "excluded"
        )
