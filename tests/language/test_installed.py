"""Languages by code: what is installed, and what a broken installation says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias import entry_points as registry
from mtbias.entry_points import installed
from mtbias.errors import PluginError, UsageError
from mtbias.language.installed import GROUP, get_language
from mtbias.plugin import Language
from scripts.labelled import SHIPPED

BUILT_IN = SHIPPED
GOOD = 'from mtbias.plugin import Language\nTOY = Language(code="xh", name="Toy")\n'
Install = Callable[..., None]


def test_the_built_in_languages_are_installed() -> None:
    found = installed(GROUP)
    assert set(BUILT_IN) <= set(found)
    for code in BUILT_IN:
        assert [d.split()[0] for d in found[code]] == ["mtbias"]
    assert list(found) == sorted(found)


@pytest.mark.parametrize("code", BUILT_IN)
def test_a_language_is_found_by_its_code(code: str) -> None:
    language = get_language(code)
    assert language.code == code
    assert get_language(code) is language


def test_an_unknown_language_lists_what_is_installed() -> None:
    with pytest.raises(UsageError) as caught:
        get_language("zz")
    assert str(caught.value).startswith("no language 'zz' is installed; there are ar, cs, de, es")
    assert str(caught.value).endswith("; `mtbias languages new` drafts another")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("deu", "de"),
        ("ger", "de"),
        ("German", "de"),
        ("DE", "de"),
        ("de_AT", "de"),
        ("ukr", "uk"),
        ("spanish", "es"),
    ],
)
def test_a_language_named_otherwise_is_found_again(given: str, meant: str) -> None:
    with pytest.raises(
        UsageError,
        match=rf"^no language '{given}' is installed; did you mean {meant}\? there are ar",
    ):
        get_language(given)


def test_without_any_plugin_the_list_says_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", lambda group: {})
    assert installed(GROUP) == {}
    with pytest.raises(UsageError, match="there are none"):
        get_language("de")


def test_a_third_partys_language(install: Install) -> None:
    install("toy-languages", "xh", "toy_one", GOOD, version="2.1")
    assert installed(GROUP)["xh"] == ("toy-languages 2.1",)
    assert get_language("xh") == Language(code="xh", name="Toy")


def test_listing_loads_no_plugin(install: Install) -> None:
    install("broken", "xh", "toy_broken", "raise RuntimeError('imported')\n")
    assert "xh" in installed(GROUP)
    assert "toy_broken" not in sys.modules
    assert get_language("de").code == "de"  # a broken plugin is its own language's trouble only


def test_two_distributions_for_one_code_are_a_conflict(install: Install) -> None:
    install("toy-one", "xh", "toy_one", GOOD)
    install("toy-two", "xh", "toy_two", GOOD, version="0.3")
    assert sorted(installed(GROUP)["xh"]) == ["toy-one 1.0", "toy-two 0.3"]
    with pytest.raises(PluginError, match="registered twice") as caught:
        get_language("xh")
    for part in (
        "toy_one:TOY of toy-one 1.0",
        "toy_two:TOY of toy-two 0.3",
        "uninstall one of them",
    ):
        assert part in str(caught.value)


def test_a_built_in_code_cannot_be_taken_over(install: Install) -> None:
    install("my-german", "de", "my_german", GOOD.replace("xh", "de"))
    with pytest.raises(PluginError, match=r"'de' is registered twice: .*mtbias"):
        get_language("de")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "raise RuntimeError('no such table')\n",
            "fails to load (toy_one:TOY): RuntimeError: no such table",
        ),
        ("import a_module_that_nobody_has\n", "fails to load (toy_one:TOY): ModuleNotFoundError: "),
        ("def\n", "SyntaxError"),
        ("import sys\nsys.exit(0)\n", "fails to load (toy_one:TOY): SystemExit: 0"),
        (
            "class Odd(BaseException): ...\nraise Odd('no')\n",
            "fails to load (toy_one:TOY): Odd: no",
        ),
        ("other = 1\n", "AttributeError"),
        ("TOY = 'a string'\n", "expected a mtbias.plugin.Language, got str"),
        (
            "from mtbias.plugin import Language as TOY\n",
            "expected a mtbias.plugin.Language, got type",
        ),
        (GOOD.replace("xh", "zu"), "says that its code is 'zu'"),
        (
            "from mtbias.errors import PluginError\nraise PluginError('xh.toml:3: no gender')\n",
            "xh.toml:3: no gender",
        ),
    ],
)
def test_a_plugin_that_does_not_load_names_its_distribution(
    install: Install, source: str, message: str
) -> None:
    install("toy-one", "xh", "toy_one", source)
    with pytest.raises(PluginError) as caught:
        get_language("xh")
    assert str(caught.value).startswith("language 'xh' of toy-one 1.0")
    assert message in str(caught.value)


def test_what_a_plugin_prints_goes_to_standard_error(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("toy-one", "xh", "toy_one", f"print('loading')\n{GOOD}")
    get_language("xh")
    assert capsys.readouterr() == ("", "loading\n")


@pytest.mark.parametrize(
    "content", [f"[{GROUP}]\nxh = é:A\n".encode("latin-1"), b"[mtbias.languages]\nxh\n"]
)
def test_damaged_metadata_are_named(install: Install, tmp_path: Path, content: bytes) -> None:
    install("toy-one", "xh", "toy_one", GOOD)
    (tmp_path / "toy_one-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    with pytest.raises(
        PluginError,
        match=r"entry_points\.txt of what is installed cannot be read: .*uninstall them$",
    ):
        installed(GROUP)


def test_ctrl_c_while_a_plugin_is_imported_is_the_users(install: Install) -> None:
    install("toy-one", "xh", "toy_one", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        get_language("xh")


def test_a_subclass_is_a_language(install: Install) -> None:
    source = 'from mtbias.plugin import Language\nclass Own(Language):\n    "Own."\nTOY = Own(code="xh", name="Toy")\n'
    install("toy-one", "xh", "toy_one", source)
    assert type(get_language("xh")).__name__ == "Own"


def test_looking_up_a_language_loads_nothing_heavy() -> None:
    code = (
        "import sys; from mtbias.language.installed import get_language; from mtbias.entry_points import installed; "
        "installed('mtbias.languages'); get_language('es'); "
        "print([m for m in ('torch', 'stanza', 'pandas', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
