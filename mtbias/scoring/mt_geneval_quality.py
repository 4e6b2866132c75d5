"""Quality beside bias: BLEU and chrF of feminine and of masculine sentences against their references, and the gap.

They are sacrebleu's corpus scores. A system may be right about gender and translate women's sentences worse all the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtbias.errors import DataError
from mtbias.files.reading import Table, read_table
from mtbias.scoring.definitions import declared
from mtbias.stats.resampling import percentile_interval
from mtbias.stats.results import Estimate, Floats, enough
from mtbias.types import SourceSentence

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

GAPS = {"bleu": "quality_gap", "chrf": "chrf_gap"}
"""Keys of the differences, by metric."""

QUALITY = declared("mt_geneval_quality")
"""Of all sentences, where sacrebleu is installed."""

SCORES = declared("mt_geneval_scores")
"""Of all sentences, where the user gives scores."""


def quality_signatures() -> list[str] | None:
    """What sacrebleu computes, as it signs it itself (``bleu:nrefs:1|…``); None where it is not installed."""
    signatures = []
    for name, metric in _metrics().items():
        metric.corpus_score(["a"], [["a"]])  # the signature knows the number of references only then
        signatures.append(f"{name}:{metric.get_signature()}")
    return signatures or None


def sentence_bleu(texts: Sequence[tuple[str | None, str]]) -> list[float | None]:
    """Sentence BLEU of each translation against its reference (``effective_order=True``), to six digits.

    None where there is no translation, and of all where sacrebleu is not installed: it stands in `calls.jsonl` for
    readers, and no number is made of it.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        return [None] * len(texts)
    bleu = BLEU(effective_order=True)
    return [
        None if text is None else round(bleu.sentence_score(text, [reference]).score, 6) for text, reference in texts
    ]


def quality(pairs: Sequence[Sequence[tuple[str, str]]], *, n_resamples: int, seed: int) -> dict[str, Estimate]:
    """The numbers of `QUALITY` by key.

    Args:
        pairs: of the feminine and the masculine sentence of each pair, translation and reference.
        n_resamples: of the bootstrap.
        seed: of the bootstrap.

    A sentence without a translation has the empty one, as BLEU counts what is missing. Intervals: percentile bootstrap
    over pairs, so that both sentences of a pair are drawn together; the score of each resample is that of the summed
    statistics of its sentences, as sacrebleu's own tests have it.

    Edge cases: no pairs, or no sacrebleu, no numbers; without resamples, or with fewer than `MIN_ROWS` pairs, no
        intervals.
    """
    numbers: dict[str, Estimate] = {}
    for name, metric in _metrics().items():
        numbers |= _with_gap(name, GAPS[name], partial(_corpus_scores, metric), pairs, n_resamples, seed)
    return numbers


def score_numbers(pairs: Sequence[Sequence[float]], *, n_resamples: int, seed: int) -> dict[str, Estimate]:
    """The numbers of `SCORES` by key: means by gender, and masculine − feminine.

    Args:
        pairs: the given scores of the feminine and the masculine sentence of each pair.
        n_resamples: of the bootstrap.
        seed: of the bootstrap.

    Intervals and edge cases as in `quality`.
    """

    def means(scores: Sequence[float], drawn: NDArray[Any]) -> tuple[float, Floats]:
        return float(np.mean(scores)), drawn @ np.array(scores) / len(scores)

    return _with_gap("score", "score_gap", means, pairs, n_resamples, seed)


def _with_gap(
    name: str,
    gap: str,
    statistic: Callable[[Sequence[Any], NDArray[Any]], tuple[float, Floats]],
    pairs: Sequence[Sequence[Any]],
    n_resamples: int,
    seed: int,
) -> dict[str, Estimate]:
    """The numbers of both genders, and masculine − feminine.

    `statistic` gives the value and the replicates of the sentences of one gender, and is told how often each is in each
    resample, ``[n_resamples, n]``: in none where there are too few.
    """
    if not pairs:
        return {}
    n, rng = len(pairs), np.random.Generator(np.random.PCG64(seed))
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples) if enough(n) else np.empty((0, n))
    (feminine, women), (masculine, men) = (statistic(each, drawn) for each in zip(*pairs, strict=True))
    return {
        f"{name}_feminine": Estimate(feminine, percentile_interval(women), n),
        f"{name}_masculine": Estimate(masculine, percentile_interval(men), n),
        gap: Estimate(masculine - feminine, percentile_interval(men - women)),
    }


