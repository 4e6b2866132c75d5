"""The measure: a translated question has a question mark, or has lost it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.files.strict_json import decoded
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import Best, Number, Unit
from mtbias.scoring.measure import Measure, MeasureKind, MeasureOptions
from mtbias.stats.results import Floats, percent
from mtbias.types import Json, Progress, Translation
from mtbias_questions.corpus import Question

MARKS = "?？؟"
KINDS = ("polar", "open")
OUTCOMES = ("kept", "lost", None)
"""None: there is no translation."""

NUMBERS = (
    Number(key="kept", label="Questions kept", short="kept", interval="wilson", headline=True, compared=True,
           about="Of all questions, those whose translation has a question mark."),
    Number(key="gap", label="Gap", unit=Unit.POINTS, best=Best.ZERO, rests_on=KINDS, interval="bootstrap",
           headline=True, compared=True, about="Polar minus open questions.", above="polar better",
           below="open better"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Marked:
    """A line of `calls.jsonl`."""

    id: str
    source: str
    translation: str | None
    kind: str
    kept: bool | None

    def to_json(self) -> Mapping[str, Any]:
        """The object of the line."""
        return asdict(self)


def _place(record: Marked) -> tuple[int, int]:
    outcome = None if record.kept is None else "kept" if record.kept else "lost"
    return KINDS.index(record.kind), OUTCOMES.index(outcome)


def _rates(tables: NDArray[Any]) -> dict[str, Floats]:
    by_kind = percent(tables[..., 0], tables.sum(axis=-1))
    of_all = percent(tables[..., 0].sum(axis=-1), tables.sum(axis=(-1, -2)))
    return {"kept": of_all, "gap": by_kind[..., 0] - by_kind[..., 1]}


def _classes(table: NDArray[np.int64]) -> dict[str, int]:
    return {
        "n": int(table.sum()),
        **{kind: int(rows.sum()) for kind, rows in zip(KINDS, table, strict=True)},
    }


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"kind": KINDS, "mark": OUTCOMES},
    place=_place,
    rates=_rates,
    classes=_classes,
    right=np.array([[True, False, False]] * 2),
    breakdowns={"kind": lambda record: record.kind},
    shown=("kind",),
)


class Reader(Measure):
    """Looks for question marks, in any language."""

    identity: Mapping[str, Json] = {"marks": MARKS}

    def judge(
        self, instances: Sequence[Question], translations: Sequence[Translation], progress: Progress
    ) -> list[Marked]:
        """One record for each question."""
        texts = {translation.id: translation.text for translation in translations}
        progress("read", len(instances), len(instances))
        records = []
        for question in instances:
            text = texts[question.id]
            kept = None if text is None else any(mark in text for mark in MARKS)
            records.append(Marked(question.id, question.source, text, question.kind, kept))
        return records


class QuestionsKind(MeasureKind):
    """The measure, as far as it does not depend on a language; which is all of it."""

    counting = COUNTING

    def open(self, options: MeasureOptions) -> Reader:
        """The reader; no language plugin is needed."""
        return Reader()

    def read(self, line: bytes) -> Marked:
        """The record of a line."""
        return decoded(Marked, line)


QUESTIONS = QuestionsKind()
