"""Counterfactual copies of CoNLL-2012 files, on sentences of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.augmentation import Kind, MadeFile, ProperNouns, augment
from mtbias.coref.documents import NO_TAG, CorefText, exported, read_conll
from mtbias.english.people import read_names
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


LISTED = """\
Ann\tfemale\t3
Max\tmale\t3
Bob\tmale\t1
joy\tmostly_female\t1
Lee\tmale\t1
"""
"""Bob, joy and Lee are names without counterpart."""


def _made(
    folder: Path,
    text: str,
    kind: Kind,
    names: str = LISTED,
    proper_nouns: ProperNouns | None = None,
) -> tuple[MadeFile, str]:
    """What is said of the copies, and their text."""
    listed = folder / "names.tsv"
    listed.write_text(f"name\tgender\tA\n{names}", encoding="utf-8")
    out, data = folder / "out.conll", written(folder, text)
    made = augment(data, kind, out, names=listed, only_copies=True, proper_nouns=proper_nouns)
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
    # her, son, HER are words; Ann twice is replaced, Bob has no counterpart; joy is a name only by
    # spelling (NN).
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


def _first_word(sentences: Sequence[Sequence[str]]) -> tuple[list[set[int]], str]:
    """A tagger that finds a proper noun at the beginning of each sentence."""
    return [{0} for _ in sentences], "first-word"


def test_without_tags_the_words_around_decide(tmp_path: Path) -> None:
    made, copies = _made(tmp_path, UNTAGGED, "anonymised", proper_nouns=_first_word)
    lines = copies.splitlines()
    assert [line.split("\t")[3] for line in lines if line.startswith("x")] == [
        "E1",
        "told",
        "him",
        "back",
        ".",
    ]
    assert lines[1].startswith("x//0_a\t0\t0\t")
    assert made.ambiguous == ["x//0: Lee told her back ."]
    assert made.signature.endswith("|proper-nouns:first-word|mtbias:0.1.0")


NOUNS = """\
#begin document (x//0); part 000
x//0 0 0 The TAG * - - - - * (0
x//0 0 1 developer TAG * - - - - * 0)
x//0 0 2 met TAG * - - - - * -
x//0 0 3 Max TAG * - - - - * (1)
x//0 0 4 . TAG * - - - - * -

