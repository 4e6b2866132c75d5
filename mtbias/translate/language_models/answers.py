"""Answers of language models: what is kept of each, and how the translations of a corpus are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mtbias.errors import ModelError
from mtbias.translate.given_translations import GivenSystem, GivenTranslations
from mtbias.translate.language_models.cleaning import Cleaned, clean, tally
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.outputs import EXAMPLES, PartsPlan
from mtbias.translate.system import Sources, Translated
from mtbias.types import SourceSentence, Translation


@dataclass(frozen=True, slots=True)
class Answer:
    """What a language model said to one prompt."""

    text: str
    finish: str | None = None
    """Why it ended: ``stop``, ``length`` (at the maximum), ``content_filter``, or what else the server says."""
    model: str | None = None
    """The model's name as the server gives it."""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class AnswersPlan(PartsPlan[Answer]):
    """A plan that keeps the answers of a language model, to each distinct source once, or several times."""

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
        """See `mtbias.translate.outputs.PartsPlan`; all sources follow each other as often as they were asked.

        Raises:
            ModelError: several models answered.
        """
        models = {answer.model for _, answer in pieces} - {None}
        if len(models) > 1:
            raise changed_model(*sorted(map(str, models)))
        n = len(self.distinct)
        times = [dict(pieces[start : start + n]) for start in range(0, len(pieces), n)]
        first, *others = [[self._translation(i, answers[i.source]) for i in self.instances] for answers in times]
        return Translated(first, self._noticed(times[0], models), repeats=others)

    def _translation(self, instance: SourceSentence, answer: Answer) -> Translation:
        found = self.clean(instance.source, answer)
        return Translation(instance.id, found.text, found.reason, answer.text)

    def _noticed(self, answers: Mapping[str, Answer], models: set[str | None]) -> dict[str, Any]:
        found = tally((i.id, self.clean(i.source, answers[i.source])) for i in self.instances)
        return {
            "form": "answered",
            "answered_as": next(iter(models), None),
            "untranslated": found["untranslated"],
            "cleaned": found["cleaned"],
            "examples": {kind: ids[:EXAMPLES] for kind, ids in found["ids"].items()},
        }


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
        return _cleaned(system.read(corpus), corpus, lang)

    return replace(system, read=read)


def _cleaned(given: GivenTranslations, corpus: Sources, lang: str) -> GivenTranslations:
    prompt = load_prompt("plain")  # what was asked is not known; this one asks for one line
    instances: dict[str, SourceSentence] = {instance.id: instance for instance in corpus.instances}
    found = {
        answer.id: clean(answer.text, instances[answer.id].source, prompt, lang)
        for answer in given.translations
        if answer.text is not None
    }
    counts = tally(found.items())
    examples = dict(given.noticed["examples"])
    for kind, ids in counts["ids"].items():
        examples[kind] = [*examples.get(kind, ()), *ids][:EXAMPLES]
    translations = [
        Translation(answer.id, found[answer.id].text, found[answer.id].reason, answer.text)
        if answer.id in found
        else answer
        for answer in given.translations
    ]
    noticed = {"cleaned": counts["cleaned"], "untranslated": counts["untranslated"], "examples": examples}
    return replace(given, translations=translations, noticed={**given.noticed, **noticed}, cleaned=True)
