"""The bias of a metric as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from mtbias.report.tables import aligned
from mtbias.scoring.metric_bias import GROUPS, UNKNOWN
from mtbias.stats.results import UNDEFINED, estimate_text, number_text, p_text
from mtbias.types import Gender, JsonDict

_NAMES = {Gender.FEMALE: "women", Gender.MALE: "men", None: "gender not shown"}


def metric_bias_text(name: str, numbers: JsonDict) -> str:
    """For a terminal, ending in a newline."""
    header = ["", "n", "prefers masculine", "ties", "right", "mean gap S_m − S_f", "p"]
    rows = [header]
    for gender in GROUPS:
        group = numbers["groups"].get(str(gender or UNKNOWN))
        if group is None:
            continue
        right = group.get("right")
        rows.append(
            [
                _NAMES[gender],
                f"{group['n']:,}",
                _share(group["prefers_masculine"]),
                number_text(group["ties"]["percent"]),
                UNDEFINED if right is None else _share(right),
                estimate_text(group["gap"], group["gap_ci"], 4),
                p_text(group.get("p")),
            ]
        )
    lines = [f"{name}: preference of gender, per cent with 95 % intervals", ""]
    lines += aligned(rows, "<>>>>>>")
    if "pairs" in numbers:
        lines += ["", *_in_words(numbers)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _share(share: JsonDict) -> str:
    return estimate_text(share["percent"], share["interval"])


def _in_words(numbers: JsonDict) -> Iterator[str]:
    difference = estimate_text(numbers["difference"], numbers["difference_ci"])
    yield (
        f"Right for men minus right for women, {numbers['pairs']:,} pairs: {difference} "
        f"points (p {p_text(numbers['p'])}; for men alone {numbers['right_for_men_alone']:,}, for "
        f"women alone {numbers['right_for_women_alone']:,})"
    )
    gap = estimate_text(numbers["right_score_gap"], numbers["right_score_gap_ci"], 4)
    yield f"Score of right translations, men minus women: {gap}"
