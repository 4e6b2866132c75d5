"""A draw of Counter-GAP's quadruples with as many originals about men as about women."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mtbias.coref.counter_gap import count_by_gender, quadruples, write_quadruples
from mtbias.coref.gap_data import read_instances
from mtbias.errors import DataError
from mtbias.files.writing import signature_line
from mtbias.stats.results import source
from mtbias.types import Gender, frozen


@frozen
class BalancedQuadruples:
    """A draw of quadruples that was written."""

    quadruples: int
    before: Mapping[str, int]
    """By the gender of the original's pronoun."""
    dropped: Mapping[str, int]
    """The quadruples left out, by reason."""
    kept: int
    out: Path
    signature: str


def balance_quadruples(data: Path, out: Path, seed: int = 0) -> BalancedQuadruples:
    """Write as many quadruples of originals about men as about women, drawn at random from the
    gender that has more, in the order of the file.

    Raises:
        DataError: what the readers raise; one gender has none.
    """
    file = read_instances(data, labelled=False)
    complete = quadruples(file)
    before = count_by_gender(complete)
    n = min(before.values())
    if not n:
        counted = ", ".join(f"{gender} {size}" for gender, size in before.items())
        raise DataError(f"expected originals of both genders, got {counted}", path=data)
    rng = source(seed)
    chosen: set[int] = set()
    for gender in (Gender.MALE, Gender.FEMALE):
        places = [place for place, one in enumerate(complete) if one.gender is gender]
        chosen.update(rng.choice(places, n, replace=False).tolist())
    sample = [complete[place] for place in sorted(chosen)]
    write_quadruples(out, sample, file.columns)
    options = {"dataset": "counter-gap", "groups": "male+female", "method": "sample", "seed": seed}
    dropped = {f"more originals, {gender}": size - n for gender, size in before.items()}
    signature = signature_line("balance", {"data": {data.name: file.sha256}}, options)
    return BalancedQuadruples(len(complete), before, dropped, len(chosen), out, signature)
