"""The names of rules that the package's code gives to evidence, read from its syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import mtbias
from mtbias.reading.noun_evidence import RULE_OF_KIND

PACKAGE = Path(mtbias.__file__).parent
# `evidence` of `mtbias.reading.words` is public: other modules may call it.
PUBLIC_MAKERS = {"Evidence": 0, "evidence": 0}
"""Functions that make evidence → the place of the rule's name among their arguments."""
TABLES = {"RULE_OF_KIND": frozenset(RULE_OF_KIND.values())}


def names_in_code() -> set[str]:
    """The names that some evidence is given."""
    found: set[str] = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if any(f"{maker}(" in source for maker in PUBLIC_MAKERS):
            found |= _names_in(ast.parse(source), path.name)
    return found


def _names_in(tree: ast.Module, file: str) -> set[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    makers = _makers(functions)
    found: set[str] = set()
    for function in functions:
        parameters = {argument.arg for argument in function.args.args}
        for value in _values_given(function, makers):
            if isinstance(value, ast.Name) and value.id in parameters:
                continue  # whoever calls it gives the name
            names = set(_texts(value, function, functions))
            assert names, f"{file}, line {value.lineno}: {ast.unparse(value)!r} cannot be read"
            found |= names
    return found


def _makers(functions: list[ast.FunctionDef]) -> Mapping[str, int]:
    """With those of a module: functions that hand a parameter of their own on as the name."""
    makers = dict(PUBLIC_MAKERS)
    known = 0
    while known < len(makers):
        known = len(makers)
        for function in functions:
            places = {argument.arg: n for n, argument in enumerate(function.args.args)}
            for value in _values_given(function, makers):
                if isinstance(value, ast.Name) and value.id in places:
                    makers.setdefault(function.name, places[value.id])
    return makers


def _values_given(function: ast.AST, makers: Mapping[str, int]) -> Iterator[ast.expr]:
    """What stands for the name in calls of the makers, and of `dataclasses.replace`.

    What a function inside gives is its own.
    """
    for node in _own_nodes(function):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        place = makers.get(called)
        if place is not None and len(node.args) > place:
            yield node.args[place]
        if place is not None or called == "replace":
            yield from (each.value for each in node.keywords if each.arg == "rule")


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own_nodes(child)


def _texts(value: ast.expr, function: ast.AST, functions: list[ast.FunctionDef]) -> Iterator[str]:
    """The texts that an expression can be: its own, those of a variable, of a table, or of what a
    function answers.
    """
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from _texts(value.body, function, functions)
        yield from _texts(value.orelse, function, functions)
    elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
        yield from TABLES.get(value.value.id, ())
    elif isinstance(value, ast.Name):
        for node in _own_nodes(function):
            if isinstance(node, ast.Assign):
                yield from _assigned(value.id, node, function, functions)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        for other in functions:
            if other.name == value.func.id:
                yield from _answers(other, functions)


def _assigned(
    name: str, node: ast.Assign, function: ast.AST, functions: list[ast.FunctionDef]
) -> Iterator[str]:
    """What an assignment makes of a variable, of several in a row too (``a, b = 1, 2``)."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        else:
            pairs = [(target, node.value)]
        for variable, value in pairs:
            if isinstance(variable, ast.Name) and variable.id == name:
                yield from _texts(value, function, functions)


def _answers(function: ast.FunctionDef, functions: list[ast.FunctionDef]) -> Iterator[str]:
    for node in _own_nodes(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield from _texts(node.value, function, functions)
