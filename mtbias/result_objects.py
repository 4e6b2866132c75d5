"""What the Python API gives: a finished run, and a comparison of several, as a terminal and a
notebook show them.
"""

from __future__ import annotations

from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mtbias.errors import choices
from mtbias.files.writing import write_atomic
from mtbias.report.comparison_tables import first_table, render_comparison, shown_finding
from mtbias.report.page import as_html
from mtbias.report.report_runs import report_run
from mtbias.report.run_page import render_html
from mtbias.report.run_table import overall_table, render
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring.comparison import Comparison
from mtbias.scoring.definitions import CONSISTENCY, Number
from mtbias.scoring.metrics_reader import read_metrics

if TYPE_CHECKING:
    import pandas as pd

AnyPath: TypeAlias = "str | PathLike[str]"


class Run(FinishedRun):
    """A finished run: its numbers, its sentences, and how they were made."""

    def __repr__(self) -> str:
        dataset, n = self.corpus[0], self.metrics["n"]
        return f"Run({self.system!r}, lang={self.lang!r}, dataset={dataset!r}, n={n})"

    def __str__(self) -> str:
        """The table that the commands print."""
        return render(self.metrics, numbers=self.numbers).rstrip("\n")

    def _repr_html_(self) -> str:
        """What it shows in sentences, and the numbers of the whole corpus, for a notebook."""
        texts = [statement.text for statement in read_metrics(self.metrics).finding]
        return str(as_html(overall_table(self.metrics, numbers=self.numbers), texts))

    def __getattr__(self, name: str) -> float | None:
        """A number of the whole corpus by its key (``run.delta_g``): as in `metrics`, None where
        undefined.

        Raises:
            AttributeError: there is no such number; names the close ones.
        """
        if name.startswith("_"):  # also while the object is being made
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        numbers = self._numbers()
        if name in numbers:
            return numbers[name]
        raise AttributeError(
            f"a run has no {name!r}; {choices(name, numbers, {each: each for each in dir(self)})}"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._numbers()})

    def _numbers(self) -> dict[str, float | None]:
        """The numbers of the whole corpus, those over pairs of sentences too where it has pairs."""
        metrics = read_metrics(self.metrics)
        values = {number.key: metrics.overall.estimate(number).value for number in self.numbers}
        if metrics.consistency is not None:
            pairs = metrics.consistency.all
            values |= {number.key: pairs.estimate(number).value for number in CONSISTENCY}
        return values

    def to_frame(self) -> pd.DataFrame:
        """The numbers as a data frame, one row a group: see
        `mtbias.scoring.scores.Scores.to_frame`.
        """
        return self.scores.to_frame()

    def calls_frame(self) -> pd.DataFrame:
        """The sentences as a data frame, one row each, in the corpus's order, with the id as index.

        Columns: those of `calls.jsonl` up to `reason`, `stanza_gender` and `does`; `correct` (the
        call is the gold gender; no call is not correct; missing where the gender is unknown);
        `target` (the aligned words, joined by a space); `decided_by` (the kind of word the call
        rests on); `edits` (how many words show the gender). What is absent is missing: `gender`
        without a call, `reason` with one. For another measure than the gender of an entity: the
        keys of its lines.
        """
        import pandas as pd

        if not self.kind.reads_entities:
            return pd.DataFrame([record.to_json() for record in self.calls]).set_index("id")
        frame = pd.DataFrame([_row(record) for record in self.calls]).set_index("id")
        return frame.astype({"distance": "Int64"})

    def report(self, path: AnyPath, *, name: str | None = None) -> Path:
        """Write the run's report, one HTML file that needs nothing else, and return its path.

        Args:
            path: the file to write; one that is there is replaced.
            name: what the reader knows the system by; by default `system`.

        Raises:
            UsageError: the language is not installed.
            RunFolderError: the file cannot be written.
            OutputError: it was read, or is a file of a run, but for this run's own ``report.html``.
        """
        page = render_html([report_run(self, name=name)])
        write_atomic(Path(path), page.encode(), page_of=self.path)
        return Path(path)


def api_run(finished: FinishedRun) -> Run:
    """A finished run as the API's class, with the sentences that were read already."""
    run = Run(
        finished.manifest, finished.metrics, finished.measure, finished.records, finished.folder
    )
    vars(run).update(vars(finished))
    return run


class ComparedRuns(Comparison):
    """A comparison, as a terminal and a notebook show it."""

    def __str__(self) -> str:
        """The finding and the table that the command prints."""
        return render_comparison(self, numbers=self._declared).rstrip("\n")

    def _repr_html_(self) -> str:
        """What it shows in sentences, and systems and differences, for a notebook."""
        texts = [each.text for each in shown_finding(self)]
        return str(as_html(first_table(self, self._declared), texts))

    @property
    def _declared(self) -> tuple[Number, ...]:
        """What the measure of the runs reports."""
        return self.systems[0].group.counting.numbers

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> ComparedRuns:
        """A comparison as the API's class."""
        content = {each.name: getattr(comparison, each.name) for each in fields(comparison)}
        return cls(**content)


def _row(record: CallRecord) -> dict[str, Any]:
    """A row of `Run.calls_frame`."""
    content = record.to_json()
    call = record.call
    columns = {
        name: value
        for name, value in content.items()
        if name not in {"target", "target_spans", "evidence", "edits"}
    }
    return {
        **columns,
        "correct": None if record.gold is None else call.gender is record.gold,
        "target": " ".join(content["target"]),
        "decided_by": None if call.gender is None else call.decided_by,
        "edits": len(call.edits),
    }
