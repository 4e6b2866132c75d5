"""What stands on the line of a translation and is none of it: the source, notes, another translation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mtbias.translate.language_models.answer_lines import alike, further_sentences, is_echo
from mtbias.translate.language_models.answer_words import AnswerWords
from mtbias.translate.text_language import is_in_another, words

_BRACKET = re.compile(r"\s[(\[]([^()\[\]]{1,200})[)\]]")
_WRITTEN_ON = re.compile(r"\w\(\w{1,4}\)|\w/\w")
_SLASH = re.compile(r"\s[/|]+\s")
_AFTER_SLASH = re.compile(r"/\s?(\w{1,30}(?: \w{1,30})?)")
_OPENS = {")": "(", "]": "["}
_ARTICLE = 3
"""What is no longer may be an article or an ending."""


def without_tail(text: str, source: str, lang: str, known: AnswerWords) -> tuple[str, str | None]:
    """`text` without one thing behind the translation, and its kind; None where there is none."""
    begin = _last_bracket(text, source)
    if begin:
        before, inner = text[:begin].rstrip(), text[begin + 1 :].rstrip(".!?)]")
        if is_echo(inner, source):
            return before, "echo"
        ended = before[-1:] in set('.!?。؟"”»')
        other = alike(inner, before) or _inflects(before, inner)
        if (ended or _is_note(inner, source, lang, known)) and not other and not _is_of_source(inner, source):
            return before, "note"
    for begin, end in further_sentences(text, source):
        sentence = text[begin:end]
        if is_echo(sentence, source):
            return text[:begin].rstrip(), "echo"
        if known.labels_source(sentence.partition(":")[0]) and ":" in sentence:
            return text[:begin].rstrip(), "continuation"
        if _is_note(sentence, source, lang, known) or known.closes(sentence, source):
            return text[:begin].rstrip(), "note"
    return text, None


def offers_alternatives(text: str, source: str) -> bool:
    """Whether a line has several translations of the sentence, in brackets, behind a slash or one after another.

    So has an article in brackets ("El (la) médico"), which would be read as the gender of the other. Two forms of a
    word in one sentence (`offers_both_forms`) are one translation.
    """
    further = list(further_sentences(text, source))
    if any(alike(text[: further[0][0]], text[begin:end]) for begin, end in further):
        return True
    for found in _brackets(text, source):
        short = all(len(word) <= _ARTICLE for word in found[1].split())
        if short and not _is_of_source(found[1], source) and not _WRITTEN_ON.search(text):
            return True
        if alike(text[: found.start()], found[1]):
            return True
    first, *others = _SLASH.split(text) if not set("/|") & set(source) else [text]
    return any(alike(first, other) for other in others)


def offers_both_forms(text: str, source: str) -> bool:
    """Whether a sentence has two forms of a word: "el médico (la médica)", "el médico/la médica".

    Whoever reads the genders sees both. One word for both ("médico/a") is usual spelling, and not meant.
    """
    if any(_inflects(text[: found.start()], found[1]) for found in _brackets(text, source)):
        return True
    if "/" in source:
        return False
    return any(_inflects(text[: found.start()], found[1]) for found in _AFTER_SLASH.finditer(text))


def _brackets(text: str, source: str) -> Iterator[re.Match[str]]:
    """What stands in brackets, where the source has none."""
    return iter(()) if set("([") & set(source) else _BRACKET.finditer(text)


def _is_of_source(text: str, source: str) -> bool:
    """Whether all words of a text stand in the source too: a name, or a term that was left in English."""
    return set(words(text)) <= set(words(source))


def _last_bracket(text: str, source: str) -> int | None:
    """Where the bracket begins with which the text ends; None where the source has brackets."""
    end = len(text.rstrip(".!? "))
    if text[end - 1 : end] not in _OPENS or set("([") & set(source):
        return None
    close, depth = text[end - 1], 0
    for at in range(end - 1, -1, -1):
        depth += (text[at] == close) - (text[at] == _OPENS[close])
        if depth == 0:
            return at if text[at - 1 : at].isspace() else None
    return None


def _is_note(text: str, source: str, lang: str, known: AnswerWords) -> bool:
    label, colon, _ = text.partition(":")
    if colon and ":" not in source and known.heads_note(label):
        return True
    return known.speaks_of_translating(text, source) or is_in_another(text, lang)


def _inflects(before: str, other: str) -> bool:
    """Whether a word of a short `other` is another form of one of as many words right before it."""
    found = words(other[:200])
    near = words(before[-200:])[-len(found) - 1 :]
    return len(found) <= 4 and any(_forms_of_one_word(one, two) for one in near for two in found)


def _forms_of_one_word(one: str, two: str) -> bool:
    """Whether two words differ, and only behind their first letters: at most three of the shorter one."""
    first, second = (
        "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)) for word in (one, two)
    )
    shared = next((n for n, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
    return one != two and shared >= max(_ARTICLE, min(len(first), len(second)) - 3)
