"""MT-GenEval's measure: a translation is wrong if it holds a word that only the other gender's
reference has.

One without any word that only one of the references has is right, too; `coverage` counts those that
show something.

Two variants circulate. The outcomes published in 2025 split at white space alone (``plain``); the
authors' program ``accuracy_metric.py`` lower-cases first and replaces ASCII punctuation by blanks
(``repository``).

Source: Currey et al. (2022), *MT-GenEval: A Counterfactual and Contextual Dataset for Evaluating
Gender Accuracy in Machine Translation*, section 4.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import product
from math import inf
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from mtbias.corpora.mt_geneval import GENDERS, ContextualSentence, ReferencedSentence
from mtbias.errors import DataError
from mtbias.files.reading import Table, read_table
from mtbias.files.strict_json import decoded
from mtbias.files.text_repair import AS_WORDS
from mtbias.scoring.counting import Counting, Units
from mtbias.scoring.definitions import declared
from mtbias.scoring.measure import Measure, MeasureKind, MeasureOptions
from mtbias.scoring.scores import Scores, score_records
from mtbias.scoring.text_quality import corpus_scores, quality_metrics, quality_signatures
from mtbias.settings import Variant
from mtbias.stats.resampling import percentile_interval
from mtbias.stats.results import Counts, Estimate, Floats, Tables, enough, percent, source
from mtbias.types import (
    Gender,
    Json,
    JsonDict,
    JsonObject,
    Progress,
    SourceSentence,
    Translation,
    frozen,
)

# Quality beside bias: BLEU and chrF of feminine and of masculine sentences against their
# references, and the gap; and scores that the user gives. A system may be right about gender and
# translate women's sentences worse all the same.

S = TypeVar("S")
"""What is known of one sentence."""

GAPS = {"bleu": "quality_gap", "chrf": "chrf_gap"}
"""Keys of the differences, by metric."""

QUALITY = declared("mt_geneval_quality")
"""Of all sentences, where sacrebleu is installed."""

SCORES = declared("mt_geneval_scores")
"""Of all sentences, where the user gives scores."""


def sentence_bleu(texts: Sequence[tuple[str | None, str]]) -> list[float | None]:
    """Sentence BLEU of each translation against its reference (``effective_order=True``), to six
    digits.

    None without a translation, and for all if sacrebleu is not installed: it is in `calls.jsonl`
    for readers, and no number is made from it.
    """
    bleu = quality_metrics(effective_order=True).get("bleu")
    scores: list[float | None] = []
    for text, reference in texts:
        if bleu is None or text is None:
            scores.append(None)
        else:
            scores.append(round(bleu.sentence_score(text, [reference]).score, 6))
    return scores


def quality(
    pairs: Sequence[Sequence[tuple[str, str]]], *, n_resamples: int, seed: int
) -> dict[str, Estimate]:
    """The numbers of `QUALITY` by key.

    Args:
        pairs: of the feminine and the masculine sentence of each pair, translation and reference.
        n_resamples: of the bootstrap.
        seed: of the bootstrap.

    A sentence without a translation has the empty one, as BLEU counts what is missing. Intervals:
    percentile bootstrap over pairs, so that both sentences of a pair are drawn together; the score
    of each resample is that of the summed statistics of its sentences, as sacrebleu's own tests
    have it.

    Edge cases: no pairs, or no sacrebleu, no numbers; without resamples, or with fewer than
    `MIN_ROWS` pairs, no
        intervals.
    """
    numbers: dict[str, Estimate] = {}
    for name, metric in quality_metrics().items():
        numbers |= _with_gap(
            name, GAPS[name], partial(corpus_scores, metric), pairs, n_resamples, seed
        )
    return numbers


def score_numbers(
    pairs: Sequence[Sequence[float]], *, n_resamples: int, seed: int
) -> dict[str, Estimate]:
    """The numbers of `SCORES` by key: means by gender, and masculine − feminine.

    Args:
        pairs: the given scores of the feminine and the masculine sentence of each pair.
        n_resamples: of the bootstrap.
        seed: of the bootstrap.

    Intervals and edge cases as in `quality`.
    """

    def means(scores: Sequence[float], drawn: Tables) -> tuple[float, Floats]:
        return float(np.mean(scores)), drawn @ np.array(scores) / len(scores)

    return _with_gap("score", "score_gap", means, pairs, n_resamples, seed)


def _with_gap(
    name: str,
    gap: str,
    statistic: Callable[[Sequence[S], Tables], tuple[float, Floats]],
    pairs: Sequence[Sequence[S]],
    n_resamples: int,
    seed: int,
) -> dict[str, Estimate]:
    """The numbers of both genders, and masculine − feminine.

    `statistic` gives the value and the replicates for the sentences of one gender. It takes how
    often each is in each resample, ``[n_resamples, n]``; with too few there are no resamples.
    """
    if not pairs:
        return {}
    n, rng = len(pairs), source(seed)
    drawn = (
        rng.multinomial(n, np.full(n, 1 / n), size=n_resamples) if enough(n) else np.empty((0, n))
    )
    (feminine, women), (masculine, men) = (
        statistic(each, drawn) for each in zip(*pairs, strict=True)
    )
    return {
        f"{name}_feminine": Estimate(feminine, percentile_interval(women), n),
        f"{name}_masculine": Estimate(masculine, percentile_interval(men), n),
        gap: Estimate(masculine - feminine, percentile_interval(men - women)),
    }


_KEYS = ("id", "source")


@frozen
class GivenScores:
    """The scores of a file, by id or by source."""

    table: Table
    name: str
    """Of the score: the name of its column."""
    key: str
    """The column that joins: ``id``, else ``source``."""

    @property
    def label(self) -> str:
        """``NAME#HASH`` with 16 digits of the file's SHA-256, for signatures."""
        return f"{self.name}#{self.table.file.sha256[:16]}"

    def by_instance(self, instances: Sequence[SourceSentence]) -> dict[str, float]:
        """The score of each instance, by id.

        Raises:
            DataError: an instance has no score; a row belongs to no instance or to that of an
                earlier row, or has no finite number, with its line; by source, two instances have
                one source.
        """
        ids = {str(getattr(each, self.key)): each.id for each in instances}
        if len(ids) != len(instances):
            raise self.table.file.error(
                "expected the column 'id', since two sentences have one source, got 'source' alone",
                1,
            )
        scores: dict[str, float] = {}
        for record in self.table.records:
            key = record.get(self.key)
            if key not in ids:
                expected = f"the {self.key} of a sentence that is scored"
                one = f"such as {next(iter(ids), '')!r:.80}"
                raise record.error(f"expected {expected}, {one}, got {key!r:.80}")
            if ids[key] in scores:
                raise record.error(f"{self.key} {key!r:.80} occurs twice; keep one of the rows")
            scores[ids[key]] = record.number(self.name, least=-inf)
        if missing := [key for key, id_ in ids.items() if id_ not in scores]:
            raise self.table.file.error(
                f"expected a score for each of {len(ids)} sentences, got none for {len(missing)}, "
                f"the first is {missing[0]!r:.80}"
            )
        return scores


