"""What the pipeline asks of a translation system, whatever it is: a checkpoint, given translations,
an endpoint.

A system plans before anything is translated (`System.plan`). The plan is a value: it says what the
translations depend on (for the run's identity), how the work is divided into parts, and what
another process must know to divide it in the same way. Then it puts parts into a store, each whole
or not at all (`Plan.translate`), and reads all of them back (`Plan.collect`). So a run that was
killed translates only what is missing, and many processes can share one run.

A kind of system is found by its scheme under the entry-point group `GROUP`
(`mtbias.translate.system_kinds`). What is usual is a default of `System` and `SystemKind`.
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
"""What the run in a folder was begun with: its identity and the settings of its plan; empty where
nothing is there."""

Made = Callable[[Iterable[str]], object]
"""Called with translations that were just made, while others still are."""


class Store(Protocol):
    """Where a plan keeps its parts by number, as lists of JSON objects."""

    def get(self, part: int) -> Sequence[Mapping[str, Any]] | None:
        """The records of a part that is there and undamaged, else None."""
        ...

    def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Keep the records of a part."""
        ...

    def drop(self, part: int) -> None:
        """Forget a part that turned out to be of no use."""
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
    """What `Plan.translate` did."""

    resumed: int = 0
    """Distinct sentences whose translations were there already."""
    generated: int = 0
    """Distinct sentences that were translated now."""
    execution: Mapping[str, Json] = field(default_factory=dict)
    """Circumstances for the manifest, which do not change results."""


@dataclass(frozen=True, slots=True)
class Translated:
    """The translations of a corpus, in its order, and what was noticed while they were read or
    made.
    """

    translations: Sequence[Translation]
    noticed: Mapping[str, Any]
    """``form`` (how they came about), how many sentences are marked with what, and ``examples`` of
    each mark."""
    repeats: Sequence[Sequence[Translation]] = field(default=(), kw_only=True)
    """Where everything was translated several times, the further times, each like
    `translations`."""


class Sources(Protocol):
    """What is to be translated: a corpus has it."""

    @property
    def instances(self) -> Sequence[SourceSentence]:
        """The sentences, in the corpus's order."""
        ...

    @property
    def rows(self) -> int:
        """Rows of the corpus's file, those that became no instance included."""
        ...


class Plan(Protocol):
    """How a system translates one corpus."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """What the translations depend on: a part of the run's identity, with ``system`` or
        ``model`` as its name.
        """
        ...

    @property
    def settings(self) -> Mapping[str, Json]:
        """What decides how the work is divided and may differ from device to device.

        The first process writes it down; others get it as `Begun` and plan by it.
        """
        ...

    @property
    def key(self) -> str:
        """A hash of the sentences and of how they are divided: parts of another key are of no
        use.
        """
        ...

    @property
    def sizes(self) -> Sequence[int]:
        """Distinct sentences of each part, in order; empty where nothing is to be made."""
        ...

    @property
    def frees_cpu(self) -> bool:
        """Whether the processor has little to do meanwhile (a GPU or another machine
        translates).
        """
        ...

    def translate(
        self,
        store: Store,
        parts: Sequence[int],
        progress: Callable[[int, int], object],
        made: Made | None = None,
    ) -> Tally:
        """Put those of `parts`, by number, that `store` lacks into it.

        `progress` is called with how many distinct sentences of these parts are there, and how many
        there are; `made` with the translations of each part, those that were there too.

        Raises:
            ModelError: the system cannot translate; says why and what to do.
        """
        ...

    def collect(self, store: Store) -> Translated | int:
        """The translations of the whole corpus, or how many parts `store` lacks; damaged parts are
        dropped.
        """
        ...


class System(ABC):
    """Something that translates a corpus into one language."""

    needs_network: bool = False
    """Whether it reaches another machine by its nature: then a sweep's task lets it, and only
    it."""
    uses: frozenset[str] | None = None
    """Settings of `TranslationSettings` and `LanguageModelSettings` that change something; None
    where that is not known, as of a plugin's."""

    @abstractmethod
    def plan(self, corpus: Sources, begun: Begun) -> Plan:
        """Plan the translation of `corpus`, as the run was begun where it was.

        Raises:
            DataError: what was given does not fit the corpus.
            ModelError: the system cannot translate this corpus.
        """

    def take_over(self, other: System) -> bool:  # noqa: ARG002 - most have nothing to share
        """Use what `other` has loaded, where this system would load the same; whether it does."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user asks of a kind of system."""

    name: str
    """The system's name, without the scheme of its kind."""
    lang: str
    """ISO 639-1 code of the target language."""
    source_lang: str = "en"
    """That of the sources."""
    settings: TranslationSettings
    device: str | None
    """Where to translate; None is a GPU where there is one."""
    cache: Path
    """mtbias's cache."""
    offline: bool
    """Whether nothing may be fetched."""
    language_model: LanguageModelSettings = LanguageModelSettings()
    """How it is asked, where it is a language model."""
    translates_on: str | None = None
    """The kind of device that another machine translates on, which then chooses the type of the
    weights; None: `device` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSystem:
    """A system that ``mtbias list models`` names."""

    name: str
    """What ``--model`` is given: ``firefox:en-pt``."""
    family: str
    repository: str
    """Where it comes from."""
    licence: str
    note: str
    """What it is, in a few words."""
    revision: str
    """Of what is on this machine; empty where it is not."""


class SystemKind(ABC):
    """A kind of system, such as checkpoints."""

    needs_network: bool = False
    """See `System`; of all systems of this kind."""
    is_other_program: bool = False
    """Whether another program translates: it takes no GPU from us and knows no presets."""

    def place(self, asked: Asked) -> str:  # noqa: ARG002 - a plugin's is not known
        """Where the system that is asked for translates, in a word or by its address."""
        return "its plugin"

    def targets(self, name: str) -> Sequence[str]:  # noqa: ARG002 - a plugin's is not known
        """The languages into which the system `name` translates, where its name alone says them."""
        return ()

    def listed(
        self,
        cache: Path,  # noqa: ARG002 - a plugin's are not known
        languages: Iterable[str],  # noqa: ARG002
    ) -> Iterable[ListedSystem]:
        """The systems that are listed by name, of those that translate into one of `languages`;
        nothing is fetched.
        """
        return ()

    @abstractmethod
    def open(self, asked: Asked) -> System:
        """The system that is asked for, fetched where it is missing and may be.

        Raises:
            UsageError: no such system.
            MissingResourceError: it is not here and may not be fetched; names the command that
                fetches it.
            ModelError: it cannot translate into the language.
        """
