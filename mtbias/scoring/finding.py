"""The finding of a run in one sentence: how many of the men and of the women the system finds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mtbias.scoring.bias import SHAPE
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import enough

_FINEST = 2
"""So many decimals are used at most to tell two shares apart."""


def finding(counts: ArrayLike) -> str | None:
    """``finds 84 % of the men but 28 % of the women``: what a system does, as a predicate without subject and stop.

    The shares are the recalls of gold male and gold female rows (a row without a call is an error), the larger first.
    "but" stands only where their 95 % intervals (Wilson) do not overlap; otherwise the sentence ends in ``: no clear
    difference``. Intervals of two shares may overlap although the shares differ significantly, so this errs towards
    saying less. Whole per cent, with decimals where 0 or 100 would be wrong or a clear difference would not show.

    Args:
        counts: a table of counts stereotype × gold × call, ``[3, 3, 4]`` (`mtbias.scoring.bias.count`), also as nested
            lists (``overall.confusion`` of `metrics.json`).

    Edge cases: None for a table of another shape (of another measure), and with fewer than `MIN_ROWS` male or female
        rows.
    """
    table = np.asarray(counts)
    if table.shape != SHAPE:
        return None
    gold = table.sum(axis=0)
    found = [(int(gold[n, n]), int(gold[n].sum()), name) for n, name in enumerate(("men", "women"))]
    if not enough([rows for _, rows, _ in found]):
        return None
    better, worse = sorted(found, key=lambda one: -one[0] / one[1])
    low, high = wilson_percent(*better[:2]), wilson_percent(*worse[:2])
    clear = low is not None and high is not None and low[0] > high[1]
    first, second = _told_apart(100 * better[0] / better[1], 100 * worse[0] / worse[1], clear=clear)
    if clear:
        return f"finds {first} % of the {better[2]} but {second} % of the {worse[2]}"
    return f"finds {first} % of the {better[2]} and {second} % of the {worse[2]}: no clear difference"


def _told_apart(first: float, second: float, *, clear: bool) -> tuple[str, str]:
    """Both shares with the fewest decimals that mislead nobody."""
    for decimals in range(_FINEST + 1):
        texts = f"{first:.{decimals}f}", f"{second:.{decimals}f}"
        true = all(
            value in {0, 100} or float(text) not in {0, 100} for text, value in zip(texts, (first, second), strict=True)
        )
        if true and (not clear or texts[0] != texts[1]):
            break
    return texts
