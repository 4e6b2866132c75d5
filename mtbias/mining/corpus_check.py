"""Rows of a corpus that people check: which are drawn, the page that shows them, and what their
judgements say.

A row is right where its pronoun stands for the person whom its profession names. The rows are a
simple random sample without replacement, in random order, so that whoever stops early has judged a
simple random sample too. The precision is right / (right + wrong), with Wilson's interval; rows of
which a reader is unsure are counted apart. The interval knows nothing of the corpus's size: of a
sample that is a large part of it, it is wider than it must be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

import numpy as np

from mtbias.corpora.bug import BugRow, stands_at
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import SettingError
from mtbias.files.reading import Record, TextFile, parse_table, read_table, read_text, sha256_of
from mtbias.files.writing import signature_line, write_atomic
from mtbias.report.page import render_page
from mtbias.scoring.correction import cohen_kappa
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Interval, percent_of, source
from mtbias.types import frozen

JUDGEMENTS = ("right", "wrong", "unsure")
"""What a reader may say of a row."""
ERRORS = ("other noun would be right", "ambiguous", "he or she", "quoted")
"""Why a row is wrong, the types of table 1 of BUG's paper; a reader need not say it."""
_SAID = {
    **{each: each[0] for each in JUDGEMENTS},
    **{f"wrong: {why}": str(n) for n, why in enumerate(ERRORS, 1)},
}
"""Judgements as a file has them, with the keys of the page."""

_REQUIRED = ("sentence_text", "profession", "profession_first_index", "g", "g_first_index")


@frozen
class CheckedRow:
    """A row as a reader sees it, and what its judgement is grouped by."""

    key: str
    """What names it in a file of judgements: a hash of the sentence and the two indices, whatever
    the row's number."""
    words: tuple[str, ...]
    profession: int
    """Index of its word; so is `pronoun`."""
    pronoun: int
    pattern: str
    """Of a corpus that was mined here; else BUG's number of the query."""
    confidence: float | None
    gender: str
    """The pronoun's, in lower case."""

    @property
    def tenth(self) -> str:
        """The bin of its confidence; empty where there is none."""
        if self.confidence is None:
            return ""
        lower = min(int(10 * self.confidence), 9)
        return f"{lower / 10} to {(lower + 1) / 10}"


@frozen
class CheckedCorpus:
    """The rows of a corpus in BUG's columns that can be checked."""

    rows: tuple[CheckedRow, ...]
    left_out: int
    """Rows without a sentence, or whose index is at another word."""
    sha256: str
    """Of the file."""


def read_corpus(path: Path) -> CheckedCorpus:
    """Read a corpus in BUG's columns, one that was mined here or another.

    Raises:
        DataError: no such file; a column is missing; an index or a confidence that is no such
            number.
    """
    table = read_table(path, *_REQUIRED)
    rows = tuple(row for row in map(_row, table.records) if row is not None)
    if not rows:
        raise table.file.error(
            "expected rows with a profession and a pronoun at their indices, got none"
        )
    return CheckedCorpus(rows, len(table.records) - len(rows), table.file.sha256)


def _row(record: Record) -> CheckedRow | None:
    """None where there is no sentence, or another word at an index."""
    row = BugRow(record)
    words = tuple(row.sentence.strip().split(" "))
    if words == ("",):
        return None
    profession, pronoun = record.integer("profession_first_index"), record.integer("g_first_index")
    if not (
        stands_at(words, profession, row.profession) and stands_at(words, pronoun, record.get("g"))
    ):
        return None
    named = "\t".join([" ".join(words), str(profession), str(pronoun)])
    return CheckedRow(
        key=sha256_of(named)[:16],
        words=words,
        profession=profession,
        pronoun=pronoun,
        pattern=record.get("pattern") or record.get("data_index"),
        confidence=record.number("confidence", most=1) if record.get("confidence") else None,
        gender=GENDER_OF_PRONOUN.get(record.get("g").lower(), ""),
    )


