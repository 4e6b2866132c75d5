"""How many names of persons `mtbias corpora mine --mask-names` misses, on names that people marked in Wikipedia (GAP).

    python scripts/mining_names.py --data gap-test.tsv --occupations inc_occ_gender.csv --stanza-dir DIR [--passages N]

GAP marks two persons' names in each passage. A mention of one of them counts as masked where none of its words is
left, titles and listed occupations before it aside (*Lady* Saltoun). Beside it: what would be missed if only names were
masked that stand in a sentence as persons do (`mtbias.mining.persons.names_a_person`), and how many names, of persons
or not, are masked altogether.

Sentences with a listed profession and a pronoun are left out: those of GAP were looked at while the rules were made.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.english.gender_swap import word_gender  # noqa: E402 - the paths above come first
from mtbias.english.pronouns import PRONOUNS  # noqa: E402
from mtbias.errors import MtbiasError  # noqa: E402
from mtbias.mining.english_parser import EnglishParser  # noqa: E402
from mtbias.mining.parsed_sentence import ParsedSentence  # noqa: E402
from mtbias.mining.persons import names_a_person, proper_names  # noqa: E402
from mtbias.mining.word_filter import WordFilter  # noqa: E402
from mtbias.morphology.stanza_models import PARSER, find_package  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402


def counted(sentence: ParsedSentence, names: set[str], listed: frozenset[str]) -> Counter[str]:
    """What is masked in a sentence, of all names and of the mentions of `names`."""
    counts: Counter[str] = Counter()
    masked: dict[str, set[int]] = {"all": set(), "persons alone": set()}
    for run in proper_names(sentence, listed):
        words = {at for word in run for at in range(*sentence.nodes[word].span)}
        masked["all"] |= words
        counts["names masked"] += 1
        head = next((at for at in run if sentence.nodes[at].head not in run), run[-1])
        if names_a_person(sentence.nodes, run, head):
            masked["persons alone"] |= words
    for name in names:
        for mention in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", sentence.text):
            parts = [part for part in re.finditer(r"\w+", name) if word_gender(part[0]) is None]
            left = [part for part in parts if part[0].lower() not in listed] or parts
            characters = {mention.start() + at for part in left for at in range(part.start(), part.end())}
            counts["mentions"] += 1
            counts.update(kind for kind, places in masked.items() if characters <= places)
    return counts


def main(*, data: Path, stanza_dir: Path, occupations: Path, passages: int = 500) -> None:
    """Print the numbers; see the head of this file."""
    from mtbias.mining.occupations import read_occupations

    listed = read_occupations(occupations).words
    seen = WordFilter(listed, PRONOUNS)
    parser = EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")
    with data.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[:passages]
    counts: Counter[str] = Counter()
    for found in parser.parse([row["Text"] for row in rows], lambda text: not seen(text)).found:
        row = rows[found.passage]
        counts += counted(found.parsed, {row["A"], row["B"]}, listed)
    print(f"{len(rows)} passages, {counts['mentions']} mentions of persons; {counts['names masked']} names masked")
    for kind in ("all", "persons alone"):
        low, high = wilson_percent(counts[kind], counts["mentions"]) or (0.0, 100.0)
        share = 100 * counts[kind] / max(1, counts["mentions"])
        print(f"masked where {kind} are: {counts[kind]}, {share:.1f} % (95 % interval {low:.1f} to {high:.1f})")


if __name__ == "__main__":
    try:
        cyclopts.run(main)
    except MtbiasError as error:
        sys.exit(f"error: {error}")
