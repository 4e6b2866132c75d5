"""What the commands of coreference share: options, and how a result is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mtbias.cli.shared import BOOTSTRAP, print_json
from mtbias.coref.documents import Format, Spans
from mtbias.errors import UsageError
from mtbias.settings import BootstrapSettings, drawn

FirstNames = Annotated[
    Path | None,
    Parameter(
        help="First names: a table (TSV, CSV) with the columns name, gender (male, female, mostly_male, mostly_female) "
        "and frequencies, such as one column a country, or a .txt in the format of gender-guesser's nam_dict.txt "
        "(default: a short example list)."
    ),
]
WordPairs = Annotated[
    Path | None,
    Parameter(
        help="Pairs of gendered words, a word and its counterpart in a line, a tab between (default: mtbias's list)."
    ),
]
System = Annotated[
    Literal["stanza", "command"],
    Parameter(
        help="stanza: Stanza's coreference processor (`pip install 'mtbias[coref]'`) with --model; command: any "
        "system, by --command."
    ),
]
Model = Annotated[
    Path | None,
    Parameter(help="With stanza: the file of the model (Stanza's own, or of `mtbias coref train`)."),
]
Command = Annotated[
    str | None,
    Parameter(
        name="--command",
        help="With command: how to run it, with {in} for the file of documents and {out} for the file that it writes, "
        "in any form that --predictions reads.",
    ),
]
InFormat = Annotated[
    Format | None,
    Parameter(help="With command: the form of {in}, as `mtbias coref export` writes it (default: jsonl)."),
]
Device = Annotated[
    str | None,
    Parameter(help="With stanza: cpu, cuda, or cuda:1 for the second GPU (default: a GPU where there is one)."),
]
TableFormat = Literal["text", "json", "markdown", "csv", "latex"] | None


@dataclass(frozen=True, kw_only=True)
class ManyResamples(BootstrapSettings):
    """A class and not a value of its own: whoever gives --seed alone gets the class's default of resamples."""

    resamples: int = drawn(10_000)
    """Bootstrap resamples, and rearrangements of tests; 0: no intervals."""


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """What files of clusters do not say themselves."""

    ids: Annotated[
        list[Path] | None,
        Parameter(
            help="Which document is which, where ids do not say it: a file with a line for each document, the system's "
            "id, a tab and the data's id; or the word order, where these are all of the data's in its order. Once for "
            "all systems, or once for each."
        ),
    ] = None
    spans: Annotated[
        list[Spans] | None,
        Parameter(
            help="What mentions `[start, end]` count, where the format does not say it: tokens with the last one "
            "included (default), tokens with the end excluded, or characters with the end excluded. Once for all "
            "systems, or once for each."
        ),
    ] = None

    def of_systems(self, n: int) -> list[tuple[Path | None, Spans | None]]:
        """Of each of `n` systems.

        Raises:
            UsageError: an option is given neither once nor as often as there are systems.
        """
        for name, values in (("ids", self.ids), ("spans", self.spans)):
            if values and len(values) not in {1, n}:
                each = "once" if n == 1 else f"once, or once for each of {n} systems"
                raise UsageError(f"--{name}: expected it {each}, got it {len(values)} times")
        ids = self.ids and [self.ids[at % len(self.ids)] for at in range(n)]
        spans = self.spans and [self.spans[at % len(self.spans)] for at in range(n)]
        return list(zip(ids or repeat(None, n), spans or repeat(None, n), strict=True))


Reading = Annotated[ReadingOptions, Parameter(name="*")]
ManyBootstrap = Annotated[ManyResamples, Parameter(name="*", group=BOOTSTRAP)]


def form_of(format: TableFormat, *, json: bool) -> str:
    """The form of the tables; `UsageError` where --json and another --format are given."""
    if json and format not in {None, "json"}:
        raise UsageError(f"--json and --format {format} exclude each other")
    return "json" if json else format or "text"


def show(result: Mapping[str, Any], text: str, *, json: bool) -> None:
    """Print a result as JSON, or as its text and its signature."""
    if json:
        print_json(result, indent=None)
    else:
        print(f"{text}Signature: {result['signature']}")
