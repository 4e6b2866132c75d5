"""What a human would have read: accuracy, ΔG and ΔS corrected for the evaluator's errors.

Human labels tell how the evaluator errs: how often it calls male, female, neutral or nothing where
a human reads each gender. A run's calls are the human readings seen through these errors; the
correction looks for the readings that explain the calls best, and its intervals carry both
samplings, that of the run's sentences and that of the labels.

It assumes that the errors depend on the gender that a human reads and on nothing else (neither on
the gold gender, nor on the stereotype, nor on the system), and that the labels are a fair sample of
the translations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mtbias.errors import DataError
from mtbias.scoring.bias import CALLS, GENDER_COUNTING, GOLDS, SHAPE
from mtbias.scoring.definitions import GENDER_NUMBERS
from mtbias.stats.resampling import bootstrap_counts, percentile_interval, wilson_percent
from mtbias.stats.results import (
    N_RESAMPLES,
    Bools,
    Counts,
    Estimate,
    Floats,
    Interval,
    enough,
    percent_of,
    rounded,
    source,
)
from mtbias.types import Gender, JsonDict, frozen

# How often the evaluator agrees with human labels: plain agreement, Cohen's κ, balanced accuracy,
# what is undecided. Plain agreement alone misleads where one gender dominates ("always male" agrees
# with 92 % of the Russian labels of WinoMT), so κ and balanced accuracy are given beside it.

LABELS: Mapping[str, Gender] = {gender[0]: gender for gender in GOLDS}
"""Human labels as they are written: ``m``, ``f``, ``n``."""


@frozen
class LabelAgreement:
    """Agreement on one set of rows. Per cent, unrounded, but `kappa`; None where undefined;
    intervals are Wilson's.
    """

    n: int
    """Labelled rows."""
    decided: int
    """Rows with a call."""
    agreed: int
    labels: Mapping[str, int]
    """Rows by human label."""
    agreement: float | None
    """agreed / n: [0, 100]; an undecided row is a disagreement."""
    agreement_interval: Interval | None
    undecided: float | None
    """(n − decided) / n."""
    undecided_interval: Interval | None
    balanced_accuracy: float | None
    """Mean of `recall` over the labels that occur: [0, 100]; "always male" has 50 where two labels
    occur."""
    recall: Mapping[str, float | None]
    """Agreement on the rows of each label; None where the label does not occur."""
    kappa: float | None
    """Cohen's κ in [−1, 1] over male, female, neutral and, for the evaluator, undecided; 0 is
    chance."""


def count_agreement(rows: Iterable[tuple[Gender, Gender | None]]) -> Counts:
    """Count rows of (human label, call or None) into a table label × call, shape ``[3, 4]``; tables
    add up.

    Axes: male, female, neutral; the calls with undecided as the fourth.
    """
    table = np.zeros((len(GOLDS), len(CALLS)), dtype=np.int64)
    for label, call in rows:
        table[GOLDS.index(label), CALLS.index(call)] += 1
    return table


def compute_agreement(counts: Counts) -> LabelAgreement:
    """Agreement from a table label × call (`count_agreement`).

    - agreement = Σ agreeing rows / n, undecided rows in n.
    - κ: `cohen_kappa`. Undecided is a category that only the evaluator uses, so it adds nothing to
      p_e.
    - balanced accuracy = mean over the labels that occur of agreeing rows / rows of the label.

    Edge cases: all None without rows.

    Source: Brodersen et al. (2010) for balanced accuracy.
    """
    n, agreed = int(counts.sum()), int(np.trace(counts))
    undecided = int(counts[:, -1].sum())
    labels: list[int] = counts.sum(axis=1).tolist()
    recall = [percent_of(int(counts[i, i]), rows) for i, rows in enumerate(labels)]
    occurring = [value for value in recall if value is not None]
    return LabelAgreement(
        n=n,
        decided=n - undecided,
        agreed=agreed,
        labels=dict(zip(GOLDS, labels, strict=True)),
        agreement=percent_of(agreed, n),
        agreement_interval=wilson_percent(agreed, n),
        undecided=percent_of(undecided, n),
        undecided_interval=wilson_percent(undecided, n),
        balanced_accuracy=sum(occurring) / len(occurring) if occurring else None,
        recall=dict(zip(GOLDS, recall, strict=True)),
        kappa=cohen_kappa(counts),
    )


def cohen_kappa(counts: Counts) -> float | None:
    """Cohen's κ of a table of two readers' labels. The second axis may end in labels that the first
    lacks.

    κ = (p_o − p_e) / (1 − p_e), with p_o the agreement as a proportion and p_e = Σ_k share(k) of
    one · share(k) of the other; in [−1, 1]. None where p_e is 1 (both always say the same one
    thing), and without rows.

    Source: Cohen, *Educational and Psychological Measurement* 20 (1960).
    """
    # In whole numbers until the last division, so that p_e = 1 is met exactly.
    n, agreed = int(counts.sum()), int(np.trace(counts))
    chance = int((counts.sum(axis=1) * counts.sum(axis=0)[: len(counts)]).sum())
    return (n * agreed - chance) / (n * n - chance) if n * n != chance else None


# The correction.

PRIOR = 0.5
"""Jeffreys' prior: as if each call had been seen half a time for each label."""

