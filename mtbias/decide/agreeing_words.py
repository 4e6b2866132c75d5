"""Articles, contractions, adjectives and the noun's own ending: which genders their forms allow in this phrase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mtbias.decide.phrase import Unit, compound_end, is_modifier, tagged_gender
from mtbias.language.data_files import Agreement, NounKind, NounReading
from mtbias.language.definition import Language
from mtbias.types import Evidence, Gender, Word

_LETTER = {"m": Gender.MALE, "f": Gender.FEMALE, "n": Gender.NEUTRAL}
_CASE = {"Nom": "nom", "Gen": "gen", "Dat": "dat", "Acc": "acc", "Ins": "ins", "Loc": "loc", "Voc": "voc"}
_NUMBER = {"Sing": "sg", "Plur": "pl"}
_ALL_CASES = frozenset(_CASE.values())
_OPEN = ("nom", "voc", "*")
_NOT_SUBJECT = _ALL_CASES - {"nom", "voc"}
_ANY = Agreement("*", "*", "*")


@dataclass(frozen=True, slots=True)
class Phrase:
    """The entity's noun phrase in its sentence."""

    units: Sequence[Unit]
    head: int
    left: Sequence[int]
    """Determiners, titles and adjectives before the head, nearest first."""
    right: Sequence[int]
    """Adjectives after it."""
    language: Language
    number: str | None
    """Number in which the entity stands in the English source."""

    @property
    def first(self) -> int:
        """Index of the phrase's first word."""
        return min((*self.left, self.head))

    @property
    def last(self) -> int:
        """Index of its last word."""
        return max((*self.right, compound_end(self.units, self.head)))

    def before(self) -> Unit | None:
        """The word right before the phrase, in the same clause."""
        return self.units[self.first - 1] if self.first > 0 and self.units[self.first].joined else None

    def noun_allows(self, *, gendered: bool = True) -> list[Agreement]:
        """Analyses that the head's form allows by the plugin's table; everything where it is not in it.

        Without `gendered` only their case and number count.
        """
        readings = [r for r in self.units[self.head].readings if r.kind is not NounKind.FIXED]
        found = [a for r in readings for a in reading_allows(r)] or [_ANY]
        return found if gendered else [Agreement("*", a.case, a.number) for a in found]

    def cases(self) -> tuple[frozenset[str], str]:
        """The cases in which the phrase can stand by the words before it, and why; all of them where nothing tells.

        A preposition governs its cases. Right behind another noun a phrase that can be genitive is its attribute.
        Behind a verb that has its subject already (a nominative before it, a first or second person, an imperative) it
        is no subject.
        """
        before = self.before()
        if before is None or not self.language.prepositions:
            return _ALL_CASES, ""
        if before.form in self.language.prepositions:
            return self.language.prepositions[before.form], f", after {before.text}"
        if before.upos("NOUN") and not before.upos("VERB", "ADP") and self._may_be_genitive():
            return frozenset(("gen",)), f", attribute of {before.text}"
        verb = self.first - 1
        while verb > 0 and self.units[verb].joined and self.units[verb].form in self.language.verbs.skip:
            verb -= 1
        if self.units[verb].upos("VERB", "AUX") and self._has_subject(verb):
            return _NOT_SUBJECT, f", object of {self.units[verb].text}"
        return _ALL_CASES, ""

    def _may_be_genitive(self) -> bool:
        """Unless the plugin's table knows the form in other cases only; or the noun before is no subject and the tagger
        reads a nominative (ru *В понедельник молодой ткач открыл…*, cs *V pondělí vedoucí odešel*).
        """
        known = {a.case for r in self.units[self.head].readings for a in r.agreements}
        if known and not known & {"gen", "*"}:
            return False
        words = (w for n in (*self.left, self.head) for w in self.units[n].words if w.upos != "ADP")
        return {w.feat("Case") for w in words} - {None} != {"Nom"} or not self._behind_oblique()

    def _behind_oblique(self) -> bool:
        """The noun right before the phrase cannot be a subject."""
        n = self.first - 1
        return governed(self.units, n) or not any(may_be_nominative(self.units[n], w) for w in self.units[n].words)

    def _has_subject(self, verb: int) -> bool:
        n = verb
        while True:
            for word in self.units[n].words:
                if word.feat("Person") in ("1", "2") or word.feat("Mood") == "Imp":
                    return True
                if n < verb and may_be_nominative(self.units[n], word):
                    return True
            if n == 0 or not self.units[n].joined or opens_clause(self.units[n]):
                return False
            n -= 1


