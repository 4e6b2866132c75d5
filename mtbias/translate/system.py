"""The interface of translation systems: checkpoints, given translations, endpoints.

A system plans before anything is translated (`System.plan`). The plan is a value with what the
translations depend on (for the run's identity), how the work is divided into parts, and what
another process must know to divide it in the same way. It puts parts into a store, each whole or
not at all (`Plan.translate`), and reads all of them back (`Plan.collect`). So a killed run
translates only what is missing, and many processes can share one run.

A kind of system is found by its scheme under the entry-point group `GROUP`
(`mtbias.translate.system_kinds`). `System` and `SystemKind` have defaults for the usual case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mtbias.settings import LanguageModelSettings, TranslationSettings
from mtbias.types import Json, SourceSentence, Translation

GROUP = "mtbias.systems"

Begun = Mapping[str, Json]
"""The identity of the run in a folder and the settings of its plan; empty for a new run."""

OnTranslations = Callable[[Iterable[str]], object]
"""Called with new translations while others are still being made."""


class Store(Protocol):
    """Where a plan keeps its parts by number, as lists of JSON objects."""

    def get(self, part: int) -> Sequence[Mapping[str, Any]] | None:
        """The records of a part; None where it is missing or damaged."""
        ...

    def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Keep the records of a part."""
        ...

    def drop(self, part: int) -> None:
        """Forget a part that turned out to be unusable."""
        ...


class MemoryStore:
    """A store for a run without a folder."""

    def __init__(self) -> None:
        self.parts: dict[int, Sequence[Mapping[str, Any]]] = {}

    def get(self, part: int) -> Sequence[Mapping[str, Any]] | None:
        """See `Store`."""
        return self.parts.get(part)

    def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
        """See `Store`."""
        self.parts[part] = records

    def drop(self, part: int) -> None:
        """See `Store`."""
        self.parts.pop(part, None)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of `Plan.translate`."""

    resumed: int = 0
    """Distinct sentences that had been translated before."""
    generated: int = 0
    """Distinct sentences that were translated now."""
    execution: Mapping[str, Json] = field(default_factory=dict)
    """Circumstances for the manifest that do not change results."""


@dataclass(frozen=True, slots=True)
class Translated:
    """The translations of a corpus, in its order, with counts of what is unusual about them."""

    translations: Sequence[Translation]
    noticed: Mapping[str, Any]
    """``form`` (how they came about), the number of sentences with each mark, and ``examples`` of
    each mark."""
    repeats: Sequence[Sequence[Translation]] = field(default=(), kw_only=True)
    """Further translations of the whole corpus, each like `translations`, where it was translated
    several times."""


class Sources(Protocol):
    """The part of a corpus that a system needs."""

    @property
    def instances(self) -> Sequence[SourceSentence]:
        """The sentences, in the corpus's order."""
        ...

    @property
    def rows(self) -> int:
        """Rows of the corpus's file, including those without an instance."""
        ...


class Plan(Protocol):
    """How a system translates one corpus."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """What the translations depend on: a part of the run's identity, in which ``system`` or
        ``model`` is the name.
        """
        ...

    @property
    def settings(self) -> Mapping[str, Json]:
        """Settings that determine how the work is divided and may differ between devices.

        The first process records them; others get them as `Begun` and plan by them.
        """
        ...

    @property
    def key(self) -> str:
        """Hash of the sentences and of their division; parts with another key are unusable."""
        ...

    @property
    def sizes(self) -> Sequence[int]:
        """Distinct sentences of each part, in order; empty where nothing is translated."""
        ...

    @property
    def frees_cpu(self) -> bool:
        """Whether the processor has little to do, since a GPU or another machine translates."""
        ...

    def translate(
        self,
        store: Store,
        parts: Sequence[int],
        progress: Callable[[int, int], object],
        on_translations: OnTranslations | None = None,
    ) -> Tally:
        """Translate those of `parts` that `store` lacks, and put them into it.

        Args:
            store: where parts are kept.
            parts: numbers of parts.
            progress: called with the distinct sentences of these parts that are translated, and
                with all of them.
            on_translations: called with the translations of each part, earlier ones too.

        Raises:
            ModelError: the system cannot translate; says why and what to do.
        """
        ...

    def collect(self, store: Store) -> Translated | int:
        """The translations of the whole corpus, or the number of parts that `store` lacks; damaged
        parts are dropped.
        """
        ...


class System(ABC):
    """Something that translates a corpus into one language."""

    needs_network: bool = False
    """Whether it is on another machine: only then may a sweep's task use the network."""
    uses: frozenset[str] | None = None
    """Settings of `TranslationSettings` and `LanguageModelSettings` that change its translations;
    None where that is unknown, as for a plugin's system."""

    @abstractmethod
    def plan(self, corpus: Sources, begun: Begun) -> Plan:
        """Plan the translation of `corpus`; a run that was begun before keeps its settings.

        Raises:
            DataError: given translations do not fit the corpus.
            ModelError: the system cannot translate this corpus.
        """

    def take_over(self, other: System) -> bool:  # noqa: ARG002 - most have nothing to share
        """Use the weights of `other` if this system has the same; returns whether it does."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRequest:
    """A request for a system: its name, languages and settings."""

    name: str
    """The system's name, without the scheme of its kind."""
    lang: str
    """ISO 639-1 code of the target language."""
    source_lang: str = "en"
    """ISO 639-1 code of the sources' language."""
    settings: TranslationSettings
    device: str | None
    """Where to translate; None is a GPU if there is one."""
    cache: Path
    """mtbias's cache."""
    offline: bool
    """Whether nothing may be fetched."""
    language_model: LanguageModelSettings = LanguageModelSettings()
    """Settings for language models."""
    translates_on: str | None = None
    """The kind of device on which another machine translates, which determines the type of the
    weights; None where `device` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSystem:
    """A system that ``mtbias list models`` names."""

    name: str
    """The value of ``--model``: ``firefox:en-pt``."""
    family: str
    repository: str
    """Where it comes from."""
    licence: str
    note: str
    """A description in a few words."""
    revision: str
    """Its revision on this machine; empty where it is not here."""


class SystemKind(ABC):
    """A kind of system, such as checkpoints."""

    needs_network: bool = False
    """See `System`; it holds for all systems of this kind."""
    is_other_program: bool = False
    """Whether another program translates, which needs no GPU of ours and has no presets."""

    def place(self, request: SystemRequest) -> str:  # noqa: ARG002 - a plugin's is not known
        """Where the system translates, in a word or by its address."""
        return "its plugin"

    def targets(self, name: str) -> Sequence[str]:  # noqa: ARG002 - a plugin's is not known
        """The target languages of the system `name`, where its name alone determines them."""
        return ()

    def listed(
        self,
        cache: Path,  # noqa: ARG002 - a plugin's are not known
        languages: Iterable[str],  # noqa: ARG002
    ) -> Iterable[ListedSystem]:
        """The systems of this kind that translate into one of `languages`, for a list; nothing is
        fetched.
        """
        return ()

    @abstractmethod
    def open(self, request: SystemRequest) -> System:
        """The requested system, fetched where it is missing and may be.

        Raises:
            UsageError: there is no such system.
            MissingResourceError: it is missing here and may not be fetched; names the command that
                fetches it.
            ModelError: it cannot translate into the language.
        """