def _corpus_scores(metric: Metric, sentences: Sequence[tuple[str, str]], drawn: NDArray[Any]) -> tuple[float, Floats]:
    """The score of all sentences, and of each resample."""
    texts, references = zip(*sentences, strict=True)
    statistics: Floats = np.array(metric._extract_corpus_statistics(texts, [references]), dtype=float)
    whole, *resampled = (
        float(metric._compute_score_from_stats([round(value) for value in sums]).score)
        for sums in (statistics.sum(axis=0), *(drawn @ statistics))
    )
    return whole, np.array(resampled)


def _metrics() -> dict[str, Metric]:
    """By their keys; none where sacrebleu is not installed."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        return {}
    return {"bleu": BLEU(), "chrf": CHRF()}


_KEYS = ("id", "source")


@dataclass(frozen=True, slots=True)
class GivenScores:
    """The scores of a file, by id or by source."""

    table: Table
    name: str
    """Of the score: the name of its column."""
    key: str
    """The column that joins: ``id``, else ``source``."""
    scores: Mapping[str, float]
    """By what stands in that column."""

    @property
    def label(self) -> str:
        """``NAME#HASH`` with 16 digits of the file's SHA-256, for signatures."""
        return f"{self.name}#{self.table.file.sha256[:16]}"

    def of(self, instances: Sequence[SourceSentence]) -> dict[str, float]:
        """The score of each instance, by id.

        Raises:
            DataError: an instance has none, or a row belongs to no instance, with its line; by source, two instances
                have one source.
        """
        keys = {str(getattr(each, self.key)): each.id for each in instances}
        if len(keys) != len(instances):
            raise self.table.file.error(
                "expected the column 'id', since two sentences have one source, got 'source' alone", 1
            )
        for record in self.table.records:
            if record.get(self.key) not in keys:
                raise record.error(
                    f"expected the {self.key} of a sentence of the corpus, got {record.get(self.key)!r:.80}; "
                    "check --dataset and --lang"
                )
        missing = [key for key in keys if key not in self.scores]
        if missing:
            raise self.table.file.error(
                f"expected a score for each of {len(keys)} sentences, got none for {len(missing)}, the first is "
                f"{missing[0]!r:.80}"
            )
        return {id_: self.scores[key] for key, id_ in keys.items()}


def read_scores(path: Path) -> GivenScores:
    """Read the table `path` (``.tsv``, ``.csv`` or ``.jsonl``): ``id``, ``source`` or both, and one column of scores.

    Raises:
        DataError: no table; neither ``id`` nor ``source``; no other column, or several; a row without a key, with one
            that stood before, or with no finite number; with the line.
    """
    table = read_table(path)
    keys = [key for key in _KEYS if key in table.columns]
    names = [column for column in table.columns if column not in _KEYS]
    if not keys or len(names) != 1:
        message = "expected the columns 'id' or 'source', and one with the name of the score; got "
        raise DataError(message + table.listing, path=path, line=1)
    key, name = keys[0], names[0]
    scores: dict[str, float] = {}
    for record in table.records:
        joins = record.get(key)
        if not joins:
            raise record.error(f"the row has no {key}")
        if joins in scores:
            raise record.error(f"{key} {joins!r:.80} stood before; keep one of the rows")
        try:
            scores[joins] = float(record.get(name))
        except ValueError:
            scores[joins] = nan
        if not isfinite(scores[joins]):
            raise record.error(f"{name}: expected a number, got {record.get(name)!r:.80}")
    return GivenScores(table, name, key, scores)
