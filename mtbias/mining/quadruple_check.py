"""What annotators' marks say of Counter-GAP's quadruples: which stay, and with which labels.

An annotator marks the names of the person whom the pronoun means. A candidate is TRUE where a mark
overlaps a place of its name. Of several annotators the majority counts, for either
candidate by itself. A quadruple is kept where its four instances have the same labels, everybody
has read them, and the majority calls none of them contradictory and no person in them real.

The agreement is the mean over instances of the share of annotators who give the majority's two
labels: 2 of 3 agree in two thirds.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), sections 2.2 and 2.3,
footnotes 7 and 8, and appendix B. They do not say how many annotators must call a text
contradictory, nor how real people were found: here it is the majority, and a list of names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

from mtbias.coref.counter_gap import (
    Quadruple,
    count_by_gender,
    quadruples,
    write_quadruples,
)
from mtbias.coref.gap_data import GapInstance, Labels, read_instances
from mtbias.english.people import bare_name
from mtbias.errors import SettingError
from mtbias.files.reading import Record, TextFile, parse_table, read_text
from mtbias.files.writing import signature_line
from mtbias.mining.corpus_check import hashes_of_readers
from mtbias.stats.results import percent_of
from mtbias.types import Span, frozen

MARKS = ("ID", "spans", "problem")
"""The columns of a file of marks."""
CONTRADICTS, REAL = "contradiction", "real person"
"""What an annotator may say against a text."""
PROBLEMS = ("", CONTRADICTS, REAL, f"{CONTRADICTS}, {REAL}")
REASONS = (
    "not read by all annotators",
    "contradicts common knowledge",
    "labels of the four differ",
    "names a real person",
)
"""Why a quadruple is dropped, in the order in which it is asked; the first counts."""
_SPAN = re.compile(r"(\d+)-(\d+)")


@frozen
class Marks:
    """What an annotator marked in a text, and has against it."""

    spans: tuple[Span, ...]
    """Names of the person whom the pronoun means; none: the text does not name it."""
    contradicts: bool
    real: bool


def read_marks(path: Path) -> tuple[TextFile, dict[str, Marks]]:
    """The marks of an annotator by id, as the page has saved them: a TSV with `MARKS`.

    Raises:
        DataError: no such file, or another one; a span that is not a ``start-end``; an unknown
            problem; an id twice.
    """
    file = read_text(path)
    table = parse_table(file)
    table.require(*MARKS)
    by_id: dict[str, Marks] = {}
    for record in table.records:
        id_, problem = record.get("ID"), record.get("problem")
        if problem not in PROBLEMS:
            raise record.error(f"problem: expected {', '.join(PROBLEMS[1:])}, got {problem!r}")
        if id_ in by_id:
            raise record.error(f"the id {id_!r} occurs twice; ids must differ")
        spans = tuple(_span(text, record) for text in record.get("spans").split())
        by_id[id_] = Marks(spans, CONTRADICTS in problem, REAL in problem)
    return file, by_id


def _span(text: str, record: Record) -> Span:
    match = _SPAN.fullmatch(text)
    if not match or int(match[1]) >= int(match[2]):
        raise record.error(f"spans: expected start-end, such as 4-9, got {text!r}")
    return Span(int(match[1]), int(match[2]))


def labels_of(instance: GapInstance, marks: Marks) -> Labels:
    """The labels that marks give: a candidate is TRUE where a mark overlaps its name."""
    a, b = (_overlaps(_places(instance, name), marks.spans) for name in instance.names)
    return Labels(a, b)


def _overlaps(places: Sequence[Span], spans: Sequence[Span]) -> bool:
    return any(place.overlaps(span) for place, span in product(places, spans))


def _places(instance: GapInstance, name: str) -> list[Span]:
    """Where the name of a candidate occurs as words, other than in the other candidate's longer
    name.
    """
    longer = [other for other in instance.names if name != other and name in other]
    pattern = rf"(?<![^\W_]){re.escape(bare_name(name))}(?![^\W_])"
    taken: list[Span] = []
    for other in longer:
        taken += _places(instance, other)
    places = [Span(*match.span()) for match in re.finditer(pattern, instance.text)]
    return [place for place in places if not _overlaps([place], taken)]


# Quadruples


@frozen
class MajorityAgreement:
    """How many annotators give the majority's labels."""

    name: str
    texts: int
    annotators: int
    """Of each text."""
    agreed: float | None
    """In per cent: see the module; None where there are no texts."""


@frozen
class CheckedQuadruples:
    """What annotators say of a file of quadruples."""

    quadruples: int
    dropped: Mapping[str, int]
    """Quadruples by `REASONS`."""
    kept: int
    kept_by_gender: Mapping[str, int]
    """By the gender of the original's pronoun."""
    agreement: MajorityAgreement
    """Over the instances of the quadruples that are kept."""
    unknown: int
    """Marks on texts that the file does not have."""
    lost: Sequence[str]
    """Each dropped quadruple with its reason."""
    out: Path | None
    signature: str


