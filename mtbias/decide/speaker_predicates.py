"""The words that show the speaker's gender: what agrees with "I"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mtbias.decide.agreements import GENDER_OF_LETTER, listed, only_gender
from mtbias.decide.first_person import PERSONAL
from mtbias.decide.noun_phrase import governed
from mtbias.decide.sentence_words import NOMINAL, VERBAL, feature_values, tagged_gender
from mtbias.decide.speaker_clauses import Clause, SpeakerClauses
from mtbias.types import Evidence, Gender

_MAX_BETWEEN = 4
"""Words that may stand between "I am" and what agrees with it, in languages without case."""


@dataclass(frozen=True, slots=True)
class SpeakerPredicates(SpeakerClauses):
    """What agrees with the speaker of a text."""

    def evidence(self) -> Iterator[tuple[int, Evidence]]:
        """The words that show the speaker's gender, by index, with what they show."""
        if not self.language.prepositions:
            found = dict.fromkeys(k for n in range(len(self.words)) for k in self._behind_marker(n))
            yield from ((n, piece) for n in sorted(found) if (piece := self._agreement(n)) is not None)
            return
        clauses = self.clauses()
        for clause, speaks in zip(clauses, self.owners(clauses), strict=True):
            if speaks:
                yield from ((n, piece) for n in clause.words if (piece := self._shown(n, clause)) is not None)

    def _shown(self, n: int, clause: Clause) -> Evidence | None:
        """What the word at `n` of a clause of the speaker shows, or None."""
        if self.language.speaker.bare_past and self._other_subject(n, clause):
            return None
        word = self.words[n]
        own = self.language.speaker.words.get(word.form)
        if own is not None and not self._attribute(n) and not self._governed(n) and not self._behind_reflexive(n):
            gender = GENDER_OF_LETTER.get(own.gender)
            return Evidence("adjective", word.text, gender, "form", word.form) if gender in PERSONAL else None
        past = self._past_gender(n)
        # A clause has one past tense: uk хотів тарантула, where the tagger takes the tarantula for a verb.
        if past in PERSONAL and not any(self._past_gender(k) for k in range(clause.words.start, n)):
            ending = self.language.verbs.ending(word.form)
            return Evidence("verb", word.text, past, "form", f"-{ending[0]}" if ending else word.form)
        short = self._short_gender(n)
        # In other clauses the tagger takes nouns for short forms: ru что неудача — это …
        if short in PERSONAL and (word.form in self.language.verbs.short or self._joined(clause)):
            return Evidence("adjective", word.text, short, "tagger", f"short form, Gender={short}")
        return self._predicative(n, clause)

    def _other_subject(self, n: int, clause: Clause) -> bool:
        """Another nominative stands nearer before the word than the speaker does."""
        before = range(clause.words.start, n)
        for k in reversed(before):
            if self._is_pronoun(k) or self._first_person(k):
                return False
            if self._nominative(k) and not self._cannot_agree(k, n):
                return True
        return False

    def _predicative(self, n: int, clause: Clause) -> Evidence | None:
        """An adjective in the nominative or instrumental that a copula joins to the speaker."""
        word, language = self.words[n], self.language
        if not word.is_adjective or word.readings or self._attribute(n) or governed(self.words, n):
            return None
        cases = feature_values(word.content, "Case")
        copulas = language.verbs.copulas | language.speaker.copulas
        before = range(clause.words.start, n)
        others = [k for k in clause.words if self.words[k].form not in copulas]
        # cs koupil jsem nový: an object.
        if cases not in ({"Nom"}, {"Ins"}) or any(self._is_past_verb(k) for k in others):
            return None
        right_behind = self._right_behind(n, clause, copulas)
        if cases == {"Ins"}:
            return self._agreeing(n, ("ins",)) if right_behind else None
        finite = any("Fin" in feature_values(self.words[k].tagged, "VerbForm") for k in others)
        joined = right_behind or (not finite and any(self.words[k].form in copulas for k in before))
        bare = language.speaker.bare_predicate and not finite and any(self._is_pronoun(k) for k in before)
        # ru молодой is a man's nominative or a woman's instrumental, which the tagger mixes up.
        return self._agreeing(n, ("nom", "ins")) if joined or bare else None

    def _joined(self, clause: Clause) -> bool:
        """The clause has the pronoun or a copula."""
        copulas = self.language.verbs.copulas | self.language.speaker.copulas
        return any(self._is_pronoun(k) or self.words[k].form in copulas for k in clause.words)

    def _agreeing(self, n: int, cases: Sequence[str]) -> Evidence | None:
        """The gender that an adjective shows by its ending in these cases."""
        word = self.words[n]
        allowed = [a for a in word.facts.adjective if a.number in ("*", "sg") and a.case in ("*", *cases)]
        gender = only_gender(allowed) if allowed else None
        return Evidence("adjective", word.text, gender, "form", listed(allowed)) if gender in PERSONAL else None

    def _right_behind(self, n: int, clause: Clause, copulas: Collection[str]) -> bool:
        """Between the word and a copula stand only adverbs and pronouns (ru *чувствую себя очень одинокой*)."""
        for k in reversed(range(clause.words.start, n)):
            if self.words[k].form in copulas:
                return True
            if not self.words[k].tags <= {"ADV", "PART", "PRON"}:
                return False
        return False

    def _behind_reflexive(self, n: int) -> bool:
        """The word belongs to a reflexive pronoun (cs *sebe sama*, in both genders)."""
        return n > 0 and self.words[n].joined and "Yes" in feature_values(self.words[n - 1].tagged, "Reflex")

    def _behind_marker(self, n: int) -> Iterator[int]:
        """The words behind the pronoun or copula at `n` that agree with the speaker, where nouns show no case: only
        adverbs and the like stand between.
        """
        language, rules = self.language, self.language.speaker
        copulas = language.verbs.copulas | rules.copulas
        if self._is_pronoun(n):
            open_ = rules.bare_predicate
        elif self.words[n].form in rules.copulas or self._reflexive_copula(n):
            open_ = True
        elif self.words[n].form in rules.verbs:
            open_ = False
        else:
            return
        for k in range(n + 1, min(n + 2 + _MAX_BETWEEN, len(self.words))):
            word = self.words[k]
            if not word.joined or self._is_pronoun(k):
                return
            if word.form in copulas or self._reflexive_copula(k):
                # it sono stata: it agrees itself; es he sido does not.
                if open_ and "Part" in feature_values(word.tagged, "VerbForm"):
                    yield k
                open_ = True
            elif open_ and self._may_agree(k):
                yield k
                return
            elif not (word.form in language.verbs.skip or word.tags <= {"ADV", "PART"} or word.form in rules.verbs):
                return

    def _reflexive_copula(self, n: int) -> bool:
        before = self.words[max(0, n - 2) : n]
        reflexive = any(word.form in self.language.verbs.reflexives for word in before)
        return reflexive and self.words[n].form in self.language.speaker.reflexive_copulas

    def _may_agree(self, n: int) -> bool:
        """An adjective or a participle that is no attribute of the noun behind it (es *soy buena persona*)."""
        word = self.words[n]
        participle = "Part" in feature_values(word.tagged, "VerbForm")
        if word.tags & {"ADP", "DET"} or not (word.is_adjective or (participle and word.tags <= {"ADJ", *VERBAL})):
            return False
        behind = self.words[n + 1] if n + 1 < len(self.words) and self.words[n + 1].joined else None
        return not (self.language.preposed and word.is_adjective and behind is not None and behind.tags & NOMINAL)

    def _agreement(self, n: int) -> Evidence | None:
        """The gender of an adjective or participle in the singular by its ending, else by the tagger where the present
        has no copula: Semitic masculines have no ending, and Romance forms without one show no gender.
        """
        word = self.words[n]
        if not feature_values(word.tagged, "Number") <= {"Sing"}:
            return None
        verb = self.language.verbs.words.get(word.form) if word.tags & VERBAL else None
        endings = [verb] if verb else word.facts.adjective
        allowed = [a for a in endings if a.number in ("*", "sg")]
        if endings:
            gender, source, detail = only_gender(allowed) if allowed else None, "form", listed(allowed)
        else:
            gender, detail = tagged_gender(word.content) if self.language.speaker.bare_predicate else (None, "")
            source = "tagger"
            silent = self.language.speaker.silent
            if silent and re.search(silent, word.form):
                return None
            if gender is Gender.FEMALE and not re.search(self.language.verbs.feminine, word.form):
                return None
        return Evidence("adjective", word.text, gender, source, detail) if gender in PERSONAL else None
