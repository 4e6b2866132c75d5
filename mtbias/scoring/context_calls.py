"""MT-GenEval's measure of its contextual part: the second sentence is wrong if it holds a word of the other gender's
reference alone.

Source: Currey et al. (2022), *MT-GenEval: A Counterfactual and Contextual Dataset for Evaluating Gender Accuracy in
Machine Translation*, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtbias.corpora.mt_geneval_context import ContextualSentence
from mtbias.files.strict_json import decoded
from mtbias.scoring.contextual_words import COUNTING, NOT_CUT
from mtbias.scoring.counting import Scores, score_groups
from mtbias.scoring.measure import Wanted
from mtbias.scoring.reference_words import FoundWords, found_words
from mtbias.scoring.second_sentence import cut_given, cut_joined, refuse_both, splitter
from mtbias.settings import Variant
from mtbias.types import Gender, Json, Progress, Reason, Translation


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """A line of `calls.jsonl`."""

    id: str
    row: int
    source: str
    translation: str | None
    """All that the system gave."""
    judged: str | None
    """The part of it that is the second sentence."""
    told: Gender | None
    """The gender of the context's pronouns."""
    reference: str
    correct: bool | None
    reason: str | None
    """Why there is no part to judge: ``untranslated``, or `NOT_CUT`."""
    evidence: FoundWords

    def to_json(self) -> Mapping[str, Any]:
        """The object of the line."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {**found, "evidence": {"right": list(self.evidence.right), "wrong": list(self.evidence.wrong)}}


@dataclass(frozen=True, slots=True)
class ContextMeasure:
    """Looks for words in the second sentence (`mtbias.scoring.measure.Measure`)."""

    lang: str
    variant: Variant
    joined: bool
    """Whether a system was given both sentences with a blank between them; else translations are given."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """The variant, and how the context was given to the system and the second sentence is found."""
        return {"variant": self.variant, "context": f"joined, {splitter()}" if self.joined else "given"}

    def check(self, instances: Sequence[ContextualSentence], translations: Sequence[Translation]) -> None:
        """Refuse given translations that hold both sentences without a separator.

        Raises:
            DataError: see `refuse_both`.
        """
        refuse_both(instances, translations)

    def hint(self, texts: Iterable[str]) -> None:
        """Nothing takes long enough to begin early."""

    def judge(
        self, instances: Sequence[ContextualSentence], translations: Sequence[Translation], progress: Progress
    ) -> list[ContextRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        by_id = {translation.id: translation.text for translation in translations}
        texts = [by_id[instance.id] for instance in instances]
        if self.joined:
            parts = [
                None if text is None else cut_joined(instance, text, self.lang)
                for instance, text in zip(instances, texts, strict=True)
            ]
        else:
            parts = cut_given(instances, texts)
        progress("compare", len(instances), len(instances))
        return [
            self._record(instance, text, part) for instance, text, part in zip(instances, texts, parts, strict=True)
        ]

    def _record(self, instance: ContextualSentence, text: str | None, part: str | None) -> ContextRecord:
        found = found_words(part or "", instance.reference, instance.other_reference, self.variant)
        reason = None if part is not None else Reason.UNTRANSLATED.value if text is None else NOT_CUT
        return ContextRecord(
            id=instance.id,
            row=instance.row,
            source=instance.source,
            translation=text,
            judged=part,
            told=instance.told,
            reference=instance.reference,
            correct=None if part is None else not found.wrong,
            reason=reason,
            evidence=found,
        )


class ContextKind:
    """The measure, as far as it does not depend on a language (`mtbias.scoring.measure.MeasureKind`)."""

    counting = COUNTING

    def open(self, wanted: Wanted) -> ContextMeasure:
        """See `mtbias.scoring.measure.MeasureKind`; no language plugin is needed."""
        return ContextMeasure(wanted.lang, wanted.settings.variant or "plain", joined=wanted.made)

    def read(self, line: bytes) -> ContextRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return decoded(ContextRecord, line)

    def score(self, records: Sequence[ContextRecord], *, n_resamples: int, seed: int) -> Scores:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return Scores(*score_groups(records, COUNTING, n_resamples=n_resamples, seed=seed), n_resamples, seed)


MT_GENEVAL_CONTEXT = ContextKind()
