"""From the answer of a language model to the translation in it, with what was noticed on the way.

What is around the translation is removed and counted by its kind. Where nothing is left, or nobody can tell which part
is the translation, there is none: it is not guessed. The translation is a part of the answer as it stands there, but
for Markdown's marks of emphasis.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mtbias.translate.language_models.answer_lines import (
    MOST_LINES,
    AnswerLine,
    alike,
    read_line,
    roles_in_order,
)
from mtbias.translate.language_models.answer_marks import after_thought, within_element, within_json, without_tokens
from mtbias.translate.language_models.answer_tails import offers_alternatives, offers_both_forms, without_tail
from mtbias.translate.language_models.answer_words import answer_words
from mtbias.translate.language_models.prompt_files import Prompt
from mtbias.translate.text_language import is_in_another

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "empty answers",
        "truncated": "answers cut off within the translation",
        "refusal": "refusals, and talk about the translation instead of one",
        "language": "answers in another language",
        "overlong": "answers much longer than the source",
        "unmarked": "answers without the marks that the prompt asks for",
        "lines": "answers of several lines that might each be the translation",
        "alternatives": "several translations offered",
        "pairs": "both forms of a word in one sentence, kept",
        "echo": "the source repeated",
        "introduction": "announcements of the translation",
        "note": "notes beside the translation",
        "continuation": "further examples made up",
        "thinking": "thoughts before the answer",
        "tags": "special tokens, tags, JSON",
        "markdown": "Markdown",
        "quotes": "quotation marks around the translation",
    }
)
"""What may be noticed in answers. Down to ``alternatives`` they leave an answer without a translation (but ``lines`` do
not where all are the same, or the prompt means the first); ``pairs`` stay in it; the others are removed, and leave it
without one where they are all that it has."""

# The longest of 32,000 translations of WinoMT into eight languages has 2.1 times the characters of its source.
TIMES_LONGER = 5
MOST_ROUNDS = 8
"""Marks within marks are removed so many times."""
LEAST_LONG = 200
"""A text of more than `TIMES_LONGER` times the source's characters, and this many more, is no translation of it."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is left of an answer."""

    text: str | None
    """The translation; None where there is none, or nobody can tell which it is."""
    kinds: tuple[str, ...] = ()
    """What was noticed in the answer, each of `KINDS` once and in their order."""
    reason: str | None = None
    """Which of the kinds leaves it without a translation."""


def clean(answer: str, source: str, prompt: Prompt, lang: str, *, finish: str | None = None) -> Cleaned:
    """The translation in `answer`, to the question for a translation of `source` that `prompt` asked.

    Args:
        answer: what the model wrote.
        source: the English sentence.
        prompt: what was asked (`mtbias.translate.language_models.prompt_files`).
        lang: ISO 639-1 code of the language asked for.
        finish: why the server says that the answer ended: ``length`` where it was cut off, ``content_filter`` where it
            was withheld; others, and None, are a usual end.
    """
    kinds: list[str] = []
    if finish == "content_filter":
        return _without("refusal", kinds)
    text, reason = _unwrapped(answer, prompt, kinds)
    if reason is not None:
        return _without("truncated" if finish == "length" else reason, kinds)
    line, reason = _one_line(text, source, prompt, lang, kinds)
    if line is None or reason is not None:
        return _without(reason or "empty", kinds)
    if answer_words(lang).refuses(line, source):
        reason = "refusal"
    elif not any(letter.isalnum() for letter in line):
        reason = "empty"
    elif line.endswith((":", "：")) and ":" not in source:
        reason = "introduction"  # of what is not there
    elif finish == "length" and _plain(answer).endswith(_plain(line)):
        reason = "truncated"
    return _without(reason, kinds) if reason is not None else Cleaned(line, _ordered(kinds))


