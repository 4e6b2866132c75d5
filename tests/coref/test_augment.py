"""Counterfactual copies of CoNLL-2012 files, on sentences of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.coref.documents import read_conll
from mtbias.coref.training import Kind, MadeFile, augment
from mtbias.errors import DataError, OutputError

TAGGED = """\
#begin document (a/b_0001); part 000
a/b_0001   0   0   Ann     NNP   *   -   (1)
a/b_0001   0   1   gave    VBD   *   -   -
a/b_0001   0   2   her     PRP$  *   -   (2|(1)
a/b_0001   0   3   son     NN    *   -   2)
a/b_0001   0   4   joy     NN    *   -   -

a/b_0001   0   0   Bob     NNP   *   -   (3)
a/b_0001   0   1   saw     VBD   *   -   -
a/b_0001   0   2   HER     PRP   *   -   (1)
a/b_0001   0   3   and     CC    *   -   -
a/b_0001   0   4   Ann     NNP   *   -   (1)

#end document
"""

UNTAGGED = """\
#begin document (x//0); part 000
x//0\t0\t0\tLee\t-\t-\t-\t-
x//0\t0\t1\ttold\t-\t-\t-\t-
x//0\t0\t2\ther\t-\t-\t-\t-
x//0\t0\t3\tback\t-\t-\t-\t-
x//0\t0\t4\t.\t-\t-\t-\t-
#end document
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "in.conll"
    path.write_text(text, encoding="utf-8")
    return path


def _made(folder: Path, text: str, kind: Kind, names: str = "Ann\tfemale\t3\nMax\tmale\t3\n") -> tuple[MadeFile, str]:
    """What is said of the copies, and their text. Bob, joy and Lee are names without counterpart."""
    listed = folder / "names.tsv"
    others = "Bob\tmale\t1\njoy\tmostly_female\t1\nLee\tmale\t1\n"
    listed.write_text(f"name\tgender\tA\n{names}{others}", encoding="utf-8")
    out = folder / "out.conll"
    made = augment(written(folder, text), kind, out, names=listed, only_copies=True)
    return made, out.read_text(encoding="utf-8")


def test_only_words_and_document_names_change(tmp_path: Path) -> None:
    made, copies = _made(tmp_path, TAGGED, "names")
    expected = (
        TAGGED.replace("a/b_0001", "a/b_0001_a")
        .replace("Ann ", "Max ")
        .replace("her ", "his ")
        .replace("son ", "daughter ")
        .replace("HER ", "HIM ")
    )
    assert copies == expected
    # her, son, HER are words; Ann twice is replaced, Bob has no counterpart; joy is a name only by spelling (NN).
    assert list(made.counts.values()) == [1, 3, 2, 1, 0]
    assert made.ambiguous == []


def test_documents_without_brackets_get_another_name_too(tmp_path: Path) -> None:
    _, copies = _made(tmp_path, TAGGED.replace("(a/b_0001); part 000", "a/b_0001"), "words")
    assert copies.startswith("#begin document a/b_0001_a\n")


def test_a_file_is_not_written_over(tmp_path: Path) -> None:
    path = written(tmp_path, TAGGED)
    with pytest.raises(OutputError, match="expected another file than those that are read"):
        augment(path, "words", path)
    assert path.read_text(encoding="utf-8") == TAGGED


def test_anonymised_names_keep_one_id_in_the_file(tmp_path: Path) -> None:
    made, copies = _made(tmp_path, TAGGED + TAGGED.replace("b_0001", "b_0002"), "anonymised")
    words = [line.split()[3] for line in copies.splitlines() if line[:1] == "a"]
    assert words == ["E1", "gave", "his", "daughter", "joy", "E2", "saw", "HIM", "and", "E1"] * 2
    assert made.counts["words of names replaced"] == 6


ENTITIES = """\
#begin document (n/1); part 000
n/1   0   0   Barack   NNP   *   -   -   -   -   (PERSON*   (1
n/1   0   1   Joy      NNP   *   -   -   -   -   *)         1)
n/1   0   2   met      VBD   *   -   -   -   -   *          -
n/1   0   3   Ann      NNP   *   -   -   -   -   (PERSON*   (2
n/1   0   4   Max      NNP   *   -   -   -   -   *          -
n/1   0   5   's       POS   *   -   -   -   -   *)         2)
n/1   0   6   son      NN    *   -   -   -   -   *          -
n/1   0   7   in       IN    *   -   -   -   -   *          -
n/1   0   8   Max      NNP   *   -   -   -   -   (GPE)      -
#end document
"""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # Whole names, a word of one an id; a place that is spelt like a name stays.
        ("anonymised", "E1 E2 met E3 E4 's daughter in Max"),
        ("names", "Barack Joy met Max Ann 's daughter in Max"),
        ("words", "Barack Joy met Ann Max 's daughter in Max"),
    ],
)
def test_names_are_the_file_s_persons(tmp_path: Path, kind: Kind, expected: str) -> None:
    _, copies = _made(tmp_path, ENTITIES, kind)
    assert [line.split()[3] for line in copies.splitlines() if line[:1] == "n"] == expected.split()


def test_clusters_stay(tmp_path: Path) -> None:
    out = tmp_path / "both.conll"
    augment(written(tmp_path, TAGGED), "names", out)
    first, second = read_conll(out).documents
    assert first.clusters == second.clusters
    assert (first.name, second.name) == ("a/b_0001", "a/b_0001_a")


def test_without_tags_the_words_around_decide(tmp_path: Path) -> None:
    made, copies = _made(tmp_path, UNTAGGED, "anonymised")
    lines = copies.splitlines()
    assert [line.split("\t")[3] for line in lines if line.startswith("x")] == ["E1", "told", "him", "back", "."]
    assert lines[1].startswith("x//0_a\t0\t0\t")
    assert made.ambiguous == ["x//0: Lee told her back ."]


def test_what_is_wrong(tmp_path: Path) -> None:
    both = TAGGED + TAGGED.replace("b_0001", "b_0001_a")
    with pytest.raises(DataError, match="would be named 'a/b_0001_a'"):
        augment(written(tmp_path, both), "names", tmp_path / "out")
    with pytest.raises(DataError, match="expected #end document"):
        augment(written(tmp_path, TAGGED.replace("#end document", "")), "names", tmp_path / "out")


def test_command(tmp_path: Path, coref: Callable[..., str]) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("name\tgender\tA\nAnn\tfemale\t3\nBob\tmale\t3\nLee\tmostly_male\t1\n", encoding="utf-8")
    data, out = written(tmp_path, TAGGED), tmp_path / "out.conll"
    arguments = ["augment", "--data", data, "--out", out]
    result = json.loads(coref(*arguments, "--kind", "names", "--names", names, "--json"))
    assert (result["counts"]["words of names replaced"], result["counts"]["gendered words swapped"]) == (3, 3)
    assert out.read_text(encoding="utf-8").startswith(TAGGED)
    assert len(read_conll(out).documents) == 2
    assert "|kind:names|list:given|" in result["signature"]
    shown = coref(*arguments, "--kind", "anonymised", "--only-copies")
    assert re.search(r"^counts: words of names replaced +3$", shown, re.MULTILINE)
    assert "list:example" in shown
    assert [d.name for d in read_conll(out).documents] == ["a/b_0001_a"]
    assert read_conll(out).documents[0].words[:3] == ("E1", "gave", "his")
