"""Rows of a corpus like BUG, by the authors' filters and the confidence; and contexts of GAP's
kind.

Duplicates, and one row a sentence, are the whole corpus's business (`mtbias.mining.mining_run`).

A **context** has a pronoun that may be either of two people of its gender, by three patterns of
their places.
FINALPRO: both people come before the pronoun in one sentence, its own or the one before.
INITIALPRO: both follow it in its sentence. MEDIALPRO: the first is in the sentence
before, the second behind the pronoun. In the last two the pronoun is in an initial subordinate
clause, or a possessive in an initial prepositional phrase. A context is the longest, of at most
five sentences and ending with the pronoun's, that names exactly two people of its gender.

Source of the filters and columns: BUG's ``src/evaluations/Analyze.py`` (SLAB-NLP/BUG @ 6b5314d,
MIT). Of contexts: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 2.1,
after Webster et al. (2018).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Literal

from mtbias.coref.gap_data import GapInstance, Labels, write_instances
from mtbias.corpora.catalog import cached_file
from mtbias.english.dependencies import Node, ParsedSentence
from mtbias.english.people import Person, people, proper_names
from mtbias.english.words import GENDER_OF_PRONOUN, PRONOUN_ROLES, count_pronouns
from mtbias.files.reading import read_table
from mtbias.mining.confidence import ancestors, shipped_model, term_values
from mtbias.mining.parsed_sentence import Find, SentenceTokens, sentence_tokens
from mtbias.mining.patterns import BUG_QUERIES
from mtbias.morphology.english_parser import PassageSentence
from mtbias.settings import Settings, at_least, number_in
from mtbias.types import Gender, Span, frozen

# The occupations that mining looks for, and how many women and men work in them: BUG's table, or
# another country's.
#
# A CSV file with the columns ``entities`` (words for the occupation, separated by commas: single
# nouns in the singular, since patterns find those alone), ``M_workers`` and ``F_workers`` (how many
# men and women work in it, in any unit: only which number is larger counts).

BUG_TABLE = "bug-occupations"
"""BUG's table, by its name in the catalog."""


@frozen
class Occupations:
    """The words for occupations, in lower case."""

    majority: Mapping[str, Gender | None]
    """The gender of more than half of their workers; None where both are equally many."""
    sha256: str
    """SHA-256 of the file."""

    def stereotype(self, word: str, gender: Gender) -> int:
        """1 if most workers of the occupation `word` (in any case) are of `gender`, -1 if of the
        other, else 0.

        Raises:
            KeyError: the word is none of the table's.
        """
        majority = self.majority[word.lower()]
        if majority is None:
            return 0
        return 1 if majority is gender else -1


def read_occupations(path: Path | None = None, cache: Path | None = None) -> Occupations:
    """Read the table `path`, by default BUG's from the cache (``mtbias fetch --dataset
    bug-occupations``).

    A row without words is passed over. A word may be in several rows as long as they have the
    same majority.

    Raises:
        MissingResourceError: BUG's table is not in the cache.
        DataError: a column is missing; numbers that are none; no words; several words for one; a
            word in rows of different majorities; the file in the cache is damaged.
    """
    table = read_table(path or cached_file(BUG_TABLE, cache), "entities", "M_workers", "F_workers")
    majorities: dict[str, Gender | None] = {}
    for record in table.records:
        words = [word.strip().lower() for word in record.get("entities").split(",") if word.strip()]
        if not words:
            continue
        majority = _majority(record.number("M_workers"), record.number("F_workers"))
        for word in words:
            if len(word.split()) > 1:
                raise record.error(
                    f"entities: expected single words, got {word!r};"
                    " patterns find nouns of one word"
                )
            if majorities.setdefault(word, majority) is not majority:
                raise record.error(
                    f"entities: {word!r} is in an earlier row whose majority is another; remove one"
                )
    if not majorities:
        raise table.file.error("expected words for occupations in the column entities, got none")
    return Occupations(majorities, table.file.sha256)


def _majority(men: float, women: float) -> Gender | None:
    if men == women:
        return None
    return Gender.MALE if men > women else Gender.FEMALE


Kind = Literal["bug", "gap"]
"""The corpus whose form the mined one has: BUG, or GAP."""

