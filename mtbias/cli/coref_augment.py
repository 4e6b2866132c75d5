"""``mtbias coref augment``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mtbias.cli.coref_shared import FirstNames, counts_text, show
from mtbias.cli.shared import Count, Flag, Json
from mtbias.coref.augmentation import Kind, augment
from mtbias.files.writing import signature_line, write_atomic


def command(
    *,
    data: Path,
    kind: Kind,
    out: Path,
    names: FirstNames = None,
    max_names: Count = 2000,
    only_copies: Flag = False,
    suffix: str = "_a",
    json: Json = False,
) -> None:
    """Augment a CoNLL-2012 file with a gender-swapped copy of each document.

    Copies stand behind the documents; only words and document names change.

    Parameters
    ----------
    data
        The CoNLL-2012 file.
    kind
        What becomes of first names: anonymised gives them ids (E1, E2, …), names gives each its counterpart of the
        other gender: the one-to-one matching in which the names' vectors of frequencies are most alike,
        ‖u − v‖ · (12/11 − cos).
    out
        The augmented file to write.
    max_names
        Match so many names of each gender, the most frequent ones.
    only_copies
        Leave the documents themselves out.
    suffix
        What stands behind the names of copies.
    """
    from mtbias.coref.augmentation import EXAMPLE_NAMES, match_names, read_names

    first_names = read_names(names or EXAMPLE_NAMES)
    matched = kind == "names"
    counterparts = match_names(first_names.names, max_names=max_names) if matched else {}
    made = augment(data, kind, {name.text for name in first_names.names}, counterparts, suffix=suffix)
    write_atomic(out, [*([] if only_copies else made.original), *made.lines])
    result: dict[str, Any] = {name.replace(",", "").replace(" ", "_"): n for name, n in made.counts.items()}
    result |= {"ambiguous": made.ambiguous, "out": str(out)}
    options = {"kind": kind, "list": "given" if names else "example", "copies": "only" if only_copies else "added"}
    options |= {"suffix": suffix, **({"max-names": str(max_names)} if matched else {})}
    files = {"data": {data.name: made.sha256}, "names": {"names": first_names.sha256}}
    result["signature"] = signature_line("coref:augment", files, options)
    show(result, counts_text(made.counts, (f"ambiguous: {place}" for place in made.ambiguous), out), json=json)
