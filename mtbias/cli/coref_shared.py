"""What the commands of coreference share: options, how a result is printed, systems side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from mtbias.cli.shared import BOOTSTRAP, print_json
from mtbias.report.tables import columns, interval, number, printable
from mtbias.settings import MOST_RESAMPLES, BootstrapSettings, at_least

if TYPE_CHECKING:
    import numpy as np

    from mtbias.stats.results import Difference, Estimate

    Differences = Mapping[str, Difference]

_CLUSTERS = Parameter(
    help='Clusters of a system: JSONL, `{"id": …, "clusters": [[[start, end], …], …]}` with indices of tokens, ends '
    "included, or CoNLL-2012; a file, or a folder of such files; may be given several times."
)
Clusters = Annotated[list[Path], _CLUSTERS]
ClustersIfAny = Annotated[list[Path] | None, _CLUSTERS]
FirstNames = Annotated[
    Path | None,
    Parameter(
        help="First names: a table (TSV, CSV) with the columns name, gender (male, female, mostly_male, mostly_female) "
        "and frequencies, such as one column a country (default: a short example list)."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ManyResamples(BootstrapSettings):
    """A class and not a value of its own: whoever gives --seed alone gets the class's default of resamples."""

    resamples: int = at_least(0, 10_000, MOST_RESAMPLES)
    """Bootstrap resamples, and rearrangements of tests; 0: no intervals."""


ManyBootstrap = Annotated[ManyResamples, Parameter(name="*", group=BOOTSTRAP)]


def generator(bootstrap: BootstrapSettings) -> np.random.Generator:
    """One of its own for each system, so that the numbers of a system do not depend on those beside it."""
    import numpy as np

    return np.random.default_rng(bootstrap.seed)


def show(result: Mapping[str, Any], text: str, *, json: bool) -> None:
    """Print a result as JSON, or as its text and its signature."""
    if json:
        print_json(result, indent=None)
    else:
        print(f"{text}Signature: {result['signature']}")


def with_interval(one: Estimate, decimals: int = 2) -> tuple[str, str]:
    """A number and its interval, as two cells of a table."""
    return number(one.value, decimals), interval(one.interval, decimals)


def counts_text(counts: Mapping[str, int], notes: Iterable[str], out: Path) -> str:
    """What was counted when the file `out` was made."""
    table = columns(["", "number"], [[name, str(value)] for name, value in counts.items()])
    return table + "".join(f"  {printable(note)}\n" for note in notes) + f"\nFile: {out}\n"


def compared_json(key: str, names: Sequence[str], compared: Sequence[Differences]) -> list[dict[str, Any]]:
    """Each further system against the first; its name stands under `key`."""
    return [
        {key: name, "numbers": {what: {"difference": d.difference, "p": d.p} for what, d in numbers.items()}}
        for name, numbers in zip(names[1:], compared, strict=False)  # without resamples nothing is compared
    ]


def compared_text(
    names: Sequence[str], compared: Sequence[Differences], label: Callable[[str], str], decimals: int
) -> list[str]:
    """The same as a table for each."""
    return [
        f"{names[0]} minus {name}\n"
        + columns(
            ["", "difference", "p"],
            [[label(key), number(d.difference, decimals), number(d.p, 4)] for key, d in numbers.items()],
        )
        for name, numbers in zip(names[1:], compared, strict=False)
    ]
