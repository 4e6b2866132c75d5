"""Options that several commands share, and checks of names and files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, validators

from mtbias.errors import SettingError, UsageError, escaped
from mtbias.files.packing import content_name
from mtbias.settings import (
    LANG,
    BootstrapSettings,
    CacheSettings,
    CorpusSettings,
    DecodingSettings,
    DeviceSettings,
    EvaluatorSettings,
    LanguageModelSettings,
    LimitSettings,
    StanzaSettings,
    TranslationSettings,
    drawn,
)
from mtbias.types import JsonDict

CORPUS, TRANSLATION, LANGUAGE_MODEL, EVALUATOR, BOOTSTRAP = (
    Group.create_ordered(name)
    for name in ("Corpus", "Translation", "Language models", "Evaluator", "Intervals and tests")
)


Corpus = Annotated[CorpusSettings, Parameter(name="*", group=CORPUS)]
Limit = Annotated[LimitSettings, Parameter(name="*", group=CORPUS)]
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
Langs = Annotated[
    list[str], Parameter(name="--lang", help="Target language, such as de; one or several.")
]
RunOut = Annotated[
    Path | None,
    Parameter(
        help="Folder for manifest, calls, metrics and report; an interrupted run resumes there."
    ),
]
Full = Annotated[bool, Parameter(help="Print all numbers and tables.", show_default=False)]
Json = Annotated[bool, Parameter(name="--json", help="Print JSON alone.", show_default=False)]
Runs = Annotated[
    list[Path], Parameter(name="RUN", help="Folders of finished runs, or folders that hold some.")
]
Names = Annotated[
    list[str] | None,
    Parameter(
        name="--name",
        help="Names of the systems, one for each RUN in their order (default: the run's own name).",
    ),
]
SweepFile = Annotated[Path, Parameter(name="FILE", help="The sweep, a TOML file.")]


def checked_names(names: Sequence[str] | None, runs: Sequence[Path]) -> list[str]:
    """The names of the runs for display (`mtbias.errors.escaped`); empty if there are none.

    Raises:
        SettingError: there are more or fewer names than runs.
    """
    if names and len(names) != len(runs):
        raise SettingError(
            "name", f"expected a name for each of {len(runs)} runs, got {len(names)}"
        )
    return [escaped(name) for name in names or ()]


def named_files(files: Sequence[str]) -> dict[str, str]:
    """The files by the names of their systems: NAME=FILE, else the file's name, or that of its
    folder where several files have one name.

    Raises:
        UsageError: two systems have one name.
    """
    pairs: list[tuple[str, str]] = []
    for word in files:
        name, equals, file = word.partition("=")
        pairs.append((name, file) if equals and not Path(word).exists() else ("", word))
    stems = Counter(content_name(Path(file)).stem for name, file in pairs if not name)

    by_name: dict[str, str] = {}
    for given_name, file in pairs:
        path = Path(file)
        stem = content_name(path).stem
        name = stem.replace(LANG, "").strip("-_.")
        if stems[stem] > 1:
            name = path.absolute().parent.name
        name = given_name or name
        if name in by_name:
            raise UsageError(
                f"expected a name for each system, NAME=FILE; got two for {name}: "
                f"{by_name[name]} and {file}"
            )
        by_name[name] = file
    return by_name


def print_json(content: object, *, indent: int | None = 1) -> None:
    """Print plain values as JSON."""
    print(json.dumps(content, ensure_ascii=False, indent=indent))


# Coreference

FirstNames = Annotated[
    Path | None,
    Parameter(
        help="First names: a table (TSV, CSV) with the columns name, gender (male, female, "
        "mostly_male, mostly_female) and frequencies, such as one column a country, or a .txt in "
        "the format of gender-guesser's nam_dict.txt (default: a short example list)."
    ),
]
WordPairs = Annotated[
    Path | None,
    Parameter(
        help="Pairs of gendered words, a word and its counterpart in a line, a tab between "
        "(default: mtbias's list)."
    ),
]
Parts = list[Literal["dev-type1", "dev-type2", "test-type1", "test-type2"]] | None
"""Parts of WinoBias (`mtbias.coref.winobias.PARTS_OF_DATA`)."""
TableFormat = Literal["text", "json", "markdown", "csv", "latex"] | None


@dataclass(frozen=True, kw_only=True)
class ManyResamples(BootstrapSettings):
    """Settings with a higher default of resamples, also for a user who gives only --seed."""

    resamples: int = drawn(10_000)
    """Bootstrap resamples, and rearrangements of tests; 0: no intervals."""


ManyBootstrap = Annotated[ManyResamples, Parameter(name="*", group=BOOTSTRAP)]


def form_of(format: TableFormat, *, json: bool) -> str:
    """The form of the tables.

    Raises:
        UsageError: both --json and another --format are given.
    """
    if json and format not in {None, "json"}:
        raise UsageError(f"--json and --format {format} exclude each other")
    return "json" if json else format or "text"


# Results


def show(result: Any, text: str = "", *, json: bool) -> None:  # noqa: ANN401 - any dataclass
    """Print a result as JSON, or as its `text` and signature, or as
    `mtbias.report.tables.fields`.

    Numbers of a mapping are not rounded.
    """
    from mtbias.report.tables import fields  # `mtbias list` loads no numpy
    from mtbias.stats.results import rounded

    values: JsonDict = result if isinstance(result, dict) else rounded(asdict(result))
    for name, value in values.items():
        if isinstance(value, Path):
            values = {**values, name: str(value)}
    if json:
        print_json(values, indent=None)
    elif text:
        print(f"{text}Signature: {values['signature']}")
    else:
        print(fields(values))
