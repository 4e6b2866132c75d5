"""Answers of language models: what is kept of each, and how the translations of a corpus are made
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mtbias.errors import ModelError
from mtbias.translate.given_translations import GivenSystem, GivenTranslations
from mtbias.translate.language_models.cleaning import Cleaned, clean, tally
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.outputs import EXAMPLES, PartsPlan
from mtbias.translate.system import Sources, Translated
from mtbias.types import Translation

MOST_TOKENS = 1024
"""Most tokens of an answer, thinking included, where no other number is asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a language model said to one prompt."""

    text: str
    finish: str | None = None
    """Why it ended: ``stop``, ``length`` (at the maximum), ``loop`` (it repeated itself without
    end), ``content_filter``, or what else the server says."""
    model: str | None = None
    """The model's name as the server gives it."""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class AnswersPlan(PartsPlan[Answer]):
    """A plan that keeps the answers of a language model, to each distinct source once, or several
    times.
    """

    prompt: Prompt
    lang: str
    piece = Answer

    @cached_property
    def _cleaned(self) -> dict[tuple[str, Answer], Cleaned]:
        return {}

    def clean(self, source: str, answer: Answer) -> Cleaned:
        """The translation in an answer."""
        found = self._cleaned.get((source, answer))
        if found is None:
            found = clean(answer.text, source, self.prompt, self.lang, finish=answer.finish)
            self._cleaned[source, answer] = found
        return found

    def text(self, source: str, piece: Answer) -> str | None:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return self.clean(source, piece).text

    def translated(self, pieces: Sequence[tuple[str, Answer]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; all sources follow each other as often as they
        were asked.

        Raises:
            ModelError: several models answered.
        """
        models = {answer.model for _, answer in pieces} - {None}
        if len(models) > 1:
            raise changed_model(*sorted(map(str, models)))
        n = len(self.distinct)
        times = [dict(pieces[start : start + n]) for start in range(0, len(pieces), n)]
        first, *others = [
            [
                _translation(i.id, self.clean(i.source, found[i.source]), found[i.source].text)
                for i in self.instances
            ]
            for found in times
        ]
        noticed = tally((i.id, self.clean(i.source, times[0][i.source])) for i in self.instances)
        answered = {"form": "answered", "answered_as": next(iter(models), None), **noticed}
        return Translated(first, answered, repeats=others)


def changed_model(first: str, other: str) -> ModelError:
    """Numbers of two models at once are those of none."""
    return ModelError(
        f"expected answers of one model in a run, got {first!r} and {other!r}: the server changed it meanwhile; ask "
        "for the model by a name that stays (with its date or revision), into another folder"
    )


def cleaned_system(system: GivenSystem, lang: str) -> GivenSystem:
    """The system whose translations are those in the answers of `system`, into the language `lang`.

    What a file lacks, and an empty line of it, is no answer and counts as it does otherwise.
    """

    def read(corpus: Sources) -> GivenTranslations:
        given = system.read(corpus)
        prompt = load_prompt("plain")  # what was asked is not known; this one asks for one line
        sources = {instance.id: instance.source for instance in corpus.instances}
        found = {
            a.id: clean(a.text, sources[a.id], prompt, lang)
            for a in given.translations
            if a.text is not None
        }
        translations = [
            _translation(a.id, found[a.id], a.text) if a.id in found else a
            for a in given.translations
        ]
        noticed = tally(found.items())
        for kind, ids in given.noticed["examples"].items():
            noticed["examples"][kind] = [*ids, *noticed["examples"].get(kind, ())][:EXAMPLES]
        return replace(
            given, translations=translations, noticed={**given.noticed, **noticed}, cleaned=True
        )

    return replace(system, read=read)


def _translation(id_: str, found: Cleaned, raw: str | None) -> Translation:
    return Translation(id_, found.text, found.reason, raw)
