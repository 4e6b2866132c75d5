"""The predicate that agrees with the entity, asked only where the noun phrase is silent, and only where it surely is
its own.

Sure means: the phrase opens its clause (nothing, a conjunction or a punctuation mark before it), holds no
preposition, can be nominative, and the verb stands right next to it, apart from negation, clitics and adverbs. In
languages with case, phrases that are no subject by their case or preposition may stand before it and between the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtbias.decide.agreeing_words import (
    Phrase,
    adjective_agreements,
    governed,
    listed,
    may_be_nominative,
    only_gender,
    opens_clause,
)
from mtbias.decide.phrase import Unit, agrees, belongs_to_following, is_modifier, is_verb_form, tagged_gender
from mtbias.language.data_files import Agreement
from mtbias.language.definition import Language
from mtbias.types import Evidence, Gender, Word

_LETTER = {"m": Gender.MALE, "f": Gender.FEMALE}
_MAX_BETWEEN = 4


def predicate_gender(phrase: Phrase) -> Evidence | None:
    """The gender that the entity's own predicate shows, or None."""
    if not _may_be_subject(phrase):
        return None
    units, language = phrase.units, phrase.language
    if _opens_clause(units, phrase.first, language) and not _coordinated(phrase):
        found = _following(phrase)
        if found is not None:
            return found
    if language.verbs.order == "both":
        return _preceding(phrase)
    return None


def _may_be_subject(phrase: Phrase) -> bool:
    units = phrase.units
    if any(units[n].upos("ADP") for n in (*phrase.left, phrase.head)):
        return False
    before = phrase.before()
    if before is not None and (before.upos("ADP") or before.form in phrase.language.verbs.oblique):
        return False
    if "nom" not in phrase.cases()[0] or not any(a.case in ("nom", "*") for a in phrase.noun_allows()):
        return False
    cased = any(a.case != "*" for r in units[phrase.head].readings for a in r.agreements)
    if cased or not phrase.language.prepositions:
        return True  # the form is one of a nominative, or shows no case, whatever the tagger reads
    cases = {w.feat("Case") for w in units[phrase.head].content} - {None}
    return not cases or "Nom" in cases


def _opens_clause(units: Sequence[Unit], first: int, language: Language) -> bool:
    if first == 0 or not units[first].joined:
        return True
    first_word = units[first].words[:1]
    if first_word and first_word[0].upos in ("CCONJ", "SCONJ"):  # written onto the phrase (he שהמורה)
        return True
    before = units[first - 1]
    if before.words and all(w.upos in ("CCONJ", "SCONJ", "ADV", "PART") for w in before.words):
        return True
    return bool(language.prepositions) and _no_subject(units, first)


def _no_subject(units: Sequence[Unit], end: int) -> bool:
    """Nothing before `end` in its clause is a verb or can be a nominative (uk *У понеділок колега сказала*)."""
    for n in range(end - 1, -1, -1):
        unit = units[n]
        if opens_clause(unit):
            return True
        nominative = any(may_be_nominative(unit, w) for w in unit.words) and not governed(units, n)
        if not unit.words or unit.upos("VERB", "AUX") or nominative:
            return False
        if not unit.joined:
            return True
    return True


def _coordinated(phrase: Phrase) -> bool:
    """A plural behind "noun and": the predicate agrees with both (es *Juan y sus estudiantes están cansados*)."""
    units, n = phrase.units, phrase.first - 1
    if phrase.number != "pl" or n < 1 or not units[n].joined or not units[n].upos("CCONJ"):
        return False
    return any(w.upos in ("NOUN", "PROPN", "PRON") and w.feat("Case") in (None, "Nom") for w in units[n - 1].words)


