"""What a run is asked for, and what its results depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mtbias import __version__

if TYPE_CHECKING:
    from mtbias.align import Aligner
    from mtbias.corpora import Corpus
    from mtbias.language.definition import Language
    from mtbias.morphology import Analyser
    from mtbias.runs import Json
    from mtbias.translate.given_translations import GivenTranslations
    from mtbias.translate.seq2seq.translator import Translator

Progress = Callable[[str, int, int], object]
"""Called as ``progress(stage, done, total)``."""


def quiet(stage: str, done: int, total: int) -> None:
    """No progress wanted."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What scoring depends on, wherever the translations come from."""

    corpus: Corpus
    language: Language
    aligner: Aligner
    analyser: Analyser
    seed: int = 0
    n_resamples: int = 2000

    def _identity(self, made_by: Mapping[str, Json]) -> dict[str, Json]:
        return {
            "dataset": self.corpus.name,
            "data": dict(sorted(self.corpus.files.items())),
            "language": self.language.code,
            **made_by,
            "aligner": self.aligner.signature,
            "stanza": self.analyser.signature,
            "plugin": f"{self.language.code}/{self.language.version}",
            "mtbias": __version__,
            "seed": self.seed,
            "resamples": self.n_resamples,
        }


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(Request):
    """All that scoring given translations depends on."""

    given: GivenTranslations
    system: str
    """Name of the system that made the translations, for the signature."""

    def identity(self) -> dict[str, Json]:
        """What changes results."""
        return self._identity({"system": self.system, "translations": self.given.sha256})


@dataclass(frozen=True, kw_only=True)
class EvalRequest(Request):
    """All that translating a corpus and scoring the translations depends on."""

    translator: Translator
    analyse_beside: bool | None = None
    """Whether the analyser's other processes work while translations are made; None: where a GPU makes them."""

    def identity(self) -> dict[str, Json]:
        """What changes results."""
        return self._identity(self.translator.identity())
