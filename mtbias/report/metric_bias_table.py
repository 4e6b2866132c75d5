"""The bias of a metric as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from mtbias.report.tables import aligned
from mtbias.scoring.metric_bias import GroupPreference, MetricBias, PairedPreference
from mtbias.stats.results import UNDEFINED, estimate_text, number_text, p_text
from mtbias.types import Gender

_NAMES = {Gender.FEMALE: "women", Gender.MALE: "men", None: "gender not shown"}


def metric_bias_text(name: str, bias: MetricBias) -> str:
    """The bias of a metric of this name for a terminal, ending in a newline."""
    header = ["", "n", "prefers masculine", "ties", "right", "mean gap S_m − S_f", "p"]
    rows = [header, *map(_row, bias.groups)]
    lines = [f"{name}: preference of gender, per cent with 95 % intervals", ""]
    lines += aligned(rows, "<>>>>>>")
    if bias.paired is not None:
        lines += ["", *_in_words(bias.paired)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _row(group: GroupPreference) -> list[str]:
    return [
        _NAMES[group.gender],
        f"{group.n:,}",
        group.prefers_masculine.text,
        number_text(group.ties.percent),
        UNDEFINED if group.right is None else group.right.text,
        estimate_text(group.gap.value, group.gap.interval, 4),
        p_text(group.p),
    ]


def _in_words(paired: PairedPreference) -> Iterator[str]:
    difference = estimate_text(paired.difference.value, paired.difference.interval)
    alone = f"for men alone {paired.right_for_men_alone:,}, for women alone "
    yield (
        f"Right for men minus right for women, {paired.pairs:,} pairs: {difference} points "
        f"(p {p_text(paired.p)}; {alone}{paired.right_for_women_alone:,})"
    )
    gap = estimate_text(paired.right_score_gap.value, paired.right_score_gap.interval, 4)
    yield f"Score of right translations, men minus women: {gap}"
