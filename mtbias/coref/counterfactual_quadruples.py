"""The control and the two gender-swapped counterparts of an instance of GAP's kind, as in Counter-GAP.

The original has a pronoun and two candidates A and B of one gender; C and D are two people of the other gender, in the
text or not. The control exchanges A with B and C with D. The first swap exchanges A with C and B with D, the second A
with D and B with C; both swap all gendered words of the text too. Offsets are those of the new text.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mtbias.coref.augmentation import MadeFile
from mtbias.coref.counter_gap import ROLES
from mtbias.coref.gap_data import GapInstance, gender_of, read_instances, write_instances
from mtbias.english.first_names import EXAMPLE_NAMES, NameList, read_names
from mtbias.english.gender_swap import Edit, apply_edits, swap_words, tokenize
from mtbias.errors import DataError
from mtbias.files.writing import signature_line, write_atomic
from mtbias.types import Gender

OTHERS = ("C", "D")
"""Columns of the input that may name the two people of the other gender."""


class Others(NamedTuple):
    """The two people of the other gender."""

    c: str
    d: str
    where: str
    """``given``, ``text`` (both stand in it), ``list`` (one or both were chosen from the list of names)."""


class Rewritten(NamedTuple):
    """An instance that was made from another, and how."""

    instance: GapInstance
    words: int
    """Gendered words that were swapped."""
    ambiguous: tuple[str, ...]
    """Each *her* whose reading was a guess, with a few characters around it."""


class Made(NamedTuple):
    """A quadruple: original, control, swap-1, swap-2; and what the swaps, which are alike in it, did with words."""

    instances: tuple[GapInstance, ...]
    swap: Rewritten


def make_quadruple(instance: GapInstance, others: Others) -> Made:
    """The quadruple of an original; ids are the original's with -control, -swap-1, -swap-2.

    Where the file has the columns C and D, they are exchanged too.

    Raises:
        DataError: the pronoun is none of he, him, his, she, her, hers; the four names are not all different; A, B or
            the pronoun is not a word of its own at its offset.
    """
    gender_of(instance)
    a, b, c, d = instance.a, instance.b, others.c, others.d
    if len({a, b, c, d}) < 4 or not all((a, b, c, d)):
        raise DataError(f"{instance.id}: expected four different names, got {a!r}, {b!r}, {c!r}, {d!r}")
    exchanges = {a: b, b: a, c: d, d: c}, {a: c, b: d, c: a, d: b}, {a: d, b: c, c: b, d: a}
    made = [rewrite(instance, names, swap_gender=n > 0) for n, names in enumerate(exchanges)]
    rest = (replace(one.instance, id=instance.id + role) for one, role in zip(made, ROLES[1:], strict=True))
    return Made((instance, *rest), made[1])


def write_quadruples(
    data: Path, out: Path, names: Path | None = None, *, leave_out_ambiguous: bool = False
) -> MadeFile:
    """Write the quadruples of the `originals` in the file `data` to `out`, as Counter-GAP's file has them.

    Args:
        data: a file of GAP's columns.
        out: the file to write.
        names: first names; None: the list that comes with mtbias.
        leave_out_ambiguous: without quadruples in which *her* or *his* is a guess.

    Raises:
        DataError: what the readers raise; none can be made.
    """
    file, listed = read_instances(data), read_names(names or EXAMPLE_NAMES)
    made: list[tuple[Made, Others]] = []
    failed: list[str] = []
    for instance in originals(file.instances):
        try:
            others = choose_others(instance, listed)
            made.append((make_quadruple(instance, others), others))
        except DataError as error:
            failed.append(str(error))
    if not made:
        raise DataError(f"no quadruple could be made; the first reason: {failed[0]}", path=data)
    kept = [(one, others) for one, others in made if not (leave_out_ambiguous and one.swap.ambiguous)]
    text = write_instances((instance for one, _ in kept for instance in one.instances), file.columns)
    write_atomic(out, text.encode("utf-8"))
    where = Counter(others.where for _, others in kept)
    ambiguous = [f"{one.instances[0].id}: …{place}…" for one, _ in made for place in one.swap.ambiguous]
    n = len(file.instances)
    counts = {
        "instances": n,
        "counterfactuals passed over": n - len(made) - len(failed),
        "could not be made": len(failed),
        "quadruples written": len(kept),
        "  other people of the columns C and D": where["given"],
        "  other people of the text": where["text"],
        "  other people of the list": where["list"],
        "gendered words swapped in each of two counterfactuals": sum(one.swap.words for one, _ in kept),
        "texts in which a further name of the list stays": sum(
            bool(left_names(one.instances[0], others, listed)) for one, others in made
        ),
        "her or his that may be read either way": len(ambiguous),
    }
    options = {"list": "given" if names else "example", "ambiguous": "left-out" if leave_out_ambiguous else "kept"}
    files = {"data": {data.name: file.sha256}, "names": {"names": listed.sha256}}
    return MadeFile(counts, ambiguous, str(out), signature_line("coref:counterfactual", files, options), failed)


def originals(instances: Sequence[GapInstance]) -> list[GapInstance]:
    """The instances without those that were made (-control, -swap-1, -swap-2) from another one among them."""
    made = {instance.id + role for instance in instances for role in ROLES[1:]}
    return [instance for instance in instances if instance.id not in made]


def rewrite(instance: GapInstance, names: Mapping[str, str], *, swap_gender: bool) -> Rewritten:
    """Replace the names in `names` wherever they stand as words, and with `swap_gender` all gendered words.

    The longest name counts where one begins with another; names themselves are never swapped as words. A name is
    replaced as it is spelt, a word with its capitals; the "'s" behind a name stays.

    Raises:
        DataError: A, B or (with `swap_gender`) the pronoun is not a word of its own at its offset.
    """
    text = instance.text
    mentions = _mentions(text, names)
    words, ambiguous = _gendered(text, mentions) if swap_gender else ([], [])
    edits = [*mentions, *words]
    new_text, moved = apply_edits(text, edits)

    def at(word: str, offset: int, what: str) -> tuple[str, int]:
        place = (offset, offset + len(word))
        if place in moved:
            return moved[place]
        if what == "pronoun" and not swap_gender:  # it stays, and moves with the text
            return word, offset + sum(len(e.new) - (e.end - e.start) for e in edits if e.end <= offset)
        where = f"{instance.id}: {what} {word!r} at {offset}"
        raise DataError(f"{where} is part of a longer word or name; it cannot be replaced")

    a, a_offset = at(instance.a, instance.a_offset, "A")
    b, b_offset = at(instance.b, instance.b_offset, "B")
    pronoun, pronoun_offset = at(instance.pronoun, instance.pronoun_offset, "pronoun")
    others = {column: names.get(text, text) if column in OTHERS else text for column, text in instance.others.items()}
    new = replace(
        instance, text=new_text, pronoun=pronoun, pronoun_offset=pronoun_offset, a=a, a_offset=a_offset, b=b,
        b_offset=b_offset, others=others,
    )  # fmt: skip
    return Rewritten(new, len(words), tuple(ambiguous))


def _mentions(text: str, names: Mapping[str, str]) -> list[Edit]:
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found = re.finditer(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])", text)
    return [Edit(m.start(), m.end(), names[m[0]]) for m in found]


def _gendered(text: str, mentions: Sequence[Edit]) -> tuple[list[Edit], list[str]]:
    """The gendered words outside names; and the ambiguous ones with some of the text around."""
    tokens = tokenize(text)
    inside = {offset for m in mentions for offset in range(m.start, m.end)}
    fixed = {n for n, token in enumerate(tokens) if token.start in inside}
    edits, ambiguous = [], []
    for swap in swap_words([token.text for token in tokens], fixed=fixed):
        token = tokens[swap.index]
        edits.append(Edit(token.start, token.end, swap.new))
        if swap.ambiguous:
            ambiguous.append(text[max(0, token.start - 15) : token.end + 25])
    return edits, ambiguous


def choose_others(instance: GapInstance, names: NameList) -> Others:
    """Two people of the gender that A and B do not have.

    Those of the columns C and D, where the file has them and they are filled; else the first two names of that gender
    on the list that stand in the text; what is lacking is chosen from the list (`NameList.like`).

    Raises:
        DataError: the list has no free name left; the pronoun has no gender.
    """
    c, d = (instance.others.get(column, "").strip() for column in OTHERS)
    if c and d:
        return Others(c, d, "given")
    wanted = Gender.FEMALE if gender_of(instance) is Gender.MALE else Gender.MALE
    own = {word for person in (instance.a, instance.b) for word in person.split()}
    found = [
        word
        for word in dict.fromkeys(token.text for token in tokenize(instance.text))
        if names.gender.get(word) is wanted and word not in own
    ][:2]
    where = "text" if len(found) == 2 else "list"
    for person in (instance.a, instance.b)[len(found) :]:
        taken = " ".join([instance.text, *found])
        name = names.like(person, wanted, taken)
        if name is None:
            raise DataError(f"{instance.id}: the list has no {wanted} name that is not in the text; give a longer one")
        found.append(name)
    return Others(found[0], found[1], where)


def left_names(instance: GapInstance, others: Others, names: NameList) -> tuple[str, ...]:
    """Names of the list that stand in the text and belong to none of the four people: they stay, gender and all."""
    own = {word for person in (instance.a, instance.b, others.c, others.d) for word in person.split()}
    return tuple(dict.fromkeys(t.text for t in tokenize(instance.text) if t.text in names.gender and t.text not in own))
