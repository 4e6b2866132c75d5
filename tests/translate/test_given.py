"""Given translations: every form, and how rows find their instances."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtbias.corpora import load_corpus
from mtbias.errors import DataError
from mtbias.files.reading import LONGEST
from mtbias.translate.given_translations import MARKS, GivenTranslations, read_translations
from mtbias.types import Gender, Instance, Span, Stereotype, Translation


def corpus(*sources: str) -> list[Instance]:
    return [
        Instance(
            id=f"x-{row}",
            row=row,
            source=source,
            head=Span(0, 1),
            entity="e",
            gold=Gender.MALE,
            stereotype=Stereotype.NONE,
            domain="d",
            pronouns=1,
        )
        for row, source in enumerate(sources)
    ]


def put(folder: Path, text: str, name: str = "t.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def texts(result: GivenTranslations) -> list[str | None]:
    return [t.text for t in result.translations]


def counts(result: GivenTranslations) -> tuple[int, ...]:
    """missing, empty, extra, duplicates, shared, normalised."""
    return tuple(result.noticed[mark] for mark in MARKS)


AB = corpus("A a.", "B b.")


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("t.txt", "A a. ||| X\nB b. ||| Y\n", "pairs"),
        ("t.out", "B b. ||| Y\r\nA a. ||| X", "pairs"),
        ("t.txt", "\ufeffX\nY\n", "lines"),
        ("t.de", "X\r\nY", "lines"),
        ("t.tsv", "source\ttarget\nB b.\tY\nA a.\tX\n", "table by source"),
        ("t.csv", 'translation,source\nX,A a.\n"Y","B b."\n', "table by source"),
        ("t.csv", "id,target\nx-1,Y\nx-0,X\n", "table by id"),
        ("t.tsv", "id\tsource\ttarget\nx-1\tB b.\tY\nx-0\tA a.\tX\n", "table by id"),
        (
            "t.jsonl",
            '{"id": "x-1", "translation": "Y", "row": 1}\n{"id": "x-0", "translation": "X"}\n',
            "table by id",
        ),
        (
            "t.ndjson",
            '{"source": "A a.", "target": "X"}\n\n{"source": "B b.", "target": "Y"}\n',
            "table by source",
        ),
    ],
)
def test_every_form_gives_the_same(tmp_path: Path, name: str, text: str, form: str) -> None:
    result = read_translations(put(tmp_path, text, name), AB)
    assert result.noticed["form"] == form
    assert result.translations == (Translation("x-0", "X"), Translation("x-1", "Y"))
    assert counts(result) == (0, 0, 0, 0, 0, 0)
    assert result.noticed["examples"] == {}


def test_empty_translations_are_none_with_a_reason(tmp_path: Path) -> None:
    three = corpus("A", "B", "C")
    for name, text in (
        ("t.txt", "A ||| X\nB ||| \nC |||\n"),
        ("l.txt", "X\n\n \n"),
        (
            "t.jsonl",
            '{"id": "x-0", "target": "X"}\n{"id": "x-1", "target": null}\n{"id": "x-2", "target": " "}\n',
        ),
    ):
        result = read_translations(put(tmp_path, text, name), three)
        assert result.translations[1:] == (
            Translation("x-1", None, "empty"),
            Translation("x-2", None, "empty"),
        )
        assert counts(result) == (0, 2, 0, 0, 0, 0)
        assert result.noticed["examples"] == {"empty": ["x-1", "x-2"]}


def test_twin_sentences_keep_their_order_and_the_last_does_not_win(tmp_path: Path) -> None:
    # The defect of mt_gender: a dictionary by sentence gives both instances the second translation.
    twice = corpus("A", "B", "A")
    same_length = read_translations(put(tmp_path, "A ||| first\nB ||| Y\nA ||| second\n"), twice)
    assert texts(same_length) == ["first", "Y", "second"]
    assert counts(same_length) == (0, 0, 0, 1, 0, 0)
    assert same_length.noticed["examples"] == {"duplicates": ["line 3"]}
    shuffled = read_translations(put(tmp_path, "A ||| first\nA ||| second\nB ||| Y\n"), twice)
    assert texts(shuffled) == ["first", "Y", "second"]


def test_fewer_rows_than_instances(tmp_path: Path) -> None:
    thrice = corpus("A", "A", "A", "B")
    # One row, or rows that agree: shared by all. Rows that differ: the third instance is missing.
    one = read_translations(put(tmp_path, "B ||| Y\nA ||| X\n"), thrice)
    assert texts(one) == ["X", "X", "X", "Y"]
    assert counts(one) == (0, 0, 0, 0, 2, 0)
    agreeing = read_translations(put(tmp_path, "B ||| Y\nA ||| X\nA ||| X\n"), thrice)
    assert texts(agreeing) == ["X", "X", "X", "Y"]
    assert counts(agreeing) == (0, 0, 0, 1, 1, 0)
    differing = read_translations(
        put(tmp_path, "B ||| Y\nA ||| X\nA ||| Z\n"), thrice, allow_missing=True
    )
    assert texts(differing) == ["X", "Z", None, "Y"]
    assert differing.translations[2] == Translation("x-2", None, "missing")
    assert counts(differing) == (1, 0, 0, 1, 0, 0)


def test_more_rows_than_instances_are_extra(tmp_path: Path) -> None:
    result = read_translations(put(tmp_path, "A a. ||| X\nA a. ||| Z\nC ||| W\nB b. ||| Y\n"), AB)
    assert texts(result) == ["X", "Y"]
    assert counts(result) == (0, 0, 2, 1, 0, 0)
    assert result.noticed["examples"] == {"duplicates": ["line 2"], "extra": ["line 2", "line 3"]}


def test_sources_match_after_normalisation_and_in_the_files_order(tmp_path: Path) -> None:
    instances = corpus("Caf\u00e9  owner", "B", "B ")
    result = read_translations(
        put(tmp_path, "B  ||| spaced\nB ||| exact\n Cafe\u0301 owner ||| X\n"), instances
    )
    # "B " and "B" are one sentence; the first matches after NFC.
    assert texts(result) == ["X", "spaced", "exact"]
    assert result.noticed["examples"]["normalised"] == ["x-0", "x-1", "x-2"]


def test_rows_with_one_source_but_for_blanks_follow_the_files_order(tmp_path: Path) -> None:
    result = read_translations(put(tmp_path, "A  b ||| one\nA b ||| two\n"), corpus("A b", "A b"))
    assert texts(result) == ["one", "two"]
    assert result.noticed["normalised"] == 1


def test_a_separator_inside_source_or_target(tmp_path: Path) -> None:
    instances = corpus("A ||| a", "B")
    result = read_translations(put(tmp_path, "A ||| a ||| X\nB ||| Y ||| y\n"), instances)
    assert texts(result) == ["X", "Y ||| y"]


def test_lines_as_many_as_rows_of_the_corpus_file(tmp_path: Path) -> None:
    two = [replace(AB[0], row=0), replace(AB[1], row=2)]  # row 1 was skipped by the corpus reader
    path = put(tmp_path, "X\nskipped\nY\n")
    assert texts(read_translations(path, two, rows=3)) == ["X", "Y"]
    with pytest.raises(DataError, match="2 lines as the corpus has, got 3"):
        read_translations(path, two)
    with pytest.raises(DataError, match=r"2 \(or 4\) lines"):
        read_translations(path, two, rows=4)
    pairs = put(tmp_path, "A a. ||| X\nno ||| n\nB b. ||| Y\n")
    result = read_translations(pairs, two, rows=3)
    assert (texts(result), result.noticed["extra"]) == (["X", "Y"], 1)


def test_lines_as_many_as_rows_and_instances_are_those_of_the_instances(tmp_path: Path) -> None:
    three = [
        replace(one, row=row) for one, row in zip(corpus("A", "A", "B"), (0, 0, 1), strict=True)
    ]
    assert texts(read_translations(put(tmp_path, "X\nY\nZ\n"), three, rows=3)) == ["X", "Y", "Z"]


def test_ids_win_and_a_row_with_another_sentence_is_left_over(tmp_path: Path) -> None:
    text = "id\tsource\ttarget\nx-0\tA  a.\tX\nx-1\tAnother sentence.\tY\nx-9\tB b.\tZ\n"
    result = read_translations(put(tmp_path, text, "t.tsv"), AB, allow_missing=True)
    assert texts(result) == ["X", None]
    assert counts(result) == (1, 0, 2, 0, 0, 1)
    assert result.noticed["examples"]["extra"] == ["line 3", "line 4"]


def test_an_id_twice(tmp_path: Path) -> None:
    same = put(tmp_path, "id\ttarget\nx-0\tX\nx-0\tX\nx-1\tY\n", "t.tsv")
    result = read_translations(same, AB)
    assert (texts(result), counts(result)) == (["X", "Y"], (0, 0, 1, 1, 0, 0))
    other = put(tmp_path, "id\ttarget\nx-0\tX\nx-0\tZ\nx-1\tY\n", "t.tsv")
    with pytest.raises(DataError, match=r"t.tsv:3: id 'x-0' has another translation in line 2"):
        read_translations(other, AB)


def test_another_corpus_is_refused(tmp_path: Path) -> None:
    instances = corpus(*(f"Sentence {n}." for n in range(100)))
    lines = [f"Sentence {n}. ||| {n}\n" for n in range(100)]
    ninety_five = read_translations(put(tmp_path, "".join(lines[:95])), instances)
    assert ninety_five.noticed["missing"] == 5
    with pytest.raises(
        DataError, match=r"95 % of .* 100 instances, got 94; .*'Sentence 94.' \(x-94\)\. Every row"
    ):
        read_translations(put(tmp_path, "".join(lines[:94])), instances)
    path = put(tmp_path, "Other. ||| Andere.\n" + "".join(lines[:94]))
    with pytest.raises(DataError, match=r"got 94; .*matched nothing is 'Other.'. Another corpus\?"):
        read_translations(path, instances)
    assert read_translations(path, instances, allow_missing=True).noticed["missing"] == 6
    by_id = put(tmp_path, "id\ttarget\nwinomt-00001\tX\n", "t.tsv")
    with pytest.raises(DataError, match=r"got 0; .*'winomt-00001'"):
        read_translations(by_id, instances)


@pytest.mark.parametrize(
    ("name", "data", "line", "says"),
    [
        ("t.txt", b"", 1, "empty"),
        ("t.txt", b"A a. ||| X\n\xff ||| Y\n", 2, "0xFF is not UTF-8"),
        ("t.txt", b"A a. ||| X\nB b. ||| Y\nC\n", 3, "expected source ||| target"),
        ("t.txt", b"X\nY\nZ\n", None, "2 lines as the corpus has, got 3; or"),
        (
            "t.txt",
            b"X\n \nZ\n",
            None,
            "2 lines as the corpus has, got 3; or",
        ),
        ("t.txt", b"\n\nZ\n", None, "2 lines as the corpus has, got 3; or"),
        ("t.txt", b"X\n\nY\nZ\n", None, "2 lines as the corpus has, got 4; or"),
        ("t.txt", b"X\n", None, "got 1"),
        (
            "t.tsv",
            b"source\ttext\nA a.\tX\n",
            1,
            "one of 'target', 'translation', .* and 'mt'; got 'source', 'text'",
        ),
        ("t.tsv", b"target\nX\n", 1, "'id' or 'source'"),
        (
            "t.tsv",
            b"source\ttarget\ttranslation\nA a.\tX\tY\n",
            2,
            "one column or key with the translation, got 'target' .'X'. and 'translation' .'Y'.;",
        ),
        ("t.tsv", b"source\ttarget\ttarget\nA a.\tX\tY\n", 1, "twice"),
        ("t.tsv", b"source\ttarget\nA a.\n", 2, "expected 2 fields"),
        ("t.tsv", b"source\ttarget\n\tX\n", 2, "no source"),
        ("t.tsv", b"source\ttarget\n", 1, "no rows"),
        ("t.csv", b'id,target\nx-0,"X\n', 2, "broken"),
        ("t.csv", b"id,target\n,X\n", 2, "no id"),
        ("t.jsonl", b'{"id": "x-0", "target": "X"}\n{\n', 2, "expected a JSON object"),
        ("t.jsonl", b'{"id": "x-0", "target": 3}\n', 1, "expected text under 'target', got int"),
        ("t.jsonl", b'"x"\n', 1, "got str"),
        ("t.jsonl", b'{"id": "x-0", "target": "\\udc80"}\n', 1, "surrogate"),
    ],
)
def test_bad_files_are_errors_with_file_and_line(
    tmp_path: Path, name: str, data: bytes, line: int | None, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=says.replace("|||", r"\|\|\|")) as caught:
        read_translations(path, AB)
    assert (caught.value.path, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("name", "text", "line", "says"),
    [
        (
            "t.txt",
            "A a.|||X\nB b.|||Y\n",
            1,
            "expected targets alone, got targets that contain their source; write",
        ),
        ("t.txt", "A a.\tX\nB b.\tY\n", 1, "targets that contain their source"),
        ("t.txt", "B b.\tY\nA a.\tX\n", 1, "targets that contain their source"),  # in another order
        ("t.txt", "X|||A  a.\nY|||B b.\n", 1, "targets that contain their source"),
        (
            "t.txt",
            "\n1 B b. Y\n",
            2,
            "targets that contain their source",
        ),  # most of those that are not blank
        (
            "t.tsv",
            "id\ttarget\nx-0\tA a. ||| X\nx-1\tB b. ||| Y\n",
            2,
            "expected targets alone, got targets that",
        ),
        ("t.txt", "A a. ||| A a. X\nB b. ||| B b. Y\n", 1, "expected targets alone"),
    ],
)
def test_pairs_in_a_form_that_is_not_read_are_not_scored_as_targets(
    tmp_path: Path, name: str, text: str, line: int, says: str
) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read_translations(put(tmp_path, text, name), AB)
    assert caught.value.line == line


@pytest.mark.parametrize("text", ["A a.\nB b.\n", "A a.\nY\n", "A a. X\nY\n", "“A a.”\nB b. !\n"])
def test_a_source_that_was_not_translated_is_a_target(tmp_path: Path, text: str) -> None:
    assert texts(read_translations(put(tmp_path, text), AB)) == text.splitlines()


@pytest.mark.parametrize(
    ("name", "text"), [("t.txt", "X\n{}\n"), ("t.tsv", "id\ttarget\nx-1\t{}\nx-0\tX\n")]
)
def test_a_translation_that_is_no_sentence_by_its_length(
    tmp_path: Path, name: str, text: str
) -> None:
    assert texts(read_translations(put(tmp_path, text.format("y" * LONGEST), name), AB)) == [
        "X",
        "y" * LONGEST,
    ]
    said = r":2: translation: expected a sentence of at most 50,000 characters, got 50,001; divide or shorten it$"
    with pytest.raises(DataError, match=said):
        read_translations(put(tmp_path, text.format("y" * (LONGEST + 1)), name), AB)


def test_windows_line_ends_inside_quotes_are_line_ends(tmp_path: Path) -> None:
    path = put(tmp_path, 'id,target\r\nx-0,"X\r\nx"\r\nx-1,Y\r\n', "t.csv")
    assert texts(read_translations(path, AB)) == ["X\nx", "Y"]


def test_other_fields_of_objects_are_passed_over(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        '{"id": "x-0", "target": "X", "scores": [1]}\n{"id": "x-1", "target": "Y"}\n',
        "t.jsonl",
    )
    assert texts(read_translations(path, AB)) == ["X", "Y"]


def test_blank_lines_at_the_end_are_empty_translations_only_in_lines(tmp_path: Path) -> None:
    three = corpus("A", "B", "C")
    lines = read_translations(put(tmp_path, "X\n\n\n"), three)
    assert (texts(lines), lines.noticed["empty"]) == (["X", None, None], 2)
    pairs = read_translations(put(tmp_path, "A ||| X\nB ||| Y\nC ||| Z\n\n\n"), three)
    assert (texts(pairs), counts(pairs)) == (["X", "Y", "Z"], (0, 0, 0, 0, 0, 0))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_translations(tmp_path / "absent.txt", AB)


SOURCE = st.sampled_from(["A", "B", "A b", "C"])
TARGET = st.text(st.characters(codec="utf-8", exclude_characters="\n\r|\t"), max_size=5)


@settings(deadline=None)
@given(
    st.lists(SOURCE, min_size=1, max_size=8).flatmap(
        lambda s: st.tuples(st.just(s), st.permutations(range(len(s))))
    )
)
def test_a_shuffled_file_keeps_the_order_of_equal_sentences(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[list[str], Sequence[int]]
) -> None:
    sources, order = case
    path = put(
        tmp_path_factory.getbasetemp(),
        "".join(f"{sources[i]} ||| t{i}\n" for i in order),
        "shuffled.txt",
    )
    result = read_translations(path, corpus(*sources))
    assert counts(result)[:3] == (0, 0, 0)
    found = [text for text in texts(result) if text is not None]
    assert sorted(found) == sorted(f"t{i}" for i in range(len(sources)))  # each row is used once
    for source in set(sources):
        ours = [text for text, own in zip(found, sources, strict=True) if own == source]
        assert ours == [f"t{i}" for i in order if sources[i] == source]  # in the order of the file


@settings(deadline=None)
@given(st.lists(TARGET, min_size=1, max_size=6), st.sampled_from(["txt", "tsv", "jsonl"]))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, targets: list[str], suffix: str
) -> None:
    instances = corpus(*(f"S{n}" for n in range(len(targets))))
    if suffix == "jsonl":
        lines = [
            json.dumps({"id": i.id, "target": t}) for i, t in zip(instances, targets, strict=True)
        ]
    elif suffix == "tsv":
        lines = ["id\ttarget", *(f"{i.id}\t{t}" for i, t in zip(instances, targets, strict=True))]
    else:
        lines = [f"{i.source} ||| {t}" for i, t in zip(instances, targets, strict=True)]
    path = put(tmp_path_factory.getbasetemp(), "\n".join(lines) + "\n", f"back.{suffix}")
    result = read_translations(path, instances)
    assert texts(result) == [t.strip() or None for t in targets]
    assert result.noticed["empty"] == sum(not t.strip() for t in targets)


@settings(deadline=None)
@given(
    st.one_of(
        st.binary(max_size=120),
        st.text(st.sampled_from('AB |\n\r\t,"{}:id'), max_size=60).map(str.encode),
    )
)
def test_any_file_is_read_or_is_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    for name in (
        "any.txt",
        "any.tsv",
        "any.csv",
        "any.jsonl",
        "any.json",
        "any.eval",
        "any.tsv.gz",
    ):
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(data)
        caught, result = None, None
        try:
            result = read_translations(path, AB, allow_missing=True)
        except DataError as error:
            caught = error
        assert caught is None or caught.path == str(path)
        translations = () if result is None else result.translations
        assert [t.id for t in translations] == ([] if caught else ["x-0", "x-1"])
        assert all((t.text is None) == (t.reason is not None) for t in translations)


# The shipped translations of WinoMT


@pytest.mark.parametrize("system", ["google", pytest.param("bing", marks=pytest.mark.exhaustive)])
def test_the_shipped_translations(winomt: Path, system: str) -> None:
    instances = load_corpus("winomt", winomt).instances
    paths = sorted((winomt / "translations" / system).glob("en-*.txt"))
    assert [path.stem for path in paths] == [
        f"en-{lang}" for lang in ("ar", "de", "es", "fr", "he", "it", "ru", "uk")
    ]
    for path in paths:
        result = read_translations(path, instances)
        # All files agree with en.txt but for rows 2120 and 2121: they translate "she broke the
        # stove" and "his stove", which are rows 536 and 537, where en.txt has "he broke" and "her
        # stove". Those two sentences were never translated. Beside these two, six sentences stand
        # twice in en.txt and in the files: 8 repeated lines.
        assert counts(result) == (2, 0, 2, 8, 0, 0)
        assert result.noticed["examples"]["missing"] == ["winomt-02121", "winomt-02122"]
        assert result.noticed["examples"]["extra"] == ["line 2121", "line 2122"]
        lines = path.read_text(encoding="utf-8").split("\n")
        for instance, translation in zip(instances, result.translations, strict=True):
            if translation.text is not None:
                assert lines[instance.row] == f"{instance.source} ||| {translation.text}"
        assert Counter(t.reason for t in result.translations) == {None: 3886, "missing": 2}


def test_a_file_keyed_by_bugs_own_sentences_matches_those_that_the_corpus_repaired(
    shared: Path, tmp_path: Path
) -> None:
    # 152 sentences of the paper's file were read in a wrong encoding; the corpus has them repaired,
    # the file as it is.
    with (shared / "data" / "bug" / "gold_BUG.csv").open(encoding="utf-8", newline="") as file:
        sentences = [row["sentence_text"] for row in csv.DictReader(file)]
    path = tmp_path / "mine.jsonl"
    lines = [
        json.dumps({"source": s, "target": f"Satz {n}"}) + "\n"
        for n, s in enumerate(sentences)
        if s.strip()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    corpus = load_corpus("bug-gold-paper", shared / "data" / "bug")
    found = read_translations(path, corpus.instances, rows=corpus.rows)
    assert (found.noticed["missing"], found.noticed["normalised"] >= 152) == (0, True)
    by_id = {each.id: each.text for each in found.translations}
    assert all(
        by_id[i.id] == f"Satz {i.row}"
        for i in corpus.instances
        if sentences.count(sentences[i.row]) == 1
    )
