"""The lines of `translations.jsonl` and `calls.jsonl`, and the text of `metrics.json`: fixed keys in a fixed order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mtbias.errors import DataError
from mtbias.types import Evidence, Gender, GenderCall, Instance, Reason, Span, Stereotype, Translation

T = TypeVar("T")
_Item = TypeVar("_Item", Translation, GenderCall)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One line of `calls.jsonl`: what was asked, what the system made of it, and what was read from it.

    It has all that `mtbias.metrics.score` wants of an instance, so the scores can be computed again from the file.
    """

    row: int
    source: str
    translation: str | None
    entity: str
    gold: Gender
    stereotype: Stereotype
    domain: str
    pronouns: int
    call: GenderCall
    distance: int | None = None
    pair: str | None = None
    control: str | None = None

    @property
    def id(self) -> str:
        """The id of the instance."""
        return self.call.id

    @classmethod
    def of(cls, instance: Instance, translation: Translation, call: GenderCall) -> CallRecord:
        """The record of an instance with its translation and its call.

        Raises:
            ValueError: they are not of one instance, or the call points outside the translation.
        """
        if not instance.id == translation.id == call.id:
            raise ValueError(f"expected one id, got {instance.id!r}, {translation.id!r} and {call.id!r}")
        _words(translation.text, call.target)
        return cls(
            row=instance.row,
            source=instance.source,
            translation=translation.text,
            entity=instance.entity,
            gold=instance.gold,
            stereotype=instance.stereotype,
            domain=instance.domain,
            pronouns=instance.pronouns,
            call=call,
            distance=instance.distance,
            pair=instance.pair,
            control=instance.control,
        )

    def to_json(self) -> dict[str, Any]:
        """The object of the line."""
        call = self.call
        return {
            "id": call.id,
            "row": self.row,
            "source": self.source,
            "translation": self.translation,
            "entity": self.entity,
            "gold": self.gold.value,
            "stereotype": self.stereotype.value,
            "domain": self.domain,
            "pronouns": self.pronouns,
            "distance": self.distance,
            "pair": self.pair,
            "control": self.control,
            "gender": None if call.gender is None else call.gender.value,
            "reason": None if call.reason is None else call.reason.value,
            "target": _words(self.translation, call.target),
            "target_spans": [list(span) for span in call.target],
            "evidence": evidence_json(call),
        }

    @classmethod
    def from_json(cls, content: object) -> CallRecord:
        """The record that `to_json` wrote.

        Raises:
            ValueError: it is something else, or contradicts itself (the target words are not those of the spans).
        """
        fields = _Fields(content)
        gender, reason = fields.optional("gender", str), fields.optional("reason", str)
        record = cls(
            row=fields.get("row", int),
            source=fields.get("source", str),
            translation=fields.optional("translation", str),
            entity=fields.get("entity", str),
            gold=Gender(fields.get("gold", str)),
            stereotype=Stereotype(fields.get("stereotype", str)),
            domain=fields.get("domain", str),
            pronouns=fields.get("pronouns", int),
            call=GenderCall(
                id=fields.get("id", str),
                gender=None if gender is None else Gender(gender),
                reason=None if reason is None else Reason(reason),
                target=tuple(_span(pair) for pair in fields.get("target_spans", list)),
                evidence=tuple(_evidence(piece) for piece in fields.get("evidence", list)),
            ),
            distance=fields.optional("distance", int),
            pair=fields.optional("pair", str),
            control=fields.optional("control", str),
        )
        words = _words(record.translation, record.call.target)
        if fields.get("target", list) != words:
            raise ValueError(f"expected the target words {words} at the target spans, got {fields.get('target', list)}")
        return record


def join_records(
    instances: Iterable[Instance], translations: Iterable[Translation], calls: Iterable[GenderCall]
) -> Iterator[CallRecord]:
    """The records of a corpus in its order, with translations and calls joined by id.

    Raises:
        DataError: an instance has no translation or no call, or two, or something belongs to no instance.
        ValueError: a call points outside its translation.
    """
    rows = list(instances)
    known = {row.id for row in rows}
    if len(known) < len(rows):
        raise DataError(f"expected unique instance ids, got {len(known)} different ids for {len(rows)} instances")
    translated, called = _by_id(translations, known, "translation"), _by_id(calls, known, "call")
    for row in rows:
        yield CallRecord.of(row, translated[row.id], called[row.id])


def translation_to_json(translation: Translation) -> dict[str, Any]:
    """The object of a line of `translations.jsonl`: `id`, `target`, `reason` (null where there is a target)."""
    return {"id": translation.id, "target": translation.text, "reason": translation.reason}


