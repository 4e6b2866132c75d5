"""The values that pass from stage to stage: frozen, joined by id, never by position.

Spans are half-open character offsets ``[start, end)`` into the text they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, dataclass_transform

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A plain value, as JSON has it; tuples become lists."""

JsonObject = Mapping[str, Any]
"""An object of JSON, as read from a file or to be written to one."""
JsonDict = dict[str, Any]
"""The same while it is being built."""

Progress = Callable[[str, int, int], object]
"""Called as ``progress(stage, done, total)``."""

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Makes a class one of values: a frozen dataclass with slots."""
    return dataclass(frozen=True, slots=True)(cls)


def quiet(stage: str, done: int, total: int) -> None:
    """No progress wanted."""


class Gender(StrEnum):
    """A grammatical gender as a translation shows it, or the gold gender of an entity."""

    MALE = "male"
    FEMALE = "female"
    NEUTRAL = "neutral"


class Stereotype(StrEnum):
    """Whether an entity's gold gender fits its occupation's stereotype; NONE where the corpus does
    not say.
    """

    PRO = "pro"
    ANTI = "anti"
    NONE = "none"


class Reason(StrEnum):
    """Why an instance has no gender. There is no default gender."""

    UNTRANSLATED = "untranslated"
    """There is no translation, or an empty one."""
    UNALIGNED = "unaligned"
    """No word of the translation could be found that renders the entity."""
    NO_MORPHOLOGY = "no morphology"
    """The aligned phrase shows no gender: common-gender noun without article, foreign word, noun of
    fixed gender."""
    NO_PERSON = "no person"
    """The aligned noun is not in the table of nouns for people, and nothing else says that it names
    a person; or it names a thing as well, and does not translate the entity."""
    COPIED = "copied"
    """The entity occurs only in words of the source that were left untranslated."""
    AMBIGUOUS = "ambiguous"
    """The evidence contradicts itself."""


class Strategy(StrEnum):
    """What a translation does with the gender of the person: shows one, writes both, uses a neutral
    word, leaves the person out.
    """

    MALE = "male"
    FEMALE = "female"
    PAIR = "both:pair"
    """Two whole nouns or articles: *Ärztinnen und Ärzte*, *los y las docentes*."""
    SLASH = "both:slash"
    """*Lehrer/-in*, *der/die Angestellte*."""
    STAR = "both:star"
    """``Lehrer*in``."""
    COLON = "both:colon"
    """*Lehrer:in*."""
    GAP = "both:gap"
    """*Lehrer_in*."""
    BRACKETS = "both:brackets"
    """*Lehrer(in)*, *un(e) journaliste*."""
    POINT = "both:point"
    """*étudiant·e*, *étudiant.e*, *étudiant-e-s*."""
    CAPITAL = "both:capital"
    """*LehrerIn*."""
    ENDING = "both:ending"
    """One ending that is neither: *niñes*, *todxs*, *amig@s*, *ragazzə*, ``ragazz*``."""
    PARTICIPLE = "neutral:participle"
    """A participle or adjective as a noun, where nothing agrees with it: *die Studierenden*."""
    COMPOUND = "neutral:compound"
    """A word for a person, a force or a member that carries the occupation: *Lehrkraft*, *persona
    encargada*."""
    COLLECTIVE = "neutral:collective"
    """One word for all of them: *Personal*, *alumnado*."""
    EPICENE = "neutral:epicene"
    """Any other word for a person without a gender: *víctima*, *les élèves*."""
    OMITTED = "omitted"
    """No word is left that names a person."""
    UNALIGNED = "unaligned"
    """There is one, and nobody can say whether it renders this person."""


class Span(NamedTuple):
    """A half-open range of characters: ``text[start:end]``."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a character."""
        return self.start < other.end and other.start < self.end


@frozen
class SourceSentence:
    """One sentence of a corpus: all that a translation system needs of it."""

    id: str
    """Unique in the corpus, stable across releases of mtbias."""
    row: int
    """0-based row of the corpus file."""
    source: str


@frozen
class Instance(SourceSentence):
    """One sentence of a corpus with the entity whose gender it tells."""

    head: Span
    """Characters of `source` that are the head word of the entity ("worker" in "construction
    worker")."""
    entity: str
    """The entity as the corpus names it, lower-cased ("construction worker")."""
    gold: Gender | None
    """None where the sentence shows none: no translation of it is right or wrong."""
    stereotype: Stereotype
    domain: str
    """Sub-corpus: ``winobias``/``winogender`` in WinoMT;
    ``wikipedia``/``pubmed``/``covid19``/``perseus`` in BUG."""
    pronouns: int | None
    """Gendered pronouns in `source`, counted alike in every corpus
    (`mtbias.english.words.count_pronouns`); None where it is not English."""
    corpus_pronouns: int | None = None
    """The corpus's own count where it has one (BUG's ``num_of_pronouns``)."""
    distance: int | None = None
    """Distance in words between entity and pronoun, where the corpus tells it."""
    pair: str | None = None
    """Id of the counterfactual (the same sentence, other gender), if any."""
    control: str | None = None
    """Id of the control (the same sentence and gender, something else changed), if any."""


