"""What each line of an answer is: the translation, or something said around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from mtbias.translate.language_models.answer_marks import QUOTES, is_fence, without_markdown, without_quotes
from mtbias.translate.language_models.answer_words import AnswerWords, folded
from mtbias.translate.text_language import MIN_WORDS, is_copy, is_in_another, words

Role = Literal["text", "introduction", "echo", "note", "continuation", "markdown"]

# "El médico ayudó al paciente." and "La médica ayudó a la paciente." have 0.63.
ALIKE = 0.5
"""Dice coefficient of the groups of three letters from which on two lines are translations of one sentence."""
_LEAST_ALIKE = 3
"""Shorter lines share their letters by chance."""
_QUOTED = re.compile(r"([^\"“”„«»\n]{1,400})[\"“„«]([^\"“”„«»]+)[\"”“»]\W*")
_LABEL = re.compile(r"([^:：\n]{1,400})[:：](?!//)\s*(.*)", re.DOTALL)
_BRACKETED = re.compile(r"[(\[]([^()\[\]\n]{1,40})[)\]]\s*(\w.*)", re.DOTALL)
_EXCLAIMED = re.compile(r"(¡?\w[^!.:\n]{0,30})!\s+(\S.*)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?。؟][\"”»')\]]{0,3}\s+(?=\S)")
_BETWEEN = re.compile(r"[\"”»']?\s*(?:→|->|=>|=|[-–—]|:|\|{1,3}|/)\s*")
_FEW_WORDS = 4
"""A line before the translation that is no longer, and begins as an announcement, is one."""
MOST_MARKS = 8
"""Marks within marks: a line that has more is no translation."""
MOST_LINES = 60
"""So many lines of an answer are read: what has more holds more than a translation."""


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line without marks and labels, what it is, and what was removed from it."""

    text: str
    role: Role
    kinds: tuple[str, ...] = ()


def read_line(line: str, source: str, lang: str, known: AnswerWords) -> AnswerLine:
    """What one line of an answer is, by itself."""
    kinds: list[str] = []
    text = line.strip()
    for _ in range(MOST_MARKS):
        if is_fence(text):
            return AnswerLine("", "markdown", (*kinds, "markdown"))
        before = text
        for kind, strip in (("markdown", without_markdown), ("quotes", without_quotes), ("echo", _without_source)):
            stripped = strip(text, source).strip()
            if stripped != text:
                text, kinds = stripped, [*kinds, kind]
        role, rest = _by_label(text, source, known)
        if role == "text" and rest != text and rest:
            text, kinds = rest, [*kinds, "introduction"]
        elif role != "text":
            return AnswerLine(rest, role, tuple(kinds))
        if text == before:
            return AnswerLine(text, _by_words(text, source, lang, known), tuple(kinds))
    return AnswerLine(text, "note", tuple(kinds))


def _without_source(text: str, source: str) -> str:
    """A line without the source that begins it, with an arrow or another mark between them."""
    begin = 1 if text[:1] in QUOTES else 0
    end = begin + len(source)
    if not source or text[begin:end].lower() != source.lower():
        return text
    found = _BETWEEN.match(text, end)
    return (found and text[found.end() :]) or text


def _announced(text: str, source: str, known: AnswerWords) -> str | None:
    """The translation where an announcement without a colon stands before it, else None."""
    found = _EXCLAIMED.fullmatch(text)
    if found and "!" not in source and folded(found[1]) in known.openers:  # "Sure! El médico …"
        return found[2]
    found = _QUOTED.fullmatch(text)
    if found and source[:1] not in QUOTES and known.speaks_of_translating(found[1], source):
        return found[2]  # 'The translation is "El médico …".'
    found = _BRACKETED.fullmatch(text)
    return found[2] if found and known.announces(found[1], source) else None  # "[Spanish] El médico …"


