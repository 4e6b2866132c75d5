"""What mining counts: what was read and parsed, what each pattern found, what was left out and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

READ, CHOSEN, SENTENCES, PARSED = STAGES = ("passages", "passages with the words", "sentences", "sentences parsed")
"""Lines or paragraphs (of CoNLL-U sentences) that were read; those that hold a listed noun and a pronoun; the sentences
of these; those of them that were parsed (of CoNLL-U: matched)."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts, which add up over the parts of a text."""

    stages: Counter[str] = field(default_factory=Counter)
    """By `STAGES`."""
    matched: Counter[str] = field(default_factory=Counter)
    """Finds, by pattern."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Lines, passages, sentences or finds that are not in the corpus, by reason."""

    def add(self, other: Counts) -> None:
        """Count what `other` has, too."""
        self.stages.update(other.stages)
        self.matched.update(other.matched)
        self.left_out.update(other.left_out)
