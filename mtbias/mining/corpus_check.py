"""Checking rows of a corpus by hand: the sample, the page that shows it, and the precision that the
judgements give.

A row is right where its pronoun stands for the person whom its profession names. The rows are a
simple random sample without replacement, in random order, so that whoever stops early has judged a
simple random sample too. The precision is right / (right + wrong), with Wilson's interval; rows
about which a reader is unsure are counted separately. The interval takes the corpus to be infinite:
where the sample is a large part of it, the interval is wider than it need be.
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
"""A reader's judgements of a row."""
ERRORS = ("other noun would be right", "ambiguous", "he or she", "quoted")
"""Reasons for *wrong*, the types of table 1 of BUG's paper; a reader may leave them out."""
_KEYS = {
    **{judgement: judgement[0] for judgement in JUDGEMENTS},
    **{f"wrong: {why}": str(n) for n, why in enumerate(ERRORS, 1)},
}
"""Judgement as a file has it → the key for it on the page."""

_REQUIRED = ("sentence_text", "profession", "profession_first_index", "g", "g_first_index")


@frozen
class CheckedRow:
    """A row as a reader sees it, with the properties by which judgements are grouped."""

    key: str
    """Its name in a file of judgements: a hash of the sentence and the two indices, whatever the
    row's number."""
    words: tuple[str, ...]
    profession: int
    """Index of its word; so is `pronoun`."""
    pronoun: int
    pattern: str
    """The pattern's name in a corpus that mtbias mined; else BUG's number of the query."""
    confidence: float | None
    gender: str
    """The pronoun's, in lower case."""

    @property
    def tenth(self) -> str:
        """The bin of its confidence; empty if there is none."""
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
    """SHA-256 of the file."""


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
    """The row that can be checked; None where there is no sentence, or another word at an index."""
    row = BugRow(record)
    words = tuple(row.sentence.strip().split(" "))
    if words == ("",):
        return None
    profession, pronoun = record.integer("profession_first_index"), record.integer("g_first_index")
    if not stands_at(words, profession, row.profession):
        return None
    if not stands_at(words, pronoun, record.get("g")):
        return None
    content = "\t".join([" ".join(words), str(profession), str(pronoun)])
    return CheckedRow(
        key=sha256_of(content)[:16],
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


def require_page(out: Path) -> None:
    """Refuse a file that a browser would not open as a page.

    Raises:
        SettingError: the name ends in neither ``.html`` nor ``.htm``.
    """
    if out.suffix.lower() not in {".html", ".htm"}:
        raise SettingError("out", f"expected a page that ends in .html, got {str(out)!r}")


def write_check_page(data: Path, out: Path, rows: int = 200, seed: int = 0) -> CheckPage:
    """Write the page on which people check `rows` rows of the corpus `data`, drawn with `seed`.

    Raises:
        SettingError: `out` is not a page.
        DataError: as `read_corpus`.
        RunFolderError: the page cannot be written.
    """
    require_page(out)
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
            "id": row.key,
            "pieces": list(_pieces(row)),
            "profession": row.words[row.profession],
            "pronoun": row.words[row.pronoun],
        }
        for row in rows
    ]
    return render_page(
        "check.html",
        scripts=("judging.js", "check.js"),
        title=f"Check rows of {corpus.name}",
        n=len(rows),
        judgements=_KEYS,
        data={"store": f"mtbias-check-{sha256}", "file": judgements, "texts": content},
        files=f"--data {quote(corpus.name)} --judgements {quote(judgements)}",
    )


def _pieces(row: CheckedRow) -> Iterator[tuple[str, str]]:
    """The sentence in pieces, each with the class of its mark, which is empty for unmarked text."""
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
    """Cohen's κ over right, wrong and unsure; None where both readers give one and the same
    judgement on all rows."""


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
    """Where more rows of one gender are wrong, a system's ΔG on the corpus is biased."""
    by_pattern: Sequence[Precision]
    by_confidence: Sequence[Precision]
    """The precision in bins of confidence, from the lowest; empty where the corpus has no
    confidence."""
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
        if judgement not in _KEYS:
            raise record.error(f"judgement: expected {', '.join(_KEYS)}, got {judgement!r}")
        if key in by_key:
            raise record.error(
                f"expected one judgement a row, got a second for {key!r}; remove one of the two"
            )
        by_key[key] = judgement
    return file, by_key


