"""What measures by morphology have in common: translations go through Stanza, each distinct one once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mtbias.language.definition import Language
from mtbias.morphology import Analyser
from mtbias.types import Json, Progress


class AnalysedTexts:
    """The part of a `mtbias.scoring.measure.Measure` that deals with its analyser; the measure has both as fields."""

    language: Language
    analyser: Analyser

    @property
    def identity(self) -> Mapping[str, Json]:
        """Stanza with the hashes of its models, and language plugin."""
        return {"stanza": self.analyser.signature, "plugin": f"{self.language.code}/{self.language.version}"}

    @property
    def execution(self) -> Mapping[str, Json]:
        """How new texts went through Stanza: the numbers do not depend on it, the hours do."""
        return {"analysed_by": list(self.analyser.ways)}

    def hint(self, texts: Iterable[str]) -> None:
        """Let the analyser's other processes begin."""
        self.analyser.submit(texts)

    def abandon(self) -> None:
        """End them: the translations will not be judged."""
        self.analyser.abandon()

    def analyse(self, texts: Iterable[str], progress: Progress) -> Iterable[str]:
        """Analyse each distinct text; gives these, in their order."""
        distinct = dict.fromkeys(texts)
        done = 0

        def count(n: int) -> None:
            nonlocal done
            done += n
            progress("analyse", done, len(distinct))

        count(0)
        self.analyser.prepare(distinct, count)
        progress("analyse", len(distinct), len(distinct))  # those that the cache had, too
        return distinct
