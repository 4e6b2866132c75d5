"""Whose the words behind a comma are, and whose the article before a noun: sentences of men and of
women, and such as tell of nobody, read with Stanza's models.

    python scripts/marks.py --stanza-dir DIR [--lang CODE]…

Each row of ``tests/marks/CODE.tsv`` is a sentence in which ``[ ]`` marks a noun, with the gender
that it shows, ``none`` where it shows none. It prints for each language how many men and women are
called by their gender, and how many are called by a gender that the sentence does not show (a
masculine noun that is used of women, too, and beside which nothing tells, is called male by the
policy: these are counted apart). `known` has the call on a row that is known to be wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.files.reading import read_table  # noqa: E402 - the paths above come first
from mtbias.language.split_texts import SplitTexts  # noqa: E402
from mtbias.new_language.policy_rows import unmarked  # noqa: E402
from mtbias.reading import decide  # noqa: E402
from mtbias.types import (  # noqa: E402
    Alignment,
    Candidate,
    Gender,
    GenderCall,
    SourceFacts,
    Span,
    frozen,
)
from scripts.labelled import each_language, evidence_of, shipped_language, stanza_of  # noqa: E402

FILES = ROOT / "tests" / "marks"
LANGUAGES = tuple(sorted(path.stem for path in FILES.glob("*.tsv")))
NONE = "none"


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


def main(*, stanza_dir: Path, lang: list[str] | None = None, known: bool = False) -> int:
    """Print the counts of each language, and what is wrong.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    known
        Print the wrong calls that the files know, too.
    """

    def run(code: str) -> None:
        calls = calls_of(code, stanza_dir, read_sentences(FILES / f"{code}.tsv"))
        counts = Counter((sentence.expected, outcome(sentence, call)) for sentence, call in calls)
        for expected in ("male", "female", NONE):
            parts = [f"{counts[expected, name]} {name}" for name in _OUTCOMES]
            total = sum(counts[expected, name] for name in _OUTCOMES)
            print(f"{code}  {expected:6}  of {total}: {', '.join(parts)}", flush=True)
        for sentence, call in calls:
            is_known = sentence.known == (call.gender or NONE)
            if outcome(sentence, call) == "wrong" and (known or not is_known):
                print(f"    {sentence.text}  {call.gender} [{evidence_of(call)}]")

    return each_language(lang, LANGUAGES, run)


_OUTCOMES = ("right", "wrong", "missed", "generic")


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
