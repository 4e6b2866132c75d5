"""Which tokens of a data set a system's own tokens, word pieces or characters are, by their characters.

Two ways to cut a text into pieces have the same characters one after another, if white space is left out. Case, accents
and signs that cannot be seen do not count (uncased models drop them), nor how the Penn Treebank writes brackets and
quotation marks, nor underscores (one stands for a word without characters, which BUG has); of word pieces what marks
them as such does not count.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from mtbias.coref.conll import Mention

# What may be written in more than one way is compared as the longer one, since a data set has either. The Penn Treebank
# has names for brackets and two single quotation marks for a double one, and CoreNLP writes any other mark so too.
_WAYS_OF_WRITING = str.maketrans(
    {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
    | dict.fromkeys('"“”', "''")
    | dict.fromkeys("`‘’", "'")
)
_SPECIAL = frozenset({"[CLS]", "[SEP]", "[PAD]", "[SPL]", "<s>", "</s>", "<pad>"})
"""Word pieces that stand for no text: those of BERT and RoBERTa, and the speaker mark of SpanBERT's coreference."""
_UNKNOWN = frozenset({"[UNK]", "<unk>"})
"""Word pieces that stand for any text."""


class Misaligned(ValueError):  # noqa: N818 - says where; it becomes a DataError with file and line
    """The characters differ: at which of their pieces, and what the data set has there."""

    def __init__(self, at: int | None, ours: str) -> None:
        super().__init__(f"the pieces differ at {at}")
        self.at = at
        """None where theirs end too soon."""
        self.ours = ours


def align(theirs: Sequence[str], ours: Sequence[str]) -> list[Mention | None]:
    """For each piece of `theirs` the first and the last token of `ours` that it shares characters with.

    None for a piece without characters that count (blanks, marks of word pieces).

    Raises:
        Misaligned: the two do not have the same characters.
    """
    owners = [at for at, token in enumerate(ours) for _ in _folded(token)]
    text = "".join(map(_folded, ours))
    pieces = _word_pieces(theirs) or [_folded(piece) for piece in theirs]
    found: list[Mention | None] = []
    at = 0
    for n, piece in enumerate(pieces):
        end = _end_of_unknown(text, at, pieces[n + 1 :]) if piece is None else at + len(piece)
        if piece is not None and text[at:end] != piece:
            raise Misaligned(n, ours[owners[at]] if at < len(text) else "")
        found.append((owners[at], owners[end - 1]) if end > at else None)
        at = end
    if at < len(text):
        raise Misaligned(None, ours[owners[at]])
    return found


def same_text(tokens: Sequence[str]) -> str:
    """What `align` compares of a whole document: two that give the same are the same text."""
    return "".join(piece or "" for piece in _word_pieces(tokens) or map(_folded, tokens))


def _word_pieces(theirs: Sequence[str]) -> list[str | None] | None:
    """The characters of word pieces, None for the piece of any text; None where they are no word pieces.

    A text has "##" before a letter hardly ever (but "###" as a heading), its word pieces have it or the special pieces
    always.
    """
    if not any(piece in _SPECIAL or (piece.startswith("##") and piece[2:3].isalnum()) for piece in theirs):
        return None
    return [
        None if piece in _UNKNOWN else "" if piece in _SPECIAL else _folded(piece.removeprefix("##").lstrip("Ġ▁"))
        for piece in theirs
    ]


def _end_of_unknown(text: str, at: int, following: Sequence[str | None]) -> int:
    """Where the text of an unknown piece ends: at the next place of the first known piece behind it."""
    known = next((piece for piece in following if piece), None)
    end = len(text) if known is None else text.find(known, at + 1)
    return end if end > at else min(at + 1, len(text))


@lru_cache(maxsize=100_000)  # the words of a data set come again and again
def _folded(token: str) -> str:
    plain = unicodedata.normalize("NFKD", token.casefold().translate(_WAYS_OF_WRITING))
    kinds = ((char, unicodedata.category(char)) for char in plain)
    # Without accents (Mn), controls and signs that cannot be seen (C…).
    return "".join(
        char for char, kind in kinds if not (char.isspace() or char == "_" or kind == "Mn" or kind.startswith("C"))
    )
