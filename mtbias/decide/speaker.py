"""The gender in which the speaker stands: what agrees with "I" in a sentence in the first person.

A gender is read from past tenses, predicative adjectives and participles, and words such as *sama*, only where their
subject surely is the speaker. A clause is the speaker's where it has the first-person pronoun or a verb of the first
person singular; where past tenses show no person (Russian, Ukrainian), also one without any subject that continues
clauses of the speaker. Attributes of a noun say nothing about the speaker, nor do nouns, nor what stands in quotation
marks. There is no default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mtbias.decide.agreements import GENDER_OF_LETTER, listed, only_gender
from mtbias.decide.noun_phrase import governed
from mtbias.decide.sentence_words import CONJUNCTION, NOMINAL, VERBAL, SentenceWord, feature_values, sentence_words
from mtbias.decide.sentence_words import tagged_gender
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.types import Analysis, Evidence, Gender, GenderCall, Reason, Span

_PERSONAL = (Gender.MALE, Gender.FEMALE)
_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"|״[^״]*״")
_BOTH = re.compile(r"\s?[(/]\s?-?[^\W\d_]{1,15}")
"""Behind a form: the other gender's ending or form (*пришёл(ла)*, *rád/a*, *готов / готова*)."""
_SENTENCE_END = re.compile(r"[.!?…]")
_MAX_BETWEEN = 4
"""Words that may stand between "I am" and what agrees with it, in languages without case."""


def speaker_call(id_: str, analysis: Analysis, texts: SplitTexts) -> GenderCall:
    """The gender in which the speaker of a text stands, with every word that shows one; words that contradict each
    other are ambiguous, and a form of both genders is neutral.
    """
    found = list(_found(analysis, texts))
    spans = tuple(dict.fromkeys(span for span, _ in found))
    evidence = tuple(piece for _, piece in found)
    genders = {piece.gender for piece in evidence}
    if not genders:
        return GenderCall(id_, None, Reason.NO_MORPHOLOGY)
    if Gender.NEUTRAL in genders:
        return GenderCall(id_, Gender.NEUTRAL, None, spans, evidence)
    if len(genders) > 1:
        return GenderCall(id_, None, Reason.AMBIGUOUS, spans, evidence)
    return GenderCall(id_, genders.pop(), None, spans, evidence)


def _found(analysis: Analysis, texts: SplitTexts) -> Iterator[tuple[Span, Evidence]]:
    words = _outside_quotes(sentence_words(analysis, texts), analysis.text)
    reader = _Reader(tuple(words), analysis.text, texts.language)
    clauses = reader.clauses()
    owned = reader.owners(clauses)
    for clause, speaks in zip(clauses, owned, strict=True):
        for n in clause.words:
            piece = reader.shown(n, clause, speaks=speaks)
            if piece is None:
                continue
            word = words[n]
            if _BOTH.match(analysis.text, word.span.end):
                piece = Evidence(piece.kind, word.text, Gender.NEUTRAL, "form", "both forms")
            yield word.span, piece


