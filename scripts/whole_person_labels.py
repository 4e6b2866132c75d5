"""Persons of translations, with every word that shows their gender: the labels of
``tests/whole_person`` beside the texts that they name.

The texts are public data and no part of mtbias: they are read from the folder ``data`` of the one
that ``MTBIAS_SHARED`` names. ``tests/whole_person/README.md`` has the conventions and the names of
the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

from mtbias.errors import DataError
from mtbias.files.reading import Record, read_table, read_text, split_lines
from mtbias.translate.bitext import SEPARATOR
from mtbias.types import Gender, Span

FILES = Path(__file__).resolve().parent.parent / "tests" / "whole_person"
LANGUAGES = ("de", "es", "it", "ru")
COLUMNS = ("text", "start", "entity", "gender", "outcome", "right", "wrong", "part", "note")
GENDERS = {"m": Gender.MALE, "f": Gender.FEMALE}
SECOND_SENTENCE = " <sep> "
"""Between the two English sentences of MT-GenEval's contextual part."""

LabelledOutcome = Literal["right", "mixed", "wrong", "none"]
Part = Literal["dev", "unread"]


@dataclass(frozen=True, slots=True)
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


def read_labels(lang: str, data: Path, files: Path = FILES) -> list[LabelledPerson]:
    """The labelled persons of a language, in the order of its file in the folder `files`; `data` is
    the folder of the public texts.

    Raises:
        DataError: no labels for this language; a text is missing; a label does not fit its text.
    """
    if lang not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise DataError(f"expected a language that has labels ({known}), got {lang!r}")
    if not data.is_dir():
        raise DataError(
            "expected the public data here; name its parent folder with MTBIAS_SHARED", path=data
        )
    table = read_table(files / f"{lang}.tsv", *COLUMNS)
    return [_person(record, lang, data) for record in table.records]


def _person(record: Record, lang: str, data: Path) -> LabelledPerson:
    source, target = _text(record, lang, data)
    start, entity = record.integer("start"), record.get("entity")
    if not source.startswith(entity, start):
        found = source[start : start + len(entity)]
        raise record.error(f"expected {entity!r} at {start} of the source, got {found!r}")
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
        entity=Span(start, start + len(entity)),
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


def _text(record: Record, lang: str, data: Path) -> tuple[str, str]:
    """Source and translation of the text that a label names."""
    name = record.get("text")
    corpus, _, rest = name.partition("-")
    kind, _, number = rest.rpartition("-")
    if corpus not in {"bug", "context", "winomt"} or not re.fullmatch(r"[1-9]\d*", number):
        raise record.error(f"expected a text like bug-llama-123, got {name!r}")
    row = int(number) - 1
    try:
        if corpus == "bug":
            source, _, target = _lines(data / f"bug/translations/{kind}/en-{lang}.txt")[
                row
            ].partition(SEPARATOR)
            return source, target
        if corpus == "context":
            stem = f"{data}/mtgeneval/context/geneval-context-wikiprofessions"
            sources = _lines(Path(f"{stem}-2to1-test.en_{lang}.en"))
            return sources[row], _lines(Path(f"{stem}-{kind}-test.en_{lang}.{lang}"))[row]
        source = _lines(data / "winomt/en.txt")[row].split("\t")[2]
        return source, _translations(data / f"winomt/translations/{kind}/en-{lang}.txt")[source]
    except (IndexError, KeyError):
        raise record.error(f"expected a row of the public data, got {name!r}") from None


def texts_beside(
    lang: str, data: Path, persons: Iterable[LabelledPerson], lines: int
) -> list[tuple[str, str]]:
    """Sources and translations of the files that labelled persons come from, the first `lines` of
    each; of MT-GenEval the second sentences.
    """
    files = {person.text.rpartition("-")[0] for person in persons}
    found: list[tuple[str, str]] = []
    for file in sorted(files):
        corpus, _, kind = file.partition("-")
        if corpus == "context":
            stem = f"{data}/mtgeneval/context/geneval-context-wikiprofessions"
            sources = _lines(Path(f"{stem}-2to1-test.en_{lang}.en"))[:lines]
            targets = _lines(Path(f"{stem}-{kind}-test.en_{lang}.{lang}"))[:lines]
            seconds = [source.partition(SECOND_SENTENCE)[2] for source in sources]
            found += zip(seconds, targets, strict=True)
        else:
            folder = "bug" if corpus == "bug" else "winomt"
            rows = _lines(data / f"{folder}/translations/{kind}/en-{lang}.txt")[:lines]
            pairs = (row.partition(SEPARATOR) for row in rows if row)
            found += [(source, target) for source, _, target in pairs]
    return found


@cache
def _lines(path: Path) -> list[str]:
    return split_lines(read_text(path).text)


@cache
def _translations(path: Path) -> dict[str, str]:
    """Translation by source; a system's file need not have all rows of the corpus."""
    pairs = (line.partition(SEPARATOR) for line in _lines(path))
    return {source: target for source, _, target in pairs}
