"""The words that show the speaker's gender: what agrees with "I"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.agreement import GENDER_OF_LETTER, PERSONAL, listed, only_gender
from mtbias.reading.syntax import syntax_of
from mtbias.reading.words import (
    CONJUNCTION,
    NOMINAL,
    VERBAL,
    SentenceWord,
    evidence,
    feature_values,
    governed,
    is_relative,
    sentence_words,
    tagged_gender,
    word_before,
    word_behind,
)
from mtbias.types import Analysis, Evidence, Gender, GenderCall, Reason, Span, Word, frozen

# The speaker's gender: what agrees with "I" in a sentence in the first person.
#
# A gender is read from past tenses, predicative adjectives and participles, and words such as
# *sama*, only where their subject surely is the speaker. A clause is the speaker's where it has the
# first-person pronoun or a verb of the first person singular; where past tenses show no person
# (Russian, Ukrainian), also one without any subject that continues clauses of the speaker.
# Attributes of a noun say nothing about the speaker, nor do nouns, nor what is in quotation
# marks. There is no default.

_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"|״[^״]*״")
_BOTH = re.compile(r"\(-?\w{1,4}\)|\s?/\s?-?(\w+)")
"""Behind a form: the other gender's ending in brackets (*пришёл(ла)*), or its ending or form behind
a slash."""
_MAX_BETWEEN = 4
"""Words that may come between "I am" and what agrees with it, in languages without case."""
_ENDING = 3
"""Letters of an ending behind a slash (*rád/a*); more must begin as the form does (*готов /
готова*)."""


def speaker_call(id_: str, analysis: Analysis, texts: SplitTexts) -> GenderCall:
    """The call on the gender of a text's speaker, with every word that shows one; words that
    contradict each other are ambiguous, and a form of both genders is neutral.
    """
    words = _outside_quotes(sentence_words(analysis, texts), analysis.text)
    spans: dict[Span, None] = {}
    evidence = []
    predicates = SpeakerPredicates(tuple(words), analysis.text, texts.language)
    for n, piece in predicates.evidence():
        spans[words[n].span] = None
        both = _both_forms(words[n], analysis.text)
        evidence.append(_as_neutral(piece) if both else piece)
    genders = {piece.gender for piece in evidence}
    if not genders:
        return GenderCall(id_, None, Reason.NO_MORPHOLOGY)
    if Gender.NEUTRAL in genders:
        return GenderCall(id_, Gender.NEUTRAL, None, tuple(spans), tuple(evidence))
    if len(genders) > 1:
        return GenderCall(id_, None, Reason.AMBIGUOUS, tuple(spans), tuple(evidence))
    return GenderCall(id_, genders.pop(), None, tuple(spans), tuple(evidence))


def _as_neutral(piece: Evidence) -> Evidence:
    """The evidence of a word with the other gender's ending written on."""
    neutral = Gender.NEUTRAL
    return replace(piece, rule="ending_written_on", gender=neutral, source="form", shows="")


def _both_forms(word: SentenceWord, text: str) -> bool:
    """The form of the other gender, or its ending, is written behind the word."""
    written = _BOTH.match(text, word.span.end)
    if written is None:
        return False
    other = written[1]
    return other is None or len(other) <= _ENDING or other[:_ENDING] == word.text[:_ENDING]


def _outside_quotes(words: list[SentenceWord], text: str) -> list[SentenceWord]:
    """The words that are not quoted; a text that is quoted as a whole is the speaker's."""
    whole = len(text.strip(" .!?…"))
    quotes = [match for match in _QUOTED.finditer(text) if len(match[0].strip(" .!?…")) < whole]
    quoted = [Span(*match.span()) for match in quotes]
    return [word for word in words if not any(map(word.span.overlaps, quoted))]


# The clauses of a text in the first person, and which of them are the speaker's.

_SENTENCE_END = re.compile(r"[.!?…]")


@frozen
class Clause:
    """A stretch of words without a conjunction or punctuation mark inside."""

    words: range
    subordinate: bool
    """A subordinating conjunction or relative pronoun opens it."""
    relative: bool
    """A relative pronoun does."""
    sentence: int
    """The sentence of the text that it is in."""


