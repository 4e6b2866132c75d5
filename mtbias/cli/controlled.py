"""``mtbias controlled``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mtbias.api import Run, read_run
from mtbias.cli.shared import Bootstrap, Flag, Full, Json, form_of
from mtbias.errors import UsageError
from mtbias.report.controlled_tables import render_controlled
from mtbias.scoring.controlled import ASKED, compare_asked
from mtbias.settings import BootstrapSettings
from mtbias.translate.given_translations import read_translations
from mtbias.translate.shape_table import Wanted
from mtbias.types import SourceSentence


def command(
    asked: Annotated[list[str], Parameter(name="ASKED=RUN")],
    /,
    *,
    references: list[str] | None = None,
    format: Literal["text", "json", "markdown", "latex"] | None = None,
    full: Full = False,
    json: Json = False,
    different_evaluators: Flag = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Report how a system obeys when it is asked for men or for women.

    One corpus was asked for in the feminine (female=RUN), in the masculine (male=RUN), and perhaps
    without saying (none=RUN), by a prompt of `mtbias eval` or a suite of `mtbias export`. Reported
    are the share that stands in the gender asked for, by the gender that the source tells, beside
    the share that does without being asked; the difference between the masculine and the feminine;
    and with references what asking costs in BLEU and chrF.

    Parameters
    ----------
    references
        Files of references, in a form of --translations: one for all, or ASKED=FILE each.
    format
        Of the tables (default: text).
    different_evaluators
        Compare runs although they were read by another release, plugin, aligner or Stanza.
    """
    form = form_of(format, json=json)
    read = {name: read_run(path) for name, path in _pairs(asked, "RUN").items()}
    if not read:
        raise UsageError("expected ASKED=RUN, such as female=runs/asked-female, got nothing")
    found = compare_asked(
        read,
        _references(references or [], read),
        n_resamples=bootstrap.resamples,
        seed=bootstrap.seed,
        different_evaluators=different_evaluators,
    )
    print(render_controlled(found, form, full=full), end="")


def _pairs(words: Sequence[str], what: str) -> dict[str, Path]:
    """The paths by what was asked for.

    Raises:
        UsageError: a word of another form, or one asked for twice.
    """
    found: dict[str, Path] = {}
    for word in words:
        asked, equals, path = word.partition("=")
        if not equals or asked not in ASKED or not path:
            known = ", ".join(f"{each}={what}" for each in ASKED)
            raise UsageError(f"expected {known}, got {word!r:.80}")
        if asked in found:
            raise UsageError(
                f"expected one {what} asked for as {asked}, got {found[asked]} and {path}"
            )
        found[asked] = Path(path)
    return found


def _references(words: Sequence[str], runs: Mapping[str, Run]) -> dict[str, dict[str, str]]:
    """A reference for each id, by what was asked for."""
    if len(words) == 1 and words[0].partition("=")[0] not in ASKED:
        files = dict.fromkeys(runs, Path(words[0]))
    else:
        files = _pairs(words, "FILE")
    found = {}
    for asked, file in files.items():
        run = runs.get(asked) or next(iter(runs.values()))
        sentences = [SourceSentence(row.id, n, row.source) for n, row in enumerate(run.calls)]
        wanted = Wanted(run.lang, run.source_lang)
        read = read_translations(file, sentences, allow_missing=True, wanted=wanted)
        found[asked] = {each.id: each.text for each in read.translations if each.text is not None}
    return found
