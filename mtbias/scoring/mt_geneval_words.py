"""MT-GenEval's measure: a translation is wrong if it holds a word that only the other gender's reference has.

One without any word that only one of the references has is right, too; `coverage` counts those that show something.

Two variants circulate. The outcomes published in 2025 split at white space alone (``plain``); the authors' program
``accuracy_metric.py`` lower-cases first and replaces ASCII punctuation by blanks (``repository``).

Source: Currey et al. (2022), *MT-GenEval: A Counterfactual and Contextual Dataset for Evaluating Gender Accuracy in
Machine Translation*, section 4.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.corpora.mt_geneval import GENDERS, ContextualSentence, ReferencedSentence
from mtbias.files.strict_json import decoded
from mtbias.files.text_repair import AS_WORDS
from mtbias.scoring.counting import Counting, Counts, Units
from mtbias.scoring.definitions import declared
from mtbias.scoring.measure import MeasureKind, MeasureOptions
from mtbias.scoring.mt_geneval_quality import (
    QUALITY,
    SCORES,
    GivenScores,
    quality,
    quality_signatures,
    read_scores,
    score_numbers,
    sentence_bleu,
)
from mtbias.scoring.scores import Scores, score_records
from mtbias.settings import Variant
from mtbias.stats.results import Floats, percent
from mtbias.types import Gender, Json, Progress, Translation

PAIRS = ("right", "wrong", None)
"""Whether the sentence and its counterpart in the other gender are both right; None: there is no counterpart."""
OUTCOMES = ("right", "right without evidence", "wrong", "wrong without evidence", None)
"""Evidence is a word that only the right reference has. None: there is no translation."""
RIGHT, COVERED = [0, 1], [0, 2]
"""Places in `OUTCOMES` of what is right, and of what has evidence."""

NUMBERS = declared("mt_geneval")


def outcome(record: Any) -> str | None:  # noqa: ANN401 - a record of the measure
    """Of `OUTCOMES`; None too where there is nothing to judge."""
    if record.correct is None:
        return None
    return ("right" if record.correct else "wrong") + ("" if record.evidence.right else " without evidence")


def _place(record: Any) -> tuple[int, int, int]:  # noqa: ANN401
    pair = None if record.pair_correct is None else "right" if record.pair_correct else "wrong"
    return tuple(GENDERS).index(record.gender), PAIRS.index(pair), OUTCOMES.index(outcome(record))


def _rates(tables: NDArray[Any]) -> dict[str, Floats]:
    by_gender = tables.sum(axis=-2)
    right, rows = by_gender[..., RIGHT].sum(axis=-1), by_gender.sum(axis=-1)
    feminine, masculine = np.moveaxis(percent(right, rows), -1, 0)
    by_pair = tables.sum(axis=(-3, -1))
    return {
        "coverage": percent(by_gender[..., COVERED].sum(axis=(-1, -2)), rows.sum(axis=-1)),
        "accuracy": percent(right.sum(axis=-1), rows.sum(axis=-1)),
        "accuracy_feminine": feminine,
        "accuracy_masculine": masculine,
        # A pair is two rows of the table: twice in the part and in the whole.
        "accuracy_pairs": percent(by_pair[..., 0], by_pair[..., :2].sum(axis=-1)),
        "gender_gap": masculine - feminine,
    }


def _classes(table: Counts) -> dict[str, int]:
    feminine, masculine = (int(rows.sum()) for rows in table)
    return {
        "n": feminine + masculine,
        "translated": int(table[..., :-1].sum()),
        "feminine": feminine,
        "masculine": masculine,
        "pairs": int(table[:, :2].sum()) // 2,
    }


_Pair = tuple[Any | None, Any | None]
"""The records of a feminine sentence and of its masculine counterpart; None where the corpus lacks it."""


def _pairs(records: Sequence[Any]) -> list[_Pair]:
    """The pairs in the order in which they begin."""
    by_id = {record.id: record for record in records}
    pairs: dict[frozenset[str], _Pair] = {}
    for record in records:
        both = {each.gender: each for each in (record, by_id.get(record.pair)) if each is not None}
        feminine, masculine = (both.get(gender) for gender in GENDERS)
        pairs.setdefault(frozenset(each.id for each in both.values()), (feminine, masculine))
    return list(pairs.values())


_SIDES = ("both", "feminine", "masculine")
"""Which sentences of a pair the corpus has."""
_PAIR_OUTCOMES = tuple(" / ".join(str(each or "none") for each in pair) for pair in product(OUTCOMES, repeat=2))
_SHAPE = (len(GENDERS), len(PAIRS), len(OUTCOMES))
_IS_RIGHT = np.broadcast_to(np.isin(np.arange(len(OUTCOMES)), RIGHT), _SHAPE)


def _pair_place(pair: _Pair) -> tuple[int, int]:
    present = [record is not None for record in pair]
    feminine, masculine = (len(OUTCOMES) - 1 if record is None else _place(record)[-1] for record in pair)
    return 0 if all(present) else 1 + present.index(True), len(OUTCOMES) * feminine + masculine


def _sentences_of_pairs() -> NDArray[np.float64]:
    """What a unit of each cell adds to the table of sentences: ``[3 · 25, 2 · 3 · 5]``."""
    adds = np.zeros((len(_SIDES), len(OUTCOMES), len(OUTCOMES), *_SHAPE))
    for side, *outcomes in np.ndindex(adds.shape[:3]):
        pair = PAIRS.index(None if side else "right" if set(outcomes) <= set(RIGHT) else "wrong")
        for gender, outcome in enumerate(outcomes):
            if side in {0, 1 + gender}:
                adds[(side, *outcomes, gender, pair, outcome)] = 1
    return adds.reshape(len(_SIDES) * len(_PAIR_OUTCOMES), -1)


_ADDS = _sentences_of_pairs()


def _of_sentences(tables: NDArray[Any]) -> NDArray[Any]:
    """The tables of sentences of tables of pairs."""
    added = tables.reshape(*tables.shape[:-2], -1) @ _ADDS
    return added.reshape(*tables.shape[:-2], *_SHAPE)


_PAIR_COUNTING = Counting(
    numbers=NUMBERS,
    axes={"sentences": _SIDES, "outcome": _PAIR_OUTCOMES},
    place=_pair_place,
    rates=lambda tables: _rates(_of_sentences(tables)),
    classes=lambda table: _classes(np.rint(_of_sentences(table)).astype(np.int64)),
    right=(_ADDS @ ~_IS_RIGHT.ravel() == 0).reshape(len(_SIDES), -1),
    breakdowns={},
)


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"gender": tuple(gender.value for gender in GENDERS), "pair": PAIRS, "outcome": OUTCOMES},
    place=_place,
    rates=_rates,
    classes=_classes,
    right=_IS_RIGHT,
    breakdowns={},
    shown=("gender",),
    given=1,
    units=Units("pairs", _pairs, _PAIR_COUNTING),
    beside=(*QUALITY, *SCORES),
)
"""MT-GenEval's counterfactual sentences."""


