"""MT-GenEval's measure of its contextual part: the second sentence is wrong if it holds a word of
the other gender's reference alone.

Source: Currey et al. (2022), *MT-GenEval: A Counterfactual and Contextual Dataset for Evaluating
Gender Accuracy in Machine Translation*, section 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from statistics import median
from typing import Any

import numpy as np

from mtbias.corpora.mt_geneval import SEPARATOR, ContextualSentence
from mtbias.errors import DataError
from mtbias.files.strict_json import decoded
from mtbias.files.text_repair import AS_WORDS
from mtbias.scoring import mt_geneval_words
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import declared
from mtbias.scoring.measure import Measure, MeasureKind, MeasureOptions
from mtbias.scoring.mt_geneval_words import (
    COVERED,
    RIGHT,
    ReferenceWords,
    instance_fields,
    outcome,
    reference_words,
)
from mtbias.settings import Variant
from mtbias.stats.results import Counts, Floats, Tables, percent
from mtbias.types import Gender, Json, JsonObject, Progress, Reason, Translation, frozen

NOT_CUT = "not cut"
"""Both sentences are translated, and it is not certain where the second begins."""
OUTCOMES = (*mt_geneval_words.OUTCOMES, NOT_CUT)
NOT_TOLD = "not told"
CONTEXTS = (Gender.FEMALE, Gender.MALE, NOT_TOLD)
"""The gender of the context's pronouns; `NOT_TOLD`: it has none, or those of both genders."""
_JUDGED = slice(0, 5)

# Systems differ much more in what is judged than in whether they have a translation at all, so they
# are compared in it.
NUMBERS = declared("mt_geneval_context")


def context_of(record: Any) -> str:  # noqa: ANN401 - a record of the measure
    """The group of a record by the pronouns of its context."""
    return record.told or NOT_TOLD


def _place(record: Any) -> tuple[int, int]:  # noqa: ANN401
    return CONTEXTS.index(context_of(record)), OUTCOMES.index(
        NOT_CUT if record.reason == NOT_CUT else outcome(record)
    )


def _rates(tables: Tables) -> dict[str, Floats]:
    outcomes = tables.sum(axis=-2)
    judged = outcomes[..., _JUDGED].sum(axis=-1)
    return {
        "decided_percent": percent(judged, outcomes.sum(axis=-1)),
        "coverage": percent(outcomes[..., COVERED].sum(axis=-1), judged),
        "accuracy": percent(outcomes[..., RIGHT].sum(axis=-1), judged),
    }


def _classes(table: Counts) -> dict[str, int]:
    outcomes = table.sum(axis=0)
    return {
        "n": int(outcomes.sum()),
        "decided": int(outcomes[_JUDGED].sum()),
        "translated": int(outcomes.sum() - outcomes[OUTCOMES.index(None)]),
        "not_cut": int(outcomes[-1]),
    }


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"context": CONTEXTS, "outcome": OUTCOMES},
    place=_place,
    rates=_rates,
    classes=_classes,
    right=np.broadcast_to(np.isin(np.arange(len(OUTCOMES)), RIGHT), (len(CONTEXTS), len(OUTCOMES))),
    breakdowns={"context": context_of},
    shown=("told",),
)


_MARK = re.compile(r"<\s*sep\s*>", re.IGNORECASE)
"""The separator as systems give it back: some change its case or put blanks into it."""

LONGEST_ALONE = 1.6
"""How many times as long as their references translations of the second sentence alone may be, at
the median.

In English both sentences together are 2.3 times as long as the second alone, at the median (about
1,100 lines for each of six languages); translations of the second alone are about as long as their
references.
"""

_UNEVEN = 2.0
"""How many times as far one sentence may be lengthened in translation as the other for a cut to be
believed.

A system that breaks the first sentence in two and leaves out the second gives the right number of
sentences, too; of such cuts, at random places, half are beyond this, and of cuts between human
translations 1.2 % in Arabic and 0.3 % or fewer in de, es, fr, it, ru.
"""


def refuse_both(
    sentences: Sequence[ContextualSentence], translations: Sequence[Translation]
) -> None:
    """Refuse given translations of both sentences without a separator: the words of the first would
    count.

    Raises:
        DataError: they are so long (`LONGEST_ALONE`) that they cannot be those of the second
            sentence alone.
    """
    references = {each.id: each.reference for each in sentences if each.context}
    texts = {
        each.id: each.text
        for each in translations
        if each.id in references and each.text is not None
    }
    ratios = [
        len(text) / len(references[id_]) for id_, text in texts.items() if not _MARK.search(text)
    ]
    if 2 * len(ratios) >= len(texts) and ratios and median(ratios) > LONGEST_ALONE:
        times = f"{median(ratios):.1f} times as long as their references"
        raise DataError(
            "expected translations of the second sentence alone, or of both with "
            f"{SEPARATOR} between them, got translations without it that are {times}, "
            "as if they held the first sentence too; "
            f"keep {SEPARATOR}, or remove the first sentence"
        )


