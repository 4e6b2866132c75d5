"""The rows of a mined corpus: which finds become rows, by the authors' filters and the confidence; and BUG's columns.

Source of the filters and columns: BUG's ``src/evaluations/Analyze.py`` (SLAB-NLP/BUG @ 6b5314d, MIT). Duplicates, and
one row a sentence, are the whole corpus's business (`mtbias.mining.mining_run`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from mtbias.corpora.catalog import cached_file
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.files.reading import read_table
from mtbias.mining.confidence import shipped_model, term_values
from mtbias.mining.parsed_sentence import Find, ParsedSentence, SentenceTokens, sentence_tokens
from mtbias.mining.patterns import BUG_QUERIES
from mtbias.settings import Settings, at_least, number_in
from mtbias.types import Gender, frozen

# The occupations that mining looks for, and how many women and men work in them: BUG's table, or another country's.
#
# A CSV file with the columns ``entities`` (words for the occupation, separated by commas: single nouns in the singular,
# since patterns find those alone), ``M_workers`` and ``F_workers`` (how many men and women work in it, in any unit:
# only which number is larger counts).

BUG_TABLE = "bug-occupations"
"""BUG's table, by its name in the catalog."""


@frozen
class Occupations:
    """The words for occupations, in lower case."""

    majority: Mapping[str, Gender | None]
    """The gender of more than half of their workers; None where both are equally many."""
    sha256: str
    """Of the file."""

    def stereotype(self, word: str, gender: Gender) -> int:
        """1 if most workers of the occupation `word` (in any case) are of `gender`, -1 if of the other, else 0.

        Raises:
            KeyError: the word is none of the table's.
        """
        majority = self.majority[word.lower()]
        return 0 if majority is None else 1 if majority is gender else -1


def read_occupations(path: Path | None = None, cache: Path | None = None) -> Occupations:
    """Read the table `path`, by default BUG's from the cache (``mtbias fetch --dataset bug-occupations``).

    A row without words is passed over. A word may stand in several rows as long as they have the same majority.

    Raises:
        MissingResourceError: BUG's table is not in the cache.
        DataError: a column is missing; numbers that are none; no words; several words for one; a word in rows of
            different majorities; the file in the cache is damaged.
    """
    table = read_table(path or cached_file(BUG_TABLE, cache), "entities", "M_workers", "F_workers")
    majorities: dict[str, Gender | None] = {}
    for record in table.records:
        words = [word.strip().lower() for word in record.get("entities").split(",") if word.strip()]
        if not words:
            continue
        men, women = record.number("M_workers"), record.number("F_workers")
        majority = None if men == women else Gender.MALE if men > women else Gender.FEMALE
        for word in words:
            if len(word.split()) > 1:
                raise record.error(f"entities: expected single words, got {word!r}; patterns find nouns of one word")
            if majorities.setdefault(word, majority) is not majority:
                raise record.error(f"entities: {word!r} is in an earlier row whose majority is another; remove one")
    if not majorities:
        raise table.file.error("expected words for occupations in the column entities, got none")
    return Occupations(majorities, table.file.sha256)


Kind = Literal["bug", "gap"]
"""Like which corpus what is mined is: BUG, or GAP."""

NOT_LISTED = "not a listed profession"
BOTH_GENDERS = "he or she"
TOO_FAR = "too far apart"
TOO_MANY_PRONOUNS = "too many pronouns"
WITHIN_WORD = "pronoun within a longer word"
"""Where a parser's words are not what is written: *he* and *is*, written *he's* in one."""
UNSURE = "below the least confidence"

COLUMN_OF_GENDER = {Gender.MALE: "Male", Gender.FEMALE: "Female"}
"""How BUG's column ``predicted gender`` writes them."""

_EITHER = tuple(
    f"{first} {between} {second}"
    for first, second in (("he", "she"), ("she", "he"), ("her", "his"), ("his", "her"))
    for between in ("or", "/")
)
"""What the authors leave sentences out for, in this case and with these blanks."""

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
    """Of the tokens, as `g_first_index`."""
    g: str
    """The pronoun, as the sentence has it."""
    g_first_index: int
    predicted_gender: str
    """Male or Female: the pronoun's."""
    stereotype: int
    """1 where the pronoun's gender is that of most workers, -1 where it is the other, 0 where neither is known."""
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
        """By what the card counts."""
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
    """BUG's column of that name: *he, she, his, himself, herself, her, him* as whole words, in any case.

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
    """The rows that a sentence's finds become, in the finds' order; and how many were left out, by the first reason.

    Every find is one of the rows or counted once.
    """
    tokens = sentence_tokens(sentence)
    listed, pronouns = occupations.majority.keys(), num_of_pronouns(tokens.text)
    rows: list[MinedRow] = []
    left_out: Counter[str] = Counter()
    for find in finds:
        reason = _authors_reason(tokens, find, pronouns, occupations, options)
        profession, pronoun = tokens.of(find.profession), tokens.of(find.pronoun)
        gender = GENDER_OF_PRONOUN.get(pronoun.lower())
        if reason is not None or gender is None:
            left_out[reason or WITHIN_WORD] += 1
            continue
        distance = tokens.distance(find.profession, find.pronoun)
        confidence = shipped_model().confidence(term_values(sentence, find, listed, gender, distance))
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
    tokens: SentenceTokens, find: Find, pronouns: int, occupations: Occupations, options: MiningOptions
) -> str | None:
    """Why a find is left out, by the first of the authors' filters that does so; None where it is kept."""
    if tokens.of(find.profession).lower() not in occupations.majority:
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
