"""How many of the pairs that people confirmed in Gold BUG the patterns find, by query and on two
halves.

    python scripts/mining_recall.py --data gold_BUG.csv --stanza-dir DIR [--parses FILE]
        [--half A|B] [--misses] [--occupations inc_occ_gender.csv]

`--data` is Gold BUG in the paper's first version (``mtbias fetch --dataset bug-gold-paper``), whose
``data_index`` has all 21 queries; the 14 that the paper kept are measured. The sentences are parsed
by Stanza, cut at white space as the file has them; `--parses` keeps the parses in a file, and reads
them from there the next time.

A row is of half A or B by a hash of its sentence. The patterns were made while looking at half A
alone; what is found on half B is what to expect of text that nobody looked at. `--misses` prints
the rows of half A that are not found.

A row counts as found where a pattern of its query's number ties exactly its profession to its
pronoun:

- basic: in the basic tree, by the paper's own path;
- + edges: also by the edges that follow from the tree;
- all: also by the further patterns that stand for the same number;
- any: by a pattern of any number.

Which number a query has differs by corpus (`NUMBERS`). The tag of the profession is not asked for:
NN is how many rows have it right. All rows were confirmed by people, so this is recall, and says
nothing of precision. With `--occupations` the share of the pairs of both halves that are found and
stay with each least confidence is printed too.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Annotated, Literal

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.corpora.bug import BugRow, read_rows  # noqa: E402 - the paths above come first
from mtbias.english.dependencies import ParsedSentence  # noqa: E402
from mtbias.english.words import GENDER_OF_PRONOUN  # noqa: E402
from mtbias.errors import DataError, MtbiasError  # noqa: E402
from mtbias.files.encodings import without_mojibake  # noqa: E402
from mtbias.files.strict_json import decoded  # noqa: E402
from mtbias.mining.confidence import shipped_model, term_values  # noqa: E402
from mtbias.mining.mined_rows import read_occupations  # noqa: E402
from mtbias.mining.patterns import BUG_QUERIES, EDGES, Pattern, find, read_patterns  # noqa: E402
from mtbias.morphology.english_parser import parsed_sentence  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402

NUMBERS = {query: 11 if number == 14 else number for number, query in BUG_QUERIES.items()}
"""``data_index`` of the kept queries → the paper's number; 14, drawn like 11, counts as 11."""

Half = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Row:
    """A confirmed pair: the sentence's tokens, and which of them are the profession and the
    pronoun.
    """

    tokens: tuple[str, ...]
    profession: int
    pronoun: int
    query: int
    domain: str

    @property
    def half(self) -> Half:
        """By a hash of the sentence, so that the two halves share no sentence."""
        return "B" if sha256(" ".join(self.tokens).encode()).digest()[0] % 2 else "A"


def usable_rows(path: Path) -> Iterator[Row]:
    """The rows of the kept queries whose profession and pronoun stand in the sentence."""
    _, rows = read_rows(path, "bug-gold-paper", "g", "g_first_index", "data_index")
    for row in rows:
        query = row.record.integer("data_index")
        if query in NUMBERS and (pair := _places(row)) is not None:
            yield Row(*pair, query, row.domain)


def _places(row: BugRow) -> tuple[tuple[str, ...], int, int] | None:
    tokens = row.sentence.split()
    repaired = without_mojibake(row.sentence, chance=0).split()
    if len(repaired) == len(tokens):
        tokens = repaired
    columns = (("profession", "profession_first_index"), ("g", "g_first_index"))
    places = [
        _nearest(tokens, row.record.get(word), row.record.integer(index)) for word, index in columns
    ]
    return None if None in places else (tuple(tokens), places[0] or 0, places[1] or 0)


def _nearest(tokens: Sequence[str], word: str, index: int) -> int | None:
    """The occurrence of `word` nearest to `index`, the left one of two."""
    places = [n for n, token in enumerate(tokens) if token.lower() == word.lower()]
    return min(places, key=lambda n: (abs(n - index), n), default=None)


def parses(
    rows: Sequence[Row], stanza_dir: Path | None, kept: Path | None = None
) -> list[ParsedSentence]:
    """The parse of each row's tokens, from the file `kept` where it is there, else made and
    kept.
    """
    if kept is not None and kept.is_file():
        sentences = decoded(list[ParsedSentence], kept.read_text(encoding="utf-8"))
    elif stanza_dir is None:
        raise DataError("there is no such file; give --stanza-dir to make it", path=kept)
    else:
        import stanza

        pipeline = stanza.Pipeline(
            "en", dir=str(stanza_dir), processors="tokenize,pos,lemma,depparse", package=None, verbose=False,
            tokenize_pretokenized=True, download_method=None, use_gpu=False,
        )  # fmt: skip
        document = pipeline([list(row.tokens) for row in rows])
        pairs = zip(rows, document.sentences, strict=True)
        sentences = [parsed_sentence(" ".join(row.tokens), sentence) for row, sentence in pairs]
        if kept is not None:
            kept.write_text(
                json.dumps(list(map(asdict, sentences)), ensure_ascii=False), encoding="utf-8"
            )
    if [len(row.tokens) for row in rows] != [len(sentence.nodes) for sentence in sentences]:
        raise DataError("these are parses of other sentences; remove the file", path=kept)
    return sentences