@frozen
class Translation:
    """The translation of one instance: `text`, or None with the reason why there is none."""

    id: str
    text: str | None
    reason: str | None = None
    raw: str | None = None
    """The original, if `text` is a part of it or was repaired: the answer of a language model."""


@frozen
class SourceFacts:
    """What the source says around the entity."""

    number: str | None = None
    """``sg`` or ``pl``, where its form tells."""
    qualified: bool = False
    """An adjective or a noun precedes it ("a beautiful local boy")."""
    says_sex: Gender | None = None
    """The gender that a word before it says (*female doctors*)."""
    before_adverb: bool = False
    """An adverb in *-ly* directly follows it in an English source."""
    before_name: bool = False
    """A capitalised word directly follows it (*Secretary Korth*)."""
    quantifier: bool = False
    """It is a numeral or a word such as "others" in an English source."""


class Trust(StrEnum):
    """Why words are taken to render the entity, the best reasons first: the order in which
    candidates are read.
    """

    ALIGNED = "aligned"
    """The aligner's words."""
    PERSON_LEFT = "person left over"
    """A noun for people that no other word of the source explains: taken where what was aligned is
    no noun."""
    WORD_LEFT = "word left over"
    """Another content word of that kind: taken where it is a noun, and what was aligned is neither
    a noun nor known."""
    ONLY_PERSON = "only person"
    """A noun for people that the tables know as a translation of no other word of the source: taken
    where it is the only one, and what was aligned names nobody."""
    IN_COMPOUND = "in a compound"
    """The beginning of a compound (de *Frauen* in *Frauenrechte*): taken where nothing else names
    somebody, or the compound itself was aligned."""


@frozen
class Candidate:
    """Words of a translation that may render the entity."""

    target: tuple[Span, ...]
    """Their spans, best first."""
    basis: str
    """What found them: ``links``, ``links+lexicon``, ``lexicon``, ``derived``, or ``elimination``
    (a word that no other source word explains; it counts only if it is a noun)."""
    trust: Trust = Trust.ALIGNED
    copied: bool = False
    """The first is the source's word itself, left untranslated."""
    meant: str | None = None
    """The known translation from which the first, a word of no table, is one letter off."""
    loan: bool = False
    """The tables know no translation of the entity; the first is spelt like it (ru *катепан*)."""


@frozen
class Alignment:
    """Where the entity's head word is in the translation."""

    id: str
    candidates: tuple[Candidate, ...] = ()
    """In the order of trust; empty where nothing was found."""
    translations: tuple[Span, ...] = ()
    """Words that the language's tables know as translations of the entity, in text order."""
    source: SourceFacts = SourceFacts()
    """What the source says around the entity."""

    @property
    def target(self) -> tuple[Span, ...]:
        """The words that the aligner found, best first; empty where it found none."""
        first = self.with_trust(Trust.ALIGNED)
        return first[0].target if first else ()

    @property
    def basis(self) -> str | None:
        """What found them."""
        first = self.with_trust(Trust.ALIGNED)
        return first[0].basis if first else None

    def with_trust(self, trust: Trust) -> tuple[Candidate, ...]:
        """The candidates with this reason, likeliest first."""
        return tuple(each for each in self.candidates if each.trust is trust)


DERIVED = "derived"
"""Basis of an alignment with a word that only derives from a translation of the entity (uk
*пекарські гроші*)."""
ELIMINATION = "elimination"
"""Basis of an alignment that rests only on no other source word wanting the target word."""


@frozen
class Word:
    """A syntactic word: what Stanza tags. Several words share a token where a multiword token was
    split.
    """

    text: str
    lemma: str | None
    upos: str
    feats: tuple[tuple[str, str], ...] = ()

    def feat(self, name: str) -> str | None:
        """Value of the UD feature `name`, or None."""
        for key, value in self.feats:
            if key == name:
                return value
        return None


@frozen
class Token:
    """A surface token with its character span in the text and the syntactic words it consists
    of.
    """

    span: Span
    text: str
    words: tuple[Word, ...]


