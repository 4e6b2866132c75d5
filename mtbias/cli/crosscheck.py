"""``mtbias crosscheck``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mtbias.cli.shared import HERE, Json, Rows, print_json
from mtbias.errors import SettingError

if TYPE_CHECKING:
    from mtbias.scoring.crosscheck import Crosscheck


def command(
    words: Annotated[Path, Parameter(name="WORDS", help="Folder of a run on mt-geneval.")],
    persons: Annotated[Path, Parameter(name="PERSONS", help="Folder of a run on mt-geneval-entities.")],
    /,
    *,
    rows: Rows = None,
    report: Path | None = None,
    json: Json = False,
) -> None:
    """Hold MT-GenEval's measure against the genders of the persons, on the same translations.

    One run is by the words of the references, the other by morphology (--dataset mt-geneval-entities). Sentences are
    counted by what both say of them, and those of which one says right and the other wrong can be listed, with the
    words and the evidence of both.

    Parameters
    ----------
    rows
        Write the sentences on which they differ into this file (.jsonl, else text); `-` prints them.
    report
        Write an HTML page with the table and these sentences into this file.
    """
    if report is not None and report.is_dir():
        raise SettingError("report", f"expected a file, got the folder {report}")
    if rows is not None and rows.is_dir():
        raise SettingError("rows", f"expected a file, got the folder {rows}")
    from mtbias.files.writing import write_atomic
    from mtbias.language.installed import get_language
    from mtbias.report.crosscheck_page import render_crosscheck, render_crosscheck_page, render_differing
    from mtbias.runs.finished_run import read_run
    from mtbias.scoring.crosscheck import crosscheck

    found = crosscheck(read_run(words), read_run(persons))
    if report is not None:
        write_atomic(report, render_crosscheck_page(found, get_language(found.lang).direction).encode())
    if rows is not None and rows != HERE:
        write_atomic(rows, _rows(found, jsonl=rows.suffix == ".jsonl").encode())
    if json:
        differing = [sentence.to_json() for sentence in found.differing]
        print_json(found.to_json() | ({"sentences": differing} if rows == HERE else {}))
        return
    if rows == HERE:
        print(f"{render_differing(found.differing)}\n", end="")
    print(render_crosscheck(found), end="")
    if report is not None:
        print(f"\nReport: {report}")


def _rows(found: Crosscheck, *, jsonl: bool) -> str:
    import json

    from mtbias.report.crosscheck_page import render_differing

    if not jsonl:
        return render_differing(found.differing)
    return "".join(f"{json.dumps(sentence.to_json(), ensure_ascii=False)}\n" for sentence in found.differing)
