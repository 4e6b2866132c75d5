"""docs/papers.md against what comes out: each row is equal to its paper, different with its reason,
or not to be had. The rows are docs/papers.toml."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import re
import shlex
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from mtbias.cli import main
from mtbias.embeddings.vectors import EXAMPLE_LISTS
from mtbias.report.run_table import published_lines
from scripts import papers
from scripts.papers import Hold, Paper, Row
from tests.embeddings.toy_vectors import make_vectors, write_vectors

ROOT = Path(__file__).resolve().parents[2]
PAPERS = papers.read_papers()
PAGE = papers.PAGE.read_text(encoding="utf-8")
FOLDERS = ("coref/gap", "coref/winobias", "coref/countergap", "bug", "winomt")
OUTPUT_NUMBER = r"([+−-]?(?:\d[\d,]*)?\.?\d+(?:e-?\d+)?\*?)"


def _mark(*commands: str) -> Any:
    slow = any(PAPERS.commands[key].slow for key in commands)
    return pytest.mark.slow if slow else ()


@pytest.fixture(scope="session")
def output(
    shared: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str], str]:
    """What a command of the page prints; each is run once, whatever number of processes test."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "papers"
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            _fill(folder, shared)

    @cache
    def printed(key: str) -> str:
        path = folder / f"{key}.printed"
        with FileLock(f"{folder}-{key}.lock"):
            if not path.is_file():
                path.write_text(_run(key, folder), encoding="utf-8")
        return path.read_text(encoding="utf-8")

    return printed


def _fill(folder: Path, shared: Path) -> None:
    """The published files, and vectors of all words of the example lists."""
    folder.mkdir()
    for place in FOLDERS:
        (folder / Path(place).name).symlink_to(shared / "data" / place)
    words = tuple(dict.fromkeys(re.findall(r'"(.+?)"', EXAMPLE_LISTS.read_text(encoding="utf-8"))))
    matrix = np.random.default_rng(0).normal(size=(len(words), 20))
    write_vectors(folder, make_vectors(words, matrix), "vectors.txt")


def _run(key: str, folder: Path) -> str:
    command = PAPERS.commands[key]
    program, *arguments = shlex.split(command.line)
    assert program == "mtbias"
    for word in arguments:
        place = folder / word.rpartition("=")[2]
        if (folder / place.relative_to(folder).parts[0]).is_symlink() and not place.exists():
            pytest.skip(f"no {place.relative_to(folder)} in the public data")
    out, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        status = main([*arguments, *(["--json"] if command.output == "json" else [])])
    assert status == 0, errors.getvalue()
    if command.output == "text":
        return out.getvalue()
    return "\n".join(_lines(json.loads(out.getvalue())))


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """JSON in lines: the keys of an object and its values, behind the key that it stands at."""
    if isinstance(value, dict):
        plain = {k: v for k, v in value.items() if not isinstance(v, dict | list)}
        yield " ".join([name, *(f"{key} {one}" for key, one in plain.items())]).strip()
        for key, one in value.items():
            if key not in plain:
                yield from _lines(one, f"{name} {key}".strip())
    elif isinstance(value, list):
        for one in value:
            yield from _lines(one, name)
    else:
        yield f"{name} {value}"


def _said(output: str, says: str) -> list[str]:
    """The numbers of an output where it says so."""
    words = [r"\S+" if word == "_" else re.escape(word) for word in says.split()]
    pattern = r"\s+".join(words).replace(r"\s+…\s+", r"\s(?:.*?\s)?").replace(r"\#", OUTPUT_NUMBER)
    match = re.search(rf"(?<!\w){pattern}(?![\w.])", output, re.DOTALL)
    assert match, f"the output does not say {says!r}:\n{output}"
    return list(match.groups())


def _made(hold: Hold, numbers: list[str]) -> list[str]:
    """What the hold makes of numbers."""
    if not hold.make:
        return numbers
    values = [papers.value(number) for number in numbers]
    total, half = sum(values, Decimal()), len(values) // 2
    low, high = sorted([sum(values[:half], Decimal()), sum(values[half:], Decimal())])
    match hold.make:
        case "sum":
            made = total
        case "difference":
            made = values[0] - values[1]
        case "product":
            made = math.prod(values, start=Decimal(1))
        case "mean":
            made = total / len(values)
        case "ratio":
            made = high / low
        case "share":
            made = 100 * (total - values[0]) / values[0]
    return [str(made)]


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


@cache
def _numbers_of_a_test(path: str) -> frozenset[Decimal]:
    """The numbers that stand in the code of a file of tests: not those of its comments and
    docstrings."""
    tree = _tree(path)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        str(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    ]
    found = re.findall(r"(?<![\w.])[+-]?\d*\.?\d+(?!\w)", " ".join(texts))
    return frozenset(abs(Decimal(number)) for number in found)


def _test_has(hold: Hold) -> None:
    """The test that a hold names exists, and its file has the hold's numbers."""
    path, _, name = hold.test.partition("::")
    names = {node.name for node in _tree(path).body if isinstance(node, ast.FunctionDef)}
    assert name in names, f"{path} has no {name}"
    written = hold.written.split()
    if written:
        assert all(map(papers.agree, _made(hold, written), hold.cells)), hold
    there = _numbers_of_a_test(path)
    for number in written or hold.cells:
        wanted = str(abs(papers.value(number.strip("*"))))
        assert any(papers.agree(f"{one:f}", wanted) for one in there), f"{path} has no {number}"


def _case(row: Row) -> Any:
    commands = [hold.command for hold in row.holds if hold.command]
    return pytest.param(row, id=f"{row.row} {row.place}: {row.outcome}", marks=_mark(*commands))


