"""Human labels row by row: entities, heads, what is refused, and the public labels."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from mtbias.corpora import load_corpus
from mtbias.corpora.human_labels import HumanLabel, read_label_file
from mtbias.errors import DataError
from mtbias.types import Span

ROW = {
    "lang": "de",
    "system": "S",
    "source": "The guard met the construction worker.",
    "target": "Die Wache traf den Bauarbeiter.",
    "label": "m",
    "usable": "1",
    "annotator": "1",
    "winomt_index": "7",
    "entity": "the construction worker",
    "word_index": "4",
    "basis": "N",
    "head_index": "4",
}


def _write(path: Path, *changes: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerows(ROW | change for change in changes)
    return path


def _read(tmp_path: Path, **change: str) -> HumanLabel:
    (label,) = read_label_file(_write(tmp_path / "labels.csv", change)).labels("de")
    return label


def test_another_annotator_needs_the_column(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    row = {key: value for key, value in ROW.items() if key != "annotator"}
    path.write_text(
        "\n".join("\t".join(line) for line in (row, row.values())) + "\n", encoding="utf-8"
    )
    assert len(read_label_file(path).labels("de")) == 1
    with pytest.raises(
        DataError, match="expected the column annotator, for the rows of '2'; leave --annotator out"
    ):
        read_label_file(path).labels("de", "2")


def test_a_row_in_full(tmp_path: Path) -> None:
    label = _read(tmp_path)
    assert label == HumanLabel(
        id="line-2",
        line=2,
        system="S",
        source=ROW["source"],
        target=ROW["target"],
        label="m",
        head=Span(
            31, 37
        ),  # worker, the head of the phrase that starts at token 4, without the full stop
        entity="construction worker",
        basis="N",
        target_head=Span(19, 31),  # "Bauarbeiter." as it stands between blanks
    )
    assert label.source[slice(*label.head)] == "worker"
    assert label.target[slice(*label.target_head or (0, 0))] == "Bauarbeiter."


@pytest.mark.parametrize(
    "entity", ["the construction worker", "A construction worker", "construction worker"]
)
def test_an_article_before_the_entity_does_not_count(tmp_path: Path, entity: str) -> None:
    assert _read(tmp_path, entity=entity).entity == "construction worker"


def test_what_may_be_left_empty(tmp_path: Path) -> None:
    label = _read(tmp_path, basis="", head_index="")
    assert (label.basis, label.target_head) == (None, None)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": "x"}, "expected a label m, f or n in a usable row, got 'x'"),
        ({"label": ""}, "expected a label m, f or n in a usable row, got ''"),
        ({"usable": "7"}, "usable: expected 1, 0 or nothing, got '7'"),
        ({"usable": "yes"}, "usable: expected 1, 0 or nothing, got 'yes'"),
        ({"basis": "Q"}, "basis: expected N, D, V, P, C, X or nothing, got 'Q'"),
        ({"head_index": "5"}, "head_index 5 is beyond the target's 5 tokens"),
        ({"head_index": "one"}, "head_index"),
        ({"word_index": "-1"}, "word_index"),
        ({"entity": "The nurse"}, "the entity 'nurse' is not in the source"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    path = _write(tmp_path / "labels.csv", {}, change)
    with pytest.raises(DataError, match=says) as caught:
        read_label_file(path).labels("de")
    assert (caught.value.path, caught.value.line) == (str(path), 3)


def test_a_mark_that_pandas_wrote_is_read(tmp_path: Path) -> None:
    path = _write(tmp_path / "labels.csv", {"usable": "1.0"}, {"usable": "0.0"})
    assert [label.line for label in read_label_file(path).labels("de")] == [2]


def test_rows_that_are_not_usable_may_hold_anything(tmp_path: Path) -> None:
    path = _write(tmp_path / "labels.csv", {"usable": "0", "label": "", "entity": "nobody"}, {})
    assert [label.line for label in read_label_file(path).labels("de")] == [3]


def test_the_public_labels(shared: Path, winomt: Path) -> None:
    # Counted with Python's csv module, not with our reader.
    path = shared / "data" / "human_agreement" / "dev.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    usable = Counter((r["lang"], r["annotator"]) for r in rows if r["usable"] == "1")
    assert sum(count for (_, annotator), count in usable.items() if annotator == "1") > 300
    instances = {i.row: i for i in load_corpus("winomt", winomt).instances}
    labels = read_label_file(path)
    for (lang, annotator), count in usable.items():
        found = labels.labels(lang, annotator)
        assert len(found) == count
        for label in found:
            row = rows[
                int(label.id.removeprefix("line-")) - 2
            ]  # no field of this file holds a line break
            assert (label.source, label.target, label.label) == (
                row["source"],
                row["target"],
                row["label"],
            )
            instance = instances[int(row["winomt_index"])]
            assert (label.entity, label.source[slice(*label.head)].lower()) == (
                instance.entity,
                instance.source[slice(*instance.head)].lower(),
            )
            if label.target_head is not None:
                assert (
                    row["target"][slice(*label.target_head)]
                    == row["target"].split()[int(row["head_index"])]
                )