x//0 0 0 Joy TAG * - - - - * -
x//0 0 1 left TAG * - - - - * -
x//0 0 2 the TAG * - - - - * -
x//0 0 3 Max TAG * - - - - * -
#end document
"""
"""Names may be The, Joy and Max; Max behind an article is a place or a thing."""
SPELT_LIKE_NAMES = "The\tmale\t2\nAnn\tfemale\t2\nMax\tmale\t3\nEve\tfemale\t3\nJoy\tfemale\t1\n"


@pytest.mark.parametrize("tag", [NO_TAG, "-", "_", "*"])
def test_what_may_be_a_name_is_asked_about_where_no_word_has_a_tag(
    tmp_path: Path, tag: str
) -> None:
    asked: list[Sequence[Sequence[str]]] = []

    def tagger(sentences: Sequence[Sequence[str]]) -> tuple[list[set[int]], str]:
        asked.append(sentences)
        return [{0, 3}, set()], "ours"

    text = NOUNS.replace("TAG", tag)
    _, copies = _made(tmp_path, text, "names", names=SPELT_LIKE_NAMES, proper_nouns=tagger)
    assert [list(map(tuple, sentences)) for sentences in asked] == [
        [("The", "developer", "met", "Max", "."), ("Joy", "left", "the", "Max")]
    ]
    words = [line.split()[3] for line in copies.splitlines() if line[:1] == "x"]
    # The is none though the tagger says so, Joy is none since it says nothing, nor is the second
    # Max.
    assert words == ["The", "developer", "met", "Eve", ".", "Joy", "left", "the", "Max"]


def test_a_file_without_tags_needs_somebody_who_finds_them(tmp_path: Path) -> None:
    text = NOUNS.replace("TAG", "-")
    with pytest.raises(
        DataError, match=r"in.conll:2: expected parts of speech in the fifth column"
    ):
        _made(tmp_path, text, "names", names=SPELT_LIKE_NAMES)
    # Words that are spelt like names are no question where names stay and these are no gendered
    # words.
    _, copies = _made(tmp_path, text, "words", names=SPELT_LIKE_NAMES)
    assert copies == text.replace("x//0", "x//0_a")
    # Nor where no word is: The in front of a noun is never a name.
    _made(
        tmp_path, text.replace("Max", "Eva").replace("Joy", "Ida"), "names", names=SPELT_LIKE_NAMES
    )


def test_articles_are_no_names_whatever_their_tag(tmp_path: Path) -> None:
    text = NOUNS.replace("TAG", "NNP")
    _, copies = _made(tmp_path, text, "anonymised", names=SPELT_LIKE_NAMES)
    words = [line.split()[3] for line in copies.splitlines() if line[:1] == "x"]
    assert words == ["The", "developer", "met", "E1", ".", "E2", "left", "the", "Max"]
    persons = ENTITIES.replace("Barack", "The   ")
    _, copies = _made(tmp_path, persons, "anonymised", names=SPELT_LIKE_NAMES)
    words = [line.split()[3] for line in copies.splitlines() if line[:1] == "n"]
    assert words[:5] == ["The", "E1", "met", "E2", "E3"]


def test_where_nothing_changes_there_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    as_they_are = "in.conll: the copies are the documents as they are: "
    tagged, no_list = NOUNS.replace("TAG", "NNP"), "Eve\tfemale\t3\n"
    cases: list[tuple[str, Kind, str, str]] = [
        (tagged, "names", no_list, f"{as_they_are}no word is a name of the list"),
        (tagged, "words", no_list, f"{as_they_are}there are no gendered words"),
        (
            tagged,
            "names",
            "Max\tmale\t3\n",
            f"{as_they_are}the list has no counterpart of the 1 first names",
        ),
        (TAGGED, "names", no_list, "in.conll: no name was replaced: no word is a name of the list"),
        (ENTITIES, "names", no_list, "no person among the named entities has a name of the list"),
    ]
    for text, kind, names, warning in cases:
        caplog.clear()
        _made(tmp_path, text, kind, names=names)
        (record,) = caplog.records
        assert record.levelname == "WARNING"
        assert warning in record.message
    caplog.clear()
    _made(tmp_path, TAGGED, "names")
    assert not caplog.records


def test_pairs_of_words_that_do_not_occur_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    swaps = tmp_path / "swaps.tsv"
    for pairs, warns in (("king\tqueen\n", True), ("king\tqueen\nson\tgirl\n", False)):
        swaps.write_text(pairs, encoding="utf-8")
        caplog.clear()
        augment(written(tmp_path, TAGGED), "words", tmp_path / "out", swaps=swaps)
        texts = [record.message for record in caplog.records]
        assert [f"no word of {swaps} is in it" in text for text in texts] == [True] * warns


def test_names_of_several_words_are_no_counterparts(tmp_path: Path) -> None:
    """A blank within a word would be a column more. Jean Luc is more like Ann than Max is."""
    names = "Ann\tfemale\t3\nJean Luc\tmale\t3\nMax\tmale\t1\n"
    _, copies = _made(tmp_path, TAGGED, "names", names=names)
    assert read_conll(tmp_path / "out.conll").documents[0].words[0] == "Max"
    assert "Jean" not in copies


def test_an_exported_data_set_by_stanza(
    tmp_path: Path, stanza_dir: Path, coref: Callable[..., str]
) -> None:
    """What `coref export` writes has no tags; lists of many languages have The among their
    names."""
    sentence = "The developer met Anna in May . The nurse thanked Max and the King of Spain ."
    text = CorefText("d", tuple(sentence.split()), sentence, (), sentence_ends=(6,))
    data, out = tmp_path / "exported.conll", tmp_path / "out.conll"
    data.write_text("\n".join(exported([text], "conll")) + "\n", encoding="utf-8")
    names = tmp_path / "names.tsv"
    pairs = [("The", "Anna"), ("Max", "May"), ("King", "Spain")]
    rows = [f"{m}\tmale\t{n}\n{f}\tfemale\t{n}\n" for n, (m, f) in enumerate(pairs)]
    names.write_text("name\tgender\tfrequency\n" + "".join(rows), encoding="utf-8")
    argv = ["augment", "--data", data, "--out", out, "--kind", "names", "--names", names]
    result = json.loads(coref(*argv, "--stanza-dir", stanza_dir, "--only-copies", "--json"))
    made = read_conll(out).documents[0].words
    assert made[:4] == ("The", "developer", "met", "The")  # Anna's counterpart in this list
    assert made[7:11] == ("The", "nurse", "thanked", "May")
    assert "|proper-nouns:stanza/" in result["signature"]


def test_without_tags_and_tagger_the_command_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path, NOUNS.replace("TAG", NO_TAG))
    names = tmp_path / "names.tsv"
    names.write_text(f"name\tgender\tA\n{SPELT_LIKE_NAMES}", encoding="utf-8")
    words = ["--data", data, "--names", names, "--kind", "names", "--out", tmp_path / "o"]
    assert main(["coref", "augment", *map(str, words), "--stanza-dir", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "mtbias: the file has no parts of speech, and names are found by Stanza's"
    )
    assert "--stanza-dir names a folder that has it" in line
    assert not (tmp_path / "o").exists()


def test_what_is_wrong(tmp_path: Path) -> None:
    both = TAGGED + TAGGED.replace("b_0001", "b_0001_a")
    with pytest.raises(DataError, match="would be named 'a/b_0001_a'"):
        augment(written(tmp_path, both), "names", tmp_path / "out")
    with pytest.raises(DataError, match="expected #end document"):
        augment(written(tmp_path, TAGGED.replace("#end document", "")), "names", tmp_path / "out")


def test_command(tmp_path: Path, coref: Callable[..., str]) -> None:
    names = tmp_path / "names.tsv"
    names.write_text(
        "name\tgender\tA\nAnn\tfemale\t3\nBob\tmale\t3\nLee\tmostly_male\t1\n", encoding="utf-8"
    )
    data, out = written(tmp_path, TAGGED), tmp_path / "out.conll"
    arguments = ["augment", "--data", data, "--out", out]
    result = json.loads(coref(*arguments, "--kind", "names", "--names", names, "--json"))
    assert (
        result["counts"]["words of names replaced"],
        result["counts"]["gendered words swapped"],
    ) == (3, 3)
    assert out.read_text(encoding="utf-8").startswith(TAGGED)
    assert len(read_conll(out).documents) == 2
    assert "|kind:names|list:given|" in result["signature"]
    shown = coref(*arguments, "--kind", "anonymised", "--only-copies")
    assert re.search(r"^counts: words of names replaced +3$", shown, re.MULTILINE)
    assert "list:example" in shown
    assert [d.name for d in read_conll(out).documents] == ["a/b_0001_a"]
    assert read_conll(out).documents[0].words[:3] == ("E1", "gave", "his")


def test_the_example_list_of_names_can_be_used(tmp_path: Path) -> None:
    """The file that docs/coref.md names: each name has a counterpart of the other gender."""
    example = Path(__file__).resolve().parents[2] / "docs/examples/first_names.tsv"
    listed = read_names(example)
    assert {listed.gender[name] for name in listed.counterparts} == set(listed.gender.values())
    assert listed.counterparts.keys() == listed.gender.keys()
    # Of equal frequencies, and so at distance 0 from each other: Anna and David, Edith and Otto.
    assert [listed.counterparts[name] for name in ("Anna", "Edith")] == ["David", "Otto"]
    out = tmp_path / "out.conll"
    made = augment(written(tmp_path, TAGGED.replace("Ann ", "Anna")), "names", out, names=example)
    assert made.counts["words of names replaced"] == 2
