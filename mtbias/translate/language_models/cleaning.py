"""The translation in the answer of a language model.

A thought before the translation, and fences, a label and quotation marks around it are removed; of
several lines the first that may be the translation is taken. Each is counted by its kind. An answer
of another shape, or with several translations, has no translation: nothing is guessed. The
translation is a part of the answer as it was written, except for Markdown's marks of emphasis.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from mtbias.errors import MtbiasError
from mtbias.files.text_repair import OF_CHARACTERS, repair
from mtbias.language.installed import get_language
from mtbias.translate.language_models.answer_marks import (
    after_thought,
    within_element,
    without_markdown,
    without_quotes,
    without_tokens,
)
from mtbias.translate.language_models.prompt_files import AnswerForm, Prompt, load_prompt
from mtbias.translate.outputs import EXAMPLES
from mtbias.translate.text_language import (
    MIN_WORDS,
    is_copy,
    is_in_another,
    is_repetitive,
    words,
)

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "empty answers",
        "truncated": "answers cut off within the translation",
        "loop": "answers that repeat themselves without end",
        "refusal": "refusals",
        "overlong": "answers much longer than the source",
        "unmarked": "answers without the marks that the prompt asks for",
        "alternatives": "several translations offered",
        "note": "talk about the translation",
        "language": "text in another language",
        "shape": "another shape (JSON, brackets, a note after the translation, marks within marks)",
        "echo": "the source repeated",
        "introduction": "announcements of the translation",
        "lines": "further lines after the translation",
        "thinking": "thoughts before the answer",
        "tags": "special tokens and tags",
        "markdown": "Markdown",
        "quotes": "quotation marks around the translation",
    }
)
"""What answers may have. The kinds down to ``alternatives`` leave an answer without a translation;
the others are removed, and leave it without one only where nothing else is left."""

# The longest of 32,000 translations of WinoMT into eight languages has 2.1 times the characters of
# its source.
TIMES_LONGER = 5
LEAST_LONG = 200
"""A translation has at most `TIMES_LONGER` times the source's characters, and this many more."""
_UNFINISHED = frozenset({"length", "loop"})
"""Ends of answers that were not finished."""
MOST_MARKS = 8
"""Most marks within marks of a line; one with more has another shape."""
MOST_LINES = 60
"""Most lines of an answer that are read."""
# "El médico ayudó al paciente." and "La médica ayudó a la paciente." have 0.63.
ALIKE = 0.5
"""Least Dice coefficient of the groups of three letters of two translations of one sentence."""
_LEAST_ALIKE = 3
"""Least words of such lines; shorter ones may share their letters by chance."""
_FEW_WORDS = 4
"""Most words of a line before the translation that is an announcement because it begins as one."""

_LABEL = re.compile(r"([^:：{\n]{1,400})[:：](?!//)\s*(.*)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?。؟][\"”»')\]]{0,3}\s+(?=\S)")
_ASIDE = re.compile(r"\s[/|]+\s|\s?[(\[]|[)\]]")
"""Signs before another wording, and brackets."""
_ARTICLE = re.compile(r"\s[(\[](\w{1,3})[)\]]")
_WRITTEN_ON = re.compile(r"\w\(\w{1,4}\)|\w/\w")
_APOSTROPHE = re.compile("[’‘ʼ`´]")
_EDGES = " \t¡¿.,;:!?*_#>\"“”„«»'()[]-–—"
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]m|me|my|mine|we|us|our|sorry|excuse|pardon|forgive|apolog\w*|regret\w*|as an?)\b",
    re.IGNORECASE,
)
"""Words of a source whose translation may begin like a refusal."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The translation in an answer, and what the answer has around it."""

    text: str | None
    """The translation; None if there is none, or several."""
    kinds: tuple[str, ...] = ()
    """What the answer has, each of `KINDS` once and in their order."""
    reason: str | None = None
    """The kind that leaves it without a translation."""


