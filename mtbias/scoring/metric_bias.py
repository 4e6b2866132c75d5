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

from mtbias.scoring.metrics_reader import read_share
from mtbias.scoring.metrics_records import ShareMetrics
from mtbias.stats.resampling import bootstrap_units, mcnemar, percentile_interval, share_json
from mtbias.stats.results import Estimate, Floats, enough, rounded, source
from mtbias.types import Gender, JsonDict, JsonObject, frozen

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


def metric_bias(contrasts: Sequence[ScoredContrast], *, n_resamples: int, seed: int) -> JsonDict:
    """All numbers (see the module), with denominators and 95 % intervals.

    Shares have Wilson's interval, means a percentile bootstrap over contrasts, differences
    over pairs, with ten or more. ``p`` of the difference is McNemar's exact test over pairs; where
    no gender is shown it is the same test of the contrasts that prefer the masculine against those
    that prefer the feminine.
    """
    groups: JsonDict = {}
    for gender in GROUPS:
        members = [each for each in contrasts if each.gender is gender]
        if members:
            groups[str(gender or UNKNOWN)] = _group(members, gender, n_resamples, seed)
    return {"n": len(contrasts), "groups": groups, **_difference(contrasts, n_resamples, seed)}


def _group(
    members: Sequence[ScoredContrast], gender: Gender | None, n_resamples: int, seed: int
) -> JsonDict:
    gaps = np.array([each.gap for each in members])
    masculine, feminine = int((gaps > 0).sum()), int((gaps < 0).sum())
    n = len(members)
    gap = _mean(gaps[:, None], n_resamples, seed)
    numbers: JsonDict = {
        "n": n,
        "gap": gap.value,
        "gap_ci": gap.interval,
        "prefers_masculine": share_json(masculine, n),
        "prefers_feminine": share_json(feminine, n),
        "ties": share_json(n - masculine - feminine, n),
    }
    if gender is None:
        numbers["p"] = mcnemar(masculine, feminine)
    else:
        numbers["right"] = share_json(sum(each.is_right for each in members), n)
    return rounded(numbers)


def _difference(contrasts: Sequence[ScoredContrast], n_resamples: int, seed: int) -> JsonDict:
    women = {each.pair: each for each in contrasts if each.gender is Gender.FEMALE}
    men = {each.pair: each for each in contrasts if each.gender is Gender.MALE}
    pairs = sorted(women.keys() & men.keys())
    if not pairs:
        return {}
    right = np.array([[men[pair].is_right, women[pair].is_right] for pair in pairs], dtype=float)
    scores = np.array([[men[pair].right_score, women[pair].right_score] for pair in pairs])
    difference = _mean(100 * (right[:, :1] - right[:, 1:]), n_resamples, seed)
    score_gap = _mean(scores[:, :1] - scores[:, 1:], n_resamples, seed)
    for_men = int(((right[:, 0] == 1) & (right[:, 1] == 0)).sum())
    for_women = int(((right[:, 0] == 0) & (right[:, 1] == 1)).sum())
    numbers: JsonDict = {
        "pairs": len(pairs),
        "difference": difference.value,
        "difference_ci": difference.interval,
        "right_for_men_alone": for_men,
        "right_for_women_alone": for_women,
        "p": mcnemar(for_men, for_women),
        "right_score_gap": score_gap.value,
        "right_score_gap_ci": score_gap.interval,
    }
    return rounded(numbers)


def _mean(values: Floats, n_resamples: int, seed: int) -> Estimate:
    """The mean of ``[n, 1]`` values."""
    n = len(values)

    def means(sums: Floats) -> Floats:
        return sums[:, 0] / n

    interval = None
    if n_resamples and enough(n):
        interval = percentile_interval(bootstrap_units(values, means, n_resamples, source(seed)))
    return Estimate(float(values.mean()), interval, n)


@frozen
class GroupPreference:
    """What a metric prefers over the contrasts of one group of sources."""

    gender: Gender | None
    """That the sources show; None: they show none."""
    n: int
    prefers_masculine: ShareMetrics
    ties: ShareMetrics
    right: ShareMetrics | None
    """None where the sources show no gender."""
    gap: Estimate
    """The mean of S_m − S_f."""
    p: float | None


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


@frozen
class MetricBias:
    """The numbers of `metric_bias` as records."""

    groups: Sequence[GroupPreference]
    paired: PairedPreference | None


def read_metric_bias(numbers: JsonObject) -> MetricBias:
    """The records of what `metric_bias` gives, or of its JSON."""
    groups = []
    for gender in GROUPS:
        content = numbers["groups"].get(str(gender or UNKNOWN))
        if content is not None:
            groups.append(_read_group(gender, content))
    return MetricBias(groups, _read_pairs(numbers) if "pairs" in numbers else None)


def _read_group(gender: Gender | None, content: JsonObject) -> GroupPreference:
    right = content.get("right")
    return GroupPreference(
        gender=gender,
        n=content["n"],
        prefers_masculine=read_share(content["prefers_masculine"]),
        ties=read_share(content["ties"]),
        right=None if right is None else read_share(right),
        gap=Estimate(content["gap"], content["gap_ci"]),
        p=content.get("p"),
    )


def _read_pairs(content: JsonObject) -> PairedPreference:
    return PairedPreference(
        pairs=content["pairs"],
        difference=Estimate(content["difference"], content["difference_ci"]),
        right_for_men_alone=content["right_for_men_alone"],
        right_for_women_alone=content["right_for_women_alone"],
        p=content["p"],
        right_score_gap=Estimate(content["right_score_gap"], content["right_score_gap_ci"]),
    )
