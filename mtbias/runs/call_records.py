"""The lines of `translations.jsonl` and `calls.jsonl`, and the text of `metrics.json`: fixed keys
in a fixed order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, TypeVar

from mtbias.errors import DataError
from mtbias.files.reading import input_bytes
from mtbias.files.strict_json import EXACT, decoded
from mtbias.types import (
    Evidence,
    Gender,
    GenderCall,
    GenderedWord,
    Instance,
    JsonDict,
    JsonObject,
    Reason,
    Span,
    Stereotype,
    Strategy,
    Translation,
    Trust,
    frozen,
)

T = TypeVar("T")


_KEYS = (
    "row", "source", "translation", "entity", "gold", "stereotype", "domain", "pronouns",
    "corpus_pronouns", "distance", "pair", "control",
)  # fmt: skip
"""The keys of a line that say what was asked and translated, in its order."""
_OF_SOME_CORPORA = frozenset({"corpus_pronouns"})
"""Of these, the keys that a line has only where its corpus has a value."""


@frozen
class CallRecord:
    """One line of `calls.jsonl`: the request, the system's output, and what was read from it.

    It has all that the scores need from an instance, so they can be computed again from the file.
    """

    row: int
    source: str
    translation: str | None
    entity: str
    gold: Gender | None
    stereotype: Stereotype
    domain: str
    pronouns: int | None
    call: GenderCall
    distance: int | None = None
    pair: str | None = None
    control: str | None = None
    corpus_pronouns: int | None = None

    @property
    def id(self) -> str:
        """The id of the instance."""
        return self.call.id

    def to_json(self) -> JsonDict:
        """The object of the line."""
        content = {name: getattr(self, name) for name in _KEYS}
        for name in _OF_SOME_CORPORA:
            if content[name] is None:
                del content[name]
        return {
            "id": self.id,
            **content,
            **call_json(self.call, self.translation),
            "stanza_gender": self.call.stanza_gender,
            "does": self.call.does,
            "edits": [
                {"word": e.word, "span": list(e.span), "known": e.known} for e in self.call.edits
            ],
            "basis": self.call.basis,
            "trust": self.call.trust,
        }

    @classmethod
    def from_line(cls, text: bytes | str) -> CallRecord:
        """The record of a line that `to_json` wrote.

        Raises:
            ValueError: it is something else.
        """
        line = decoded(_CallLine, text)
        call = replace(
            line.call(),
            stanza_gender=line.stanza_gender,
            does=line.does,
            edits=line.edits,
            basis=line.basis,
            trust=line.trust,
        )
        return cls(call=call, **{name: getattr(line, name) for name in _KEYS})


def call_record(instance: Instance, translation: Translation, call: GenderCall) -> CallRecord:
    """The record of an instance with its translation and its call."""
    same = {name: getattr(instance, name) for name in _KEYS if name != "translation"}
    return CallRecord(translation=translation.text, call=call, **same)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """A line of `calls.jsonl` with a gender call as it is decoded: these keys, each of its type."""

    __pydantic_config__: ClassVar = EXACT

    id: str
    row: int
    source: str
    translation: str | None
    entity: str
    gender: Gender | None
    reason: Reason | None
    target: list[str]
    target_spans: tuple[Span, ...]
    evidence: tuple[Evidence, ...]

    def call(self) -> GenderCall:
        """The call."""
        return GenderCall(self.id, self.gender, self.reason, self.target_spans, self.evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CallLine(CallLine):
    __pydantic_config__: ClassVar = EXACT

    gold: Gender | None
    stereotype: Stereotype
    domain: str
    pronouns: int | None
    distance: int | None
    pair: str | None
    control: str | None
    corpus_pronouns: int | None = None
    # runs of earlier releases have none of these
    stanza_gender: Gender | None = None
    does: Strategy | None = None
    edits: tuple[GenderedWord, ...] = ()
    basis: str | None = None
    trust: Trust | None = None


@frozen
class _TranslationLine:
    __pydantic_config__: ClassVar = EXACT
    id: str
    target: str | None
    reason: str | None
    raw: str | None = None


def join_records(
    instances: Iterable[Instance], translations: Iterable[Translation], calls: Iterable[GenderCall]
) -> Iterator[CallRecord]:
    """The records of a corpus in its order, with the translation and the call of each instance
    joined by id.
    """
    translated, called = {each.id: each for each in translations}, {each.id: each for each in calls}
    return (call_record(row, translated[row.id], called[row.id]) for row in instances)


def translation_to_json(translation: Translation) -> JsonDict:
    """The object of a line of `translations.jsonl`: `id`, `target`, `reason` (null where there is a
    target).

    Also `raw`, where it is another text: the whole answer of a language model, or what was
    repaired.
    """
    line = {"id": translation.id, "target": translation.text, "reason": translation.reason}
    return line if translation.raw is None else {**line, "raw": translation.raw}


def translation_from_line(text: bytes | str) -> Translation:
    """The translation of a line that `translation_to_json` wrote.

    Raises:
        ValueError: it is something else.
    """
    line = decoded(_TranslationLine, text)
    return Translation(line.id, line.target, line.reason, line.raw)


def to_lines(contents: Iterable[JsonObject]) -> Iterator[str]:
    """Each object as one line of JSON: no escapes beside those that JSON needs, keys in their
    order.

    Raises:
        DataError: a text holds half of a surrogate pair, which no file can hold.
    """
    for content in contents:
        line = json.dumps(content, ensure_ascii=False, allow_nan=False)
        try:
            line.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"expected text, got {line[error.start]!r} (half of a surrogate pair) "
                f"in {content.get('id')!r}; correct the text where it comes from"
            ) from error
        yield line


def from_lines(path: Path, read: Callable[[bytes], T]) -> Iterator[T]:
    """The values of a file of JSON lines, in UTF-8 with a newline after each.

    Raises:
        DataError: a line is not what is expected; with path and line.
        OSError: the file cannot be read.
    """
    for number, line in enumerate(input_bytes(path).splitlines(), start=1):
        try:
            yield read(line)
        except ValueError as error:
            raise DataError(
                f"damaged line: {error}; run again into another folder", path=path, line=number
            ) from error


def metrics_text(metrics: JsonObject) -> str:
    """The text of `metrics.json`: a line for each key, and in the breakdowns a line for each group.

    Raises:
        ValueError: a number is not finite (undefined numbers are null).
    """
    lines = []
    for key, value in metrics.items():
        if (
            key.startswith("by_") and value and isinstance(value, Mapping)
        ):  # a changed file may hold anything
            groups = ",\n".join(f"  {_dump(name)}: {_dump(group)}" for name, group in value.items())
            lines.append(f" {_dump(key)}: {{\n{groups}\n }}")
        else:
            lines.append(f" {_dump(key)}: {_dump(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def call_json(call: GenderCall, translation: str | None) -> JsonDict:
    """The keys of a line that say what was read, in its order."""
    return {
        "gender": call.gender,
        "reason": call.reason,
        "target": [(translation or "")[slice(*span)] for span in call.target],
        "target_spans": [list(span) for span in call.target],
        "evidence": evidence_json(call),
    }


def evidence_json(call: GenderCall) -> list[JsonDict]:
    """The evidence of a call as plain values, in the order of `calls.jsonl`."""
    return [{**_by_name(piece), "span": list(piece.span)} for piece in call.evidence]


def _by_name(piece: Evidence) -> JsonDict:
    return {name: getattr(piece, name) for name in Evidence.__dataclass_fields__}
