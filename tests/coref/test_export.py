"""What systems are given: ids, tokens and text of every data set, and the way there and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.coref_datasets import open_dataset
from mtbias.coref.documents import (
    DATASETS,
    CorefText,
    DatasetName,
    Format,
    exported,
    joined,
    read_conll,
)
from mtbias.coref.output_reading import read_output
from tests.coref.small_corpora import write_winobias, write_winogender

BUG_ROWS = """\
sentence_text,tokens,profession,g,profession_first_index,g_first_index,predicted gender,stereotype,distance,\
num_of_pronouns,corpus,data_index
 The nurse  lost her hat .,[],nurse,her,1,4,Female,1,3,1,wikipedia,0
The clerk said he left .,[],clerk,he,1,3,Male,-1,2,1,wikipedia,1
"""
GAP_TEXT = 'Mr. Poe saw "Ann." She met Eve in 1990. 12 men left; he didn\'t.'


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path | None]:
    """Where a small file of each data set is."""
    for name in ("winobias", "winogender"):
        (tmp_path / name).mkdir()
    write_winobias(tmp_path / "winobias")
    write_winogender(tmp_path / "winogender")
    bug, gap, counter, words = (
        tmp_path / name for name in ("gold_BUG.csv", "gap.tsv", "c-gap.tsv", "words.toml")
    )
    bug.write_text(BUG_ROWS, encoding="utf-8")
    header = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\n"
    gap.write_text(
        f"{header}test-1\t{GAP_TEXT}\tShe\t19\tAnn\t13\tTRUE\tEve\t27\tFALSE\n", encoding="utf-8"
    )
    rows = [
        (part, "Ann" if n < 2 else "Tom", "she" if n < 2 else "he")
        for n, part in enumerate(("", "-control", "-swap-1", "-swap-2"))
    ]
    lines = [
        f"0{part}\t{name} met Eve as {word} left.\t{word}\t15\t{name}\t0\tTRUE\tEve\t8\tFALSE\n"
        for part, name, word in rows
    ]
    counter.write_text(header + "".join(lines), encoding="utf-8")
    words.write_text(
        'male_occupations = ["clerk"]\nfemale_occupations = ["dental nurse"]\n'
        'positive_adjectives = ["kind"]\nnegative_adjectives = ["loud"]\n',
        encoding="utf-8",
    )
    named = {"winobias": tmp_path / "winobias", "winogender": tmp_path / "winogender"}
    named["conll"] = tmp_path / "winobias" / "dev_type1_pro_stereotype.v4_auto_conll"
    return {**named, "gap": gap, "counter-gap": counter, "bug": bug, "sowinobias": words}


RIGHT = {
    "winobias": ("f1_pro", "f1_anti", "link_pro", "link_anti"),
    "winogender": ("male_accuracy", "female_accuracy", "neutral_accuracy"),
    "gap": ("f1:overall",),
    "counter-gap": ("accuracy",),
    "bug": ("accuracy",),
    "sowinobias": ("all:pro", "all:anti"),
    "conll": ("f1", "mentions", "muc", "b3", "ceafe"),
}
"""Numbers that are 100 where all is right."""


@pytest.mark.parametrize("form", ["conll", "jsonl"])
@pytest.mark.parametrize("dataset", DATASETS)
def test_there_and_back(
    dataset: DatasetName,
    form: Format,
    places: dict[str, Path | None],
    tmp_path: Path,
    coref: Callable[..., str],
) -> None:
    out, data = tmp_path / "out.file", places[dataset]
    arguments = [dataset, "--data", data, "--format", form, "--out", out]
    said = coref("export", *arguments, "--gold")
    assert f"Dataset: {dataset}\n" in said
    assert f"Out: {out}\n" in said
    words = ["score", dataset, "--data", data, "--predictions", out, "--resamples", 0, "--json"]
    (result,) = json.loads(coref(*words))["systems"]
    values = {
        one["key"]: one["value"] for one in result["numbers"] if one["part"] in {"", "dev type 1"}
    }
    assert {values[key] for key in RIGHT[dataset]} == {100}
    # Of the small data there is something to be said, of how the file was read there is not.
    assert not any(note.startswith("mentions") for note in result["notes"])
    # Without --gold there is nothing to be right with.
    coref("export", *arguments)
    texts = open_dataset(dataset, data).texts
    assert not any(read_output(texts, [out]).of.values())


@pytest.mark.parametrize("dataset", DATASETS)
def test_characters_of_the_text_are_those_of_its_tokens(
    dataset: DatasetName, places: dict[str, Path | None], tmp_path: Path
) -> None:
    """As fastcoref does: read the lines of the text, write characters."""
    texts = open_dataset(dataset, places[dataset]).texts
    lines = list(exported(texts, "text"))
    assert len(lines) == len(texts)
    rows = []
    for text, line in zip(texts, lines, strict=True):
        starts, at = [], 0
        for token in text.tokens:
            at = line.index(token, at) if token != "_" else at  # BUG's word without characters
            starts.append(at)
            at += len(token) if token != "_" else 0
        clusters = [
            [[starts[a], starts[b] + len(text.tokens[b])] for a, b in cluster]
            for cluster in text.gold
        ]
        rows.append({"text": line, "clusters": clusters, "clusters_strings": []})
    path = tmp_path / "fastcoref.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = read_output(texts, [path], ids=Path("order"))
    assert found.of == {text.id: text.gold for text in texts}


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_file_for_each_document(
    dataset: DatasetName, places: dict[str, Path | None], tmp_path: Path, coref: Callable[..., str]
) -> None:
    """As CoreNLP does: take the files of a folder, write one for each, words of its own."""
    given, back = tmp_path / "given", tmp_path / "back"
    given.mkdir()
    back.mkdir()
    coref("export", dataset, "--data", places[dataset], "--format", "text", "--out", given)
    texts = open_dataset(dataset, places[dataset]).texts
    assert len(list(given.iterdir())) == len(texts)
    for path in given.iterdir():
        tokens = [
            {"originalText": char}
            for char in path.read_text(encoding="utf-8")
            if not char.isspace()
        ]
        written = {"sentences": [{"tokens": tokens}], "corefs": {}}
        (back / f"{path.name}.json").write_text(json.dumps(written), encoding="utf-8")
    assert set(read_output(texts, [back]).of) == {text.id for text in texts}


def test_conll_of_a_text(places: dict[str, Path | None], tmp_path: Path) -> None:
    texts = open_dataset("gap", places["gap"]).texts
    path = tmp_path / "gap.conll"
    path.write_text("\n".join(exported(texts, "conll", gold=True)) + "\n", encoding="utf-8")
    (document,) = read_conll(path).documents
    sentences = [[columns[3] for columns in sentence] for sentence in document.sentences]
    assert [" ".join(words) for words in sentences] == [
        'Mr . Poe saw " Ann . "', "She met Eve in 1990 .", "12 men left ; he did n't .",
    ]  # fmt: skip
    assert document.sentences[1][0] == (
        "test-1",
        "0",
        "0",
        "She",
        "XX",
        "(TOP*",
        *["-"] * 4,
        "*",
        "(0)",
    )
    assert document.sentences[1][-1][5] == "*)"
    assert document.clusters == (((5, 5), (8, 8)),)


def test_json_of_a_row_of_bug(places: dict[str, Path | None]) -> None:
    texts = open_dataset("bug", places["bug"]).texts
    line = json.loads(next(iter(exported(texts, "jsonl"))))
    # Indices count the word without characters between the two blanks.
    assert line == {
        "id": "0", "doc_key": "0", "text": "The nurse  lost her hat .",
        "tokens": ["The", "nurse", "_", "lost", "her", "hat", "."],
        "sentences": [["The", "nurse", "_", "lost", "her", "hat", "."]], "speakers": [["-"] * 7], "clusters": [],
    }  # fmt: skip


def test_offsets_stay_where_a_text_has_line_ends() -> None:
    text = CorefText("a", ("He", "left"), "He\nleft", ())
    assert list(exported([text], "text")) == ["He left"]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("The clerk did n't see the nurse 's hat .", "The clerk didn't see the nurse's hat."),
        ("( He ) left , she said : yes !", "( He) left, she said: yes!"),
        ("He 'stays' here", "He 'stays' here"),
    ],
)
def test_tokens_as_a_text(tokens: str, text: str) -> None:
    assert joined(tokens.split()) == text


def test_wrong_usage(
    places: dict[str, Path | None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for words, said in (
        (
            ["gap", "--data", str(places["gap"]), "--format", "text", "--gold"],
            "plain text has no place for clusters",
        ),
        (["gapp", "--format", "text"], 'Invalid value "gapp"'),
        (["gap", "--format", "xml"], 'Invalid value "xml" for --format'),
    ):
        assert main(["coref", "export", *words, "--out", str(out)]) == 2
        assert said in capsys.readouterr().err
    assert not out.exists()


def test_sowinobias_needs_no_data(tmp_path: Path, coref: Callable[..., str]) -> None:
    out = tmp_path / "out.txt"
    result = json.loads(coref("export", "sowinobias", "--format", "text", "--out", out, "--json"))
    assert ["4,096" in note for note in result["notes"]] == [True]
    lines = out.read_text(encoding="utf-8").splitlines()
    assert result["documents"] == len(lines)
    assert lines[0].startswith("The ")