NOT_LISTED = "not a listed profession"
BOTH_GENDERS = "he or she"
TOO_FAR = "too far apart"
TOO_MANY_PRONOUNS = "too many pronouns"
WITHIN_WORD = "pronoun within a longer word"
"""Where a parser's words are not what is written: *he* and *is*, written *he's* in one."""
UNSURE = "below the least confidence"

COLUMN_OF_GENDER = {Gender.MALE: "Male", Gender.FEMALE: "Female"}
"""How BUG's column ``predicted gender`` writes them."""

_EITHER = (
    *("he or she", "he / she", "she or he", "she / he"),
    *("her or his", "her / his", "his or her", "his / her"),
)
"""Texts whose sentences the authors leave out, in this case and with these blanks."""

# BUG's own seven: *hers* is not among them, which `mtbias.english.words.count_pronouns` has.
_COUNTED = re.compile(r"\b(?:he|she|his|himself|herself|her|him)\b")
_BREAKS = re.compile(r"[\t\r\n]")


@dataclass(frozen=True, kw_only=True)
class MiningOptions(Settings):
    """Which finds become rows: the defaults are the paper's."""

    max_distance: int = at_least(1, 20)
    """Most tokens from the profession to the pronoun."""
    max_pronouns: int = at_least(1, 4)
    """Most gendered pronouns of a sentence."""
    min_confidence: float = number_in(0, 1, 0.0)
    """Least confidence of a row, from 0 to 1; 0.6 is advised."""


@frozen
class MinedRow:
    """One row of the corpus: BUG's columns, and where the row comes from."""

    sentence_text: str
    """Tokens, joined by single spaces."""
    profession: str
    """As the sentence has it."""
    profession_first_index: int
    """Index of the token, as is `g_first_index`."""
    g: str
    """The pronoun, as the sentence has it."""
    g_first_index: int
    predicted_gender: str
    """Male or Female: the pronoun's."""
    stereotype: int
    """1 where the pronoun's gender is that of most workers, -1 where it is the other, 0 where
    neither is known."""
    distance: int
    """Tokens from the profession to the pronoun."""
    num_of_pronouns: int
    """See `num_of_pronouns`."""
    corpus: str
    data_index: int | None
    """The query of the pattern as BUG counts (`BUG_QUERIES`); None of a user's own."""
    pattern: str
    confidence: float
    """How probable it is that the pronoun means the profession, from 0 to 1."""
    file: str
    offset: int
    """Where the sentence begins in the file."""

    @property
    def described(self) -> Mapping[str, str]:
        """Its value in each table of the card."""
        tens = self.sentence_text.count(" ") // 10 * 10
        return {
            "pattern": self.pattern,
            "gender and stereotype": f"{self.predicted_gender}, {_SIDES[self.stereotype]}",
            "domain": self.corpus,
            "profession": self.profession.lower(),
            "words of the sentence": f"{tens + 1} to {tens + 10}",
        }


_SIDES = {1: "pro-stereotypical", -1: "anti-stereotypical", 0: "no stereotype"}
FIELDS = tuple(field.name for field in fields(MinedRow))
COLUMNS = tuple("predicted gender" if name == "predicted_gender" else name for name in FIELDS)
"""The columns of the file, in the order of the fields of `MinedRow`."""


def num_of_pronouns(text: str) -> int:
    """BUG's column of that name: *he, she, his, himself, herself, her, him* as whole words, in any
    case.

    *hers* is not counted. Range: from 0 upwards.
    """
    return len(_COUNTED.findall(text.lower()))


