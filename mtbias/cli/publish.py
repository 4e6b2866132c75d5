"""``mtbias publish``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Bootstrap, Names, checked_names
from mtbias.errors import escaped
from mtbias.runs.run_paths import run_folders
from mtbias.settings import BootstrapSettings


def command(
    runs: Annotated[
        list[Path] | None,
        Parameter(
            name="RUN",
            help="Folders of finished runs, or folders that hold some; without any, the page is "
            "written again from the results.",
        ),
    ] = None,
    /,
    *,
    out: Path,
    names: Names = None,
    link: list[str] | None = None,
    note: str | None = None,
    licence: str | None = None,
    title: str | None = None,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Check finished runs, write their numbers, and make a static page of results.

    Each run is checked against its own calls and becomes one line of results.jsonl without any
    sentence: numbers with intervals and denominators, warnings, signature. The page, index.html,
    shows all results of the folder: systems by language and corpus. Runs of one corpus, language
    and evaluator that are given together are tested in pairs; only such pairs are ranked. Systems
    that do not differ significantly share a rank.

    Parameters
    ----------
    out
        Folder for results and page; an earlier result of a run is replaced.
    link
        Address of further information (http or https), one for each RUN in their order.
    note
        A remark beside every run.
    licence
        Licence of the systems' translations.
    title
        Title of the page.
    """
    from mtbias.report.results_page import PAGE, publish

    runs = run_folders(runs or [])
    names = checked_names(names, runs)
    results = publish(
        runs,
        out,
        names,
        link or [],
        note=note,
        licence=licence,
        title=title,
        bootstrap=bootstrap,
    )
    for result in results:
        name = escaped(f"{result.system} ({result.language})")
        print(f"{name}: tested against {len(result.comparisons)} of the others")
        for text in result.warnings:
            print(f"WARNING: {name}: {text}", file=sys.stderr)
    print(escaped(f"Page: {out / PAGE} (nothing else is needed to open it)"))