def reading_allows(reading: NounReading) -> list[Agreement]:
    """Analyses that one reading of a noun allows, with the gender that agrees with it.

    Feminine agreement with a masculine form that is also used of women is nominative (наша врач, never *нашей врачу).
    """
    gender = {NounKind.MASCULINE: "m", NounKind.FEMININE: "f"}.get(reading.kind, "*")
    if reading.kind is NounKind.GENERIC:
        return [Agreement("*" if a.case in _OPEN else "m", a.case, a.number) for a in reading.agreements or (_ANY,)]
    return [Agreement(gender if a.gender == "*" else a.gender, a.case, a.number) for a in reading.agreements or (_ANY,)]


def may_be_nominative(unit: Unit, word: Word) -> bool:
    """A noun or pronoun that can be a subject, by the plugin's table where it knows the cases, else by the tagger."""
    if not (word.upos in ("NOUN", "PROPN", "PRON") or unit.readings):
        return False
    cases = {a.case for r in unit.readings for a in r.agreements} - {"*"}
    if cases:
        return "nom" in cases
    return word.upos not in ("ADP", "DET", "CCONJ", "SCONJ", "VERB", "AUX") and word.feat("Case") in (None, "Nom")


def governed(units: Sequence[Unit], n: int) -> bool:
    """A preposition stands before the noun at `n`, with nothing but determiners and adjectives between."""
    while n > 0 and units[n].joined and is_modifier(units[n - 1]):
        n -= 1
    return n > 0 and units[n].joined and units[n - 1].upos("ADP")


def opens_clause(unit: Unit) -> bool:
    """A conjunction: what stands before it belongs to another clause."""
    return unit.upos("CCONJ", "SCONJ")


def determiners(phrase: Phrase, noun_gender: Gender | None = None) -> list[Evidence]:
    """Evidence of the articles, contractions, possessives and demonstratives before the head.

    The analyses that their forms allow are intersected with those of the noun's ending and resolved (`resolve`). A form
    that allows the gender that the noun itself shows agrees with it, whatever else it allows (German *der Köchin*).
    """
    units, language = phrase.units, phrase.language
    known = [n for n in (*phrase.left, *phrase.right) if units[n].form in language.determiners]
    silent = language.silent_determiners.get(units[phrase.head].form, frozenset())
    if known and known[0] == phrase.head - 1 and units[known[0]].form in silent:
        known = known[1:]
    fits = phrase.noun_allows(gendered=noun_gender is None)
    known = [n for n in known if meet(language.determiners[units[n].form], fits)]
    if not known:
        return []
    nearest = units[known[0]]
    allowed = list(language.determiners[nearest.form])
    if nearest.form in language.determiners_before_consonant and units[known[0] + 1].form[:1] not in language.vowels:
        allowed = list(language.determiners_before_consonant[nearest.form])
    for n in known[1:]:
        allowed = meet(allowed, language.determiners[units[n].form]) or allowed
    counted = [a for a in allowed if _fits(a.number, phrase.number)] or allowed
    if noun_gender is not None and any(_LETTER.get(a.gender, noun_gender) == noun_gender for a in counted):
        gender, how = (noun_gender if only_gender(counted) else None), ""
    else:
        allowed = meet(allowed, phrase.noun_allows()) or allowed
        for n in phrase.left:
            if n not in known and units[n].form not in language.names:
                ending = adjective_agreements(units[n], language)
                allowed = (meet(allowed, ending) or allowed) if ending else allowed
        gender, how = resolve(allowed, phrase, [*known, phrase.head])
    words = " ".join(units[n].text for n in sorted(known))
    kind = "contraction" if any(units[n].upos("ADP") for n in known) else "determiner"
    return [Evidence(kind, words, gender, "form", listed(allowed) + how)]


def fitting_readings(phrase: Phrase) -> tuple[NounReading, ...]:
    """The readings of the head that fit its determiner, then those in the number of the English source (it
    *infermiere*: a man in *l'infermiere*, women in *le infermiere*); all of them where none would be left.
    """
    readings = phrase.units[phrase.head].readings
    articles: list[Agreement] = []
    for n in (*phrase.left, *phrase.right):
        allowed = phrase.language.determiners.get(phrase.units[n].form)
        if allowed:
            articles = meet(articles, allowed) if articles else list(allowed)
    number = [Agreement("*", "*", phrase.number)] if phrase.number else []
    for context in (articles, number):
        fitting = tuple(r for r in readings if not context or meet(reading_allows(r), context))
        readings = fitting or readings
    return readings


def noun_ending(phrase: Phrase) -> list[Evidence]:
    """Evidence of the head's own ending in its case and number (cs *průvodčímu*: m.dat.sg), where it tells."""
    allowed = phrase.noun_allows()
    if allowed == [_ANY] or not any(a.gender != "*" for a in allowed):
        return []
    gender, how = resolve(allowed, phrase, [phrase.head])
    if gender is None:
        return []
    return [Evidence("noun", phrase.units[phrase.head].text, gender, "form", listed(allowed) + how)]