def _by_label(text: str, source: str, known: AnswerWords) -> tuple[Role, str]:
    """What a line is by what stands before its colon, and the rest of it; ``text`` and all of it without a label."""
    announced = _announced(text, source, known)
    if announced is not None:
        return "text", announced
    found = _LABEL.fullmatch(text)
    if found is None:
        return "text", text
    label, rest = found[1], without_marks(found[2])
    plain = folded(label)
    if folded(source).startswith(plain) or not plain:
        return "text", text
    if known.labels_source(label):
        return ("echo" if is_echo(rest, source) or not rest else "continuation"), rest
    if ":" in source:
        return "text", text
    if known.heads_note(label):
        return "note", rest
    if known.announces(label, source):
        return ("text", rest) if rest else ("introduction", "")
    return "text", text


def without_marks(text: str) -> str:
    """`text` without the emphasis that ends within it: what is left of ``**Translation:** …``."""
    return re.sub(r"^(?:\*{1,3}|_{1,2}|`+)\s+", "", text.strip()).strip()


def _by_words(text: str, source: str, lang: str, known: AnswerWords) -> Role:
    further = next(further_sentences(text, source), None)
    if further is not None and len(words(text[: further[0]])) >= MIN_WORDS:
        text = text[: further[0]].rstrip()  # what is said behind the translation is not judged here
    if is_echo(text, source):
        return "echo"
    if text[:1] in "([" and text[-1:] in ")]" and source[:1] not in "([":
        return "note"
    if is_in_another(text, lang) or known.speaks_of_translating(text, source):
        return "note"
    return "text"


def further_sentences(text: str, source: str) -> Iterator[tuple[int, int]]:
    """Where the sentences behind the first begin and end, where there are more than the source has."""
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    if len(starts) - 2 > len(_SENTENCE_END.findall(source)):
        yield from pairwise(starts[1:])


def is_echo(text: str, source: str) -> bool:
    """Whether a text of some words is the source, or nearly so."""
    own = words(source)
    return len(own) >= MIN_WORDS and is_copy(own, words(text))


def alike(one: str, other: str) -> bool:
    """Whether two lines are translations of one sentence, not the same: they share most groups of three letters.

    Edge cases: False where either has fewer than three words.
    """
    if min(len(words(one)), len(words(other))) < _LEAST_ALIKE:
        return False
    first, second = _trigrams(one), _trigrams(other)
    total = first.total() + second.total()
    return one != other and total > 0 and 2 * (first & second).total() >= ALIKE * total


def _trigrams(text: str) -> Counter[str]:
    plain = f" {' '.join(words(text))} "
    return Counter(plain[at : at + 3] for at in range(len(plain) - 2))


def roles_in_order(lines: Sequence[AnswerLine], source: str, known: AnswerWords) -> list[AnswerLine]:
    """The lines, read one after another.

    Before the translation, what ends with a colon and a short "Sure" announce it; behind it, what follows a note is
    part of the note unless it is another translation, and what follows another example is never one.
    """
    found: list[AnswerLine] = []
    first: str | None = None
    tail: Role | None = None
    for at, line in enumerate(lines):
        role = line.role
        if role == "text" and first is None and at + 1 < len(lines) and _introduces(line.text, source, known):
            role = "introduction"
        elif role == "text" and first is None:
            first = line.text
        elif role == "text" and (tail == "continuation" or (tail == "note" and not alike(line.text, first or ""))):
            role = tail
        elif role == "text" and known.closes(line.text, source) and not alike(line.text, first or ""):
            role = tail = "note"
        elif role == "continuation" or (role == "note" and first is not None and tail is None):
            tail = role
        found.append(AnswerLine(line.text, role, line.kinds))
    return found


def _introduces(text: str, source: str, known: AnswerWords) -> bool:
    """Whether a line before others announces them."""
    if text.endswith((":", "：")):
        return ":" not in source
    return len(words(text)) <= _FEW_WORDS and known.opens(text, source)