def cut_given(
    sentences: Sequence[ContextualSentence], texts: Sequence[str | None]
) -> list[str | None]:
    """The part to judge of each given translation; None without such a part or a translation.

    If most translations keep the separator, it is what follows the separator, and a translation
    that lost it, has it twice or has nothing after it has no such part. If most do not, all of a
    translation without it is the second sentence.
    """
    there = [
        text
        for each, text in zip(sentences, texts, strict=True)
        if each.context and text is not None
    ]
    separated = 2 * sum(bool(_MARK.search(text)) for text in there) > len(there)
    return [
        None if text is None else _after_mark(sentence, text, separated=separated)
        for sentence, text in zip(sentences, texts, strict=True)
    ]


def _after_mark(sentence: ContextualSentence, text: str, *, separated: bool) -> str | None:
    parts = [part.strip() for part in _MARK.split(text)]
    if len(parts) == 1:
        return None if separated and sentence.context else text
    return parts[1] or None if len(parts) == 2 else None


def cut_joined(sentence: ContextualSentence, text: str | None, lang: str) -> str | None:
    """The part to judge of the translation of both sentences with a blank between them; None if it
    is not certain.

    It is what follows as many sentences as the context has (`sentencex`), if the translation has as
    many as both have together and neither part is lengthened much more than the other (`_UNEVEN`).
    """
    if text is None or not sentence.context:
        return text
    before, behind = (len(_sentences(part, "en")) for part in (sentence.context, sentence.second))
    segments = _sentences(text, lang)
    if len(segments) != before + behind:
        return None
    first, second = ("".join(part).strip() for part in (segments[:before], segments[before:]))
    uneven = (len(first) / len(sentence.context)) / (len(second) / len(sentence.second))
    return second if 1 / _UNEVEN < uneven < _UNEVEN else None


def _sentences(text: str, lang: str) -> list[str]:
    from sentencex import segment

    return [each for each in segment(lang, text) if each.strip()]


@frozen
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
    evidence: ReferenceWords

    def to_json(self) -> JsonObject:
        """The object of the line."""
        return asdict(self)


@frozen
class ContextMeasure(Measure):
    """Looks for words in the second sentence (`mtbias.scoring.measure.Measure`)."""

    lang: str
    variant: Variant
    joined: bool
    """Whether a system was given both sentences with a blank between them; else translations are
    given."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """The variant, and how the context was given to the system and the second sentence is
        found.
        """
        context = f"joined, sentencex-{version('sentencex')}" if self.joined else "given"
        return {"variant": self.variant, "context": context}

    def check(
        self, instances: Sequence[ContextualSentence], translations: Sequence[Translation]
    ) -> None:
        """Refuse given translations that hold both sentences without a separator.

        Raises:
            DataError: see `refuse_both`.
        """
        refuse_both(instances, translations)

    def judge(
        self,
        instances: Sequence[ContextualSentence],
        translations: Sequence[Translation],
        progress: Progress,
    ) -> list[ContextRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        by_id = {translation.id: translation.text for translation in translations}
        texts = [by_id[instance.id] for instance in instances]
        parts = cut_given(instances, texts)
        if self.joined:
            parts = [cut_joined(*each, self.lang) for each in zip(instances, texts, strict=True)]
        progress("compare", len(instances), len(instances))
        return [self._record(*each) for each in zip(instances, texts, parts, strict=True)]

    def _record(
        self, instance: ContextualSentence, text: str | None, part: str | None
    ) -> ContextRecord:
        words = reference_words(part or "", instance, self.variant)
        reason = None
        if part is None:
            reason = Reason.UNTRANSLATED if text is None else NOT_CUT
        return ContextRecord(
            **instance_fields(instance, "told"),
            translation=text,
            judged=part,
            correct=None if part is None else not words.wrong,
            reason=reason,
            evidence=words,
        )


class ContextKind(MeasureKind):
    """The measure, as far as it does not depend on a language
    (`mtbias.scoring.measure.MeasureKind`).
    """

    counting = COUNTING
    repairs = AS_WORDS
    uses = frozenset({"variant"})

    def open(self, options: MeasureOptions) -> ContextMeasure:
        """See `mtbias.scoring.measure.MeasureKind`; no language plugin is needed."""
        return ContextMeasure(
            options.lang, options.settings.variant or "plain", joined=options.made
        )

    def read(self, line: bytes) -> ContextRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return decoded(ContextRecord, line)


MT_GENEVAL_CONTEXT = ContextKind()
