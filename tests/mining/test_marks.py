"""What a mined row says of itself, against BUG's own columns (the paper's first version of Gold
BUG)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.corpora.bug import BugRow, read_rows
from mtbias.english.dependencies import Node, ParsedSentence
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.mining.mined_rows import COLUMN_OF_GENDER, num_of_pronouns, read_occupations
from mtbias.mining.parsed_sentence import SentenceTokens, sentence_tokens
from mtbias.types import Span


@pytest.fixture(scope="module")
def gold(shared: Path) -> list[BugRow]:
    _, rows = read_rows(
        shared / "data/bug/gold_BUG.csv", "bug-gold-paper", "g", "distance", "num_of_pronouns"
    )
    return [row for row in rows if row.sentence.strip()]


def test_the_gender_is_that_of_every_row(gold: list[BugRow]) -> None:
    columns = [COLUMN_OF_GENDER[GENDER_OF_PRONOUN[row.record.get("g").lower()]] for row in gold]
    assert (len(columns), columns) == (1719, [row.record.get("predicted gender") for row in gold])


def test_pronouns_are_counted_as_the_release_does(gold: list[BugRow]) -> None:
    # BUG_MINING.md, section 4: 1,563 of 1,719; the other numbers are those of an earlier program.
    same = [num_of_pronouns(row.sentence) == row.record.integer("num_of_pronouns") for row in gold]
    assert sum(same) == 1563


def test_distance_and_stereotype_are_those_of_every_row(gold: list[BugRow], shared: Path) -> None:
    # BUG_MINING.md, section 4: 1,719 of 1,719. The corpus's indices count tokens that single spaces
    # join.
    table = read_occupations(shared / "data/bug/inc_occ_gender.csv")
    for row in gold:
        profession, g = (
            row.record.integer("profession_first_index"),
            row.record.integer("g_first_index"),
        )
        tokens = SentenceTokens(tuple(row.sentence.split(" ")), (profession, g))
        assert tokens.distance(0, 1) == row.record.integer("distance")
        gender = GENDER_OF_PRONOUN[row.record.get("g").lower()]
        assert table.stereotype(row.profession, gender) == int(row.record.get("stereotype"))


def test_hers_is_no_pronoun_that_bug_counts() -> None:
    assert (
        num_of_pronouns("He's sure that his/her book is Hers, not the sheriff's.") == 3
    )  # he, his, her


def words(text: str, *forms: tuple[str, str]) -> ParsedSentence:
    """A flat tree over words given as (form, what is written of it)."""
    nodes = []
    start = 0
    for form, written in forms:
        start = text.index(written, start)
        nodes.append(
            Node(form=form, upos="X", deprel="dep", head=-1, span=Span(start, start + len(written)))
        )
    return ParsedSentence(text=text, nodes=tuple(nodes))


def test_a_multiword_token_is_split_where_its_words_are_what_is_written() -> None:
    text = "The nurse didn't say 1 000 he's gonna go."
    parts = [
        ("The", "The"),
        ("nurse", "nurse"),
        ("did", "didn't"),
        ("n't", "didn't"),
        ("say", "say"),
    ]
    parts += [
        ("1 000", "1 000"),
        ("he", "he's"),
        ("is", "he's"),
        ("going", "gonna"),
        ("to", "gonna"),
        ("go", "go"),
    ]
    tokens = sentence_tokens(words(text, *parts, (".", ".")))
    assert tokens.text == "The nurse did n't say 1 000 he's gonna go ."
    assert tokens.first == (0, 1, 2, 3, 4, 5, 7, 7, 8, 8, 9, 10)
    assert tokens.token(1) == "nurse"
    assert tokens.distance(10, 1) == 8
