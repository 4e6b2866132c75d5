"""The CoNLL score of coreference: the mean F1 of MUC, B³ and CEAFe, as the shared task's scorer v8.01 computes it.

Counts add up: the counts of a corpus are the sums of its documents' counts, so documents can be resampled or swapped.
Singletons count, in the key and in the response; a mention is right if both its ends are; head matching plays no part.
The scorer itself prints numbers cut, not rounded, to two decimals; these are neither.

With K the entities of the key, R those of the response (sets of mentions):

* MUC: Σ over pairs with K∩R not empty of (|K∩R| − 1), over Σ(|K| − 1) for recall and over Σ(|R| − 1) for precision;
  the numerator equals Vilain's Σ(|K| − parts of K under the response).
* B³: Σ|K∩R|²/|K| over the key's mentions for recall; Σ|K∩R|²/|R| over the response's mentions for precision.
* CEAFe: the largest Σ 2|K∩R|/(|K|+|R|) over one-to-one pairings of entities, over the number of entities in the key
  for recall and in the response for precision.

Source: Pradhan et al., ACL 2014 (P14-2006), with Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import numpy as np

from mtbias.coref.conll import Clusters, Mention
from mtbias.stats.results import Floats, number, percent


@dataclass(frozen=True, slots=True)
class CorefCounts:
    """What one document adds; all of it is additive."""

    key_mentions: int
    response_mentions: int
    common_mentions: int
    muc_common: int
    """Links of the key that the response has too."""
    muc_key: int
    muc_response: int
    b3_recall: float
    """Σ|K∩R|²/|K|."""
    b3_precision: float
    """Σ|K∩R|²/|R|."""
    ceafe: float
    """The similarity of the best pairing."""
    key_entities: int
    response_entities: int


COLUMNS = tuple(field.name for field in fields(CorefCounts))
"""The columns of `count_table`."""

_AT = {name: index for index, name in enumerate(COLUMNS)}
_PARTS = {
    "mentions": ("common_mentions", "key_mentions", "common_mentions", "response_mentions"),
    "muc": ("muc_common", "muc_key", "muc_common", "muc_response"),
    "b3": ("b3_recall", "key_mentions", "b3_precision", "response_mentions"),
    "ceafe": ("ceafe", "key_entities", "ceafe", "response_entities"),
}
"""Numerator and denominator of recall, then of precision."""


@dataclass(frozen=True, slots=True)
class Prf:
    """Recall, precision and their harmonic mean, in per cent, with what they are computed from.

    Recall is None where the key has nothing to find, precision where the response has found nothing. F1 is None where
    both are; it is 0 where one is, since nothing is right then.
    """

    recall: float | None
    precision: float | None
    f1: float | None
    recall_numerator: float
    recall_denominator: int
    precision_numerator: float
    precision_denominator: int


@dataclass(frozen=True, slots=True)
class CorefScores:
    """The scores of a corpus."""

    mentions: Prf
    muc: Prf
    b3: Prf
    ceafe: Prf
    conll: float | None
    """The mean of the three F1, in per cent."""
    documents: int

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        return {"conll_f1": self.conll, "documents": self.documents, **{n: asdict(getattr(self, n)) for n in _PARTS}}


def count_coref(key: Clusters, response: Clusters) -> CorefCounts:
    """The counts of one document.

    Args:
        key: the gold entities; each mention in one of them only, none empty.
        response: the system's; the same.

    Raises:
        ValueError: a mention twice in `key` or in `response`, or an empty entity.
    """
    key_of, response_of = _index(key), _index(response)
    common: Counter[tuple[int, int]] = Counter(
        (entity, response_of[mention]) for mention, entity in key_of.items() if mention in response_of
    )
    overlaps = sorted(common.items())
    return CorefCounts(
        key_mentions=len(key_of),
        response_mentions=len(response_of),
        common_mentions=common.total(),
        muc_common=common.total() - len(common),
        muc_key=len(key_of) - len(key),
        muc_response=len(response_of) - len(response),
        b3_recall=sum(n * n / len(key[k]) for (k, _), n in overlaps),
        b3_precision=sum(n * n / len(response[r]) for (_, r), n in overlaps),
        ceafe=_best_pairing({(k, r): 2 * n / (len(key[k]) + len(response[r])) for (k, r), n in overlaps}),
        key_entities=len(key),
        response_entities=len(response),
    )


def count_table(counts: Iterable[CorefCounts]) -> Floats:
    """An array ``[n, len(COLUMNS)]``, a row for each of `counts`: what `bootstrap_units` and others resample."""
    rows = [astuple(count) for count in counts]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS))


def conll_f1(sums: Floats) -> Floats:
    """The CoNLL score in per cent of each row of `sums` (``[…, len(COLUMNS)]``); NaN where it is undefined."""
    mean: Floats = np.mean([_rates(sums, part)[2] for part in ("muc", "b3", "ceafe")], axis=0)
    return mean


def compute_coref(table: Floats) -> CorefScores:
    """The scores of the documents whose counts are the rows of `table`."""
    sums = table.sum(axis=0)
    parts = {name: _prf(sums, name) for name in _PARTS}
    return CorefScores(**parts, conll=number(conll_f1(sums)), documents=len(table))


def _index(clusters: Clusters) -> dict[Mention, int]:
    index = {mention: entity for entity, cluster in enumerate(clusters) for mention in cluster}
    if len(index) != sum(map(len, clusters)) or not all(clusters):
        raise ValueError("expected entities that are not empty and share no mention")
    return index


def _best_pairing(similarity: dict[tuple[int, int], float]) -> float:
    """The largest sum over pairs of which none shares a row or a column."""
    rows, columns = sorted({k for k, _ in similarity}), sorted({r for _, r in similarity})
    if len(similarity) == len(rows) == len(columns):  # no choice
        return sum(similarity.values())
    if min(len(rows), len(columns)) == 1:
        return max(similarity.values())
    from scipy.optimize import linear_sum_assignment

    matrix = np.array([[similarity.get((k, r), 0.0) for r in columns] for k in rows])
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def _rates(sums: Floats, part: str) -> tuple[Floats, Floats, Floats]:
    """Recall, precision and F1 in per cent; NaN where undefined."""
    hits_r, all_r, hits_p, all_p = (sums[..., _AT[name]] for name in _PARTS[part])
    recall, precision = percent(hits_r, all_r), percent(hits_p, all_p)
    r, p = np.nan_to_num(recall), np.nan_to_num(precision)
    # Of an undefined one and a defined one the scorer makes 0: either nothing was to be found and something was said,
    # or the reverse. Of two undefined ones nothing can be said.
    f1 = np.where(np.isnan(recall) & np.isnan(precision), np.nan, np.nan_to_num(percent(2 * r * p, 100 * (r + p))))
    return recall, precision, f1


def _prf(sums: Floats, part: str) -> Prf:
    hits_r, all_r, hits_p, all_p = (float(sums[_AT[name]]) for name in _PARTS[part])
    recall, precision, f1 = map(number, _rates(sums, part))
    return Prf(recall, precision, f1, hits_r, int(all_r), hits_p, int(all_p))
