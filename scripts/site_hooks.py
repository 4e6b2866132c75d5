"""A hook of the documentation site: the page of published results is made of docs/results while the site is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mtbias.report.publishing import RESULTS, read_results
from mtbias.report.results_page import make_blocks, render_results

PAGE = "results/index.html"


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - of mkdocs, which has no types
    """Add the page to the files of the site: it is made for each build, so it is never older than the results."""
    from mkdocs.structure.files import File

    page = render_results(make_blocks(read_results(Path(config["docs_dir"]) / "results" / RESULTS)))
    files.append(File.generated(config, PAGE, content=page))
    return files
