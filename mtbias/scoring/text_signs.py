"""Signs in translations that they are damaged, cut, copied or not translations at all.

Each function says of every text whether it is counted: a list of True and False, with None for a
text that the share leaves out (it is missing, or too short to tell).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

from mtbias.errors import UsageError
from mtbias.files.text_repair import is_damaged
from mtbias.language.definition import Language
from mtbias.language.installed import get_language
from mtbias.translate.language_models.cleaning import needs_cleaning
from mtbias.translate.text_language import MIN_WORDS, copied_runs, is_copy, is_repetitive, words

Marks = Sequence[bool | None]
"""For each record whether it is counted; None for a row that the share leaves out."""
Texts = Sequence[str | None]
"""The translations of a corpus, in its order."""

# In languages that drop pronouns, "he", "she" and "they" have one translation: at most three
# sources share it.
SAME_FOR = 5
"""A translation counts as repeated if this many different sources have it."""
SHORT, LONG = 0.6, 1.7
"""A translation is short or long whose ratio of characters to its source's is below or above so
many times the usual one.
"""
_LEAST_MARKED = 20
"""One of so many nouns of the language has a letter with a mark, where its texts are expected to
have some."""
_MOST_QUOTES, _WORDS_A_QUOTE = 4, 3
"""A text with at least so many quotation marks and brackets, and one for every three words, has too
many."""
_QUOTES = re.compile(r"[\"“”„«»‹›‘‚()\[\]]")


def text_marks(
    sources: Sequence[str],
    texts: Texts,
    lang: str,
    found_languages: Sequence[str | None],
    usual_ratios: tuple[float, float],
) -> dict[str, Marks]:
    """The marks of every sign that texts show, by the sign's name.

    Args:
        sources: what was translated.
        texts: the translations.
        lang: code of the language that they should be in.
        found_languages: those that they are in (`mtbias.translate.text_language.languages`).
        usual_ratios: see `lengths`.
    """
    try:
        language = get_language(lang)
    except UsageError:  # a run may be read where its language is not installed
        language = None
    short, long = lengths(sources, texts, usual_ratios)
    marks: dict[str, Marks] = {
        "other_language": [None if own is None else own != lang for own in found_languages],
        "copies": copies(sources, texts),
        "empty": [text is None for text in texts],
        "short": short,
        "long": long,
        "damaged": damage(texts, language),
        "letter_case": letter_case(texts),
        "quotes": quotes(texts),
        "looping": [None if text is None else is_repetitive(text) for text in texts],
        "repeated": repeated(sources, texts),
        "talk": talk(sources, texts, lang),
    }
    if language is not None and _has_marks(language):
        marks["unmarked"] = [
            None if text is None else not _has_mark(text) for text in _long_enough(texts)
        ]
    return marks


def copies(sources: Sequence[str], texts: Texts) -> Marks:
    """Whether each text is its source, or nearly so (`mtbias.translate.text_language.is_copy`), or
    holds words of it in a row that were left untranslated
    (`mtbias.translate.text_language.copied_runs`).
    """
    marks: list[bool | None] = []
    for source, text in zip(sources, texts, strict=True):
        if text is None:
            marks.append(None)
        else:
            marks.append(is_copy(words(source), words(text)) or bool(copied_runs(source, text)))
    return marks


def repeated(sources: Sequence[str], texts: Texts) -> Marks:
    """Whether each text is the translation of `SAME_FOR` different sources or more."""
    split = [None if text is None else words(text) for text in texts]
    stands_for: defaultdict[tuple[str, ...] | None, set[tuple[str, ...]]] = defaultdict(set)
    for source, text in zip(sources, split, strict=True):
        stands_for[text].add(words(source))
    return [None if text is None else len(stands_for[text]) >= SAME_FOR for text in split]


def lengths(
    sources: Sequence[str], texts: Texts, usual_ratios: tuple[float, float]
) -> tuple[Marks, Marks]:
    """Whether each text is too short, and whether it is too long.

    ratio = characters of the text / characters of its source. The usual one is the median of all
    texts, within `usual_ratios`, least and greatest: if every text was cut, the median says
    nothing.
    """
    ratios: list[float | None] = []
    for source, text in zip(sources, texts, strict=True):
        ratios.append(None if text is None else len(text) / max(len(source), 1))
    known = [ratio for ratio in ratios if ratio is not None]
    least, greatest = usual_ratios
    usual = min(max(median(known), least), greatest) if known else least
    short = [None if ratio is None else ratio < SHORT * usual for ratio in ratios]
    long = [None if ratio is None else ratio > LONG * usual for ratio in ratios]
    return short, long


def damage(texts: Texts, language: Language | None) -> Marks:
    """Whether each text shows a history that cannot be undone, or what no good text of its language
    has (`mtbias.language.alphabet`).
    """
    marks: list[bool | None] = []
    for text in texts:
        if text is None:
            marks.append(None)
        else:
            unusual = language is not None and language.alphabet.unusual(text) is not None
            marks.append(unusual or is_damaged(text))
    return marks


def unusual_characters(texts: Texts, lang: str) -> dict[str, int]:
    """Characters that no good text of the language has, and in how many texts each comes first of
    them; the most frequent first.
    """
    try:
        alphabet = get_language(lang).alphabet
    except UsageError:
        return {}
    first = (alphabet.unusual(text) for text in texts if text is not None)
    counts = Counter(characters for characters in first if characters is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def letter_case(texts: Texts) -> Marks:
    """Whether each text of `MIN_WORDS` words or more lost its case: no capital, nothing but
    capitals, or a capital at the beginning of every word.

    Edge cases: None where less than half of the letters have a case.
    """
    return [None if text is None else _without_case(text) for text in _long_enough(texts)]


def _without_case(text: str) -> bool | None:
    letters = [char for char in text if char.isalpha()]
    cased = [char for char in letters if char.lower() != char.upper()]
    if 2 * len(cased) < len(letters):
        return None
    capitals = sum(char.isupper() for char in cased)
    first_letters = [word[0] for word in re.findall(r"[^\W\d_]+", text)]
    return capitals in {0, len(cased)} or all(char.isupper() for char in first_letters)


def quotes(texts: Texts) -> Marks:
    """Whether each text has more quotation marks and brackets than sentences need: around every
    other word, say.
    """
    marks: list[bool | None] = []
    for text in texts:
        count = 0 if text is None else len(_QUOTES.findall(text))
        too_many = count >= _MOST_QUOTES and _WORDS_A_QUOTE * count >= len(words(text or ""))
        marks.append(None if text is None else too_many)
    return marks


def talk(sources: Sequence[str], texts: Texts, lang: str) -> Marks:
    """Whether each text is the answer of a language model with more than a translation in it
    (`mtbias.translate.language_models.cleaning.needs_cleaning`).
    """
    pairs = zip(sources, texts, strict=True)
    return [None if text is None else needs_cleaning(text, source, lang) for source, text in pairs]


def _long_enough(texts: Texts) -> list[str | None]:
    return [text if text is not None and len(words(text)) >= MIN_WORDS else None for text in texts]


def _has_marks(language: Language) -> bool:
    """Some of the language's letters have a mark; where nobody says them, some of its nouns."""
    if language.letters:
        return any(map(_has_mark, language.letters))
    return _LEAST_MARKED * sum(map(_has_mark, language.nouns)) >= len(language.nouns)


def _has_mark(text: str) -> bool:
    """Whether a text has a letter with a mark (á, ü, й), which is lost where only plain letters are
    left.
    """
    return not text.isascii() and unicodedata.normalize("NFC", text) != unicodedata.normalize(
        "NFD", text
    )
