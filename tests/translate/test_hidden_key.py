"""A key in a server's words is hidden, however disguised: nothing made of the words has it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.errors import one_line
from mtbias.files.text_repair import AS_WORDS, KINDS, OF_CHARACTERS, repair
from mtbias.translate.language_models.cleaning import clean
from mtbias.translate.language_models.prompt_files import load_prompt
from mtbias.translate.remote_server import server_line, without_key

from .key_disguises import DISGUISES, EACH, KEY, UNDONE_BY_NOBODY, UNDONE_IN_A_WORD_ALONE

SOURCE = "The doctor slept well yesterday and greeted the nurse."


def readings(text: str) -> list[str]:
    """What is made of an answer: repaired in each way and again, cleaned, shown, written as
    HTML."""
    kinds = (KINDS, AS_WORDS, OF_CHARACTERS)
    repaired = [repair(text, some).text for some in kinds]
    repaired += [repair(each, KINDS).text for each in repaired]
    cleaned = [
        clean(each, SOURCE, load_prompt("plain"), "de").text or "" for each in (text, *repaired)
    ]
    cleaned += [repair(each, KINDS).text for each in cleaned]
    found = [text, *repaired, *cleaned]
    return [*found, *map(one_line, found), *map(html.escape, found)]


def is_there(text: str) -> bool:
    return any(KEY in reading for reading in readings(text))


def test_every_kind_of_repair_has_its_disguises() -> None:
    assert set(DISGUISES) == set(KINDS)
    assert all(disguise(KEY) != KEY for _, disguise in EACH)


@pytest.mark.parametrize(("name", "disguise"), EACH, ids=[name for name, _ in EACH])
def test_a_key_in_disguise_is_hidden(name: str, disguise: Callable[[str], str]) -> None:
    for said in (f"Der Arzt {disguise(KEY)} schlief.", disguise(KEY), disguise(f"Der Arzt, {KEY}")):
        hidden = without_key(said, KEY)
        assert not is_there(hidden), hidden
        assert "[key]" in hidden or not is_there(said)
    if name not in UNDONE_BY_NOBODY | UNDONE_IN_A_WORD_ALONE:
        hidden = without_key(f"Der Arzt {disguise(KEY)} schlief.", KEY)
        assert re.fullmatch(r"Der ?Arzt ▁?\[key\][*`_]* ?schlief\.", hidden), hidden
        assert "[key]" in server_line(f"refused: {disguise(KEY)}", KEY)


@pytest.mark.parametrize(("name", "disguise"), EACH, ids=[name for name, _ in EACH])
def test_who_hides_the_key_as_it_is_would_show_it(
    name: str, disguise: Callable[[str], str]
) -> None:
    """The disguises are such: repair undoes them, but for a few."""
    lines = [f"Der Arzt {disguise(KEY)} schlief.", disguise(KEY)]
    assert any(is_there(line) for line in lines) is (name not in UNDONE_BY_NOBODY)


@given(st.lists(st.sampled_from([disguise for _, disguise in EACH]), max_size=3), st.booleans())
def test_disguises_upon_disguises(chosen: Sequence[Callable[[str], str]], of_all: bool) -> None:
    said = f"Die Ärztin schlief, {KEY}" if of_all else KEY
    for disguise in chosen:
        said = disguise(said)
    hidden = without_key(said if of_all else f"Die Ärztin {said} schlief.", KEY)
    assert not is_there(hidden), (said, hidden)


@pytest.mark.parametrize(
    "text",
    [
        "Der Arzt half der Ärztin, weil sie müde war.",
        "Врач помог пациенту.",
        "<b>Der Arzt</b> &amp; die Ärztin: 100 % = alles, m=C3=A9dico, `Code`",
        "▁Der ▁Arzt ▁schlief .",
        "sk-proj-",
        "secret",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_key(text, KEY) == text


def test_two_keys_and_what_stands_between() -> None:
    one, other = (dict(EACH)[name] for name in ("letters: wide", "entities: decimal"))
    said = f"A {one(KEY)} B {KEY} C {other(KEY)} D"
    assert without_key(said, KEY) == "A [key] B [key] C [key] D"


@pytest.mark.parametrize("key", ["x", "EMPTY", "none", "a-b_c*d"])
def test_a_word_is_no_secret(key: str) -> None:
    assert without_key(f"Der x EMPTY none a-b_c*d {key}", key) == f"Der x EMPTY none a-b_c*d {key}"


def test_a_key_that_looks_like_bytes_or_tags() -> None:
    """A key of hexadecimal digits behind an equals sign, and one within what looks like a tag."""
    key = "41bcdef0-2233-4455"
    said = f"key={key[:9]}\u200b{key[9:]}"
    assert without_key(said, key) == "key=[key]"
    assert without_key(f"<{dict(EACH)['letters: wide'](KEY)}>", KEY) == "<[key]>"


def test_an_answer_that_is_all_marks_takes_no_longer_than_its_length() -> None:
    """Each round undoes one of 2,000 levels; there are as many rounds as repair has, and some."""
    without_key("&" + "amp;" * 2_000, KEY)
    without_key("<" * 10_000, KEY)
