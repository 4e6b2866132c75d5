"""The corpus: a table of ``id``, ``source`` and ``kind`` (``polar``: yes or no; ``open``: who,
what, where)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mtbias.corpora import AskedCorpus, Corpus, CorpusKind
from mtbias.errors import UsageError
from mtbias.files.reading import read_table
from mtbias.types import SourceSentence


@dataclass(frozen=True, slots=True)
class Question(SourceSentence):
    """A question of one of two kinds."""

    kind: str


def read_questions(path: Path | None) -> Corpus[Question]:
    """Read the table at `path`."""
    if path is None:
        raise UsageError("questions: give the table with --data FILE")
    table = read_table(path)
    table.require("id", "source", "kind")
    return Corpus(
        name="questions",
        path=path,
        sha256=table.file.sha256,
        instances=tuple(
            Question(r.get("id"), r.row, r.get("source"), r.get("kind")) for r in table.records
        ),
        notes={},
        files={path.name: table.file.sha256},
        measure="questions",
    )


class QuestionsCorpus(CorpusKind):
    """The questions, as far as none is read."""

    needs_language = False  # the measure looks for question marks

    def read(self, asked: AskedCorpus) -> Corpus[Question]:
        """The questions in the table that is asked for."""
        return read_questions(asked.path)


QUESTIONS = QuestionsCorpus()
