"""Documents and files beside the code agree with it.

docs/cli.md has every command and every option of the command line; README.md names none that does
not exist; the table of faults names tests, workflows run make targets, containers run the demo, and
the citation is of this version.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import App

import mtbias
from mtbias.cli import COMMANDS, main, make_app
from scripts import cli_reference

app = make_app()

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
OF_OTHERS = {
    "--extra-index-url",
    "--group",
    "--no-deps",
    "--help",
    "--version",
    "--install-completion",
    "--debug",
}
"""Options of pip, and those that every command has."""
NAMES = [name for commands in COMMANDS.values() for name in commands]
OF_COMMANDS = {
    name: inner
    for commands in COMMANDS.values()
    for name, inner in commands.items()
    if isinstance(inner, dict)
}
"""Those that consist of commands; with an empty name among these they are one themselves."""
ALONE = {name for name, inner in OF_COMMANDS.items() if "" not in inner}
PARTS = [f"{name} {part}" for name, inner in OF_COMMANDS.items() for part in inner if part]


def _parts(command: str) -> dict[str, App]:
    """The parts of a command that consists of commands."""
    return {name: app[command][name] for name in app[command] if not name.startswith("-")}


def _options(command: App) -> set[str]:
    """A command's options; those of a command that consists of commands are its parts'."""
    arguments = command.assemble_argument_collection() if command.default_command else []
    return {argument.names[0] for argument in arguments if argument.names[0].startswith("--")}


def test_the_manual_of_the_commands_is_current() -> None:
    assert cli_reference.page() == CLI, "docs/cli.md is of other commands: run make cli-docs"


@pytest.mark.parametrize(
    "name",
    [*(name for name in NAMES if name not in ALONE), *PARTS],
)
def test_every_command_is_in_the_manual_with_its_options_and_example(name: str) -> None:
    section = re.search(rf"^### mtbias {name}\n(.*?)(?=^##|\Z)", CLI, re.MULTILINE | re.DOTALL)
    assert section is not None
    command = app
    for word in name.split():
        command = command[word]
    described = set(re.findall(r"^\* `(--[\w-]+)[^`]*`: \S", section[1], re.MULTILINE))
    assert sorted(_options(command) - described) == []
    assert re.search(rf"^mtbias {name}\b", section[1].partition("**Example**")[2], re.MULTILINE)


def test_the_readme_names_no_option_that_does_not_exist() -> None:
    parts = (part for name in OF_COMMANDS for part in _parts(name).values())
    known = set().union(*map(_options, (*(app[name] for name in NAMES), *parts))) | OF_OTHERS
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", README))
    assert sorted(named - known) == []


def test_the_readme_names_no_command_that_does_not_exist() -> None:
    blocks = "".join(re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL))
    named = set(re.findall(r"`mtbias ([a-z]+)", README)) | set(
        re.findall(r"^mtbias ([a-z]+)", blocks, re.MULTILINE)
    )
    assert "score" in named
    assert sorted(named - set(NAMES)) == []


@pytest.mark.parametrize(
    "name",
    [*NAMES, *PARTS],
)
def test_every_command_explains_itself_and_ends_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert main([*name.split(), "--help"]) == 0
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert lines[2].strip(), "no description"
    if name not in ALONE:
        start = max(
            (i for i, line in enumerate(lines) if line.startswith(f"Example: mtbias {name}")),
            default=0,
        )
        assert start, "no example"
        assert not any("│" in line for line in lines[start:]), "the example is the end"
    for line in lines:  # a box with an option: "│ *  --model STR  Short name …  │"
        if match := re.match(r"│ \*? *(--[\w-]+(?: [A-Z.]+)?)(.*)│$", line):
            assert match[2].strip(), f"mtbias {name} {match[1]} is not explained"


def _page(command: str) -> str:
    return (ROOT / "docs" / f"{command}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["coref", "embeddings"])
def test_the_page_of_a_command_names_its_parts_and_the_manual_with_their_options(
    command: str,
) -> None:
    page = _page(command)
    assert [name for name in _parts(command) if f"`{name}`" not in page] == []
    assert "](cli.md)" in page


@pytest.mark.parametrize("command", ["coref", "embeddings"])
def test_the_documentation_names_no_option_that_does_not_exist(command: str) -> None:
    known = set().union(*map(_options, _parts(command).values())) | {"--help"}
    assert sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", _page(command))) - known) == []


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


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", mtbias.__version__)
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
    heading = f"## [{mtbias.__version__}] - {citation['date-released']}"
    assert heading in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    cited = (ROOT / "mtbias" / "corpora" / "catalog.toml").read_text(encoding="utf-8")
    assert [each["doi"] for each in citation["references"] if each["doi"] not in cited] == []


def _steps(workflow: str) -> list[dict[str, Any]]:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / workflow).read_text(encoding="utf-8"))[
        "jobs"
    ]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", ["ci.yml", "release.yml"])
def test_workflows_run_make_targets_that_exist(workflow: str) -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    commands = [
        line.strip() for step in _steps(workflow) for line in step.get("run", "").splitlines()
    ]
    made = [command.removeprefix("make ") for command in commands if command.startswith("make ")]
    assert made
    assert [target for target in made if target not in targets] == []


def test_the_workflow_of_changes_runs_what_people_run() -> None:
    commands = [step["run"] for step in _steps("ci.yml") if "run" in step]
    assert commands == [
        "make test",
        "make test-slow",
        "make test-adapters",
        "make docs",
        "make wheel",
    ]


def test_the_workflow_of_changes_tests_every_python_that_is_named() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "classifiers"
    ]
    named = [each.rsplit(" ", 1)[1] for each in classifiers if re.search(r":: 3\.\d+$", each)]
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))[
        "jobs"
    ]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("file", ["Dockerfile", "apptainer.def"])
def test_a_container_is_tested_by_the_demo(file: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    language = re.search(r"^DEMO_LANG \?= (\w+)$", makefile, re.MULTILINE)
    command = re.search(r"^demo-toy: .*\n\t\$\(BIN\)/(mtbias .*) --out", makefile, re.MULTILINE)
    assert language
    assert command
    demo = command[1].replace("$(DEMO_LANG)", language[1])
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^(?:RUN| *) ?{re.escape(demo)} --out", text, re.MULTILINE)
    assert "--constraint constraints.txt" in text