def clean(
    answer: str, source: str, prompt: Prompt, lang: str, *, finish: str | None = None
) -> Cleaned:
    """The translation of `source` in `answer`.

    Args:
        answer: the model's text.
        source: the sentence.
        prompt: the prompt (`mtbias.translate.language_models.prompt_files`).
        lang: ISO 639-1 code of the target language.
        finish: why the answer ended: ``length`` where it was cut off, ``loop`` where it repeated
            itself without end, ``content_filter`` where it was withheld; any other value, and None,
            is a normal end.
    """
    unfinished = finish in _UNFINISHED
    complete = _without_begun_repetition(answer) if unfinished else answer
    reading = _Reading(source, lang, _answer_words(lang))
    text, reason = None, "refusal"
    if finish != "content_filter":
        text, reason = reading.translation(repair(complete, OF_CHARACTERS).text, prompt.answer)
    if text is not None and complete != answer:
        reading.kinds.add("lines")
    elif unfinished and (text is None or _plain(answer).endswith(_plain(text))):
        looping = finish == "loop" or is_repetitive(answer)
        text, reason = None, "loop" if looping else "truncated"
    kinds = {*reading.kinds, reason}
    return Cleaned(text, tuple(kind for kind in KINDS if kind in kinds), reason or None)


def _without_begun_repetition(answer: str) -> str:
    """An unfinished answer without its last line if that is the beginning of an earlier one, and so
    not another translation.
    """
    before, _, last = answer.rstrip().rpartition("\n")
    begun = last.strip()
    repeats = any(line.strip().startswith(begun) for line in before.splitlines())
    return before if repeats else answer


def needs_cleaning(text: str, source: str, lang: str) -> bool:
    """Whether a text is a whole answer and not a translation alone: `clean` would remove something
    or find no translation. The language of the text and copies of the source are not checked.
    """
    known = _answer_words(lang)
    plain = _APOSTROPHE.sub("'", text.lower())
    speaks = any(word in plain for word in known["translation"])
    opens = _openings_of_answers(lang).match(plain)
    if not (opens or speaks or _MARK_OF_ANSWERS.search(text)):
        return False
    reading = _Reading(source, lang, known, in_any_language=True)
    cleaned, reason = reading.translation(text, load_prompt("plain").answer)
    return reason not in {"echo", "empty"} and cleaned != text


_MARK_OF_ANSWERS = re.compile(r"[\n:：<>*#_`\[\](){}|/\"“”„«»]|[.!?。؟]\s|^\W*\d")
"""Signs of answers with something around the translation, which most translations lack."""


@cache
def _openings_of_answers(lang: str) -> re.Pattern[str]:
    """The beginnings of announcements and refusals."""
    known = _answer_words(lang)
    openings = "|".join(map(re.escape, (*known["openers"], *known["refusals"])))
    return re.compile(rf"[\W_]*(?:{openings})(?!\w)")


def tally(cleaned: Iterable[tuple[str, Cleaned]]) -> dict[str, Any]:
    """Counts for `metrics.json`, from (id, cleaned answer) of every sentence.

    ``cleaned`` has the number of answers of each kind that occurs, ``untranslated`` of those that
    it left without a translation. ``examples`` has some ids of each, those without a translation
    first.
    """
    by_kind: dict[str, list[str]] = {kind: [] for kind in KINDS}
    reasons: Counter[str | None] = Counter()
    # The sort is stable, so ids are in the order of the corpus.
    for id_, answer in sorted(cleaned, key=lambda row: row[1].text is not None):
        reasons[answer.reason] += 1
        for kind in answer.kinds:
            by_kind[kind].append(id_)
    by_kind = {kind: ids for kind, ids in by_kind.items() if ids}
    return {
        "untranslated": {kind: reasons[kind] for kind in by_kind if reasons[kind]},
        "cleaned": {kind: len(ids) for kind, ids in by_kind.items()},
        "examples": {kind: ids[:EXAMPLES] for kind, ids in by_kind.items()},
    }


