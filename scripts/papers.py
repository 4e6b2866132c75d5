"""Write docs/papers.md from docs/papers.toml, and print how many of its numbers a test holds.

    python -m scripts.papers

``tests/published/test_papers.py`` runs the commands and compares what they print, cell by cell.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "papers.md"
DATA = DOCS / "papers.toml"
WRITTEN_BY = (
    "<!-- Written by scripts/papers.py from docs/papers.toml; change that, not this page. -->"
)

NUMBER = re.compile(r"(?<![\w.:,−-])[+−-]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)\*?")
"""A number as the papers and the page write it, with its star; not the digits of a name, such as
M2M100, nor the second number of a ratio."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Command(_Strict):
    """A command of the page.

    Attributes:
        line: as the page shows it.
        note: Markdown behind it.
        output: ``json`` where it is run with ``--json``, as its table rounds the numbers.
        slow: whether it takes seconds.
        needs: what it needs that is not public or not here; empty: it is run.
    """

    line: str
    note: str = ""
    output: Literal["text", "json"] = "text"
    slow: bool = False
    needs: str = ""


class Hold(_Strict):
    """Numbers of a row, and what holds them: a command's output or a test.

    Attributes:
        printed: the paper's, in order; with ``<`` the paper says "below".
        ours: those that come out here; empty: the paper's.
        command: whose output has them.
        says: what the output says, with ``#`` for each of the numbers, ``_`` for one that does
            not count, and ``…`` for anything between.
        make: what is made of the numbers of the output (or of ``written``): their sum,
            difference, product or mean; the larger half's sum over the smaller's (``ratio``); 100 times the sum of all but
            the first over the first (``share``).
        test: a test that has the numbers, ``tests/file.py::name``.
        written: as that test writes them, where it does so otherwise.
        reason: why ours are not the paper's.
    """

    printed: str = ""
    ours: str = ""
    command: str = ""
    says: str = ""
    make: Literal["", "sum", "difference", "product", "mean", "ratio", "share"] = ""
    test: str = ""
    written: str = ""
    reason: str = ""

    @property
    def cells(self) -> list[str]:
        """The numbers that come out here."""
        return (self.ours or self.printed).split()

    @property
    def equal(self) -> bool:
        """Whether ours, rounded as the paper rounds, are the paper's."""
        theirs = self.printed.split()
        return len(theirs) == len(self.cells) and all(map(agree, self.cells, theirs))


class Row(_Strict):
    """A row of the page.

    Attributes:
        row: its number.
        place: of the passage in the paper.
        commands: the keys of its commands, with a blank between.
        printed: what the paper prints, as the page shows it.
        ours: what comes out here, as the page shows it.
        holds: what holds its numbers.
        missing: what is not to be had, so that the other printed numbers cannot come out.
        names: numbers that are no results: of an algorithm, a year.
        not_held: numbers that no test holds yet.
    """

    row: int
    place: str
    commands: str = ""
    printed: str = ""
    ours: str = ""
    holds: tuple[Hold, ...] = ()
    missing: str = ""
    names: str = ""
    not_held: str = ""

    @property
    def outcome(self) -> str:
        """Equal, different with its reason, or not to be had."""
        reasons = [hold.reason for hold in self.holds if hold.printed and not hold.equal]
        parts = [f"different: {'; '.join(reasons)}"] if reasons else []
        if any(hold.printed and hold.equal for hold in self.holds):
            parts.insert(0, "equal")
        if self.missing:
            parts.append(f"not to be had: {self.missing}")
        return ", ".join(parts) or ("not yet held" if self.not_held else "no number printed")


class Paper(_Strict):
    """The rows of one paper.

    Attributes:
        title: of the section.
        text: the file of its text, converted from its PDF.
        not_in_text: printed numbers that the text does not have: of a figure, a table that was lost
            in it, or what the authors published beside the paper.
    """

    title: str
    text: str
    not_in_text: str = ""
    rows: tuple[Row, ...]


class Papers(_Strict):
    """The page."""

    title: str
    opening: str
    commands: dict[str, Command]
    papers: tuple[Paper, ...]

    @property
    def rows(self) -> list[Row]:
        """The rows of all papers."""
        return [row for paper in self.papers for row in paper.rows]


class Counts(NamedTuple):
    """What becomes of the numbers that the papers print (the first four) and of those of ours that
    are others.
    """

    equal: int
    different: int
    missing: int
    not_yet_held: int
    ours: int
    ours_not_yet_held: int


def read_papers(path: Path = DATA) -> Papers:
    """The rows and commands.

    Raises:
        ValidationError: the file has other keys than those above.
    """
    return Papers.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def numbers(text: str) -> list[str]:
    """The numbers of a cell of the page; those of code are none."""
    return NUMBER.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text))


def value(number: str) -> Decimal:
    """A number as it is written, with commas, any minus and a star."""
    return Decimal(number.replace("−", "-").strip("<*%").replace(",", ""))


def agree(ours: str, theirs: str) -> bool:
    """Whether the first number, rounded to the second's decimals, is the second with its star;
    ``<`` before the second: whether it is below.
    """
    if theirs.startswith("<"):
        return value(ours) < value(theirs)
    wanted = value(theirs)
    rounded = value(ours).quantize(Decimal(1).scaleb(wanted.as_tuple().exponent))  # type: ignore[arg-type]
    return rounded == wanted and ours.endswith("*") == theirs.endswith("*")


def unheld(row: Row) -> tuple[list[str], list[str]]:
    """The numbers of the row's cells `printed` and `ours` that no hold has."""
    theirs = {number.strip("<") for hold in row.holds for number in hold.printed.split()}
    own = {number for hold in row.holds for number in hold.ours.split()} | {*row.names.split()}
    return (
        [number for number in numbers(row.printed) if number not in theirs],
        [number for number in numbers(row.ours) if number not in theirs | own],
    )


def count(papers: Papers) -> Counts:
    """The numbers of the page by what becomes of them."""
    holds = [hold for row in papers.rows for hold in row.holds]
    compared = [hold for hold in holds if hold.printed]
    left = [(row, *unheld(row)) for row in papers.rows]
    return Counts(
        equal=sum(len(hold.printed.split()) for hold in compared if hold.equal),
        different=sum(len(hold.printed.split()) for hold in compared if not hold.equal),
        missing=sum(len(printed) for row, printed, _ in left if row.missing),
        not_yet_held=sum(len(printed) for row, printed, _ in left if not row.missing),
        ours=sum(len(hold.ours.split()) for hold in holds),
        ours_not_yet_held=sum(len(ours) for _, _, ours in left),
    )


def page(papers: Papers) -> str:
    """The whole page."""
    return "\n".join(_lines(papers)) + "\n"


def _lines(papers: Papers) -> Iterator[str]:
    yield from (f"# {papers.title}", "", WRITTEN_BY, "", papers.opening.strip(), "")
    yield from ("| | command |", "| --- | --- |")
    for key, command in papers.commands.items():
        yield f"| {key} | `{command.line}`{command.note} |"
    for paper in papers.papers:
        yield from ("", f"## {paper.title}", "")
        yield from ("| | passage | | printed | ours |", "| --- | --- | --- | --- | --- |")
        for row in paper.rows:
            cells = (str(row.row), row.place, row.commands, row.printed, row.ours)
            yield "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


if __name__ == "__main__":
    DATA_READ = read_papers()
    PAGE.write_text(page(DATA_READ), encoding="utf-8")
    for name, n in count(DATA_READ)._asdict().items():
        print(f"{name.replace('_', ' ')}: {n}")
