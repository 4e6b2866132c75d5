"""The noun phrase around the entity: surface words with their morphology, the head among them, what agrees with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mtbias.language.data_files import NounKind, NounReading
from mtbias.language.definition import Language
from mtbias.types import Analysis, Gender, Span, Word

NOMINAL = frozenset(("NOUN", "PROPN"))
MODIFIER = frozenset(("ADJ", "DET", "NUM"))
_GENDER = {"Masc": Gender.MALE, "Fem": Gender.FEMALE, "Neut": Gender.NEUTRAL}


@dataclass(frozen=True, slots=True)
class Unit:
    """A surface word (an elided article counts as a word) with the syntactic words that overlap it."""

    span: Span
    text: str
    form: str
    words: tuple[Word, ...]
    readings: tuple[NounReading, ...]
    joined: bool
    """Nothing but blanks stands between this word and the one before."""
    compound: int = 0
    """How many words before this one the compound begins that it belongs to (he *חשבון* in *רואה חשבון*: 1)."""

    def upos(self, *tags: str) -> bool:
        """One of its words has one of `tags`."""
        return any(w.upos in tags for w in self.words)

    @property
    def content(self) -> tuple[Word, ...]:
        """Its words without glued-on particles: prepositions, articles, conjunctions, pronouns."""
        return tuple(w for w in self.words if w.upos not in ("ADP", "DET", "CCONJ", "SCONJ", "PRON", "PART", "PUNCT"))


def units_of(analysis: Analysis, language: Language) -> list[Unit]:
    """The words of a translation in order."""
    units: list[Unit] = []
    tokens, n, last = analysis.tokens, 0, 0
    for surface in language.tokens(analysis.text):
        while n < len(tokens) and tokens[n].span.end <= surface.span.start:
            n += 1
        words: list[Word] = []
        k = n
        while k < len(tokens) and tokens[k].span.start < surface.span.end:
            words.extend(tokens[k].words)
            k += 1
        joined = bool(units) and not analysis.text[last : surface.span.start].strip()
        readings = _written_reading(analysis.text, surface.span, language) or language.noun(surface.text)
        units.append(Unit(surface.span, surface.text, surface.form, tuple(words), readings, joined))
        last = surface.span.end
    return _with_compounds(units, language) if language.phrases else units


def _written_reading(text: str, span: Span, language: Language) -> tuple[NounReading, ...]:
    """The reading of a form that names both genders by what is written onto the word: ``Lehrer*innen``, ``עובד/ת``."""
    if not language.inclusive:
        return ()
    end = next((n for n in range(span.end, len(text)) if text[n].isspace()), len(text))
    tail = text[span.end : end]
    while tail and unicodedata.category(tail[-1])[0] in "PS":
        tail = tail[:-1]
    written = text[span.start : span.end] + tail + (")" if "(" in tail else "")
    return language.noun(written) if re.search(language.inclusive, written) else ()


def _with_compounds(units: list[Unit], language: Language) -> list[Unit]:
    """Compounds of several words read as the plugin's table says: by their first word."""
    forms, n = [u.form for u in units], 0
    while n < len(units):
        found = language.phrase(forms[n : n + 4])
        size = found[0] if found and all(u.joined for u in units[n + 1 : n + found[0]]) else 1
        if found and size > 1:
            units[n] = replace(units[n], readings=(found[1],))
            for k in range(1, size):
                units[n + k] = replace(units[n + k], compound=k)
        n += size
    return units


def find_head(units: Sequence[Unit], target: Sequence[Span], language: Language, *, sure: bool = True) -> int | None:
    """Index of the head among the aligned words, or None where the spans meet no word.

    The first noun of the phrase is its head in all the languages at hand (genitives, complements and second parts of
    construct compounds follow it, adjectives are no nouns): first a noun for people that the plugin knows, then what
    the tagger calls a noun, then, where the alignment is `sure`, a noun that follows the aligned article, numeral or
    preposition, then the anchor itself.
    """
    aligned = [n for n, unit in enumerate(units) if any(unit.span.overlaps(s) for s in target)]
    if not aligned:
        return None
    aligned = sorted({n - units[n].compound for n in aligned})
    anchor = next(n for n, u in enumerate(units) if u.span.overlaps(target[0]))
    anchor -= units[anchor].compound
    if units[anchor].readings:
        aligned = [n for n in aligned if n >= anchor or not any(u.upos("VERB", "AUX") for u in units[n + 1 : anchor])]
    known = [n for n in aligned if units[n].readings and (n == anchor or not units[n].upos("VERB", "ADP", "AUX"))]
    telling = [n for n in known if any(r.kind is not NounKind.FIXED for r in units[n].readings)]
    known = [n for n in known if n in telling or n + 1 in telling or not telling]
    if known:
        head = _first_of(units, known, anchor) if anchor in known else known[0]
        if _only_qualifies(units, head, language):
            return None
        return head + 1 if _belongs_to_next(units, head, aligned, language) else head
    return _tagged_head(units, aligned, anchor, sure=sure)


