"""A system that is a function from texts to texts: what it needs to be planned, resumed and shared stands here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from mtbias.errors import ModelError
from mtbias.translate.system import Begun, Made, Sources, Store, Tally, Translated
from mtbias.types import Json, SourceSentence, Translation

EXAMPLES = 5
"""How many sentences without a translation are named."""


@dataclass(frozen=True)
class TextSystem:
    """A translation system made of a function (`mtbias.translate.system.System`)."""

    identity: Mapping[str, Json]
    """What its translations depend on, with ``model`` or ``system`` as its name."""
    translate: Callable[[Sequence[str]], Sequence[str]]
    """The translations of some distinct sources, in their order; empty where it has none.

    They must not depend on which texts are translated together.
    """
    part_size: int = 16
    """Sources of a call, which are kept together: what is lost at most where the process is killed."""
    needs_network: bool = False
    """See `mtbias.translate.system.System`."""

    def plan(self, corpus: Sources, begun: Begun) -> TextPlan:
        """See `mtbias.translate.system.System`."""
        size = begun.get("part_size")
        return TextPlan(self, corpus.instances, size if isinstance(size, int) else self.part_size)


@dataclass(frozen=True, eq=False)
class TextPlan:
    """Each distinct source once, in order of appearance, in parts of one size (`mtbias.translate.system.Plan`)."""

    system: TextSystem
    instances: Sequence[SourceSentence]
    part_size: int

    @property
    def identity(self) -> Mapping[str, Json]:
        """See `mtbias.translate.system.Plan`."""
        return self.system.identity

    @property
    def settings(self) -> Mapping[str, Json]:
        """See `mtbias.translate.system.Plan`."""
        return {"part_size": self.part_size}

    @property
    def frees_cpu(self) -> bool:
        """While another machine translates."""
        return self.system.needs_network

    @cached_property
    def parts(self) -> Sequence[Sequence[str]]:
        """The sources of each part."""
        distinct = list(dict.fromkeys(instance.source for instance in self.instances))
        return [distinct[start : start + self.part_size] for start in range(0, len(distinct), self.part_size)]

    @cached_property
    def key(self) -> str:
        """See `mtbias.translate.system.Plan`."""
        return sha256(json.dumps(self.parts).encode()).hexdigest()

    @property
    def sizes(self) -> Sequence[int]:
        """See `mtbias.translate.system.Plan`."""
        return [len(part) for part in self.parts]

    def translate(
        self, store: Store, parts: Sequence[int], progress: Callable[[int, int], object], made: Made | None = None
    ) -> Tally:
        """See `mtbias.translate.system.Plan`.

        Raises:
            ModelError: the system gives another number of translations than it was given texts.
        """
        total, resumed, generated = sum(self.sizes[part] for part in parts), 0, 0
        progress(0, total)
        for part in parts:
            texts = _kept(store, part, len(self.parts[part]))
            if texts is not None:
                resumed += len(texts)
            else:
                texts = list(self.system.translate(self.parts[part]))
                if len(texts) != len(self.parts[part]):
                    raise ModelError(f"expected translations of {len(self.parts[part])} texts, got {len(texts)}")
                store.put(part, [{"text": text} for text in texts])
                generated += len(texts)
            if made is not None:
                made(filter(None, texts))
            progress(resumed + generated, total)
        return Tally(resumed, generated)

    def collect(self, store: Store) -> Translated | int:
        """See `mtbias.translate.system.Plan`."""
        texts: dict[str, str] = {}
        missing = 0
        for part, sources in enumerate(self.parts):
            found = _kept(store, part, len(sources))
            if found is None:
                store.drop(part)
                missing += 1
            else:
                texts |= dict(zip(sources, found, strict=True))
        if missing:
            return missing
        translations = [
            Translation(i.id, text) if (text := texts[i.source].strip()) else Translation(i.id, None, "empty")
            for i in self.instances
        ]
        empty = [each.id for each in translations if each.text is None]
        examples = {"empty": empty[:EXAMPLES]} if empty else {}
        return Translated(translations, {"form": "generated", "empty": len(empty), "examples": examples})


def _kept(store: Store, part: int, size: int) -> list[str] | None:
    """The texts of a part, where it is there and whole."""
    records = store.get(part)
    return None if records is None or len(records) != size else [record["text"] for record in records]
