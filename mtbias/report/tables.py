"""One writer of tables: text for a terminal, Markdown, LaTeX and CSV; and the one way in which
numbers are written.

Written here and not with rich, which draws for a screen: these tables are files, too, and columns
of equal width are the few lines of `aligned`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mtbias.stats.results import UNDEFINED, interval_text, number_text
from mtbias.types import JsonObject, frozen

_LABEL_WIDTH = 24
_LONG = 40
_SHOWN = 20
"""Of the items of a list."""
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    UNDEFINED: "--", "Δ": r"$\Delta$", "…": r"\ldots{}", "−": "$-$", "ρ": r"$\rho$",
    "†": r"$\dagger$",
    "[": "{[}",  # after the end of a row, LaTeX takes a bare bracket for an option
}  # fmt: skip
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_BLANKS = "\t\n\r\u2028\u2029"
_MARKDOWN = re.compile(r"([\\`*_{}|<>\[\]#&~])")
_DTYPE = re.compile(r"(?:^|\|)dtype:([^|]+)")
_ONLY_NUMBERS = re.compile(r"[-\d.,–<%* †\[\]]*")
"""Cells in which no reader of Markdown finds markup: numbers, intervals, marks."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", re.IGNORECASE)


@frozen
class PrintedTable:
    """A table as it is shown: texts, numbers already written."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()
    """Remarks below the table."""
    left: int = 1
    """The number of leading columns that are flush left; the others hold numbers and are flush
    right."""
    parts: Sequence[object] = ()
    """For each row what it belongs to: LaTeX draws a rule where that changes. Empty: no rules."""
    warnings: Sequence[str] = ()
    """Warnings, shown above title and table."""


# --- Numbers ---


def number(value: float | None, decimals: int = 2) -> str:
    """A number with so many decimals, without the sign of a zero; "–" for None."""
    return number_text(value, decimals)


def interval(ends: Sequence[float] | None, decimals: int = 2) -> str:
    """``[lower, upper]``; "–" for None."""
    return interval_text(ends, decimals)


def pixels(length: float) -> str:
    """A length as a drawing has it, in hundredths of a pixel at most."""
    return f"{round(length, 2):g}"


# --- Texts ---


def printable(text: str, allowed: str = "") -> str:
    """The text with "?" for control characters other than those `allowed`, and for marks that turn
    what follows them.

    Names come from files: a terminal obeys what it is sent, and a reader of a page believes the
    order that it shows.
    """
    return _CONTROLS.sub(lambda match: match[0] if match[0] in allowed else "?", text)


def printable_on_page(value: object) -> object:
    """A value as a template shows it: a text that is not markup in its `printable` form, with its
    line ends, which a browser takes for blanks.
    """
    is_markup = hasattr(value, "__html__")
    return printable(value, _BLANKS) if isinstance(value, str) and not is_markup else value


def cut(label: str, length: int = _LABEL_WIDTH) -> str:
    """A label without control characters, with an ellipsis in its middle where it is longer than
    that.

    Its end stays: the names of one model's runs with two prompts differ there.
    """
    label = printable(label)
    front = (length - 1) // 2
    return label if len(label) <= length else f"{label[:front]}…{label[front + 1 - length :]}"


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is, with ΔG and ΔS as mathematics."""
    escaped = "".join(_LATEX.get(char, char) for char in printable(text).strip())
    return re.sub(r"\$\\Delta\$([GSI])", r"$\\Delta \1$", escaped)


def markdown_text(text: str) -> str:
    """Text that no reader of Markdown takes for markup."""
    return _MARKDOWN.sub(r"\\\1", printable(text).strip())


# --- Drawing ---


def note_on_bits(signature: str | None) -> str:
    """The caution on a run whose signature names a type of less than 32 bits; "" for others."""
    dtype = _DTYPE.search(signature or "")
    if dtype is None or dtype[1] == "float32":
        return ""
    return (
        f"Note: in {dtype[1]} some translations differ from those in float32, "
        "and so can the gender of an entity."
    )


