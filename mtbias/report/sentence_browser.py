"""The browser of sentences: its filters. The data are in `mtbias.report.sentence_data`, the script writes the list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mtbias.report.markup import Markup, element
from mtbias.report.report_runs import ReportRun, Sentence
from mtbias.report.sentence_data import CALLS, GENDERS, Columns, entity_spans


def browser(runs: Sequence[ReportRun], shown: Sequence[Sentence], total: int, columns: Columns) -> list[Markup]:
    """Filters, pager and an empty list, which the script fills."""
    outcomes = [("right", "right"), ("wrong", "wrong"), ("none", "no verdict")]
    outcomes += [("differ", "the runs differ")] if len(runs) > 1 else []
    numbered = {
        "call": ("called", [call if i < len(GENDERS) else f"none: {call}" for i, call in enumerate(CALLS)]),
        **{name: (name, values) for name, (values, _) in columns.items()},
    }
    selects = [_select("run", "verdicts of", [(str(i), run.name) for i, run in enumerate(runs)], empty=False)]
    selects = selects if len(runs) > 1 else []
    selects.append(_select("outcome", "outcome", outcomes))
    for name, (text, values) in numbered.items():
        selects.append(_select(name, text, [(str(i), value) for i, value in enumerate(values)]))
    notes = ["The entity is marked in the source, and in the translation its head and, paler, the other aligned words."]
    if lost := sum(not entity_spans(sentence.first) for sentence in shown):
        notes.append(
            f"In {lost:,} sentences the entity does not stand in the source as it is named, and is not marked."
        )
    if len(shown) < total:
        notes.append(
            f"Here are {len(shown):,} of {total:,} sentences, spread evenly over the corpus, to keep the page small; "
            "the numbers rest on all, and calls.jsonl of each run has all."
        )
    pager = [
        element("button", "Previous", type="button", data_step="-1"), " ", element("span", class_="where"), " ",
        element("button", "Next", type="button", data_step="1"),
    ]  # fmt: skip
    return [
        element("p", " ".join(notes)),
        element("noscript", element("p", "The list of sentences needs JavaScript; all the rest does not.")),
        element("form", *selects, element("button", "Show all", type="reset"), id="filters", hidden=True,
                aria_label="Choose sentences"),
        element("p", id="status", role="status", aria_live="polite"),
        element("div", *pager, class_="pager", role="group", aria_label="Pages, above the list", hidden=True),
        element("ol", id="list", tabindex="-1", aria_label="Sentences"),
        element("div", *pager, class_="pager", role="group", aria_label="Pages, below the list", hidden=True),
    ]  # fmt: skip


def _select(name: str, text: str, options: Iterable[tuple[str, str]], *, empty: bool = True) -> Markup:
    first = [element("option", "all", value="")] if empty else []
    rest = [element("option", shown, value=value) for value, shown in options]
    return element("label", element("span", text), element("select", *first, *rest, name=name))
