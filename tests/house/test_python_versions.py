"""The code holds for each version of Python that pyproject.toml names, though the tests run on
one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_INLINED = (ast.ListComp, ast.SetComp, ast.DictComp)


def _hidden(code: ast.AST) -> set[str]:
    """Names that one comprehension of a function binds and that the function reads beside it, but
    does not have."""
    found: set[str] = set()
    for function in ast.walk(code):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            own = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
            bound: set[str] = set()
            read: set[str] = set()
            _walk(function, frozenset(), own, bound, read)
            found |= (bound & read) - own
    return found


def _walk(
    node: ast.AST, inner: frozenset[str], own: set[str], bound: set[str], read: set[str]
) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        names = inner
        if isinstance(child, (*_INLINED, ast.GeneratorExp)):
            targets = (one for part in child.generators for one in ast.walk(part.target))
            names = inner | {one.id for one in targets if isinstance(one, ast.Name)}
            if isinstance(child, _INLINED):
                bound |= names
        elif isinstance(child, ast.Name) and child.id not in inner:
            (read if isinstance(child.ctx, ast.Load) else own).add(child.id)
        _walk(child, names, own, bound, read)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (
            "def f(xs):\n    d = {number: 1 for number in xs}\n    return d, [number(x) for x in xs]",
            {"number"},
        ),
        (
            "def f(xs):\n    d = {one: 1 for one in xs}\n    return d, [number(x) for x in xs]",
            set(),
        ),
        ("def f(xs):\n    number = len(xs)\n    return [number for number in xs], number", set()),
        ("def f(xs):\n    return [number for number in xs], [number for number in xs]", set()),
    ],
)
def test_names_are_told_apart(code: str, names: set[str]) -> None:
    assert _hidden(ast.parse(code)) == names


@pytest.mark.slow
def test_no_comprehension_hides_a_name_that_its_function_reads() -> None:
    # Python 3.12 takes such a name for the comprehension's, and raises UnboundLocalError; 3.11 and
    # 3.13 do not.
    files = [
        *(ROOT / "mtbias").rglob("*.py"),
        *(ROOT / "languages").rglob("*.py"),
        *(ROOT / "scripts").rglob("*.py"),
    ]
    assert {
        str(path): names for path in files if (names := _hidden(ast.parse(path.read_text())))
    } == {}
