"""The report of runs: one HTML file that needs nothing else, neither network nor server.

No number is computed here: all stand in `metrics.json`. Everything that comes from files is escaped, a content security
policy forbids the page to load or run anything but its own style and script (`mtbias.report.page`), and sentences reach
the page as data (`mtbias.report.sentence_data`) that the script writes as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mtbias.errors import DataError
from mtbias.metrics.women_share import WomenRelation
from mtbias.report.entities import entities
from mtbias.report.markup import Markup, element
from mtbias.report.page import document
from mtbias.report.report_runs import ReportRun, Sentence, join_sentences
from mtbias.report.sections import confusion, consistency, groups, how, left_out, numbers
from mtbias.report.sentence_browser import browser
from mtbias.report.sentence_data import as_json, columns, data

__all__ = ["MAX_BYTES", "ReportRun", "render_html"]

MAX_BYTES = 15 * 1024 * 1024
"""Above this, the page holds the text of fewer sentences and says so."""

_SCHEMA = 1
_NAMED = 3
"""Up to so many runs are named in the title."""


def render_html(
    runs: Sequence[ReportRun], *, women: Sequence[WomenRelation] | None = None, max_bytes: int = MAX_BYTES
) -> str:
    """The page, as text to be written in UTF-8.

    The sentences of all runs stand in one list: those with the same id, source, entity, gold, stereotype, domain and
    number of pronouns are one. Where the page would become larger than `max_bytes`, it holds as many sentences
    as fit, spread evenly over the corpus, and says so; the numbers rest on all.

    Args:
        runs: at least one, each under its own name.
        women: the entities of each run against their shares of women, where those are known.
        max_bytes: size of the page.

    Raises:
        ValueError: there are no runs, or not one relation for each.
        DataError: two runs have one name, a `metrics.json` is not of schema 1 or lacks a key, or it was not computed
            from the calls beside it.
    """
    _check(runs)
    if women is not None and len(women) != len(runs):
        raise ValueError(f"expected shares of women for {len(runs)} runs, got {len(women)}")
    sentences = join_sentences(runs)
    shown, count = sentences, len(sentences)
    while True:
        try:
            page = _page(runs, women, shown, len(sentences))
        except KeyError as error:
            raise DataError(f"expected the key {error} in metrics.json, got none; score the run again") from error
        size = len(page.encode())
        if size <= max_bytes or not shown:
            return page
        count = min(count - 1, int(count * 0.97 * max_bytes / size))
        shown = [sentences[i * len(sentences) // count] for i in range(count)]


def _check(runs: Sequence[ReportRun]) -> None:
    if not runs:
        raise ValueError("expected at least one run, got none")
    for name, times in Counter(run.name for run in runs).items():
        if times > 1:
            raise DataError(f"expected a name of its own for each run, got {name!r} {times} times; rename one")
    for run in runs:
        found = run.metrics.get("schema")
        if found != _SCHEMA:
            raise DataError(f"run {run.name!r}: expected metrics.json of schema {_SCHEMA}, got schema {found!r}")
        rows = len(run.calls), sum(record.call.gender is not None for record in run.calls)
        told = run.metrics.get("n"), run.metrics.get("decided")
        if rows != told:
            raise DataError(
                f"run {run.name!r}: expected the calls that metrics.json was computed from ({told[0]}, {told[1]} "
                f"decided), got {rows[0]}, {rows[1]} decided; score the run again"
            )


def _page(
    runs: Sequence[ReportRun], women: Sequence[WomenRelation] | None, shown: Sequence[Sentence], total: int
) -> str:
    filtered = columns(shown)
    sections = {
        "numbers": ("Numbers", numbers(runs)),
        "groups": ("By domain, pronouns and stereotype", groups(runs)),
        "consistency": ("Consistency", consistency(runs)),
        "entities": ("By entity", entities(runs, filtered, women)),
        "confusion": ("Gold and call", confusion(runs)),
        "left-out": ("What was left out, and why", left_out(runs)),
        "sentences": ("Sentences", browser(runs, shown, total, filtered)),
        "how": ("How it was made", how(runs, women)),
    }
    corpora = sorted({(run.metrics.get("corpus") or {}).get("name", "") for run in runs} - {""})
    names = [f"{run.name} ({run.lang})" for run in runs]
    title = ", ".join(names) if len(runs) <= _NAMED else f"{len(runs)} runs"
    about = [f"Runs: {', '.join(names)}. "] if len(runs) > _NAMED else []
    about += [f"Corpus: {', '.join(corpora)}. "] if corpora else []
    about += ["Made by mtbias. ", "A dash (–) is a number that is not defined."]
    present = {key: (heading, content) for key, (heading, content) in sections.items() if content}
    content: list[Markup] = [element("p", *about)]
    return document(f"Gender bias in translation: {title}", content, present, as_json(data(runs, shown, filtered)))
