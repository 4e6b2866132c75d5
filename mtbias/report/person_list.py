"""The persons of a run whose words disagree with the source, for pages; and one person's chain of
mentions for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mtbias.reading.rules import SAYS
from mtbias.report.report_runs import ReportRun
from mtbias.report.sentence_data import Piece, marked
from mtbias.report.tables import aligned, printable
from mtbias.scoring.whole_person import Outcome, PersonRecord, PersonWord, ReadMention

MOST_SHOWN = 40
"""The most persons on a page: the others are only in `calls.jsonl`."""
_FORMS = {"male": "masculine", "female": "feminine"}
_READ_BY = {"tagger": "read as {}"}
"""What a gender rests on where it is not the form of the word."""


def disagreeing(records: Sequence[PersonRecord]) -> list[PersonRecord]:
    """The persons with a word in the other gender, mixed ones first."""
    mixed = [record for record in records if record.outcome is Outcome.MIXED]
    return mixed + [record for record in records if record.outcome is Outcome.WRONG]


def by_run(runs: Iterable[ReportRun]) -> list[tuple[ReportRun, list[PersonRecord]]]:
    """The runs with persons who have a word in the other gender, each with these persons."""
    by_name = [(run, disagreeing(run.persons)) for run in runs]
    return [(run, persons) for run, persons in by_name if persons]


def spread(records: Sequence[PersonRecord], most: int = MOST_SHOWN) -> list[PersonRecord]:
    """At most `most` of `records`, evenly spread."""
    count = min(len(records), most)
    return [records[n * len(records) // count] for n in range(count)]


def source_pieces(record: PersonRecord) -> list[Piece]:
    """The source with its mentions marked."""
    return list(marked(record.source, [mention.source_span for mention in record.mentions]))


def target_pieces(record: PersonRecord) -> list[Piece]:
    """The translation with the words that show a gender marked, those of the other one as heads."""
    words = record.words
    wrong = [word.span for word in words if not word.right]
    right = [word.span for word in words if word.right]
    return list(marked(record.translation or "", wrong, right))


def shown_form(word: PersonWord) -> str:
    """What a word shows, for a reader: ``feminine form``, ``read as masculine``."""
    return _READ_BY.get(word.source, "{} form").format(_FORMS[word.gender])


def rendering(record: PersonRecord, mention: ReadMention) -> str:
    """The words of the translation that render a mention."""
    return " … ".join((record.translation or "")[slice(*span)] for span in mention.target)


def why_silent(mention: ReadMention) -> str:
    """Why a mention has no words of its own."""
    return mention.reason or "its words are listed above"


def chain_text(record: PersonRecord) -> str:
    """A person's chain of mentions for a terminal, ending in a newline."""
    gold = record.gold or "unknown"
    outcome = record.outcome or f"none, {record.reason}"
    rows = [["  mention", "in the source", "in the translation", "shows", "by the rule"]]
    for mention in record.mentions:
        rows += _rows(record, mention)
    lines = [
        record.source,
        record.translation or "",
        "",
        f"Mentions of {record.entity!r}, {gold} by the source, and what renders them",
        *aligned(rows, "<<<<<"),
        "",
        f"Call: {outcome}",
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _rows(record: PersonRecord, mention: ReadMention) -> Iterator[list[str]]:
    head = [f"  {mention.kind}", mention.mention, rendering(record, mention) or "–"]
    if not mention.words:
        yield [*head, why_silent(mention), ""]
    for n, word in enumerate(mention.words):
        outcome = "right" if word.right else "wrong"
        rule = ", ".join(part for part in (word.rule, SAYS[word.rule], word.shows) if part)
        yield [
            *(head if n == 0 else ["", "", ""]),
            f"{word.word}: {word.gender}, {outcome}",
            rule,
        ]