def pattern_sets(patterns: Sequence[Pattern]) -> dict[str, tuple[Pattern, ...]]:
    """The columns of finds: the paper's patterns without and with further edges, and all that there
    are.
    """
    paper = tuple(pattern for pattern in patterns if pattern.name == str(pattern.number))
    plain = tuple(replace(pattern, extra_edges=False) for pattern in paper)
    return {"basic": plain, "+ edges": paper, "all": tuple(patterns)}


def counts(
    row: Row, sentence: ParsedSentence, sets: Mapping[str, Sequence[Pattern]]
) -> Counter[str]:
    """1 for each column of the table that the row counts in."""
    nouns, at = sentence.nodes[: row.profession], sentence.nodes[row.profession]
    asked = replace(
        sentence, nodes=(*nouns, replace(at, xpos="NN"), *sentence.nodes[row.profession + 1 :])
    )
    listed = {at.form.lower()}
    found = Counter({"rows": 1, "NN": int(at.xpos == "NN")})
    for name, patterns in sets.items():
        numbers = {p.name + ending: p.numbers for p in patterns for ending in ("", EDGES)}
        finds = [
            f
            for f in find(asked, patterns, listed)
            if (f.profession, f.pronoun) == (row.profession, row.pronoun)
        ]
        found[name] = int(any(NUMBERS[row.query] in numbers[f.pattern] for f in finds))
        found["any"] = int(bool(finds))
    found["all, NN"] = found["all"] & found["NN"]
    return found


COLUMNS = ("rows", "NN", "basic", "+ edges", "all", "all, NN", "any")


def line(label: str, found: Counter[str]) -> str:
    """A line of the table."""
    return f"{label:<14}" + "".join(f"{found[column]:>9}" for column in COLUMNS)


def shown(row: Row, sentence: ParsedSentence) -> str:
    """A row that is not found: its words with the dependencies above the profession and the
    pronoun.
    """

    def chain(at: int) -> str:
        steps: list[str] = []
        while at >= 0 and len(steps) < len(sentence.nodes):
            node = sentence.nodes[at]
            steps.append(f"{node.form}/{node.xpos}/{node.deprel}")
            at = node.head
        return " < ".join(steps)

    return f"{row.query} {row.domain}: {sentence.text}\n    {chain(row.profession)}\n    {chain(row.pronoun)}"


def confirmed(
    rows: Iterable[tuple[Row, ParsedSentence]], patterns: Sequence[Pattern], listed: frozenset[str]
) -> list[float]:
    """The confidence of each confirmed pair that a pattern finds."""
    confidences = []
    for row, sentence in rows:
        finds = find(sentence, patterns, listed)
        each = next(
            (f for f in finds if (f.profession, f.pronoun) == (row.profession, row.pronoun)), None
        )
        if each is not None:
            gender = GENDER_OF_PRONOUN[row.tokens[row.pronoun].lower()]
            values = term_values(sentence, each, listed, gender, abs(row.profession - row.pronoun))
            confidences.append(shipped_model().confidence(values))
    return confidences


def main(
    *,
    data: Path,
    stanza_dir: Path | None = None,
    parses_file: Annotated[Path | None, cyclopts.Parameter(name="--parses")] = None,
    patterns: Path | None = None,
    occupations: Path | None = None,
    half: Half = "A",
    misses: bool = False,
) -> None:
    """Print the table of a half; see the head of this file."""
    rows = list(usable_rows(data))
    sentences = parses(rows, stanza_dir, parses_file)
    sets = pattern_sets(read_patterns(patterns))
    totals: dict[int, Counter[str]] = {query: Counter() for query in NUMBERS}
    for row, sentence in zip(rows, sentences, strict=True):
        if row.half == half:
            found = counts(row, sentence, sets)
            totals[row.query] += found
            if misses and half == "A" and not found["all"]:
                print(shown(row, sentence))
    print(f"half {half}\n{'query: pattern':<14}" + "".join(f"{column:>9}" for column in COLUMNS))
    for query, found in totals.items():
        print(line(f"{query}: {NUMBERS[query]}", found))
    everything = sum(totals.values(), Counter())
    print(line("all", everything))
    print(
        f"{'':<14}"
        + "".join(f"{100 * everything[column] / everything['rows']:>8.1f}%" for column in COLUMNS)
    )
    interval = wilson_percent(everything["all"], everything["rows"])
    if interval is not None:
        print(f"all: 95 % interval (Wilson) {interval[0]:.1f} to {interval[1]:.1f}")
    began = process_time()
    for row, sentence in zip(rows, sentences, strict=True):
        find(sentence, sets["all"], {row.tokens[row.profession].lower()})
    print(
        f"all patterns: {len(rows) / (process_time() - began):.0f} of these sentences a second of one core"
    )
    if occupations is not None:
        confidences = confirmed(
            zip(rows, sentences, strict=True),
            sets["all"],
            frozenset(read_occupations(occupations).majority),
        )
        print(f"{len(rows)} confirmed pairs; {len(confidences)} are found, of which there stay")
        for least in (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            stay = sum(confidence >= least for confidence in confidences)
            print(
                f"  with a confidence of at least {least:<6}{stay:>6}{100 * stay / len(confidences):>7.1f}%"
            )


if __name__ == "__main__":
    try:
        cyclopts.run(main)
    except MtbiasError as error:
        sys.exit(f"error: {error}")
