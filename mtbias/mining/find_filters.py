"""Which finds become rows of the corpus: the authors' filters and ours, each with the reason that it counts.

Source of the authors': BUG's ``src/evaluations/Analyze.py`` (SLAB-NLP/BUG @ 6b5314d, MIT). Duplicates, and one row a
sentence, are the whole corpus's business (`mtbias.mining.mining_run`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.mining.confidence import shipped_model, term_values
from mtbias.mining.doubts import Doubt, doubts_of
from mtbias.mining.marks import COLUMN_OF_GENDER, SentenceTokens, num_of_pronouns, pronoun_gender, sentence_tokens
from mtbias.mining.name_masking import masked_tokens
from mtbias.mining.occupations import Occupations
from mtbias.mining.parsed_sentence import Find, ParsedSentence
from mtbias.mining.patterns import BUG_QUERIES
from mtbias.settings import Settings, at_least, number_in

NOT_LISTED = "not a listed profession"
BOTH_GENDERS = "he or she"
TOO_FAR = "too far apart"
TOO_MANY_PRONOUNS = "too many pronouns"
WITHIN_WORD = "pronoun within a longer word"
"""Of a treebank whose words are not what is written: *he* and *is*, written *he's* in one."""
DOUBTFUL = "doubt: {}"
UNSURE = "below the confidence asked for"

_EITHER = tuple(
    f"{first} {between} {second}"
    for first, second in (("he", "she"), ("she", "he"), ("her", "his"), ("his", "her"))
    for between in ("or", "/")
)
"""What the authors leave sentences out for, in this case and with these blanks."""


@dataclass(frozen=True, kw_only=True)
class MiningOptions(Settings):
    """Which finds are kept: the defaults are the paper's."""

    max_distance: int = at_least(1, 20)
    """Most tokens from the profession to the pronoun."""
    max_pronouns: int = at_least(1, 4)
    """Most gendered pronouns of a sentence."""
    leave_out: tuple[Doubt, ...] = ()
    """Leave out the finds with this doubt; may be given several times."""
    min_confidence: float | None = number_in(0, 1, None)
    """Least confidence of a row, from 0 to 1 (default: all are kept)."""
    mask_names: bool = False
    """Replace every proper name by a placeholder (NAME1)."""


@dataclass(frozen=True, slots=True)
class MinedRow:
    """One row of the corpus: BUG's columns, and where the row comes from."""

    sentence_text: str
    """`tokens`, joined by single spaces."""
    profession: str
    """As the sentence has it."""
    g: str
    """The pronoun, as the sentence has it."""
    profession_first_index: int
    """Of `tokens`, as `g_first_index`."""
    g_first_index: int
    predicted_gender: str
    """Male or Female: the pronoun's."""
    stereotype: int
    """1 where the pronoun's gender is that of most workers, -1 where it is the other, 0 where neither is known."""
    distance: int
    """Tokens from the profession to the pronoun."""
    num_of_pronouns: int
    """See `mtbias.mining.marks.num_of_pronouns`."""
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
    def tokens(self) -> tuple[str, ...]:
        """What the indices count."""
        return tuple(self.sentence_text.split(" "))


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

    Every find is one of the rows or counted once. Distances and pronouns are those of the sentence before names are
    masked; the indices and the distance of a masked row are the masked sentence's.
    """
    tokens = sentence_tokens(sentence)
    listed = occupations.words
    pronouns = num_of_pronouns(tokens.text)
    rows: list[MinedRow] = []
    left_out: Counter[str] = Counter()
    for find in finds:
        reason = _authors_reason(tokens, find, pronouns, occupations, options)
        if reason is None and tokens.of(find.pronoun).lower() not in GENDER_OF_PRONOUN:
            reason = WITHIN_WORD
        if reason is None:
            profession, pronoun = tokens.of(find.profession), tokens.of(find.pronoun)
            gender = pronoun_gender(pronoun)
            doubts = doubts_of(sentence, find, finds, listed, gender)
            values = term_values(doubts, pronoun, tokens.distance(find.profession, find.pronoun))
            confidence = shipped_model().confidence(values)
            reason = _our_reason(doubts, confidence, options)
        if reason is not None:
            left_out[reason] += 1
            continue
        kept = (find.profession, find.pronoun)
        shown = masked_tokens(sentence, listed, kept) if options.mask_names else tokens
        rows.append(
            MinedRow(
                sentence_text=shown.text,
                profession=profession,
                g=pronoun,
                profession_first_index=shown.first[find.profession],
                g_first_index=shown.first[find.pronoun],
                predicted_gender=COLUMN_OF_GENDER[gender],
                stereotype=occupations.stereotype(profession, gender),
                distance=shown.distance(*kept),
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
    if tokens.of(find.profession).lower() not in occupations.numbers:
        return NOT_LISTED
    if any(pair in tokens.text for pair in _EITHER):
        return BOTH_GENDERS
    if tokens.distance(find.profession, find.pronoun) > options.max_distance:
        return TOO_FAR
    return TOO_MANY_PRONOUNS if pronouns > options.max_pronouns else None


def _our_reason(doubts: Sequence[Doubt], confidence: float, options: MiningOptions) -> str | None:
    """The same for the filters that the paper has not."""
    for doubt in doubts:
        if doubt in options.leave_out:
            return DOUBTFUL.format(doubt)
    return UNSURE if options.min_confidence is not None and confidence < options.min_confidence else None
