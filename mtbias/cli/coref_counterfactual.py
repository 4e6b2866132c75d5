"""``mtbias coref counterfactual``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.coref_shared import FirstNames, show_made
from mtbias.cli.shared import Flag, Json


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
    from mtbias.coref.counterfactual_quadruples import write_quadruples

    show_made(write_quadruples(data, out, names, leave_out_ambiguous=leave_out_ambiguous), json=json)
