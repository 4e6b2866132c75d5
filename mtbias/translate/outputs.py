"""What is kept of translated sentences, and how the translations of a corpus are put together from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mtbias.translate.system import Store, Translated
from mtbias.types import SourceSentence, Translation

EXAMPLES = 5
"""How many sentences are named under each mark."""

MARKS = ("empty", "source_cut", "cut", "repetitive", "redone")
"""What is counted among the outputs of a checkpoint."""


@dataclass(frozen=True, slots=True)
class Output:
    """The translation of one sentence, and what was noticed."""

    text: str
    source_cut: bool = False
    """The source was longer than the model can read."""
    cut: bool = False
    """The translation reached the maximum length."""
    repetitive: bool = False
    """The translation fell into repetition."""
    redone: bool = False
    """Its scores were not finite in half precision; this is what fp32 gave."""

    @property
    def empty(self) -> bool:
        """There is no text."""
        return not self.text.strip()


def kept_outputs(store: Store, part: int, size: int) -> list[Output] | None:
    """The outputs of a part of `size` sentences, or None where it is not there or not whole."""
    records = store.get(part)
    return None if records is None or len(records) != size else [Output(**record) for record in records]


def collect(
    store: Store, parts: Sequence[Sequence[str]], instances: Sequence[SourceSentence], marks: Sequence[str] = MARKS
) -> Translated | int:
    """The translations of `instances`, or how many of `parts`, the sources of each, `store` lacks."""
    outputs: dict[str, Output] = {}
    missing = 0
    for part, sources in enumerate(parts):
        found = kept_outputs(store, part, len(sources))
        if found is None:
            store.drop(part)  # damaged for this process, so that it is missing for all
            missing += 1
        else:
            outputs |= dict(zip(sources, found, strict=True))
    if missing:
        return missing
    rows = [(instance.id, outputs[instance.source]) for instance in instances]
    marked = {mark: [id_ for id_, output in rows if getattr(output, mark)] for mark in marks}
    return Translated(
        [Translation(id_, None, "empty") if o.empty else Translation(id_, o.text.strip()) for id_, o in rows],
        {
            "form": "generated",
            **{mark: len(ids) for mark, ids in marked.items()},
            "examples": {mark: ids[:EXAMPLES] for mark, ids in marked.items() if ids},
        },
    )