def translation_from_json(content: object) -> Translation:
    """The translation that `translation_to_json` wrote.

    Raises:
        ValueError: it is something else.
    """
    fields = _Fields(content)
    return Translation(
        id=fields.get("id", str), text=fields.optional("target", str), reason=fields.optional("reason", str)
    )


def to_lines(values: Iterable[T], to_json: Callable[[T], dict[str, Any]]) -> Iterator[str]:
    """Each value as one line of JSON: no escapes beside those that JSON needs, keys in the order of `to_json`.

    Raises:
        DataError: a text holds half of a surrogate pair, which no file can hold.
    """
    for value in values:
        content = to_json(value)
        line = json.dumps(content, ensure_ascii=False, allow_nan=False)
        try:
            line.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"expected text, got {line[error.start]!r} (half of a surrogate pair) in {content.get('id')!r}; "
                "mend the text where it comes from"
            ) from error
        yield line


def from_lines(path: Path, from_json: Callable[[object], T]) -> Iterator[T]:
    """The values of a file of JSON lines, in UTF-8 with a newline after each.

    Raises:
        DataError: a line is not what is expected, or the file is cut off; with path and line.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        number = data.count(b"\n") + 1
        raise DataError("expected a newline at the end, the file is cut off; run again", path=path, line=number)
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            yield from_json(json.loads(line.decode()))
        except ValueError as error:  # of which the errors of json, of Unicode and of enumerations are kinds
            raise DataError(f"damaged line: {error}; remove the file and run again", path=path, line=number) from error


def metrics_text(metrics: Mapping[str, Any]) -> str:
    """The text of `metrics.json`: a line for each key, and in the breakdowns a line for each group.

    Raises:
        ValueError: a number is not finite (undefined numbers are null).
    """
    lines = []
    for key, value in metrics.items():
        if key.startswith("by_") and value:
            groups = ",\n".join(f"  {_dump(name)}: {_dump(group)}" for name, group in value.items())
            lines.append(f" {_dump(key)}: {{\n{groups}\n }}")
        else:
            lines.append(f" {_dump(key)}: {_dump(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def evidence_json(call: GenderCall) -> list[dict[str, Any]]:
    """The evidence of a call as plain values, in the order of `calls.jsonl`."""
    return [
        {
            "kind": piece.kind,
            "word": piece.word,
            "gender": None if piece.gender is None else piece.gender.value,
            "source": piece.source,
            "detail": piece.detail,
        }
        for piece in call.evidence
    ]


def _words(translation: str | None, spans: Iterable[Span]) -> list[str]:
    """The words at the spans."""
    words = []
    for start, end in spans:
        if translation is None or not 0 <= start < end <= len(translation):
            where = "there is no translation" if translation is None else f"it has {len(translation)} characters"
            raise ValueError(f"expected target spans within the translation, got [{start}, {end}): {where}")
        words.append(translation[start:end])
    return words


def _by_id(items: Iterable[_Item], known: set[str], what: str) -> dict[str, _Item]:
    found: dict[str, _Item] = {}
    for item in items:
        if item.id not in known:
            raise DataError(f"expected a {what} of an instance of the corpus, got one of {item.id!r}")
        if found.setdefault(item.id, item) is not item:
            raise DataError(f"expected one {what} for each instance, got two for {item.id!r}")
    if len(found) < len(known):
        missing = min(known - found.keys())
        raise DataError(f"expected a {what} for each of {len(known)} instances, got {len(found)}: none for {missing!r}")
    return found


def _span(pair: object) -> Span:
    if isinstance(pair, list) and len(pair) == 2 and all(type(part) is int for part in pair):
        return Span(*pair)
    raise ValueError(f"expected a span [start, end], got {pair!r}")


def _evidence(content: object) -> Evidence:
    fields = _Fields(content)
    gender = fields.optional("gender", str)
    return Evidence(
        kind=fields.get("kind", str),
        word=fields.get("word", str),
        gender=None if gender is None else Gender(gender),
        source=fields.get("source", str),
        detail=fields.get("detail", str),
    )


class _Fields:
    """The fields of a JSON object, each checked when it is asked for."""

    def __init__(self, content: object) -> None:
        if not isinstance(content, dict):
            raise ValueError(f"expected an object, got {content!r}"[:200])  # noqa: TRY004 - a value of a file
        self._content: dict[str, Any] = content

    def get(self, key: str, kind: type[T]) -> T:
        value = self.optional(key, kind)
        if value is None:
            raise ValueError(f"expected {kind.__name__} for {key!r}, got null")
        return value

    def optional(self, key: str, kind: type[T]) -> T | None:
        if key not in self._content:
            raise ValueError(f"expected the key {key!r}, got {', '.join(map(repr, self._content))}")
        value = self._content[key]
        if value is None or type(value) is kind:
            return value
        raise ValueError(f"expected {kind.__name__} for {key!r}, got {value!r}"[:200])
