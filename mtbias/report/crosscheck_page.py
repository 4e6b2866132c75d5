"""What `mtbias crosscheck` shows: the table of two measures, and the sentences on which they differ, as text and page.

The page is one HTML file that needs nothing else and has no script. No number is computed here. Everything that comes
from files is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mtbias.language.definition import Direction
from mtbias.report import page
from mtbias.report.sentence_data import Piece, entity_spans, evidence_code, evidence_words, marked
from mtbias.report.tables import PrintedTable, as_text, interval_text, number_text, printable
from mtbias.scoring.crosscheck import BY_PERSONS, BY_WORDS, CheckedSentence, Crosscheck
from mtbias.types import Span

MAX_ROWS = 2000
"""More sentences than these are not shown, and the page says so."""

HEAD = ("by words \\ by persons", *BY_PERSONS)


def render_crosscheck(found: Crosscheck) -> str:
    """The table with the agreement below it, for a terminal."""
    table = PrintedTable(
        HEAD,
        [[name, *(f"{found.table[name][column]:,}" for column in BY_PERSONS)] for name in BY_WORDS],
        title=f"{found.system} in {found.lang}: {len(found.sentences):,} sentences",
        notes=(agreement_text(found), *(f"Signature: {text}" for text in found.signatures.values())),
    )
    return as_text(table)


def agreement_text(found: Crosscheck) -> str:
    """The agreement in a sentence."""
    share = f"{number_text(found.agreement.value)} % {interval_text(found.agreement.interval)}".rstrip()
    return (
        f"The measures agree on {share} of the {found.agreement.n:,.0f} sentences that both decide, and differ on "
        f"{len(found.differing):,}"
    )


def render_differing(sentences: Sequence[CheckedSentence]) -> str:
    """Sentences with the words and evidence of both measures, some lines each."""
    blocks = []
    for sentence in sentences:
        words = sentence.words
        right, wrong = (" ".join(found) or "–" for found in (words.evidence.right, words.evidence.wrong))
        lines = [
            f"{words.id}: {sentence.by_words} by words, {sentence.by_persons} by persons",
            f"  source       {words.source}",
            f"  translation  {words.translation}",
            f"  reference    {words.reference}",
            f"  words        right: {right}; wrong: {wrong}",
            *(f"  person       {_person(record)}" for record in sentence.persons),
        ]
        blocks.append("".join(f"{printable(line)}\n" for line in lines))
    return "\n".join(blocks)


def _person(record: Any) -> str:  # noqa: ANN401 - a record of the measure
    call = record.call
    evidence = "; ".join(f"{e.kind} {e.word}: {evidence_code(e)}" for e in call.evidence) or "no evidence"
    return f"{record.entity} ({record.gold}): {call.gender or call.reason} [{evidence}]"


def render_crosscheck_page(found: Crosscheck, direction: Direction) -> str:
    """The page, as text to be written in UTF-8. `direction`: in which the language is written."""
    differing = sorted(found.differing, key=lambda sentence: sentence.by_words != "wrong")  # the others are few
    content: dict[str, tuple[str, Any]] = {
        "table": ("Sentences by both measures", True),
        "differing": ("Where the measures differ", differing),
        "how": ("How it was made", True),
    }
    return page.render_page(
        "crosscheck.html",
        title=f"Words of references and genders of persons: {printable(found.system)} in {found.lang}",
        sections={key: part for key, part in content.items() if part[1]},
        found=found,
        head=HEAD,
        by_words=BY_WORDS,
        by_persons=BY_PERSONS,
        agreement=agreement_text(found),
        direction=direction,
        most=MAX_ROWS,
        source_pieces=source_pieces,
        translation_pieces=translation_pieces,
        evidence_words=evidence_words,
        evidence_code=evidence_code,
    )


def source_pieces(sentence: CheckedSentence) -> list[Piece]:
    """The source with its persons marked."""
    return list(marked(sentence.words.source, [span for r in sentence.persons for span in entity_spans(r)]))


def translation_pieces(sentence: CheckedSentence) -> list[Piece]:
    """The translation with its marks: the persons' heads, and paler the words of the other reference."""
    text = sentence.words.translation or ""
    heads = [span for record in sentence.persons for span in record.call.target[:1]]
    others = [span for word in sentence.words.evidence.wrong for span in _places(word, text)]
    return list(marked(text, heads, others))


def _places(word: str, text: str) -> list[Span]:
    """Where a word stands: as it is written, else in any case, for one variant lower-cases the words."""
    found = (re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags) for flags in (0, re.IGNORECASE))
    exact, any_case = ([Span(*match.span()) for match in matches] for matches in found)
    return exact or any_case
