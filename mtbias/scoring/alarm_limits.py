"""The limits of alarms: the share above which a sign is not found in good translations, by language
and number of rows.

They were measured on public translations (`scripts/alarm_limits.py` prints them); docs/alarms.md
says on which. A language without public translations has the widest limits of all languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from mtbias.files.reading import commented_rows
from mtbias.types import frozen

LIMITS, RATIOS = "alarm_limits.tsv", "length_ratios.tsv"
SIZES = (25, 150, 1000, 3000)
"""Numbers of rows for which limits were measured."""


@frozen
class Limit:
    """Above which share a sign raises an alarm."""

    percent: float
    measured: bool
    """Whether translations into this language were measured; else it is the widest of all
    languages."""


def limit(sign: str, lang: str, rows: int, default: float) -> Limit:
    """The limit of a sign for a run of so many rows: the one that was measured for the greatest
    number below it.

    Args:
        sign: the sign's name.
        lang: code of the target language.
        rows: rows of the run.
        default: the limit of a sign that was measured in no language.
    """
    by_language = _limits().get(sign, {})
    size = max((size for size in SIZES if size <= rows), default=SIZES[0])
    column = SIZES.index(size)
    if lang in by_language:
        return Limit(by_language[lang][column], measured=True)
    widest = max((limits[column] for limits in by_language.values()), default=default)
    return Limit(widest, measured=not by_language)


def usual_ratios(lang: str) -> tuple[float, float]:
    """Least and greatest ratio of a translation's characters to its source's: medians of good
    translations.
    """
    ratios = _ratios()
    if lang in ratios:
        return ratios[lang]
    return min(least for least, _ in ratios.values()), max(
        greatest for _, greatest in ratios.values()
    )


@cache
def _limits() -> Mapping[str, Mapping[str, Sequence[float]]]:
    """By sign and language, for each of `SIZES`."""
    limits: dict[str, dict[str, Sequence[float]]] = {}
    for row in commented_rows(_text(LIMITS)):
        percents = [float(row[str(size)]) for size in SIZES]
        limits.setdefault(row["sign"], {})[row["lang"]] = percents
    return limits


@cache
def _ratios() -> Mapping[str, tuple[float, float]]:
    rows = commented_rows(_text(RATIOS))
    return {row["lang"]: (float(row["least"]), float(row["greatest"])) for row in rows}


def _text(name: str) -> str:
    return resources.files("mtbias.scoring").joinpath("data", name).read_text(encoding="utf-8")
