"""What the commands of coreference share: options, how a result is printed, systems side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Group, Parameter

from mtbias.cli.shared import BOOTSTRAP, print_json
from mtbias.coref.names import Format, Spans
from mtbias.coref.system_output import SpanCounting
from mtbias.errors import UsageError
from mtbias.report.tables import columns, interval, number, printable
from mtbias.settings import MOST_RESAMPLES, BootstrapSettings, at_least

if TYPE_CHECKING:
    import numpy as np

    from mtbias.coref.coref_text import CorefText
    from mtbias.coref.paired_systems import NumberUnits
    from mtbias.coref.predicted_clusters import Predictions
    from mtbias.coref.running import CorefSystem
    from mtbias.stats.results import Difference, Estimate

    Differences = Mapping[str, Difference]
    Units = Mapping[str, NumberUnits]
    """By the name of the part of the data set."""

_CLUSTERS = Parameter(
    help='Clusters of a system: JSONL, `{"id": …, "clusters": [[[start, end], …], …]}` with indices of tokens, ends '
    "included, or what e2e-coref, SpanBERT, AllenNLP, fastcoref, maverick, CoreNLP, Stanza, BUG's script, CorefUD or "
    "CoNLL-2012 systems write; a file, or a folder of such files; may be given several times."
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
_PAIRED = Group("Two systems")
_AGAINST = Parameter(
    group=_PAIRED,
    help="Predictions of a second system on the same data: adds the differences, first minus second, with paired "
    "intervals and p (approximate randomisation, two-sided, corrected by Holm over all of them).",
)
Against = Annotated[list[Path] | None, _AGAINST]
AgainstFile = Annotated[Path | None, _AGAINST]
Over = Annotated[
    Literal["rows", "occupations"],
    Parameter(
        group=_PAIRED,
        help="What the differences' intervals and p draw: rows (other sentences about these occupations), or "
        "occupations with all their rows (other occupations); of one system, occupations adds intervals over them.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ManyResamples(BootstrapSettings):
    """A class and not a value of its own: whoever gives --seed alone gets the class's default of resamples."""

    resamples: int = at_least(0, 10_000, MOST_RESAMPLES)
    """Bootstrap resamples, and rearrangements of tests; 0: no intervals."""


class SystemReading(NamedTuple):
    """What the files of one system do not say themselves."""

    ids: Path | None
    counting: SpanCounting | None
    """What mentions count, where it is said."""

    def read(self, texts: Sequence[CorefText], paths: Sequence[Path], also: Collection[str] = ()) -> Predictions:
        """The clusters in the files at `paths`, of tokens of `texts` (`mtbias.coref.output_reading.read_output`)."""
        from mtbias.coref.output_reading import read_output

        return read_output(texts, paths, ids=self.ids, spans=self.counting, also=also)


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """What files of clusters do not say themselves."""

    ids: Annotated[
        list[Path] | None,
        Parameter(
            help="Which document is which, where ids do not say it: a line for each document with the system's id, a "
            "tab and the data's id, or the data's alone in the order of the system's documents; once for all systems, "
            "or once for each in their order."
        ),
    ] = None
    spans: Annotated[
        list[Spans] | None,
        Parameter(
            help="What mentions `[start, end]` count: tokens with the last one included, tokens with the end excluded, "
            "or characters with the end excluded (default: told by the mentions, and said); once for all systems, or "
            "once for each in their order."
        ),
    ] = None

    def systems(self, n: int) -> list[SystemReading]:
        """Of each of `n` systems.

        Raises:
            UsageError: an option is given neither once nor as often as there are systems.
        """
        for name, values in (("ids", self.ids), ("spans", self.spans)):
            if values and len(values) not in {1, n}:
                each = "once" if n == 1 else f"once, or once for each of {n} systems"
                raise UsageError(f"--{name}: expected it {each}, got it {len(values)} times")
        return [
            SystemReading(
                self.ids[at % len(self.ids)] if self.ids else None,
                SpanCounting(self.spans[at % len(self.spans)]) if self.spans else None,
            )
            for at in range(n)
        ]


Reading = Annotated[ReadingOptions, Parameter(name="*")]
ManyBootstrap = Annotated[ManyResamples, Parameter(name="*", group=BOOTSTRAP)]


