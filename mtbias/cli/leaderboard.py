"""``mtbias leaderboard``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.errors import SettingError


def command(
    results: Annotated[Path, Parameter(name="DIR", help="Folder of results that `mtbias publish` wrote.")],
    /,
    *,
    out: Path,
    title: str | None = None,
) -> None:
    """Make a static page of published results.

    Systems by language and corpus, with intervals, warnings, signatures and links. Systems that do not differ
    significantly share a rank (paired tests, corrected by Holm); pairs that were never tested are shown as such.

    Parameters
    ----------
    out
        Folder for the page, index.html, which needs nothing else.
    title
        Of the page.
    """
    if out.exists() and not out.is_dir():
        raise SettingError("out", f"expected a folder, got the file {out}")

    from mtbias.files.writing import explained, write_atomic
    from mtbias.report.leaderboard_page import TITLE, render_leaderboard
    from mtbias.report.ranking import make_blocks, read_results

    page = render_leaderboard(make_blocks(read_results(results)), title or TITLE)
    with explained(out, "make the folder"):
        out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / "index.html", page.encode())
    print(f"Page: {out / 'index.html'} ({len(page.encode()) / 2**10:.0f} KiB, nothing else is needed to open it)")