FEW_LABELS = 10
"""A gender with fewer labels than this is named in the output: its errors are hardly known."""

CORRECTED = {each.key: each for each in GENDER_NUMBERS if each.corrected}
"""The numbers that are corrected, by key."""

_ROUNDS, _STILL = 200, 1e-7


@frozen
class Correction:
    """The numbers of a run as the evaluator has them, and as a human would have them."""

    n: int
    """Rows of the run."""
    called: Mapping[str, Estimate]
    """By the keys of `CORRECTED`: from the evaluator's calls, with the sampling of the run's rows
    alone; Wilson's interval for the accuracy, bootstrap for ΔG and ΔS."""
    corrected: Mapping[str, Estimate]
    """By the keys of `CORRECTED`: median and 95 % interval over the draws (`correct`)."""
    readings: Mapping[str, float]
    """Estimated human readings of the run's rows, in rows, median over the draws: male, female,
    neutral."""
    labels: Mapping[str, int]
    """Human labels in the confusion, by gender."""
    absent: tuple[Gender, ...]
    """Genders without a label: assumed never to be read."""
    untranslated: int
    """Rows without a translation: nothing can be read, so they stay wrong."""
    n_resamples: int
    seed: int

    @property
    def few(self) -> tuple[Gender, ...]:
        """Genders with labels, but fewer than `FEW_LABELS`."""
        return tuple(g for g in GOLDS if 0 < self.labels[g] < FEW_LABELS)

    def to_json(self) -> JsonDict:
        """A plain value: per cent, rounded to 6 decimals, null where undefined."""
        return rounded(
            {
                "n": self.n,
                "plain": _estimates_json(self.called),
                "corrected": _estimates_json(self.corrected),
                "readings": dict(self.readings),
                "labels": dict(self.labels),
                "assumed_never_read": list(self.absent),
                "few_labels": list(self.few),
                "untranslated": self.untranslated,
                "prior": PRIOR,
                "resamples": self.n_resamples,
                "seed": self.seed,
            }
        )


def _estimates_json(estimates: Mapping[str, Estimate]) -> JsonDict:
    return {
        key: {"value": estimate.value, "interval": estimate.interval}
        for key, estimate in estimates.items()
    }


