"""The page on which annotators mark whom the pronouns of texts with GAP's columns mean.

`mtbias.mining.quadruple_check` says what their marks mean for Counter-GAP's quadruples.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from mtbias.coref.gap_data import GapInstance, read_instances
from mtbias.files.writing import signature_line, write_atomic
from mtbias.mining.corpus_check import require_page
from mtbias.report.page import render_page
from mtbias.stats.results import source
from mtbias.types import frozen


@frozen
class MarkingPage:
    """A page that was written."""

    texts: int
    """Of the file."""
    drawn: int
    out: Path
    signature: str


def write_marking_page(data: Path, out: Path, rows: int = 200, seed: int = 0) -> MarkingPage:
    """Write the page on which people mark whom the pronouns of `rows` texts mean, drawn with
    `seed`, in random order.

    The labels of the file are not on it, nor which names are candidates.

    Raises:
        SettingError: `out` is not a page.
        DataError: as `read_instances`.
        RunFolderError: the page cannot be written.
    """
    require_page(out)
    file = read_instances(data, labelled=False)
    order = source(seed).permutation(len(file.instances))[:rows]
    drawn = [file.instances[place] for place in order]
    write_atomic(out, render_marking_page(drawn, data, file.sha256).encode())
    options = {"rows": len(drawn), "seed": seed}
    signature = signature_line("check:marks", {"data": {data.name: file.sha256}}, options)
    return MarkingPage(len(file.instances), len(drawn), out, signature)


def render_marking_page(instances: Sequence[GapInstance], data: Path, sha256: str) -> str:
    """The page, one HTML file that loads nothing and sends nothing, as text to be written in UTF-8.

    Offsets on it and in its file count characters as Python does, not UTF-16 units.
    """
    marks = f"{data.stem}.marks.tsv"
    texts = [{"id": one.id, "text": one.text, "pronoun": list(one.pronoun_at)} for one in instances]
    return render_page(
        "marks.html",
        scripts=("judging.js", "marks.js"),
        title=f"Whom do the pronouns of {data.name} mean?",
        n=len(texts),
        data={"store": f"mtbias-marks-{sha256}", "file": marks, "texts": texts},
        files=f"--data {quote(data.name)} --judgements {quote(marks)}",
    )
