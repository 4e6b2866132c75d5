"""What language models say around a translation, in English and in the language that they translate into."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mtbias.errors import MtbiasError
from mtbias.language.installed import get_language

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