def check_quadruples(
    data: Path, marks: Sequence[Path], out: Path | None = None, people: Path | None = None
) -> CheckedQuadruples:
    """What the annotators' `marks` say of the quadruples in `data`.

    Args:
        data: a file of quadruples, whose labels may be empty.
        marks: a file for each annotator; an odd number of them.
        out: where the quadruples that are kept are written, with the majority's labels; None:
            nowhere.
        people: names of real people, one a line; a quadruple whose original has one is dropped.

    Raises:
        DataError: what the readers raise; the marks are on no text of the file, or end behind
            one; a file of marks is given twice.
        SettingError: an even number of annotators, of whom there is not always a majority.
    """
    if len(marks) % 2 == 0:
        raise SettingError(
            "judgements", f"expected an odd number of annotators, got {len(marks)}: no majority"
        )
    file = read_instances(data, labelled=False)
    read = [read_marks(path) for path in marks]
    known = {instance.id for instance in file.instances}
    for marks_file, marks_of in read:
        if known.isdisjoint(marks_of):
            raise marks_file.error(
                "expected marks on texts of this file, got none; give its own --data"
            )
        _require_within(marks_file, marks_of, file.instances)
    annotators = [marks_of for _, marks_of in read]
    names = _real_names(people)
    accepted: list[Quadruple] = []
    lost: dict[str, str] = {}
    for quadruple in quadruples(file):
        reason = _reason(quadruple, annotators, names)
        if reason:
            lost[quadruple.id] = reason
        else:
            accepted.append(_labelled(quadruple, annotators))
    if out:
        write_quadruples(out, accepted, file.columns)
    files = {
        "data": {data.name: file.sha256},
        "judgements": hashes_of_readers([one for one, _ in read]),
        "people": {} if people is None else {people.name: read_text(people).sha256},
    }
    reasons = Counter(lost.values())
    return CheckedQuadruples(
        quadruples=len(accepted) + len(lost),
        dropped={reason: reasons[reason] for reason in REASONS},
        kept=len(accepted),
        kept_by_gender=count_by_gender(accepted),
        agreement=_agreement(accepted, annotators),
        unknown=len(set(chain.from_iterable(annotators)) - known),
        lost=[f"{id_}: {reason}" for id_, reason in lost.items()],
        out=out,
        signature=signature_line("check:quadruples", files, {"annotators": len(annotators)}),
    )


def _require_within(
    file: TextFile, marks: Mapping[str, Marks], instances: Sequence[GapInstance]
) -> None:
    """Raise DataError where a mark ends behind its text: it is one of another text."""
    for instance in instances:
        spans = marks[instance.id].spans if instance.id in marks else ()
        if (end := max((span.end for span in spans), default=0)) > len(instance.text):
            length = len(instance.text)
            message = f"spans of {instance.id!r}: expected ends up to {length}, got {end}"
            raise file.error(f"{message}; give the --data that was marked")


def _real_names(path: Path | None) -> list[str]:
    if path is None:
        return []
    return [line.strip() for _, line in read_text(path).filled_lines()]


Annotators = Sequence[Mapping[str, Marks]]


def _reason(quadruple: Quadruple, annotators: Annotators, names: Sequence[str]) -> str:
    """Why a quadruple is dropped; empty where it is kept."""
    unread, contradicts, differ, real = REASONS
    marks = [_marks_on(instance.id, annotators) for instance in quadruple.instances]
    if min(map(len, marks)) < len(annotators):
        return unread
    if any(map(_most_say_contradiction, marks)):
        return contradicts
    labels = {_majority(instance, annotators) for instance in quadruple.instances}
    if len(labels) > 1:
        return differ
    if _names_one_of(quadruple.instances[0].text, names) or any(map(_most_say_real, marks)):
        return real
    return ""


def _marks_on(id_: str, annotators: Annotators) -> list[Marks]:
    """Those of the annotators who have read the text."""
    return [marks[id_] for marks in annotators if id_ in marks]


def _names_one_of(text: str, names: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _most_say_real(marks: Sequence[Marks]) -> bool:
    return _most([one.real for one in marks])


def _most_say_contradiction(marks: Sequence[Marks]) -> bool:
    return _most([one.contradicts for one in marks])


def _most(votes: Sequence[bool]) -> bool:
    """Whether more than half of the votes are yes."""
    return 2 * sum(votes) > len(votes)


def _votes(instance: GapInstance, annotators: Annotators) -> list[Labels]:
    return [labels_of(instance, marks[instance.id]) for marks in annotators]


def _majority(instance: GapInstance, annotators: Annotators) -> Labels:
    votes = _votes(instance, annotators)
    return Labels(_most([bool(vote.a) for vote in votes]), _most([bool(vote.b) for vote in votes]))


def _labelled(quadruple: Quadruple, annotators: Annotators) -> Quadruple:
    """The quadruple with the majority's labels."""
    original, control, swap_1, swap_2 = (
        replace(instance, gold=_majority(instance, annotators)) for instance in quadruple.instances
    )
    return replace(quadruple, instances=(original, control, swap_1, swap_2))


def _agreement(accepted: Sequence[Quadruple], annotators: Annotators) -> MajorityAgreement:
    agreed = votes = texts = 0
    for quadruple in accepted:
        for instance in quadruple.instances:
            labels = _votes(instance, annotators)
            agreed += labels.count(instance.gold)
            votes += len(labels)
            texts += 1
    share = percent_of(agreed, votes)
    return MajorityAgreement("with the majority", texts, len(annotators), share)
