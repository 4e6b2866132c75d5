"""The measure of whole persons: persons that were labelled word by word.

The labels are those of ``tests/whole_person``, whose README has the conventions and names the texts,
which are public data and no part of mtbias: they are read from the folder that ``MTBIAS_SHARED``
names (default ``../shared``). The persons of a part are aligned together with `BITEXT` further lines
of each file of translations that they come from, as they would be in a run.

Of the persons it prints, with the rows that are the denominator:

- called: the measure has a call, of all;
- precision: the label is wrong or mixed, of those that the measure calls wrong or mixed;
- recall: the measure calls wrong or mixed, of those with such a label;
- same: the call is the label, of those that have both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from mtbias.align import StatisticalAligner
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.evaluation.person_calls import PersonMeasure
from mtbias.files.text_repair import repair
from mtbias.morphology.english_parser import EnglishParser
from mtbias.morphology.stanza_models import PARSER, find_package
from mtbias.scoring.whole_person import Outcome, PersonRecord
from mtbias.types import Instance, Span, Stereotype
from scripts.label_sets.whole_person_labels import (
    FILES,
    SECOND_SENTENCE,
    LabelledPerson,
    read_labels,
    texts_beside,
)
from scripts.labelled import (
    PART,
    Chosen,
    Counts,
    line_of,
    share,
    shared_data,
    shipped_language,
    stanza_of,
)

BITEXT = 500
"""Lines of a file that help the aligner."""
BAD = frozenset((Outcome.MIXED, Outcome.WRONG))

Part = Literal["dev", "unread", "all"]
Rows = Sequence[tuple[LabelledPerson, PersonRecord]]


def instance_of(person: LabelledPerson, row: int) -> Instance:
    """The person as a corpus has it; of MT-GenEval's two sentences the second."""
    before, separator, second = person.source.partition(SECOND_SENTENCE)
    source, shift = (second, len(before + separator)) if separator else (person.source, 0)
    start, end = person.entity
    head = Span(start - shift, end - shift)
    return Instance(
        id=f"{person.text}@{start}",
        row=row,
        source=source,
        head=head,
        entity=source[slice(*head)].lower(),
        gold=person.gender,
        stereotype=Stereotype.NONE,
        domain=re.sub(r"-\d+$", "", person.text),
        pronouns=None,
    )


def measure_of(lang: str, stanza_dir: Path) -> PersonMeasure:
    """The measure, with the language as the checkout has it."""
    analyser = stanza_of(lang, stanza_dir)
    gender = GenderMeasure(shipped_language(lang), StatisticalAligner(), analyser)
    parser = EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")
    return PersonMeasure(gender, parser)


def judge(lang: str, persons: Sequence[LabelledPerson], stanza_dir: Path, data: Path) -> Rows:
    """Labelled persons with what the measure says of them, in their order."""
    instances = [instance_of(person, row) for row, person in enumerate(persons)]
    # As `mtbias eval` reads translations.
    translations = [repair(person.target).text for person in persons]
    bitext = texts_beside(lang, data, persons, BITEXT)
    records = measure_of(lang, stanza_dir).judge_texts(instances, translations, bitext)
    return list(zip(persons, records, strict=True))


def count(rows: Rows) -> Counts:
    """(rows, of rows) by the names of the module's docstring."""
    called = [(p, r) for p, r in rows if r.outcome is not None]
    return {
        "called": (len(called), len(rows)),
        "precision": share(p.outcome in BAD for p, r in called if r.outcome in BAD),
        "recall": share(r.outcome in BAD for p, r in rows if p.outcome in BAD),
        "same": share(p.outcome == r.outcome for p, r in called if p.outcome != "none"),
    }


def describe(person: LabelledPerson, record: PersonRecord) -> str:
    """One row on which label and call differ."""
    target = record.translation or ""
    right, wrong = ("|".join(words) for words in (person.right, person.wrong))
    label = f"label {person.outcome} (right {right}; wrong {wrong})"
    got = f"got {record.outcome or record.reason}"
    lines = [
        f"{record.id} {person.gender}: {label}; {got} {person.note}",
        f"    {record.source}",
        f"    {target}",
    ]
    for mention in record.mentions:
        found = " ".join(target[slice(*span)] for span in mention.target) or "–"
        shown = ", ".join(
            f"{word.word} {word.gender} ({word.rule} {word.shows})" for word in mention.words
        )
        lines.append(
            f"      {mention.kind} {mention.mention} → {found}: {shown or mention.reason or '='}"
        )
    return "\n".join(lines)


def whole_person(choice: Chosen, *, part: Annotated[Part, PART] = "dev") -> int:
    """Persons that were labelled word by word (tests/whole_person); English models are needed."""
    listed: list[tuple[LabelledPerson, PersonRecord]] = []

    def run(code: str) -> None:
        data = shared_data()
        persons = [p for p in read_labels(FILES[code], data) if part in (p.part, "all")]
        rows = judge(code, persons, choice.stanza_dir, data)
        listed.extend(rows)
        choice.show(
            line_of(code, count(rows), intervals=True),
            [describe(p, r) for p, r in rows if p.outcome != (r.outcome or "none")],
        )

    status = choice.each(FILES, run)
    print(line_of("all", count(listed), intervals=True))
    return status
