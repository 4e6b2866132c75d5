"""MT-GenEval's measure: a translation is wrong if it holds a word that only the other gender's reference has.

Two variants circulate. The outcomes published in 2025 split at white space alone (``plain``); the authors' program
``accuracy_metric.py`` lower-cases first and replaces ASCII punctuation by blanks (``repository``).

Source: Currey et al. (2022), *MT-GenEval: A Counterfactual and Contextual Dataset for Evaluating Gender Accuracy in
Machine Translation*, section 4.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mtbias.corpora.mt_geneval import GENDERS, ReferencedSentence
from mtbias.files.strict_json import decoded
from mtbias.scoring.counting import Scores, score_groups
from mtbias.scoring.gendered_words import COUNTING, unique_words
from mtbias.scoring.given_scores import GivenScores, read_scores
from mtbias.scoring.measure import Wanted
from mtbias.scoring.translation_quality import quality, quality_signatures, score_numbers, sentence_bleu
from mtbias.settings import Variant
from mtbias.types import Gender, Json, Progress, Translation

_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))


@dataclass(frozen=True, slots=True)
class FoundWords:
    """The words of a translation that only one reference has, in the translation's order."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordRecord:
    """A line of `calls.jsonl`."""

    id: str
    row: int
    source: str
    translation: str | None
    gender: Gender
    pair: str
    reference: str
    correct: bool | None
    """None: there is no translation."""
    evidence: FoundWords
    pair_correct: bool | None = None
    """Whether it and `pair` are both correct; None: `pair` is not in the corpus."""
    bleu: float | None = None
    """Sentence BLEU against `reference`, where sacrebleu is installed."""
    score: float | None = None
    """What the user gives for it, where scores are given."""

    def to_json(self) -> Mapping[str, Any]:
        """The object of the line."""
        absent = {"score"} if self.score is None else set()
        found = {name: getattr(self, name) for name in self.__slots__ if name not in absent}
        return {**found, "evidence": {"right": list(self.evidence.right), "wrong": list(self.evidence.wrong)}}


@dataclass(frozen=True, slots=True)
class WordMeasure:
    """Looks for words, in any language (`mtbias.scoring.measure.Measure`)."""

    variant: Variant
    scores: GivenScores | None = None

    @property
    def identity(self) -> Mapping[str, Json]:
        """The variant, how BLEU and chrF are computed where sacrebleu is installed, and the scores that are given."""
        given = {} if self.scores is None else {"scores": self.scores.label}
        return {"variant": self.variant, "quality": quality_signatures(), **given}

    def check(self, instances: Sequence[ReferencedSentence], translations: Sequence[Translation]) -> None:  # noqa: ARG002
        """Refuse scores of other sentences.

        Raises:
            DataError: see `GivenScores.of`.
        """
        if self.scores is not None:
            self.scores.of(instances)

    def hint(self, texts: Iterable[str]) -> None:
        """Nothing takes long enough to begin early."""

    def judge(
        self, instances: Sequence[ReferencedSentence], translations: Sequence[Translation], progress: Progress
    ) -> list[WordRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        texts = {translation.id: translation.text for translation in translations}
        alone = [self._record(instance, texts[instance.id]) for instance in instances]
        correct = {record.id: bool(record.correct) for record in alone}
        progress("compare", len(instances), len(instances))
        bleu = sentence_bleu([(record.translation, record.reference) for record in alone])
        if self.scores is not None:
            given = self.scores.of(instances)
            alone = [replace(record, score=given[record.id]) for record in alone]
        return [
            replace(record, bleu=score, pair_correct=correct[record.id] and correct[record.pair])
            if record.pair in correct
            else replace(record, bleu=score)
            for record, score in zip(alone, bleu, strict=True)
        ]

    def _record(self, instance: ReferencedSentence, text: str | None) -> WordRecord:
        found = found_words(text or "", instance.reference, instance.other_reference, self.variant)
        return WordRecord(
            id=instance.id,
            row=instance.row,
            source=instance.source,
            translation=text,
            gender=instance.gender,
            pair=instance.pair,
            reference=instance.reference,
            correct=None if text is None else not found.wrong,
            evidence=found,
        )


def found_words(text: str, reference: str, other: str, variant: Variant) -> FoundWords:
    """The words of `text` that only one of the references has: the right one, and that of the other gender."""
    right, wrong = unique_words(words(reference, variant), words(other, variant))
    held = tuple(dict.fromkeys(words(text, variant)))  # no word twice, in the order of the text
    return FoundWords(tuple(w for w in held if w in right), tuple(w for w in held if w in wrong))


def words(text: str, variant: Variant) -> list[str]:
    """The words of a text as the variant splits it."""
    return (text if variant == "plain" else text.lower().translate(_PUNCTUATION)).split()


class WordKind:
    """The measure, as far as it does not depend on a variant (`mtbias.scoring.measure.MeasureKind`)."""

    counting = COUNTING

    def open(self, wanted: Wanted) -> WordMeasure:
        """See `mtbias.scoring.measure.MeasureKind`; no language plugin is needed."""
        scores = None if wanted.scores is None else read_scores(wanted.scores)
        return WordMeasure(wanted.settings.variant or "plain", scores)

    def read(self, line: bytes) -> WordRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return decoded(WordRecord, line)

    def score(self, records: Sequence[WordRecord], *, n_resamples: int, seed: int) -> Scores:
        """See `mtbias.scoring.measure.MeasureKind`."""
        overall, by = score_groups(records, COUNTING, n_resamples=n_resamples, seed=seed)
        how: dict[str, int] = {"n_resamples": n_resamples, "seed": seed}
        beside = {} if quality_signatures() is None else quality(_texts(records), **how)
        beside |= score_numbers(_scores(records), **how)
        overall = replace(overall, beside=beside)
        return Scores(overall, by, n_resamples, seed)


def _pairs(records: Sequence[WordRecord]) -> list[dict[str, WordRecord]]:
    """Both records of each pair, by gender."""
    by_id = {record.id: record for record in records}
    feminine = [record for record in records if record.gender is Gender.FEMALE and record.pair in by_id]
    return [{GENDERS[record.gender]: record for record in (each, by_id[each.pair])} for each in feminine]


def _texts(records: Sequence[WordRecord]) -> list[dict[str, tuple[str, str]]]:
    """Translation and reference of both sentences of each pair."""
    return [
        {gender: (record.translation or "", record.reference) for gender, record in pair.items()}
        for pair in _pairs(records)
    ]


def _scores(records: Sequence[WordRecord]) -> list[dict[str, float]]:
    """The given scores of both sentences of each pair; nothing where none are given."""
    scored = [{gender: record.score for gender, record in pair.items()} for pair in _pairs(records)]
    return [
        {gender: score for gender, score in pair.items() if score is not None}
        for pair in scored
        if None not in pair.values()
    ]


MT_GENEVAL = WordKind()
