"""The short way through Stanza's models gives what Stanza's documents give, and is left where it
might not."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mtbias.errors import DependencyError
from mtbias.morphology import StanzaPackage, find_package
from mtbias.morphology.direct_tensors import MOST_CHARACTERS, Bulk, Unsupported
from mtbias.morphology.stanza_models import BATCH, DOCUMENTS, PROBES, StanzaModels
from mtbias.types import Analysis

LANGUAGES = ("ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk")
ODD = (
    "",
    " ",
    "  . ",
    "a",
    "\u0301",  # a combining mark alone
    "x\u0081 \u0085y\u0097",  # control characters that Stanza takes for blanks
    "a\tb\x1cc\u2028d",
    "Der  Arzt\u00a0 kommt .  ",
    "\u200fהרופאה\u200e הגיעה.",
    "\u202bالطبيبة\u202c وصلت.",
    "👩\u200d⚕️ Die Ärztin 👍🏽 geht.",
    "Die A\u0308rztin ist mu\u0308de.",
    "Siehe www.example.com und a.b@c.de: http://foo.bar/x?y.",
    "???!!! Was?! Wie!!!!!",
    "9.000 und 3,5 %",
    "zum Arzt zum ZUM Zum al dell'amica du médecin لهم בבית",
    "<PAD> <UNK> _ | = _|_",
    "wort" * 150,  # one token, longer than the tokenizer's windows
    "ein Wort " * (MOST_CHARACTERS // 9),
    "Nichts.\ufeff",
    "\U0001f468\ud7ff",
)

Make = Callable[[str], "Both"]


class Both(StanzaModels):
    """The models, which can be asked either way."""

    def __init__(self, package: StanzaPackage) -> None:
        super().__init__(package, "cpu")
        self.analyse(["a b"])

    @property
    def bulk(self) -> Bulk:
        assert self._bulk is not None
        return self._bulk

    def documents(self, texts: Sequence[str]) -> list[Analysis]:
        return self._through_documents(texts)


@pytest.fixture(scope="module")
def both(stanza_dir: Path) -> Make:
    @cache
    def make(code: str) -> Both:
        return Both(find_package(code, stanza_dir))

    return make


def translations(winomt: Path, code: str) -> list[str]:
    """Distinct translations of WinoMT by all systems that are there."""
    texts: dict[str, None] = {}
    for path in sorted((winomt / "translations").glob(f"*/en-{code}.txt")):
        texts.update(
            dict.fromkeys(line.split(" ||| ")[1] for line in path.read_text("utf-8").splitlines())
        )
    return list(texts)


@pytest.mark.parametrize("code", LANGUAGES)
def test_odd_texts(both: Make, code: str) -> None:
    assert both(code).bulk.analyse(ODD) == both(code).documents(ODD)


@pytest.mark.parametrize("code", LANGUAGES)
def test_some_translations(both: Make, winomt: Path, code: str) -> None:
    texts = translations(winomt, code)[::500]
    assert both(code).bulk.analyse(texts) == both(code).documents(texts)


@pytest.mark.slow
@pytest.mark.parametrize("code", LANGUAGES)
def test_many_translations(both: Make, winomt: Path, code: str) -> None:
    """A sixteenth of them; with ``MTBIAS_EVERY_TEXT=1`` all, which takes six CPU minutes."""
    texts = translations(winomt, code)[:: 1 if os.environ.get("MTBIAS_EVERY_TEXT") else 16]
    for n in range(0, len(texts), BATCH):
        batch = texts[n : n + BATCH]
        assert both(code).bulk.analyse(batch) == both(code).documents(batch)


@pytest.mark.parametrize("code", ["de", "he"])
def test_an_analysis_does_not_depend_on_the_texts_beside_it(
    both: Make, winomt: Path, code: str
) -> None:
    texts = translations(winomt, code)[:25]
    alone = [both(code).bulk.analyse([text])[0] for text in texts]
    assert both(code).bulk.analyse(texts) == alone
    assert both(code).bulk.analyse(texts[::-1]) == alone[::-1]


def test_long_texts_go_the_long_way(both: Make) -> None:
    long = "Der Arzt kommt. " * (MOST_CHARACTERS // 10)
    models = both("de")
    assert models.analyse(["kurz", long, "Die Ärztin geht."]) == models.documents(
        ["kurz", long, "Die Ärztin geht."]
    )


@pytest.mark.parametrize("first", ["", " \t", "Die Köchin schläft. " * (MOST_CHARACTERS // 10)])
def test_texts_that_prove_nothing_decide_nothing(stanza_dir: Path, first: str) -> None:
    models = StanzaModels(find_package("de", stanza_dir), "cpu")
    models.analyse([first])
    assert models._bulk is None
    models.analyse(["Die Köchin schläft."])
    assert models._bulk is not None


def test_nothing_but_the_three_processors_is_loaded(both: Make) -> None:
    # The index of the models names a default lemmatizer, which Stanza adds unless it is told not
    # to.
    assert list(both("de")._pipeline.processors) == ["tokenize", "mwt", "pos"]


@pytest.mark.parametrize(
    ("processor", "argument", "value", "reason"),
    [
        ("tokenize", "use_dictionary", True, "dictionary"),
        ("tokenize", "feat_funcs", ["space_before", "phone_id"], "phone_id"),
        ("tokenize", "skip_newline", True, "line breaks"),
        ("tokenize", "shorthand", "la_ittb", "la_ittb"),
        ("pos", "bert_model", "a-transformer", "transformer"),
    ],
)
def test_models_that_are_not_known_are_refused(
    both: Make,
    monkeypatch: pytest.MonkeyPatch,
    processor: str,
    argument: str,
    value: object,
    reason: str,
) -> None:
    pipeline = both("it")._pipeline
    monkeypatch.setitem(pipeline.processors[processor].trainer.args, argument, value)
    with pytest.raises(Unsupported, match=reason):
        Bulk(pipeline, words=100)


def test_a_stanza_that_does_not_understand_the_models_is_an_error(
    stanza_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What Stanza 1.10.1, 1.12.2 and 1.14.0 give for every word with models of 1.15, without any
    # error of their own.
    models = StanzaModels(find_package("it", stanza_dir), "cpu")
    plain = models._pipeline.bulk_process

    def padded(texts: Sequence[str]) -> Any:
        documents = plain(texts)
        for word in (
            word
            for document in documents
            for sentence in document.sentences
            for word in sentence.words
        ):
            word.feats = "Gender=<PAD>|Number=<PAD>"
        return documents

    monkeypatch.setattr(models._pipeline, "bulk_process", padded)
    with pytest.raises(
        DependencyError, match=r"reads no features with these models, which need 1\.15 or newer"
    ):
        models.analyse(["La cuoca dorme."])


@pytest.mark.parametrize("how", ["another answer", "an exception", "another layout"])
def test_where_the_short_way_fails_all_go_the_long_way(
    stanza_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    def wrong(_: Bulk, texts: Sequence[str]) -> list[Analysis]:
        if how == "an exception":
            raise RuntimeError("shapes do not fit")
        return [Analysis(text, ()) for text in texts]

    if how == "another layout":
        monkeypatch.setattr("stanza.models.pos.model.Tagger.forward", lambda self, word: word)
    else:
        monkeypatch.setattr(Bulk, "analyse", wrong)
    models = StanzaModels(find_package("it", stanza_dir), "cpu")
    if how == "another layout":  # Stanza itself would not work with it either
        assert models._trusted(["La cuoca dorme."]) is None
    else:
        with caplog.at_level(logging.WARNING):
            (found, *_) = models.analyse(["La cuoca dorme."] * (PROBES + 1))
        assert [token.text for token in found.tokens] == ["La", "cuoca", "dorme", "."]
        assert models._bulk is None
        (said,) = caplog.messages
        assert said.startswith(f"Stanza {version('stanza')}: ")
        assert "texts go through Stanza's documents, which takes two to four times as long" in said
        assert models.way == DOCUMENTS
