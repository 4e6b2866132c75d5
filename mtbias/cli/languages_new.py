"""``mtbias languages new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Stanza
from mtbias.errors import escaped
from mtbias.settings import StanzaSettings


def command(
    code: Annotated[str, Parameter(name="CODE")],
    /,
    *,
    out: Path | None = None,
    name: str | None = None,
    lexicon: list[Path] | None = None,
    stanza: Stanza = StanzaSettings(),
) -> None:
    """Draft a plugin for a further language: a project to install, with the questions that its data
    must answer.

    It has the rules with a question above each table, the table of nouns, a test of the contract,
    and sentences to translate for every kind of noun and evidence. Nouns of a lexicon are marked
    "# check" and ignored until the mark is removed; occupations that no lexicon has are marked
    "# fill".

    A lexicon is a UniMorph table (lemma, form, features), or a tab-separated list whose first line
    names its columns: english and noun; english, masculine and feminine; or masculine and feminine.
    Lists say which nouns name people; the others give their gender and forms, and the noun for the
    other gender.

    Parameters
    ----------
    code
        ISO 639-1 code of the language, or its ISO 639-3 code where it has no other.
    out
        Folder to write, which must be empty or new (default: mtbias-NAME).
    name
        The language's English name, such as Polish (default: Stanza's).
    lexicon
        Files of nouns; one or several. "unimorph" is UniMorph's table of the language (`mtbias
        fetch --dataset unimorph-pl --accept-unverified`).
    """
    from mtbias.corpora import cache_folder
    from mtbias.morphology.stanza_models import stanza_folder
    from mtbias.new_language.lexica import read_lexicon, unimorph_table
    from mtbias.new_language.policy_rows import occupations
    from mtbias.new_language.project_files import Draft, check_draft, prospects, write_draft

    name, out = check_draft(code, name, out)
    known = prospects(code, stanza_folder(stanza.stanza_dir, cache_folder(stanza.cache_dir)))
    files = lexicon or []
    if Path("unimorph") in files:
        table, licence = unimorph_table(code, stanza.cache_dir)
        files = [table if path == Path("unimorph") else path for path in files]
        known = (*known, licence)
    draft = Draft(code, name, tuple(map(read_lexicon, files)), known)
    nouns = write_draft(draft, out)
    print(
        f"{escaped(str(out))}: a draft of {draft.package}\n"
        f"  {len(nouns.nouns):,} nouns to check, {len(nouns.unfilled):,} to fill in: "
        f"{draft.package}/data/{code}_nouns.tsv\n"
        f"  begin with the {len(occupations(winomt=True))} entities of WinoMT, which come first:\n"
        "  with them its sentences can be scored"
    )
    print(f"  the questions: {draft.package}/data/{code}.toml", *known, sep="\n  ")
    print(escaped(f"Next: {out}/README.md"))
