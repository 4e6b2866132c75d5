"""Stanza over one batch of texts after another; only the last batch is held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mtbias.morphology.stanza_models import StanzaModels, StanzaPackage
from mtbias.types import Analysis


class BatchAnalyser:
    """An `mtbias.morphology.Analyser` without a cache, for texts that do not come again."""

    def __init__(self, package: StanzaPackage, device: str | None = None) -> None:
        """The models are loaded with the first text; the device None is a GPU where there is
        one.
        """
        self.signature = package.analyses_signature
        self._models = StanzaModels(package, device)
        self._analyses: dict[str, Analysis] = {}

    @property
    def ways(self) -> Sequence[str]:
        """See `mtbias.morphology.Analyser`."""
        return [] if self._models.way is None else [self._models.way]

    def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
        """Nothing: texts are analysed by `hold`."""

    def abandon(self, texts: Iterable[str] | None = None) -> None:
        """Nothing: no work is waiting."""

    def hold(self, texts: Iterable[str]) -> None:
        """Analyse `texts` and hold their analyses until the next call.

        Raises:
            MissingResourceError: Stanza cannot load its models; says which and why.
        """
        distinct = list(dict.fromkeys(texts))
        analyses = self._models.analyse(distinct) if distinct else []
        self._analyses = dict(zip(distinct, analyses, strict=True))

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        """Analyse those of `texts` that are not held."""
        for text in texts:
            self.analysis(text)
            if progress is not None:
                progress(1)

    def analysis(self, text: str) -> Analysis:
        """The analysis of `text`, made now where it is not held."""
        if text not in self._analyses:
            (self._analyses[text],) = self._models.analyse([text])
        return self._analyses[text]
