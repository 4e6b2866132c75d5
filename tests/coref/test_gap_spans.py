"""Names and tokens of GAP's texts, and weights in files: by hand, and files that cannot be
right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mtbias.coref.counterfactual_quadruples import find_names, likely_persons, persons
from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    NameSpans,
    count_tokens,
    distance,
    files_in,
    nearest_first,
    rank_of_antecedent,
    read_name_spans,
    touch,
)
from mtbias.coref.gap_weights import (
    agreement,
    antecedent_of,
    properties,
    read_gap_weights,
    solve_gap_weights,
)
from mtbias.errors import DataError
from mtbias.types import Span
from tests.coref.small_corpora import gap_instance


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("the old house", 3),
        ("Ann's dog, he'd say", 7),  # Ann 's dog , he 'd say
        ("didn't", 2),
        ("a 1-year term", 3),  # spaCy 3 makes four of it
        ("well-known", 3),
        ("1961-73", 3),
        ("mid-1608 at 3.5 or 4/40", 5),
        ("R&B by B.G. Lee", 4),
        ("wait... -- no", 4),
        ("``so''", 5),
        ("(film/TV)", 5),
        ("Ram*n D*az", 2),
    ],
)
def test_tokens(text: str, n: int) -> None:
    assert count_tokens(text) == n


#       0         1         2         3         4
#       0123456789012345678901234567890123456789012345
TEXT = "Ann met Bell, old. Then she left Cora and Dee."


def example(a: bool = True, b: bool = False, **changed: object) -> GapInstance:
    fields: dict[str, object] = {
        "id_": "1", "text": TEXT, "pronoun": "she", "pronoun_offset": 24,
        "a": "Ann", "a_offset": 0, "a_coref": a, "b": "Cora", "b_offset": 33, "b_coref": b,
    }  # fmt: skip
    return gap_instance(**{**fields, **changed})  # type: ignore[arg-type]


def data(*examples: GapInstance) -> GapFile:
    return GapFile(Path("gap.tsv"), "", False, (), examples)


def test_distance_is_in_tokens_between_name_and_pronoun() -> None:
    ann, bell, cora = Span(0, 3), Span(8, 12), Span(33, 37)
    assert [distance(example(), span) for span in (ann, bell, cora)] == [6, 4, 1]
    assert distance(example(), Span(22, 26)) == 0  # over the pronoun
    assert distance(example(), Span(20, 24)) == 0  # up to it
    assert nearest_first(example(), [ann, bell, cora]) == (cora, bell, ann)


def test_rank_is_the_place_of_the_first_name_that_touches_the_antecedent() -> None:
    names = (Span(33, 37), Span(8, 12), Span(0, 3))
    assert rank_of_antecedent(example(), names) == 3
    assert rank_of_antecedent(example(a=False, b=True), names) == 1
    assert rank_of_antecedent(example(a=False), names) is None
    assert rank_of_antecedent(example(), names[:2]) is None


def test_touching() -> None:
    assert touch(Span(0, 3), Span(3, 5))
    assert touch(Span(3, 5), Span(0, 3))
    assert not touch(Span(0, 3), Span(4, 5))


def test_names_from_a_file_in_text_order(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text(json.dumps({"1": [[8, 12, "Bell"], [0, 3, "Ann"]], "2": []}), encoding="utf-8")
    spans = read_name_spans(path, data(example()))
    assert spans.of == {"1": (Span(0, 3), Span(8, 12))}
    assert spans.unknown == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"2": []}', r"expected an entry for every id of gap.tsv, got 1 without '1'"),
        ('{"1": [[0, 3, "Bell"]]}', "expected 'Bell' at 0:3, got 'Ann' in the text"),
        (
            '{"1": [[8, 99, "Bell"]]}',
            "the span 8:99 is not within the text, which has 46 characters",
        ),
        ('{"1": [[8, 8, ""]]}', "the span 8:8 is not within the text"),
        ('{"1": [[0, "3", "Ann"]]}', r"1\.0\.1: expected a whole number, got '3'"),
        ('{"1": [[true, 3, "Ann"]]}', r"1\.0\.0: expected a whole number, got True"),
        ('{"1": [7]}', r"1\.0: expected a list, got 7"),
        ('{"1": 7}', "1: expected a list, got 7"),
        ('{"1": [], "1": []}', "expected each key once, got '1' twice"),
        ("[]", "expected a JSON object with an entry for each id, got list"),
        ("{", "expected a JSON object"),
    ],
)
def test_names_that_cannot_be_right(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=f"names.json: .*{said}"):
        read_name_spans(path, data(example()))


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    assert files_in(tmp_path, None) == (tmp_path / "gap-test.tsv", None)
    spans = tmp_path / "gap-test-name-spans.json"
    spans.write_text("{}", encoding="utf-8")
    assert files_in(tmp_path, None) == (tmp_path / "gap-test.tsv", spans)
    assert files_in(tmp_path, Path("other.json")) == (tmp_path / "gap-test.tsv", Path("other.json"))
    assert files_in(spans, None) == (spans, None)


def _corpus(tmp_path: Path) -> tuple[GapFile, Path]:
    """Two women's examples with three and two names, two men's likewise, one of them with the far
    name TRUE."""
    rows = [
        example(id_="w1"),
        example(id_="w2", a=False, b=True),
        example(id_="m1", pronoun="he", text=TEXT.replace("she", "he "), a=True),
        example(id_="m2", pronoun="he", text=TEXT.replace("she", "he "), a=False, b=True),
        example(id_="n", a=False),
    ]
    ann, bell, cora = [0, 3, "Ann"], [8, 12, "Bell"], [33, 37, "Cora"]
    three, two = [ann, bell, cora], [ann, cora]
    path = tmp_path / "names.json"
    path.write_text(
        json.dumps({"w1": three, "w2": two, "m1": three, "m2": two, "n": three}), encoding="utf-8"
    )
    return data(*rows), path


def test_properties_and_weights(tmp_path: Path) -> None:
    file, path = _corpus(tmp_path)
    spans = read_name_spans(path, file)
    found = properties(file, spans)
    assert found.dropna().to_numpy().tolist() == [
        ["w1", "female", "a", 3, 3],
        ["w2", "female", "b", 2, 1],
        ["m1", "male", "a", 3, 3],
        ["m2", "male", "b", 2, 1],
    ]
    solved = solve_gap_weights(found)
    assert (solved.n_without_antecedent, solved.n_trimmed) == (1, 0)
    assert solved.weights == {
        "w1a": pytest.approx(1), "w1b": 0, "w2a": 0, "w2b": pytest.approx(1), "m1a": pytest.approx(1), "m1b": 0,
        "m2a": 0, "m2b": pytest.approx(1), "na": 0, "nb": 0,
    }  # fmt: skip
    assert solved.balance.balanced == ("names=2", "names=3", "distance=1", "distance=3")
    assert solve_gap_weights(found, over=["distance"]).balance.balanced == (
        "distance=1",
        "distance=3",
    )


def test_trimming() -> None:
    kinds = [(15, 4), (16, 4), (15, 5), (3, None)]
    rows = [(f"{g}{n}", g, "a", *kind) for g in ("female", "male") for n, kind in enumerate(kinds)]
    frame = pd.DataFrame(rows, columns=["id", "gender", "antecedent", "names", "distance"]).astype(
        {"distance": "Int64"}
    )
    found = solve_gap_weights(frame, max_names=15, max_distance=4)
    assert found.examples["id"].tolist() == ["female0", "female3", "male0", "male3"]
    assert found.n_trimmed == 4
    assert solve_gap_weights(frame, max_names=15).n_trimmed == 2
    # Women's and men's examples are alike: drawing keeps all four; weights are 1.
    assert found.n_drawn == 4
    assert found.histograms == {
        "names": {"3": [1, 1], "15": [2, 2], "16": [1, 1]},
        "distance": {"4": [2, 2], "5": [1, 1]},
        "names, trimmed": {"3": [1, 1], "15": [1, 1]},
        "distance, trimmed": {"4": [1, 1]},
        "weight, in tenths (4.0: and more)": {"1.0": [2, 2]},
    }


def test_agreement_of_names(tmp_path: Path) -> None:
    file, path = _corpus(tmp_path)
    spans = read_name_spans(path, file)
    n = sum(map(len, spans.of.values()))
    all_of = f"of {n} annotated names 100.0 % were found, of {n} found 100.0 % are annotated"
    assert agreement(spans, spans, file).startswith(all_of)
    fewer = {id_: names[: 2 if id_ == "w1" else None] for id_, names in spans.of.items()}
    said = agreement(NameSpans(fewer, "", 0), spans, file)
    # Cora, the nearest of the three names of w1, is lost: of the four texts with an antecedent one
    # has another number of names, and its antecedent another place.
    assert f"{100 * (n - 1) / n:.1f} % were found, of {n - 1} found 100.0 % are annotated" in said
    assert (
        "of the 4 texts with an annotated antecedent 75.0 % have as many names, 75.0 % the" in said
    )


def test_names_that_may_be_of_persons() -> None:
    text = "Ann Day met Day, Bell, Pam and Zork in Rome near the Thames."
    names = ["Ann Day", "Day", "Bell", "Pam", "Zork", "Rome", "Thames"]
    spans = [Span(at, at + len(name)) for name in names if (at := text.rindex(name)) >= 0]
    # Ann Day has two words, the second Day one of hers, Bell is a candidate, Pam is not listed,
    # Rome and Thames are places by the word before them.
    instance = replace(example(), text=text, candidates=(spans[2], spans[2]))
    found = [text[slice(*span)] for span in likely_persons(instance, spans)]
    assert found == ["Ann Day", "Day", "Bell"]


def test_persons_of_a_document_of_stanza() -> None:
    document = pytest.importorskip("stanza.models.common.doc").Document(
        [[
            {"id": 1, "text": "Ann", "ner": "B-PERSON", "start_char": 0, "end_char": 3},
            {"id": 2, "text": "Day", "ner": "E-PERSON", "start_char": 4, "end_char": 7},
            {"id": 3, "text": "left", "ner": "O", "start_char": 8, "end_char": 12},
            {"id": 4, "text": "Rome", "ner": "S-GPE", "start_char": 13, "end_char": 17},
        ]],
        text="Ann Day left Rome",
    )  # fmt: skip
    document.build_ents()
    assert persons(document) == (Span(0, 7),)


@pytest.mark.slow
def test_names_are_found_without_a_recogniser(tmp_path: Path, stanza_dir: Path) -> None:
    file, _ = _corpus(tmp_path)
    found, how = find_names(file, stanza_dir)
    assert how.endswith("no recogniser is there")
    assert found.of.keys() == {instance.id for instance in file.instances}
    assert all(span.end <= len(i.text) for i in file.instances for span in found.of[i.id])
    assert sum(map(len, found.of.values())) > 0


def test_weights_from_a_file(tmp_path: Path) -> None:
    file, _ = _corpus(tmp_path)
    path = tmp_path / "weights.json"
    content = {i.id + side: 0 for i in file.instances for side in "ab"} | {"w1a": 2, "m2b": 0.5}
    path.write_text(json.dumps(content), encoding="utf-8")
    weights, sha256 = read_gap_weights(path, file)
    assert weights == pytest.approx(np.array([2, 0, 0, 0.5, 0]))
    assert len(sha256) == 64


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"w1a": -1}, "w1a: expected a number of 0 or more, got -1"),
        ({"w1a": None}, "w1a: expected a number of 0 or more, got None"),
        ({"w1a": True}, "got True"),
        ({"w1a": float("inf")}, "got inf"),
        ({"w1b": 0.5}, "w1b: weight 0.5 for a candidate that is FALSE in gap.tsv"),
        ({"xa": 0.5}, "'xa' is no candidate of gap.tsv"),
    ],
)
def test_weights_that_cannot_be_right(
    changed: dict[str, object], said: str, tmp_path: Path
) -> None:
    file, _ = _corpus(tmp_path)
    path = tmp_path / "weights.json"
    path.write_text(
        json.dumps({i.id + side: 0 for i in file.instances for side in "ab"} | changed),
        encoding="utf-8",
    )
    with pytest.raises(DataError, match=said):
        read_gap_weights(path, file)
    path.write_text('{"w1a": 1}', encoding="utf-8")
    with pytest.raises(DataError, match="expected a weight for 'w1b', got none"):
        read_gap_weights(path, file)


def test_both_candidates_true() -> None:
    with pytest.raises(DataError, match=r"gap.tsv: 1: both candidates are TRUE"):
        antecedent_of(example(a=True, b=True), Path("gap.tsv"))