def _following(phrase: Phrase) -> Evidence | None:
    units, language = phrase.units, phrase.language
    copula = reflexive = False
    n = _attributes_end(phrase)
    for _ in range(_MAX_BETWEEN + 1):
        n += 1
        if n >= len(units) or not units[n].joined:
            return None
        unit = units[n]
        if unit.form in language.verbs.skip or _auxiliary(units, n, language):
            reflexive = reflexive or unit.form in language.verbs.reflexives
            continue
        if not copula and unit.form in language.verbs.short:
            return _by_form(unit, language.verbs.short[unit.form], phrase, unit.form, tagged=True)
        listed_verb = is_verb_form(unit, language)
        between = None if copula or listed_verb else _oblique_end(units, n, language)
        if between is not None:
            n = between
        elif unit.upos("ADP", "CCONJ", "SCONJ") and not listed_verb:
            return None
        elif _is_copula(unit, language, reflexive=reflexive):
            silent = _compound_tense(unit, language) or unit.upos("PRON")  # a pronoun never decides (he הוא)
            found = None if silent else _shown(unit, phrase)
            if found:
                return found
            copula = True
        elif copula and unit.upos("ADJ", "VERB", "AUX"):
            return None if belongs_to_following(units, n, language) else _predicative(unit, phrase)
        elif unit.upos("VERB", "AUX") or listed_verb:
            return None if _compound_tense(unit, language) else _shown(unit, phrase)
        elif not (all(w.upos in ("ADV", "PART") for w in unit.words) or _oblique(unit, language)):
            return None
    return None


def _oblique(unit: Unit, language: Language) -> bool:
    """A noun or pronoun that is no nominative, where nouns show case (cs *Rozhodčí se trenérovi omluvil*)."""
    nominal = bool(unit.content) and (unit.upos("NOUN", "PROPN", "PRON") or bool(unit.readings))
    return bool(language.prepositions) and nominal and not any(may_be_nominative(unit, w) for w in unit.words)


def _oblique_end(units: Sequence[Unit], n: int, language: Language) -> int | None:
    """Index of the last word of a phrase that begins at `n` and can be no subject, where nouns show case: a preposition
    with its noun (cs *si v pondělí koupila*), adjectives or determiners with an oblique noun (cs *minulý týden*).
    """
    if not language.prepositions or units[n].upos("VERB", "AUX", "CCONJ", "SCONJ"):
        return None
    if units[n].upos("ADP") or units[n].form in language.prepositions:
        return _noun_of(units, n)
    noun = n
    while noun + 1 < len(units) and units[noun + 1].joined and is_modifier(units[noun]):
        noun += 1
    if noun == n or not _oblique(units[noun], language):
        return None
    return noun if all(agrees(units[k], units[noun]) for k in range(n, noun)) else None


def _attributes_end(phrase: Phrase) -> int:
    """Index of the last word of the phrase with its prepositional and genitive attributes (*менеджер по продажам*)."""
    units, n = phrase.units, phrase.last
    while n + 1 < len(units) and units[n + 1].joined:
        unit = units[n + 1]
        cases = {w.feat("Case") for w in unit.content} - {None}
        genitive = n == phrase.last and bool(phrase.language.prepositions) and unit.upos("NOUN") and cases == {"Gen"}
        if genitive:
            n += 1
        elif unit.upos("ADP") or unit.form in phrase.language.prepositions:
            noun = _noun_of(units, n + 1)
            if noun is None:
                break
            n = noun
        else:
            break
    return n


def _noun_of(units: Sequence[Unit], preposition: int) -> int | None:
    """Index of the noun that a preposition (or a word with one written onto it) governs."""
    for n in range(preposition, min(preposition + 5, len(units))):
        if n > preposition and not units[n].joined:
            return None
        if units[n].upos("NOUN", "PROPN"):
            return n
        if units[n].upos("VERB", "AUX", "CCONJ", "SCONJ", "PRON"):
            return None
    return None


def _is_copula(unit: Unit, language: Language, *, reflexive: bool) -> bool:
    verbs = language.verbs
    return unit.form in verbs.copulas or (reflexive and unit.form in verbs.reflexive_copulas)


def _auxiliary(units: Sequence[Unit], n: int, language: Language) -> bool:
    """An auxiliary right before a copula (fr *a été*)."""
    following = units[n + 1].form if n + 1 < len(units) else ""
    return units[n].form in language.verbs.auxiliaries and following in language.verbs.copulas


