"""The plan that all systems share: parts that are translated once and kept, the translations put
together from them, and shards.
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
from mtbias.translate.system import OnTranslations, Store, Tally, Translated
from mtbias.types import Instance, Json, SourceSentence, Span, Translation

EXAMPLES = 5
"""Most ids of sentences under each mark."""

MARKS = ("empty", "source_cut", "cut", "repetitive", "redone")
"""The marks of a checkpoint's outputs."""


@dataclass(frozen=True, slots=True)
class Output:
    """The translation of one sentence, with its marks."""

    text: str
    source_cut: bool = False
    """The source was longer than the model can read."""
    cut: bool = False
    """The translation reached the maximum length."""
    repetitive: bool = False
    """The translation fell into repetition."""
    redone: bool = False
    """Its scores were not finite in half precision; this is the output in fp32."""

    @property
    def empty(self) -> bool:
        """There is no text."""
        return not self.text.strip()


P = TypeVar("P")
"""What a store keeps for a sentence: an `Output`, or the answer of a language model."""


class PartsPlan(ABC, Generic[P]):
    """Distinct sources in parts, each of which is translated once and kept
    (`mtbias.translate.system.Plan`).
    """

    instances: Sequence[SourceSentence]
    piece: ClassVar[Callable[..., Any]]
    """The class of what is kept for a sentence."""

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """The sources to be translated: each once, in order of first appearance."""
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
        """See `mtbias.translate.system.Plan`; it also covers the identity."""
        content = json.dumps([dict(self.identity), self.parts], sort_keys=True)
        return sha256(content.encode()).hexdigest()[:16]

    @abstractmethod
    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, Sequence[P]]]:
        """Translate `parts` and yield each one once it is in the store; closing the generator stops
        the work.

        At the end it adds to `circumstances`, which go into the manifest.
        """

    @abstractmethod
    def text(self, source: str, piece: P) -> str | None:
        """The translation of a source in what is kept for it; None if there is none."""

    @abstractmethod
    def translated(self, pieces: Sequence[tuple[str, P]]) -> Translated:
        """The translations of the corpus, from every source and what is kept for it, in the order
        of the parts.
        """

    @property
    def sizes(self) -> Sequence[int]:
        """See `mtbias.translate.system.Plan`."""
        return [len(sources) for sources in self.parts]

    def put(self, store: Store, part: int, pieces: Sequence[P]) -> None:
        """Keep the pieces of a part."""
        # All are dataclasses.
        store.put(part, [asdict(piece) for piece in pieces])  # type: ignore[call-overload]

    def get(self, store: Store, part: int) -> list[P] | None:
        """The pieces of a part; None where it is missing or incomplete."""
        records = store.get(part)
        if records is None or len(records) != len(self.parts[part]):
            return None
        return [self.piece(**record) for record in records]

    def translate(
        self,
        store: Store,
        parts: Sequence[int],
        progress: Callable[[int, int], object],
        on_translations: OnTranslations | None = None,
    ) -> Tally:
        """See `mtbias.translate.system.Plan`; `ModelError` as the system raises it."""
        missing: list[int] = []
        circumstances: dict[str, Json] = {}
        resumed = 0
        total = sum(len(self.parts[part]) for part in parts)
        progress(0, total)
        for part in parts:
            earlier = self.get(store, part)
            if earlier is None:
                missing.append(part)
                continue
            resumed += len(earlier)
            self._report(part, earlier, on_translations)
            progress(resumed, total)

        done = resumed
        with closing(self.make(store, missing, circumstances)) as finished:
            for part, pieces in finished:
                self._report(part, pieces, on_translations)
                done += len(pieces)
                progress(done, total)
        return Tally(resumed, done - resumed, circumstances)

    def _report(
        self, part: int, pieces: Sequence[P], on_translations: OnTranslations | None
    ) -> None:
        if on_translations is not None:
            on_translations(filter(None, map(self.text, self.parts[part], pieces)))

    def collect(self, store: Store) -> Translated | int:
        """See `mtbias.translate.system.Plan`."""
        pieces: list[tuple[str, P]] = []
        missing = 0
        for part, sources in enumerate(self.parts):
            pieces_of_part = self.get(store, part)
            if pieces_of_part is None:
                store.drop(part)  # damaged for this process, so that it is missing for all
                missing += 1
            else:
                pieces += zip(sources, pieces_of_part, strict=True)
        return missing or self.translated(pieces)