def opened_system(
    system: str,
    model: Path | None,
    program: str | None,
    in_format: Format | None,
    device: str | None,
    reading: ReadingOptions,
) -> CorefSystem:
    """The system that is asked for; `UsageError` where its own option is missing, or another's is given."""
    if system == "stanza":
        from mtbias.coref.stanza_coref import StanzaCoref

        if model is None or program is not None:
            raise UsageError("--system stanza: expected --model FILE, and no --command")
        if reading != ReadingOptions() or in_format is not None:
            raise UsageError(
                "--system stanza: expected no --ids, --spans or --in-format, which go with --system command"
            )
        return StanzaCoref(model, device=device)
    from mtbias.coref.command_system import CommandSystem

    if program is None or model is not None or device is not None:
        raise UsageError("--system command: expected --command, and neither --model nor --device")
    (own,) = reading.systems(1)
    return CommandSystem(program, in_format or "jsonl", ids=own.ids, spans=own.counting)


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


class Added(NamedTuple):
    """What a comparison adds."""

    result: dict[str, Any]
    text: str


def drawn(
    first: Units, second: Units | None, over: Literal["rows", "occupations"], bootstrap: BootstrapSettings
) -> Added:
    """What `Against` and `Over` add to a result, and to its text; nothing where neither was asked for.

    Raises:
        UsageError: the second system has predictions for no part that the first has.
    """
    from mtbias.coref.paired_systems import compare_systems, corrected, intervals_over

    if second is None:
        if over == "rows":
            return Added({}, "")
        alone = {
            name: intervals_over(units, over, bootstrap.resamples, bootstrap.seed) for name, units in first.items()
        }
        rows = [
            [_of_part(part, key), *with_interval(one), str(one.n)]
            for part, of in alone.items()
            for key, one in of.items()
        ]
        said = {
            part: {key: {"value": one.value, "interval": one.interval, "occupations": one.n} for key, one in of.items()}
            for part, of in alone.items()
        }
        return Added({"over_occupations": said}, "\n" + columns(["over occupations", "", "95 %", "occupations"], rows))
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError("--against has predictions for none of the parts that --predictions has")
    found = corrected(
        compare_systems(first[name], second[name], over, bootstrap.resamples, bootstrap.seed) for name in shared
    )
    rows = [
        [_of_part(part, key), number(d.first), number(d.second), number(d.difference), interval(d.interval),
         number(d.p, 4), number(d.p_holm, 4)]
        for part, of in zip(shared, found, strict=True)
        for key, d in of.items()
    ]  # fmt: skip
    parts = {
        part: {"drawn": len(first[part].drawn(over)), "numbers": {key: asdict(d) for key, d in of.items()}}
        for part, of in zip(shared, found, strict=True)
    }
    header = [f"first - second, over {over}", "first", "second", "difference", "95 %", "p", "p, Holm"]
    return Added({"against": {"over": over, "parts": parts}}, "\n" + columns(header, rows))


def _of_part(part: str, key: str) -> str:
    return f"{part} {key}".strip().replace("_", " ")


def compared_with_first(systems: Sequence[NumberUnits], bootstrap: BootstrapSettings) -> list[Differences]:
    """The first system minus each further one; nothing without resamples."""
    from mtbias.coref.paired_systems import compare_systems

    first, *others = systems
    n = bootstrap.resamples
    return [compare_systems(first, other, "rows", n, bootstrap.seed) for other in others if n]


def compared_json(key: str, names: Sequence[str], compared: Sequence[Differences]) -> list[dict[str, Any]]:
    """Each further system against the first; its name stands under `key`."""
    return [
        {
            key: name,
            "numbers": {
                what: {"difference": d.difference, "interval": d.interval, "p": d.p} for what, d in numbers.items()
            },
        }
        for name, numbers in zip(names[1:], compared, strict=False)  # without resamples nothing is compared
    ]


def compared_text(
    names: Sequence[str], compared: Sequence[Differences], label: Callable[[str], str], decimals: int
) -> list[str]:
    """The same as a table for each."""
    return [
        f"{names[0]} minus {name}\n"
        + columns(
            ["", "difference", "95 %", "p"],
            [
                [label(key), number(d.difference, decimals), interval(d.interval, decimals), number(d.p, 4)]
                for key, d in numbers.items()
            ],
        )
        for name, numbers in zip(names[1:], compared, strict=False)
    ]