def draw(rows: Sequence[CheckedRow], n: int, seed: int) -> list[CheckedRow]:
    """A simple random sample of `n` different rows in random order; all of them where there are
    fewer.

    With the same `seed` a smaller sample is the beginning of a larger one.
    """
    different = list({row.key: row for row in rows}.values())
    return [different[place] for place in source(seed).permutation(len(different))[:n]]


# The page


@frozen
class CheckPage:
    """A page that was written."""

    rows: int
    """Rows of the corpus that can be checked."""
    left_out: int
    """Rows without a sentence, or with another word at an index."""
    drawn: int
    out: Path
    signature: str


def write_check_page(data: Path, out: Path, rows: int = 200, seed: int = 0) -> CheckPage:
    """Write the page on which people check `rows` rows of the corpus `data`, drawn with `seed`.

    Raises:
        SettingError: `out` is no page.
        DataError: as `read_corpus`.
        RunFolderError: the page cannot be written.
    """
    if out.suffix.lower() not in {".html", ".htm"}:
        raise SettingError("out", f"expected a page that ends in .html, got {str(out)!r}")
    corpus = read_corpus(data)
    drawn = draw(corpus.rows, rows, seed)
    write_atomic(out, render_check_page(drawn, data, corpus.sha256).encode())
    signature = signature_line(
        "check", {"data": {data.name: corpus.sha256}}, {"rows": len(drawn), "seed": seed}
    )
    return CheckPage(len(corpus.rows), corpus.left_out, len(drawn), out, signature)


def render_check_page(rows: Sequence[CheckedRow], corpus: Path, sha256: str) -> str:
    """The page, one HTML file that loads nothing and sends nothing, as text to be written in UTF-8.

    It shows a sentence at a time with its profession and its pronoun, takes a judgement by a button
    or a key, keeps the judgements in the browser and gives them as a TSV. It shows neither pattern
    nor confidence, which would sway a reader.

    Args:
        rows: in the order in which they are shown.
        corpus: its file, for the title and the name of the judgements.
        sha256: of the file: the judgements are kept in the browser under this name, so that a page
            of more rows of the same corpus, at the same address, knows those that have been given.
    """
    judgements = f"{corpus.stem}.judgements.tsv"
    content = [
        {
            "key": row.key,
            "pieces": list(_pieces(row)),
            "profession": row.words[row.profession],
            "pronoun": row.words[row.pronoun],
        }
        for row in rows
    ]
    return render_page(
        "check.html", script_file="check.js", title=f"Check rows of {corpus.name}", n=len(rows), judgements=_SAID,
        data={"store": f"mtbias-check-{sha256}", "file": judgements, "rows": content},
        files=f"--data {quote(corpus.name)} --judgements {quote(judgements)}",
    )  # fmt: skip


def _pieces(row: CheckedRow) -> Iterator[tuple[str, str]]:
    """The sentence in pieces, each with the class of its mark; an empty one of text that is not
    marked.
    """
    (first, kind), (second, other) = sorted(((row.profession, "head"), (row.pronoun, "other")))
    yield "", " ".join([*row.words[:first], ""])
    yield kind, row.words[first]
    yield "", " ".join(["", *row.words[first + 1 : second], ""])
    yield other, row.words[second]
    yield "", " ".join(["", *row.words[second + 1 :]])


# Judgements


@frozen
class Precision:
    """The judgements on some rows."""

    name: str
    right: int
    wrong: int
    unsure: int
    precision: float | None
    """Right / (right + wrong), in per cent."""
    interval: Interval | None


@frozen
class ReaderAgreement:
    """The judgements of two readers on the rows that both have judged."""

    name: str
    n: int
    agreed: float | None
    """Rows with the same judgement, in per cent; why a row is wrong does not count."""
    interval: Interval | None
    kappa: float | None
    """Cohen's κ over right, wrong and unsure; None where both say the same one thing of all
    rows."""