def read_scores(path: Path) -> GivenScores:
    """Read the table `path` (``.tsv``, ``.csv`` or ``.jsonl``): ``id``, ``source`` or both, and one
    column of scores.

    Raises:
        DataError: no table; neither ``id`` nor ``source``; no other column, or several.
    """
    table = read_table(path)
    keys = [key for key in _KEYS if key in table.columns]
    names = [column for column in table.columns if column not in _KEYS]
    if not keys or len(names) != 1:
        message = "expected the columns 'id' or 'source', and one with the name of the score; got "
        raise DataError(message + table.listing, path=path, line=1)
    return GivenScores(table, names[0], keys[0])


# The words that only one of the references has.

PAIRS = ("right", "wrong", None)
"""Whether the sentence and its counterpart in the other gender are both right; None: there is no
counterpart."""
OUTCOMES = ("right", "right without evidence", "wrong", "wrong without evidence", None)
"""Evidence is a word that only the right reference has. None: there is no translation."""
RIGHT, COVERED = [0, 1], [0, 2]
"""Places in `OUTCOMES` of what is right, and of what has evidence."""

NUMBERS = declared("mt_geneval")


class _Checked(Protocol):
    @property
    def correct(self) -> bool | None: ...
    @property
    def evidence(self) -> ReferenceWords: ...


def outcome(record: _Checked) -> str | None:
    """Of `OUTCOMES`; None too where there is nothing to judge."""
    if record.correct is None:
        return None
    return ("right" if record.correct else "wrong") + (
        "" if record.evidence.right else " without evidence"
    )


def _place(record: WordRecord) -> tuple[int, int, int]:
    pair = None
    if record.pair_correct is not None:
        pair = "right" if record.pair_correct else "wrong"
    return tuple(GENDERS).index(record.gender), PAIRS.index(pair), OUTCOMES.index(outcome(record))


def _rates(tables: Tables) -> dict[str, Floats]:
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


_Pair = tuple["WordRecord | None", "WordRecord | None"]
"""The records of a feminine sentence and of its masculine counterpart; None where the corpus lacks
it."""


def _pairs(records: Sequence[WordRecord]) -> list[_Pair]:
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
_PAIR_OUTCOMES = tuple(
    f"{feminine or 'none'} / {masculine or 'none'}"
    for feminine, masculine in product(OUTCOMES, repeat=2)
)
_SHAPE = (len(GENDERS), len(PAIRS), len(OUTCOMES))
_IS_RIGHT = np.broadcast_to(np.isin(np.arange(len(OUTCOMES)), RIGHT), _SHAPE)


def _pair_place(pair: _Pair) -> tuple[int, int]:
    present = [record is not None for record in pair]
    feminine, masculine = (
        len(OUTCOMES) - 1 if record is None else _place(record)[-1] for record in pair
    )
    return 0 if all(present) else 1 + present.index(True), len(OUTCOMES) * feminine + masculine


