"""How the commands that make corpora and check languages show a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mtbias.cli.shared import print_json
from mtbias.report.tables import columns, number, printable
from mtbias.stats.results import rounded

_SHOWN = 20
"""Of the items of a list."""


def show(result: Any, *, json: bool) -> None:  # noqa: ANN401 - any dataclass
    """Print the fields of a result as JSON, or as text: numbers in a table, then tables, texts and files.

    A field that is None was not looked at: the text has no line of it.
    """
    content: dict[str, Any] = {
        name: str(value) if isinstance(value, Path) else rounded(value) for name, value in asdict(result).items()
    }
    if json:
        print_json(content, indent=None)
        return
    counts, tables, lines = [], [], []
    for name, value in ((name, value) for name, value in content.items() if value is not None):
        label = name.replace("_", " ")
        if isinstance(value, Mapping) and "name" in value:  # a table of one row
            value = [value]  # noqa: PLW2901
        if isinstance(value, str):
            lines.append(f"{label.capitalize()}: {value}")
        elif isinstance(value, int) and not isinstance(value, bool):
            counts.append([label, _cell(value)])
        elif isinstance(value, Mapping) and list in map(type, value.values()):
            lines += [f"{label}: {key}: {', '.join(part)}" for key, part in value.items()]
        elif isinstance(value, Mapping):
            counts += [[f"{label}: {key}", _cell(part)] for key, part in value.items()]
        elif isinstance(value, bool):
            if value:
                lines.append(label.capitalize())
        elif value and isinstance(value[0], Mapping):
            head = [key.replace("_", " ") for key in value[0]]
            tables.append(columns([label, *head[1:]], [[_cell(cell) for cell in row.values()] for row in value]))
        else:
            counts.append([label, _cell(len(value))])
            texts = [part if isinstance(part, str) else ": ".join(part) for part in value[:_SHOWN]]
            lines += [printable(f"{label}: {text}") for text in texts]
            lines += [f"{label}: … and {len(value) - _SHOWN:,} more (--json lists all)"] if len(value) > _SHOWN else []
    print("\n".join([columns(["", "number"], counts), *tables, *lines]))


def _cell(value: object) -> str:

    if isinstance(value, list):
        return f"[{', '.join(map(_cell, value))}]"
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else printable(str(value))
