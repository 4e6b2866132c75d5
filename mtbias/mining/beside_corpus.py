"""What is made of a mined corpus once it is written: its card, and its balanced part.

Both read the corpus a line at a time; the balanced part needs some hundred bytes of memory a row, the card none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtbias.corpora.bug import STEREOTYPES
from mtbias.files.writing import write_atomic
from mtbias.mining.balanced_sample import BalancedPart, balanced_part
from mtbias.mining.corpus_card import CardFacts, card_path, corpus_card
from mtbias.mining.find_filters import MinedRow
from mtbias.types import Gender


def mined_rows(corpus: Path) -> Iterator[MinedRow]:
    """The rows of a corpus that `mtbias corpora mine` has written, one after the other."""
    lines = _lines(corpus)
    columns = next(lines).split("\t")
    for line in lines:
        of = dict(zip(columns, line.split("\t"), strict=True))
        yield MinedRow(
            sentence_text=of["sentence_text"],
            profession=of["profession"],
            g=of["g"],
            profession_first_index=int(of["profession_first_index"]),
            g_first_index=int(of["g_first_index"]),
            predicted_gender=of["predicted gender"],
            stereotype=int(of["stereotype"]),
            distance=int(of["distance"]),
            num_of_pronouns=int(of["num_of_pronouns"]),
            corpus=of["corpus"],
            data_index=int(of["data_index"]) if of["data_index"] else None,
            pattern=of["pattern"],
            confidence=float(of["confidence"]),
            file=of["file"],
            offset=int(of["offset"]),
        )


def write_card(corpus: Path, facts: CardFacts) -> Path:
    """Write the card of a mined corpus beside it; where it stands.

    Raises:
        RunFolderError: it cannot be written.
    """
    path = card_path(corpus)
    write_atomic(path, corpus_card(corpus, mined_rows(corpus), facts).encode())
    return path


def balanced_path(corpus: Path) -> Path:
    """Where the balanced part of a corpus stands: beside it, ``NAME.balanced.tsv``."""
    return corpus.with_suffix(f".balanced{corpus.suffix}")


def write_balanced(corpus: Path, out: Path, seed: int) -> BalancedPart:
    """Write the balanced part of a mined corpus to `out`, a TSV with the same columns.

    Raises:
        DataError: there is no row of one gender with one stereotype.
        RunFolderError: it cannot be written.
    """
    quarters = [(Gender(row.predicted_gender.lower()), STEREOTYPES[str(row.stereotype)]) for row in mined_rows(corpus)]
    part = balanced_part(quarters, seed)
    chosen = {-1, *part.chosen}
    write_atomic(out, (line for n, line in enumerate(_lines(corpus), start=-1) if n in chosen))
    return part


def _lines(corpus: Path) -> Iterator[str]:
    with corpus.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n")
