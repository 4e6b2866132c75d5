"""From the answer of a language model to the translation in it, with what was noticed on the way.

A thought before the translation, fences, a label and quotation marks around it are removed, and of
several lines the first that may be the translation is taken. Each is counted by its kind. What has
another shape has no translation, nor has an answer that offers several: it is not guessed. The
translation is a part of the answer as it stands there, but for Markdown's marks of emphasis.
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
        "shape": "another shape (JSON, brackets, a note behind the translation, marks within marks)",
        "echo": "the source repeated",
        "introduction": "announcements of the translation",
        "lines": "further lines behind the translation",
        "thinking": "thoughts before the answer",
        "tags": "special tokens and tags",
        "markdown": "Markdown",
        "quotes": "quotation marks around the translation",
    }
)
"""What may be noticed in answers. Down to ``alternatives`` they leave an answer without a
translation; the others are removed, and leave it without one where they are all that it has."""

# The longest of 32,000 translations of WinoMT into eight languages has 2.1 times the characters of
# its source.
TIMES_LONGER = 5
LEAST_LONG = 200
"""A text of more than `TIMES_LONGER` times the source's characters, and this many more, is no
translation of it."""
_UNFINISHED = frozenset({"length", "loop"})
"""Why an answer ended that was not finished."""
MOST_MARKS = 8
"""Marks within marks: a line that has more has another shape."""
MOST_LINES = 60
"""Lines of an answer that are looked at."""
# "El médico ayudó al paciente." and "La médica ayudó a la paciente." have 0.63.
ALIKE = 0.5
"""Dice coefficient of the groups of three letters from which on two lines are translations of one
sentence."""
_LEAST_ALIKE = 3
"""Lines of fewer words share their letters by chance."""
_FEW_WORDS = 4
"""A line before the translation that is no longer, and begins as an announcement, is one."""

_LABEL = re.compile(r"([^:：{\n]{1,400})[:：](?!//)\s*(.*)", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?。؟][\"”»')\]]{0,3}\s+(?=\S)")
_ASIDE = re.compile(r"\s[/|]+\s|\s?[(\[]|[)\]]")
"""What stands before another wording, and around what is in brackets."""
_ARTICLE = re.compile(r"\s[(\[](\w{1,3})[)\]]")
_WRITTEN_ON = re.compile(r"\w\(\w{1,4}\)|\w/\w")
_APOSTROPHE = re.compile("[’‘ʼ`´]")
_EDGES = " \t¡¿.,;:!?*_#>\"“”„«»'()[]-–—"
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]m|me|my|mine|we|us|our|sorry|excuse|pardon|forgive|apolog\w*|regret\w*|as an?)\b",
    re.IGNORECASE,
)
"""What the source has where its translation may begin like a refusal."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What is left of an answer."""

    text: str | None
    """The translation; None where there is none, or nobody can tell which it is."""
    kinds: tuple[str, ...] = ()
    """What was noticed in the answer, each of `KINDS` once and in their order."""
    reason: str | None = None
    """Which of the kinds leaves it without a translation."""


def clean(
    answer: str, source: str, prompt: Prompt, lang: str, *, finish: str | None = None
) -> Cleaned:
    """The translation in `answer`, to the question for a translation of `source` that `prompt`
    asked.

    Args:
        answer: what the model wrote.
        source: the sentence.
        prompt: what was asked (`mtbias.translate.language_models.prompt_files`).
        lang: ISO 639-1 code of the language asked for.
        finish: why the answer ended: ``length`` where it was cut off, ``loop`` where it repeated
            itself without end, ``content_filter`` where it was withheld; others, and None, are a
            usual end.
    """
    unfinished = finish in _UNFINISHED
    kept = _without_begun_repetition(answer) if unfinished else answer
    reading = _Reading(source, lang, _answer_words(lang))
    text, reason = None, "refusal"
    if finish != "content_filter":
        text, reason = reading.translation(repair(kept, OF_CHARACTERS).text, prompt.answer)
    if text is not None and kept != answer:
        reading.kinds.add("lines")
    elif unfinished and (text is None or _plain(answer).endswith(_plain(text))):
        looping = finish == "loop" or is_repetitive(answer)
        text, reason = None, "loop" if looping else "truncated"
    noticed = {*reading.kinds, reason}
    return Cleaned(text, tuple(kind for kind in KINDS if kind in noticed), reason or None)