def rows_of(
    sentence: ParsedSentence,
    finds: Sequence[Find],
    occupations: Occupations,
    options: MiningOptions,
    *,
    corpus: str,
    file: str,
    offset: int,
) -> tuple[tuple[MinedRow, ...], Counter[str]]:
    """The rows that a sentence's finds become, in the finds' order; and how many were left out, by
    the first reason.

    Every find is one of the rows or counted once.
    """
    tokens = sentence_tokens(sentence)
    listed, pronouns = occupations.majority.keys(), num_of_pronouns(tokens.text)
    rows: list[MinedRow] = []
    left_out: Counter[str] = Counter()
    for find in finds:
        reason = _authors_reason(tokens, find, pronouns, occupations, options)
        profession, pronoun = tokens.token(find.profession), tokens.token(find.pronoun)
        gender = GENDER_OF_PRONOUN.get(pronoun.lower())
        if reason is not None or gender is None:
            left_out[reason or WITHIN_WORD] += 1
            continue
        distance = tokens.distance(find.profession, find.pronoun)
        terms = term_values(sentence, find, listed, gender, distance)
        confidence = shipped_model().confidence(terms)
        if confidence < options.min_confidence:
            left_out[UNSURE] += 1
            continue
        rows.append(
            MinedRow(
                sentence_text=tokens.text,
                profession=profession,
                profession_first_index=tokens.first[find.profession],
                g=pronoun,
                g_first_index=tokens.first[find.pronoun],
                predicted_gender=COLUMN_OF_GENDER[gender],
                stereotype=occupations.stereotype(profession, gender),
                distance=distance,
                num_of_pronouns=pronouns,
                corpus=corpus,
                data_index=None if find.number is None else BUG_QUERIES[find.number],
                pattern=find.pattern,
                confidence=confidence,
                file=file,
                offset=offset,
            )
        )
    return tuple(rows), left_out


def _authors_reason(
    tokens: SentenceTokens,
    find: Find,
    pronouns: int,
    occupations: Occupations,
    options: MiningOptions,
) -> str | None:
    """The first of the authors' filters that leaves a find out; None where it passes all."""
    if tokens.token(find.profession).lower() not in occupations.majority:
        return NOT_LISTED
    if any(pair in tokens.text for pair in _EITHER):
        return BOTH_GENDERS
    if tokens.distance(find.profession, find.pronoun) > options.max_distance:
        return TOO_FAR
    return TOO_MANY_PRONOUNS if pronouns > options.max_pronouns else None


def corpus_lines(rows: Iterable[MinedRow]) -> Iterator[str]:
    """The lines of the file, its header first; a number that is not given is empty."""
    yield "\t".join(COLUMNS)
    for row in rows:
        yield "\t".join(_cell(getattr(row, field)) for field in FIELDS)


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else _BREAKS.sub(" ", str(value))


SENTENCES = 5
"""Sentences of a context, at most."""
PRONOUNS = frozenset(GENDER_OF_PRONOUN) - set(PRONOUN_ROLES["reflexive"])
"""Pronouns whose person a context leaves open."""
_CAPITAL = re.compile(r"(?<![^\W_])[^\W\d_a-z]")


@frozen
class MinedContext:
    """A context; the pronoun and the two people by their places in it."""

    sentence_text: str
    """All of its sentences."""
    pronoun_at: Span
    a: Span
    b: Span
    pattern: str
    corpus: str
    file: str
    offset: int
    """Where it begins in the file."""
    confidence: None = None

    @property
    def described(self) -> Mapping[str, str]:
        """Its value in each table of the card."""
        return {
            "pattern": self.pattern,
            "pronoun": self.sentence_text[slice(*self.pronoun_at)].lower(),
            "domain": self.corpus,
        }


def may_hold(text: str) -> bool:
    """The cheap filter: whether a passage has a pronoun and two words with a capital."""
    return count_pronouns(text) > 0 and len(_CAPITAL.findall(text)) > 1


def context_lines(contexts: Iterable[MinedContext]) -> Iterator[str]:
    """The lines of GAP's file with the column ``Pattern``; the labels are empty, for people to fill
    in.
    """
    instances = []
    for n, context in enumerate(contexts, start=1):
        people = Span(*context.a), Span(*context.b)
        columns = {"URL": context.file, "Pattern": context.pattern}
        instances.append(
            GapInstance(
                f"{context.corpus}-{n}",
                context.sentence_text,
                Span(*context.pronoun_at),
                people,
                Labels(None, None),
                columns,
            )
        )
    yield from write_instances(instances, ("URL", "Pattern")).removesuffix("\r\n").split("\r\n")


