"""The policy: the noun phrase decides; a predicate that agrees with the entity only where it is
silent; a pronoun never.

``policy.tsv`` is the policy, line by line: for the kinds of `noun` that it names, where `evidence`
`shows` this, the `call` is that, and the call's evidence `names` these pieces in this order. The
first line that holds decides. There is no default: the last line of each kind is what its noun says
by itself. ``docs/policy.md`` prints the table, with a sentence for each kind of noun and evidence
in every language.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib import resources

from mtbias.language.grammar import NounKind
from mtbias.reading import phrase_evidence
from mtbias.reading.noun_evidence import noun_evidence
from mtbias.reading.rules import tell
from mtbias.reading.syntax import NounPhrase
from mtbias.reading.syntax.behind_mark import behind_mark
from mtbias.reading.syntax.predicate import find_predicate, is_out_of_sight
from mtbias.types import Evidence, Gender, Reason, frozen

POLICY = "policy"
"""The name under which listeners receive a `Decision`."""


def judge(phrase: NounPhrase, *, foreign: bool, alone: bool) -> Decision:
    """The call on one phrase, by the first line of the policy that holds.

    Args:
        phrase: that of the entity.
        foreign: its noun was not translated (`noun_evidence`).
        alone: the entity stands alone in the source, or behind a determiner; otherwise a noun
            before it may share its article.
    """
    shown = ShownEvidence(phrase, foreign=foreign, alone=alone)
    decision = next(filter(None, (line.decision(shown) for line in lines_of(shown.kind))))
    tell(POLICY, decision)
    return decision


# What a phrase shows


class ShownEvidence:
    """The evidence of one noun phrase for the entity's gender; each part is read when the policy
    first needs it.
    """

    def __init__(self, phrase: NounPhrase, *, foreign: bool, alone: bool) -> None:
        self.phrase = phrase
        self.noun, self.kind = noun_evidence(phrase, foreign=foreign)
        self._alone = alone

    @cached_property
    def words_for_sex(self) -> list[Evidence]:
        """A word that means female or male says what the noun leaves open (de *männliche
        Lehrkraft*) and overrules its form, of men and women alike (*die weiblichen Entwickler*,
        *männliche Krankenschwestern*).
        """
        return phrase_evidence.sex_adjectives(self.phrase)

    @cached_property
    def against_grammar(self) -> list[Evidence]:
        """The words that do not agree with a noun of fixed gender: they are the person's. Those
        that do agree with it say nothing (*die Person*, cs *hvězda poděkovala* of men too).
        """
        return phrase_evidence.against_grammar(self.phrase)

    @cached_property
    def articles(self) -> list[Evidence]:
        """Articles, titles and surnames. A silent noun of a plain entity shares the article of the
        noun before it.
        """
        personal = (NounKind.MASCULINE, NounKind.FEMININE)
        noun_gender = self.noun.gender if self.kind in personal else None
        own = phrase_evidence.determiners(self.phrase, noun_gender)
        own += phrase_evidence.names(self.phrase)
        silent = self.kind in (None, NounKind.COMMON, NounKind.THING)
        if silent and not own and not self._alone:
            return phrase_evidence.shared_determiner(self.phrase)
        return own

    @property
    def contradicting(self) -> list[Evidence]:
        """Articles and names of the other gender than the noun's. Neuter does not count (*das
        Bibliothekar* is a slip of grammar).
        """
        others = {Gender.MALE, Gender.FEMALE} - {self.noun.gender}
        return [piece for piece in self.articles if piece.gender in others]

    @cached_property
    def adjectives(self) -> list[Evidence]:
        """Attributive adjectives. Beside a masculine noun that is used of women, too, a feminine
        one behind a predicate that comes first is the predicate's.
        """
        own = phrase_evidence.adjectives(self.phrase)
        generic = self.kind is NounKind.GENERIC
        if generic and self.phrase.syntax.is_predicate_before(self.phrase):
            return [piece for piece in own if piece.gender is not Gender.FEMALE]
        return own

    @cached_property
    def title_of_woman(self) -> list[Evidence]:
        """A woman's title beside a masculine noun or article: the title is the person's own, the
        noun's form and the article between are those of the office.
        """
        title = phrase_evidence.woman_by_title(self.phrase)
        masculine = [p for p in (self.noun, *self.articles) if p.gender is Gender.MALE]
        return title if masculine else []

    @cached_property
    def behind_mark(self) -> list[Evidence]:
        """The relative pronoun, and the adjective or participle behind a mark; silent where they
        may be another noun's.
        """
        return behind_mark(self.phrase)

    @property
    def out_of_sight(self) -> list[Evidence]:
        """The noun, where a mark hides its predicate."""
        return [self.noun] if is_out_of_sight(self.phrase) else []

    @cached_property
    def predicate(self) -> list[Evidence]:
        """The verb, participle or adjective whose subject the phrase surely is."""
        verb = find_predicate(self.phrase)
        return [] if verb is None else [verb]

    @cached_property
    def noun_in_its_case(self) -> list[Evidence]:
        """The evidence of the noun's ending in its case and number."""
        return phrase_evidence.noun_ending(self.phrase)

    @property
    def agreeing(self) -> list[Evidence]:
        """The words of the phrase that agree with the noun."""
        return [*self.articles, *self.adjectives]


