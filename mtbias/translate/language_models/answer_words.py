"""What language models say around a translation, in English and in the language that they translate into."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mtbias.errors import MtbiasError
from mtbias.language.installed import get_language

# Marks around a translation that are none of its text: thinking, special tokens, Markdown, quotation marks.
#
# Each function is given a text, and gives what is left of it. A mark that the source has too is left alone.

_THOUGHT = r"think|thinking|thought|thoughts|reasoning|reflection|analysis"
_BEGINS_THOUGHT = re.compile(rf"(?:<(?:{_THOUGHT})>|\[THINK\]|◁think▷|<\|channel\|>\s*analysis)", re.IGNORECASE)
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
# Between words a star or an underscore stands for all genders (Lehrer*innen, niñ_s) and emphasises nothing. What may
# stand between is bounded, so that time stays linear.
_EMPHASIS = tuple(
    (
        mark,
        re.compile(
            rf"(?<![\w{mark}]){marks}(?![\s{mark}])((?:[^{mark}\n]|(?<=\w){mark}(?=\w)){{1,1000}}?)(?<!\s){marks}(?![\w{mark}])"
        ),
    )
    for mark, marks in (("*", r"\*{3}"), ("*", r"\*{2}"), ("_", "__"), ("*", r"\*"), ("_", "_"), ("`", "`+"))
)
_LONELY = re.compile(r"^\*{2,3}(?=\w)|(?<=[\w.!?])\*{2,3}$")
_PAIRS = {
    '"': '"', "“": "”", "”": "”", "„": "“”", "«": "»", "»": "«", "‘": "’", "'": "'", "‚": "‘’", "‹": "›", "「": "」",
    "״": "״", "`": "'",
}  # fmt: skip
QUOTES = frozenset("".join([*_PAIRS, *_PAIRS.values()]))
"""Quotation marks, opening and closing."""
_DOUBLE = frozenset('"“”„«»')


def after_thought(text: str) -> str | None:
    """What stands behind the last thought; None where one begins and does not end."""
    ends = [found.end() for found in _ENDS_THOUGHT.finditer(text)]
    rest = text[ends[-1] :] if ends else text
    return None if _BEGINS_THOUGHT.search(rest) else rest


def without_tokens(text: str) -> str:
    """The first piece between special tokens that is not blank; the text itself where there is no token."""
    if not _TOKEN.search(text):
        return text
    return next((piece for piece in _TOKEN.split(text) if piece.strip()), "")


def within_element(text: str) -> str:
    """What stands in the one element that the text is: ``<translation>…</translation>``."""
    found = _ELEMENT.fullmatch(text.strip())
    return found[2] if found and f"<{found[1]}>" not in found[2] else text


def is_fence(line: str) -> bool:
    """Whether a line is Markdown alone: the fence of code, or a rule."""
    return _FENCE.fullmatch(line) is not None


def without_markdown(line: str, source: str) -> str:
    """A line without the bullet, number or heading that begins it, and without emphasis."""
    bullet = _BULLET.match(line)
    if bullet and not _BULLET.match(source) and not (bullet[0][0] in "-–—" and source[:1] in QUOTES):
        line = line[bullet.end() :]
    for mark, pattern in _EMPHASIS:
        if mark not in source:
            line = pattern.sub(r"\1", line)
    # What is left at an end has lost its partner.
    return line if "*" in source else _LONELY.sub("", line)


def without_quotes(line: str, source: str) -> str:
    """A line without the quotation marks around all of it, where the source begins with none.

    One that has no partner is removed too, unless it may be an apostrophe or the source has quotation marks.
    """
    if not (set(source) & _DOUBLE) and sum(line.count(mark) for mark in _DOUBLE) == 1:
        return line.strip("".join(_DOUBLE))
    body = line[:-1] if line[-2:-1] in QUOTES and line[-1:] in set(".,;") else line
    if len(body) < 3 or source[:1] in QUOTES or body[-1] not in _PAIRS.get(body[0], ""):
        return line
    inner = body[1:-1]
    for at, letter in enumerate(inner):
        # An apostrophe or gershayim within a word is no quotation mark, and others may quote inside.
        if letter in {body[0], body[-1]} and not (inner[at - 1 : at].isalnum() and inner[at + 1 : at + 2].isalnum()):
            return line
    return inner.strip() or line


_EITHER = re.compile("[’‘ʼ`´]")
_EDGES = " \t¡¿.,;:!?*_#>\"“”„«»'()[]-–—"

_LABEL_WORDS = 6
"""The label of a note has at most so many words."""

FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]m|me|my|mine|we|us|our|sorry|excuse|pardon|forgive|apolog\w*|regret\w*|as an?)\b", re.IGNORECASE
)
"""What the source has where its translation may begin like a refusal."""


def folded(text: str) -> str:
    """`text` in lower case with straight apostrophes, without marks and blanks at its ends."""
    return _EITHER.sub("'", text.lower()).strip(_EDGES)


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """The words for one language, those in English among them."""

    names: frozenset[str]
    english: frozenset[str]
    translation: re.Pattern[str]
    notes: tuple[str, ...]
    openers: tuple[str, ...]
    refusals: tuple[str, ...]
    closings: tuple[str, ...]

    def speaks_of_translating(self, text: str, source: str) -> bool:
        """Whether `text` has a word for translating and the source has none, nor one for interpreting."""
        if re.search("translat|interpret", source, re.IGNORECASE):
            return False
        return self.translation.search(text) is not None

    def refuses(self, text: str, source: str) -> bool:
        """Whether `text` begins like a refusal, and not because its source is in the first person."""
        return _begins(folded(text[:200]), self.refusals) and not FIRST_PERSON.search(source)

    def announces(self, label: str, source: str) -> bool:
        """Whether what stands before a colon announces a translation, or names its language."""
        if "{" in label:  # JSON, which is no announcement
            return False
        plain = folded(label)
        return (
            self.speaks_of_translating(label, source)
            or plain.removeprefix("in ") in self.names
            or self.opens(plain, source)
        )

    def opens(self, text: str, source: str) -> bool:
        """Whether `text` begins as an announcement does, and its source does not."""
        return _begins(folded(text), self.openers) and not _begins(folded(source), self.openers)

    def labels_source(self, label: str) -> bool:
        """Whether a label names English or the source."""
        return folded(label).removeprefix("in ") in self.english

    def closes(self, text: str, source: str) -> bool:
        """Whether what stands behind a translation ends the conversation, and its source is not in the first person."""
        return _begins(folded(text[:200]), self.closings) and not FIRST_PERSON.search(source)

    def heads_note(self, label: str) -> bool:
        """Whether a label heads a note: ``Note``, ``Note on gender``, ``Translator's note``."""
        plain = folded(label)
        return plain.endswith("'s note") or (len(plain.split()) <= _LABEL_WORDS and _begins(plain, self.notes))


def _begins(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether `text` begins with one of the phrases, as whole words."""
    return any(text.startswith(phrase) and not text[len(phrase) : len(phrase) + 1].isalnum() for phrase in phrases)


@cache
def answer_words(lang: str) -> AnswerWords:
    """The words of models that translate into `lang`; those in English alone for a language without a table."""
    text = resources.files(__package__).joinpath("answer_words.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    used = [tables["en"], *([tables[lang]] if lang in tables and lang != "en" else [])]

    def all_of(key: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for table in used for word in table[key]))

    try:
        own = [get_language(lang).name.lower()]
    except MtbiasError:
        own = []
    names = [lang, *own, *all_of("names")]
    return AnswerWords(
        names=frozenset(names) - {"english"},
        english=frozenset(all_of("english")),
        translation=re.compile("|".join(map(re.escape, all_of("translation"))), re.IGNORECASE),
        notes=all_of("notes"),
        openers=all_of("openers"),
        refusals=all_of("refusals"),
        closings=all_of("closings"),
    )
