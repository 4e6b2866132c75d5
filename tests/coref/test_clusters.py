"""Clusters of a system from JSONL and CoNLL: files, folders, ids, tokens, offsets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias import __version__
from mtbias.coref.documents import Answers, CorefText, repeated
from mtbias.coref.output_reading import read_output
from mtbias.coref.system_files import read_documents
from mtbias.errors import DataError
from mtbias.files.writing import signature_line

TEXTS = [CorefText(id_, ("He", "left", "."), "He left.", ()) for id_ in ("a", "b", "x", "y")]


def _jsonl(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _one(path: Path, row: object) -> Answers:
    return read_output(TEXTS, [_jsonl(path / "p.jsonl", row)])


def test_jsonl_with_text_and_number_ids_tokens_and_other_keys(tmp_path: Path) -> None:
    path = _jsonl(
        tmp_path / "p.jsonl",
        {"id": "a", "clusters": [[[0, 1], [3, 3]], [[2, 2]]], "score": 0.5},
        {"id": 7, "clusters": [], "tokens": ["Hello", "."]},
    )
    (first, second), files = read_documents([path])
    assert (first.id, first.clusters, first.tokens) == ("a", (((0, 1), (3, 3)), ((2, 2),)), None)
    assert (second.id, second.tokens, second.line) == ("7", ("Hello", "."), 2)
    assert list(files) == ["p.jsonl"]


def test_conll_and_jsonl_from_a_folder_and_other_files_passed_over(tmp_path: Path) -> None:
    _jsonl(tmp_path / "b.jsonl", {"id": "b", "clusters": []})
    conll = "#begin document (a); part 000\na 0 0 He (0)\n#end document\n"
    (tmp_path / "a.v4_auto_conll").write_text(conll, encoding="utf-8")
    (tmp_path / "README").write_text("nothing", encoding="utf-8")
    documents, files = read_documents([tmp_path])
    assert {one.id: one.clusters for one in documents} == {"a": (((0, 0),),), "b": ()}
    assert documents[0].tokens == ("He",)
    assert sorted(files) == ["a.v4_auto_conll", "b.jsonl"]


def test_a_folder_without_predictions_and_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file that ends in \.jsonl"):
        read_output(TEXTS, [tmp_path])
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    assert read_output(TEXTS, [tmp_path / "empty.jsonl"]).of == {}


def test_an_id_twice_is_an_error_also_over_files(tmp_path: Path) -> None:
    row = {"id": "a", "clusters": []}
    with pytest.raises(DataError, match=r"in p\.jsonl, line 1, already") as caught:
        read_output(TEXTS, [_jsonl(tmp_path / "p.jsonl", row, row)])
    assert caught.value.line == 2
    first, second = (_jsonl(tmp_path / name, row) for name in ("x.jsonl", "y.jsonl"))
    with pytest.raises(DataError, match=r"in x\.jsonl, line 1, already"):
        read_output(TEXTS, [first, second])
    # The number 1 and the text "1" are one id.
    rows = [{"id": 1, "clusters": []}, {"id": "1", "clusters": []}]
    with pytest.raises(DataError, match="already"):
        read_output([CorefText("1", ("He",), "He", ())], [_jsonl(tmp_path / "p.jsonl", *rows)])


def test_files_of_one_name_in_two_folders_both_count(tmp_path: Path) -> None:
    paths = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        paths.append(_jsonl(tmp_path / name / "p.jsonl", {"id": name, "clusters": []}))
    assert len(read_output(TEXTS, paths).files) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], "got a list"),
        ([{"id": "a", "clusters": []}], "expected a JSON object for each document, got a list"),
        ({"id": "a"}, r"got the keys \['id'\]"),
        ({"clusters": []}, "got the keys"),
        ({"id": [], "clusters": []}, r"id: expected text or a whole number, got \[\]"),
        ({"id": True, "clusters": []}, "got True"),
        ({"id": 1.5, "clusters": []}, r"got 1\.5"),
        ({"id": "", "clusters": []}, "it has no id"),
        ({"id": "a", "clusters": None}, "clusters: expected a list, got None"),
        (
            {"id": "a", "clusters": [[]]},
            "clusters: expected a mention or more in each cluster, got one without",
        ),
        ({"id": "a", "clusters": [[0, 1]]}, r"clusters\.0\.0: expected a list, got 0"),
        ({"id": "a", "clusters": [[[0, 1, 2]]]}, r"clusters\.0\.0"),
        (
            {"id": "a", "clusters": [[[0, 1.0]]]},
            r"clusters\.0\.0\.1: expected a whole number, got 1\.0",
        ),
        ({"id": "a", "clusters": [[[False, True]]]}, r"expected a whole number, got False"),
        ({"id": "a", "clusters": [[["0", "1"]]]}, "expected a whole number, got '0'"),
        ({"id": "a", "clusters": [[[2, 1]]]}, r"0 <= start <= end, got \[2, 1\]"),
        ({"id": "a", "clusters": [[[-1, 1]]]}, r"got \[-1, 1\]"),
        ({"id": "a", "clusters": [], "tokens": "He left"}, "tokens"),
        ({"id": "a", "clusters": [], "tokens": [1]}, "tokens"),
    ],
)
def test_malformed_rows_are_errors(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        _one(tmp_path, row)
    assert caught.value.line == 1


def test_no_json_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('\n{"id": "a", "clusters": []\n', encoding="utf-8")
    with pytest.raises(DataError, match="expected a JSON object") as caught:
        read_output(TEXTS, [tmp_path / "p.jsonl"])
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"id": "a", "clusters": [[[0, 0], [1, 3]]]},
            "id 'a': the document has tokens 0 to 2; a mention ends at 3",
        ),
        (
            {"id": "a", "clusters": [], "tokens": ["HE", "leaves", "."]},
            "token 1 is 'left' in the data set, 'leaves'",
        ),
        (
            {"id": "a", "clusters": [], "tokens": ["HE", "left"]},
            "expected 3 tokens, got 2, which end before '.'",
        ),
        (
            {"id": "c", "clusters": []},
            "id 'c': none of the data's documents, whose ids are such as 'a'; --ids FILE",
        ),
    ],
)
def test_what_is_not_about_the_data_is_an_error(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        _one(tmp_path, row)


def test_tokens_are_those_of_the_data_in_any_case(tmp_path: Path) -> None:
    assert _one(
        tmp_path, {"id": "a", "clusters": [[[0, 0]]], "tokens": ["HE", "left", "."]}
    ).of == {"a": (((0, 0),),)}


def test_repeated_mentions_are_counted_and_kept(tmp_path: Path) -> None:
    predictions = _one(tmp_path, {"id": "a", "clusters": [[[0, 0], [1, 1]], [[1, 1], [2, 2]]]})
    assert sum(map(repeated, predictions.of.values())) == 1
    assert predictions.of["a"] == (((0, 0), (1, 1)), ((1, 1), (2, 2)))


def test_the_signature_names_files_options_and_version() -> None:
    few = {"a": "0" * 64, "b": "1" * 64}
    assert (
        signature_line("coref:bug", {"data": few, "predictions": {}}, {"seed": 3})
        == f"coref:bug|data:000000000000+111111111111|seed:3|mtbias:{__version__}"
    )
    many = {name: digit * 64 for name, digit in zip("abcd", "0123", strict=True)}
    first = signature_line("x", {"data": many}, {})
    assert "(4 files)" in first
    # The hash over all changes with each, and not with their order.
    assert signature_line("x", {"data": many | {"d": "4" * 64}}, {}) != first
    assert signature_line("x", {"data": dict(reversed(many.items()))}, {}) == first
