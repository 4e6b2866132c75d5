"""The clauses of a text in the first person, and which of them are the speaker's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mtbias.decide.first_person import PERSONAL, FirstPersonWords
from mtbias.decide.sentence_words import CONJUNCTION, VERBAL, feature_values

_SENTENCE_END = re.compile(r"[.!?…]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of words without a conjunction or punctuation mark inside."""

    words: range
    subordinate: bool
    """A subordinating conjunction or relative pronoun opens it."""
    relative: bool
    """A relative pronoun does."""
    sentence: int
    """The sentence of the text in which it stands."""


@dataclass(frozen=True, slots=True)
class SpeakerClauses(FirstPersonWords):
    """The clauses of a text, in languages whose nouns show case."""

    def clauses(self) -> list[Clause]:
        """The clauses in order."""
        found, start, sentence = [], 0, 0
        for n in range(1, len(self.words) + 1):
            if n < len(self.words) and not self._opens(n):
                continue
            relative = self._relative(start)
            found.append(Clause(range(start, n), relative or "SCONJ" in self.words[start].tags, relative, sentence))
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
            word.form in self.language.speaker.relatives
            or any("Rel" in value for value in feature_values(word.tagged, "PronType"))
            for word in self.words[n : n + 2]
        )

    def owners(self, clauses: Sequence[Clause]) -> list[bool]:
        """Whether each clause surely is the speaker's."""
        if not self.language.speaker.bare_past:
            return [self._marked(clause) for clause in clauses]
        found: list[bool] = []
        last: bool | None = None
        main: bool | None = None
        before: Clause | None = None
        for clause in clauses:
            if before is None or clause.sentence != before.sentence:
                main = None
            subject = self._subject(clause)
            if subject is None and self._gendered_verb(clause):
                # Behind a subordinate clause the main one may go on: both must be the speaker's (каталог, который я
                # заказала, прибыл).
                unsure = before is not None and before.relative and main is not True
                subject = last is not False and (main is not False or clause.subordinate) and not unsure
            found.append(bool(subject))
            if subject is not None:
                last = subject
                if not clause.subordinate:
                    main = subject
            before = clause
        return found

    def _marked(self, clause: Clause) -> bool:
        return any(self._is_pronoun(n) or self._first_person(n) for n in clause.words)

    def _gendered_verb(self, clause: Clause) -> bool:
        return any(self._past_gender(n) in PERSONAL or self._short_gender(n) in PERSONAL for n in clause.words)

    def _subject(self, clause: Clause) -> bool | None:
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
        if gendered and self._object_agrees(clause):
            return False
        persons = {p for n in clause.words for p in feature_values(self.words[n].tagged, "Person")}
        plural = any(
            self.words[n].tags & VERBAL and "Plur" in feature_values(self.words[n].tagged, "Number")
            for n in clause.words
        )
        verbs = any(self.words[n].tags & VERBAL for n in clause.words)
        return False if verbs and (plural or (finite and persons & {"2", "3"})) else None

    def _object_agrees(self, clause: Clause) -> bool:
        """What may be a subject by its form agrees with the verb."""
        verbs = [n for n in clause.words if self._past_gender(n) or self._short_gender(n)]
        return any(
            self._perhaps_nominative(n) and any(not self._cannot_agree(n, verb) for verb in verbs) for n in clause.words
        )
