"""Corpora by entry points: those that ship with mtbias and a third party's go the same way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.corpora import dataset_names, load_corpus, load_entities
from mtbias.corpora.corpus_kinds import GROUP, CorpusKind, find_corpus, needs_language
from mtbias.entry_points import installed
from mtbias.errors import MissingResourceError, PluginError, SettingError, UsageError
from mtbias.language.source import ENGLISH, source_language

BY_LANGUAGE = {"mt-geneval", "mt-geneval-entities", "mt-geneval-context"}
TABLE = "source\tgender\tentity\nThe doctor slept.\tfemale\tdoctor\n"
MINE = """\
from mtbias.corpora import CorpusKind
from mtbias.corpora.own_sentences import read_custom

class Mine(CorpusKind):
    def read(self, asked):
        return read_custom(asked.path, asked.source)

TOY = Mine()
"""
Install = Callable[..., None]


def _ours() -> list[str]:
    return [name for name, made in installed(GROUP).items() if made[0].startswith("mtbias ")]


def test_all_that_ship_are_registered() -> None:
    assert sorted(_ours()) == sorted(dataset_names())
    for name in _ours():
        kind = find_corpus(name)
        assert isinstance(kind, CorpusKind)
        assert (kind.by_language, kind.needs_language) == (name in BY_LANGUAGE, True)


def test_what_is_missing_is_told_by_name(tmp_path: Path) -> None:
    for name in set(_ours()) - {"demo", "custom"}:
        with pytest.raises(MissingResourceError, match=f"run: mtbias fetch --dataset {name}$"):
            load_corpus(name, None, cache=tmp_path, lang="de")
    with pytest.raises(UsageError, match="the dataset custom needs a file: give --data PATH"):
        load_corpus("custom", None, cache=tmp_path)


def test_other_sentences_for_each_language_want_one(tmp_path: Path) -> None:
    for name in BY_LANGUAGE:
        with pytest.raises(UsageError, match=f"the dataset {name} has other sentences for each"):
            load_corpus(name, None, cache=tmp_path)
        with pytest.raises(SettingError, match="expected the same sentences for all languages"):
            load_entities(name, None, tmp_path)


def test_only_sentences_of_ones_own_may_be_in_another_language(tmp_path: Path) -> None:
    french, path = source_language("fr"), tmp_path / "fr.txt"
    allowed = set()
    for name in _ours():
        kind = find_corpus(name)
        assert kind.may_be_in(ENGLISH, None)
        allowed |= {(name, data) for data in (None, path) if kind.may_be_in(french, data)}
    assert allowed == {("custom", None), ("custom", path), ("winomt", path)}
    with pytest.raises(SettingError, match="expected en, or custom or winomt with --data, got fr"):
        load_corpus("winomt", None, source_lang="fr")


def test_a_third_partys_corpus_is_read_by_its_name(install: Install, tmp_path: Path) -> None:
    install("toy-corpus", "mine", "toy_corpus", MINE, group=GROUP)
    table = tmp_path / "mine.tsv"
    table.write_text(TABLE)
    assert [each.source for each in load_corpus("mine", table).instances] == ["The doctor slept."]
    assert dataset_names()[-2:] == ("custom", "mine")
    assert needs_language("mine")


def test_names_that_nobody_registers_need_their_language() -> None:
    assert needs_language("sentences")  # in memory


def test_a_name_of_ours_is_not_taken(install: Install, tmp_path: Path) -> None:
    install("toy-corpus", "winomt", "toy_corpus", MINE, group=GROUP)
    with pytest.raises(PluginError, match=r"corpus 'winomt' is registered twice: .*toy-corpus 1.0"):
        load_corpus("winomt", tmp_path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("TOY = len\n", "expected a mtbias.corpora.CorpusKind, got <built-in function len>"),
        (
            MINE.replace("return read_custom(asked.path, asked.source)", "return [asked.name]"),
            "expected its read to give a mtbias.corpora.Corpus, got ['mine']",
        ),
    ],
)
def test_what_is_no_corpus_is_refused_with_its_distribution(
    install: Install, source: str, message: str
) -> None:
    install("toy-corpus", "mine", "toy_corpus", source, group=GROUP)
    with pytest.raises(PluginError) as caught:
        load_corpus("mine", None)
    assert str(caught.value) == f"corpus 'mine' of toy-corpus 1.0: {message}"
