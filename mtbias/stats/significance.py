"""McNemar's test, and Holm's correction for several tests."""

from __future__ import annotations

from collections.abc import Sequence


def mcnemar(b: int, c: int) -> float:
    """McNemar's exact two-sided test: p = ``min(1, 2·P(X <= min(b, c)))``, X ~ Binomial(b + c, 1/2).

    In `b` pairs only the first is correct, in `c` only the second.

    Edge cases: 1 where no pair differs.

    Raises:
        ValueError: a negative number.

    Source: McNemar (1947); the exact form as in Agresti, *Categorical Data Analysis* (2013), section 11.1.
    """
    if b < 0 or c < 0:
        raise ValueError(f"expected numbers of pairs of 0 or more, got {b} and {c}")
    from scipy.stats import binomtest

    return 1.0 if b == c == 0 else float(binomtest(b, b + c).pvalue)


def holm(pvalues: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: rejecting those of at most α keeps the family's error at α.

    With p(1) <= … <= p(m): adjusted p(i) = min(1, max over j <= i of (m − j + 1)·p(j)).

    Raises:
        ValueError: a value outside [0, 1].

    Source: Holm, *Scandinavian Journal of Statistics* 6 (1979).
    """
    if not all(0 <= p <= 1 for p in pvalues):
        raise ValueError(f"expected p-values within 0 and 1, got {list(pvalues)}")
    adjusted = [0.0] * len(pvalues)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(pvalues)), key=lambda i: pvalues[i])):
        largest = max(largest, min(1.0, (len(pvalues) - place) * pvalues[index]))
        adjusted[index] = largest
    return adjusted