def _predicative(unit: Unit, phrase: Phrase) -> Evidence | None:
    """An adjective or participle that a copula joins to its subject: its ending by the plugin's table, else the
    tagger.
    """
    words = [w for w in unit.words if w.upos in ("ADJ", "VERB", "AUX")]
    ending = adjective_agreements(unit, phrase.language)
    if ending:
        gender = only_gender([a for a in ending if a.number in ("*", phrase.number or "sg")])
        return Evidence("verb", unit.text, gender, "form", listed(ending)) if gender in _LETTER.values() else None
    gender, feature = tagged_gender(words)
    fits = all(_same_number(w, phrase) for w in words)
    return Evidence("verb", unit.text, gender, "tagger", feature) if gender in _LETTER.values() and fits else None


def _same_number(word: Word, phrase: Phrase) -> bool:
    number = word.feat("Number")
    return number is None or number == ("Plur" if phrase.number == "pl" else "Sing")


def _compound_tense(unit: Unit, language: Language) -> bool:
    """A bare past participle that no copula introduces ("ha chiesto") does not agree with the subject.

    Where the plugin says which endings of past verbs mark gender (the Slavic l-participle), it does.
    """
    if any(unit.form.endswith(ending) for ending, _ in language.verbs.endings):
        return False
    forms = {w.feat("VerbForm") for w in unit.words if w.upos in ("VERB", "AUX")}
    return "Part" in forms and "Fin" not in forms and any(w.feat("Tense") == "Past" for w in unit.words)


def _preceding(phrase: Phrase) -> Evidence | None:
    """The verb right before the phrase, where nothing before it in its clause can be its subject."""
    unit, language = phrase.before(), phrase.language
    if unit is None or not unit.upos("VERB", "AUX", "ADJ"):
        return None
    n = phrase.first - 1
    before = n - 1
    while before > 0 and phrase.units[before + 1].joined and phrase.units[before].form in language.verbs.skip:
        before -= 1
    copula = (
        before >= 0 and phrase.units[before + 1].joined and _is_copula(phrase.units[before], language, reflexive=False)
    )
    while n > 0 and phrase.units[n].joined:
        n -= 1
        if opens_clause(phrase.units[n]):
            break
        if any(may_be_nominative(phrase.units[n], w) for w in phrase.units[n].words):
            return None
    if copula:
        return _predicative(unit, phrase)
    return None if unit.upos("ADJ") or _compound_tense(unit, language) else _shown(unit, phrase)


def _shown(unit: Unit, phrase: Phrase) -> Evidence | None:
    """The gender of a finite verb in the entity's number: by the plugin's endings, else by the tagger."""
    verbs = [w for w in unit.words if w.upos in ("VERB", "AUX")]
    whole = phrase.language.verbs.words.get(unit.form)
    if whole:
        return _by_form(unit, whole, phrase, unit.form, tagged=True)
    for ending, agreement in phrase.language.verbs.endings:
        if unit.form.endswith(ending):
            return _by_form(unit, agreement, phrase, f"-{ending}", all(_same_number(w, phrase) for w in verbs))
    if not all(_same_number(w, phrase) for w in verbs):
        return None
    gender, feature = tagged_gender(verbs)
    marked = phrase.language.verbs.feminine
    if gender is Gender.FEMALE and marked and not re.search(marked, unit.form):
        return None
    return Evidence("verb", unit.text, gender, "tagger", feature) if gender in _LETTER.values() else None


def _by_form(unit: Unit, agreement: Agreement, phrase: Phrase, detail: str, tagged: bool) -> Evidence | None:
    """Evidence of a form that shows gender, if it shows the entity's number; where it shows none, the tagger must
    agree.
    """
    fits = tagged if agreement.number == "*" else agreement.number == (phrase.number or agreement.number)
    gender = _LETTER.get(agreement.gender)
    return Evidence("verb", unit.text, gender, "form", detail) if gender and fits else None