def draw(
    tables: Sequence[PrintedTable], form: str, signatures: Iterable[tuple[str, str]] = ()
) -> str:
    """Tables one after the other as ``text``, ``markdown`` or ``latex``, then what they were made
    of, and a newline.

    `signatures` are names of runs with theirs; one alone may have an empty name. LaTeX needs
    booktabs, and longtable above 40 rows; signatures are comments there.

    Raises:
        ValueError: rows of unequal length.
    """
    named = list(dict.fromkeys((printable(name), printable(text)) for name, text in signatures))
    if form == "latex":
        long = (
            r" \usepackage{longtable}" if any(len(table.rows) > _LONG for table in tables) else ""
        )
        comments = [rf"% \usepackage{{booktabs}}{long} \usepackage[T1]{{fontenc}}"]
        comments += [f"% {name or 'Signature'}: {text}" for name, text in named]
        return "\n".join([*comments, *map(_latex, tables)])
    if form == "markdown":
        lines = [
            f"- {markdown_text(name or 'Signature')}: `{text.replace('`', '?')}`\n"
            for name, text in named
        ]
        blocks = [*map(_markdown, tables), "".join(lines)]
    else:
        head = "Signatures\n" if any(name for name, _ in named) else ""
        lines = [f"  {name}: {text}\n" if name else f"Signature: {text}\n" for name, text in named]
        blocks = [*map(as_text, tables), head + "".join(lines)]
    return "\n".join(block for block in blocks if block)


def as_text(table: PrintedTable) -> str:
    """The table for a terminal: title, columns of equal width, notes; each line ends in a
    newline.
    """
    sides = "<" * table.left + ">" * (len(table.head) - table.left)
    warned = [f"WARNING: {printable(text)}" for text in table.warnings]
    lines = [
        *warned,
        *([printable(table.title)] if table.title else []),
        *aligned([table.head, *table.rows], sides),
    ]
    return "".join(f"{line}\n" for line in (*lines, *map(printable, table.notes)))


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal of a header and rows: the first column flush left, the others flush
    right.

    Raises:
        ValueError: rows of unequal length.
    """
    return as_text(PrintedTable(header, rows))


def fields(content: JsonObject) -> str:
    """A result by the names of its fields: numbers in a table, then tables, texts and files.

    A field that is None was not looked at and has no line.
    """
    counts, tables, lines = [], [], []
    for name, value in content.items():
        label = name.replace("_", " ")
        if value is None:
            continue
        if isinstance(value, str):
            lines.append(printable(f"{label.capitalize()}: {value}"))
        elif isinstance(value, bool):
            lines += [label.capitalize()] if value else []
        elif isinstance(value, int):
            counts.append([label, _cell(value)])
        elif isinstance(value, Mapping) and "name" in value:
            tables.append(_table_of_rows(label, [value]))
        elif isinstance(value, Mapping) and list in map(type, value.values()):
            lines += [f"{label}: {key}: {', '.join(part)}" for key, part in value.items()]
        elif isinstance(value, Mapping):
            counts += [[f"{label}: {key}", _cell(part)] for key, part in value.items()]
        elif value and isinstance(value[0], Mapping):
            tables.append(_table_of_rows(label, value))
        else:
            counts.append([label, _cell(len(value))])
            lines += _listed_items(label, value)
    return "\n".join([columns(["", "number"], counts), *tables, *lines])


def _table_of_rows(label: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Objects with the same keys as a table; `label` heads their first column."""
    head = [key.replace("_", " ") for key in rows[0]]
    return columns([label, *head[1:]], [list(map(_cell, row.values())) for row in rows])


def _listed_items(label: str, items: Sequence[str | Sequence[str]]) -> Iterator[str]:
    """A line for each of the first items of a list, and how many more there are."""
    for item in items[:_SHOWN]:
        text = item if isinstance(item, str) else ": ".join(item)
        yield printable(f"{label}: {text}")
    if len(items) > _SHOWN:
        yield f"{label}: … and {len(items) - _SHOWN:,} more (--json lists all)"


