"""A sentence of the finding, and the sentence of the corpus that shows what it says."""

from __future__ import annotations

import re
from dataclasses import asdict

from mtbias.types import Called, JsonDict, frozen

PERSONS = {"male": "a man", "female": "a woman", "neutral": "a person of neutral gender"}
"""How a finding names the person of a gender."""


@frozen
class Quote:
    """A sentence of the corpus with its translation."""

    id: str
    gold: str
    call: str | None
    source: str
    translation: str
    entity: str = ""
    """The person, as the source has it; empty in the file of an earlier release."""
    words: str | None = None
    """What renders the person; None where nothing does."""

    @property
    def outcome_text(self) -> str:
        """``chef: a woman in the source, a man in the translation (“cocinero”)``."""
        where = f" (“{self.words}”)" if self.words else ""
        shown = PERSONS[self.call] if self.call else "no gender that can be told"
        who = f"{self.entity}: " if self.entity else ""
        return f"{who}{PERSONS[self.gold]} in the source, {shown} in the translation{where}"


def quote_record(record: Called) -> Quote:
    """The sentence of a line of `calls.jsonl`.

    Raises:
        ValueError: it has no translation, or its source shows no gender.
    """
    call, text, gold = record.call, record.translation, record.gold
    if text is None or gold is None:
        raise ValueError(f"expected a translated sentence that shows a gender, got {record.id!r}")
    words = text[call.target[0].start : call.target[0].end] if call.target else None
    gender = call.gender and call.gender.value
    named = re.search(re.escape(record.entity), record.source, re.IGNORECASE)
    entity = named[0] if named else record.entity
    return Quote(record.id, gold.value, gender, record.source, text, entity, words)


@frozen
class Statement:
    """A sentence of the finding."""

    rule: str
    """A key of `mtbias.scoring.finding.RULES`."""
    text: str
    quote: Quote | None = None
    """A sentence of the corpus that shows it, where one does."""

    def to_json(self) -> JsonDict:
        """A plain value; ``quote`` only if there is one."""
        return {key: value for key, value in asdict(self).items() if value is not None}