def _tagged_head(units: Sequence[Unit], aligned: Sequence[int], anchor: int, *, sure: bool) -> int:
    """The head among words of which the plugin knows none: the tagger's noun, else the anchor."""
    nouns = [n for n in aligned if any(w.upos in NOMINAL for w in units[n].words)]
    if anchor in nouns:
        return _first_of(units, nouns, anchor)
    for n in nouns:
        if n < anchor or _same_case(units[anchor], units[n]):
            return n
    if sure and not units[anchor].upos("VERB", "AUX"):
        for n in range(anchor + 1, min(anchor + 4, len(units))):
            if not units[n].joined:
                break
            if is_noun(units[n]):
                return n
            if not units[n].upos("DET", "ADJ", "NUM", "ADP"):
                break
    return anchor


def _first_of(units: Sequence[Unit], candidates: Sequence[int], anchor: int) -> int:
    """The first of the nouns that stand before the anchor with nothing but function words and adjectives between."""
    first = anchor
    for n in sorted((n for n in candidates if n < anchor), reverse=True):
        if not all(u.compound or u.upos("ADP", "DET", "ADJ", "NUM", "PART") for u in units[n + 1 : first]):
            break
        first = n
    return first


def _same_case(unit: Unit, other: Unit) -> bool:
    cases = [{w.feat("Case") for w in u.content} - {None} for u in (unit, other)]
    return cases[0] == cases[1]


def _only_qualifies(units: Sequence[Unit], n: int, language: Language) -> bool:
    """An adjective of a noun for no person right before it (it *economia meccanica*): it renders nobody."""
    if n == 0 or not units[n].joined or not (language.preposed and language.postposed) or language.prepositions:
        return False
    unit, noun = units[n], units[n - 1]
    if not unit.content or not all(w.upos == "ADJ" for w in unit.content) or noun.readings or not noun.upos("NOUN"):
        return False
    return all({w.feat(f) for w in unit.content} == {w.feat(f) for w in noun.content} for f in ("Gender", "Number"))


def _belongs_to_next(units: Sequence[Unit], n: int, aligned: Sequence[int], language: Language) -> bool:
    """A determiner or adjective that could also stand alone (es *algunas*, ru *обслуживающий*), with its noun behind
    it.
    """
    following = units[n + 1] if n + 1 < len(units) else None
    if following is None or not following.joined or not is_noun(following):
        return False
    cased = any(w.feat("Case") for w in units[n].content)
    agrees = cased and _same_case(units[n], following) and following.upos("NOUN")
    adjective = bool(units[n].content) and all(w.upos == "ADJ" for w in units[n].content)
    nobody_else = n + 1 in aligned or all(r.kind is NounKind.FIXED for r in following.readings)
    preposed = language.preposed and bool(following.readings) and nobody_else
    opens = units[n].form in language.determiners or units[n].form in language.names
    return opens or (preposed and adjective and agrees)


def is_noun(unit: Unit) -> bool:
    """A noun by the tagger, or one for people that the plugin knows."""
    return bool(unit.readings) or any(w.upos in NOMINAL for w in unit.words)


def before(units: Sequence[Unit], head: int, language: Language) -> list[int]:
    """Indices of the determiners, titles and adjectives right before `head`, nearest first; no adjective before a
    determiner.
    """
    found: list[int] = []
    n, opened = head, False
    while n > 0 and units[n].joined:
        n -= 1
        unit = units[n]
        known = unit.form in language.determiners or unit.form in language.names
        adjective = (
            not opened
            and language.preposed
            and _modifies(unit, language)
            and not (unit.readings and unit.upos(*NOMINAL))
        )
        if known or adjective or (not opened and language.preposed and _between(units, n, head, language)):
            found.append(n)
            opened = opened or unit.form in language.determiners
            if unit.upos("ADP"):
                break
        elif opened or not unit.upos("ADV") or unit.upos("VERB", "AUX", "ADP"):
            break
    while found and not opened and units[found[-1]].upos("VERB"):  # "a écouté": a participle that no article introduces
        found.pop()
    return found


