r"""Whether a metric of translation quality prefers one gender: COMET, quality estimation, a model
that judges.

A *contrast* is one source with two translations that differ in gender alone; the metric scores
both, S_f the feminine and S_m the masculine one. Over the contrasts of sources about women, about
men, and about people whose gender the source does not show:

- ``gap``: the mean of S_m − S_f, on the metric's own scale;
- ``prefers_masculine``, ``prefers_feminine``, ``ties``: shares of contrasts with S_m > S_f, S_m <
  S_f, S_m = S_f, in per cent;
- ``right``: of sources that show a gender the share in which the translation of that gender has the
  higher score; a tie is not right.

``difference`` is the ``right`` of men minus that of women, in points, over pairs that have a
contrast of either; ``right_score_gap`` the mean score of right translations about men minus that of
those about women, over the same pairs. A metric without bias has gap 0 where the source shows no
gender, and difference and right_score_gap 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mtbias.scoring.metrics_records import ShareMetrics
from mtbias.stats.resampling import bootstrap_units, mcnemar, percentile_interval
from mtbias.stats.results import Estimate, Floats, enough, rounded, source
from mtbias.types import Gender, JsonDict, frozen

UNKNOWN = "unknown"
"""The gender of a person of whom the source shows none."""
GROUPS = (Gender.FEMALE, Gender.MALE, None)
"""The genders that a source shows; None: it shows none."""


@frozen
class ScoredContrast:
    """A contrast and what the metric gives its translations."""

    gender: Gender | None
    pair: str
    feminine: float
    masculine: float

    @property
    def gap(self) -> float:
        """S_m − S_f."""
        return self.masculine - self.feminine

    @property
    def is_right(self) -> bool:
        """Whether the translation of the gender that the source shows has the higher score."""
        return self.right_score > min(self.feminine, self.masculine)

    @property
    def right_score(self) -> float:
        """The score of that translation.

        Raises:
            ValueError: the source shows no gender, so that neither is right.
        """
        if self.gender is None:
            raise ValueError("neither translation is right where the source shows no gender")
        return self.masculine if self.gender is Gender.MALE else self.feminine


@frozen
class GroupPreference:
    """What a metric prefers over the contrasts of one group of sources."""

    gender: Gender | None
    """That the sources show; None: they show none."""
    n: int
    gap: Estimate
    """The mean of S_m − S_f."""
    prefers_masculine: ShareMetrics
    prefers_feminine: ShareMetrics
    ties: ShareMetrics
    right: ShareMetrics | None
    """None where the sources show no gender."""
    p: float | None
    """None where they show one."""

    def to_json(self) -> JsonDict:
        """A plain value; ``right`` or ``p``, whichever there is."""
        content: JsonDict = {
            "n": self.n,
            "gap": self.gap.value,
            "gap_ci": self.gap.interval,
            "prefers_masculine": self.prefers_masculine.to_json(),
            "prefers_feminine": self.prefers_feminine.to_json(),
            "ties": self.ties.to_json(),
        }
        if self.right is None:
            return {**content, "p": self.p}
        return {**content, "right": self.right.to_json()}


@frozen
class PairedPreference:
    """How a metric treats sources about men and about women, over pairs that have both."""

    pairs: int
    difference: Estimate
    """Right for men minus right for women, in points."""
    right_for_men_alone: int
    right_for_women_alone: int
    p: float
    right_score_gap: Estimate
    """The mean score of right translations about men minus that of those about women."""

    def to_json(self) -> JsonDict:
        """A plain value."""
        return {
            "pairs": self.pairs,
            "difference": self.difference.value,
            "difference_ci": self.difference.interval,
            "right_for_men_alone": self.right_for_men_alone,
            "right_for_women_alone": self.right_for_women_alone,
            "p": self.p,
            "right_score_gap": self.right_score_gap.value,
            "right_score_gap_ci": self.right_score_gap.interval,
        }


@frozen
class MetricBias:
    """The bias of a metric of translation quality (see the module)."""

    n: int
    groups: Sequence[GroupPreference]
    paired: PairedPreference | None
    """None where no pair has a source about a man and one about a woman."""

    def to_json(self) -> JsonDict:
        """A plain value; floats rounded to 6 decimals."""
        groups = {str(group.gender or UNKNOWN): group.to_json() for group in self.groups}
        pairs = {} if self.paired is None else self.paired.to_json()
        return rounded({"n": self.n, "groups": groups, **pairs})


def metric_bias(contrasts: Sequence[ScoredContrast], *, n_resamples: int, seed: int) -> MetricBias:
    """All numbers (see the module), with denominators and 95 % intervals.

    Shares have Wilson's interval, means a percentile bootstrap over contrasts, differences
    over pairs, with ten or more. ``p`` of the difference is McNemar's exact test over pairs; where
    no gender is shown it is the same test of the contrasts that prefer the masculine against those
    that prefer the feminine.
    """
    groups = []
    for gender in GROUPS:
        members = [each for each in contrasts if each.gender is gender]
        if members:
            groups.append(_group(members, gender, n_resamples, seed))
    return MetricBias(len(contrasts), groups, _paired(contrasts, n_resamples, seed))


def _group(
    members: Sequence[ScoredContrast], gender: Gender | None, n_resamples: int, seed: int
) -> GroupPreference:
    gaps = np.array([each.gap for each in members])
    masculine, feminine = int((gaps > 0).sum()), int((gaps < 0).sum())
    n = len(members)
    right = p = None
    if gender is None:
        p = mcnemar(masculine, feminine)
    else:
        right = ShareMetrics.counted(sum(each.is_right for each in members), n)
    return GroupPreference(
        gender=gender,
        n=n,
        gap=_mean(gaps[:, None], n_resamples, seed),
        prefers_masculine=ShareMetrics.counted(masculine, n),
        prefers_feminine=ShareMetrics.counted(feminine, n),
        ties=ShareMetrics.counted(n - masculine - feminine, n),
        right=right,
        p=p,
    )


def _paired(
    contrasts: Sequence[ScoredContrast], n_resamples: int, seed: int
) -> PairedPreference | None:
    women = {each.pair: each for each in contrasts if each.gender is Gender.FEMALE}
    men = {each.pair: each for each in contrasts if each.gender is Gender.MALE}
    pairs = sorted(women.keys() & men.keys())
    if not pairs:
        return None
    right = np.array([[men[pair].is_right, women[pair].is_right] for pair in pairs], dtype=float)
    scores = np.array([[men[pair].right_score, women[pair].right_score] for pair in pairs])
    for_men = int(((right[:, 0] == 1) & (right[:, 1] == 0)).sum())
    for_women = int(((right[:, 0] == 0) & (right[:, 1] == 1)).sum())
    return PairedPreference(
        pairs=len(pairs),
        difference=_mean(100 * (right[:, :1] - right[:, 1:]), n_resamples, seed),
        right_for_men_alone=for_men,
        right_for_women_alone=for_women,
        p=mcnemar(for_men, for_women),
        right_score_gap=_mean(scores[:, :1] - scores[:, 1:], n_resamples, seed),
    )


def _mean(values: Floats, n_resamples: int, seed: int) -> Estimate:
    """The mean of ``[n, 1]`` values, rounded as files have it: the table shows no other."""
    n = len(values)

    def means(sums: Floats) -> Floats:
        return sums[:, 0] / n

    interval = None
    if n_resamples and enough(n):
        interval = percentile_interval(bootstrap_units(values, means, n_resamples, source(seed)))
    return Estimate(rounded(float(values.mean())), rounded(interval), n)
