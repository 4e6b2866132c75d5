"""The scores of a corpus's records, of all and of each part; for gender calls, also why some have
no call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from mtbias.errors import DataError
from mtbias.scoring.bias import (
    GENDER_COUNTING,
    NOT_COUNTED,
    UNKNOWN_GENDER,
    post_edits,
    strategies,
    uncalled,
)
from mtbias.scoring.consistency import consistency
from mtbias.scoring.counting import Counting, Group, entity_intervals
from mtbias.scoring.definitions import WHOLE, interval_methods
from mtbias.scoring.metrics_reader import OF_THE_RUN, UNKNOWN, read_group
from mtbias.stats.results import LEVEL, MIN_ROWS, N_RESAMPLES, percent_of, rounded
from mtbias.types import Called, JsonDict, JsonObject, Reason
from mtbias.version import __version__

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the shape of `metrics.json`."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a corpus. The tables of every breakdown add up to the table of `overall`."""

    overall: Group
    by: Mapping[str, Mapping[str, Group]]
    """Groups by breakdown (``domain``) and name: in the order of their axis where they are one,
    else numbers in numeric order, then names in alphabetical order."""
    n_resamples: int
    seed: int
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    """Of calls: how many rows have none, and why; reasons that occur, in the order of `Reason`."""
    evidence: Mapping[str, int] = field(default_factory=dict)
    """How many calls rest on which kind of word: the kind of the first evidence that says what was
    called. Most frequent first, then by name."""
    consistency: JsonObject | None = None
    """None where no sentence of the corpus has a counterfactual pair or a control."""
    unknown: Scores | None = None
    """Those of the sentences that show no gender, if there are also others: they are not part of
    any other number."""
    strategies: JsonObject = field(default_factory=dict)
    """What the translations do with the gender (`mtbias.scoring.bias.strategies`), of all
    sentences."""
    post_edits: JsonObject = field(default_factory=dict)
    """What wrong genders cost (`mtbias.scoring.bias.post_edits`)."""

    def to_json(self, *, signature: str | None = None, fingerprint: str | None = None) -> JsonDict:
        """The content of `metrics.json`; the same scores give the same value, key order
        included.
        """
        overall, counting = self.overall, self.overall.counting
        numbers = [
            *counting.numbers,
            *(each for each in counting.beside if each.key in overall.beside),
        ]
        content: JsonDict = {
            "schema": SCHEMA,
            "mtbias": __version__,
            "signature": signature,
            "fingerprint": fingerprint,
            **{name: rows for name, rows in overall.classes.items() if name in WHOLE},
        }
        if self.reasons or self.evidence:
            for name, counts, of in (
                ("reasons", self.reasons, overall.n),
                ("evidence", self.evidence, overall.decided),
            ):
                content[name] = {str(key): rows for key, rows in counts.items()}
                content[f"{name}_percent"] = {
                    str(key): percent_of(rows, of) for key, rows in counts.items()
                }
        content["intervals"] = {
            "method": "percentile bootstrap over rows",
            "level": 100 * LEVEL,
            "resamples": self.n_resamples,
            "seed": self.seed,
            "min_rows": MIN_ROWS,
        }
        content["interval_methods"] = interval_methods(numbers)
        if overall.over_entities is not None:
            content["entity_intervals"] = overall.over_entities.facts()
        content["confusion_axes"] = {name: list(places) for name, places in counting.axes.items()}
        content["overall"] = overall.plain()
        for name, groups in self.by.items():
            content[f"by_{name}"] = {key: group.plain() for key, group in groups.items()}
        if counting is GENDER_COUNTING:
            content["uncalled"] = uncalled(overall.counts, self.n_resamples, self.seed)
            content["consistency"] = self.consistency
        if self.strategies:
            content["strategies"] = self.strategies
        if self.post_edits:
            content["post_edits"] = self.post_edits
        if self.unknown is not None:
            part = self.unknown.to_json()
            content[UNKNOWN] = {key: value for key, value in part.items() if key not in OF_THE_RUN}
        return rounded(content)

    def to_frame(self) -> pd.DataFrame:
        """One row per group: columns `breakdown`, `group`, classes, numbers (per cent, unrounded),
        `…_low`, `…_high`.

        The first row is the whole corpus (`breakdown` "overall", `group` ""). Undefined numbers are
        NaN.
        """
        import pandas as pd

        numbers = self.overall.counting.numbers
        breakdowns = {"overall": {"": self.overall}}
        breakdowns |= {f"by_{name}": dict(groups) for name, groups in self.by.items()}
        rows = []
        for name, groups in breakdowns.items():
            for key, group in groups.items():
                row = {
                    "breakdown": name,
                    "group": key,
                    **read_group(group.plain()).flat_row(numbers),
                }
                undefined = [column for column, value in row.items() if value is None]
                rows.append(row | dict.fromkeys(undefined, float("nan")))
        return pd.DataFrame(rows)