def hashes_of_readers(files: Sequence[TextFile]) -> dict[str, str]:
    """The SHA-256 of each reader's file, by the reader's number and its name: the page calls the
    files of all readers alike.

    Raises:
        DataError: a file stands for two readers, who would agree in everything.
    """
    paths = [file.path.resolve() for file in files]
    for n, file in enumerate(files):
        if paths[n] in paths[:n]:
            raise file.error("expected a file of each reader, got this one twice; give another")
    return {f"{n} {file.path.name}": file.sha256 for n, file in enumerate(files, 1)}


def check_judgements(data: Path, judgements: Path, second: Path | None = None) -> CheckedSample:
    """The precision of the corpus `data` by the `judgements` that the page saved, and the agreement
    with a `second` reader's.

    Raises:
        DataError: as `read_corpus` and `read_judgements`; no judgement of a reader is about a row
            of the corpus; a file is given twice.
    """
    corpus = read_corpus(data)
    rows = {row.key: row for row in corpus.rows}
    readers = [read_judgements(path) for path in (judgements, second) if path]
    for file, by_key in readers:
        if rows.keys().isdisjoint(by_key):
            raise file.error(
                "expected judgements on rows of this corpus, got none; give its own --data"
            )
    _, first = readers[0]
    checked = [row for key, row in rows.items() if key in first]
    reasons = Counter(first[row.key].partition(": ")[2] for row in checked)
    short = _without_reasons(first)

    agreement = disagreements = None
    if second:
        agreement, disagreements = _compared(checked, short, _without_reasons(readers[1][1]))
    files = {
        "data": {data.name: corpus.sha256},
        "judgements": hashes_of_readers([file for file, _ in readers]),
    }
    return CheckedSample(
        together=_precision("all", checked, short),
        errors={error: reasons[error] for error in ERRORS if error in reasons},
        second_reader=agreement,
        disagreements=disagreements,
        by_gender=_precisions("gender", checked, short),
        by_pattern=_precisions("pattern", checked, short),
        by_confidence=_precisions("tenth", checked, short),
        unknown=len(first) - len(checked),
        signature=signature_line("check", files, {}),
    )


def _without_reasons(judgements: Mapping[str, str]) -> dict[str, str]:
    return {key: judgement.partition(":")[0] for key, judgement in judgements.items()}


def _compared(
    rows: Sequence[CheckedRow], first: Mapping[str, str], second: Mapping[str, str]
) -> tuple[ReaderAgreement, list[str]]:
    """The agreement of two readers on the rows that both have judged, and their disagreements."""
    counts = np.zeros((len(JUDGEMENTS), len(JUDGEMENTS)), int)
    disagreements = []
    for row in rows:
        if row.key not in second:
            continue
        one, other = first[row.key], second[row.key]
        counts[JUDGEMENTS.index(one), JUDGEMENTS.index(other)] += 1
        if one != other:
            disagreements.append(f"{one}, {other}: {' '.join(row.words)}")
    agreed, n = int(np.trace(counts)), int(counts.sum())
    kappa = cohen_kappa(counts) if n else None
    agreement = ReaderAgreement(
        "both readers", n, percent_of(agreed, n), wilson_percent(agreed, n), kappa
    )
    return agreement, disagreements


def _precisions(
    field: str, rows: Sequence[CheckedRow], judgements: Mapping[str, str]
) -> list[Precision]:
    """The judgements by the values of a field of the rows, sorted; rows without a value count
    nowhere.
    """
    groups: dict[str, list[CheckedRow]] = {}
    for row in rows:
        groups.setdefault(getattr(row, field), []).append(row)
    groups.pop("", None)
    return [_precision(name, groups[name], judgements) for name in sorted(groups)]


def _precision(name: str, rows: Sequence[CheckedRow], judgements: Mapping[str, str]) -> Precision:
    counts = Counter(judgements[row.key] for row in rows)
    right, wrong, unsure = (counts[judgement] for judgement in JUDGEMENTS)
    n = right + wrong
    return Precision(name, right, wrong, unsure, percent_of(right, n), wilson_percent(right, n))
