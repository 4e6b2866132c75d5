"""Whose the words behind a comma are, and whose the article before a noun: sentences of men and of
women, and such as tell of nobody, read with Stanza's models.

Each row of ``tests/marks/CODE.tsv`` is a sentence in which ``[ ]`` marks a noun, with the gender
that it shows, ``none`` where it shows none. It prints for each language how many men and women are
called by their gender, and how many are called by a gender that the sentence does not show (a
masculine noun that is used of women, too, and beside which nothing tells, is called male by the
policy: these are counted apart). `known` has the call on a row that is known to be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mtbias.files.reading import read_table
from mtbias.language.split_texts import SplitTexts
from mtbias.new_language.policy_rows import unmarked
from mtbias.reading import decide
from mtbias.types import Alignment, Candidate, Gender, GenderCall, SourceFacts, Span, frozen
from scripts.labelled import Chosen, evidence_of, files_of, shipped_language, stanza_of

FILES = files_of("marks")
NONE = "none"
OUTCOMES = ("right", "wrong", "missed", "generic")


@frozen
class MarkedSentence:
    """One row of a file."""

    expected: str
    """A gender, or ``none``."""
    known: str
    """The call that is known to be made in its place, if any."""
    text: str
    noun: Span


def read_sentences(path: Path) -> list[MarkedSentence]:
    """The rows of the file, in order.

    Raises:
        DataError: a column is missing, or no noun is marked.
    """
    sentences = []
    for record in read_table(path, "expected", "known", "sentence").records:
        text, (noun,) = unmarked(record.raw("sentence"), "[]", record)
        sentences.append(MarkedSentence(record.get("expected"), record.get("known"), text, noun))
    return sentences


def calls_of(
    code: str, stanza_dir: Path, sentences: Sequence[MarkedSentence]
) -> list[tuple[MarkedSentence, GenderCall]]:
    """The calls on the marked nouns, as if they were surely aligned."""
    texts = SplitTexts(shipped_language(code))
    analyser = stanza_of(code, stanza_dir)
    analyser.prepare([sentence.text for sentence in sentences], lambda _: None)
    calls = []
    for sentence in sentences:
        noun = Candidate((sentence.noun,), "links+lexicon")
        alignment = Alignment("x", (noun,), (sentence.noun,), SourceFacts("sg"))
        calls.append((sentence, decide(alignment, analyser.analysis(sentence.text), texts)))
    return calls


def outcome(sentence: MarkedSentence, call: GenderCall) -> str:
    """``right``; ``wrong``, a gender that the sentence does not show; ``missed``; ``generic``, the
    masculine noun alone.
    """
    gender = NONE if call.gender is None else str(call.gender)
    if gender == sentence.expected:
        return "right"
    if call.gender is None:
        return "missed"
    telling = [piece for piece in call.evidence if piece.gender is call.gender]
    alone = all(piece.kind == "noun" for piece in telling)
    return "generic" if alone and call.gender is Gender.MALE else "wrong"


def described(sentence: MarkedSentence, call: GenderCall) -> str:
    """A wrong call with its evidence; whether the file knows it."""
    known = " (known)" if sentence.known == call.gender else ""
    return f"    {sentence.text}  {call.gender}{known} [{evidence_of(call)}]"


def marks(choice: Chosen) -> int:
    """Whose the words behind a comma and the articles before nouns are (tests/marks)."""

    def run(code: str) -> None:
        calls = calls_of(code, choice.stanza_dir, read_sentences(FILES[code]))
        counts = Counter((sentence.expected, outcome(sentence, call)) for sentence, call in calls)
        lines = []
        for expected in ("male", "female", NONE):
            own = {name: counts[expected, name] for name in OUTCOMES}
            parts = ", ".join(f"{rows} {name}" for name, rows in own.items())
            lines.append(f"{code}  {expected:6}  of {sum(own.values())}: {parts}")
        wrong = [described(*row) for row in calls if outcome(*row) == "wrong"]
        choice.show("\n".join(lines), wrong)

    return choice.each(FILES, run)
