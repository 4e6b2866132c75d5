"""Phrases that show both genders: *Ärzte und Ärztinnen*, *el/la jefe/a*, *Lehrer/-innen*, *los y las docentes*,
*niñes*, *ragazz\\**.

Whichever of the two forms the aligner found, and whichever stands first, such a phrase is neutral: both are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mtbias.decide.sentence_words import SentenceWord
from mtbias.language.definition import Language
from mtbias.language.grammar import NounKind
from mtbias.types import Evidence, Gender

# "el jefe o la jefa de sala": conjunction, article, partner.
MAX_BETWEEN = 2
"""Words that may stand between the two nouns or the two articles."""
# Lehrer/in, Lehrer/-innen, Lehrer*innen, Lehrer:in, Lehrer_in, Ärzt·innen, médico(a), soldador/a, учитель/ница.
_MARKED = re.compile(r"(?:/-?|\(-?|-?\(|[*:_·•@.-])(\w{1,7})\)?(?!\w)")
_SLASH = re.compile(r"[/(]")
_NEUTRAL = re.compile(r"[\w@*]+")
_MIN_STEM = 3
_MAX_CUT = 4
"""Letters that the written-on ending may replace (it *direttore/trice*: three)."""


def both_forms(words: Sequence[SentenceWord], head: int, text: str, language: Language) -> Evidence | None:
    """What shows that the phrase around `head` means both genders, or None."""
    for other in (*_joined_nouns(words, head, text, language),):
        pair = " / ".join(words[n].text for n in sorted((head, other)))
        return Evidence("noun", pair, Gender.NEUTRAL, "lexicon", "both forms")
    written = _written_ending(words[head], text, language)
    if written:
        return Evidence("noun", words[head].text + written, Gender.NEUTRAL, "form", "both forms in one word")
    neutral = _neutral_letter(words[head], text, language)
    if neutral:
        return Evidence("noun", neutral, Gender.NEUTRAL, "form", "an ending for both genders")
    articles = _joined_articles(words, head, text, language)
    if articles:
        return Evidence("determiner", articles, Gender.NEUTRAL, "form", "articles of both genders")
    return None


def _joined_nouns(words: Sequence[SentenceWord], head: int, text: str, language: Language) -> Iterator[int]:
    """The noun of the other gender that translates the same English noun, joined to the head by and, or, a slash."""
    mine = _genders(words[head])
    if not mine:
        return
    for step in (1, -1):
        joined = False
        for n in range(head + step, head + step * (MAX_BETWEEN + 2), step):
            if not 0 <= n < len(words):
                break
            word = words[n]
            joined = joined or "CCONJ" in word.tags or "CCONJ" in words[n - step].tags - words[head].tags
            first, second = sorted((n, n - step))
            joined = joined or bool(_SLASH.search(text[words[first].span.end : words[second].span.start]))
            theirs = _genders(word)
            if theirs:
                if joined and len(mine | theirs) > 1 and word.form != words[head].form and _same_noun(words[head], word, language):
                    yield n
                break
            if not ("CCONJ" in word.tags or word.form in language.determiners):
                break


def _written_ending(word: SentenceWord, text: str, language: Language) -> str:
    """The ending written behind the word that makes it a noun of the other gender (*soldador* + *a*), with its sign."""
    found = _MARKED.match(text, word.span.end)
    if not found:
        return ""
    ending = language.fold(found[1])
    if not ending:
        return ""
    forms = [base[: len(base) - cut] + ending for base in word.facts.bases for cut in range(min(_MAX_CUT, len(base) - 2))]
    kinds = {r.kind for form in forms for r in language.nouns.get(form, ())}
    mine = _genders(word)
    if mine == {Gender.FEMALE}:
        wanted = {NounKind.MASCULINE, NounKind.GENERIC}
    else:
        wanted = {NounKind.FEMININE}
    return found[0] if kinds & wanted else ""


def _neutral_letter(word: SentenceWord, text: str, language: Language) -> str:
    """The word as it is written (*niñ@s*, *ragazz\\**, *niñes*) if with other endings it is a man's and a woman's."""
    if not language.neutral_endings:
        return ""
    written = _NEUTRAL.match(text, word.span.start)
    form = language.fold(written[0]) if written else ""
    for ending, others in language.neutral_endings.items():
        stem = form.removesuffix(ending)
        if stem == form or len(stem) < _MIN_STEM or form in language.nouns:
            continue
        kinds = {r.kind for other in others for r in language.nouns.get(stem + other, ())}
        if kinds & {NounKind.MASCULINE, NounKind.GENERIC} and NounKind.FEMININE in kinds:
            return text[word.span.start : word.span.start + len(written[0])] if written else ""
    return ""


def _joined_articles(words: Sequence[SentenceWord], head: int, text: str, language: Language) -> str:
    """*los y las* docentes, *der/die* Angestellte: articles that can stand in one case, of a man and of a woman."""
    known = language.determiners
    near = [n for n in range(max(0, head - MAX_BETWEEN - 3), head) if words[n].form in known]
    for first, second in zip(near, near[1:], strict=False):
        between = text[words[first].span.end : words[second].span.start].strip()
        if not (between == "/" or (second - first == 2 and "CCONJ" in words[first + 1].tags)):
            continue
        one, other = ({(a.gender, a.case, a.number) for a in known[words[n].form]} for n in (first, second))
        if any(
            g != h and {g, h} == {"m", "f"} and c == d and k == m for g, c, k in one for h, d, m in other
        ) and words[first].form != words[second].form:
            return text[words[first].span.start : words[second].span.end]
    return ""


def _genders(word: SentenceWord) -> set[Gender]:
    """The genders that the table knows the form to show, if it shows any."""
    said = {
        NounKind.MASCULINE: Gender.MALE,
        NounKind.GENERIC: Gender.MALE,
        NounKind.FEMININE: Gender.FEMALE,
    }
    return {said[r.kind] for r in word.readings if r.kind in said}


def _same_noun(word: SentenceWord, other: SentenceWord, language: Language) -> bool:
    """Both translate one English noun, or have half of their letters in common from the beginning."""
    if not _english(word, language).isdisjoint(_english(other, language)):
        return True
    shared = next((n for n, (a, b) in enumerate(zip(word.form, other.form, strict=False)) if a != b), 0)
    return shared >= _MIN_STEM and 2 * shared >= max(len(word.form), len(other.form))


def _english(word: SentenceWord, language: Language) -> frozenset[str]:
    """The English nouns that the table has for the word."""
    return frozenset().union(*(language.english.get(form, frozenset()) for form in word.facts.dictionary_forms))