def score_records(
    records: Sequence[object], counting: Counting, *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Scores:
    """The numbers of all records and of the groups of each breakdown; for gender calls, also what
    they rest on.

    The bootstrap starts from `seed` for every group; with 0 resamples there are no intervals.

    Raises:
        DataError: there are no records.
    """
    if not records:
        raise DataError(
            "expected instances to score, got none: look at the corpus and at what was filtered out"
        )
    row_cells, by = counting.cells(records), {}
    for name, group_of in counting.breakdowns.items():
        groups = [group_of(record) for record in records]
        if set(groups) == {None}:
            continue
        named = (NOT_COUNTED if group is None else group for group in groups)
        tables = counting.tabulate_by(row_cells, named)
        by[name] = {
            key: counting.group(tables[key].copy(), n_resamples, seed)
            for key in sorted(tables, key=partial(_order, counting.axes.get(name, ())))
        }
    overall = counting.group(counting.tabulate(row_cells), n_resamples, seed)
    if counting.entity is not None:
        tables = counting.tabulate_by(row_cells, map(counting.entity, records))
        over = entity_intervals(counting, [tables], counting.with_interval, n_resamples, seed)
        overall = replace(overall, over_entities=over)
    calls = [record.call for record in records if hasattr(record, "call")]
    reasons = Counter(call.reason for call in calls)
    kinds = Counter(call.decided_by for call in calls if call.gender is not None)
    return Scores(
        overall,
        by,
        n_resamples,
        seed,
        reasons={reason: reasons[reason] for reason in Reason if reason in reasons},
        evidence=dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
    )


def _order(places: Sequence[str | None], key: str) -> tuple[int, int, str]:
    """Places of an axis in their order, then numbers in numeric order, then everything else
    alphabetically.
    """
    if key in places:
        return 0, places.index(key), key
    return (1, int(key), key) if key.isdecimal() and key.isascii() else (2, 0, key)


def score(records: Sequence[Called], *, n_resamples: int = N_RESAMPLES, seed: int = 0) -> Scores:
    """Score calls: overall, by domain, pronouns, stereotype and entity, and over counterfactual
    pairs.

    Records without a gold gender and the others have separate numbers (`mtbias.scoring.bias`); a
    corpus of such records alone has theirs in place of accuracy, ΔG and ΔS.

    `mtbias.scoring.bias.compute` defines every number, `mtbias.scoring.counting.Counting.estimates`
    its interval, and `mtbias.scoring.consistency` the numbers over pairs. With 0 resamples there
    are no intervals. Ids of records are unique (`mtbias.runs.call_records.join_records`).

    Raises:
        DataError: there are no records.
    """
    known = [record for record in records if record.gold is not None]
    without = [record for record in records if record.gold is None]
    unknown = (
        score_records(without, UNKNOWN_GENDER, n_resamples=n_resamples, seed=seed)
        if without
        else None
    )
    done = strategies(records)
    if unknown is not None and not known:
        return replace(unknown, strategies=done)
    scores = score_records(known, GENDER_COUNTING, n_resamples=n_resamples, seed=seed)
    pairs = consistency(
        known, (record.call for record in known), n_resamples=n_resamples, seed=seed
    )
    cost = post_edits(known, n_resamples, seed)
    return replace(scores, consistency=pairs, unknown=unknown, strategies=done, post_edits=cost)


def counting_of(records: Sequence[Called]) -> Counting:
    """How the numbers of a corpus are counted: as of unknown gender where no sentence of it has a
    gold gender.
    """
    return GENDER_COUNTING if any(record.gold is not None for record in records) else UNKNOWN_GENDER
