"""The sentences of a page as data for its script (``page.js``), which writes them as text; their
list.

JSON in blocks of rows, each compressed with gzip and in base 64; a browser unpacks the blocks whose
rows it shows.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from operator import attrgetter
from typing import TypeVar

from mtbias.reading import says
from mtbias.reading.rules import SAYS
from mtbias.report.call_steps import (
    WHY,
    PieceOfEvidence,
    piece_of_evidence,
    shell_word,
    why_taken,
    word_read,
)
from mtbias.report.report_runs import ReportRun, Sentence
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.bias import pronoun_class
from mtbias.scoring.statements import PERSONS
from mtbias.types import NAMES_BOTH, Evidence, Gender, JsonDict, Reason, Span, Stereotype

GENDERS = [gender.value for gender in Gender]
UNKNOWN = "unknown"
"""The gold gender of a sentence whose source shows none."""
CALLS = [*GENDERS, *(reason.value for reason in Reason)]

BLOCK = 1024
"""Rows of a block: fewer compress worse, more take longer to show one of them."""

LONGEST_ANSWER = 2000
"""Of a longer answer of a language model, a page shows the beginning; `translations.jsonl` has all
of it."""

_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

Piece = str | tuple[str, str]
"""Text, or marked text with its kind before it: ``head`` or ``other``."""

Row = TypeVar("Row")

Columns = Mapping[str, tuple[list[str], list[int]]]


def columns(shown: Sequence[Sentence]) -> Columns:
    """What is filtered by: the values of each property, and for each sentence the place of its
    value.
    """
    firsts = [sentence.first for sentence in shown]
    numbers = sorted({r.pronouns for r in firsts}, key=lambda n: -1 if n is None else n)
    golds = [*GENDERS, UNKNOWN] if any(r.gold is None for r in firsts) else GENDERS
    properties: dict[str, tuple[list[str], Callable[[CallRecord], str]]] = {
        "gold": (golds, lambda r: r.gold or UNKNOWN),
        "stereotype": ([kind.value for kind in Stereotype], lambda r: r.stereotype.value),
        "entity": (sorted({r.entity for r in firsts}), lambda r: r.entity),
        "domain": (sorted({r.domain for r in firsts}), lambda r: r.domain),
        "pronouns": ([pronoun_class(n) for n in numbers], lambda r: pronoun_class(r.pronouns)),
    }
    filters = {}
    for name, (values, value_of) in properties.items():
        place = {value: i for i, value in enumerate(values)}
        filters[name] = values, [place[value_of(r)] for r in firsts]
    return filters


def script_data(
    rows: Sequence[Row],
    columns: Columns,
    runs: Iterable[tuple[str, str, str, Sequence[int | None]]],
    block: Callable[[Sequence[Row]], JsonDict],
) -> JsonDict:
    """What the script reads of a list of sentences: what is filtered by (a number a row), and the
    texts in blocks.

    `runs` have each its language, the direction of writing, its name, and its call of each row as a
    place in ``calls``, None where it does not have the row; `block` makes the content of some rows.
    """
    return {
        "rows": len(rows),
        "block": BLOCK,
        "columns": {
            name: {"values": values, "at": packed(at)} for name, (values, at) in columns.items()
        },
        "runs": [
            {"name": name, "lang": lang, "dir": way, "call": packed(calls)}
            for lang, way, name, calls in runs
        ],
        "blocks": [packed(block(rows[at : at + BLOCK])) for at in range(0, len(rows), BLOCK)],
    }


def data(runs: Sequence[ReportRun], shown: Sequence[Sentence], columns: Columns) -> JsonDict:
    """All that the script reads of translations."""

    def calls(at: int) -> list[int | None]:
        records = (sentence.records[at] for sentence in shown)
        return [
            None if r is None else CALLS.index(str(r.call.gender or r.call.reason)) for r in records
        ]

    called = [(run.lang, run.direction, run.name, calls(at)) for at, run in enumerate(runs)]
    source = runs[0].source_lang
    texts = script_data(shown, columns, called, partial(_block, runs=runs))
    why = [WHY.get(call, "") for call in CALLS]
    explanations = {"why": why, "explain": [run.explain for run in runs]}
    named = {"genders": GENDERS, "persons": PERSONS, "calls": CALLS}
    return {**named, **explanations, "source": source, **texts}


def packed(content: object) -> str:
    """JSON in gzip in base 64; the same content gives the same text."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _block(rows: Sequence[Sentence], runs: Sequence[ReportRun]) -> JsonDict:
    """Like beside like takes less place: the source of a sentence and its renderings, and each
    piece of evidence once.

    ``text`` has them for each row; ``evidence`` the places of the pieces in ``pieces``, for each
    row and run, and ``how`` the places of what else is told of a call in ``hows``; ``answer`` is
    there for runs of language models only, ``quoted`` for ids that a shell would not take as they
    are.
    """
    pieces, hows = _Numbering(), _Numbering()
    texts, evidence, how, answers = [], [], [], []
    for sentence in rows:
        records = sentence.records
        source = list(marked(sentence.first.source, entity_spans(sentence.first)))
        texts.append([source, *map(_target, records)])
        evidence.append([pieces.places(_evidence(record)) for record in records])
        how.append(hows.places(map(_how, records)))
        answers.append(list(map(_answer, records, [run.answers for run in runs])))
    ids = [sentence.first.id for sentence in rows]
    words = map(shell_word, ids)
    quoted = {at: word for at, word in enumerate(words) if word != ids[at]}
    return {
        "id": [_clean(id_) for id_ in ids],
        "text": texts,
        "evidence": evidence,
        "pieces": list(pieces),
        "how": how,
        "hows": list(hows),
        **({"quoted": quoted} if quoted else {}),
        **({"answer": answers} if any(run.answers for run in runs) else {}),
    }


