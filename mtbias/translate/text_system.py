"""A system that is a function from texts to texts: what it needs to be planned, resumed and shared stands here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from mtbias.errors import ModelError
from mtbias.translate.outputs import collect, kept_outputs
from mtbias.translate.system import Begun, Made, Plan, Sources, Store, System, Tally, Translated
from mtbias.types import Json, SourceSentence


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
        written = begun.get("part_size")
        size = written if isinstance(written, int) else self.part_size
        distinct = list(dict.fromkeys(instance.source for instance in corpus.instances))
        parts = [distinct[start : start + size] for start in range(0, len(distinct), size)]
        return TextPlan(
            system=self,
            instances=corpus.instances,
            settings={"part_size": size},
            parts=parts,
            identity=self.identity,
            key=sha256(json.dumps(parts).encode()).hexdigest(),
            sizes=[len(part) for part in parts],
            frees_cpu=self.needs_network,  # while another machine translates
        )


@dataclass(frozen=True, eq=False)
class TextPlan:
    """Each distinct source once, in order of appearance, in parts of one size (`mtbias.translate.system.Plan`)."""

    system: TextSystem
    instances: Sequence[SourceSentence]
    settings: Mapping[str, Json]
    parts: Sequence[Sequence[str]]
    """The sources of each part."""
    identity: Mapping[str, Json]
    key: str
    sizes: Sequence[int]
    frees_cpu: bool

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
            kept = kept_outputs(store, part, len(self.parts[part]))
            if kept is not None:
                texts = [output.text for output in kept]
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
        return collect(store, self.parts, self.instances, marks=("empty",))


# A system that is given other texts than the corpus's sources: two sentences without the mark between them.


@dataclass(frozen=True)
class _Texts:
    """What is translated (`mtbias.translate.system.Sources`)."""

    instances: tuple[SourceSentence, ...]
    rows: int


@dataclass(frozen=True)
class RewordedSystem:
    """`system`, given other texts (`mtbias.translate.system.System`); its translations are joined by id as ever."""

    system: System
    given: Mapping[str, str]
    """By id."""

    @property
    def needs_network(self) -> bool:
        """See `mtbias.translate.system.System`."""
        return self.system.needs_network

    @property
    def uses(self) -> Any:  # noqa: ANN401 - None of a system that does not say it
        """The settings that change something."""
        return getattr(self.system, "uses", None)

    def plan(self, corpus: Sources, begun: Begun) -> Plan:
        """See `mtbias.translate.system.System`."""
        texts = tuple(replace(each, source=self.given.get(each.id, each.source)) for each in corpus.instances)
        return self.system.plan(_Texts(texts, corpus.rows), begun)
