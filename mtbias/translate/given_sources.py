"""A system that is given other texts than the corpus's sources: two sentences without the mark between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mtbias.translate.system import Begun, Plan, Sources, System
from mtbias.types import SourceSentence


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
