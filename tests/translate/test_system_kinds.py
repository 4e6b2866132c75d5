"""Kinds of systems by their scheme, and what each says of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.errors import PluginError, SettingError
from mtbias.settings import LanguageModelSettings, TranslationSettings
from mtbias.translate.system import GROUP, SystemRequest
from mtbias.translate.system_kinds import CheckpointKind, find_kind, is_of_kind

ADDRESS = "http://127.0.0.1:8000/v1"
USUAL = """\
from mtbias.translate.system import SystemKind

class Kind(SystemKind):
    def open(self, asked):
        raise NotImplementedError

TOY = Kind()
"""


def _asked(name: str, cache: Path) -> SystemRequest:
    return SystemRequest(
        name=name,
        lang="es",
        settings=TranslationSettings(),
        device=None,
        cache=cache,
        offline=True,
        language_model=LanguageModelSettings(base_url=ADDRESS),
    )


@pytest.mark.parametrize(
    ("model", "name", "needs_network", "is_other_program"),
    [
        ("opus-mt", "opus-mt", False, False),  # computed here
        ("openai:org/m", "org/m", True, True),  # another machine's, and its program's
        ("deepl:quality_optimized", "quality_optimized", True, True),
        ("apertium:eng-spa", "eng-spa", False, True),  # a program on this machine
        ("firefox:en-pt", "en-pt", False, True),  # on a CPU, by an engine of its own
    ],
)
def test_a_kind_says_what_its_systems_take(
    model: str, name: str, needs_network: bool, is_other_program: bool
) -> None:
    kind, its_name = find_kind(model)
    assert its_name == name
    assert (kind.needs_network, kind.is_other_program) == (needs_network, is_other_program)
    assert is_of_kind(model) == (not isinstance(kind, CheckpointKind))


def test_a_kind_says_where_it_translates(tmp_path: Path) -> None:
    models = ("openai:org/m", "deepl:quality_optimized", "apertium:eng-spa")
    places = []
    for model in models:
        kind, name = find_kind(model)
        places.append(kind.place(_asked(name, tmp_path)))
    assert places == [ADDRESS, "DeepL", "Apertium"]


def test_a_plugin_says_only_what_is_unusual(install: Callable[..., None], tmp_path: Path) -> None:
    install("toy-kind", "toy", "toy_kind", USUAL, group=GROUP)
    kind, name = find_kind("toy:words.tsv")
    assert name == "words.tsv"
    assert (kind.needs_network, kind.is_other_program) == (False, False)
    assert kind.place(_asked(name, tmp_path)) == "its plugin"


def test_what_is_no_kind_is_refused_with_its_distribution(install: Callable[..., None]) -> None:
    install("toy-kind", "toy", "toy_kind", "TOY = len\n", group=GROUP)
    with pytest.raises(PluginError) as caught:
        find_kind("toy:x")
    expected = "expected a mtbias.translate.system.SystemKind, got <built-in function len>"
    assert str(caught.value) == f"kind of system 'toy' of toy-kind 1.0: {expected}"


def test_a_wrong_name_lists_the_schemes() -> None:
    with pytest.raises(SettingError, match="apertium:NAME"):
        find_kind("apertum:eng-spa")
