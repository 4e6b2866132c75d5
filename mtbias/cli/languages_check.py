"""``mtbias languages check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Json, Stanza, show
from mtbias.settings import StanzaSettings


def command(
    code: Annotated[str, Parameter(name="CODE")],
    /,
    *,
    challenge: Path | None = None,
    analyses: Path | None = None,
    json: Json = False,
    stanza: Stanza = StanzaSettings(),
) -> None:
    """Check an installed language: its contract, whether it calls men and women alike, which
    occupations it lacks, and which calls on sentences are wrong.

    Parameters
    ----------
    code
        Code of an installed language (`mtbias list languages` lists them).
    challenge
        Sentences with the right calls, a TSV as `mtbias languages new` writes it: kind, evidence,
        call, source, target; rows without a target are skipped. Needs the language's Stanza models,
        or analyses.
    analyses
        Analyses of these sentences instead of Stanza's, in CoNLL-U with a line "# text = …" above
        each.
    """
    from mtbias.new_language.policy_rows import examine_language

    show(
        examine_language(code, challenge, analyses, stanza.stanza_dir, stanza.cache_dir), json=json
    )
