"""A system made of a function from texts to texts, with all it needs to be planned, resumed and
shared.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mtbias.errors import ModelError
from mtbias.translate.outputs import Output, OutputsPlan
from mtbias.translate.system import Begun, Sources, Store, System
from mtbias.types import Json, SourceSentence


@dataclass(frozen=True)
class TextSystem(System):
    """A translation system made of a function (`mtbias.translate.system.System`)."""

    identity: Mapping[str, Json]
    """What its translations depend on, with ``model`` or ``system`` as its name."""
    translate: Callable[[Sequence[str]], Sequence[str]]
    """Gives the translations of distinct sources, in their order; an empty text counts as none.

    They must not depend on which texts are translated together.
    """
    part_size: int = 16
    """Sources of a call, which are kept together; a killed process loses no more than these."""
    needs_network: bool = False
    """See `mtbias.translate.system.System`."""

    def plan(self, corpus: Sources, begun: Begun) -> TextPlan:
        """See `mtbias.translate.system.System`."""
        recorded = begun.get("part_size")
        size = recorded if isinstance(recorded, int) else self.part_size
        return TextPlan(self, corpus.instances, size, {"part_size": size})


@dataclass(frozen=True, eq=False)
class TextPlan(OutputsPlan):
    """Each distinct source once, in order of appearance, in parts of one size
    (`mtbias.translate.system.Plan`).
    """

    system: TextSystem
    instances: Sequence[SourceSentence]
    size: int
    settings: Mapping[str, Json]
    marks = ("empty",)

    @property
    def identity(self) -> Mapping[str, Json]:
        """The identity of the system."""
        return self.system.identity

    @cached_property
    def parts(self) -> Sequence[Sequence[str]]:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return [
            self.distinct[start : start + self.size]
            for start in range(0, len(self.distinct), self.size)
        ]

    @property
    def frees_cpu(self) -> bool:
        """Whether another machine translates."""
        return self.system.needs_network

    def make(
        self,
        store: Store,
        parts: Sequence[int],
        circumstances: dict[str, Json],  # noqa: ARG002 - there are none
    ) -> Generator[tuple[int, list[Output]]]:
        """See `mtbias.translate.outputs.PartsPlan`.

        Raises:
            ModelError: the system gives more or fewer translations than there are texts.
        """
        for part in parts:
            sources = self.parts[part]
            outputs = [Output(text) for text in self.system.translate(sources)]
            if len(outputs) != len(sources):
                raise ModelError(
                    f"expected translations of {len(sources)} texts, got {len(outputs)}"
                )
            self.put(store, part, outputs)
            yield part, outputs