@pytest.mark.parametrize("row", [_case(row) for row in PAPERS.rows])
def test_row(row: Row, request: pytest.FixtureRequest) -> None:
    """Every number of the row comes out, as the name of this case has it."""
    for hold in row.holds:
        if hold.test:
            _test_has(hold)
            continue
        output = request.getfixturevalue("output")(hold.command)
        found = _made(hold, _said(output, hold.says))
        assert len(found) == len(hold.cells)
        pairs = zip(found, hold.cells, strict=True)
        wrong = [pair for pair in pairs if not papers.agree(*pair)]
        assert not wrong, f"row {row.row}: (of {hold.command}, on the page): {wrong}"
    if row.missing and not row.holds:
        pytest.skip(f"not to be had: {row.missing}")


@pytest.mark.parametrize("key", [pytest.param(key, marks=_mark(key)) for key in PAPERS.commands])
def test_a_command_of_the_page_runs(key: str, request: pytest.FixtureRequest) -> None:
    if needs := PAPERS.commands[key].needs:
        pytest.skip(f"needs {needs}")
    assert request.getfixturevalue("output")(key).strip()


@pytest.mark.parametrize("key", [key for key, of in PAPERS.commands.items() if of.needs])
def test_a_command_that_needs_more_has_options_that_exist(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends at the first file that is not there, or at a program that is none."""
    program, *arguments = shlex.split(PAPERS.commands[key].line)
    if program != "mtbias":
        assert (ROOT / arguments[0]).is_file()
        return
    monkeypatch.chdir(tmp_path)
    assert main(arguments) != 0
    error = capsys.readouterr().err
    assert "no such file" in error or "got 'PROGRAM'" in error


def test_the_page_is_made_of_the_rows() -> None:
    assert papers.page(PAPERS) == PAGE, "docs/papers.md is of other rows: run make papers"


def test_the_table_has_the_96_things() -> None:
    assert [row.row for row in PAPERS.rows] == list(range(1, 97))
    named = {key for row in PAPERS.rows for key in row.commands.split()}
    assert named == set(PAPERS.commands)
    assert len(PAGE.replace(papers.WRITTEN_BY, "").split()) <= 2820


@pytest.mark.parametrize("row", PAPERS.rows, ids=lambda row: str(row.row))
def test_every_number_of_a_row_is_held_or_said_not_to_be(row: Row) -> None:
    printed, ours = papers.unheld(row)
    assert sorted(ours + ([] if row.missing else printed)) == sorted(row.not_held.split())
    for hold in row.holds:
        assert bool(hold.command) != bool(hold.test)
        assert bool(hold.command) == bool(hold.says)
        assert hold.equal or not hold.printed or hold.reason, f"no reason: {hold}"
        assert not (hold.equal and hold.reason), f"a reason, and nothing differs: {hold}"


def test_how_many_numbers_are_held() -> None:
    """A test or a command holds every number."""
    counts = papers.count(PAPERS)
    print(counts)
    assert counts.not_yet_held + counts.ours_not_yet_held == 0


@pytest.mark.parametrize("paper", PAPERS.papers, ids=lambda paper: paper.title)
def test_the_printed_numbers_are_the_papers(paper: Paper, shared: Path) -> None:
    """Each stands in the text of the paper or in the table of published figures that ships, signs
    and stars aside."""
    path = shared / "papers" / paper.text
    if not path.is_file():
        pytest.skip(f"the paper is not at {path}")
    text = re.sub(r"(?<=\d),(?=\d{3})", "", path.read_text(encoding="utf-8"))
    if paper.title.startswith("BUG"):
        text += str(published_lines("bug"))
    there = {Decimal(number) for number in re.findall(r"\d*\.?\d+", text)}
    printed = [number for row in paper.rows for number in _printed(row)]
    lacking = [number for number in printed if abs(papers.value(number)) not in there]
    assert " ".join(dict.fromkeys(lacking)) == paper.not_in_text


def _printed(row: Row) -> list[str]:
    return [*papers.numbers(row.printed), *(n for h in row.holds for n in h.printed.split())]


def test_the_mean_of_the_lines_of_2019() -> None:
    """Section 4.1 of BUG compares 69.9 with 47.6."""
    lines = published_lines("winomt")
    assert len(lines) == 16
    assert sum(line.numbers["accuracy"] for line in lines) / 16 == pytest.approx(48.3, abs=0.05)


def test_numbers_of_a_cell() -> None:
    text = "M2M100, `--n 5`, 1,670; −.060, +1.85* 3.5:1 (T_1 12 %) [5](x9.md)"
    assert papers.numbers(text) == ["1,670", "−.060", "+1.85*", "3.5", "12", "5"]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("0.305", ".305", True),
        ("6.287", "6.29", True),
        ("871690.8878", "871690.8893", False),
        ("+1.85*", "+1.85*", True),
        ("+1.85", "+1.85*", False),
        ("-0.50", "−.50", True),
        ("69.8", "<70", True),
        ("70.0", "<70", False),
    ],
)
def test_when_numbers_agree(ours: str, theirs: str, *, expected: bool) -> None:
    assert papers.agree(ours, theirs) == expected


def test_what_an_output_says() -> None:
    output = (
        "table 1\n      F1   Acc\nrandom  0.3  1.0*\ntable 2\nrandom  5,000  -2\nkept (69.8 %)\n"
    )
    assert _said(output, "table 1 … random # #") == ["0.3", "1.0*"]
    assert _said(output, "table 2 … random _ #") == ["-2"]
    assert _said(output, "kept (# %)") == ["69.8"]
    with pytest.raises(AssertionError, match="does not say 'table 3"):
        _said(output, "table 3 … #")
