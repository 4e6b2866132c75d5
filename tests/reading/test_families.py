"""The syntax of a language is that of its family; other distributions may have families of their own."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias import entry_points as registry
from mtbias.errors import PluginError
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language, NounKind, NounReading, parse_agreements
from mtbias.reading import decide
from mtbias.reading.syntax import FAMILIES, GROUP, Syntax, syntax_of
from mtbias.types import Alignment, Analysis, Candidate, Gender, GenderCall, Reason, SourceFacts
from tests.reading.conftest import analysis_of

Call = Callable[..., GenderCall]
Install = Callable[[str, str], None]
M, F = Gender.MALE, Gender.FEMALE
BARE = Language(code="xh", name="Toy")
LANGUAGE = Language(
    code="xh",
    name="Toy",
    family="isolate",
    nouns={"kolega": (NounReading("kolega", NounKind.COMMON, ()),)},
    adjective_endings={
        "o": parse_agreements("m.sg", where="test"),
        "a": parse_agreements("f.sg", where="test"),
    },
)
FAMILY = """\
from mtbias.reading.syntax import Syntax


class Isolate(Syntax):
    \"\"\"Adjectives follow their noun, and none stands before it.\"\"\"

    attributes_follow = True

    def is_attribute_before(self, words, n, head):
        return False
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install(source, entry)``: a distribution with one family, ``isolate``."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(source: str, entry: str) -> None:
        info = tmp_path / "toy_families-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: toy-families\nVersion: 1.0\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(f"[{GROUP}]\nisolate = toy_family:{entry}\n")
        (tmp_path / "toy_family.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()

    registry._load.cache_clear()
    yield make
    registry._load.cache_clear()
    sys.modules.pop("toy_family", None)


@pytest.mark.parametrize(("family", "case"), FAMILIES)
def test_a_family_has_a_syntax(family: str, case: bool) -> None:
    syntax = syntax_of(replace(BARE, family=family, case=case))
    assert isinstance(syntax, Syntax)
    assert syntax.case is case


@pytest.mark.parametrize(
    ("family", "case", "step"),
    [
        ("", False, "there are germanic, romance, semitic, slavic"),
        ("turkic", False, "there are germanic, romance, semitic, slavic"),
        ("turkic", True, "there are germanic, romance, semitic, slavic"),
        # Nobody reads a Romance language whose nouns show case, or a Slavic one whose do not.
        ("romance", True, "the family 'romance' is one without case; set case, or name another"),
        ("slavic", False, "the family 'slavic' is one with case; set case, or name another"),
    ],
)
def test_a_language_whose_family_nobody_has_is_refused(family: str, case: bool, step: str) -> None:
    language = replace(BARE, family=family, case=case)
    with pytest.raises(PluginError) as caught:
        syntax_of(language)
    message = str(caught.value)
    assert message == f"language 'xh': expected a family, got {family!r}; {step}"
    assert "\n" not in message
    # The decision is the first that asks.
    analysis = Analysis("", ())
    with pytest.raises(PluginError, match=r"^language 'xh': expected a family"):
        decide(Alignment("x"), analysis, SplitTexts(language))


def _called(sentence: str) -> Gender | Reason | None:
    analysis, target = analysis_of(sentence)
    aligned = Candidate(target, "links+lexicon")
    alignment = Alignment("x", (aligned,), source=SourceFacts("sg"))
    call = decide(alignment, analysis, SplitTexts(LANGUAGE))
    return call.gender or call.reason


def test_a_third_partys_family_reads_its_languages(install: Install) -> None:
    with pytest.raises(PluginError, match="'isolate'; there are germanic"):
        syntax_of(LANGUAGE)
    install(FAMILY, "Isolate")
    syntax = syntax_of(LANGUAGE)
    assert type(syntax).__name__ == "Isolate"
    assert syntax.language is LANGUAGE
    # The noun is of common gender; the adjective behind it tells, as the family has it.
    assert _called("*kolega|NOUN nuevo|ADJ") is M
    assert _called("*kolega|NOUN nueva|ADJ") is F
    # No adjective stands before a noun: here it is somebody else's.
    assert _called("nuevo|ADJ *kolega|NOUN") is Reason.NO_MORPHOLOGY
    assert _called("nueva|ADJ *kolega|NOUN") is Reason.NO_MORPHOLOGY


def test_an_installed_family_is_named_where_another_is_refused(install: Install) -> None:
    install(FAMILY, "Isolate")
    with pytest.raises(
        PluginError, match=r"there are germanic, isolate, romance, semitic, slavic$"
    ):
        syntax_of(replace(BARE, family="turkic"))


@pytest.mark.parametrize(
    "source", ["Isolate = 3\n", "class Isolate:\n    pass\n", "def Isolate(language):\n    pass\n"]
)
def test_what_is_no_syntax_is_refused_with_its_distribution(install: Install, source: str) -> None:
    install(source, "Isolate")
    with pytest.raises(PluginError) as caught:
        syntax_of(LANGUAGE)
    assert str(caught.value) == (
        "family 'isolate' of toy-families 1.0: expected a subclass of mtbias's Syntax"
    )


def test_a_family_that_fails_to_load_names_its_distribution(install: Install) -> None:
    install("raise RuntimeError('no licence')\n", "Isolate")
    with pytest.raises(PluginError, match=r"toy-families 1\.0 fails to load .* no licence"):
        syntax_of(LANGUAGE)