def _without_begun_repetition(answer: str) -> str:
    """An answer that was not finished, without its last line where that is the beginning of an
    earlier one: it is no other translation.
    """
    before, _, last = answer.rstrip().rpartition("\n")
    begun = last.strip()
    repeats = any(line.strip().startswith(begun) for line in before.splitlines())
    return before if repeats else answer


def needs_cleaning(text: str, source: str, lang: str) -> bool:
    """Whether `clean` would take something away from a text, or find no translation in it: it is a
    whole answer, and not the translation alone. The language of the text and copies of the source
    are not looked at.
    """
    known = _answer_words(lang)
    plain = _APOSTROPHE.sub("'", text.lower())
    opens = _openings_of_answers(lang).match(plain) or any(
        word in plain for word in known["translation"]
    )
    if not (opens or _MARK_OF_ANSWERS.search(text)):
        return False
    reading = _Reading(source, lang, known, in_any_language=True)
    cleaned, reason = reading.translation(text, load_prompt("plain").answer)
    return reason not in {"echo", "empty"} and cleaned != text


_MARK_OF_ANSWERS = re.compile(r"[\n:：<>*#_`\[\](){}|/\"“”„«»]|[.!?。؟]\s|^\W*\d")
"""What answers with something around the translation have, and most translations lack."""


@cache
def _openings_of_answers(lang: str) -> re.Pattern[str]:
    """How announcements and refusals begin."""
    known = _answer_words(lang)
    openings = "|".join(map(re.escape, (*known["openers"], *known["refusals"])))
    return re.compile(rf"[\W_]*(?:{openings})(?!\w)")


def tally(cleaned: Iterable[tuple[str, Cleaned]]) -> dict[str, Any]:
    """Counts for `metrics.json`, of (id, cleaned answer) of every sentence.

    ``cleaned`` has how many answers each kind was noticed in, ``untranslated`` how many it left
    without a translation; kinds that were not noticed are not there. ``examples`` has some ids of
    each, those without a translation first.
    """
    rows = sorted(
        cleaned, key=lambda row: row[1].text is not None
    )  # stable: in the order of the corpus
    found = {kind: [id_ for id_, each in rows if kind in each.kinds] for kind in KINDS}
    ids = {kind: those for kind, those in found.items() if those}
    reasons = Counter(each.reason for _, each in rows)
    return {
        "untranslated": {kind: reasons[kind] for kind in ids if reasons[kind]},
        "cleaned": {kind: len(those) for kind, those in ids.items()},
        "examples": {kind: those[:EXAMPLES] for kind, those in ids.items()},
    }