def resolve(allowed: Sequence[Agreement], phrase: Phrase, read: Sequence[int]) -> tuple[Gender | None, str]:
    """The one gender that is left, and how: by the forms alone, then with the number of the English source, then
    with the cases that the words before allow, then as a nominative where the phrase opens the sentence, then with
    the case and number that the tagger reads on the words `read`.
    """
    how = ""
    gender = only_gender(allowed)
    if gender is not None:
        return gender, how
    cases, why = phrase.cases()
    numbers = frozenset((phrase.number, "*")) if phrase.number else frozenset(("sg", "pl", "*"))
    for position, values, reason in ((2, numbers, f", {phrase.number} in the source"), (1, cases | {"*"}, why)):
        kept = [a for a in allowed if a[position] in values]
        if kept and len(kept) < len(allowed):
            allowed, how = kept, how + reason
            gender = only_gender(allowed)
            if gender is not None:
                return gender, how
    if phrase.first == 0 and phrase.language.prepositions:
        gender = only_gender([a for a in allowed if a.case in ("nom", "*")])
        if gender is not None:
            return gender, f"{how}, first in the sentence"
    for n in read:
        for word in phrase.units[n].words:
            case, number = _CASE.get(word.feat("Case") or ""), _NUMBER.get(word.feat("Number") or "")
            if case or number:
                gender = only_gender([a for a in allowed if _fits(a.case, case) and _fits(a.number, number)])
                if gender is not None:
                    return gender, f"{how}, read as {case or '*'}.{number or '*'}"
    return None, how


def listed(allowed: Iterable[Agreement]) -> str:
    """Analyses for a reader: ``f.dat.sg m.nom.sg``."""
    return " ".join(sorted({".".join(a) for a in allowed}))


def _fits(allowed: str, read: str | None) -> bool:
    return read is None or allowed in ("*", read)


def meet(left: Iterable[Agreement], right: Iterable[Agreement]) -> list[Agreement]:
    """Analyses that both sides allow."""
    others = list(right)
    found = []
    for a in left:
        for b in others:
            merged = [x if y == "*" else y if x in ("*", y) else None for x, y in zip(a, b, strict=True)]
            if None not in merged:
                found.append(Agreement(*(str(m) for m in merged)))
    return list(dict.fromkeys(found))


def only_gender(allowed: Iterable[Agreement]) -> Gender | None:
    """The one gender of a person that `allowed` leaves; neuter counts only where it stands alone."""
    letters = {a.gender for a in allowed}
    if "*" in letters:
        return None
    if len(letters) > 1:
        letters -= {"n"}
    return _LETTER[letters.pop()] if len(letters) == 1 else None


def adjective_agreements(unit: Unit, language: Language) -> tuple[Agreement, ...]:
    """What the ending of an attributive adjective allows, by the plugin's table; empty where it says nothing."""
    form = unit.form
    for size in range(len(form), 0, -1):
        found = language.adjective_endings.get(form[-size:])
        if found is not None:
            return found
    return ()


def adjectives(phrase: Phrase) -> list[Evidence]:
    """Evidence of the attributive adjectives: their endings by the plugin's table, else the tagger's gender."""
    found = []
    language = phrase.language
    for n in (*phrase.left, *phrase.right):
        unit = phrase.units[n]
        if (
            unit.form in language.determiners
            or unit.form in language.names
            or not any(w.upos != "NUM" for w in unit.content)
        ):
            continue
        ending = adjective_agreements(unit, language)
        if ending:
            agreeing = meet(ending, phrase.noun_allows())
            if not agreeing:
                continue  # another case, number or gender: it belongs to something else
            gender, how = resolve(agreeing, phrase, [n, phrase.head])
            if gender is not None:
                found.append(Evidence("adjective", unit.text, gender, "form", listed(ending) + how))
            continue
        gender, feature = tagged_gender(unit.content)
        number = {_NUMBER.get(w.feat("Number") or "") for w in unit.content} - {None}
        if gender is not None and (not number or phrase.number in (None, *number)):
            found.append(Evidence("adjective", unit.text, gender, "tagger", feature))
    return found


def names(phrase: Phrase) -> list[Evidence]:
    """Evidence of a title before the head (*Frau*, *señora*) and of a surname behind it whose ending tells (cs
    *-ová*).
    """
    units, language = phrase.units, phrase.language
    found = [
        Evidence("title", units[n].text, _LETTER[language.names[units[n].form]], "form", units[n].form)
        for n in phrase.left
        if units[n].form in language.names
    ]
    following = phrase.last + 1
    if following < len(units) and units[following].joined and units[following].upos("PROPN"):
        ending = language.ending(units[following].form)
        gender = {NounKind.MASCULINE: Gender.MALE, NounKind.FEMININE: Gender.FEMALE}.get(ending[1]) if ending else None
        if ending and gender:
            found.append(Evidence("name", units[following].text, gender, "form", f"-{ending[0]}"))
    return found