class _Numbering(dict[tuple[str, ...], int]):
    """Numbers for different texts, in the order in which they first come."""

    def places(self, items: Iterable[tuple[str, ...]]) -> list[int]:
        """The number of each item; a new one gets the next."""
        return [self.setdefault(item, len(self)) for item in items]


def _answer(record: CallRecord | None, answers: Mapping[str, str]) -> str:
    """The whole answer, in lines, cut where it is long; empty where it is not more than the
    translation.
    """
    answer = "" if record is None else answers.get(record.id, "")
    shown = "\n".join(map(_clean, answer[:LONGEST_ANSWER].splitlines()))
    return shown if len(answer) <= LONGEST_ANSWER else f"{shown} … ({len(answer):,} characters)"


def entity_spans(record: CallRecord) -> list[Span]:
    """Where the entity's name occurs in the source, as whole words in any case."""
    return [Span(*match.span()) for match in _phrase(record.entity).finditer(record.source)]


@cache
def _phrase(entity: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, entity.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


def _target(record: CallRecord | None) -> list[Piece]:
    if record is None or record.translation is None:
        return []
    return list(marked(record.translation, record.call.target[:1], record.call.target[1:]))


def marked(text: str, heads: Iterable[Span], others: Iterable[Span] = ()) -> Iterator[Piece]:
    """A text in pieces, marked and not; of marks that overlap, a head's wins, else the first."""
    text, at, heads = _clean(text), 0, list(heads)
    kinds = [(span, "head") for span in heads]
    kinds += [(span, "other") for span in others if not any(map(span.overlaps, heads))]
    for (start, end), kind in sorted(kinds):
        if start >= at:
            if start > at:
                yield text[at:start]
            yield kind, text[start:end]
            at = end
    if at < len(text):
        yield text[at:]


_PARTS = attrgetter(*(each.name for each in fields(PieceOfEvidence)))


def _evidence(record: CallRecord | None) -> list[tuple[str, ...]]:
    """For each word that was looked at: what it shows in words, and the parts of the fold."""
    pieces = []
    for evidence in record.call.evidence if record else ():
        parts = (evidence_words(evidence), *_PARTS(piece_of_evidence(evidence)))
        pieces.append(tuple(map(_clean, parts)))
    return pieces


def _how(record: CallRecord | None) -> tuple[str, ...]:
    """Why the word that was read was taken, in words and in code; what Stanza's features show."""
    if record is None:
        return ()
    return (*why_taken(record.call), str(record.call.stanza_gender or ""))


_FORMS = {Gender.MALE: "masculine", Gender.FEMALE: "feminine", Gender.NEUTRAL: "neutral"}
_SHOWN = {"tagger": "read as {}", "stanza": "read as {}"}
"""What a gender rests on where it is not the form of the word."""


def evidence_words(evidence: Evidence) -> str:
    """What a word shows: ``feminine form``, ``one form for both genders``, ``no gender shown``."""
    rule_text = SAYS[evidence.rule]
    if evidence.rule in NAMES_BOTH:
        return rule_text
    if evidence.gender is not None:
        text = _SHOWN.get(evidence.source, "{} form").format(_FORMS[evidence.gender])
        return f"{text}, also used of women" if evidence.rule == "generic_masculine" else text
    # Endings and features are codes, and no words.
    in_words = evidence.source in ("alignment", "lexicon") or evidence.rule == "foreign_word"
    return rule_text if in_words and rule_text else "no gender shown"


def evidence_code(evidence: Evidence) -> str:
    """What a word shows, with its source and what the form shows: ``female (lexicon, feminine:
    Ärztin)``.
    """
    shown = ", ".join(part for part in (evidence.source, says(evidence)) if part)
    return f"{evidence.gender or 'silent'} ({shown})"


def _clean(text: str) -> str:
    """The text without control characters and halves of letters, which no page can show; of the
    same length.
    """
    return _NOT_TEXT.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


# The list of sentences as pages have it: what its filters offer, its data, and as many sentences as
# fit.

MAX_BYTES = 500_000
"""Above this a page, which people mail around, holds fewer sentences and says so."""

_LEAST_BYTES = 40
"""A sentence takes more than these."""

FIRST = 5
"""Sentences that can be read without the script; `FIRST_OF_MANY` on a page of three runs or more.
"""
FIRST_OF_MANY = 3

_ORDER = {"wrong": 0, "none": 1, "right": 2, "called": 3}


def outcome(record: CallRecord | None) -> str:
    """``right``, ``wrong``, ``none`` for no call, ``called`` where nothing is right or wrong."""
    if record is None or record.call.gender is None:
        return "none"
    if record.gold is None:
        return "called"
    return "right" if record.call.gender is record.gold else "wrong"


def sentence_list(
    runs: Sequence[ReportRun], shown: Sequence[Sentence], total: int
) -> tuple[Columns, JsonDict]:
    """The columns to filter by, and what templates show of the list of sentences
    (``sentences.html``), with its ``data`` for the script.

    `shown` are the sentences that the page holds, of `total`. They are in the order of their
    sources: those that differ in a pronoun are neighbours, and take half the space.
    """
    shown = sorted(shown, key=lambda sentence: sentence.first.source.casefold())
    filtered = columns(shown)
    wrong_first = sorted(shown, key=lambda sentence: _ORDER[outcome(sentence.records[0])])
    return filtered, {
        "data": data(runs, shown, filtered),
        "columns": filtered,
        "shown": len(shown),
        "total": total,
        "first": wrong_first[: FIRST if len(runs) < FIRST_OF_MANY else FIRST_OF_MANY],
        "outcome": outcome,
        "pieces": marked,
        "entity_spans": entity_spans,
        "evidence_words": evidence_words,
        "shown_pieces": lambda call: map(piece_of_evidence, call.evidence),
        "why_taken": why_taken,
        "word_read": word_read,
        "shell_word": shell_word,
        "unmarked": sum(not entity_spans(sentence.first) for sentence in shown),
        "genders": GENDERS,
        "persons_named": PERSONS,
        "calls": CALLS,
        "reasons": [f"none: {reason}" for reason in CALLS[len(GENDERS) :]],
    }


def fitting(page: Callable[[Sequence[Row]], str], sentences: Sequence[Row], max_bytes: int) -> str:
    """The page of all sentences, or of as many, spread evenly over them, as make it no larger than
    `max_bytes`.

    Without any sentence the page is as large as it is.
    """
    count, frame = min(len(sentences), max_bytes // _LEAST_BYTES), 0
    while True:
        shown = [sentences[i * len(sentences) // count] for i in range(count)]
        text = page(shown)
        size = len(text.encode())
        if size <= max_bytes or not shown:
            return text
        frame = frame or len(page([]).encode())
        count = min(count - 1, int(count * 0.97 * max(max_bytes - frame, 0) / (size - frame)))
