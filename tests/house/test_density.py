"""How dense the code of each package is, against `[tool.mtbias.density]` of pyproject.toml.

Three things slow a reader down: a comprehension that holds another one or loops twice, a
conditional expression that holds another one, and a line above 100 columns. Their numbers may only
fall; `make density` prints them.
"""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LIMITS: dict[str, list[int]] = PROJECT["tool"]["mtbias"]["density"]
COLUMNS = 100
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Density(NamedTuple):
    """The places of each kind, as ``file:line``."""

    nested_comprehensions: list[str]
    nested_conditionals: list[str]
    long_lines: list[str]


def density(text: str, name: str = "") -> Density:
    """What slows a reader of a module down."""
    found = Density([], [], [])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _COMPREHENSIONS) and (
            len(node.generators) > 1 or _holds(node, *_COMPREHENSIONS)
        ):
            found.nested_comprehensions.append(f"{name}:{node.lineno}")
        if isinstance(node, ast.IfExp) and _holds(node, ast.IfExp):
            found.nested_conditionals.append(f"{name}:{node.lineno}")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            found.long_lines.append(f"{name}:{number}")
    return found


def _holds(node: ast.AST, *kinds: type[ast.AST]) -> bool:
    return any(isinstance(inner, kinds) for inner in ast.walk(node) if inner is not node)


@pytest.fixture(scope="module")
def packages() -> dict[str, Density]:
    """The density of each package; modules beside the packages count as `modules`."""
    found: defaultdict[str, Density] = defaultdict(lambda: Density([], [], []))
    for path in sorted((ROOT / "mtbias").rglob("*.py")):
        package, *below = path.relative_to(ROOT / "mtbias").parts
        of_file = density(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
        for places, new in zip(found[package if below else "modules"], of_file, strict=True):
            places.extend(new)
    return dict(found)


def test_what_is_counted() -> None:
    text = (
        "a = [b for c in d for b in c]\n"  # loops twice
        "a = [sum(b for b in c) for c in d]\n"  # holds another
        "a = [b for b in c]\n"
        "a = b if c else d if e else f\n"
        "a = b if c else d\n"
        f"a = '{'x' * 100}'\n"
    )
    assert density(text) == Density([":1", ":2"], [":4"], [":6"])


@pytest.mark.parametrize("package", LIMITS)
def test_a_package_is_no_denser_than_it_was(package: str, packages: dict[str, Density]) -> None:
    found = packages[package]
    numbers = list(map(len, found))
    print(f"{package}: {numbers}, allowed {LIMITS[package]}")
    above = [
        f"{kind}: {len(places)}, allowed {limit}: {', '.join(places[-3:])}"
        for (kind, places), limit in zip(found._asdict().items(), LIMITS[package], strict=True)
        if len(places) > limit
    ]
    assert above == []
    assert numbers == LIMITS[package], f"fewer than before: write {package} = {numbers}"


def test_every_package_is_counted(packages: dict[str, Density]) -> None:
    assert sorted(packages) == sorted(LIMITS)
