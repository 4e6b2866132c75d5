"""README.md names every command and every option of the command line, and none that does not exist."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from mtbias.cli import COMMANDS, build_parser

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COREF = (ROOT / "docs" / "coref.md").read_text(encoding="utf-8")
OF_OTHERS = {"--group", "--help", "--version"}
"""Options of pip, and those that argparse adds to every program."""


def _parts(command: str = "coref") -> dict[str, argparse.ArgumentParser]:
    """The parts of `mtbias coref` or `mtbias corpora`."""
    (action,) = [a for a in _commands()[command]._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(action.choices)


def _commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = [a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(action.choices)


def _options(parser: argparse.ArgumentParser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings if name.startswith("--")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme_with_its_options(name: str) -> None:
    assert re.search(rf"\bmtbias {name}\b", README), f"README.md lacks `mtbias {name}`"
    options = _options(_commands()[name]) - {"--help"}
    missing = sorted(option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", README))
    assert missing == [], f"README.md lacks these options of `mtbias {name}`: {', '.join(missing)}"


def test_the_readme_names_no_option_that_does_not_exist() -> None:
    parts = (*_parts().values(), *_parts("corpora").values())
    known = set().union(*map(_options, (*_commands().values(), *parts))) | OF_OTHERS
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", README))
    assert sorted(named - known) == []


def test_the_readme_names_no_command_that_does_not_exist() -> None:
    blocks = "".join(re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"`mtbias ([a-z]+)", README)) | set(re.findall(r"^mtbias ([a-z]+)", blocks, re.MULTILINE))
    assert "score" in named
    assert sorted(named - set(COMMANDS)) == []


def test_every_command_says_what_it_is_for() -> None:
    for name, parser in _commands().items():
        assert parser.description, name
        for action in parser._actions:
            assert action.help, f"mtbias {name} {'/'.join(action.option_strings)}"


def test_every_part_of_coref_is_documented_with_its_options() -> None:
    missing = []
    for name, parser in _parts().items():
        assert parser.description, name
        missing += [name] if f"`{name}`" not in COREF else []
        options = _options(parser) - {"--help"}
        missing += [f"{name} {o}" for o in sorted(options) if not re.search(rf"(?<![\w-]){o}(?![\w-])", COREF)]
    assert missing == []


def test_the_documentation_of_coref_names_no_option_that_does_not_exist() -> None:
    known = set().union(*map(_options, _parts().values())) | {"--help"}
    assert sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", COREF)) - known) == []


def test_every_part_of_corpora_is_in_the_readme_with_its_options() -> None:
    missing = []
    for name, parser in _parts("corpora").items():
        assert parser.description, name
        missing += [name] if f"corpora {name}" not in README else []
        missing += [f"{name} {o}" for o in sorted(_options(parser) - {"--help"}) if o not in README]
    assert missing == []


def test_every_test_that_the_table_of_faults_names_exists() -> None:
    text = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    sources = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py")}
    for file, name in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", table):
        assert (ROOT / file) in sources, file
        assert not name or f"def {name}(" in sources[ROOT / file], f"{file}::{name}"
    names = re.findall(r"`(test_\w+)`", table)
    assert len(names) > 5
    assert [n for n in names if not any(f"def {n}(" in source for source in sources.values())] == []
