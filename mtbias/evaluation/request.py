"""What a run is asked for, and what its results depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mtbias import __version__
from mtbias.corpora import Corpus
from mtbias.scoring.measure import GENDER, Measure, MeasureKind
from mtbias.stats.results import N_RESAMPLES
from mtbias.translate.system import Plan, System
from mtbias.types import Json


@dataclass(frozen=True, kw_only=True)
class Request:
    """A corpus to be translated by a system and measured."""

    corpus: Corpus[Any]
    lang: str
    """ISO 639-1 code of the target language."""
    system: System
    measure: Measure
    """The corpus's measure, ready for the language."""
    kind: MeasureKind
    """And what does not depend on the language: how its records are scored."""
    seed: int = 0
    n_resamples: int = N_RESAMPLES

    def identity(self, plan: Plan) -> dict[str, Json]:
        """What the results depend on, with the translations made by `plan`."""
        return {
            "dataset": self.corpus.name,
            "data": dict(sorted(self.corpus.files.items())),
            "language": self.lang,
            **plan.identity,
            **({} if self.corpus.measure == GENDER else {"measure": self.corpus.measure}),
            **self.measure.identity,
            "mtbias": __version__,
            "seed": self.seed,
            "resamples": self.n_resamples,
        }
