"""The share of women by occupation, and how a number of a run's entities goes with it.

The shares ship with mtbias (``data/women_share.tsv``, whose first line has sources, years and
licence): those of the U.S. Bureau of Labor Statistics for the occupations of Winogender and
WinoBias, which are WinoMT's. A file of the user's may have others, such as the shares in text of
Winogender's ``occupations-stats.tsv`` (Bergsma and Lin 2006).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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
    from 0 to 1, the others are in per cent. A row with an empty share is skipped.

    Args:
        path: the file.
        column: another column of shares; read like ``share`` unless it is one of the others.

    Raises:
        DataError: a column is missing, an occupation occurs twice, or a share is not a number from
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


def correlation(
    shares: WomenShares, by_entity: Mapping[str, GroupMetrics], key: str, less: str = ""
) -> Estimate:
    """Spearman's ρ, in [−1, 1], of the share of women and the number `key` of entities, or this
    minus the number `less`; `n` are the entities that have both.

    The 95 % interval comes from a percentile bootstrap over these, of seed 0; there is none for
    fewer than 3.
    """
    pairs = []
    for entity, group in by_entity.items():
        share, value = shares.share_of(entity), group.values.get(key)
        if less:
            value = minus(value, group.values.get(less))
        if share is not None and value is not None:
            pairs.append((share, entity, value))
    pairs.sort()
    n = len(pairs)
    women, values = np.array([(share, value) for share, _, value in pairs]).reshape(n, 2).T
    rho = number(spearman(women, values))
    if rho is None or n < 3:
        return Estimate(rho, None, n)
    drawn = source(0).integers(0, n, size=(N_RESAMPLES, n))
    return Estimate(rho, percentile_interval(spearman(women[drawn], values[drawn])), n)
