"""Every package has a budget in tokens (`[tool.mtbias.budgets]` of pyproject.toml); `make budgets` prints both."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUDGETS: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mtbias"][
    "budgets"
]
_READ = (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)


def count_tokens(text: str) -> int:
    """Names, numbers, operators and strings of Python code, without docstrings, comments and line ends."""
    docs = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node)
    }
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type in _READ and token.start not in docs for token in tokens)


@pytest.fixture(scope="module")
def used() -> Counter[str]:
    """Tokens of each package; modules beside the packages count as `modules`."""
    counts: Counter[str] = Counter()
    for path in sorted((ROOT / "mtbias").rglob("*.py")):
        package, *below = path.relative_to(ROOT / "mtbias").parts
        counts[package if below else "modules"] += count_tokens(path.read_text(encoding="utf-8"))
    return counts


def test_tokens_of_a_function_by_hand() -> None:
    # def, f, (, ), ->, None, :, return, None: the docstring, the comment and the line ends are left out.
    assert count_tokens('def f() -> None:  # why\n    """What."""\n    return None\n') == 9


@pytest.mark.parametrize("package", [name for name in BUDGETS if name != "total"])
def test_a_package_stays_within_its_budget(package: str, used: Counter[str]) -> None:
    print(f"{package}: {used[package]:,} tokens, budget {BUDGETS[package]:,}")
    assert used[package] <= BUDGETS[package], (
        f"mtbias/{package} has {used[package]:,} tokens, its budget is {BUDGETS[package]:,}: take something "
        "out, or say in the commit what the tokens buy (CONTRIBUTING.md)"
    )


def test_the_whole_stays_within_its_budget(used: Counter[str]) -> None:
    print(f"total: {used.total():,} tokens, budget {BUDGETS['total']:,}")
    assert used.total() <= BUDGETS["total"], f"{used.total():,} tokens, the budget is {BUDGETS['total']:,}"
    assert sorted({*used, "total"}) == sorted(BUDGETS)
