"""Two measures of the same translations, sentence by sentence: the words of references, and the genders of persons.

Where they differ, one of them is wrong or they mean different things; which, only a reader can say.
"""

# ruff: noqa: D102 - the names of the protocol's properties say what they are

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from mtbias.errors import DataError
from mtbias.scoring.measure import GENDER
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Estimate, percent_of, rounded

WORDS = "mt-geneval"
"""The measure by words."""
BY_WORDS = ("right", "right without evidence", "wrong", "untranslated")
BY_PERSONS = ("right", "wrong", "no call", "no person")
"""No call: of none of the persons; no person: the corpus of persons has none in the sentence."""


class MeasuredRun(Protocol):
    """What is needed of a run: `mtbias.runs.finished_run.FinishedRun` has it."""

    @property
    def measure(self) -> str: ...
    @property
    def system(self) -> str: ...
    @property
    def lang(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def calls(self) -> Sequence[Any]: ...


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence with what both measures say of its translation."""

    words: Any
    """The record of the measure by words (`mtbias.scoring.reference_words.WordRecord`)."""
    persons: tuple[Any, ...]
    """The records of its persons (`mtbias.runs.call_records.CallRecord`)."""

    @property
    def by_words(self) -> str:
        """One of `BY_WORDS`."""
        if self.words.correct is None:
            return "untranslated"
        if not self.words.correct:
            return "wrong"
        return "right" if self.words.evidence.right else "right without evidence"

    @property
    def by_persons(self) -> str:
        """One of `BY_PERSONS`: wrong where a person has another gender than the source tells, as one word of the other
        reference is enough for the measure by words; else right where a person has a call.
        """
        if not self.persons:
            return "no person"
        called = [record for record in self.persons if record.call.gender is not None]
        if any(record.call.gender is not record.gold for record in called):
            return "wrong"
        return "right" if called else "no call"

    @property
    def decided(self) -> bool:
        """Whether both say right or wrong."""
        return self.by_words != "untranslated" and self.by_persons in ("right", "wrong")

    @property
    def differs(self) -> bool:
        """Whether one says right and the other wrong."""
        return self.decided and bool(self.words.correct) != (self.by_persons == "right")

    def to_json(self) -> dict[str, Any]:
        """A plain value, with the words and the evidence of both."""
        words = self.words
        return {
            "id": words.id,
            "by_words": self.by_words,
            "by_persons": self.by_persons,
            "source": words.source,
            "translation": words.translation,
            "reference": words.reference,
            "words": {"right": list(words.evidence.right), "wrong": list(words.evidence.wrong)},
            "persons": [
                {key: line[key] for key in ("id", "entity", "gold", "gender", "reason", "target", "evidence")}
                for line in (record.to_json() for record in self.persons)
            ],
        }


@dataclass(frozen=True)
class Crosscheck:
    """Both measures on one system's translations."""

    system: str
    lang: str
    signatures: Mapping[str, str]
    """Of the two runs, by measure."""
    sentences: Sequence[CheckedSentence]
    """All of the run by words, in its order."""

    @cached_property
    def table(self) -> Mapping[str, Mapping[str, int]]:
        """Sentences by `BY_WORDS`, then by `BY_PERSONS`."""
        counts = Counter((sentence.by_words, sentence.by_persons) for sentence in self.sentences)
        return {row: {column: counts[row, column] for column in BY_PERSONS} for row in BY_WORDS}

    @cached_property
    def agreement(self) -> Estimate:
        """Per cent of the sentences that both decide on which they say the same, with Wilson's interval."""
        decided = sum(sentence.decided for sentence in self.sentences)
        same = decided - len(self.differing)
        return Estimate(percent_of(same, decided), wilson_percent(same, decided), decided)

    @cached_property
    def differing(self) -> Sequence[CheckedSentence]:
        """The sentences of which one says right and the other wrong."""
        return [sentence for sentence in self.sentences if sentence.differs]

    def to_json(self) -> dict[str, Any]:
        """Counts and agreement as plain values; per cent, rounded to 6 decimals, None where undefined."""
        return {
            "system": self.system,
            "lang": self.lang,
            "n": len(self.sentences),
            "table": self.table,
            "agreement": rounded(self.agreement.value),
            "agreement_interval": rounded(self.agreement.interval),
            "decided": self.agreement.n,
            "differing": len(self.differing),
            "signatures": dict(self.signatures),
        }


def crosscheck(one: MeasuredRun, other: MeasuredRun) -> Crosscheck:
    """Both measures on the same translations; the runs come in any order.

    Raises:
        DataError: they are not a run by words and one by the genders of persons, are of different languages, or of
            different translations; or a person's sentence is not in the run by words.
    """
    runs = {run.measure: run for run in (one, other)}
    if runs.keys() != {WORDS, GENDER}:
        raise DataError(
            f"expected a run of the measure {WORDS} and one of the measure {GENDER}, got {one.measure} and "
            f"{other.measure}"
        )
    words, persons = runs[WORDS], runs[GENDER]
    if words.lang != persons.lang:
        raise DataError(f"expected runs of one language, got {words.lang} and {persons.lang}")
    by_source = defaultdict(list)
    for record in persons.calls:
        by_source[record.source].append(record)
    sentences = [CheckedSentence(record, tuple(by_source.get(record.source, ()))) for record in words.calls]
    for sentence in sentences:
        for person in sentence.persons:
            if person.translation != sentence.words.translation:
                raise DataError(
                    f"expected two runs over the same translations, got other ones for {sentence.words.id} "
                    f"({persons.system}: {person.id}); score one file of translations on both data sets"
                )
    known = {record.source for record in words.calls}
    if left := [record.id for record in persons.calls if record.source not in known]:
        raise DataError(
            f"expected runs over the same sentences, got {len(left)} of {len(persons.calls)} persons in sentences that "
            f"the run of the measure {WORDS} does not have, the first is {left[0]}"
        )
    return Crosscheck(
        system=words.system,
        lang=words.lang,
        signatures={WORDS: words.signature, GENDER: persons.signature},
        sentences=sentences,
    )
