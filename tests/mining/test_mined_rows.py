"""Filters: every find becomes a row, or is counted by the first reason for leaving it out; and the
file of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from mtbias.english.dependencies import Node, ParsedSentence
from mtbias.errors import SettingError
from mtbias.mining.mined_rows import (
    BOTH_GENDERS,
    NOT_LISTED,
    TOO_FAR,
    TOO_MANY_PRONOUNS,
    UNSURE,
    WITHIN_WORD,
    MinedRow,
    MiningOptions,
    Occupations,
    corpus_lines,
    rows_of,
)
from mtbias.mining.parsed_sentence import Find
from mtbias.types import Gender, Span

NURSES = Occupations({"nurse": Gender.FEMALE}, sha256="")


def sentence(text: str) -> ParsedSentence:
    """A flat tree over the words of `text`: the filters of the paper ask for no dependency."""
    nodes = []
    start = 0
    for form in text.split():
        start = text.index(form, start)
        nodes.append(
            Node(form=form, upos="X", deprel="dep", head=-1, span=Span(start, start + len(form)))
        )
        start += len(form)
    return ParsedSentence(text=text, nodes=tuple(nodes))


def judged(
    text: str, *pairs: tuple[str, str], max_distance: int = 20, max_pronouns: int = 4
) -> tuple[Sequence[MinedRow], dict[str, int]]:
    """The rows of the finds (profession, pronoun), each the first word of that spelling."""
    words = text.split()
    finds = [
        Find("11", 11, words.index(profession), words.index(pronoun))
        for profession, pronoun in pairs
    ]
    options = MiningOptions(max_distance=max_distance, max_pronouns=max_pronouns)
    made = rows_of(
        sentence(text), finds, NURSES, options, corpus="ward", file="ward.txt", offset=70
    )
    return made[0], dict(made[1])


def test_a_row_has_bugs_columns() -> None:
    (row,), left_out = judged("Then the Nurse wrote his report to him .", ("Nurse", "his"))
    assert (row.sentence_text, row.profession, row.g) == (
        "Then the Nurse wrote his report to him .",
        "Nurse",
        "his",
    )
    assert (row.profession_first_index, row.g_first_index, row.distance, row.num_of_pronouns) == (
        2,
        4,
        2,
        2,
    )
    assert (row.predicted_gender, row.stereotype) == ("Male", -1)
    assert (row.corpus, row.data_index, row.pattern, row.file, row.offset) == (
        "ward",
        17,
        "11",
        "ward.txt",
        70,
    )
    assert left_out == {}


def test_every_reason_is_counted() -> None:
    assert judged("a cook wrote his book", ("cook", "his"))[1] == {NOT_LISTED: 1}
    far = f"the nurse {'very ' * 20}tired lost her pen"  # her is 23 tokens behind
    assert judged(far, ("nurse", "her"))[1] == {TOO_FAR: 1}
    assert judged(far, ("nurse", "her"), max_distance=23)[1] == {}
    many = "the nurse said he and she and her and his and him"
    assert judged(many, ("nurse", "he"), ("nurse", "she"))[1] == {TOO_MANY_PRONOUNS: 2}
    assert judged(many, ("nurse", "he"), max_pronouns=5)[1] == {}


@pytest.mark.parametrize("pair", ["he or she", "she / he", "his or her", "her / his"])
def test_he_or_she_is_left_out(pair: str) -> None:
    assert judged(f"the nurse knew that {pair} was ill", ("nurse", pair.split(maxsplit=1)[0]))[
        1
    ] == {BOTH_GENDERS: 1}


def test_the_authors_look_for_he_or_she_in_this_case() -> None:
    assert judged("the nurse knew that He or she was ill", ("nurse", "He"))[1] == {}


def test_the_first_reason_counts() -> None:
    text = f"a cook {'very ' * 20}tired lost his or her pen"
    assert judged(text, ("cook", "his"))[1] == {NOT_LISTED: 1}


def test_the_edge_is_kept() -> None:
    rows, _ = judged(f"nurse {'x ' * 19}he", ("nurse", "he"))
    assert [row.distance for row in rows] == [20]


def test_a_pronoun_within_a_longer_token_is_left_out() -> None:
    # A treebank's words he and is, written he's: the column g would be no pronoun.
    text = "the nurse knows he's ill"
    written = Span(16, 20)
    parts = (
        ("the", Span(0, 3)),
        ("nurse", Span(4, 9)),
        ("knows", Span(10, 15)),
        ("he", written),
        ("is", written),
    )
    nodes = tuple(
        Node(form=form, upos="X", deprel="dep", head=-1, span=span) for form, span in parts
    )
    finds = [Find("4", 4, 1, 3)]
    made = rows_of(
        ParsedSentence(text, nodes), finds, NURSES, MiningOptions(), corpus="w", file="w", offset=0
    )
    assert made == ((), {WITHIN_WORD: 1})


def test_options_are_checked() -> None:
    with pytest.raises(SettingError, match=r"min_confidence.*at most 1"):
        MiningOptions(min_confidence=1.5)


def test_the_least_confidence_is_counted() -> None:
    # In her report the nurse: the pronoun stands first, which is a sign of another person.
    text = "In her report the nurse slept"
    finds = [Find("9", 14, 4, 1)]

    def made(options: MiningOptions) -> tuple[Sequence[MinedRow], Mapping[str, int]]:
        return rows_of(
            sentence(text), finds, NURSES, options, corpus="ward", file="ward.txt", offset=0
        )

    (row,), _ = made(MiningOptions())
    assert 0 < row.confidence < 0.6
    assert made(MiningOptions(min_confidence=0.9))[1] == {UNSURE: 1}


def test_the_file_has_bugs_columns_and_a_line_for_each_row() -> None:
    (row,), _ = judged("the nurse wrote his report", ("nurse", "his"))
    head, line = corpus_lines([replace(row, data_index=None, confidence=0.5, file="a\tb.txt:1")])
    assert dict(zip(head.split("\t"), line.split("\t"), strict=True)) == {
        "sentence_text": "the nurse wrote his report", "profession": "nurse", "profession_first_index": "1",
        "g": "his", "g_first_index": "3", "predicted gender": "Male", "stereotype": "-1", "distance": "2",
        "num_of_pronouns": "1", "corpus": "ward", "data_index": "", "pattern": "11", "confidence": "0.5000",
        "file": "a b.txt:1", "offset": "70",
    }  # fmt: skip
