"""Prompts: those that ship, one's own, and files that are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mtbias.entry_points import installed
from mtbias.errors import DataError, UsageError
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.language.installed import GROUP as LANGUAGES
from mtbias.reading.sentence_pair import Pair
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings
from mtbias.translate.language_models.prompt_files import list_prompts, load_prompt
from mtbias.types import Gender, Span

GENDERED = {"her", "hers", "his"}
SOURCE = "The doctor {language} came."  # braces of a sentence are text
OWN = """
name = "own"
version = "2.1"
languages = ["de", "es"]

[[messages]]
role = "system"
content = "You translate into {language} ({language_code})."

[[messages]]
role = "user"
content = "The nurse came."

[[messages]]
role = "assistant"
content = '{"text": "…"}'

[[messages]]
role = "user"
content = "{source}"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        # As the model cards and the paper have them, blanks before line ends included.
        (
            "tower",
            f"Translate the following text from English into German.\nEnglish: {SOURCE}\nGerman:",
        ),
        (
            "eurollm",
            f"Translate the following English source text to German:\nEnglish: {SOURCE} \nGerman: ",
        ),
        (
            "mittens",
            f"Translate the following text from English to German.\n\nEnglish: {SOURCE}\nGerman:",
        ),
    ],
)
def test_published_wordings_are_exact(name: str, asked: str) -> None:
    assert load_prompt(name).filled(SOURCE, "de") == [{"role": "user", "content": asked}]


def test_every_prompt_that_ships_names_the_language_of_the_sources() -> None:
    for prompt in list_prompts():
        if prompt.examples:
            continue  # they are in English
        (message,) = prompt.filled(SOURCE, "de", "fr")
        assert "French" in message["content"]
        assert "English" not in message["content"]


def test_every_prompt_that_ships_says_what_it_is_and_asks_in_every_language() -> None:
    prompts = list_prompts()
    names = "alternatives eurollm feminine few-shot gender-aware masculine mittens plain tower"
    assert [prompt.name for prompt in prompts] == names.split()
    for prompt in prompts:
        assert prompt.about
        assert prompt.origin
        for lang, language in (("ar", "Arabic"), ("uk", "Ukrainian")):
            message = prompt.filled(SOURCE, lang)[-1]
            assert language in message["content"]
            assert SOURCE in message["content"]


def test_examples_are_asked_for_as_the_sentence_is() -> None:
    turns = load_prompt("few-shot").filled(SOURCE, "de")
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2 + ["user"]
    woman_first, man_first, _ = (turn["content"] for turn in turns[::2])
    assert woman_first == (
        "English: The singer forgot her umbrella and asked the neighbor for his.\nGerman:"
    )
    assert turns[1]["content"].startswith("Die Sängerin")
    assert man_first.startswith("English: The dancer lost his ticket")
    assert turns[3]["content"].startswith("Der Tänzer")
    assert turns[4]["content"] == f"English: {SOURCE}\nGerman:"
    with pytest.raises(
        UsageError, match="the examples of the prompt few-shot are in English, the "
    ):
        load_prompt("few-shot").filled(SOURCE, "de", "fr")
    with pytest.raises(UsageError, match=r"few-shot is for ar, cs, .*; got the language"):
        load_prompt("few-shot").filled(SOURCE, "nl")


def test_examples_show_a_woman_and_a_man_in_each_place_in_every_language() -> None:
    prompt = load_prompt("few-shot")
    assert set(prompt.languages) == set(installed(LANGUAGES))
    (first, second), *others = ([source for source, _ in each] for each in prompt.examples.values())
    assert all(other == [first, second] for other in others)
    pronouns = [
        [word for word in re.findall(r"\w+", each) if word in GENDERED] for each in (first, second)
    ]
    assert pronouns == [["her", "his"], ["his", "hers"]]


