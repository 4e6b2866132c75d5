"""From the answer of a language model to the translation in it, with what was noticed on the way.

Answers have a few shapes: a thought before the translation, a fence, a label or quotation marks around it, further
lines or a note behind it. These are removed, and counted by their kind. What has another shape has no translation, nor
has an answer of which nobody can tell which part is one: it is not guessed. The translation is a part of the answer as
it stands there, but for Markdown's marks of emphasis.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

from mtbias.files.text_repair import OF_CHARACTERS, repair
from mtbias.translate.language_models.answer_words import (
    AnswerWords,
    after_thought,
    answer_words,
    folded,
    is_fence,
    within_element,
    without_markdown,
    without_quotes,
    without_tokens,
)
from mtbias.translate.language_models.prompt_files import Prompt
from mtbias.translate.text_language import MIN_WORDS, is_copy, is_in_another, words

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "empty answers",
        "truncated": "answers cut off within the translation",
        "refusal": "refusals, and talk about the translation instead of one",
        "language": "answers in another language",
        "overlong": "answers much longer than the source",
        "unmarked": "answers without the marks that the prompt asks for",
        "shape": "answers of another shape (JSON, brackets, quotations in a sentence, marks within marks)",
        "lines": "answers of several lines that might each be the translation",
        "alternatives": "several translations offered",
        "echo": "the source repeated",
        "introduction": "announcements of the translation",
        "note": "notes beside the translation",
        "thinking": "thoughts before the answer",
        "tags": "special tokens and tags",
        "markdown": "Markdown",
        "quotes": "quotation marks around the translation",
    }
)
"""What may be noticed in answers. Down to ``alternatives`` they leave an answer without a translation (but ``lines`` do
not where all are the same, or the prompt means the first); the others are removed, and leave it without one where they
are all that it has."""

# The longest of 32,000 translations of WinoMT into eight languages has 2.1 times the characters of its source.
TIMES_LONGER = 5
LEAST_LONG = 200
"""A text of more than `TIMES_LONGER` times the source's characters, and this many more, is no translation of it."""
MOST_MARKS = 8
"""Marks within marks: a line that has more has another shape."""
MOST_LINES = 60
"""An answer of more lines holds more than a translation."""
# "El médico ayudó al paciente." and "La médica ayudó a la paciente." have 0.63.
ALIKE = 0.5
"""Dice coefficient of the groups of three letters from which on two lines are translations of one sentence."""
_LEAST_ALIKE = 3
"""Lines of fewer words share their letters by chance."""
_ARTICLE = 3
"""Letters of what in brackets may be an article."""
_FEW_WORDS = 4
"""A line before the translation that is no longer, and begins as an announcement, is one."""

Role = Literal["text", "introduction", "echo", "note", "markdown", "shape"]

_LABEL = re.compile(r"([^:：\n]{1,400})[:：](?!//)\s*(.*)", re.DOTALL)
_EXCLAIMED = re.compile(r"(¡?\w[^!.:\n]{0,30})!\s+(\S.*)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?。؟][\"”»')\]]{0,3}\s+(?=\S)")
_BRACKET = re.compile(r"\s[(\[]([^()\[\]]{1,400})[)\]]")
_LAST_BRACKET = re.compile(_BRACKET.pattern + r"[.!? ]{0,4}\Z")
_ENDS = (".", "!", "?", "。", "؟", '"', "”", "»")
_WRITTEN_ON = re.compile(r"\w\(\w{1,4}\)|\w/\w")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,1000})[\"“”»]")
_SLASH = re.compile(r"\s[/|]+\s")
_EMPHASIS_LEFT = re.compile(r"^(?:\*{1,3}|_{1,2}|`+)\s+")


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
    reading = _Reading(source, prompt, lang, answer_words(lang), [])
    text: str | None = None
    if finish == "content_filter":
        reason: str | None = "refusal"
    else:
        bare, reason = reading.unwrapped(repair(answer, OF_CHARACTERS).text)
        if reason is not None:
            reason = "truncated" if finish == "length" else reason
        else:
            text, reason = reading.translation(bare)
            if text is not None and finish == "length" and _plain(answer).endswith(_plain(text)):
                reason = "truncated"
    kinds = reading.kinds if reason is None else [*reading.kinds, reason]
    ordered = tuple(kind for kind in KINDS if kind in kinds)
    return Cleaned(None if reason else text, ordered, reason)


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


