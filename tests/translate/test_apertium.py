"""Apertium as a kind of system: what it needs, what names its run, and which translation belongs to
which text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from mtbias.errors import DependencyError, ModelError, SettingError
from mtbias.settings import TranslationSettings
from mtbias.translate.apertium_system import APERTIUM_KIND, ApertiumSystem
from mtbias.translate.system import MemoryStore, SystemRequest
from mtbias.types import SourceSentence

TEXTS = (
    "The nurse ended",
    "The nurse is tired.",
    "She [said] {it} ^x$ <b>/@\\.",
    "A red  house\nand a zrkbx",
    "*Star ~ #hash!",
)
"""Without a last mark, with marks that Apertium reads, with a line's end, and with an unknown
word."""


@dataclass(frozen=True)
class Corpus:
    """Sentences to translate."""

    instances: Sequence[SourceSentence]

    @property
    def rows(self) -> int:
        return len(self.instances)


def opened(name: str, lang: str) -> ApertiumSystem:
    return APERTIUM_KIND.open(
        SystemRequest(
            name=name,
            lang=lang,
            settings=TranslationSettings(),
            device=None,
            cache=Path("none"),
            offline=True,
        )
    )


def translated(system: ApertiumSystem, texts: Sequence[str]) -> list[str | None]:
    corpus, store = (
        Corpus([SourceSentence(f"s{i}", i, text) for i, text in enumerate(texts)]),
        MemoryStore(),
    )
    plan = system.plan(corpus, {})
    assert len(plan.sizes) == 1
    plan.translate(store, [0], lambda *_: None)
    found = plan.collect(store)
    assert not isinstance(found, int)
    return [one.text for one in found.translations]


@pytest.fixture
def spanish() -> ApertiumSystem:
    try:
        return opened("eng-spa", "es")
    except DependencyError as error:
        pytest.skip(str(error))


@pytest.mark.apertium
def test_each_text_has_its_own_translation(spanish: ApertiumSystem) -> None:
    first, second, third, fourth, fifth, _ = (
        str(text) for text in translated(spanish, [*TEXTS, "The nurse ended"])
    )
    assert first.startswith("El enfermero")
    assert first[-1].isalpha()
    assert second == "El enfermero está cansado."
    assert all(mark in third for mark in ("[", "{", "^", "$", "<b>", "/@\\."))
    assert fourth.endswith(" zrkbx")
    assert fifth.endswith("#hash!")


@pytest.mark.apertium
def test_a_run_is_named_by_program_and_data(spanish: ApertiumSystem, tmp_path: Path) -> None:
    corpus = Corpus([SourceSentence("s0", 0, TEXTS[0])])
    identity = spanish.plan(corpus, {}).identity
    assert identity["model"] == "apertium:eng-spa"
    version, _, data = str(identity["revision"]).partition("/sha256:")
    assert version[0].isdigit()
    assert len(data) == 16
    rules = tmp_path / "rules"
    rules.write_text("other rules")
    (tmp_path / "eng-spa.mode").write_text(f"lt-proc '{rules}'")
    assert ApertiumSystem((tmp_path / "eng-spa.mode",)).plan(corpus, {}).identity != identity


@pytest.mark.apertium
def test_what_goes_wrong_is_said_in_one_line(spanish: ApertiumSystem, tmp_path: Path) -> None:
    assert translated(spanish, TEXTS)
    (tmp_path / "eng-lost.mode").write_text(f"lt-proc '{__file__}'")
    with pytest.raises(
        ModelError,
        match=r"expected 2 lines of apertium eng-lost, got status 1: Error: Mode eng-lost does not",
    ):
        translated(ApertiumSystem((tmp_path / "eng-lost.mode",)), TEXTS[:2])
    with pytest.raises(
        DependencyError, match=r"no eng-rus here.*install apertium-eng-rus \(or apertium-rus-eng\)"
    ):
        opened("eng-rus", "ru")


@pytest.mark.parametrize("name", ["", "english", "eng-spa+", "../eng-spa", "eng-spa spa-ita"])
def test_a_system_is_named_by_its_pairs(name: str) -> None:
    with pytest.raises(SettingError, match="expected apertium:eng-spa"):
        opened(name, "es")


@pytest.mark.parametrize(
    "name", ["spa-eng", "eng-fra", "eng-spa+por-ita", "es-en+spa-ita", "eng-spa+spa-fra"]
)
def test_pairs_lead_from_english_to_the_language(name: str) -> None:
    with pytest.raises(ModelError, match="does not translate from en into it"):
        opened(name, "it")


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        DependencyError, match="not installed; on Debian: apt-get install apertium apertium-eng-spa"
    ):
        opened("eng-spa+es-fr", "fr")


@pytest.mark.parametrize(
    ("prints", "message"),
    [("echo 3.8.3; exit 1", "got status 1 and '3.8.3"), ("echo none", "got status 0 and 'none")],
)
def test_a_program_that_does_not_tell_its_version_is_refused(
    prints: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "apertium"
    program.write_text(f"#!/bin/sh\n{prints}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=f"expected the version from `apertium -V`, {message}"):
        ApertiumSystem((tmp_path / "eng-spa.mode",)).plan(Corpus([]), {})


def test_a_pair_without_data_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program, mode = tmp_path / "apertium", tmp_path / "eng-spa.mode"
    program.write_text("#!/bin/sh\necho 3.8.3\n")
    program.chmod(0o755)
    mode.write_text("cat")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ModelError,
        match=r"expected the files of rules and dictionaries in .*eng-spa.mode, got none",
    ):
        ApertiumSystem((mode,)).plan(Corpus([]), {})