@pytest.mark.slow
@pytest.mark.parametrize("lang", load_prompt("few-shot").languages)
def test_the_evaluator_reads_the_genders_of_the_examples(lang: str, stanza_dir: Path) -> None:
    people = [("singer", "neighbor"), ("dancer", "actor")]
    pairs = []
    for (source, target), entities in zip(
        load_prompt("few-shot").examples[lang], people, strict=True
    ):
        for entity in entities:
            at = source.index(entity)
            pairs.append(Pair(entity, source, target, Span(at, at + len(entity)), entity))
    settings = EvaluatorSettings(stanza_dir=stanza_dir)
    measure = GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=settings, device="cpu"))
    assert [call.gender for call in measure.call_pairs(pairs)] == [
        *(Gender.FEMALE, Gender.MALE),
        *(Gender.MALE, Gender.FEMALE),
    ]


def test_a_prompt_of_ones_own_is_a_file(own: Path) -> None:
    prompt = load_prompt(own)
    assert prompt == load_prompt(str(own))
    assert prompt.filled(SOURCE, "de") == [
        {"role": "system", "content": "You translate into German (de)."},
        {"role": "user", "content": "The nurse came."},
        {"role": "assistant", "content": '{"text": "…"}'},
        {"role": "user", "content": SOURCE},
    ]
    with pytest.raises(UsageError, match="the prompt own is for de, es; got the language ru"):
        prompt.filled(SOURCE, "ru")


def test_the_hash_is_of_what_is_asked_and_how_it_is_read(own: Path) -> None:
    before = load_prompt(own)
    own.write_text(f"# a comment\n{OWN}", encoding="utf-8")
    assert load_prompt(own).sha256 == before.sha256
    assert before.label == f"own/2.1#{before.sha256[:8]}"
    for other in (OWN.replace("You translate", "Translate"), f'{OWN}\n[answer]\nlines = "first"\n'):
        own.write_text(other, encoding="utf-8")
        assert load_prompt(own).sha256 != before.sha256


LEAST = 'name = "a"\nversion = "1"\n[[messages]]\nrole = "user"\ncontent = "x {source}"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("=", "expected TOML, got something else"),
        ('name = "a"\n', "version: expected this key, it is not there"),
        (LEAST.replace('"1"', "1"), "version: expected text, got 1"),
        (
            LEAST.replace('"a"', '"a|b"'),
            "name: expected letters from a to z, digits and .-_, got 'a|b'",
        ),
        (
            LEAST.replace("source", "sorce"),
            "expected only {source}, {language}, {language_code}, {source_language} in braces, got {sorce}",
        ),
        (LEAST.replace("x {source}", "x"), "messages: expected {source} in the last one"),
        (
            LEAST.replace('"user"', '"usr"'),
            "messages.0.role: expected system, user or assistant, got 'usr'",
        ),
        (LEAST.replace('"user"', '"assistant"'), "expected user and assistant in turn, user last"),
        ('name = "a"\nversion = "1"\nmessages = []\n', "system only first; got none"),
        (f"{LEAST}colour = 1\n", "messages.0.colour: unknown key; there are content, role"),
        (f"colour = 1\n{LEAST}", "colour: unknown key; there are about, answer, examples"),
        (
            f'{LEAST}[answer]\nlines = "many"\n',
            "answer.lines: expected one, first or alternatives, got 'many'",
        ),
        (f'{LEAST}[answer]\nbetween = ["<a>"]\n', "answer.between"),
        (
            f'{LEAST}[examples]\nde = [["Yes.", "Ja."]]\n',
            "languages: expected those of the examples, de; got none",
        ),
        (
            f'languages = ["de"]\n{LEAST}[examples]\nde = [["Yes.", " "]]\n',
            "examples.de: expected pairs of a sentence and its translation, none blank",
        ),
        (f'languages = ["de"]\n{LEAST}[examples]\nde = []\n', "examples.de: expected pairs"),
        (f'languages = ["de"]\n{LEAST}[examples]\nde = [["Yes."]]\n', "examples.de.0"),
        (
            f'{LEAST}[answer]\nbetween = ["", "b"]\n',
            "between: expected two marks that are not blank",
        ),
    ],
)
def test_a_file_that_is_no_prompt_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        load_prompt(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_lists_the_prompts_and_a_path_says_that_nothing_is_there(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        UsageError,
        match=r"\.toml file, got 'towr'; did you mean tower\? there are alternatives, eurollm, ",
    ):
        load_prompt("towr")
    with pytest.raises(DataError, match="there is no such file"):
        load_prompt(str(tmp_path / "none"))