def correct(
    counts: Counts,
    confusion: Counts,
    *,
    untranslated: Counts | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Correction:
    """Correct the numbers of a run for the evaluator's errors.

    The model: of the n rows with one stereotype and one gold gender, a human reads gender t in a
    share π(t), and the evaluator calls c with probability Σ_t π(t)·θ(t, c), where θ(t, c) = P(call
    c | a human reads t). In each of `n_resamples` draws

    - every row of θ is drawn from its posterior given the labels, Dirichlet(labels called c +
      `PRIOR`);
    - the run's rows are drawn with replacement (as for the plain intervals);
    - π is fitted by maximum likelihood, with shares of 0 or more that add up to 1 (`fit_shares`);
    - accuracy, ΔG and ΔS are computed from the n·π(t) readings instead of the calls.

    The corrected number is the median over the draws, its interval their 2.5 % and 97.5 %
    quantiles. A gender that no label has is assumed never to be read (π(t) = 0), and named in
    `absent`. Rows without a translation have no reading.

    Args:
        counts: the run's table, stereotype × gold × call (`mtbias.scoring.bias.count`), ``[3, 3,
            4]``.
        confusion: human labels × calls (`count_agreement`), ``[3, 4]``.
        untranslated: how many of the rows without a call have no translation, stereotype × gold,
            ``[3, 3]``.
        n_resamples: draws.
        seed: of the draws, and of the plain intervals.

    Edge cases: a number that is undefined without correction is so with it, and has no interval
    where a class of rows that it rests on has fewer than `MIN_ROWS`. Where the evaluator calls two
    genders alike, π is hardly determined, and the interval shows it.

    Raises:
        DataError: there is no label male, or none female: an error rate without a label would be a
            guess.

    Source: Rogan and Gladen, *American Journal of Epidemiology* 107 (1978), for the model; Dawid
    and Skene, *Applied Statistics* 28 (1979), for its likelihood; Lang and Reiczigel, *Preventive
    Veterinary Medicine* 113 (2014), for intervals that carry both samplings.
    """
    split = _split(counts, untranslated)
    labels = _labels(confusion)
    occurring = confusion.sum(axis=1) > 0
    rng = source(seed)
    called = GENDER_COUNTING.estimates(
        GENDER_COUNTING.levels(counts), [*CORRECTED.values()], n_resamples, rng
    )
    classes = GENDER_COUNTING.classes(counts)
    rates = draw_rates(confusion, n_resamples, rng)
    readings = bootstrap_counts(
        split, lambda tables: _readings(tables, rates, occurring), n_resamples, rng
    )
    replicates = GENDER_COUNTING.rates(readings)  # fractions of rows count as rows do
    read = readings[..., :-1].sum(axis=(1, 2))
    corrected = {}
    for key, number in CORRECTED.items():
        rows_suffice = enough([classes[name] for name in number.rests_on])
        corrected[key] = _summary(replicates[key], called[key], rows_suffice)
    return Correction(
        n=int(counts.sum()),
        called=called,
        corrected=corrected,
        readings={
            g: float(np.median(part)) for g, part in zip(GOLDS, read.T, strict=True) if part.size
        },
        labels=labels,
        absent=tuple(g for g, here in zip(GOLDS, occurring, strict=True) if not here),
        untranslated=int(split[..., -1].sum()),
        n_resamples=n_resamples,
        seed=seed,
    )


def draw_rates(confusion: Counts, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draws of P(call | human reading) given labels × calls ``[3, 4]``: shape ``[n_draws, 3, 4]``,
    rows add up to 1.

    Each row is a draw from Dirichlet(counts + `PRIOR`), the posterior of a multinomial's shares
    under Jeffreys' prior.
    """
    rates: Floats = rng.standard_gamma(confusion + PRIOR, size=(n_draws, *confusion.shape))
    rates /= rates.sum(axis=-1, keepdims=True)
    return rates


def fit_shares(tables: Floats, rates: Floats, occurring: Bools) -> Floats:
    """The shares π of readings that make the calls likeliest: ``[m, 3]``, each 0 or more, rows add
    up to 1.

    With x the shares of the calls and p(c) = Σ_t π(t)·θ(t, c), the mean log-likelihood Σ_c x(c)·log
    p(c) is concave in π, so it has one maximum, where g(t) = Σ_c x(c)·θ(t, c) / p(c) is 1 for every
    gender that is read and at most 1 for the others; n·log(max g) bounds how far the likelihood is
    below it. The maximum of Σ_c x(c)·log p(c) − Σ_t π(t) over π >= 0 is the same one, and its
    shares add up to 1 of themselves. Newton's method walks to it through the interior (π(t)·s(t) =
    μ, s = 1 − g, μ falling to 0) until max g − 1 <= 1e-7, a dozen steps.

    Args:
        tables: calls, ``[m, 4]``, in rows.
        rates: θ, ``[m, 3, 4]``, all above 0 for the genders that occur.
        occurring: ``[3]``: genders whose share may be above 0.

    Edge cases: a table without rows has equal shares (which no rows have). Where two genders are
    called alike, every division of their sum is equally likely; the one found is between the
    extremes.

    Raises:
        ArithmeticError: `_ROUNDS` steps were not enough; rates that are not above 0.

    Source: Dawid and Skene (1979) for the likelihood; Kim, Carbonetto, Stephens and Anitescu,
    *Journal of Computational and Graphical Statistics* 29 (2020), for the problem without its sum;
    Wright, *Primal-Dual Interior-Point Methods* (1997), for the steps.
    """
    n = tables.sum(axis=1)
    shares = np.tile(np.where(occurring, 1 / occurring.sum(), 0.0), (len(tables), 1))
    moving = np.flatnonzero(n > 0)
    x, theta = tables[moving] / n[moving, None], rates[moving][:, occurring]
    theta = theta / theta.max(axis=1, keepdims=True)  # a factor on a call changes no share
    pi = np.full(theta.shape[:2], 1 / occurring.sum())
    slack = np.ones_like(pi)
    for _ in range(_ROUNDS):
        p = np.einsum("mt,mtc->mc", pi, theta)
        gain = np.einsum("mc,mtc->mt", x / p, theta)
        total = pi.sum(axis=1)
        there = gain.max(axis=1) * total <= 1 + _STILL  # of the shares divided by their sum
        shares[np.ix_(moving[there], occurring)] = pi[there] / total[there, None]
        if there.all():
            return shares
        moving, x, theta, pi, slack, p, gain = (
            part[~there] for part in (moving, x, theta, pi, slack, p, gain)
        )
        pi, slack = _newton(
            pi, slack, gain, np.einsum("mtc,mc,muc->mtu", theta, x / (p * p), theta)
        )
    raise ArithmeticError(
        f"the likeliest shares of {len(moving)} tables were not found in {_ROUNDS} steps"
    )


def _newton(pi: Floats, slack: Floats, gain: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """One step of `fit_shares` towards a tenth of the present μ, and 95 % of the way to the
    boundary at the most.
    """
    mu = 0.1 * (pi * slack).mean(axis=1, keepdims=True)
    matrix = curvature + (slack / pi)[:, :, None] * np.eye(pi.shape[1])
    d_pi = np.linalg.solve(matrix, (gain - 1 + mu / pi)[:, :, None])[:, :, 0]
    d_slack = (mu - slack * d_pi) / pi - slack
    return pi + _length(pi, d_pi) * d_pi, slack + _length(slack, d_slack) * d_slack


def _length(at: Floats, step: Floats) -> Floats:
    """The part of a step that keeps every value above a twentieth of what it was, at most 1: ``[m,
    1]``.
    """
    part: Floats = 0.95 / np.maximum((-step / at).max(axis=1, keepdims=True), 0.95)
    return part


def _readings(tables: Counts, rates: Floats, occurring: Bools) -> Floats:
    """Tables stereotype × gold × reading (male, female, neutral, nothing to read), in rows: ``[B,
    3, 3, 4]``.
    """
    calls, blank = tables[..., :-1].astype(np.float64), tables[..., -1]
    strata = calls.shape[1] * calls.shape[2]
    shares = fit_shares(calls.reshape(-1, len(CALLS)), np.repeat(rates, strata, axis=0), occurring)
    readings = np.empty(calls.shape)
    readings[..., :-1] = shares.reshape(*calls.shape[:3], len(GOLDS)) * calls.sum(
        axis=-1, keepdims=True
    )
    readings[..., -1] = blank
    return readings


def _split(counts: Counts, untranslated: Counts | None) -> Counts:
    """The table with a fifth call for rows without a translation, taken from the fourth (no
    call).
    """
    blank = np.zeros(SHAPE[:2], dtype=np.int64) if untranslated is None else untranslated
    return np.concatenate(
        (counts[..., :-1], (counts[..., -1] - blank)[..., None], blank[..., None]), axis=-1
    )


def _labels(confusion: Counts) -> dict[str, int]:
    """Human labels by gender, where they suffice."""
    labels = dict(zip(GOLDS, confusion.sum(axis=1).tolist(), strict=True))
    for gender in (Gender.MALE, Gender.FEMALE):
        if not labels[gender]:
            raise DataError(
                "expected human labels of both genders to correct with, "
                f"got none that is {gender}; take more labels, or pool languages"
            )
    return labels


def _summary(replicates: Floats, called: Estimate, rows_suffice: bool) -> Estimate:
    defined = replicates[~np.isnan(replicates)]
    if called.value is None or not defined.size:
        return Estimate(None)
    return Estimate(
        float(np.median(defined)), percentile_interval(replicates) if rows_suffice else None
    )
