"""Hooks of the documentation site: what is made of data while it is built.

The page of published results is made of docs/results, the tables of the policy of its rows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mtbias.report.publishing import RESULTS, read_results
from mtbias.report.results_page import make_blocks, render_results

PAGE = "results/index.html"
POLICY = "policy.md"
LEADERBOARD = "leaderboard.md"


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401 - of mkdocs, which has no types
    """Add the page to the files of the site: it is made for each build, so it is never older than
    the results.
    """
    from mkdocs.structure.files import File

    if (there := files.get_file_from_path(PAGE)) is not None:
        files.remove(there)
    page = render_results(make_blocks(read_results(Path(config["docs_dir"]) / "results" / RESULTS)))
    files.append(File.generated(config, PAGE, content=page))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:  # noqa: ANN401 - of mkdocs, which has no types
    """The policy with the table that decides, and one of sentences for each kind of noun; where a
    checkout has the results, the site has their page.
    """
    if page.file.src_uri == LEADERBOARD:
        return markdown.replace(f"](results/{RESULTS})", f"]({PAGE})")
    if page.file.src_uri != POLICY:
        return markdown
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from scripts.label_sets.policy import policy_lines_shown, read_policy, table_lines

    decides = ["## The table that decides", *policy_lines_shown()]
    sentences = ["## Sentences by kind of noun", *table_lines(read_policy())]
    return "\n".join([markdown, "", *decides, "", *sentences])
