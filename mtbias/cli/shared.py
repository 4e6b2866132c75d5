"""What several commands share: settings as groups of options, checks of names and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, validators

from mtbias.coref.documents import Format, Spans
from mtbias.errors import SettingError, UsageError, escaped
from mtbias.settings import (
    BootstrapSettings,
    CacheSettings,
    CorpusSettings,
    DecodingSettings,
    DeviceSettings,
    EvaluatorSettings,
    LanguageModelSettings,
    StanzaSettings,
    TranslationSettings,
    drawn,
)
from mtbias.types import JsonDict

CORPUS, TRANSLATION, LANGUAGE_MODEL, EVALUATOR, BOOTSTRAP = (
    Group.create_ordered(name)
    for name in ("Corpus", "Translation", "Language models", "Evaluator", "Intervals and tests")
)


def _no_option(_: object, path: Path | None) -> None:
    """A hyphen may lead because - is standard output; an option behind a forgotten file name is not a file."""
    if path is not None and str(path).startswith("-") and str(path) != "-":
        raise ValueError(f"expected a file or -, got the option {path}")


Corpus = Annotated[CorpusSettings, Parameter(name="*", group=CORPUS)]
Translation = Annotated[TranslationSettings, Parameter(name="*", group=TRANSLATION)]
LanguageModel = Annotated[LanguageModelSettings, Parameter(name="*", group=LANGUAGE_MODEL)]
Decoding = Annotated[DecodingSettings, Parameter(name="*", group=TRANSLATION)]
Evaluator = Annotated[EvaluatorSettings, Parameter(name="*", group=EVALUATOR)]
Device = Annotated[DeviceSettings, Parameter(name="*", group=EVALUATOR)]
Bootstrap = Annotated[BootstrapSettings, Parameter(name="*", group=BOOTSTRAP)]
Cache = Annotated[CacheSettings, Parameter(name="*")]
Stanza = Annotated[StanzaSettings, Parameter(name="*")]

Flag = Annotated[bool, Parameter(show_default=False)]
Count = Annotated[int, Parameter(validator=validators.Number(gte=1))]
Seed = Annotated[int, Parameter(validator=validators.Number(gte=0))]
Lang = Annotated[str, Parameter(help="Target language, such as de (`mtbias list languages`).")]
HERE = Path("-")
"""Standard output."""
Rows = Annotated[Path | None, Parameter(allow_leading_hyphen=True, validator=_no_option)]
"""A file for rows, or `HERE`."""
Langs = Annotated[list[str], Parameter(name="--lang", help="Target language, such as de; one or several.")]
RunOut = Annotated[
    Path | None,
    Parameter(help="Folder for manifest, calls, metrics and report; an interrupted run resumes there."),
]
Full = Annotated[bool, Parameter(help="Print all numbers and tables.", show_default=False)]
Json = Annotated[bool, Parameter(name="--json", help="Print JSON alone.", show_default=False)]
Runs = Annotated[list[Path], Parameter(name="RUN", help="Folders of finished runs.")]
Names = Annotated[
    list[str] | None,
    Parameter(
        name="--name", help="Names of the systems, one for each RUN in their order (default: the run's own name)."
    ),
]
SweepFile = Annotated[Path, Parameter(name="FILE", help="The sweep, a TOML file.")]


def checked_names(names: Sequence[str] | None, runs: Sequence[Path]) -> list[str]:
    """The names of the runs as they can be shown (`mtbias.errors.escaped`); none where none were given.

    Raises:
        SettingError: there are not as many as runs.
    """
    if names and len(names) != len(runs):
        raise SettingError("name", f"expected a name for each of {len(runs)} runs, got {len(names)}")
    return [escaped(name) for name in names or ()]


def print_json(content: object, *, indent: int | None = 1) -> None:
    """Print plain values as JSON."""
    print(json.dumps(content, ensure_ascii=False, indent=indent))


# Coreference

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
CorefDevice = Annotated[
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


# Results


def show(result: Any, text: str = "", *, json: bool) -> None:  # noqa: ANN401 - any dataclass
    """Print a result as JSON, or as text: as its `text` and its signature, else as `mtbias.report.tables.fields`.

    Numbers of a mapping are not rounded.
    """
    from mtbias.report.tables import fields  # a list of what there is loads no numpy
    from mtbias.stats.results import rounded

    of: JsonDict = result if isinstance(result, dict) else rounded(asdict(result))
    content = {name: str(value) if isinstance(value, Path) else value for name, value in of.items()}
    if json:
        print_json(content, indent=None)
    else:
        print(f"{text}Signature: {content['signature']}" if text else fields(content))