def _plain(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[\W_]+", "", text)


@cache
def _answer_words(lang: str) -> Mapping[str, tuple[str, ...]]:
    """The words around translations into `lang`, in that language and in English
    (``answer_words.toml``).
    """
    path = resources.files(__package__).joinpath("answer_words.toml")
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        name = get_language(lang).name.lower()
    except MtbiasError:
        name = lang
    own = tables.get(lang, {})
    names = {"names": [lang, name]}
    return {
        key: (*words, *own.get(key, ()), *names.get(key, ())) for key, words in tables["en"].items()
    }


def _folded(text: str) -> str:
    """A text in lower case with straight apostrophes, without marks and blanks at its ends."""
    return _APOSTROPHE.sub("'", text.lower()).strip(_EDGES)


def _begins(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether a text begins with one of the phrases, as whole words."""
    plain = _folded(text[:200])
    return any(
        plain.startswith(each) and not plain[len(each) : len(each) + 1].isalnum()
        for each in phrases
    )


def _has_more_sentences(text: str, source: str) -> bool:
    return len(_SENTENCE_END.split(text)) > len(_SENTENCE_END.split(source))


@dataclass(slots=True)
class _Reading:
    """One answer that is being read."""

    source: str
    lang: str
    known: Mapping[str, tuple[str, ...]]
    kinds: set[str] = field(default_factory=set)
    """What the answer has, as far as it was read."""
    in_any_language: bool = False
    """Whether a line in another language may be the translation."""

    def translation(self, answer: str, form: AnswerForm) -> tuple[str | None, str]:
        """The translation in an answer, or the reason why there is none."""
        text = after_thought(answer)
        if text is None:
            return None, "thinking"
        self._notice("thinking", text != answer)
        if form.between is None:
            bare = within_element(without_tokens(text))
            self._notice("tags", bare != text)
        else:
            _, mark, behind = text.partition(form.between[0])
            if text.strip() and not mark:
                return None, "unmarked"
            bare = behind.partition(form.between[1])[0]
        lines = [line.strip() for line in bare.splitlines() if line.strip()][:MOST_LINES]
        passed = []
        for number, line in enumerate(lines, start=1):
            text, kinds = self._bare(line)
            role = self._role(text, kinds, last=number == len(lines))
            if role in {"refusal", "overlong", "alternatives"}:
                return None, role
            self.kinds |= kinds
            if role == "text":
                return self._only(text, lines[number:], form)
            self._notice(role, role != "empty")
            passed.append(role)
        return None, next((kind for kind in KINDS if kind in passed and kind != "empty"), "empty")

    def _only(self, text: str, others: Sequence[str], form: AnswerForm) -> tuple[str | None, str]:
        """The first line that may be the translation, unless another is one too."""
        further = {self._bare(line)[0] for line in others} - {""}
        if form.lines == "first":
            self._notice("lines", bool(further))
            return text, ""

        different = [line for line in further if not self._repeats(line, text)]
        if form.lines != "alternatives":
            different = [line for line in different if _alike(text, line)]
        if different:
            return None, "alternatives"
        # A line with fewer sentences than the source may go on in another line.
        if _has_more_sentences(self.source, text):
            roles = [self._role(line, set(), last=True) for line in further]
            if "text" in roles:
                return None, "shape"
        self._notice("lines", bool(further))
        return text, ""

    def _repeats(self, line: str, translation: str) -> bool:
        """Whether a line is the translation again, alone or in a sentence about it ("In Spanish,
        this translates to …").
        """
        if words(line) == words(translation):
            return True
        whole, part = _plain(line), _plain(translation)
        return self._speaks(line) and part in whole and len(whole) < 2 * len(part)

    def _notice(self, kind: str, noticed: bool) -> None:
        self.kinds.update([kind] if noticed else [])

    def _bare(self, text: str) -> tuple[str, set[str]]:
        """A line without marks and labels, and the kinds of these."""
        kinds: set[str] = set()
        steps = (
            ("markdown", without_markdown),
            ("quotes", without_quotes),
            ("introduction", self._without_opener),
            ("introduction", self._without_label),
        )
        for _ in range(MOST_MARKS):
            before = text
            for kind, strip in steps:
                stripped = strip(text, self.source).strip()
                kinds |= {kind} if stripped != text else set()
                text = stripped
            if text == before:
                return text, kinds
        return text, {*kinds, "shape"}

    def _without_opener(self, text: str, source: str) -> str:
        """A line without a "Sure!" as its first sentence, if it has more sentences than the
        source.
        """
        end = _SENTENCE_END.search(text)
        if end is None or _folded(text[: end.start()]) not in self.known["openers"]:
            return text
        is_announcement = self._opens(text) and _has_more_sentences(text, source)
        return text[end.end() :] if is_announcement else text

    def _without_label(self, text: str, source: str) -> str:
        """A line without an announcement before a colon: "Spanish:", "Here is the translation:"."""
        match = _LABEL.fullmatch(text)
        if match is None or ":" in source or source.lower().startswith(match[1].lower()):
            return text
        label = _folded(match[1])
        names_language = label.removeprefix("in ") in self.known["names"]
        is_label = names_language or self._speaks(label) or self._opens(label)
        return match[2] if is_label else text

    def _role(self, text: str, kinds: set[str], *, last: bool) -> str:
        """The role of a line without its marks: ``text`` if it may be the translation."""
        if len(text) > TIMES_LONGER * len(self.source) + LEAST_LONG:
            return "overlong"
        if not any(letter.isalnum() for letter in text):
            return "introduction" if "introduction" in kinds else "empty"
        if self._is_echo(text):
            return "echo"
        if _begins(text, self.known["refusals"]) and not _FIRST_PERSON.search(self.source):
            return "refusal"
        further = self._further_pieces(text)
        if self._has_article(text) or any(_alike(first, piece) for first, piece in further):
            return "alternatives"
        if "shape" in kinds or (text[0] in "([{" and text[0] != self.source[:1]):
            return "shape"
        ends_open = text.endswith((":", "：")) and ":" not in self.source
        if ends_open or (not last and len(words(text)) <= _FEW_WORDS and self._opens(text)):
            return "introduction"
        if self._speaks(text) or any(self._is_note(piece) for _, piece in further):
            return "note"
        foreign = not self.in_any_language and is_in_another(text, self.lang)
        return "language" if foreign else "text"

    def _further_pieces(self, text: str) -> list[tuple[str, str]]:
        """The pieces of a line, each with the first one, that the source gives no reason for: more
        sentences than it has, other wordings, and texts in brackets.
        """
        further = []
        if _has_more_sentences(text, self.source):
            first, *pieces = _SENTENCE_END.split(text)
            further += [(first, piece) for piece in pieces]
        if not _ASIDE.search(self.source):
            first, *pieces = _ASIDE.split(text)
            further += [(first, piece) for piece in pieces]
        return further

    def _is_note(self, text: str) -> bool:
        """Whether a piece of a line is not part of the translation; a name in English may be."""
        foreign = is_in_another(text, self.lang) and not set(words(text)) <= set(words(self.source))
        return foreign or self._is_echo(text) or self._without_label(text, self.source) != text

    def _speaks(self, text: str) -> bool:
        """Whether a text has a word for translating, and the source has none for translating or
        interpreting.
        """
        plain, source = text.lower(), self.source.lower()
        if "translat" in source or "interpret" in source:
            return False
        return any(word in plain for word in self.known["translation"])

    def _opens(self, text: str) -> bool:
        """Whether a text begins like an announcement, and the source does not."""
        openers = self.known["openers"]
        return _begins(text, openers) and not _begins(self.source, openers)

    def _has_article(self, text: str) -> bool:
        """Whether an article is in brackets ("El (la) médico"): only the other one would be read.

        Two forms of a word ("el médico (la médica)", "el médico/la médica") are one translation, of
        which both are read.
        """
        if _WRITTEN_ON.search(text) or _ASIDE.search(self.source):
            return False
        article = _ARTICLE.search(text)
        return article is not None and article[1].lower() not in words(self.source)

    def _is_echo(self, text: str) -> bool:
        """Whether a text is nearly the source, or begins with it; False for a short source."""
        own = words(self.source)
        if len(own) < MIN_WORDS:
            return False
        if text.lower().lstrip("\"“«'").startswith(self.source.lower()):
            return True
        return is_copy(own, words(text))


def _alike(one: str, other: str) -> bool:
    """Whether two lines are different translations of one sentence: they share most groups of three
    letters.

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