def _by_form(pieces: Sequence[Evidence]) -> list[Evidence]:
    return [piece for piece in pieces if piece.gender and piece.source != "tagger"]


def _by_tagger(pieces: Sequence[Evidence]) -> list[Evidence]:
    return [piece for piece in pieces if piece.gender and piece.source == "tagger"]


def _silent(pieces: Sequence[Evidence]) -> list[Evidence]:
    return [piece for piece in pieces if piece.gender is None]


def _doubtful(pieces: Sequence[Evidence]) -> list[Evidence]:
    return [piece for piece in _silent(pieces) if piece.kind == "adjective"]


EVIDENCE: Mapping[str, Callable[[ShownEvidence], list[Evidence]]] = {
    "noun": lambda shown: [shown.noun],
    "word for a sex": lambda shown: shown.words_for_sex,
    "other gender than the noun's": lambda shown: shown.against_grammar,
    "title of a woman": lambda shown: shown.title_of_woman,
    "article or name against it": lambda shown: shown.contradicting,
    "article or name": lambda shown: [p for p in shown.articles if p.gender],
    "ending of an adjective": lambda shown: _by_form(shown.adjectives),
    "article, name or ending": lambda shown: _by_form(shown.agreeing),
    "tagger's adjective": lambda shown: _by_tagger(shown.agreeing),
    "doubtful adjective": lambda shown: _doubtful(shown.adjectives),
    "relative pronoun, or attribute behind a mark": lambda shown: _by_form(shown.behind_mark),
    "feminine such sign, perhaps another noun's": lambda shown: _silent(shown.behind_mark),
    "predicate out of sight": lambda shown: shown.out_of_sight,
    "noun in its case": lambda shown: shown.noun_in_its_case,
    "predicate": lambda shown: shown.predicate,
}
"""Name of evidence in the table → its pieces in a phrase."""


# What the pieces show


def _genders(pieces: Sequence[Evidence]) -> set[Gender]:
    return {piece.gender for piece in pieces if piece.gender is not None}


def _personal(pieces: Sequence[Evidence]) -> set[Gender]:
    """Without the neuter, which does not count as another gender."""
    return _genders(pieces) - {Gender.NEUTRAL}


SHOWS: Mapping[str, Callable[[Sequence[Evidence]], bool]] = {
    "anything": bool,
    "one": lambda pieces: len(_genders(pieces)) == 1,
    "several": lambda pieces: len(_genders(pieces)) > 1,
    "female": lambda pieces: _personal(pieces) == {Gender.FEMALE},
    "male": lambda pieces: _personal(pieces) == {Gender.MALE},
    "both": lambda pieces: len(_personal(pieces)) > 1,
}
"""Condition in the table → its test of the pieces."""


# The table


@frozen
class PolicyLine:
    """One line of the policy."""

    number: int
    """Number of the line in the file, 1 for the header."""
    noun: str
    """Kinds of noun."""
    evidence: str
    """A key of `EVIDENCE`."""
    shows: str
    """A key of `SHOWS`."""
    call: str
    """A gender, a reason for none, or ``that one``: the gender that the evidence shows."""
    names: str
    """The pieces that the call's evidence has, in order: the ``noun``, the evidence of the line
    (``it``), what is ``agreeing`` with the noun in its phrase."""

    def __str__(self) -> str:
        return f"{self.noun}: {self.evidence}, {self.shows} → {self.call}"

    def holds_for(self, kind: NounKind | None) -> bool:
        """The line is for this kind of noun; None stands for a noun of no table."""
        name = "unknown" if kind is None else kind.name.lower()
        return name in self.noun.split(", ")

    def decision(self, shown: ShownEvidence) -> Decision | None:
        """Its decision; None where the phrase does not show this."""
        pieces = EVIDENCE[self.evidence](shown)
        if not SHOWS[self.shows](pieces):
            return None
        if self.call == "that one":
            return Decision(self, _genders(pieces).pop(), None, self._named(pieces, shown))
        if self.call in set(Gender):
            return Decision(self, Gender(self.call), None, self._named(pieces, shown))
        return Decision(self, None, Reason(self.call), self._named(pieces, shown))

    def _named(self, pieces: Sequence[Evidence], shown: ShownEvidence) -> tuple[Evidence, ...]:
        by_name = {"noun": [shown.noun], "it": pieces, "agreeing": shown.agreeing}
        named: dict[Evidence, None] = {}
        for name in self.names.split(", "):
            named |= dict.fromkeys(by_name[name])
        return tuple(named)


@frozen
class Decision:
    """The decision of a line of the policy on one phrase."""

    line: PolicyLine
    gender: Gender | None
    reason: Reason | None
    """Why there is no gender."""
    evidence: tuple[Evidence, ...]


@cache
def policy_lines() -> tuple[PolicyLine, ...]:
    """The lines of the policy, in their order."""
    text = resources.files("mtbias.reading").joinpath("policy.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(PolicyLine(number, **row) for number, row in enumerate(rows, start=2))


@cache
def lines_of(kind: NounKind | None) -> tuple[PolicyLine, ...]:
    """The lines of one kind of noun, None for one that no table has."""
    return tuple(line for line in policy_lines() if line.holds_for(kind))
