"""BLEU and chrF of translations against references, by sacrebleu, where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mtbias.stats.results import Floats, Tables

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


def quality_signatures() -> list[str] | None:
    """What sacrebleu computes, as it signs it itself (``bleu:nrefs:1|…``); None where it is not
    installed.
    """
    signatures = []
    for name, metric in quality_metrics().items():
        # Only a scored metric knows the number of references, which its signature names.
        metric.corpus_score(["a"], [["a"]])
        signatures.append(f"{name}:{metric.get_signature()}")
    return signatures or None


def corpus_scores(
    metric: Metric, sentences: Sequence[tuple[str, str]], drawn: Tables
) -> tuple[float, Floats]:
    """The score of all sentences, and of each resample."""
    texts, references = zip(*sentences, strict=True)
    statistics: Floats = np.array(
        metric._extract_corpus_statistics(texts, [references]), dtype=float
    )
    whole = _score_of_sums(metric, statistics.sum(axis=0))
    resampled = [_score_of_sums(metric, sums) for sums in drawn @ statistics]
    return whole, np.array(resampled)


def _score_of_sums(metric: Metric, sums: Floats) -> float:
    """The score of the sums of sentences' statistics."""
    return float(metric._compute_score_from_stats([round(value) for value in sums]).score)


def quality_metrics(*, effective_order: bool = False) -> dict[str, Metric]:
    """By their keys; none where sacrebleu is not installed."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        return {}
    return {"bleu": BLEU(effective_order=effective_order), "chrf": CHRF()}