def _outside_quotes(words: list[SentenceWord], text: str) -> list[SentenceWord]:
    """The words that are not quoted; a text that is quoted as a whole is the speaker's."""
    quoted = [Span(*match.span()) for match in _QUOTED.finditer(text)]
    bare = text.strip(" .!?…")
    quoted = [span for span in quoted if len(text[span.start : span.end].strip(" .!?…")) < len(bare)]
    return [word for word in words if not any(word.span.overlaps(span) for span in quoted)]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A stretch of words without a conjunction or punctuation mark inside."""

    words: range
    subordinate: bool
    """A subordinating conjunction or relative pronoun opens it."""
    coordinated: bool
    """A coordinating conjunction does."""
    sentence: int
    """The sentence of the text in which it stands."""


@dataclass(frozen=True, slots=True)
class _Reader:
    words: tuple[SentenceWord, ...]
    text: str
    language: Language

    def clauses(self) -> list[_Clause]:
        """The clauses in order."""
        found, start, sentence = [], 0, 0
        for n in range(1, len(self.words) + 1):
            if n < len(self.words) and not self._opens(n):
                continue
            first = self.words[start]
            relative = "Rel" in feature_values(first.tagged, "PronType") or self._relative(start)
            found.append(
                _Clause(
                    range(start, n),
                    "SCONJ" in first.tags or relative,
                    "CCONJ" in first.tags,
                    sentence,
                )
            )
            if n < len(self.words):
                between = self.text[self.words[n - 1].span.end : self.words[n].span.start]
                sentence += bool(_SENTENCE_END.search(between))
            start = n
        return found

    def _opens(self, n: int) -> bool:
        return not self.words[n].joined or bool(self.words[n].tags & CONJUNCTION)

    def _relative(self, n: int) -> bool:
        """A relative pronoun stands first, or behind a preposition (ru *в которой*)."""
        return any(
            "Rel" in feature_values(word.tagged, "PronType") or "Int,Rel" in feature_values(word.tagged, "PronType")
            for word in self.words[n : n + 2]
        )

    def owners(self, clauses: Sequence[_Clause]) -> list[bool]:
        """Whether each clause surely is the speaker's."""
        if not self.language.speaker.bare_past:
            return [self._marked(clause) for clause in clauses]
        found: list[bool] = []
        last: bool | None = None
        main: bool | None = None
        sentence = 0
        for clause in clauses:
            if clause.sentence != sentence:
                sentence, main = clause.sentence, None
            subject = self._subject(clause)
            if subject is None and self._gendered_verb(clause):
                # Behind a subordinate clause the main one may go on: both must be the speaker's.
                subject = last is not False and (main is not False or clause.subordinate)
            found.append(bool(subject))
            if subject is not None:
                last = subject
                if not clause.subordinate:
                    main = subject
        return found

    def _marked(self, clause: _Clause) -> bool:
        return any(self._is_pronoun(n) or self._first_person(n) for n in clause.words)

    def _is_pronoun(self, n: int) -> bool:
        return self.words[n].form in self.language.speaker.pronouns

    def _first_person(self, n: int) -> bool:
        """A verb of the first person singular."""
        word = self.words[n]
        if word.form in self.language.speaker.copulas:
            return True
        return any(
            w.upos in VERBAL and w.feat("Person") == "1" and w.feat("Number") == "Sing" for w in word.tagged
        )

    def _oblique(self, n: int) -> bool:
        """The first-person pronoun in another case."""
        return not self._is_pronoun(n) and any(
            w.upos == "PRON" and w.feat("Person") == "1" and w.feat("Number") == "Sing" and w.feat("Case") != "Nom"
            for w in self.words[n].tagged
        )

    def _past_gender(self, n: int) -> Gender | None:
        """The gender of a past tense in the singular."""
        word = self.words[n]
        ending = self.language.verbs.words.get(word.form) or (self.language.verbs.ending(word.form) or (None, None))[1]
        tagged = [w for w in word.tagged if w.upos in VERBAL and _is_past(w.feats)]
        if not ending or not tagged or ending.number == "pl" or feature_values(tagged, "Number") - {"Sing"}:
            return None
        return GENDER_OF_LETTER.get(ending.gender)

    def _gendered_verb(self, clause: _Clause) -> bool:
        return any(self._past_gender(n) in _PERSONAL or self._short_gender(n) in _PERSONAL for n in clause.words)

    def _short_gender(self, n: int) -> Gender | None:
        """The gender of a short form: adjective or participle, never an attribute."""
        word = self.words[n]
        short = [w for w in word.tagged if w.feat("Variant") == "Short" and w.upos in ("ADJ", *VERBAL)]
        if short and feature_values(short, "Number") <= {"Sing"}:
            return tagged_gender(short)[0]
        listed_form = self.language.verbs.short.get(word.form)
        return GENDER_OF_LETTER.get(listed_form.gender) if listed_form else None

    def _nominative(self, n: int) -> bool:
        """Another than the speaker that may be a subject."""
        word = self.words[n]
        if self._is_pronoun(n) or governed(self.words, n):
            return False
        return any(
            w.upos in ("NOUN", "PROPN", "PRON", "DET", "NUM") and "Nom" in (w.feat("Case") or "")
            for w in word.tagged
            if w.upos in ("NOUN", "PROPN", "PRON") or w.feat("PronType")
        )

    def _subject(self, clause: _Clause) -> bool | None:
        """Whether the subject of a clause is the speaker; None where it has none of its own, or no verb."""
        if any(self._is_pronoun(n) or self._first_person(n) for n in clause.words):
            return True
        others = [n for n in clause.words if self._nominative(n)]
        finite = any("Fin" in feature_values(self.words[n].tagged, "VerbForm") for n in clause.words)
        gendered = self._gendered_verb(clause)
        comparison = clause.subordinate and not finite and not gendered  # ru как лидер
        if others:
            return None if comparison else False
        if any(self._oblique(n) for n in clause.words):
            return False if gendered else None
        persons = {p for n in clause.words for p in feature_values(self.words[n].tagged, "Person")}
        plural = any(
            self.words[n].tags & VERBAL and "Plur" in feature_values(self.words[n].tagged, "Number")
            for n in clause.words
        )
        verbs = any(self.words[n].tags & VERBAL for n in clause.words)
        return False if verbs and (plural or (finite and persons & {"2", "3"})) else None

    def shown(self, n: int, clause: _Clause, *, speaks: bool) -> Evidence | None:
        """What the word at `n` shows of the speaker, or None."""
        if not self.language.prepositions:
            return self._behind_marker(n, clause)
        if not speaks or self._other_subject(n, clause):
            return None
        word = self.words[n]
        own = self.language.speaker.words.get(word.form)
        if own is not None and not self._attribute(n):
            gender = GENDER_OF_LETTER.get(own.gender)
            return Evidence("adjective", word.text, gender, "form", word.form) if gender in _PERSONAL else None
        past = self._past_gender(n)
        if past in _PERSONAL:
            ending = self.language.verbs.ending(word.form)
            return Evidence("verb", word.text, past, "form", f"-{ending[0]}" if ending else word.form)
        short = self._short_gender(n)
        if short in _PERSONAL:
            return Evidence("adjective", word.text, short, "tagger", f"short form, Gender={short}")
        return self._predicative(n, clause)

    def _other_subject(self, n: int, clause: _Clause) -> bool:
        """Another nominative stands nearer before the word than "I" does, or right behind it in a clause without."""
        before = range(clause.words.start, n)
        for k in reversed(before):
            if self._is_pronoun(k) or self._first_person(k):
                return False
            if self._nominative(k) and not self._cannot_agree(k, n):
                return True
        return False

    def _cannot_agree(self, noun: int, n: int) -> bool:
        mine, its = (feature_values(self.words[k].tagged, "Gender") for k in (n, noun))
        return bool(mine and its and mine.isdisjoint(its)) or "Plur" in feature_values(self.words[noun].tagged, "Number")

    def _predicative(self, n: int, clause: _Clause) -> Evidence | None:
        """An adjective in the nominative or instrumental that a copula joins to the speaker."""
        word, language = self.words[n], self.language
        if not word.is_adjective or self._attribute(n):
            return None
        cases = {value.lower() for value in feature_values(word.content, "Case")}
        allowed = [a for a in word.facts.adjective if a.number in ("*", "sg") and a.case in cases]
        gender = only_gender(allowed) if allowed else None
        if gender not in _PERSONAL:
            return None
        copulas = language.verbs.copulas | language.speaker.copulas
        verbs = [k for k in clause.words if self.words[k].tags & VERBAL]
        joined = any(self.words[k].form in copulas for k in verbs)
        pronoun = any(self._is_pronoun(k) for k in clause.words)
        others = any(self.words[k].form not in copulas for k in verbs)
        bare = pronoun and language.speaker.bare_past and not verbs
        if "nom" in cases and not others and (joined or bare):
            return Evidence("adjective", word.text, gender, "form", listed(allowed))
        if "ins" in cases and joined:
            return Evidence("adjective", word.text, gender, "form", listed(allowed))
        return None

    def _attribute(self, n: int) -> bool:
        """The adjective at `n` belongs to a noun: behind it, other adjectives between, or right before it."""
        words = self.words
        k = n + 1
        while k < len(words) and words[k].tags and words[k].tags <= {"ADJ", "DET", "ADV", "CCONJ", "NUM"}:
            k += 1
        if k < len(words) and words[k].tags & NOMINAL and words[n].agrees_with(words[k]):
            return True
        before = words[n - 1] if n > 0 and words[n].joined else None
        return before is not None and bool(before.tags & NOMINAL) and words[n].agrees_with(before)

    def _behind_marker(self, n: int, clause: _Clause) -> Evidence | None:
        return None


def _is_past(feats: Sequence[tuple[str, str]]) -> bool:
    found = dict(feats)
    return found.get("Tense") == "Past" and "Case" not in found and found.get("Variant") != "Short"
