"""From the answer of a language model to the translation in it, with what was noticed on the way."""

from __future__ import annotations

from dataclasses import dataclass

from mtbias.translate.language_models.prompt_files import Prompt


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is left of an answer."""

    text: str | None
    """The translation; None where there is none, or nobody can tell which it is."""
    kinds: tuple[str, ...] = ()
    """What was noticed in the answer, each once."""
    reason: str | None = None
    """Which of the kinds leaves it without a translation."""


def clean(answer: str, source: str, prompt: Prompt, lang: str, *, finish: str | None = None) -> Cleaned:  # noqa: ARG001
    """The translation in `answer`. To be written: this takes the whole answer."""
    text = answer.strip()
    return Cleaned(text) if text else Cleaned(None, ("empty",), "empty")
