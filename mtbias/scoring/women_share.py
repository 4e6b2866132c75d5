"""Accuracy or feminine forms by entity against the share of women in the occupation, and how the
two go together.

The shares ship with mtbias (``data/women_share.tsv``, whose first line has sources, years and
licence): those of the U.S. Bureau of Labor Statistics for the occupations of Winogender and
WinoBias, which are WinoMT's. A file of the user's may have others, such as the shares in text of
Winogender's ``occupations-stats.tsv`` (Bergsma and Lin 2006).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from mtbias.errors import DataError, UsageError
from mtbias.files.reading import commented_rows, read_table
from mtbias.scoring.metrics_records import GroupMetrics
from mtbias.stats.resampling import percentile_interval, spearman
from mtbias.stats.results import N_RESAMPLES, Estimate, minus, number, source
from mtbias.types import frozen

ENTITY_COLUMNS = ("entity", "occupation")
PERCENT_COLUMNS = ("percent", "bls_pct_female", "bergsma_pct_female")
"""Columns that hold per cent, whatever their values."""
SHARE_COLUMNS = ("share", *PERCENT_COLUMNS)

SHIPPED = {
    "percent": "U.S. Bureau of Labor Statistics, 2015 to 2017 "
    "(with Rudinger et al. 2018; Zhao et al. 2018)",
    "winobias": "U.S. Bureau of Labor Statistics, 2017 (table 1 of Zhao et al. 2018)",
}
"""Columns of the shares that ship with mtbias, and their sources."""


@frozen
class WomenShares:
    """The share of women by occupation, as a file has it."""

    name: str
    """Name of the file, or where its figures come from."""
    column: str
    """The column that was taken."""
    sha256: str
    percent: Mapping[str, float]
    """By name of the occupation, as `occupation` writes it."""

    def share_of(self, entity: str) -> float | None:
        """The share of women of an entity in per cent; None where the file does not have it."""
        return self.percent.get(occupation(entity))


@frozen
class WomenRelation:
    """The entities of one run against their shares of women."""

    shares: WomenShares
    entities: int
    """Those of the run that the file has."""
    without: int
    """Entities of the run that the file does not have."""
    accuracy: Estimate
    """Spearman's ρ of accuracy and share, in [−1, 1]; `n` are entities."""
    gap: Estimate
    """Spearman's ρ of the share and recall of women minus recall of men, in points, over the
    entities that have both. Above 0: the more women do the work, the better women are translated
    compared with men."""
    resamples: int
    feminine: Estimate
    """For sentences of unknown gender: Spearman's ρ of the share and the feminine calls, in per
    cent. Above 0: the more women do the work, the more feminine forms it is translated with."""


def occupation(entity: str) -> str:
    """The name under which an occupation is looked up: in lower case, with single spaces."""
    return " ".join(entity.casefold().split())


@cache
def shipped_shares(column: str = "percent") -> WomenShares:
    """The shares that ship with mtbias, by WinoMT's names of the occupations.

    Args:
        column: ``percent``, all 80 occupations of WinoMT; ``winobias``, the 40 of table 1 of Zhao
            et al. (2018).

    Raises:
        UsageError: another column.
    """
    if column not in SHIPPED:
        raise UsageError(
            f"--women-column without --women FILE: expected {' or '.join(SHIPPED)}, got {column}"
        )
    data = resources.files("mtbias.scoring").joinpath("data", "women_share.tsv").read_bytes()
    percent = {
        row["occupation"]: float(row[column])
        for row in commented_rows(data.decode())
        if row[column]
    }
    return WomenShares(SHIPPED[column], column, hashlib.sha256(data).hexdigest(), percent)


def read_women(path: Path, column: str | None = None) -> WomenShares:
    """Read the shares of women from a table (CSV, TSV or JSONL).

    It has a column ``entity`` or ``occupation`` and one of ``share``, ``percent``,
    ``bls_pct_female``, ``bergsma_pct_female``; of several the first in this order. ``share`` is
    from 0 to 1, the others are in per cent. A row whose share is empty is passed over.

    Args:
        path: the file.
        column: the column of shares, where another is wanted; read like ``share`` unless it is one
            of the others.

    Raises:
        DataError: a column is missing, an occupation stands twice, or a share is not a number from
            0 to 1, or to 100.
    """
    table = read_table(path)
    named = next((name for name in ENTITY_COLUMNS if name in table.columns), None)
    taken = column or next((name for name in SHARE_COLUMNS if name in table.columns), None)
    if named is None or taken is None or taken not in table.columns:
        share_names = column or " or ".join(SHARE_COLUMNS)
        columns = f"{' or '.join(ENTITY_COLUMNS)}, and {share_names}"
        raise DataError(f"expected the columns {columns}; got {table.listing}", path=path, line=1)
    scale = 1 if taken in PERCENT_COLUMNS else 100
    shares: dict[str, float] = {}
    for record in table.records:
        if not record.get(taken):
            continue
        name = occupation(record.get(named))
        if name in shares:
            raise record.error(f"expected each occupation once, got {name!r} again; remove a row")
        shares[name] = scale * record.number(taken, most=100 / scale)
    if not shares:
        raise DataError(
            f"expected shares of women in column {taken!r}, got none; "
            "fill it, or name another with --women-column",
            path=path,
        )
    return WomenShares(path.name, taken, table.file.sha256, shares)


def relate(
    by_entity: Mapping[str, GroupMetrics], shares: WomenShares, *, n_resamples: int = N_RESAMPLES
) -> WomenRelation:
    """Put the entities of a run beside their shares of women.

    The 95 % intervals come from a percentile bootstrap over entities, of seed 0; with fewer than 3
    entities, or without resamples, there are none. `by_entity` are the groups of the run.
    """
    share_of = {name: shares.share_of(name) for name in by_entity}
    known = sorted((share, name) for name, share in share_of.items() if share is not None)

    def related(value_of: Callable[[Mapping[str, float | None]], float | None]) -> Estimate:
        pairs = []
        for share, name in known:
            value = value_of(by_entity[name].values)
            if value is not None:
                pairs.append((share, value))
        return _over_entities(pairs, n_resamples)

    return WomenRelation(
        shares=shares,
        entities=len(known),
        without=len(by_entity) - len(known),
        accuracy=related(lambda values: values.get("accuracy")),
        gap=related(lambda values: minus(values.get("recall_female"), values.get("recall_male"))),
        resamples=n_resamples,
        feminine=related(lambda values: values.get("feminine")),
    )


def _over_entities(pairs: Sequence[tuple[float, float]], n_resamples: int) -> Estimate:
    n, rng = len(pairs), source(0)
    values = np.array(pairs, dtype=np.float64).reshape(n, 2)
    whole = number(spearman(values[:, 0], values[:, 1]))
    if whole is None or n < 3 or not n_resamples:
        return Estimate(whole, None, n)
    drawn = rng.integers(0, n, size=(n_resamples, n))
    return Estimate(whole, percentile_interval(spearman(values[drawn, 0], values[drawn, 1])), n)
