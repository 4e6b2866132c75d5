"""Quality beside bias: BLEU and chrF of feminine and of masculine sentences against their references, and the gap.

They are sacrebleu's corpus scores. A system may be right about gender and translate women's sentences worse all the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtbias.errors import DependencyError
from mtbias.machine.installation import install_command
from mtbias.scoring.gendered_words import GAPS
from mtbias.stats.resampling import percentile_interval
from mtbias.stats.results import Estimate, Floats, enough, minus

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


def quality_signatures() -> list[str] | None:
    """What sacrebleu computes, as it signs it itself (``bleu:nrefs:1|…``); None where it is not installed."""
    try:
        metrics = _metrics()
    except DependencyError:
        return None
    signatures = []
    for name, metric in metrics.items():
        metric.corpus_score(["a"], [["a"]])  # the signature knows the number of references only then
        signatures.append(f"{name}:{metric.get_signature()}")
    return signatures


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


def quality(pairs: Sequence[Mapping[str, tuple[str, str]]], *, n_resamples: int, seed: int) -> dict[str, Estimate]:
    """The numbers of `mtbias.scoring.gendered_words.QUALITY` by key.

    Args:
        pairs: of the two sentences of each pair, by gender (``feminine``), translation and reference.
        n_resamples: of the bootstrap.
        seed: of the bootstrap.

    A sentence without a translation has the empty one, as BLEU counts what is missing. Intervals: percentile bootstrap
    over pairs, so that both sentences of a pair are drawn together; the score of each resample is that of the summed
    statistics of its sentences, as sacrebleu's own tests have it.

    Edge cases: no pairs, no numbers; without resamples, or with fewer than `MIN_ROWS` pairs, no intervals.

    Raises:
        DependencyError: sacrebleu is not installed.
    """
    found: dict[str, Estimate] = {}
    if not pairs:
        return found
    n, drawn = len(pairs), _drawn(len(pairs), n_resamples, seed)
    for name, metric in _metrics().items():
        whole, resampled = {}, {}
        for gender in ("feminine", "masculine"):
            texts, references = zip(*(pair[gender] for pair in pairs), strict=True)
            statistics: Floats = np.array(metric._extract_corpus_statistics(texts, [references]), dtype=float)
            whole[gender] = _score(metric, statistics.sum(axis=0))
            resampled[gender] = np.array([_score(metric, row) for row in drawn @ statistics])
            found[f"{name}_{gender}"] = Estimate(whole[gender], percentile_interval(resampled[gender]), n)
        difference = resampled["masculine"] - resampled["feminine"]
        gap = minus(whole["masculine"], whole["feminine"])
        found[GAPS[name]] = Estimate(gap, percentile_interval(difference))
    return found


def score_numbers(pairs: Sequence[Mapping[str, float]], *, n_resamples: int, seed: int) -> dict[str, Estimate]:
    """The numbers of `mtbias.scoring.gendered_words.SCORES` by key: means by gender, and masculine − feminine.

    Args:
        pairs: of the two sentences of each pair, by gender (``feminine``), the given score.
        n_resamples: of the bootstrap.
        seed: of the bootstrap.

    Intervals and edge cases as in `quality`.
    """
    found: dict[str, Estimate] = {}
    if not pairs:
        return found
    n, drawn = len(pairs), _drawn(len(pairs), n_resamples, seed)
    means, resampled = {}, {}
    for gender in ("feminine", "masculine"):
        scores = np.array([pair[gender] for pair in pairs])
        means[gender], resampled[gender] = float(scores.mean()), drawn @ scores / n
        found[f"score_{gender}"] = Estimate(means[gender], percentile_interval(resampled[gender]), n)
    difference = resampled["masculine"] - resampled["feminine"]
    found["score_gap"] = Estimate(means["masculine"] - means["feminine"], percentile_interval(difference))
    return found


def _drawn(n: int, n_resamples: int, seed: int) -> NDArray[Any]:
    """How often each of `n` pairs is in each resample: ``[n_resamples, n]``; no resamples where there are too few."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return rng.multinomial(n, np.full(n, 1 / n), size=n_resamples) if enough(n) else np.empty((0, n))


def _score(metric: Metric, statistics: Any) -> float:  # noqa: ANN401 - sums, whole numbers held as floats
    return float(metric._compute_score_from_stats([round(value) for value in statistics]).score)


def _metrics() -> dict[str, Metric]:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise DependencyError(f"BLEU and chrF need sacrebleu: {install_command('quality')}") from None
    return {"bleu": BLEU(), "chrf": CHRF()}
