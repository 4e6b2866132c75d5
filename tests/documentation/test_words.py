"""The field's own words: documentation, help and messages use none of the words below, which are a
private dialect.

`pytest tests/documentation/test_words.py --runxfail` lists every place as file:line, with the word and what to
write instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

WORDS = {
    r"br(?:ings?|inging|ought)": "downloads (files), gives, has",
    r"twins?": "counterfactual pair, counterfactual sentence",
    r"verdicts?": "call; with a call, without a call",
    r"decided": "with a call; `decided` is a key of JSON only",
    r"lanes?": "concurrent batches",
    r"anew|afresh": "again, or rebuild (rebuilt)",
    r"mend(?:s|ed|ing)?": "fix, correct",
    r"go(?:es)? on|went on": "resumes, continues",
    r"says how": "describes, records, shows",
    r"rooms": "packages",
    r"an? (?:line|row|record|object|process) a \w+": "one line per sentence",
}
"""Patterns of whole words, in any case, and what to write instead."""

_WORD = re.compile(
    "|".join(rf"(?P<w{i}>\b(?:{pattern})\b)" for i, pattern in enumerate(WORDS)), re.IGNORECASE
)


@dataclass(frozen=True)
class Excuse:
    """Where one of the words has another, honest use."""

    file: str
    text: str
    """A part of the line."""
    reason: str


EXCUSED = (
    Excuse("docs/consistency.md", '"decided": {', "the key of metrics.json"),
    Excuse("docs/glossary.md", "`decided`", "the key of metrics.json"),
    Excuse("docs/metrics/undecided.md", "`decided`", "the key of metrics.json"),
    Excuse("docs/metrics/undecided.md", "decided = 100", "the formula of the key of metrics.json"),
    Excuse("docs/schemas/metrics.schema.json", '"decided"', "the key of metrics.json"),
)
EXCUSED_IN_CODE = (
    Excuse("mtbias/english/gender_swap.toml", "", "a table of English words"),
    Excuse("mtbias/report/templates/run.html", '"decided"', "the key of metrics.json"),
    Excuse("mtbias/scoring/consistency.py", "`decided`", "a parameter's name"),
    Excuse("mtbias/scoring/consistency.py", "decided: ", "a parameter's name"),
    Excuse("mtbias/scoring/counting.py", "key ``decided``", "the key of metrics.json"),
    Excuse("mtbias/scoring/data/numbers.toml", '"decided"', "the key of metrics.json"),
    Excuse("mtbias/scoring/correction.py", "(n − decided) / n", "the formula of the key of JSON"),
)


def found(
    file: str, text: str, *, first_line: int = 1, excused: tuple[Excuse, ...] = EXCUSED
) -> list[str]:
    """The places in a text with one of the words."""
    places = []
    for number, line in enumerate(text.split("\n"), start=first_line):
        if any(excuse.file == file and excuse.text in line for excuse in excused):
            continue
        for match in _WORD.finditer(line):
            instead = list(WORDS.values())[int((match.lastgroup or "w0")[1:])]
            places.append(f"{file}:{number}: {match[0]!r}; write: {instead}")
    return places


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of a module, docstrings and parts of f-strings included, with the line of
    each.

    A literal that is one name alone ("decided") is a key, not prose.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not node.value.isidentifier()
        ):
            yield node.lineno, node.value


def _documents() -> list[str]:
    named = (
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "Makefile",
        "mkdocs.yml",
    )
    searched = (
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("docs/schemas/*.json"),
        *ROOT.glob("languages/*.md"),
    )
    return [*named, *sorted(str(path.relative_to(ROOT)) for path in searched)]


@pytest.mark.parametrize("file", _documents())
def test_documents_use_the_fields_words(file: str) -> None:
    assert found(file, (ROOT / file).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", ["mtbias", "languages"])
def test_docstrings_help_and_messages_use_the_fields_words(folder: str) -> None:
    places = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        file = str(path.relative_to(ROOT))
        for line, text in strings(path):
            places += found(file, text, first_line=line, excused=EXCUSED_IN_CODE)
    assert places == [], "\n" + "\n".join(places)


def test_templates_and_catalogs_use_the_fields_words() -> None:
    places = []
    for path in sorted(
        path
        for ending in ("html", "js", "svg", "toml")
        for path in ROOT.glob(f"mtbias/**/*.{ending}")
    ):
        places += found(
            str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"), excused=EXCUSED_IN_CODE
        )
    assert places == [], "\n" + "\n".join(places)


@pytest.mark.parametrize("excuse", EXCUSED, ids=lambda excuse: f"{excuse.file}: {excuse.text}")
def test_every_excuse_is_needed(excuse: Excuse) -> None:
    lines = [
        line
        for line in (ROOT / excuse.file).read_text(encoding="utf-8").split("\n")
        if excuse.text in line
    ]
    assert any(found("elsewhere", line) for line in lines)


def test_a_word_is_found_with_its_line_and_what_to_write() -> None:
    # `decided_by` and "undecided" are other words.
    text = "The Twin\nis decided_by `undecided.md`;\nmake anew, then it goes on"
    assert found("a.md", text, first_line=7) == [
        "a.md:7: 'Twin'; write: counterfactual pair, counterfactual sentence",
        "a.md:9: 'anew'; write: again, or rebuild (rebuilt)",
        "a.md:9: 'goes on'; write: resumes, continues",
    ]


def test_strings_are_prose_and_no_keys(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""One.\n\nTwo."""\nx = {"decided": 1}\ny = f"a {x} b"\n', encoding="utf-8")
    assert sorted(strings(module)) == [(1, "One.\n\nTwo."), (5, " b"), (5, "a ")]
