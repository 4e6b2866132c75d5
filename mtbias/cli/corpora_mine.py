"""``mtbias corpora mine``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from mtbias.cli.shared import Count, FirstNames, Json, Stanza, show
from mtbias.machine.stage_progress import ProgressLine
from mtbias.mining.mined_rows import Kind, MiningOptions
from mtbias.settings import StanzaSettings

_FILTERS = Group.create_ordered("Filters")


def command(
    *,
    text: list[Path],
    out: Path,
    kind: Kind = "bug",
    field: str | None = None,
    name: str | None = None,
    names: FirstNames = None,
    patterns: Path | None = None,
    occupations: Path | None = None,
    processes: Count = 1,
    device: str | None = None,
    licence: str | None = None,
    json: Json = False,
    options: Annotated[MiningOptions, Parameter(name="*", group=_FILTERS)] = MiningOptions(),
    stanza: Stanza = StanzaSettings(),
) -> None:
    """Mine a bias corpus from English text: sentences in which a syntactic pattern ties a
    profession to a pronoun.

    The corpus has BUG's columns, and the pattern, the confidence and the place of each row;
    `--dataset bug --data OUT` reads it. What is left out is counted by reason. A run that was
    stopped resumes; the corpus depends neither on that nor on --processes. Text is English;
    passages without a listed profession and a pronoun are not parsed.

    Parameters
    ----------
    text
        Files or folders of text: a sentence or a paragraph a line; JSON lines (.jsonl, .ndjson, or
        with --field); either may be gzipped (.gz).
    out
        The corpus to write, a TSV; its card, NAME.md, is written beside it.
    kind
        bug: professions and pronouns; gap: contexts of a pronoun and exactly two people of its
        gender, in GAP's columns without labels, by --names instead of patterns, occupations and
        filters (`mtbias coref counterfactual` makes quadruples of them).
    field
        The field of JSON lines that has the text (default: text).
    name
        What the column corpus has (default: the file's name without its endings, or the folder's).
    patterns
        Patterns (default: the paper's, and ours).
    occupations
        Table of occupations with their numbers of women and men (default: BUG's, `mtbias fetch
        --dataset bug-occupations`).
    processes
        Processes that parse, of one thread each.
    device
        cpu, cuda, or cuda:1 for the second GPU (default: a GPU where there is one).
    licence
        Licence of the texts, for the corpus's card.
    """
    from mtbias.mining.mining_run import mine

    mined = mine(
        text,
        out,
        kind=kind,
        field=field,
        name=name,
        names=names,
        patterns=patterns,
        occupations=occupations,
        options=options,
        licence=licence,
        processes=processes,
        device=device,
        stanza_dir=stanza.stanza_dir,
        cache=stanza.cache_dir,
        progress=ProgressLine(unit="KiB"),
    )
    show(mined, json=json)