@frozen
class Analysis:
    """The morphology of one text: its tokens in order."""

    text: str
    tokens: tuple[Token, ...]


@frozen
class Evidence:
    """One thing that speaks for a gender (or was looked at and is silent: `gender` None)."""

    rule: str
    """Name of the rule that it comes from (`mtbias.reading.rules`)."""
    kind: str
    """``noun``, ``determiner``, ``contraction``, ``adjective``, ``pronoun`` (a relative one),
    ``title``, ``name``, ``verb``."""
    word: str
    """The surface form."""
    span: Span
    """Where it is in the translation."""
    gender: Gender | None
    source: str
    """What says so: ``lexicon`` (the plugin's nouns), ``form`` (an ending or article form),
    ``tagger``, ``stanza`` (its features alone), ``alignment``."""
    shows: str = ""
    """What the form shows, for a reader: ``Gender=Fem``, ``-trice``, ``m.nom.sg``, a lemma."""


NAMES_BOTH = frozenset(
    ("both_nouns", "ending_written_on", "both_articles", "both_sexes", "spelling_for_both")
)
"""Rules whose evidence names both genders, and not one that is neither (*niñes*)."""


@frozen
class GenderedWord:
    """A word of the translation that would be another in the other gender."""

    word: str
    span: Span
    known: bool
    """Whether the language's tables tell that its form shows the gender; else it is the tagger that
    does."""


@frozen
class GenderCall:
    """The entity's gender in the translation, with its evidence, **or** the reason for having none.
    Never both.
    """

    id: str
    gender: Gender | None
    reason: Reason | None
    target: tuple[Span, ...] = ()
    """The head word first, then the other aligned words."""
    evidence: tuple[Evidence, ...] = ()
    stanza_gender: Gender | None = None
    """What Stanza's features alone show at the same head; None where they show none, and where
    nobody asked them."""
    does: Strategy | None = None
    """What the translation does with the person's gender; None where the evidence contradicts
    itself, a thing or a foreign word stands for the person, there is no translation, and for the
    second reader."""
    edits: tuple[GenderedWord, ...] = ()
    """The words that show the gender: what must be changed where it is the wrong one."""
    basis: str | None = None
    """What found the words that were read (`Candidate.basis`); None where nothing did."""
    trust: Trust | None = None
    """Why they are taken to render the entity (`Candidate.trust`)."""

    def __post_init__(self) -> None:
        if (self.gender is None) == (self.reason is None):
            raise ValueError("a call has either a gender or a reason for having none")

    @property
    def decisive(self) -> int | None:
        """The place of the evidence that it rests on, the first that says what was called; None
        where nothing was called, or no evidence says it.
        """
        if self.gender is None:
            return None
        says_it = (n for n, piece in enumerate(self.evidence) if piece.gender is self.gender)
        return next(says_it, None)

    @property
    def decided_by(self) -> str:
        """What it rests on: the kind of the decisive evidence (``noun``, ``determiner``, …).

        Edge cases: the reason where nothing was called; "none" where no evidence says it.
        """
        if self.reason is not None:
            return self.reason.value
        return "none" if self.decisive is None else self.evidence[self.decisive].kind

    @property
    def both_forms(self) -> bool:
        """Whether a neutral call rests on the forms of both genders, and not on one that is neither
        (*niñes*).
        """
        neutral = (piece for piece in self.evidence if piece.gender is Gender.NEUTRAL)
        return self.gender is Gender.NEUTRAL and any(e.rule in NAMES_BOTH for e in neutral)


# What the metrics need to know about a sentence: `mtbias.types.Instance` has it, and a line of
# `calls.jsonl`.

# ruff: noqa: D102 - the names of the properties say what they are


class Linked(Protocol):
    """A sentence and its links: for pairs."""

    @property
    def id(self) -> str: ...
    @property
    def gold(self) -> Gender | None: ...
    @property
    def pair(self) -> str | None: ...
    @property
    def control(self) -> str | None: ...


class Described(Protocol):
    """A sentence with its classes and what can be balanced: for weights."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def gold(self) -> Gender | None: ...
    @property
    def stereotype(self) -> Stereotype: ...
    @property
    def domain(self) -> str: ...
    @property
    def pronouns(self) -> int | None: ...
    @property
    def distance(self) -> int | None: ...


class Called(Described, Linked, Protocol):
    """A sentence with its translation and its call: a line of `calls.jsonl`."""

    @property
    def entity(self) -> str: ...
    @property
    def corpus_pronouns(self) -> int | None: ...
    @property
    def translation(self) -> str | None: ...
    @property
    def call(self) -> GenderCall: ...
