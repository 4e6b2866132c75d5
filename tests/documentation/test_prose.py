"""The documentation without its manual (docs/cli.md, which is made of the commands) stays short, and
so do its sentences, but for those of docs/papers.md, which is made of docs/papers.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.name != "cli.md")
WRITTEN = [path for path in PAGES if path.name != "papers.md"]
MOST_WORDS = 40_000
MOST_WORDS_OF_A_SENTENCE = 40

_CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"(?:[-*]|\d+\.|:) +")
_SENTENCE_END = re.compile(r"[.!?…][\"*_)”]*\s+")


def count_words(text: str) -> int:
    """Words: what stands between blanks and has a letter or a digit (lines of tables have none)."""
    return sum(any(character.isalnum() for character in word) for word in text.split())


def paragraphs(text: str) -> Iterator[str]:
    """The prose of a page: paragraphs and items of lists, without tables, headings, pictures, code.

    A code span is one word, and a link's address none.
    """
    lines: list[str] = []
    for line in [*_CODE_BLOCK.sub("\n", text).splitlines(), ""]:
        stripped = line.strip()
        is_prose = bool(stripped) and not stripped.startswith(("|", "#", "!", "<"))
        if lines and (not is_prose or _ITEM.match(stripped)):
            paragraph = " ".join(lines)
            yield re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "CODE", paragraph))
            lines = []
        if is_prose:
            lines.append(_ITEM.sub("", stripped, count=1) if _ITEM.match(stripped) else stripped)


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph. A name of authors ("et al.") ends none, nor does a mark before a
    small letter, unless that begins "mtbias".
    """
    start = 0
    for end in _SENTENCE_END.finditer(paragraph):
        following = paragraph[end.end() :].lstrip('*_"“([')
        goes_on = following[:1].islower() and not following.startswith("mtbias ")
        if goes_on or paragraph[: end.start()].endswith(" al"):
            continue
        yield paragraph[start : end.end()].strip()
        start = end.end()
    if start < len(paragraph):
        yield paragraph[start:]


def test_the_pages_together_are_short() -> None:
    assert sum(count_words(page.read_text(encoding="utf-8")) for page in PAGES) <= MOST_WORDS


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(DOCS)))
def test_no_sentence_is_long(page: Path) -> None:
    found = [
        sentence
        for paragraph in paragraphs(page.read_text(encoding="utf-8"))
        for sentence in sentences(paragraph)
    ]
    assert [each for each in found if count_words(each) > MOST_WORDS_OF_A_SENTENCE] == []


def test_sentences_are_found_in_paragraphs_and_lists() -> None:
    # The table, the heading, the code and the link's address are no prose.
    text = (
        "# A page\n\nOne [two](three.md#four five). Jones et al. (2020) say `a b c`\nin two lines.\n"
        "- An item. mtbias says so: e.g. here\n- Another\n\n| a | b |\n```sh\nnot this. At all.\n```\n"
    )
    found = [list(sentences(paragraph)) for paragraph in paragraphs(text)]
    assert found == [
        ["One [two].", "Jones et al. (2020) say CODE in two lines."],
        ["An item.", "mtbias says so: e.g. here"],
        ["Another"],
    ]
    assert [count_words(sentence) for sentence in found[0]] == [2, 9]
    assert count_words("| --- | a 1 |") == 2
