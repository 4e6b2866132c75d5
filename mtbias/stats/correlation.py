"""Rank correlation and the slope of a line, of many samples at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mtbias.stats.results import Floats


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's ρ: Pearson's correlation of the ranks of paired values, ties sharing their mean rank; [−1, 1].

    Both have shape ``[..., n]``: one sample of n values, or many (bootstrap resamples).

    Returns: shape ``[...]``; NaN with fewer than two pairs, or where all values of `x` or all of `y` are equal.

    Raises:
        ValueError: shapes that differ; NaN, which has no rank.

    Source: Kendall and Gibbons, *Rank Correlation Methods* (1990), chapter 3 (ties).
    """
    from scipy.stats import rankdata

    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if one.shape != other.shape:
        raise ValueError(f"expected pairs, got {one.shape[-1]} and {other.shape[-1]} values")
    if np.isnan(one).any() or np.isnan(other).any():
        raise ValueError("expected values that can be ranked, got NaN")
    middle = (one.shape[-1] + 1) / 2
    first, second = (rankdata(values, axis=-1) - middle for values in (one, other))
    spread = (first * first).sum(axis=-1) * (second * second).sum(axis=-1)
    rho = np.full(spread.shape, np.nan)
    np.divide((first * second).sum(axis=-1), np.sqrt(spread), out=rho, where=spread > 0)
    return rho


def slope(x: ArrayLike, y: ArrayLike) -> Floats:
    """The slope of the line of least squares through paired values: Σ(x − x̄)(y − ȳ) / Σ(x − x̄)².

    Both have shape ``[..., n]``: one sample of n values, or many (bootstrap resamples).

    Returns: shape ``[...]``, in units of `y` for one of `x`; NaN with fewer than two pairs, or where all values of `x`
        are equal.
    """
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    found = np.full(one.shape[:-1], np.nan)
    if one.shape[-1] < 2:
        return found
    # Not from the deviations: their sum of squares may be some 1e-30 where all values are equal.
    varied = np.ptp(one, axis=-1) > 0
    across = one - one.mean(axis=-1, keepdims=True)
    np.divide((across * other).sum(axis=-1), (across * across).sum(axis=-1), out=found, where=varied)
    return found
