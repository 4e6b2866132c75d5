"""What the filters cost: the pairs that people confirmed in Gold BUG, found by a pattern, that each filter leaves out.

    python scripts/mining_confirmed.py --data gold_BUG.csv --occupations inc_occ_gender.csv --stanza-dir DIR
                                       [--conllu FILE]

`--data` is Gold BUG in the paper's first version (``mtbias fetch --dataset bug-gold-paper``); `--conllu` keeps the
parses in a file. All pairs are right ones, so a filter that keeps more of them costs less. They were not looked at
while the doubts (`mtbias.mining.doubts`) were made, nor when the confidence was fitted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.errors import MtbiasError  # noqa: E402 - the paths above come first
from mtbias.mining.confidence import shipped_model, term_values  # noqa: E402
from mtbias.mining.doubts import DOUBTS, Doubt, doubts_of  # noqa: E402
from mtbias.mining.marks import pronoun_gender  # noqa: E402
from mtbias.mining.matcher import find  # noqa: E402
from mtbias.mining.occupations import read_occupations  # noqa: E402
from mtbias.mining.parsed_sentence import ParsedSentence  # noqa: E402
from mtbias.mining.patterns import Pattern, read_patterns  # noqa: E402
from scripts.mining_precision import THRESHOLDS  # noqa: E402
from scripts.mining_recall import Row, parses, usable_rows  # noqa: E402

Judged = tuple[float, tuple[Doubt, ...]]
"""The confidence of a confirmed pair, and the doubts about it."""


def judged(
    rows: Iterable[tuple[Row, ParsedSentence]], patterns: Sequence[Pattern], listed: frozenset[str]
) -> list[Judged]:
    """Of each confirmed pair that a pattern finds."""
    pairs: list[Judged] = []
    for row, sentence in rows:
        finds = find(sentence, patterns, listed)
        each = next((f for f in finds if (f.profession, f.pronoun) == (row.profession, row.pronoun)), None)
        if each is not None:
            pronoun = row.tokens[row.pronoun]
            doubts = doubts_of(sentence, each, finds, listed, pronoun_gender(pronoun))
            values = term_values(doubts, pronoun, abs(row.profession - row.pronoun))
            pairs.append((shipped_model().confidence(values), doubts))
    return pairs


def main(*, data: Path, occupations: Path, stanza_dir: Path | None = None, conllu: Path | None = None) -> None:
    """Print the shares; see the head of this file."""
    rows = list(usable_rows(data))
    with TemporaryDirectory() as folder:
        sentences = parses(rows, stanza_dir, conllu or Path(folder) / "gold.conllu")
    listed = read_occupations(occupations).words
    pairs = judged(zip(rows, sentences, strict=True), read_patterns(), listed)
    print(f"{len(rows)} confirmed pairs; {len(pairs)} are found, of which there stay")
    for least in THRESHOLDS:
        kept = sum(confidence >= least for confidence, _ in pairs)
        print(f"  with a confidence of at least {least:<6}{kept:>6}{100 * kept / len(pairs):>7.1f}%")
    for doubt in DOUBTS:
        kept = sum(doubt not in doubts for _, doubts in pairs)
        print(f"  --leave-out {doubt:<24}{kept:>6}{100 * kept / len(pairs):>7.1f}%")


if __name__ == "__main__":
    try:
        cyclopts.run(main)
    except MtbiasError as error:
        sys.exit(f"error: {error}")
