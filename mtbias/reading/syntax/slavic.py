"""Slavic languages: case, and past tenses that show the gender of their subject."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, meet
from mtbias.reading.rules import rule
from mtbias.reading.syntax.cased import Cased
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import VERBAL, SentenceWord, feature_values
from mtbias.types import Evidence, Gender, Word


class Slavic(Cased):
    """The syntax of Czech, Russian and Ukrainian.

    In Russian and Ukrainian attributes come before their noun: an adjective right behind one
    mostly opens the next phrase (ru *дал бармену новый подарок*) or is its predicate. In Czech they
    may follow it.
    """

    def __init__(self, language: Language) -> None:
        """`language` has the tables, and says where its adjectives are."""
        super().__init__(language)
        self.attributes_follow = language.attributes_follow
        self.attributes_either_side = language.attributes_follow

    def is_attributive_participle(self, tagged: Word, word: SentenceWord) -> bool:
        """The l-participle is a finite verb, and no attribute (cs *zaplatil uklízečce*); declined
        like an adjective a participle is one (ru *приглашённая эксперт*).
        """
        if not super().is_attributive_participle(tagged, word):
            return False
        return bool(feature_values([tagged], "Case")) and bool(word.facts.adjective)

    def is_finite(self, word: SentenceWord) -> bool:
        """A past tense (cs *kéž bych tu měl přítele*)."""
        return bool(word.tags & VERBAL) and self.language.verbs.ending(word.form) is not None

    def introduced(
        self, words: Sequence[SentenceWord], places: list[int], *, determined: bool
    ) -> list[int]:
        """All of them: there are no articles, and finite participles are none of them."""
        return places

    def tells_beside_generic(self, piece: Evidence) -> bool:
        """Masculine attributes are the noun's, for most cases have no others (ru *с новым врачом*
        of women, too); the predicate is the person's.
        """
        return piece.kind in ("verb", "pronoun", "title") or piece.gender is Gender.FEMALE

    def is_bare_participle(self, word: SentenceWord) -> bool:
        """See `participle_without_copula`."""
        return not self.attributes_follow and participle_without_copula(word)

    def agrees_as_woman(self, ending: Sequence[Agreement], phrase: NounPhrase) -> list[Agreement]:
        """See `feminine_instrumental`."""
        return feminine_instrumental(ending, phrase)


@rule("slavic")
def participle_without_copula(word: SentenceWord) -> bool:
    """A participle in the nominative behind its subject, with the copula left out (ru *коллега
    влюблённая*), is the predicate. No mere adjective: the tagger reads ru *трамвая* in "водитель
    трамвая" as one.
    """
    if word.readings or feature_values(word.tagged, "VerbForm") != {"Part"}:
        return False
    return feature_values(word.tagged, "Case") == {"Nom"}


@rule("slavic", otherwise=[])
def feminine_instrumental(ending: Sequence[Agreement], phrase: NounPhrase) -> list[Agreement]:
    """A feminine adjective right before a masculine noun that is also used of women agrees with it
    in the instrumental, the case of what somebody becomes or is (ru *стала новой директором*), if
    the tagger reads it on both.

    In the other cases nobody says so: uk *ввів в оману керівника* is no woman.
    """
    head, adjective = phrase.words[phrase.head], phrase.words[phrase.head - 1]
    if not (adjective.joined and adjective.is_adjective and adjective.has_case_of(head)):
        return []
    generic = (r.agreements for r in head.readings if r.kind is NounKind.GENERIC)
    allowed = [a for a in chain.from_iterable(generic) if a.case == "ins"]
    return meet(ending, [Agreement("f", a.case, a.number) for a in allowed])