@frozen
class CheckedSample:
    """The judgements on a corpus."""

    together: Precision
    errors: Mapping[str, int]
    """Wrong rows by `ERRORS`, where the reader says why."""
    second_reader: ReaderAgreement | None
    disagreements: Sequence[str] | None
    """Both judgements and the sentence; this and `second_reader` are None without a second
    reader."""
    by_gender: Sequence[Precision]
    """Where more rows of one gender are wrong, a system's ΔG on the corpus is off by that alone."""
    by_pattern: Sequence[Precision]
    by_confidence: Sequence[Precision]
    """By bins of confidence, from the lowest; empty where the corpus has none."""
    unknown: int
    """Judgements on rows that the corpus does not have."""
    signature: str


def read_judgements(path: Path) -> tuple[TextFile, dict[str, str]]:
    """The judgements that the page has saved, by the keys of their rows: a TSV with the columns key
    and judgement.

    Raises:
        DataError: no such file, or another one; a judgement that is none of `JUDGEMENTS`; a key
            twice.
    """
    file = read_text(path)
    table = parse_table(file)
    table.require("key", "judgement")
    by_key: dict[str, str] = {}
    for record in table.records:
        key, judgement = record.get("key"), record.get("judgement")
        if judgement not in _SAID:
            raise record.error(f"judgement: expected {', '.join(_SAID)}, got {judgement!r}")
        if key in by_key:
            raise record.error(
                f"expected one judgement a row, got a second for {key!r}; remove one of the two"
            )
        by_key[key] = judgement
    return file, by_key


def check_judgements(data: Path, judgements: Path, second: Path | None = None) -> CheckedSample:
    """What the `judgements` that the page gave say of the corpus `data`, and how far a `second`
    reader's agree.

    Raises:
        DataError: as `read_corpus` and `read_judgements`; no judgement of a reader is about a row
            of the corpus.
    """
    corpus = read_corpus(data)
    rows = {row.key: row for row in corpus.rows}
    read = [read_judgements(path) for path in (judgements, second) if path]
    for file, said in read:
        if rows.keys().isdisjoint(said):
            raise file.error(
                "expected judgements on rows of this corpus, got none; give its own --data"
            )
    by_key, *others = (
        {key: one.partition(":")[0] for key, one in said.items()} for _, said in read
    )
    judged = [row for key, row in rows.items() if key in by_key]
    twice = [
        (by_key[row.key], other[row.key], row)
        for other in others
        for row in judged
        if row.key in other
    ]
    why = Counter(read[0][1][row.key].partition(": ")[2] for row in judged)

    def by(field: str) -> list[Precision]:
        names = sorted(
            {getattr(row, field) for row in judged} - {""}
        )  # no name: the corpus does not tell
        return [
            _precision(name, [row for row in judged if getattr(row, field) == name], by_key)
            for name in names
        ]

    return CheckedSample(
        together=_precision("all", judged, by_key),
        errors={error: why[error] for error in ERRORS if error in why},
        second_reader=_agreement([(one, other) for one, other, _ in twice]) if others else None,
        disagreements=[
            f"{one}, {other}: {' '.join(row.words)}" for one, other, row in twice if one != other
        ]
        if others
        else None,
        by_gender=by("gender"),
        by_pattern=by("pattern"),
        by_confidence=by("tenth"),
        unknown=len(by_key) - len(judged),
        signature=signature_line(
            "check",
            {
                "data": {data.name: corpus.sha256},
                "judgements": {file.path.name: file.sha256 for file, _ in read},
            },
            {},
        ),
    )


def _agreement(pairs: Sequence[tuple[str, str]]) -> ReaderAgreement:
    counts = np.array([[pairs.count((one, other)) for other in JUDGEMENTS] for one in JUDGEMENTS])
    agreed, n = int(np.trace(counts)), len(pairs)
    shares = percent_of(agreed, n), wilson_percent(agreed, n)
    return ReaderAgreement("both readers", n, *shares, cohen_kappa(counts) if n else None)


def _precision(name: str, rows: Sequence[CheckedRow], judgements: Mapping[str, str]) -> Precision:
    right, wrong, unsure = (sum(judgements[row.key] == one for row in rows) for one in JUDGEMENTS)
    n = right + wrong
    return Precision(name, right, wrong, unsure, percent_of(right, n), wilson_percent(right, n))
