"""The one plan: parts that are kept, of which none is made again, and translations put together
from them; shards.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any, ClassVar, Generic, Self, TypeVar

from mtbias.errors import UsageError
from mtbias.files.encodings import usual_pages
from mtbias.files.text_repair import KINDS, repair
from mtbias.translate.system import Made, Store, Tally, Translated
from mtbias.types import Instance, Json, SourceSentence, Span, Translation

EXAMPLES = 5
"""How many sentences are named under each mark."""

MARKS = ("empty", "source_cut", "cut", "repetitive", "redone")
"""What is counted among the outputs of a checkpoint."""


@dataclass(frozen=True, slots=True)
class Output:
    """The translation of one sentence, and what was noticed."""

    text: str
    source_cut: bool = False
    """The source was longer than the model can read."""
    cut: bool = False
    """The translation reached the maximum length."""
    repetitive: bool = False
    """The translation fell into repetition."""
    redone: bool = False
    """Its scores were not finite in half precision; this is what fp32 gave."""

    @property
    def empty(self) -> bool:
        """There is no text."""
        return not self.text.strip()


P = TypeVar("P")
"""What is kept of a sentence: an `Output`, or the answer of a language model."""


class PartsPlan(ABC, Generic[P]):
    """Distinct sources in parts, of which those that are kept are not made again
    (`mtbias.translate.system.Plan`).
    """

    instances: Sequence[SourceSentence]
    piece: ClassVar[Callable[..., Any]]
    """The class of what is kept of a sentence."""

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Each source once, in order of first appearance: what is translated."""
        return tuple(dict.fromkeys(instance.source for instance in self.instances))

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Json]:
        """See `mtbias.translate.system.Plan`."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[Sequence[str]]:
        """The sources of each part."""

    @cached_property
    def key(self) -> str:
        """See `mtbias.translate.system.Plan`; translations of another identity are of no use
        either.
        """
        return sha256(
            json.dumps([dict(self.identity), self.parts], sort_keys=True).encode()
        ).hexdigest()[:16]

    @abstractmethod
    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, Sequence[P]]]:
        """Translate `parts`, each yielded once it is in the store; closing the generator ends what
        it began.

        In the end it puts into `circumstances` what the manifest is to say of them.
        """

    @abstractmethod
    def text(self, source: str, piece: P) -> str | None:
        """The translation of a source in what is kept of it, where there is one."""

    @abstractmethod
    def translated(self, pieces: Sequence[tuple[str, P]]) -> Translated:
        """The translations of the corpus, of every source with what is kept of it, part after
        part.
        """

    @property
    def sizes(self) -> Sequence[int]:
        """See `mtbias.translate.system.Plan`."""
        return [len(sources) for sources in self.parts]

    def put(self, store: Store, part: int, pieces: Sequence[P]) -> None:
        """Keep what was made of a part."""
        store.put(part, [asdict(piece) for piece in pieces])  # type: ignore[call-overload] # all are dataclasses

    def kept(self, store: Store, part: int) -> list[P] | None:
        """What is kept of a part; None where it is not there or not whole."""
        records = store.get(part)
        whole = records is not None and len(records) == len(self.parts[part])
        return [self.piece(**record) for record in records or ()] if whole else None

    def translate(
        self,
        store: Store,
        parts: Sequence[int],
        progress: Callable[[int, int], object],
        made: Made | None = None,
    ) -> Tally:
        """See `mtbias.translate.system.Plan`; `ModelError` as the system raises it."""
        missing: list[int] = []
        circumstances: dict[str, Json] = {}
        resumed = 0
        total = sum(len(self.parts[part]) for part in parts)
        progress(0, total)
        for part in parts:
            kept = self.kept(store, part)
            if kept is None:
                missing.append(part)
                continue
            resumed += len(kept)
            self._show(part, kept, made)
            progress(resumed, total)
        done = resumed
        with closing(self.make(store, missing, circumstances)) as finished:
            for part, pieces in finished:
                self._show(part, pieces, made)
                done += len(pieces)
                progress(done, total)
        return Tally(resumed, done - resumed, circumstances)

    def _show(self, part: int, pieces: Sequence[P], made: Made | None) -> None:
        if made is not None:
            made(filter(None, map(self.text, self.parts[part], pieces)))

    def collect(self, store: Store) -> Translated | int:
        """See `mtbias.translate.system.Plan`."""
        pieces: list[tuple[str, P]] = []
        missing = 0
        for part, sources in enumerate(self.parts):
            kept = self.kept(store, part)
            if kept is None:
                store.drop(part)  # damaged for this process, so that it is missing for all
                missing += 1
            else:
                pieces += zip(sources, kept, strict=True)
        return missing or self.translated(pieces)


class OutputsPlan(PartsPlan[Output]):
    """A plan that keeps translations."""

    piece = Output
    marks: ClassVar[Sequence[str]] = MARKS

    def text(self, source: str, piece: Output) -> str:  # noqa: ARG002 - of what is kept the text is the translation
        """See `PartsPlan`."""
        return piece.text

    def translated(self, pieces: Sequence[tuple[str, Output]]) -> Translated:
        """See `PartsPlan`."""
        outputs = dict(pieces)
        rows = [(instance.id, outputs[instance.source]) for instance in self.instances]
        marked = {
            mark: [id_ for id_, output in rows if getattr(output, mark)] for mark in self.marks
        }
        return Translated(
            [
                Translation(id_, None, "empty") if o.empty else Translation(id_, o.text.strip())
                for id_, o in rows
            ],
            {"form": "generated", **counted(marked)},
        )


def counted(marked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """How many sentences, given by their ids, have each mark, and ``examples`` of each that is
    there.
    """
    counts = {mark: len(ids) for mark, ids in marked.items()}
    return {**counts, "examples": {mark: ids[:EXAMPLES] for mark, ids in marked.items() if ids}}


def with_marks(noticed: Mapping[str, Any], marked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """What was noticed of a corpus's translations (`Translated.noticed`), and these marks
    (`counted`).
    """
    more = counted(marked)
    examples = {**noticed.get("examples", {}), **more["examples"]}
    return {**noticed, **more, "examples": examples}


def unknown_marks(
    instances: Sequence[SourceSentence], places: Mapping[str, Sequence[Span]]
) -> dict[str, list[str]]:
    """The ids of the sentences that a model read with a hole: all, and those with a hole in the
    entity's head word.

    Args:
        instances: the sentences.
        places: of each source, those that the model's vocabulary has no token for.
    """
    in_source: list[str] = []
    in_entity: list[str] = []
    for instance in instances:
        holes = places[instance.source]
        if holes:
            in_source.append(instance.id)
        if isinstance(instance, Instance) and any(map(instance.head.overlaps, holes)):
            in_entity.append(instance.id)
    return {"source_unknown": in_source, "entity_unknown": in_entity}


def repaired(translated: Translated, repairs: Collection[str] = KINDS) -> Translated:
    """The same with what is certain of damaged characters undone, counted by kind; `raw` is what
    stood there.
    """
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    made = (translated.translations, *translated.repeats)
    pages = usual_pages(map(_raw, chain.from_iterable(made)))
    times = [[_repaired(each, repairs, pages, kinds) for each in time] for time in made]
    if not kinds:
        return translated
    return replace(
        translated,
        translations=times[0],
        repeats=times[1:],
        noticed=with_marks(translated.noticed, kinds),
    )


def _repaired(
    translation: Translation,
    repairs: Collection[str],
    pages: Collection[str],
    kinds: Mapping[str, list[str]],
) -> Translation:
    raw = _raw(translation)
    found = repair(raw, repairs, pages)
    for kind in found.kinds:
        kinds[kind].append(translation.id)
    if not found.kinds:
        return translation
    if translation.raw is None:
        return replace(translation, text=found.text, raw=raw)
    text = None if translation.text is None else repair(translation.text, repairs, pages).text
    return replace(translation, text=text, raw=raw)


def _raw(translation: Translation) -> str:
    """What stood there."""
    return (translation.text if translation.raw is None else translation.raw) or ""


# Shards: parts of the work that several processes translate, on whatever machines.

_WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `of`, counted from 1; written ``2/8``.

    Whatever `of` is, every part of a plan is in exactly one shard, and parts themselves do not
    depend on it: so neither do translations. Plans begin with the longest sentences, so by taking
    turns shards have about equal work.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise UsageError(
                f"shard {self.number}/{self.of}: expected a number from 1 to {self.of}"
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``2/8``.

        Raises:
            UsageError: it is something else.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise UsageError(f"shard: expected K/N, like 2/8, got {text!r}")
        return cls(int(match[1]), int(match[2]))

    def parts(self, count: int) -> range:
        """The numbers (from 0) of those of `count` parts that are in this shard."""
        return range(self.number - 1, count, self.of)
