"""Persons of translations, with every word that shows their gender: the labels of
``tests/whole_person`` beside the texts that they name.

``tests/whole_person/README.md`` has the conventions and the names of the texts, which are public
data and no part of mtbias.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, cast

from mtbias.files.reading import Record, read_table
from mtbias.translate.bitext import SEPARATOR
from mtbias.types import Gender, Span, frozen
from scripts.labelled import files_of, lines_of, named_entity, require_data

FILES = files_of("whole_person")
COLUMNS = ("text", "start", "entity", "gender", "outcome", "right", "wrong", "part", "note")
GENDERS = {"m": Gender.MALE, "f": Gender.FEMALE}
SECOND_SENTENCE = " <sep> "
"""Between the two English sentences of MT-GenEval's contextual part."""

LabelledOutcome = Literal["right", "mixed", "wrong", "none"]
Part = Literal["dev", "unread"]


@frozen
class LabelledPerson:
    """One person of one translation."""

    text: str
    """The name of the text, as in ``context-flipped-17``."""
    source: str
    target: str
    entity: Span
    """The characters of the source that name the person."""
    gender: Gender
    """By the source."""
    outcome: LabelledOutcome
    right: tuple[str, ...]
    """The words of the translation that show this gender, in the order in which they stand."""
    wrong: tuple[str, ...]
    """Those that show the other gender, in their order."""
    part: Part
    note: str
    line: int
    """Of the file of labels, from 1."""


def read_labels(file: Path, data: Path) -> list[LabelledPerson]:
    """The labelled persons of a language's file, in its order; `data` is the folder of the public
    texts.

    Raises:
        DataError: a text is missing; a label does not fit its text.
    """
    require_data(data)
    return [_person(record, data) for record in read_table(file, *COLUMNS).records]


def _person(record: Record, data: Path) -> LabelledPerson:
    source, target = _text(record, data)
    entity = named_entity(record, source)
    right, wrong = _words(record, "right", target), _words(record, "wrong", target)
    outcome = expected_outcome(right, wrong)
    if record.get("outcome") != outcome:
        got = record.get("outcome")
        raise record.error(f"expected the outcome {outcome!r} of these words, got {got!r}")
    gender, part = record.get("gender"), record.get("part")
    if gender not in GENDERS:
        raise record.error(f"expected the gender m or f, got {gender!r}")
    if part not in {"dev", "unread"}:
        raise record.error(f"expected the part dev or unread, got {part!r}")
    return LabelledPerson(
        text=record.get("text"),
        source=source,
        target=target,
        entity=entity,
        gender=GENDERS[gender],
        outcome=outcome,
        right=right,
        wrong=wrong,
        part=cast("Part", part),
        note=record.get("note"),
        line=record.line,
    )


def expected_outcome(right: tuple[str, ...], wrong: tuple[str, ...]) -> LabelledOutcome:
    """What follows from the words of the right gender and from those of the wrong one."""
    if right and wrong:
        return "mixed"
    if right:
        return "right"
    return "wrong" if wrong else "none"


def _words(record: Record, column: str, target: str) -> tuple[str, ...]:
    words = tuple(word for word in record.get(column).split("|") if word)
    position = 0
    for word in words:
        # An article with an apostrophe (un'abile) ends where the next word begins.
        behind = "" if word.endswith(("'", "’")) else r"(?!\w)"
        found = re.compile(rf"(?<!\w){re.escape(word)}{behind}").search(target, position)
        if found is None:
            raise record.error(f"{column}: expected {word!r} in the translation, in this order")
        position = found.end()
    return words


def _text(record: Record, data: Path) -> tuple[str, str]:
    """Source and translation of the text that a label names."""
    name, lang = record.get("text"), record.path.stem
    file, _, number = name.rpartition("-")
    if not re.fullmatch(r"(bug|context|winomt)-.+-[1-9]\d*", name):
        raise record.error(f"expected a text like bug-llama-123, got {name!r}")
    row = int(number) - 1
    pairs = _pairs(file, lang, data)
    try:
        if not file.startswith("winomt"):
            return pairs[row]
        # A system's file need not have all rows of the corpus.
        source = lines_of(data / "winomt" / "en.txt")[row].split("\t")[2]
        return source, dict(pairs)[source]
    except (IndexError, KeyError):
        raise record.error(f"expected a row of the public data, got {name!r}") from None


@cache
def _pairs(file: str, lang: str, data: Path) -> list[tuple[str, str]]:
    """Sources and translations of a file that labels name (``context-flipped``), line by line."""
    corpus, _, kind = file.partition("-")
    if corpus == "context":
        stem = f"{data}/mtgeneval/context/geneval-context-wikiprofessions"
        sources = lines_of(Path(f"{stem}-2to1-test.en_{lang}.en"))
        targets = lines_of(Path(f"{stem}-{kind}-test.en_{lang}.{lang}"))
        return list(zip(sources, targets, strict=True))
    lines = lines_of(data / corpus / "translations" / kind / f"en-{lang}.txt")
    parts = [line.partition(SEPARATOR) for line in lines]
    return [(source, target) for source, _, target in parts]


def texts_beside(
    lang: str, data: Path, persons: Iterable[LabelledPerson], lines: int
) -> list[tuple[str, str]]:
    """Sources and translations of the files that labelled persons come from, the first `lines` of
    each; of MT-GenEval the second sentences.
    """
    texts: list[tuple[str, str]] = []
    for file in sorted({person.text.rpartition("-")[0] for person in persons}):
        for source, target in _pairs(file, lang, data)[:lines]:
            if source:
                texts.append((source.rpartition(SECOND_SENTENCE)[2], target))
    return texts
