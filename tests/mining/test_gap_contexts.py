"""Contexts of GAP's kind: trees by hand, and a text with Stanza's parser."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.gap_data import read_instances
from mtbias.english.dependencies import ParsedSentence
from mtbias.errors import DataError
from mtbias.files.writing import write_atomic
from mtbias.mining.mined_rows import MinedContext, context_lines, contexts_of, is_initial, may_hold
from mtbias.morphology.english_parser import PassageSentence
from mtbias.types import Gender
from tests.mining.small_trees import tree

GENDERS = {"Ann": Gender.FEMALE, "Joy": Gender.FEMALE, "Eve": Gender.FEMALE, "Max": Gender.MALE}
MET = tree("Ann/2/nsubj/NNP met/0/root/VBD Joy/2/obj/NNP with/5/case/IN Max/2/obl/NNP")
LEFT = tree("She/2/nsubj/PRP left/0/root/VBD")
SLEPT = tree("Eve/2/nsubj/NNP slept/0/root/VBD")
# While she slept, Joy met Max.
WHILE = tree(
    "While/3/mark/IN she/3/nsubj/PRP slept/6/advcl/VBD ,/3/punct/, Joy/6/nsubj/NNP met/0/root/VBD Max/6/obj/NNP"
)
# In her room Ann saw Joy.
ROOM = tree(
    "In/3/case/IN her/3/nmod:poss/PRP$ room/5/obl/NN Ann/5/nsubj/NNP saw/0/root/VBD Joy/5/obj/NNP"
)
# Ann saw Joy in her room.
BEHIND = tree(
    "Ann/2/nsubj/NNP saw/0/root/VBD Joy/2/obj/NNP in/6/case/IN her/6/nmod:poss/PRP$ room/2/obl/NN"
)


def mined(*parsed: ParsedSentence) -> list[MinedContext]:
    sentences, passage = [], ""
    for one in parsed:
        sentences.append(PassageSentence(0, len(passage), one))
        passage += one.text + " "
    return list(contexts_of(passage, sentences, GENDERS, corpus="c", file="f:1", offset=7))


@pytest.mark.parametrize(
    ("sentences", "found"),
    [
        # Both names before the pronoun: in its sentence, or in the one before; not further away.
        ([BEHIND], ("FINALPRO", "her", "Ann", "Joy")),
        ([MET, LEFT], ("FINALPRO", "She", "Ann", "Joy")),
        ([MET, tree("It/2/nsubj/PRP rained/0/root/VBD"), LEFT], None),
        # Both behind it, where it is in an initial phrase.
        ([ROOM], ("INITIALPRO", "her", "Ann", "Joy")),
        # One before its sentence, the other behind it.
        ([SLEPT, WHILE], ("MEDIALPRO", "she", "Eve", "Joy")),
        # Three women: the longest context of exactly two has one sentence less, and in it Eve is
        # none of them.
        ([SLEPT, MET, LEFT], ("FINALPRO", "She", "Ann", "Joy")),
        # One woman, or three in the sentences that are needed.
        ([WHILE], None),
        (
            [tree("Eve/2/nsubj/NNP saw/0/root/VBD Ann/2/obj/NNP and/5/cc/CC Joy/3/conj/NNP"), LEFT],
            None,
        ),
    ],
)
def test_patterns(sentences: list[ParsedSentence], found: tuple[str, ...] | None) -> None:
    contexts = mined(*sentences)
    words = [
        (one.pattern, *(one.sentence_text[slice(*at)] for at in (one.pronoun_at, one.a, one.b)))
        for one in contexts
    ]
    assert words == ([] if found is None else [found])


def test_the_longest_context_of_five_sentences() -> None:
    rained = tree("It/2/nsubj/PRP rained/0/root/VBD")
    (one,) = mined(rained, rained, rained, rained, MET, LEFT)
    assert one.sentence_text.count("rained") == 3
    assert one.offset == 7 + len("It rained ")
    (one,) = mined(SLEPT, rained, MET, LEFT)
    assert one.sentence_text == "It rained Ann met Joy with Max She left"


def test_a_file_of_contexts_is_read_as_it_was_written(tmp_path: Path) -> None:
    (one,) = mined(MET, LEFT)
    odd = replace(one, sentence_text=f'{one.sentence_text}\t"\u2028\x85', corpus="book")
    path = tmp_path / "contexts.tsv"
    write_atomic(path, context_lines([one, odd]))
    instances = read_instances(path, labelled=False).instances
    assert [(i.id, i.text) for i in instances] == [
        ("c-1", one.sentence_text),
        ("book-2", odd.sentence_text),
    ]


def test_an_initial_clause_or_phrase() -> None:
    assert is_initial(WHILE, 1)
    assert is_initial(ROOM, 1)
    assert not is_initial(BEHIND, 4)
    assert not is_initial(LEFT, 0)


def test_the_cheap_filter() -> None:
    assert may_hold("Ann met Joy; she left.")
    assert not may_hold("Ann met Joy and Max.")
    assert not may_hold("Ann said he left.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--kind", "gap", "--max-distance", "3"],
            "gap goes with --names, not with patterns, occupations or filters",
        ),
        (["--names", "n.tsv"], "expected it with --kind gap alone"),
    ],
)
def test_options_of_the_other_kind(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["corpora", "mine", "--text", "t.txt", "--out", str(tmp_path / "o.tsv"), *options])
        == 2
    )
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_from_text_to_quadruples(
    stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, out, quadruples = (
        tmp_path / name for name in ("book.txt", "contexts.tsv", "quadruples.tsv")
    )
    text.write_text(
        "It rained. Emma met Sarah in the garden with James and Robert. She gave them a book.\nNobody came.\n"
    )
    given = ["--stanza-dir", str(stanza_dir), "--json"]
    mine = [
        "corpora",
        "mine",
        "--kind",
        "gap",
        "--text",
        str(text),
        "--out",
        str(out),
        "--processes",
        "1",
    ]
    assert main([*mine, *given]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["rows"], report["matched"]) == (1, {"FINALPRO": 1})
    assert "| FINALPRO | 1 |" in out.with_suffix(".md").read_text(encoding="utf-8")
    with pytest.raises(DataError, match="A-coref: expected TRUE or FALSE, got ''"):
        read_instances(out)
    (instance,) = read_instances(out, labelled=False).instances
    assert (instance.id, *instance.names, instance.pronoun) == ("book-1", "Emma", "Sarah", "She")
    assert instance.others == {"URL": f"{text}:1", "Pattern": "FINALPRO"}
    assert (
        main(["coref", "counterfactual", "--data", str(out), "--out", str(quadruples), *given]) == 0
    )
    made = read_instances(quadruples, labelled=False).instances
    assert (
        made[2].text
        == "It rained. James met Robert in the garden with Emma and Sarah. He gave them a book."
    )
