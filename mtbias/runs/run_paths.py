"""The runs that the paths of a command name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from mtbias.runs.run_folder import MANIFEST

_PAGE = re.compile(r"report(-[^/]+)?\.html")
"""Pages that mtbias puts beside runs: ``report.html``, and of a sweep ``report-de.html``."""


def run_folders(paths: Iterable[Path]) -> list[Path]:
    """The folders of the runs that `paths` name, in their order.

    A folder that is not a run's stands for the runs in it and in its folders, in the order of their
    names; a page that mtbias put beside runs is passed over, so that ``runs/both/*`` means the
    runs. What is neither stays as it is, for whoever reads it to refuse.
    """
    places = list(paths)
    named = [path for path in places if not (_PAGE.fullmatch(path.name) and path.is_file())]
    folders = []
    for path in named or places:
        folders += [*_runs_in(path)] or [path]
    return folders


def _runs_in(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    if (folder / MANIFEST).exists():
        yield folder
        return
    for child in sorted(folder.iterdir()):
        if (child / MANIFEST).exists() or not child.is_symlink():  # a link may lead back here
            yield from _runs_in(child)
