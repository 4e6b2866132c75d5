"""The English nouns for persons, from the tables of all languages.

    python scripts/person_nouns.py

writes ``mtbias/english/person_nouns.txt``: the heads of all English nouns that at least two tables
(``languages/mtbias_languages/data/*_nouns.tsv``) translate by nouns for persons whose gender is not
fixed; one alone may be of a group (*party*). By it `mtbias.english.person_nouns.may_name_person` tells
*baritone*, whose loan names somebody, from *tendency*, whose loan does not.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "languages" / "mtbias_languages" / "data"
FILE = ROOT / "mtbias" / "english" / "person_nouns.txt"
TABLES = 2
PERSONAL = frozenset(("m", "f", "common", "generic"))


def person_nouns() -> list[str]:
    """The nouns in alphabetical order."""
    tables = Counter(chain.from_iterable(set(_of_table(path)) for path in DATA.glob("*_nouns.tsv")))
    return sorted(noun for noun, count in tables.items() if count >= TABLES)


def _of_table(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["gender"] in PERSONAL:
            for phrase in row["english"].lower().split("|"):
                yield from phrase.split()[-1:]


def main() -> None:
    """Write the file."""
    FILE.write_text("".join(f"{noun}\n" for noun in person_nouns()), encoding="utf-8")


if __name__ == "__main__":
    main()
