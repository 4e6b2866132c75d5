"""Runs that ask an endpoint: for the tests of endpoints, and for the benchmark of their speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.settings import LanguageModelSettings, TranslationSettings
from mtbias.translate.language_models.endpoint_system import EndpointKind, EndpointPlan
from mtbias.translate.system import MemoryStore, Store, SystemRequest, Translated
from mtbias.types import SourceSentence


@dataclass(frozen=True)
class Corpus:
    """Sentences to translate."""

    instances: Sequence[SourceSentence]

    @property
    def rows(self) -> int:
        return len(self.instances)


def sentences(n: int) -> Corpus:
    return Corpus([SourceSentence(f"s{i}", i, f"The cook saw person {i}.") for i in range(n)])


def german(source: str) -> str:
    return f"Der Koch sah Person {source.rsplit(maxsplit=1)[-1]}"


def plan(
    url: str, corpus: Corpus, begun: Mapping[str, Any] | None = None, **settings: Any
) -> EndpointPlan:
    asked = SystemRequest(
        name="small",
        lang="de",
        source_lang=settings.pop("source_lang", "en"),
        settings=TranslationSettings(),
        device=None,
        cache=Path("nowhere"),
        offline=False,
        language_model=LanguageModelSettings(base_url=url, **settings),
    )
    return EndpointKind().open(asked).plan(corpus, begun or {})


def run(made: EndpointPlan, store: Store | None = None) -> Translated:
    store = store or MemoryStore()
    made.translate(store, range(len(made.sizes)), lambda *_: None)
    found = made.collect(store)
    assert isinstance(found, Translated)
    return found
