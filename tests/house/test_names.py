"""Names say what a thing is or does: participles such as `found` or `given` do not, nor does a
function `of`."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTICIPLES = frozenset(
    ("found", "given", "asked", "told", "said", "made", "opened", "wanted", "kept")
)
CLASSES = frozenset(("Judged", "Tested", "Placed", "Located", *map(str.title, PARTICIPLES)))

KEYS_OF_FILES = {
    "mtbias/cluster/inventory.py": 1,
    "mtbias/coref/dataset.py": 1,
    "mtbias/corpora/mt_geneval.py": 1,
    "mtbias/mining/quadruple_balance.py": 1,
    "mtbias/mining/quadruple_check.py": 1,
    "mtbias/report/coref_page.py": 1,
    "mtbias/report/run_page_record.py": 1,
    "mtbias/scoring/controlled.py": 15,
    "mtbias/scoring/counting.py": 1,
    "mtbias/scoring/measure.py": 1,
    "mtbias/scoring/mt_geneval_context.py": 1,
    "mtbias/translate/language_models/endpoint_system.py": 1,
}
"""Names that are keys of JSON, of pages or of plugins, by file; their number may only fall."""


def names(text: str) -> list[str]:
    """The functions, classes, parameters and variables of a module that are called by a participle,
    or a function `of`."""
    bad = []
    for node in ast.walk(ast.parse(text)):
        name = _name(node)
        says_nothing = name.strip("_") in PARTICIPLES | CLASSES
        if says_nothing or (isinstance(node, ast.FunctionDef) and name == "of"):
            bad.append(name)
    return bad


def _name(node: ast.AST) -> str:
    """The name that a node gives to something; empty where it names nothing."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""


def test_what_is_counted() -> None:
    text = (
        "class Judged:\n    def of(self, given):\n        found = self.kept\n        return found\n"
    )
    assert sorted(names(text)) == ["Judged", "found", "given", "of"]


def test_names_say_what_a_thing_is() -> None:
    counts = Counter[str]()
    for path in sorted((ROOT / "mtbias").rglob("*.py")):
        file = str(path.relative_to(ROOT))
        counts[file] += len(names(path.read_text(encoding="utf-8")))
    assert {file: n for file, n in counts.items() if n} == KEYS_OF_FILES
