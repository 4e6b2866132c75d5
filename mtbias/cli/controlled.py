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
from mtbias.translate.shape_table import Selection
from mtbias.types import SourceSentence


def command(
    pairs: Annotated[list[str], Parameter(name="ASKED=RUN")],
    /,
    *,
    references: list[str] | None = None,
    format: Literal["text", "json", "markdown", "latex"] | None = None,
    full: Full = False,
    json: Json = False,
    different_evaluators: Flag = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Report whether a system uses the gender that it is asked for.

    The runs are of one corpus, which was translated with a request for the feminine (female=RUN),
    for the masculine (male=RUN), and perhaps without a request (none=RUN), by a prompt of `mtbias
    eval` or a suite of `mtbias export`. The report has the share of translations in the requested
    gender, by the gender in the source, and their share without a request; the difference between
    masculine and feminine; and with references the loss in BLEU and chrF.

    Parameters
    ----------
    references
        Files of references, in a form of --translations: one for all, or ASKED=FILE each.
    format
        Format of the tables (default: text).
    different_evaluators
        Compare runs although another release, plugin, aligner or Stanza evaluated them.
    """
    form = form_of(format, json=json)
    runs = {request: read_run(path) for request, path in _paths(pairs, "RUN").items()}
    if not runs:
        raise UsageError("expected ASKED=RUN, such as female=runs/asked-female, got nothing")
    comparison = compare_asked(
        runs,
        _references(references or [], runs),
        n_resamples=bootstrap.resamples,
        seed=bootstrap.seed,
        different_evaluators=different_evaluators,
    )
    print(render_controlled(comparison, form, full=full), end="")


def _paths(words: Sequence[str], what: str) -> dict[str, Path]:
    """The paths by the requested gender.

    Raises:
        UsageError: a word has another form, or a gender occurs twice.
    """
    paths: dict[str, Path] = {}
    for word in words:
        request, equals, path = word.partition("=")
        if not equals or request not in ASKED or not path:
            known = ", ".join(f"{each}={what}" for each in ASKED)
            raise UsageError(f"expected {known}, got {word!r:.80}")
        if request in paths:
            raise UsageError(
                f"expected one {what} asked for as {request}, got {paths[request]} and {path}"
            )
        paths[request] = Path(path)
    return paths


def _references(words: Sequence[str], runs: Mapping[str, Run]) -> dict[str, dict[str, str]]:
    """A reference for each id, by the requested gender."""
    if len(words) == 1 and words[0].partition("=")[0] not in ASKED:
        files = dict.fromkeys(runs, Path(words[0]))
    else:
        files = _paths(words, "FILE")
    references = {}
    for request, file in files.items():
        run = runs.get(request) or next(iter(runs.values()))
        sentences = [SourceSentence(row.id, n, row.source) for n, row in enumerate(run.calls)]
        selection = Selection(run.lang, run.source_lang)
        joined = read_translations(file, sentences, allow_missing=True, selection=selection)
        texts = {each.id: each.text for each in joined.translations if each.text is not None}
        references[request] = texts
    return references
