"""What several commands share: settings as groups of options, checks of names and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter, validators

from mtbias.errors import SettingError, escaped
from mtbias.settings import (
    BootstrapSettings,
    CacheSettings,
    CorpusSettings,
    DecodingSettings,
    DeviceSettings,
    EvaluatorSettings,
    LanguageModelSettings,
    TranslationSettings,
)

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