def contexts_of(
    passage: str,
    sentences: Sequence[PassageSentence],
    names: Mapping[str, Gender],
    *,
    corpus: str,
    file: str,
    offset: int,
) -> Iterator[MinedContext]:
    """The contexts of a passage, at most one for each pronoun, in its order.

    Args:
        passage: the text.
        sentences: its sentences with their dependencies.
        names: the genders of first names.
        corpus: name of the corpus that the text is from.
        file: file and line of the passage.
        offset: characters before it in the line.
    """
    for last, sentence in enumerate(sentences):
        firsts = range(max(0, last + 1 - SENTENCES), last + 1)
        windows = [Window(passage, sentences[first : last + 1], names) for first in firsts]
        for n, node in enumerate(sentence.parsed.nodes):
            if node.form.lower() not in PRONOUNS or node.upos != "PRON":
                continue
            gender = GENDER_OF_PRONOUN[node.form.lower()]
            with_two = (window for window in windows if len(window.mentions(gender)) == 2)
            window = next(with_two, None)
            match = None if window is None else window.candidates(n)
            if window is None or match is None:
                continue
            pattern, a, b = match
            pronoun, start = _own_span(sentence.parsed, node, window.last), offset + window.start
            yield MinedContext(window.text, pronoun, a, b, pattern, corpus, file, start)


class Window:
    """Some sentences of a passage; the pronoun is in the last of them."""

    def __init__(
        self, passage: str, sentences: Sequence[PassageSentence], names: Mapping[str, Gender]
    ) -> None:
        self.sentences, self.names = sentences, names
        self.start = sentences[0].offset
        self.last = sentences[-1].offset - self.start
        """Where its last sentence begins."""
        self.text = passage[self.start : sentences[-1].offset + len(sentences[-1].parsed.text)]

    @cached_property
    def people(self) -> list[Person]:
        """The people whom it names."""
        words = []
        for sentence in self.sentences:
            for node in sentence.parsed.nodes:
                span = _own_span(sentence.parsed, node, sentence.offset - self.start)
                words.append((span, node.upos == "PROPN"))
        return people(self.text, proper_names(self.text, words), self.names)

    def mentions(self, gender: Gender) -> list[tuple[Span, ...]]:
        """The mentions of each of its people of a gender."""
        return [person.mentions for person in self.people if person.gender is gender]

    def candidates(self, pronoun: int) -> tuple[str, Span, Span] | None:
        """The pattern in which the pronoun, a node of the last sentence, may mean two people, and
        where they are.
        """
        parsed = self.sentences[-1].parsed
        node = parsed.nodes[pronoun]
        span = _own_span(parsed, node, self.last)
        one, other = self.mentions(GENDER_OF_PRONOUN[node.form.lower()])
        before = self.sentences[-2].offset - self.start if len(self.sentences) > 1 else self.last

        own = _within(one, self.last, span.start), _within(other, self.last, span.start)
        previous = _within(one, before, self.last), _within(other, before, self.last)
        for places in (own, previous):
            if all(places):
                a, b = sorted(spans[-1] for spans in places)
                return "FINALPRO", a, b
        if not is_initial(parsed, pronoun):
            return None
        behind = _within(one, span.end, len(self.text)), _within(other, span.end, len(self.text))
        if all(behind):
            a, b = sorted(spans[0] for spans in behind)
            return "INITIALPRO", a, b
        for first, second in ((0, 1), (1, 0)):
            if previous[first] and behind[second]:
                return "MEDIALPRO", previous[first][-1], behind[second][0]
        return None


def _within(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    return [span for span in spans if start <= span.start and span.end <= end]


def _own_span(sentence: ParsedSentence, node: Node, offset: int) -> Span:
    """The characters of a word alone (the "he" of "he's") in a text whose sentence begins at
    `offset`.
    """
    start, end = node.span
    end = start + len(node.form) if sentence.text.startswith(node.form, start) else end
    return Span(offset + start, offset + end)


def is_initial(sentence: ParsedSentence, pronoun: int) -> bool:
    """Whether a pronoun is in an initial subordinate clause, or a possessive in an initial
    prepositional phrase.

    That is: a clause (``advcl``) or a phrase (``obl``) that begins the sentence, but for marks and
    conjunctions, and ends before what it depends on.
    """
    nodes = sentence.nodes
    words = (n for n, node in enumerate(nodes) if node.upos not in {"PUNCT", "CCONJ", "SYM"})
    begin = next(words, 0)
    relations = {"advcl", "obl"} if nodes[pronoun].deprel == "nmod:poss" else {"advcl"}
    for top in ancestors(nodes, pronoun):
        if nodes[top].deprel.partition(":")[0] in relations:
            below = [n for n in range(len(nodes)) if top in ancestors(nodes, n)]
            if below[0] <= begin and below[-1] < nodes[top].head:
                return True
    return False