def _plain(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[\W_]+", "", text)


@cache
def _answer_words(lang: str) -> Mapping[str, tuple[str, ...]]:
    """The words of models that translate into `lang`, those in English among them
    (``answer_words.toml``).
    """
    tables = tomllib.loads(
        resources.files(__package__).joinpath("answer_words.toml").read_text(encoding="utf-8")
    )
    try:
        own = get_language(lang).name.lower()
    except MtbiasError:
        own = lang
    used = [tables["en"], tables.get(lang, {}), {"names": [lang, own]}]
    return {
        key: tuple(word for table in used for word in table.get(key, ())) for key in tables["en"]
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
    """What was noticed so far."""
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
        several = {each for each in further if not self._repeats(each, text)}
        if form.lines != "alternatives":
            several = {each for each in several if _alike(text, each)}
        if several and form.lines != "first":
            return None, "alternatives"
        if (
            form.lines != "first"
            and _has_more_sentences(self.source, text)
            and any(
                self._role(each, set(), last=True) == "text" for each in further
            )  # the rest of it, perhaps
        ):
            return None, "shape"
        self._notice("lines", bool(further))
        return text, ""

    def _repeats(self, line: str, translation: str) -> bool:
        """Whether a line is the translation once more, without anything else or within a sentence
        about it ("In Spanish, this translates to …").
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
        for _ in range(MOST_MARKS):
            before = text
            for kind, strip in (
                ("markdown", without_markdown),
                ("quotes", without_quotes),
                ("introduction", self._without_opener),
                ("introduction", self._without_label),
            ):
                stripped = strip(text, self.source).strip()
                kinds |= {kind} if stripped != text else set()
                text = stripped
            if text == before:
                return text, kinds
        return text, {*kinds, "shape"}

    def _without_opener(self, text: str, source: str) -> str:
        """A line without the "Sure!" that is its first sentence, where it has more sentences than
        the source.
        """
        end = _SENTENCE_END.search(text)
        if end is None or _folded(text[: end.start()]) not in self.known["openers"]:
            return text
        return (
            text[end.end() :] if self._opens(text) and _has_more_sentences(text, source) else text
        )

    def _without_label(self, text: str, source: str) -> str:
        """A line without the announcement before its colon: "Spanish:", "Here is the
        translation:".
        """
        match = _LABEL.fullmatch(text)
        if match is None or ":" in source or source.lower().startswith(match[1].lower()):
            return text
        label = _folded(match[1])
        named = (
            self._speaks(label)
            or label.removeprefix("in ") in self.known["names"]
            or self._opens(label)
        )
        return match[2] if named else text

    def _role(self, text: str, kinds: set[str], *, last: bool) -> str:
        """What a line is, without its marks: ``text`` where it may be the translation."""
        if len(text) > TIMES_LONGER * len(self.source) + LEAST_LONG:
            return "overlong"
        sentences = _SENTENCE_END.split(text) if _has_more_sentences(text, self.source) else [text]
        pieces = [text] if _ASIDE.search(self.source) else _ASIDE.split(text)
        further = [(each[0], piece) for each in (sentences, pieces) for piece in each[1:]]
        if not any(letter.isalnum() for letter in text):
            return "introduction" if "introduction" in kinds else "empty"
        if self._is_echo(text):
            return "echo"
        if _begins(text, self.known["refusals"]) and not _FIRST_PERSON.search(self.source):
            return "refusal"
        if self._has_article(text) or any(_alike(*pair) for pair in further):
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

    def _is_note(self, text: str) -> bool:
        """Whether a part of a line is none of the translation; a name in English is."""
        foreign = is_in_another(text, self.lang) and not set(words(text)) <= set(words(self.source))
        return foreign or self._is_echo(text) or self._without_label(text, self.source) != text

    def _speaks(self, text: str) -> bool:
        """Whether a text has a word for translating and the source has none, nor one for
        interpreting.
        """
        said, own = text.lower(), self.source.lower()
        return (
            any(each in said for each in self.known["translation"])
            and "translat" not in own
            and "interpret" not in own
        )

    def _opens(self, text: str) -> bool:
        """Whether a text begins as an announcement does, and the source does not."""
        return _begins(text, self.known["openers"]) and not _begins(
            self.source, self.known["openers"]
        )

    def _has_article(self, text: str) -> bool:
        """Whether an article stands in brackets ("El (la) médico"), which would be read as the
        gender of the other.

        Two forms of a word ("el médico (la médica)", "el médico/la médica") are one translation,
        and both are read.
        """
        found = (
            None
            if _WRITTEN_ON.search(text) or _ASIDE.search(self.source)
            else _ARTICLE.search(text)
        )
        return found is not None and found[1].lower() not in words(self.source)

    def _is_echo(self, text: str) -> bool:
        """Whether a text of some words is the source, or nearly so, or begins with it."""
        own = words(self.source)
        if len(own) < MIN_WORDS:
            return False
        return text.lower().lstrip("\"“«'").startswith(self.source.lower()) or is_copy(
            own, words(text)
        )


def _alike(one: str, other: str) -> bool:
    """Whether two lines are translations of one sentence, not the same: they share most groups of
    three letters.

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


# Marks around a translation that are none of its text: thinking, special tokens, Markdown,
# quotation marks.
#
# Each function is given a text, and gives what is left of it. A mark that the source has too is
# left alone.

_THOUGHT = r"think|thinking|thought|thoughts|reasoning|reflection|analysis"
_BEGINS_THOUGHT = re.compile(
    rf"(?:<(?:{_THOUGHT})>|\[THINK\]|◁think▷|<\|channel\|>\s*analysis)", re.IGNORECASE
)
_ENDS_THOUGHT = re.compile(
    rf"</(?:{_THOUGHT})>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE
)
# Of templates of chat models (ChatML, Llama, Gemma, Mistral, DeepSeek) and of SentencePiece.
_ROLE = r"(?:\s*(?:system|user|assistant|model)\b)?"
_TOKEN = re.compile(
    rf"<\|(?:im_start|start_header_id|start)\|>{_ROLE}|<start_of_turn>{_ROLE}|<[|｜][\w▁]{{1,40}}[|｜]>"
    r"|<end_of_turn>|</?s>|<(?:eos|bos|pad|unk)>|\[/?INST\]"
)
_ELEMENT = re.compile(r"<([A-Za-z][\w-]{0,30})>(.*)</\1>", re.DOTALL)
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*[\w-]*\s*|\s*(?:[-*_=#]\s*){3,}")
_BULLET = re.compile(r"(?:[-*•–—+]|#{1,6}|>|\d{1,2}[.)]|[a-z]\))\s+")
# Between words a star or an underscore stands for all genders (Lehrer*innen, niñ_s) and emphasises
# nothing. What may stand between is bounded, so that time stays linear.
_EMPHASIS = re.compile(
    r"(?<![\w*_`])([*_`]{1,3})(?![\s*_`])((?:[^*_`\n]|(?<=\w)[*_`](?=\w)){1,1000}?)(?<!\s)\1(?![\w*_`])"
)
_PAIRS = {
    '"': '"', "“": "”", "”": "”", "„": "“”", "«": "»", "»": "«", "‘": "’", "'": "'", "‚": "‘’", "‹": "›", "「": "」",
    "״": "״", "`": "'",
}  # fmt: skip
_QUOTES = frozenset("".join([*_PAIRS, *_PAIRS.values()]))
_DOUBLE = frozenset('"“”„«»')
"""Marks that are no apostrophes, nor marks within a word, so that one alone has lost its
partner."""


def marks_thought(text: str) -> bool:
    """Whether a mark of thinking stands in a text, such as a chat template."""
    return bool(_BEGINS_THOUGHT.search(text) or _ENDS_THOUGHT.search(text))


def after_thought(text: str) -> str | None:
    """What stands behind the last thought; None where one begins and does not end."""
    ends = [found.end() for found in _ENDS_THOUGHT.finditer(text)]
    rest = text[ends[-1] :] if ends else text
    return None if _BEGINS_THOUGHT.search(rest) else rest


def without_tokens(text: str) -> str:
    """The first piece between special tokens that is not blank; the text itself where there is no
    token.
    """
    if not _TOKEN.search(text):
        return text
    return next((piece for piece in _TOKEN.split(text) if piece.strip()), "")


def within_element(text: str) -> str:
    """What stands in the one element that the text is: ``<translation>…</translation>``."""
    found = _ELEMENT.fullmatch(text.strip())
    return found[2] if found and f"<{found[1]}>" not in found[2] else text


def without_markdown(line: str, source: str) -> str:
    """A line without the bullet, number or heading that begins it, and without emphasis; of a fence
    nothing.
    """
    if _FENCE.fullmatch(line):
        return ""
    bullet = _BULLET.match(line)
    if (
        bullet
        and not _BULLET.match(source)
        and not (bullet[0][0] in "-–—" and source[:1] in _QUOTES)
    ):
        line = line[bullet.end() :]
    # What is left at an end has lost its partner.
    return (
        line
        if set("*_`") & set(source)
        else _EMPHASIS.sub(r"\2", line).removeprefix("**").removesuffix("**")
    )


def without_quotes(line: str, source: str) -> str:
    """A line without the quotation marks around all of it, or a double one without its partner at
    an end.

    A full stop behind the mark goes with it. Where the source begins with a mark all stay; where it
    has a double one, so does one without its partner.
    """
    text = line[:-1] if line[-1:] == "." and line[-2:-1] in _QUOTES else line
    if len(text) < 2 or source[:1] in _QUOTES:
        return line
    first, inner, last = text[0], text[1:-1].strip(), text[-1]
    if inner and last in _PAIRS.get(first, "") and not {first, last} & set(inner):
        return inner
    alone = sum(map(text.count, _DOUBLE)) == 1 and _DOUBLE.isdisjoint(source)
    if alone and first in _DOUBLE:
        return line[1:]
    return (
        text[:-1] if alone and last in _DOUBLE and not text[-2].isdigit() else line
    )  # 3" are inches
