"""What single words of a text in the first person are: "I", a verb of the speaker's, a form that shows gender."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtbias.decide.noun_phrase import governed
from mtbias.decide.sentence_words import (
    GENDER_OF_LETTER,
    NOMINAL,
    VERBAL,
    SentenceWord,
    feature_values,
    tagged_gender,
    word_before,
)
from mtbias.language.definition import Language
from mtbias.types import Gender, frozen


@frozen
class FirstPersonWords:
    """The words of a text, asked by index."""

    words: tuple[SentenceWord, ...]
    text: str
    language: Language

    def _is_pronoun(self, n: int) -> bool:
        # he שאני: the conjunction is written on.
        return not self.words[n].facts.bases.isdisjoint(self.language.speaker.pronouns)

    def _first_person(self, n: int) -> bool:
        """A verb of the first person singular."""
        word = self.words[n]
        if word.form in self.language.speaker.verbs:
            return True
        return any(w.upos in VERBAL and w.feat("Person") == "1" and w.feat("Number") == "Sing" for w in word.tagged)

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
        # A noun behind a preposition that the tagger takes for a verb by its ending: ru в спортзал.
        if (
            not ending
            or not tagged
            or word.readings
            or self._governed(n)
            or ending.number == "pl"
            or feature_values(tagged, "Number") - {"Sing"}
        ):
            return None
        return GENDER_OF_LETTER.get(ending.gender)

    def _is_past_verb(self, n: int) -> bool:
        return any(w.upos in VERBAL and _is_past(w.feats) for w in self.words[n].tagged)

    def _governed(self, n: int) -> bool:
        return n > 0 and self.words[n].joined and "ADP" in self.words[n - 1].tags

    def _short_gender(self, n: int) -> Gender | None:
        """The gender of a short form: adjective or passive participle, never an attribute."""
        word = self.words[n]
        whole = self.language.verbs.short.get(word.form)
        # ru права is "rights", too.
        if whole is not None and not word.tags & NOMINAL:
            return GENDER_OF_LETTER.get(whole.gender)
        # Long forms are declined; of what the tagger reads no case on, the ending must be a nominative's (ru намного).
        ending = word.facts.adjective
        nominative = [a for a in ending if a.case in ("*", "nom") and a.number in ("*", "sg")]
        if (ending and (word.is_declined or not nominative)) or word.readings or self._governed(n):
            return None
        short = [w for w in word.tagged if w.upos == "ADJ" or w.feat("Voice") == "Pass"]
        if not short or not feature_values(short, "Case") <= {"Nom"} or feature_values(short, "Number") != {"Sing"}:
            return None
        return tagged_gender(short)[0]

    def _nominative(self, n: int) -> bool:
        """Another than the speaker that may be a subject."""
        word = self.words[n]
        if self._is_pronoun(n) or governed(self.words, n):
            return False
        return word.may_be_subject or any(w.feat("PronType") and w.feat("Case") == "Nom" for w in word.tagged)

    def _perhaps_nominative(self, n: int) -> bool:
        """What the tagger reads as an object, and may be a subject by its form: an accusative of a thing (ru *возникла
        опасность*, *пришёл чек*), or an adjective whose noun stands behind a conjunction.
        """
        word = self.words[n]
        if "ADJ" in word.tags:
            return "Nom" in word.cases and self._attribute(n)
        if not word.tags & NOMINAL or word.cases != {"Acc"} or governed(self.words, n):
            return False
        genders = feature_values(word.content, "Gender")
        if genders == {"Masc"}:
            return feature_values(word.content, "Animacy") != {"Anim"}
        return genders == {"Fem"} and not re.search(self.language.speaker.accusative, word.form)

    def _attribute(self, n: int) -> bool:
        """The adjective at `n` belongs to a noun: behind it, other adjectives between, or right before it."""
        words = self.words
        k = n + 1
        while k < len(words) and words[k].tags and words[k].tags <= {"ADJ", "DET", "ADV", "CCONJ", "NUM"}:
            k += 1
        noun = k < len(words) and (words[k].tags & NOMINAL or words[k].readings)
        if noun and words[n].agrees_with(words[k]):
            return True
        before = word_before(words, n)
        return before is not None and bool(before.tags & NOMINAL) and words[n].agrees_with(before)

    def _cannot_agree(self, noun: int, n: int) -> bool:
        mine, its = (feature_values(self.words[k].tagged, "Gender") for k in (n, noun))
        return bool(mine and its and mine.isdisjoint(its)) or "Plur" in feature_values(
            self.words[noun].tagged, "Number"
        )


def _is_past(feats: Sequence[tuple[str, str]]) -> bool:
    found = dict(feats)
    return found.get("Tense") == "Past" and "Case" not in found and found.get("Variant") != "Short"
