"""Some rows of a table as a table of its own, with the columns and the fields that they had."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from mtbias.errors import SettingError
from mtbias.files.reading import Record, Table
from mtbias.files.writing import write_atomic

_TSV, _JSONL = {".tsv", ".tab"}, {".jsonl", ".ndjson"}
ENDS = (".csv", *sorted(_TSV | _JSONL))


def check_name(path: Path, setting: str = "out") -> None:
    """Refuse a name that does not say which form of table it is.

    Raises:
        SettingError: it ends in none of `ENDS`.
    """
    if path.suffix.lower() not in ENDS:
        raise SettingError(setting, f"expected a name that ends in {', '.join(ENDS)}, got {str(path)!r}")


def write_rows(path: Path, table: Table, records: Sequence[Record]) -> None:
    """Write these `records` of `table`, by the end of the name: CSV, TSV, JSON lines.

    White space at the end of a field goes.

    Raises:
        SettingError: a name that says no form; a field holds a tab or a line break, which TSV cannot hold.
        RunFolderError: it cannot be written.
    """
    check_name(path)
    rows = [[record.raw(column).rstrip() for column in table.columns] for record in records]
    suffix = path.suffix.lower()
    if suffix in _JSONL:
        lines = (json.dumps(dict(zip(table.columns, row, strict=True)), ensure_ascii=False) for row in rows)
        write_atomic(path, lines)
    elif suffix in _TSV:
        if broken := next((record for record, row in zip(records, rows, strict=True) if _breaks(row)), None):
            what = f"a name that ends in .csv, since the row in line {broken.line} holds a tab or a line break"
            raise SettingError("out", f"expected {what}; got {str(path)!r}")
        write_atomic(path, ("\t".join(row) for row in [list(table.columns), *rows]))
    else:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([table.columns, *rows])
        write_atomic(path, text.getvalue().encode())


def _breaks(row: Sequence[str]) -> bool:
    return any(sign in field for field in row for sign in "\t\n\r")
