"""``mtbias coref match-names``."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from mtbias.cli.shared import Count, FirstNames, Flag, Json, show
from mtbias.errors import escaped


def command(
    *,
    out: Path,
    names: FirstNames = None,
    max_names: Count = 2000,
    as_published: Flag = False,
    json: Json = False,
) -> None:
    """Match first names one to one with the other gender, as n-CDA does; how alike they are.

    The matching is the one of least total distance, ‖u − v‖ · (12/11 − cos) of two names' vectors
    of frequencies, of names that are surely of a gender and of those that are mostly of one.

    Parameters
    ----------
    out
        The pairs to write: a male and a female name in a line, a tab between.
    max_names
        Match so many names of each gender, the most frequent ones.
    as_published
        Read nam_dict.txt as the program published with Counter-GAP does: without Great Britain, the
        last line of a name and kind alone, and the kind with the largest sum.
    """
    from mtbias.english.people import EXAMPLE_NAMES, matchings, read_names
    from mtbias.files.writing import signature_line, write_atomic
    from mtbias.report.tables import columns

    listed = read_names(names or EXAMPLE_NAMES, as_published=as_published)
    matched = matchings(listed.names, max_names=max_names)
    pairs = chain.from_iterable(matching.pairs for matching in matched)
    write_atomic(out, map("\t".join, pairs))
    options: dict[str, object] = {"list": "given" if names else "example", "max-names": max_names}
    options |= {"reading": "published"} if as_published else {}
    result = {
        "matched": [
            {"names": group.group, "pairs": len(group.pairs), "distance": group.distance}
            for group in matched
        ],
        "out": str(out),
        "signature": signature_line(
            "coref:match-names", {"names": {"names": listed.sha256}}, options
        ),
    }
    rows = [[group.group, f"{len(group.pairs):,}", f"{group.distance:,.4f}"] for group in matched]
    text = columns(["names", "pairs", "distance"], rows)
    show(result, f"{text}Out: {escaped(str(out))}\n", json=json)
