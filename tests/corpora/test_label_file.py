"""Human labels: the file is read once, and says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.corpora.human_labels import read_label_file
from mtbias.errors import DataError
from mtbias.types import Gender, Instance, Span, Stereotype

HEADER = "lang\tsystem\tsource\ttarget\tlabel\tusable\tannotator\twinomt_index"
ROW = "de\tS\tThe cook left.\tDie Köchin ging.\tf\t1\t1\t7"


def put(folder: Path, *lines: str, name: str = "labels.tsv") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def cook(source: str = "The cook left.") -> Instance:
    return Instance(
        "winomt-00008", 7, source, Span(4, 8), "cook", Gender.FEMALE, Stereotype.NONE, "d", 0
    )


def test_the_file_is_read_once(tmp_path: Path) -> None:
    path = put(tmp_path, f"{HEADER}\tentity\tword_index", f"{ROW}\tThe cook\t1")
    file = read_label_file(path)
    path.unlink()
    assert not file.needs_winomt
    (label,) = file.labels("de")
    assert (label.id, label.line, label.label, label.head, label.entity) == (
        "line-2",
        2,
        "f",
        Span(4, 8),
        "cook",
    )


def test_labels_of_ones_own_need_neither_marks_nor_annotator(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "lang\tsource\ttarget\tlabel\tentity\tword_index",
        "de\tThe cook left.\tSie ging.\tf\tcook\t1",
    )
    (label,) = read_label_file(path).labels("de")
    assert (label.system, label.label, label.head, label.basis) == ("", "f", Span(4, 8), None)
    with pytest.raises(
        DataError,
        match=r":1: expected the columns 'entity' and 'word_index', or 'winomt_index'; got",
    ):
        read_label_file(put(tmp_path, "lang\tsource\ttarget\tlabel\tentity", "de\tA.\tB.\tf\tcook"))


def test_a_file_without_places_takes_them_from_winomt(tmp_path: Path) -> None:
    path = put(tmp_path, HEADER, ROW)
    file = read_label_file(path)
    assert file.needs_winomt
    with pytest.raises(
        DataError, match=r"labels\.tsv:1: without the columns entity and word_index .* --data"
    ):
        file.labels("de")
    assert file.labels("de", "1", {7: cook()})[0].head == Span(4, 8)
    assert read_label_file(path).labels("de", winomt={7: cook()}) == file.labels(
        "de", "1", {7: cook()}
    )
    for winomt, found in (({}, "no such row"), ({7: cook("Another one.")}, "'Another one.'")):
        with pytest.raises(DataError, match=f"2: row 7 of WinoMT is not this sentence: {found}"):
            file.labels("de", "1", winomt)


def test_only_the_wanted_rows_count(tmp_path: Path) -> None:
    second, unusable = ROW.replace("\t1\t1\t", "\t1\t2\t"), ROW.replace("\t1\t1\t", "\t0\t1\t")
    file = read_label_file(put(tmp_path, HEADER, unusable, second, ROW, second))
    assert [label.line for label in file.labels("de", "1", {7: cook()})] == [4]
    assert [label.line for label in file.labels("de", "2", {7: cook()})] == [3, 5]
    with pytest.raises(DataError, match="no usable rows of annotator '3' in 'de'"):
        file.labels("de", "3", {7: cook()})
    with pytest.raises(DataError, match="no rows of language 'ru'; the file has de"):
        file.labels("ru", "1", {7: cook()})


def test_a_file_of_another_kind_and_an_object_without_a_source_are_data_errors(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        DataError, match=r"expected the column 'target', .*; got 'lang', 'system', 'source'"
    ):
        read_label_file(put(tmp_path, "lang\tsystem\tsource", "de\tS\tA."))
    names = (*HEADER.split("\t"), "entity", "word_index")
    whole = ", ".join(
        f'"{name}": "{value}"'
        for name, value in zip(names, (*ROW.split("\t"), "cook", "1"), strict=True)
    )
    path = put(
        tmp_path,
        f"{{{whole}}}",
        '{"lang": "de", "label": "f", "usable": 1, "annotator": 1, "entity": "cook", "word_index": 1}',
        name="labels.jsonl",
    )
    with pytest.raises(DataError, match=r"labels\.jsonl:2: the entity 'cook' is not in the source"):
        read_label_file(path).labels("de")