def _plain(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[\W_]+", "", text)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line without marks and labels, and what it is."""

    text: str
    role: Role
    kinds: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reading:
    """One answer that is being read."""

    source: str
    prompt: Prompt
    lang: str
    known: AnswerWords
    kinds: list[str]
    """What was noticed so far."""

    def unwrapped(self, answer: str) -> tuple[str, str | None]:
        """The answer without thoughts, tokens and tags, or the reason why nothing is left."""
        text = after_thought(answer)
        if text is None:
            return "", "thinking"
        self.kinds += ["thinking"] if text != answer else []
        if self.prompt.answer.between is not None:
            begin, end = self.prompt.answer.between
            _, mark, behind = text.partition(begin)
            return behind.partition(end)[0], None if mark or not text.strip() else "unmarked"
        bare = within_element(without_tokens(text))
        self.kinds += ["tags"] if bare != text else []
        return bare, None

    def translation(self, text: str) -> tuple[str | None, str | None]:
        """The line that is the translation, or the reason why none is."""
        written = [line.strip() for line in text.splitlines() if line.strip()]
        lines = list(self._in_order([self._line(line) for line in written[:MOST_LINES]]))
        texts = [line for line in lines if line.role == "text"]
        around = [line for line in lines if line.role != "text"]
        if not texts:
            return None, self._reason_of(around)
        if len(written) > MOST_LINES:
            return None, "lines"
        first = texts[0]
        self.kinds.extend((*(line.role for line in around), *first.kinds))
        form = self.prompt.answer.lines
        if form != "first":
            if any(_alike(first.text, line.text) for line in [*texts, *around] if line.role in {"text", "note"}):
                return None, "alternatives"
            if any(line.text != first.text for line in texts):
                return None, "alternatives" if form == "alternatives" else "lines"
        self.kinds += ["lines"] if len(texts) > 1 else []
        return self._without_tails(first)

    def _line(self, text: str) -> _Line:
        """What one line of an answer is, by itself."""
        kinds: list[str] = []
        for _ in range(MOST_MARKS):
            if is_fence(text):
                return _Line("", "markdown", (*kinds, "markdown"))
            before = text
            for kind, strip in (("markdown", without_markdown), ("quotes", without_quotes)):
                stripped = strip(text, self.source).strip()
                kinds += [kind] if stripped != text else []
                text = stripped
            role, rest = self._by_label(text)
            if role != "text":
                return _Line(rest, role, tuple(kinds))
            kinds += ["introduction"] if rest != text else []
            text = rest
            if text == before:
                return _Line(text, self._by_words(text), tuple(kinds))
        return _Line(text, "shape", tuple(kinds))

    def _by_label(self, text: str) -> tuple[Role, str]:
        """What a line is by what stands before its colon, and the rest; without a label ``text`` and all of it."""
        exclaimed = _EXCLAIMED.fullmatch(text)
        if exclaimed and "!" not in self.source and folded(exclaimed[1]) in self.known.openers:  # "Sure! El médico …"
            return "text", exclaimed[2]
        match = _LABEL.fullmatch(text)
        if match is None or ":" in self.source or not folded(match[1]):
            return "text", text
        label, rest = match[1], _EMPHASIS_LEFT.sub("", match[2].strip())
        if folded(self.source).startswith(folded(label)):
            return "text", text
        if self.known.labels_source(label):
            return "echo" if self._is_echo(rest) or not rest else "note", rest
        if self.known.heads_note(label):
            return "note", rest
        if self.known.announces(label, self.source):
            return ("text", rest) if rest else ("introduction", "")
        return "text", text

    def _by_words(self, text: str) -> Role:
        further = next(self._further_sentences(text), None)
        if further is not None and len(words(text[: further[0]])) >= MIN_WORDS:
            text = text[: further[0]].rstrip()  # what is said behind the translation is not judged here
        if self._is_echo(text):
            return "echo"
        if text[:1] in {"(", "["} and text[:1] not in self.source[:1]:
            return "note" if text[-1:] in {")", "]"} else "shape"
        if text[:1] == "{" and self.source[:1] != "{":
            return "shape"
        if is_in_another(text, self.lang) or self.known.speaks_of_translating(text, self.source):
            return "note"
        return "text"

    def _in_order(self, lines: Sequence[_Line]) -> Iterator[_Line]:
        """The lines, read one after another: what introduces the translation, and what belongs to a note behind it."""
        first: str | None = None
        in_note = False
        for at, line in enumerate(lines):
            role = line.role
            if role == "text" and first is None and at + 1 < len(lines) and self._introduces(line.text):
                role = "introduction"
            elif role == "text" and first is None:
                first = line.text
            elif role == "text" and (in_note or self.known.closes(line.text, self.source)):
                role = "text" if _alike(line.text, first or "") else "note"
            in_note = in_note or (role == "note" and first is not None)
            yield _Line(line.text, role, line.kinds)

    def _introduces(self, text: str) -> bool:
        if text.endswith((":", "：")):
            return ":" not in self.source
        return len(words(text)) <= _FEW_WORDS and self.known.opens(text, self.source)

    def _without_tails(self, line: _Line) -> tuple[str | None, str | None]:
        """The line without notes behind the translation in it, or the reason why it is none."""
        for _ in range(MOST_MARKS):
            if line.role != "text":
                return None, self._reason_of([line])
            if len(line.text) > TIMES_LONGER * len(self.source) + LEAST_LONG:
                return None, "overlong"
            end, kind = self._end(line.text)
            if kind is None:
                return self._judged(line.text)
            self.kinds.append(kind)
            line = self._line(line.text[:end].rstrip())
            self.kinds.extend(line.kinds)
        return None, "shape"

    def _end(self, text: str) -> tuple[int, str | None]:
        """Where the first note behind the translation begins, and what it is."""
        for begin, tail in self._tails(text):
            if _alike(text[:begin], tail):
                break  # another translation
            if self._is_echo(tail):
                return begin, "echo"
            if self._is_note(text[:begin], tail):
                return begin, "note"
        return len(text), None

    def _judged(self, text: str) -> tuple[str | None, str | None]:
        if self._offers_alternatives(text):
            return None, "alternatives"
        if self.known.refuses(text, self.source):
            return None, "refusal"
        if not any(letter.isalnum() for letter in text):
            return None, "empty"
        if text.endswith((":", "：")) and ":" not in self.source:
            return None, "introduction"  # of what is not there
        return text, None

    def _tails(self, text: str) -> Iterator[tuple[int, str]]:
        """The bracket that ends a line, where the source has none, and sentences beyond as many as the source has."""
        bracket = None if set("([") & set(self.source) else _LAST_BRACKET.search(text)
        if bracket and (self._is_echo(bracket[1]) or not self._is_of_source(bracket[1])):
            yield bracket.start(), bracket[1]
        for begin, end in self._further_sentences(text):
            yield begin, text[begin:end]

    def _further_sentences(self, text: str) -> Iterator[tuple[int, int]]:
        starts = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        if len(starts) - 2 > len(_SENTENCE_END.findall(self.source)):
            yield from pairwise(starts[1:])

    def _is_note(self, before: str, tail: str) -> bool:
        label, colon, _ = tail.partition(":")
        if colon and ":" not in self.source and (self.known.heads_note(label) or self.known.labels_source(label)):
            return True
        return (
            (before.endswith(_ENDS) and not tail.endswith(_ENDS))  # a bracket behind the sentence
            or self.known.speaks_of_translating(tail, self.source)
            or self.known.closes(tail, self.source)
            or is_in_another(tail, self.lang)
        )

    def _offers_alternatives(self, text: str) -> bool:
        """Whether a line has several translations of the sentence, in brackets or behind a slash.

        So has an article in brackets ("El (la) médico"), which would be read as the gender of the other. Two forms of a
        word in one sentence ("el médico (la médica)", "el médico/la médica") are one translation, and both are read.
        """
        for match in () if set("([") & set(self.source) else _BRACKET.finditer(text):
            short = all(len(word) <= _ARTICLE for word in match[1].split()) and not _WRITTEN_ON.search(text)
            if (short and not self._is_of_source(match[1])) or _alike(text[: match.start()], match[1]):
                return True
        if any(_alike(text[:begin], tail) for begin, tail in self._tails(text)):
            return True
        first, *others = [text] if set("/|") & set(self.source) else _SLASH.split(text)
        return any(_alike(first, other) for other in others)

    def _is_of_source(self, text: str) -> bool:
        """Whether all words of a text stand in the source too: a name, or a term that was left in English."""
        return set(words(text)) <= set(words(self.source))

    def _is_echo(self, text: str) -> bool:
        """Whether a text of some words is the source, or nearly so, or begins with it."""
        own = words(self.source)
        if len(own) < MIN_WORDS:
            return False
        return text.lower().lstrip("\"“«'").startswith(self.source.lower()) or is_copy(own, words(text))

    def _quotes_a_sentence(self, text: str) -> bool:
        """Whether a text quotes some words that are not the source: a translation, told in a sentence."""
        quoted = (match[1] for match in _QUOTED.finditer(text))
        return any(len(words(each)) >= MIN_WORDS and not self._is_echo(each) for each in quoted)

    def _reason_of(self, lines: Sequence[_Line]) -> str:
        """Why an answer of these lines, none of them a translation, has none."""
        said = [line.text for line in lines if line.role in {"note", "text"}]
        if any(self.known.refuses(each, self.source) for each in said):
            return "refusal"
        if any(self.known.speaks_of_translating(each, self.source) for each in said):
            return "shape" if any(map(self._quotes_a_sentence, said)) else "refusal"
        if any(is_in_another(each, self.lang) for each in said):
            return "language"
        roles = {line.role for line in lines}
        return next((role for role in ("echo", "shape", "note", "introduction") if role in roles), "empty")


def _alike(one: str, other: str) -> bool:
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