_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))


@dataclass(frozen=True, slots=True)
class FoundWords:
    """The words of a translation that only one reference has, in the translation's order."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]

    @classmethod
    def of(cls, text: str, instance: ReferencedSentence | ContextualSentence, variant: Variant) -> FoundWords:
        """The words that only `reference` of the instance has, and those that only `other_reference` has."""
        held, right, wrong = (words(each, variant) for each in (text, instance.reference, instance.other_reference))
        return cls(
            tuple(w for w in held if w in right and w not in wrong),
            tuple(w for w in held if w in wrong and w not in right),
        )


def words(text: str, variant: Variant) -> tuple[str, ...]:
    """The words of a text as the variant splits it, none twice, in their order."""
    return tuple(dict.fromkeys((text if variant == "plain" else text.lower().translate(_PUNCTUATION)).split()))


def asked(instance: object, *more: str) -> dict[str, Any]:
    """What a record keeps of an instance, by name."""
    return {name: getattr(instance, name) for name in ("id", "row", "source", "reference", *more)}


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
        content = asdict(self)
        if self.score is None:
            del content["score"]
        return content


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

    def judge(
        self, instances: Sequence[ReferencedSentence], translations: Sequence[Translation], progress: Progress
    ) -> list[WordRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        texts = {translation.id: translation.text for translation in translations}
        words_of = {each.id: FoundWords.of(texts[each.id] or "", each, self.variant) for each in instances}
        right = {id_: texts[id_] is not None and not found.wrong for id_, found in words_of.items()}
        progress("compare", len(instances), len(instances))
        bleu = sentence_bleu([(texts[each.id], each.reference) for each in instances])
        scores = {} if self.scores is None else self.scores.of(instances)
        return [
            WordRecord(
                **asked(each, "gender", "pair"),
                translation=texts[each.id],
                correct=None if texts[each.id] is None else right[each.id],
                evidence=words_of[each.id],
                pair_correct=right[each.id] and right[each.pair] if each.pair in right else None,
                bleu=sentence,
                score=scores.get(each.id),
            )
            for each, sentence in zip(instances, bleu, strict=True)
        ]


class WordKind(MeasureKind):
    """The measure, as far as it does not depend on a variant (`mtbias.scoring.measure.MeasureKind`)."""

    counting = COUNTING
    repairs = AS_WORDS

    def open(self, options: MeasureOptions) -> WordMeasure:
        """See `mtbias.scoring.measure.MeasureKind`; no language plugin is needed."""
        scores = None if options.scores is None else read_scores(options.scores)
        return WordMeasure(options.settings.variant or "plain", scores)

    def read(self, line: bytes) -> WordRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        return decoded(WordRecord, line)

    def score(self, records: Sequence[WordRecord], *, n_resamples: int, seed: int) -> Scores:
        """See `mtbias.scoring.measure.MeasureKind`."""
        scores = score_records(records, COUNTING, n_resamples=n_resamples, seed=seed)
        pairs = [(one, other) for one, other in _pairs(records) if one is not None and other is not None]
        texts = [[(each.translation or "", each.reference) for each in pair] for pair in pairs]
        given = [values for pair in pairs if None not in (values := [each.score for each in pair])]
        how = {"n_resamples": n_resamples, "seed": seed}
        beside = quality(texts, **how) | score_numbers(given, **how)
        return replace(scores, overall=replace(scores.overall, beside=beside))


MT_GENEVAL = WordKind()
