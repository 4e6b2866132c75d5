"""Marks on texts of GAP's columns, and the quadruples that stay by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.counter_gap import ROLES, quadruples
from mtbias.coref.gap_data import GapInstance, Labels, read_instances
from mtbias.errors import DataError, SettingError
from mtbias.mining.quadruple_check import (
    MARKS,
    Marks,
    check_quadruples,
    labels_of,
    read_marks,
)
from mtbias.types import Span

COLUMNS = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\n"


def write_quadruples(path: Path, originals: Mapping[str, str]) -> Path:
    """Quadruples by id and pronoun of the original: "Ann told Bea that she won", with no label."""
    lines = [COLUMNS]
    for id_, pronoun in originals.items():
        other = {"he": "she", "she": "he"}[pronoun]
        for role in ROLES:
            word = other if "swap" in role else pronoun
            lines.append(
                f"{id_}{role}\tAnn told Bea that {word} won.\t{word}\t18\tAnn\t0\t\tBea\t9\t\n"
            )
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_marks(path: Path, marks: Mapping[str, str]) -> Path:
    """Marks by id: spans, with a problem behind a semicolon."""
    lines = ["\t".join(MARKS) + "\n"]
    for id_, mark in marks.items():
        spans, _, problem = mark.partition(";")
        lines.append(f"{id_}\t{spans}\t{problem}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _same(ids: Iterable[str], mark: str, **others: str) -> dict[str, str]:
    """The same mark on all four texts of each quadruple; `others` by id, with _ for -."""
    marks = {id_ + role: mark for id_ in ids for role in ROLES}
    return marks | {id_.replace("_", "-").lstrip("q"): other for id_, other in others.items()}


def test_the_majority_and_why_quadruples_are_dropped(tmp_path: Path) -> None:
    """Seven quadruples read by three annotators, who mark Ann (0-3) where nothing else is said.

    1 stays: in its control the third annotator marks Bea, and two of three say A. 2 is dropped: in
    one swap two of three mark Bea. 3: two say that a swap contradicts. 4: one alone says so, so it
    stays. 5: two see a real person. 6: the second did not read its control. 7: nobody is named, and
    it stays.

    The agreement is over the twelve texts of 1, 4 and 7: all three in eleven, two in one,
    100 · (11 + 2/3) / 12 = 97.22.
    """
    data = write_quadruples(tmp_path / "q.tsv", dict.fromkeys("1234567", "she"))
    nobody = _same("7", "")
    third = _same(
        "12345", "0-3", q1_control="9-12", q2_swap_1="9-12", q3_swap_2="0-3;contradiction"
    )
    third |= _same("6", "0-3") | nobody
    first = _same("123456", "0-3", q4="0-3;contradiction", q5="0-3;real person") | nobody
    second = _same("123456", "0-3", q2_swap_1="9-12", q3_swap_2="0-3;contradiction") | nobody
    second["5"] = "0-3;contradiction, real person"
    del second["6-control"]
    marks = [write_marks(tmp_path / f"{n}.tsv", of) for n, of in enumerate((first, second, third))]
    found = check_quadruples(data, marks, tmp_path / "kept.tsv")
    assert found.lost == [
        "2: labels of the four differ",
        "3: contradicts common knowledge",
        "5: names a real person",
        "6: not read by all annotators",
    ]
    assert list(found.dropped.values()) == [1, 1, 1, 1]
    assert (found.quadruples, found.kept) == (7, 3)
    assert (found.agreement.texts, found.agreement.annotators) == (12, 3)
    assert found.kept_by_gender == {"male": 0, "female": 3}
    assert found.agreement.agreed == pytest.approx(100 * (11 + 2 / 3) / 12)
    kept = quadruples(read_instances(tmp_path / "kept.tsv"))
    labels = {one.id: {instance.gold for instance in one.instances} for one in kept}
    assert labels == {
        "1": {Labels(a=True, b=False)},
        "4": {Labels(a=True, b=False)},
        "7": {Labels(a=False, b=False)},
    }


def test_names_of_real_people(tmp_path: Path) -> None:
    data = write_quadruples(tmp_path / "q.tsv", {"1": "he"})
    marks = write_marks(tmp_path / "m.tsv", _same("1", "0-3"))
    people = tmp_path / "people.txt"
    for names, kept in (("An\nCaesar\n", 1), ("Caesar\nBea\n", 0)):
        people.write_text(names, encoding="utf-8")
        assert check_quadruples(data, [marks], None, people).kept == kept


def test_a_mark_anywhere_on_the_name_counts() -> None:
    """Of Ann Lee and Ann, the longer name is not the shorter one's."""
    text = "Ann Lee saw Ann's car. Then Ann Lee told Ann that she won."
    instance = GapInstance("1", text, Span(50, 53), (Span(0, 7), Span(12, 15)), Labels(None, None))
    for spans, expected in (
        ([Span(28, 35)], (True, False)),  # the second Ann Lee
        ([Span(4, 7)], (True, False)),  # Lee alone
        ([Span(41, 44)], (False, True)),  # the second Ann
        ([Span(18, 21)], (False, False)),  # car
        ([], (False, False)),
    ):
        assert labels_of(instance, Marks(tuple(spans), contradicts=False, real=False)) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1\tAnn\t", "spans: expected start-end, such as 4-9, got 'Ann'"),
        ("1\t3-3\t", "spans: expected start-end"),
        ("1\t0-3\todd", "problem: expected contradiction, real person"),
        ("1\t0-3\t\n1\t0-3\t", "the id '1' occurs twice"),
    ],
)
def test_marks_that_are_none(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("ID\tspans\tproblem\n" + row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_marks(path)


def test_two_annotators_have_no_majority_and_marks_are_of_the_file(tmp_path: Path) -> None:
    data = write_quadruples(tmp_path / "q.tsv", {"1": "he"})
    marks = write_marks(tmp_path / "m.tsv", _same("2", "0-3"))
    with pytest.raises(SettingError, match="expected an odd number of annotators, got 2"):
        check_quadruples(data, [marks, marks])
    with pytest.raises(DataError, match="expected marks on texts of this file, got none"):
        check_quadruples(data, [marks])
    # "Ann told Bea that he won." has 25 characters.
    marks = write_marks(tmp_path / "m.tsv", _same("1", "0-3", q1_control="0-26"))
    with pytest.raises(DataError, match="spans of '1-control': expected ends up to 25, got 26"):
        check_quadruples(data, [marks])


def test_annotators_whose_files_have_one_name(tmp_path: Path) -> None:
    """The page calls the files of all annotators alike; each counts, and is in the signature."""
    data = write_quadruples(tmp_path / "q.tsv", {"1": "he"})
    paths, hashes = [], []
    for n, mark in enumerate(("0-3", "9-12", "")):
        folder = tmp_path / str(n)
        folder.mkdir()
        paths.append(write_marks(folder / "q.marks.tsv", _same("1", mark)))
        hashes.append(sha256(paths[n].read_bytes()).hexdigest()[:12])
    assert f"|judgements:{'+'.join(hashes)}|" in check_quadruples(data, paths).signature
    with pytest.raises(DataError, match="expected a file of each reader, got this one twice"):
        check_quadruples(data, [paths[0], paths[1], paths[0]])


def test_the_published_quadruples_stay(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By annotators who mark what the labels of C-GAP.tsv say all 1,002 stay, 501 of either
    gender, and the file has its own labels again."""
    data = shared / "data" / "coref" / "countergap" / "C-GAP.tsv"
    if not data.is_file():
        pytest.skip(f"no Counter-GAP at {data}")
    instances = read_instances(data).instances
    marks = {}
    for instance in instances:
        chosen = zip(instance.candidates, instance.gold, strict=True)
        marks[instance.id] = " ".join(f"{at.start}-{at.end}" for at, is_true in chosen if is_true)
    paths = [write_marks(tmp_path / f"{n}.tsv", marks) for n in range(3)]
    kept, balanced = tmp_path / "kept.tsv", tmp_path / "balanced.tsv"
    found = check_quadruples(data, paths, kept)
    assert (found.kept, found.agreement.agreed) == (1002, 100)
    assert read_instances(kept).instances == instances
    words = ["corpora", "balance", "--dataset", "counter-gap", "--data", str(kept)]
    assert main([*words, "--out", str(balanced)]) == 0
    assert "before: male 501 before: female 501" in " ".join(capsys.readouterr().out.split())
    assert read_instances(balanced).instances == instances