@frozen
class SpeakerPredicates:
    """The words of a text that agree with its speaker, by index."""

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
        return any(w.upos in VERBAL and _is_first_person(w) for w in word.tagged)

    def _oblique(self, n: int) -> bool:
        """The first-person pronoun in another case."""
        if self._is_pronoun(n):
            return False
        pronouns = [w for w in self.words[n].tagged if w.upos == "PRON" and _is_first_person(w)]
        return any(w.feat("Case") != "Nom" for w in pronouns)

    def _past_gender(self, n: int) -> Gender | None:
        """The gender of a past tense in the singular."""
        word, verbs = self.words[n], self.language.verbs
        _, by_ending = verbs.ending(word.form) or ("", None)
        agreement = verbs.words.get(word.form) or by_ending
        tagged = [w for w in word.tagged if w.upos in VERBAL and _is_past(w.feats)]
        if not agreement or not tagged or word.readings:
            return None
        if agreement.number == "pl" or feature_values(tagged, "Number") - {"Sing"}:
            return None
        # A noun behind a preposition that the tagger takes for a verb by its ending: ru в спортзал.
        return None if self._governed(n) else GENDER_OF_LETTER.get(agreement.gender)

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
        # Long forms are declined; of what the tagger reads no case on, the ending must be a
        # nominative's (ru намного).
        ending = word.facts.adjective
        nominative = [a for a in ending if a.case in ("*", "nom") and a.number in ("*", "sg")]
        if (ending and (word.is_declined or not nominative)) or word.readings or self._governed(n):
            return None
        short = [w for w in word.tagged if w.upos == "ADJ" or w.feat("Voice") == "Pass"]
        if not short or not feature_values(short, "Case") <= {"Nom"}:
            return None
        return tagged_gender(short)[0] if feature_values(short, "Number") == {"Sing"} else None

    def _nominative(self, n: int) -> bool:
        """Another than the speaker that may be a subject."""
        word = self.words[n]
        if self._is_pronoun(n) or governed(self.words, n):
            return False
        return word.may_be_subject or any(
            w.feat("PronType") and w.feat("Case") == "Nom" for w in word.tagged
        )

    def _perhaps_nominative(self, n: int) -> bool:
        """A word that the tagger reads as an object, and that may be a subject by its form: an
        accusative of a thing (ru *возникла опасность*, *пришёл чек*), or an adjective whose noun
        follows a conjunction.
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
        """The adjective at `n` belongs to a noun: behind it, other adjectives between, or right
        before it.
        """
        words, between = self.words, {"ADJ", "DET", "ADV", "CCONJ", "NUM"}
        k = n + 1
        while k < len(words) and words[k].tags and words[k].tags <= between:
            k += 1
        noun = k < len(words) and (words[k].tags & NOMINAL or words[k].readings)
        if noun and words[n].agrees_with(words[k]):
            return True
        before = word_before(words, n)
        return before is not None and bool(before.tags & NOMINAL) and words[n].agrees_with(before)

    def _cannot_agree(self, noun: int, n: int) -> bool:
        mine, its = (feature_values(self.words[k].tagged, "Gender") for k in (n, noun))
        if mine and its and mine.isdisjoint(its):
            return True
        return "Plur" in feature_values(self.words[noun].tagged, "Number")

    # Clauses, in languages whose nouns show case.

    def clauses(self) -> list[Clause]:
        """The clauses in order."""
        words = self.words
        clauses, start, sentence = [], 0, 0
        for n in range(1, len(words) + 1):
            if n < len(words) and words[n].joined and not words[n].tags & CONJUNCTION:
                continue
            relative = self._relative(start)
            subordinate = relative or "SCONJ" in words[start].tags
            clauses.append(Clause(range(start, n), subordinate, relative, sentence))
            if n < len(words):
                between = self.text[words[n - 1].span.end : words[n].span.start]
                sentence += bool(_SENTENCE_END.search(between))
            start = n
        return clauses

    def _relative(self, n: int) -> bool:
        """A relative pronoun comes first, or behind a preposition (ru *в которой*)."""
        return any(is_relative(word, self.language) for word in self.words[n : n + 2])

    def owners(self, clauses: Sequence[Clause]) -> list[bool]:
        """Whether each clause surely is the speaker's."""
        if not self.language.speaker.bare_past:
            return [self._marked(clause) for clause in clauses]
        owners: list[bool] = []
        last: bool | None = None
        main: bool | None = None
        before: Clause | None = None
        for clause in clauses:
            if before is None or clause.sentence != before.sentence:
                main = None
            subject = self._subject(clause)
            if subject is None and self._gendered_verb(clause):
                # Behind a subordinate clause the main one may go on: both must be the speaker's
                # (каталог, который я заказала, прибыл).
                unsure = before is not None and before.relative and main is not True
                others_main = main is False and not clause.subordinate
                subject = last is not False and not others_main and not unsure
            owners.append(bool(subject))
            if subject is not None:
                last = subject
                if not clause.subordinate:
                    main = subject
            before = clause
        return owners

    def _is_copula(self, n: int) -> bool:
        form = self.words[n].form
        return form in self.language.verbs.copulas or form in self.language.speaker.copulas

    def _marked(self, clause: Clause) -> bool:
        return any(self._is_pronoun(n) or self._first_person(n) for n in clause.words)

    def _finite(self, places: Iterable[int]) -> bool:
        return any("Fin" in feature_values(self.words[n].tagged, "VerbForm") for n in places)

    def _gendered_verb(self, clause: Clause) -> bool:
        return any(
            self._past_gender(n) in PERSONAL or self._short_gender(n) in PERSONAL
            for n in clause.words
        )

    def _subject(self, clause: Clause) -> bool | None:
        """Whether the subject of a clause is the speaker; None where it has no subject of its own,
        or no verb.
        """
        if self._marked(clause):
            return True
        others = [n for n in clause.words if self._nominative(n)]
        finite = self._finite(clause.words)
        gendered = self._gendered_verb(clause)
        comparison = clause.subordinate and not finite and not gendered  # ru как лидер
        if others:
            return None if comparison else False
        if any(self._oblique(n) for n in clause.words):
            return False if gendered else None
        if gendered and self._object_agrees(clause):
            return False
        own = [self.words[n] for n in clause.words]
        persons = feature_values(chain.from_iterable(word.tagged for word in own), "Person")
        verbs = [word for word in own if word.tags & VERBAL]
        plural = any("Plur" in feature_values(word.tagged, "Number") for word in verbs)
        return False if verbs and (plural or (finite and persons & {"2", "3"})) else None

    def _object_agrees(self, clause: Clause) -> bool:
        """A word that may be a subject by its form agrees with the verb."""
        verbs = [n for n in clause.words if self._past_gender(n) or self._short_gender(n)]
        subjects = [n for n in clause.words if self._perhaps_nominative(n)]
        return not all(self._cannot_agree(n, verb) for n, verb in product(subjects, verbs))

    # What agrees with the speaker.

    def evidence(self) -> Iterator[tuple[int, Evidence]]:
        """The words that show the speaker's gender, by index, with what they show."""
        if not self.language.case:
            places = set(chain.from_iterable(map(self._behind_marker, range(len(self.words)))))
            for n in sorted(places):
                piece = self._agreement(n)
                if piece is not None:
                    yield n, piece
            return
        clauses = self.clauses()
        for clause, speaks in zip(clauses, self.owners(clauses), strict=True):
            for n in clause.words if speaks else ():
                piece = self._shown(n, clause)
                if piece is not None:
                    yield n, piece

    def _shown(self, n: int, clause: Clause) -> Evidence | None:
        """The evidence of the word at `n` in a clause of the speaker, or None."""
        if self.language.speaker.bare_past and self._other_subject(n, clause):
            return None
        word = self.words[n]
        own = self.language.speaker.words.get(word.form)
        if own is not None and not self._is_of_noun(n):
            gender = GENDER_OF_LETTER.get(own.gender)
            if gender not in PERSONAL:
                return None
            return evidence("word_of_subject", "adjective", [word], gender, "form", word.form)
        past = self._past_gender(n)
        # A clause has one past tense: uk хотів тарантула, where the tagger takes the tarantula for
        # a verb.
        if past in PERSONAL and not any(self._past_gender(k) for k in range(clause.words.start, n)):
            ending = self.language.verbs.ending(word.form)
            shows = f"-{ending[0]}" if ending else word.form
            return evidence("verb_by_ending", "verb", [word], past, "form", shows)
        short = self._short_gender(n)
        # In other clauses the tagger takes nouns for short forms: ru что неудача — это …
        if short in PERSONAL and (word.form in self.language.verbs.short or self._joined(clause)):
            return evidence("short_form", "adjective", [word], short, "tagger", f"Gender={short}")
        return self._predicative(n, clause)

    def _is_of_noun(self, n: int) -> bool:
        """The word belongs to a noun or to a reflexive pronoun, and not to the subject."""
        return self._attribute(n) or self._governed(n) or self._behind_reflexive(n)

    def _other_subject(self, n: int, clause: Clause) -> bool:
        """Another nominative precedes the word more closely than the speaker does."""
        before = range(clause.words.start, n)
        for k in reversed(before):
            if self._is_pronoun(k) or self._first_person(k):
                return False
            if self._nominative(k) and not self._cannot_agree(k, n):
                return True
        return False

    def _predicative(self, n: int, clause: Clause) -> Evidence | None:
        """An adjective in the nominative or instrumental that a copula joins to the speaker."""
        word = self.words[n]
        if not word.is_adjective or word.readings or self._attribute(n) or governed(self.words, n):
            return None
        cases = word.cases
        before = range(clause.words.start, n)
        others = [k for k in clause.words if not self._is_copula(k)]
        # cs koupil jsem nový: an object.
        if cases not in ({"Nom"}, {"Ins"}) or any(self._is_past_verb(k) for k in others):
            return None
        right_behind = self._right_behind(n, clause)
        if cases == {"Ins"}:
            return self._agreeing(n, ("ins",)) if right_behind else None
        finite = self._finite(others)
        joined = right_behind or (not finite and any(map(self._is_copula, before)))
        without_copula = self.language.speaker.bare_predicate and not finite
        bare = without_copula and any(map(self._is_pronoun, before))
        # ru молодой is a man's nominative or a woman's instrumental, which the tagger mixes up.
        return self._agreeing(n, ("nom", "ins")) if joined or bare else None

    def _joined(self, clause: Clause) -> bool:
        """The clause has the pronoun or a copula."""
        return any(self._is_pronoun(k) or self._is_copula(k) for k in clause.words)

    def _agreeing(self, n: int, cases: Sequence[str]) -> Evidence | None:
        """The gender that an adjective shows by its ending in these cases."""
        word = self.words[n]
        singular = [a for a in word.facts.adjective if a.number in ("*", "sg")]
        allowed = [a for a in singular if a.case in ("*", *cases)]
        gender = only_gender(allowed) if allowed else None
        if gender not in PERSONAL:
            return None
        return evidence("predicate_by_ending", "adjective", [word], gender, "form", listed(allowed))

    def _right_behind(self, n: int, clause: Clause) -> bool:
        """Between the word and a copula are only adverbs and pronouns (ru *чувствую себя очень
        одинокой*).
        """
        for k in reversed(range(clause.words.start, n)):
            if self._is_copula(k):
                return True
            if not self.words[k].tags <= {"ADV", "PART", "PRON"}:
                return False
        return False

    def _behind_reflexive(self, n: int) -> bool:
        """The word belongs to a reflexive pronoun (cs *sebe sama*, in both genders)."""
        before = word_before(self.words, n)
        return before is not None and "Yes" in feature_values(before.tagged, "Reflex")

    def _behind_marker(self, n: int) -> Iterator[int]:
        """The words behind the pronoun or copula at `n` that agree with the speaker, where nouns
        show no case: only adverbs and the like come between.
        """
        rules = self.language.speaker
        skipped = {*self.language.verbs.skip, *rules.verbs}
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
            if self._is_copula(k) or self._reflexive_copula(k):
                # it sono stata: it agrees itself; es he sido does not.
                if open_ and "Part" in feature_values(word.tagged, "VerbForm"):
                    yield k
                open_ = True
            elif open_ and self._may_agree(k):
                yield k
                return
            elif not (word.form in skipped or word.tags <= {"ADV", "PART"}):
                return

    def _reflexive_copula(self, n: int) -> bool:
        before = self.words[max(0, n - 2) : n]
        reflexive = any(word.form in self.language.verbs.reflexives for word in before)
        return reflexive and self.words[n].form in self.language.speaker.reflexive_copulas

    def _may_agree(self, n: int) -> bool:
        """An adjective or a participle that is not an attribute of the noun behind it (es *soy
        buena persona*).
        """
        word = self.words[n]
        participle = "Part" in feature_values(word.tagged, "VerbForm")
        participle = participle and word.tags <= {"ADJ", *VERBAL}
        if word.tags & {"ADP", "DET"} or not (word.is_adjective or participle):
            return False
        behind = word_behind(self.words, n)
        if behind is None or not behind.tags & NOMINAL or not word.is_adjective:
            return True
        return not syntax_of(self.language).attributes_precede

    def _agreement(self, n: int) -> Evidence | None:
        """The gender of an adjective or participle in the singular by its ending, else by the
        tagger where the present has no copula: Semitic masculines have no ending, and Romance forms
        without one show no gender.
        """
        word, rules = self.words[n], self.language.speaker
        if not feature_values(word.tagged, "Number") <= {"Sing"}:
            return None
        verb = self.language.verbs.words.get(word.form) if word.tags & VERBAL else None
        endings = [verb] if verb else word.facts.adjective
        if endings:
            allowed = [a for a in endings if a.number in ("*", "sg")]
            gender = only_gender(allowed) if allowed else None
            if gender not in PERSONAL:
                return None
            shows = listed(allowed)
            return evidence("predicate_by_ending", "adjective", [word], gender, "form", shows)
        if not rules.bare_predicate or (rules.silent and re.search(rules.silent, word.form)):
            return None
        gender, feature = tagged_gender(word.content)
        if gender is Gender.FEMALE and not re.search(self.language.verbs.feminine, word.form):
            return None
        if gender not in PERSONAL:
            return None
        return evidence("predicate_by_tagger", "adjective", [word], gender, "tagger", feature)


def _is_first_person(word: Word) -> bool:
    return word.feat("Person") == "1" and word.feat("Number") == "Sing"


def _is_past(feats: Sequence[tuple[str, str]]) -> bool:
    features = dict(feats)
    if "Case" in features or features.get("Variant") == "Short":
        return False
    return features.get("Tense") == "Past"