def _between(units: Sequence[Unit], n: int, head: int, language: Language) -> bool:
    """Whatever stands between a determiner and a noun for people, and is none itself, is its adjective."""
    article = n > 0 and units[n].joined and units[n - 1].form in language.determiners
    return (
        article and n == head - 1 and bool(units[head].readings) and not units[n].readings and not units[n].upos("ADP")
    )


def is_verb_form(unit: Unit, language: Language) -> bool:
    """A whole verb that the plugin lists, whatever the tagger makes of it.

    Only where adjectives follow their noun, and verb and adjective are easily confused.
    """
    verbs = language.verbs
    return not language.preposed and (unit.form in verbs.words or any(unit.form == e for e, _ in verbs.endings))


def compound_end(units: Sequence[Unit], head: int) -> int:
    """Index of the last word of the compound that begins at `head`."""
    n = head
    while n + 1 < len(units) and units[n + 1].compound == n + 1 - head:
        n += 1
    return n


def after(units: Sequence[Unit], head: int, language: Language) -> list[int]:
    """Indices of the adjectives right after `head`, and of the determiners, where the language has them there."""
    found: list[int] = []
    for n in range(compound_end(units, head) + 1, len(units)):
        unit = units[n]
        if not unit.joined or unit.form in language.verbs.short or is_verb_form(unit, language):
            break
        if language.determiners_follow and unit.form in language.determiners:
            found.append(n)
            continue
        adjective = bool(unit.content) and all(w.upos == "ADJ" for w in unit.content) and not unit.upos("ADP", "CCONJ")
        noun = bool(unit.readings) and not language.preposed  # in a language that has its adjectives behind: an object
        if (
            not (language.postposed and adjective)
            or noun
            or not language.same_definiteness(units[head].form, unit.form)
        ):
            break
        found.append(n)
    while found and belongs_to_following(units, found[-1], language):
        found.pop()
    return found


def belongs_to_following(units: Sequence[Unit], n: int, language: Language) -> bool:
    """An adjective that agrees with the noun behind it (cs *minulý týden*), where adjectives stand before their noun.

    Only in languages with case: the others show too little to tell it from an adjective of the noun before it. Further
    adjectives may stand between (cs *celý minulý týden*).
    """
    noun = n + 1
    while noun < len(units) and units[noun].joined and {w.upos for w in units[noun].words} == {"ADJ"}:
        noun += 1
    if not (language.preposed and language.prepositions) or noun == len(units) or not units[noun].joined:
        return False
    return units[noun].upos(*NOMINAL) and not units[noun].upos("ADP") and agrees(units[n], units[noun])


def agrees(modifier: Unit, noun: Unit) -> bool:
    """The tagger reads no different case, gender or number on the two; an adjective without case agrees with none (the
    predicative short forms of Slavic).
    """
    for feature in ("Case", "Gender", "Number"):
        values = [{v for w in unit.words for v in (w.feat(feature) or "").split(",") if v} for unit in (modifier, noun)]
        if all(values) and values[0].isdisjoint(values[1]):
            return False
        if feature == "Case" and not values[0] and modifier.upos("ADJ"):
            return False
    return True


def is_modifier(unit: Unit) -> bool:
    """A determiner, adjective or numeral by the tagger."""
    return bool(unit.words) and all(w.upos in MODIFIER for w in unit.words)


def _modifies(unit: Unit, language: Language) -> bool:
    """A determiner, numeral, adjective, or participle (where the participle is no finite form, as it is in Czech)."""
    words = [w for w in unit.words if w.upos not in ("ADP", "PUNCT")]
    participles = () if language.verbs.endings else ("Part",)
    return bool(words) and all(
        w.upos in MODIFIER or (w.upos == "VERB" and w.feat("VerbForm") in participles) for w in words
    )


def tagged_gender(words: Sequence[Word]) -> tuple[Gender | None, str]:
    """The gender on which `words` agree by the tagger's ``Gender`` feature, with the feature's text; None if
    unclear.
    """
    values = {w.feat("Gender") for w in words} - {None}
    if len(values) == 1:
        value = values.pop() or ""
        return _GENDER.get(value), f"Gender={value}"
    return None, ""
