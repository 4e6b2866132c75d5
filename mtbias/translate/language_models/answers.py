"""Answers of language models, and the translations of a corpus that are taken from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""Default of the most tokens of an answer, thinking included."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a language model to one prompt."""

    text: str
    finish: str | None = None
    """Why it ended: ``stop``, ``length`` (at the maximum), ``loop`` (it repeated itself without
    end), ``content_filter``, or another word of the server."""
    model: str | None = None
    """The server's name of the model."""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class AnswersPlan(PartsPlan[Answer]):
    """A plan that keeps one or several answers of a language model to each distinct source."""

    prompt: Prompt
    lang: str
    piece = Answer

    @cached_property
    def _cleaned(self) -> dict[tuple[str, Answer], Cleaned]:
        return {}

    def clean(self, source: str, answer: Answer) -> Cleaned:
        """The translation in an answer."""
        cleaned = self._cleaned.get((source, answer))
        if cleaned is None:
            cleaned = clean(answer.text, source, self.prompt, self.lang, finish=answer.finish)
            self._cleaned[source, answer] = cleaned
        return cleaned

    def text(self, source: str, piece: Answer) -> str | None:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return self.clean(source, piece).text

    def translated(self, pieces: Sequence[tuple[str, Answer]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; with repeats, `pieces` has all sources, then
        all again.

        Raises:
            ModelError: several models answered.
        """
        models = {answer.model for _, answer in pieces} - {None}
        if len(models) > 1:
            raise changed_model(*sorted(map(str, models)))

        n = len(self.distinct)
        rounds = [dict(pieces[start : start + n]) for start in range(0, len(pieces), n)]
        first, *repeats = map(self._translations, rounds)
        cleaned = [(i.id, self.clean(i.source, rounds[0][i.source])) for i in self.instances]
        noticed = {
            "form": "answered",
            "answered_as": next(iter(models), None),
            **tally(cleaned),
        }
        return Translated(first, noticed, repeats=repeats)

    def _translations(self, answers: Mapping[str, Answer]) -> list[Translation]:
        """The translations of the corpus in the answers to its sources."""
        translations = []
        for instance in self.instances:
            answer = answers[instance.source]
            cleaned = self.clean(instance.source, answer)
            translations.append(_translation(instance.id, cleaned, answer.text))
        return translations


def changed_model(first: str, other: str) -> ModelError:
    """The error where two models answer in one run, whose numbers would be those of neither."""
    return ModelError(
        f"expected answers of one model in a run, got {first!r} and {other!r}: "
        "the server changed it meanwhile; ask for the model by a name that stays "
        "(with its date or revision), into another folder"
    )


def cleaned_system(system: GivenSystem, lang: str) -> GivenSystem:
    """The system whose translations into `lang` are those in the answers of `system`.

    Missing and empty lines of a file are not answers, and count as without cleaning.
    """

    def read(corpus: Sources) -> GivenTranslations:
        answers = system.read(corpus)
        prompt = load_prompt("plain")  # the model's prompt is unknown; this one asks for one line
        sources = {instance.id: instance.source for instance in corpus.instances}
        cleaned: dict[str, Cleaned] = {}
        translations = []
        for answer in answers.translations:
            if answer.text is None:
                translations.append(answer)
                continue
            result = clean(answer.text, sources[answer.id], prompt, lang)
            cleaned[answer.id] = result
            translations.append(_translation(answer.id, result, answer.text))

        noticed = tally(cleaned.items())
        for kind, ids in answers.noticed["examples"].items():
            noticed["examples"][kind] = [*ids, *noticed["examples"].get(kind, ())][:EXAMPLES]
        all_noticed = {**answers.noticed, **noticed}
        return replace(answers, translations=translations, noticed=all_noticed, cleaned=True)

    return replace(system, read=read)


def _translation(id_: str, cleaned: Cleaned, raw: str | None) -> Translation:
    return Translation(id_, cleaned.text, cleaned.reason, raw)