def _sentences_of_pairs() -> Floats:
    """What a unit of each cell adds to the table of sentences: ``[3 · 25, 2 · 3 · 5]``."""
    adds = np.zeros((len(_SIDES), len(OUTCOMES), len(OUTCOMES), *_SHAPE))
    for side, *outcomes in np.ndindex(adds.shape[:3]):
        both_right = "right" if set(outcomes) <= set(RIGHT) else "wrong"
        pair = PAIRS.index(None if side else both_right)
        for gender, outcome in enumerate(outcomes):
            if side in {0, 1 + gender}:
                adds[(side, *outcomes, gender, pair, outcome)] = 1
    return adds.reshape(len(_SIDES) * len(_PAIR_OUTCOMES), -1)


_ADDS = _sentences_of_pairs()


def _of_sentences(tables: Tables) -> Tables:
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
    axes={"gender": tuple(GENDERS), "pair": PAIRS, "outcome": OUTCOMES},
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


@frozen
class ReferenceWords:
    """The words of a translation that only one reference has, in the translation's order."""

    right: tuple[str, ...]
    """Of the reference in the sentence's gender."""
    wrong: tuple[str, ...]
    """Of the reference in the other gender."""


def reference_words(
    text: str, instance: ReferencedSentence | ContextualSentence, variant: Variant
) -> ReferenceWords:
    """The words of `text` that only `reference` of the instance has, and those that only
    `other_reference` has.
    """
    own_words = words(text, variant)
    right = words(instance.reference, variant)
    wrong = words(instance.other_reference, variant)
    return ReferenceWords(
        right=tuple(word for word in own_words if word in right and word not in wrong),
        wrong=tuple(word for word in own_words if word in wrong and word not in right),
    )


def words(text: str, variant: Variant) -> tuple[str, ...]:
    """The words of a text as the variant splits it, none twice, in their order."""
    split = text if variant == "plain" else text.lower().translate(_PUNCTUATION)
    return tuple(dict.fromkeys(split.split()))


def instance_fields(instance: object, *more: str) -> JsonDict:
    """What a record keeps of an instance, by name."""
    return {name: getattr(instance, name) for name in ("id", "row", "source", "reference", *more)}


@frozen
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
    evidence: ReferenceWords
    pair_correct: bool | None = None
    """Whether it and `pair` are both correct; None: `pair` is not in the corpus."""
    bleu: float | None = None
    """Sentence BLEU against `reference`, where sacrebleu is installed."""
    score: float | None = None
    """What the user gives for it, where scores are given."""

    def to_json(self) -> JsonObject:
        """The object of the line."""
        content = asdict(self)
        if self.score is None:
            del content["score"]
        return content


@frozen
class WordMeasure(Measure):
    """Looks for words, in any language (`mtbias.scoring.measure.Measure`)."""

    variant: Variant
    scores: GivenScores | None = None

    @property
    def identity(self) -> Mapping[str, Json]:
        """The variant, how BLEU and chrF are computed where sacrebleu is installed, and the scores
        that are given.
        """
        scores = {} if self.scores is None else {"scores": self.scores.label}
        return {"variant": self.variant, "quality": quality_signatures(), **scores}

    def check(
        self,
        instances: Sequence[ReferencedSentence],
        translations: Sequence[Translation],  # noqa: ARG002
    ) -> None:
        """Refuse scores of other sentences.

        Raises:
            DataError: see `GivenScores.of`.
        """
        if self.scores is not None:
            self.scores.by_instance(instances)

    def judge(
        self,
        instances: Sequence[ReferencedSentence],
        translations: Sequence[Translation],
        progress: Progress,
    ) -> list[WordRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        texts = {translation.id: translation.text for translation in translations}
        words_of = {
            each.id: reference_words(texts[each.id] or "", each, self.variant) for each in instances
        }
        right = {id_: texts[id_] is not None and not words.wrong for id_, words in words_of.items()}
        progress("compare", len(instances), len(instances))
        bleu = sentence_bleu([(texts[each.id], each.reference) for each in instances])
        scores = {} if self.scores is None else self.scores.by_instance(instances)
        return [
            WordRecord(
                **instance_fields(each, "gender", "pair"),
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
    """The measure, as far as it does not depend on a variant
    (`mtbias.scoring.measure.MeasureKind`).
    """

    counting = COUNTING
    repairs = AS_WORDS
    uses = frozenset({"variant", "scores"})

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
        pairs = [
            (one, other) for one, other in _pairs(records) if one is not None and other is not None
        ]
        texts, scores_of_pairs = [], []
        for pair in pairs:
            texts.append([(record.translation or "", record.reference) for record in pair])
            of_pair = [record.score for record in pair if record.score is not None]
            if len(of_pair) == len(pair):
                scores_of_pairs.append(of_pair)
        how = {"n_resamples": n_resamples, "seed": seed}
        beside = quality(texts, **how) | score_numbers(scores_of_pairs, **how)
        return replace(scores, overall=replace(scores.overall, beside=beside))


MT_GENEVAL = WordKind()