def tally(cleaned: Iterable[tuple[str, Cleaned]]) -> dict[str, Any]:
    """Counts for `metrics.json`, of (id, cleaned answer) of every sentence.

    ``cleaned`` has how many answers each kind was noticed in, ``untranslated`` how many it left without a translation;
    kinds that were not noticed are not there. ``ids`` has the ids of each kind, those without a translation first.
    """
    rows = sorted(cleaned, key=lambda row: row[1].text is not None)  # stable: in the order of the corpus
    counts = Counter(kind for _, each in rows for kind in each.kinds)
    reasons = Counter(each.reason for _, each in rows if each.reason is not None)
    return {
        "cleaned": {kind: counts[kind] for kind in KINDS if counts[kind]},
        "untranslated": {kind: reasons[kind] for kind in KINDS if reasons[kind]},
        "ids": {kind: [id_ for id_, each in rows if kind in each.kinds] for kind in KINDS if counts[kind]},
    }


def _ordered(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if kind in kinds)


def _without(reason: str, kinds: Sequence[str]) -> Cleaned:
    return Cleaned(None, _ordered([*kinds, reason]), reason)


def _plain(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[\W_]+", "", text)


def _unwrapped(answer: str, prompt: Prompt, kinds: list[str]) -> tuple[str, str | None]:
    """The answer without thoughts, tokens and tags, or the reason why nothing is left."""
    if not answer.strip():
        return "", "empty"
    text = after_thought(answer)
    if text is None:
        return "", "thinking"
    if text != answer:
        kinds.append("thinking")
    if prompt.answer.between is not None:
        begin, end = prompt.answer.between
        _, mark, behind = text.partition(begin)
        if not mark:
            return "", "unmarked"
        text = behind.partition(end)[0]
    else:
        bare = within_json(within_element(without_tokens(text)))
        kinds += ["tags"] if bare != text else []
        text = bare
    return text, None if text.strip() else "empty"


def _one_line(text: str, source: str, prompt: Prompt, lang: str, kinds: list[str]) -> tuple[str | None, str | None]:
    """The line that is the translation, or the reason why none is; adds to `kinds`."""
    known = answer_words(lang)
    written = [line.strip() for line in text.splitlines() if line.strip()]
    lines = roles_in_order([read_line(line, source, lang, known) for line in written[:MOST_LINES]], source, known)
    found = [line for line in lines if line.role == "text"]
    around = [line for line in lines if line.role != "text"]
    if not found:
        return None, _reason_of(around, source, lang)
    kinds += [line.role for line in around]
    if len(written) > MOST_LINES and "continuation" not in kinds:
        return None, "lines"
    first = found[0]
    kinds += first.kinds
    if prompt.answer.lines != "first":
        if any(alike(first.text, line.text) for line in [*found[1:], *around] if line.role in {"text", "note"}):
            return None, "alternatives"
        if any(line.text != first.text for line in found[1:]):
            return None, "alternatives" if prompt.answer.lines == "alternatives" else "lines"
    if len(found) > 1:
        kinds.append("lines")
    return _bare(first, source, lang, kinds)


def _bare(line: AnswerLine, source: str, lang: str, kinds: list[str]) -> tuple[str | None, str | None]:
    """The line without what stands around the translation in it, or the reason why it is none; adds to `kinds`."""
    known = answer_words(lang)
    for _ in range(MOST_ROUNDS):
        if line.role != "text":
            return None, _reason_of([line], source, lang)
        if len(line.text) > TIMES_LONGER * len(source) + LEAST_LONG:
            return None, "overlong"
        text, kind = without_tail(line.text, source, lang, known)
        if kind is None:
            if offers_alternatives(text, source):
                return None, "alternatives"
            kinds += ["pairs"] if offers_both_forms(text, source) else []
            return text, None
        kinds.append(kind)
        line = read_line(text, source, lang, known)
        kinds += line.kinds
    return None, "lines"


def _reason_of(lines: Sequence[AnswerLine], source: str, lang: str) -> str:
    """Why an answer of these lines, none of them a translation, has none."""
    known = answer_words(lang)
    said = [line.text for line in lines if line.role in {"note", "text"}]
    if any(known.refuses(text, source) or known.speaks_of_translating(text, source) for text in said):
        return "refusal"
    if any(line.role in {"echo", "continuation"} for line in lines):
        return "echo"
    if any(is_in_another(each, lang) for each in said):
        return "language"
    return "note" if said else "introduction" if any(line.role == "introduction" for line in lines) else "empty"