class OutputsPlan(PartsPlan[Output]):
    """A plan that keeps translations."""

    piece = Output
    marks: ClassVar[Sequence[str]] = MARKS

    def text(self, source: str, piece: Output) -> str:  # noqa: ARG002 - the piece is enough
        """See `PartsPlan`."""
        return piece.text

    def translated(self, pieces: Sequence[tuple[str, Output]]) -> Translated:
        """See `PartsPlan`."""
        outputs = dict(pieces)
        marked: dict[str, list[str]] = {mark: [] for mark in self.marks}
        translations = []
        for instance in self.instances:
            output = outputs[instance.source]
            for mark in self.marks:
                if getattr(output, mark):
                    marked[mark].append(instance.id)
            text, reason = (None, "empty") if output.empty else (output.text.strip(), None)
            translations.append(Translation(instance.id, text, reason))
        return Translated(translations, {"form": "generated", **count_marks(marked)})


def count_marks(marked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The number of sentences with each mark, from their ids, and ``examples`` of each mark that
    occurs.
    """
    counts = {mark: len(ids) for mark, ids in marked.items()}
    return {**counts, "examples": {mark: ids[:EXAMPLES] for mark, ids in marked.items() if ids}}


def with_marks(noticed: Mapping[str, Any], marked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """`Translated.noticed` of a corpus with further marks (`count_marks`)."""
    more = count_marks(marked)
    examples = {**noticed.get("examples", {}), **more["examples"]}
    return {**noticed, **more, "examples": examples}


def unknown_marks(
    instances: Sequence[SourceSentence], places: Mapping[str, Sequence[Span]]
) -> dict[str, list[str]]:
    """The ids of the sentences with characters that a model cannot read: all of them, and those
    with one in the entity's head word.

    Args:
        instances: the sentences.
        places: for each source, the places for which the model's vocabulary has no token.
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
    """The translations with damaged characters repaired where that is certain, counted by kind;
    `raw` is the text before.
    """
    ids_by_kind: defaultdict[str, list[str]] = defaultdict(list)
    rounds = (translated.translations, *translated.repeats)
    pages = usual_pages(map(_raw, chain.from_iterable(rounds)))

    def repaired_round(translations: Sequence[Translation]) -> list[Translation]:
        return [_repaired(each, repairs, pages, ids_by_kind) for each in translations]

    first, *repeats = map(repaired_round, rounds)
    if not ids_by_kind:
        return translated
    noticed = with_marks(translated.noticed, ids_by_kind)
    return replace(translated, translations=first, repeats=repeats, noticed=noticed)


def _repaired(
    translation: Translation,
    repairs: Collection[str],
    pages: Collection[str],
    ids_by_kind: Mapping[str, list[str]],
) -> Translation:
    raw = _raw(translation)
    result = repair(raw, repairs, pages)
    for kind in result.kinds:
        ids_by_kind[kind].append(translation.id)
    if not result.kinds:
        return translation
    if translation.raw is None:
        return replace(translation, text=result.text, raw=raw)
    text = None if translation.text is None else repair(translation.text, repairs, pages).text
    return replace(translation, text=text, raw=raw)


def _raw(translation: Translation) -> str:
    """The text before any change."""
    return (translation.text if translation.raw is None else translation.raw) or ""


# Shards: the shares of several processes, on one machine or many.

_WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `shards` shards, with its `number` from 1; written ``2/8``.

    Every part of a plan is in exactly one shard, and the parts, so also the translations, do not
    depend on `shards`. Plans begin with the longest sentences, and shards take parts in turn, so
    that each has about the same work.
    """

    number: int
    shards: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.shards:
            raise UsageError(
                f"shard {self.number}/{self.shards}: expected a number from 1 to {self.shards}"
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.shards}"

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
        return range(self.number - 1, count, self.shards)
