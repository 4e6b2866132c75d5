"""``mtbias coref counterfactual``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mtbias.cli.coref_shared import FirstNames, counts_text, show
from mtbias.cli.shared import Flag, Json
from mtbias.files.signatures import signature_line
from mtbias.files.writing import write_atomic

_SHOWN = 5


def command(
    *, data: Path, out: Path, names: FirstNames = None, leave_out_ambiguous: Flag = False, json: Json = False
) -> None:
    """Make Counter-GAP's quadruples: for each instance its control and its two gender-swapped counterfactuals.

    The two people of the other gender are those of the columns C and D where there are such, else the first two names
    of that gender that --names lists and the text has, else names of the list that are like those of A and B. Offsets
    in the output are those of the new texts. A "her" that may be "him" or "his" is a guess where both are usual: these
    are counted and named.

    Parameters
    ----------
    data
        The original instances: a TSV file of GAP's columns (ID, Text, Pronoun, Pronoun-offset, A, A-offset, A-coref, B,
        B-offset, B-coref; others are carried along), with or without quoting.
    out
        The quadruples to write (quoted TSV).
    leave_out_ambiguous
        Leave out quadruples with a guess.
    """
    from mtbias.coref.augmentation import EXAMPLE_NAMES, read_names
    from mtbias.coref.counterfactual_quadruples import make_quadruples
    from mtbias.coref.gap_data import read_instances, write_instances

    file = read_instances(data)
    first_names = read_names(names or EXAMPLE_NAMES)
    found = make_quadruples(file, first_names)
    kept = [made for made in found.made if not (leave_out_ambiguous and made.ambiguous)]
    text = write_instances((instance for made in kept for instance in made.instances), file.columns)
    write_atomic(out, text.encode("utf-8"))
    where = Counter(made.others.where for made in kept)
    result: dict[str, Any] = {
        "instances": len(file.instances),
        "counterfactuals_passed_over": len(file.instances) - len(found.made) - len(found.failed),
        "quadruples": len(kept),
        "could_not_be_made": found.failed,
        "other_people": {
            "of_the_columns_C_and_D": where["given"],
            "of_the_text": where["text"],
            "of_the_list": where["list"],
        },
        "gendered_words_swapped": sum(made.words for made in kept),
        "names_of_others_left": found.names_left,
        "ambiguous": [(made.instances[0].id, place) for made in found.made for place in made.ambiguous],
        "out": str(out),
        "signature": signature_line(
            "coref:counterfactual",
            {"data": {data.name: file.sha256}, "names": {"names": first_names.sha256}},
            {
                "list": "given" if names else "example",
                "ambiguous": "left-out" if leave_out_ambiguous else "kept",
            },
        ),
    }
    counts = {
        "instances": len(file.instances),
        "counterfactuals passed over": result["counterfactuals_passed_over"],
        "could not be made": len(found.failed),
        "quadruples written": len(kept),
        "  other people of the columns C and D": where["given"],
        "  other people of the text": where["text"],
        "  other people of the list": where["list"],
        "gendered words swapped in each of two counterfactuals": result["gendered_words_swapped"],
        "texts in which a further name of the list stays": found.names_left,
        "her or his that may be read either way": len(result["ambiguous"]),
    }
    notes = [f"not made: {reason}" for reason in _some(found.failed)]
    notes += [f"ambiguous: {place}" for place in _some([f"{id_}: …{text}…" for id_, text in result["ambiguous"]])]
    show(result, counts_text(counts, notes, out), json=json)


def _some(places: Sequence[str]) -> list[str]:
    more = len(places) - _SHOWN
    return [*places[:_SHOWN], *([f"… and {more} more (--json lists all)"] if more > 0 else [])]
