"""How often the gender of a noun for people can be told from other rows of its table, rule by rule.

    python scripts/derived.py [--lang CODE]… [--rows]

Each row of ``languages/*/data/XX_nouns.tsv`` is left out and its lemma read again by the rules for
words of no table: as one of ``prefixes`` before another row's noun, as two nouns with a hyphen, by
the last part of a compound, by its ending (``[noun_endings]``). Right is the row's own kind (its
column ``gender``; where it has several, any of them); a thing that is read as a person is wrong.
Rows of which a rule says nothing are not counted with it.

A new rule is switched on where at least 95 % of at least 10 rows are right. That is not enough by
itself: what the tables lack need not be like what they have. A rule *-ка* would have 441 of 446
rows of the Russian table right, yet the 13 forms that it and its like (*-ница*, *-ша*) add in the
public translations of WinoMT and GEST and in MT-GenEval's sentences name no woman (*шутка*,
*гонка*, *замок*). Look at the forms that a rule adds in texts, too.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.language.definition import Language  # noqa: E402 - the paths above come first
from scripts.labelled import each_language, shipped_language  # noqa: E402

MIN_ROWS, MIN_RIGHT = 10, 0.95
"""From which on a rule is switched on."""
LANGUAGES = sorted(
    path.name.removesuffix("_nouns.tsv") for path in ROOT.glob("languages/*/data/*_nouns.tsv")
)


def read_again(language: Language) -> Iterator[tuple[str, str, bool]]:
    """(rule, lemma, whether it is right) for every lemma of the table and each rule that reads
    it.
    """
    kinds = defaultdict(set)
    for readings in language.nouns.values():
        for reading in readings:
            kinds[reading.lemma].add(reading.kind)
    for lemma, own in sorted(kinds.items()):
        derived = {reading.kind for reading in language.derived(lemma)}
        if derived:
            yield _rule(language, language.fold(lemma)), lemma, not own.isdisjoint(derived)
        ending = language.ending(lemma)
        if ending is not None and ending[0] in language.noun_endings:
            yield f"…{ending[0]}", lemma, ending[1] in own


def _rule(language: Language, folded: str) -> str:
    """What `Language.derived` cuts."""
    found = (p for p in language.prefixes if folded.startswith(p))
    prefix = next(
        (p for p in found if folded.removeprefix(p).removeprefix("-") in language.nouns), None
    )
    if prefix is not None:
        return f"{prefix}…"
    return "compound" if language.compounds else "two nouns"


def main(*, lang: list[str] | None = None, rows: bool = False) -> int:
    """Print the rows of each rule and how many of them are right and wrong; those under the limit
    have a mark.

    Parameters
    ----------
    lang
        Only these languages.
    rows
        List the lemmas that are wrong.
    """

    def run(code: str) -> None:
        found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        for rule, lemma, right in read_again(shipped_language(code)):
            found[rule].append((lemma, right))
        for rule, read in sorted(found.items(), key=lambda each: (-len(each[1]), each[0])):
            wrong = [lemma for lemma, right in read if not right]
            few = len(read) < MIN_ROWS or len(wrong) > (1 - MIN_RIGHT) * len(read)
            names = f"  {' '.join(wrong)}" if rows else ""
            print(
                f"{code}  {rule:14} n {len(read):5}  right {len(read) - len(wrong):5}  wrong {len(wrong):4}"
                f"{'  under the limit' if few else ''}{names}"
            )

    return each_language(lang, LANGUAGES, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