def _cell(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_cell, value))}]"
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def aligned(
    rows: Sequence[Sequence[str]], sides: str, *, gap: str = "  ", strip: bool = True
) -> list[str]:
    """Rows as lines in columns of equal width, each flush left (``<``) or right (``>``).

    Raises:
        ValueError: rows of unequal length, or of another length than `sides`.
    """
    rows = [list(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = []
        for cell, side, width in zip(row, sides, widths, strict=True):
            padded.append(f"{cell:{side}{width}}")
        line = gap.join(padded)
        lines.append(line.rstrip() if strip else line)
    return lines


def _markdown(table: PrintedTable) -> str:
    head = list(map(markdown_text, table.head))
    rule = ["---" if n < table.left else "---:" for n in range(len(table.head))]
    rows = [list(map(_markdown_cell, row)) for row in table.rows]
    texts = [f"**Warning: {markdown_text(text)}**\n\n" for text in table.warnings]
    texts += [f"{markdown_text(table.title)}\n\n"] if table.title else []
    texts += [f"| {' | '.join(row)} |\n" for row in (head, rule, *rows)]
    texts += [f"\n{markdown_text(note)}\n" for note in table.notes]
    return "".join(texts)


def _markdown_cell(cell: str) -> str:
    return cell.strip() if _ONLY_NUMBERS.fullmatch(cell) else markdown_text(cell)


def _latex(table: PrintedTable) -> str:
    """A ``table``, or a ``longtable`` where it is long, with the rules of booktabs; title and notes
    are the caption.
    """
    warned = [f"Warning: {text}" for text in table.warnings]
    caption = " ".join(
        f"{latex_text(text).rstrip('.')}." for text in (*warned, table.title, *table.notes) if text
    )
    names = f"{' & '.join(map(latex_text, table.head))} \\\\"
    sides = "l" * table.left + "r" * (len(table.head) - table.left)
    body: list[str] = []
    for n, row in enumerate(table.rows):
        body += [r"\midrule"] if n and table.parts and table.parts[n] != table.parts[n - 1] else []
        cells = [
            latex_text(cell) if at < table.left else _latex_number(cell)
            for at, cell in enumerate(row)
        ]
        body.append(f"{' & '.join(cells)} \\\\")
    if len(table.rows) > _LONG:
        lines = [
            r"{\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            r"\setlength{\LTcapwidth}{\linewidth}",
            rf"\begin{{longtable}}{{{sides}}}",
            rf"\caption{{{caption}}} \\",
            *[r"\toprule", names, r"\midrule", r"\endhead", *body, r"\bottomrule"],
            r"\end{longtable}",
            "}",
        ]
    else:
        lines = [
            r"\begin{table}",
            r"\centering",
            r"\small",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabular}}{{{sides}}}",
            *[r"\toprule", names, r"\midrule", *body, r"\bottomrule"],
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
        ]
    return "".join(f"{line}\n" for line in lines)


def _latex_number(cell: str) -> str:
    """A number with true minus signs, its interval small, a mark raised."""
    small = re.sub(r"\{\[\}([^\]]*\])", r"{\\scriptsize [\1}", latex_text(cell))
    return re.sub(r"\*$", "$^*$", re.sub(r"(?<![\w.}])-(?=\d)", "$-$", small))


def as_csv(records: Iterable[Mapping[str, object]]) -> str:
    """A line for each record below the names of all fields that any has; nothing without any.

    Text that a spreadsheet would take for a formula has an apostrophe before it (`harmless`).
    """
    rows = list(records)
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    lines = _Lines()
    # Python before 3.13 quotes a carriage return only where it is part of the line's end, and a
    # bare one ends a line for spreadsheets: what follows it would be a cell of its own.
    writer = csv.DictWriter(lines, names, lineterminator="\r\n")
    if names:
        writer.writerow({name: harmless(name) for name in names})
    for row in rows:
        writer.writerow({name: harmless(cell) for name, cell in row.items()})
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


class _Lines(list[str]):
    """What a CSV writer writes, line by line."""

    def write(self, line: str) -> None:
        self.append(line)


def harmless(cell: object) -> object:
    """A cell of a CSV for people, with an apostrophe before text that starts like a formula;
    numbers stay.

    Source: OWASP, CSV Injection: cells that begin with ``=``, ``+``, ``-``, ``@``, tab or carriage
    return.
    """
    formula = (
        isinstance(cell, str)
        and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        and not _NUMBER.fullmatch(cell)
    )
    return f"'{cell}" if formula else cell
