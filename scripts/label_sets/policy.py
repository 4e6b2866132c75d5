"""The policy (``docs/policy.md``) as sentences that are run: the same question has the same answer
in every language.

``mtbias/reading/policy.tsv`` is the policy itself, the table that decides. Each row of
``mtbias/new_language/policy_sentences.tsv`` is a sentence with its translation: ``[ ]`` marks the
entity's head, ``{ }`` the words of the translation that show the kind and the evidence. `call` is
the gender or the reason for none that follows from kind and evidence, in whatever language. The
sentences of a language are aligned among themselves. Those of Portuguese are analysed by hand
(``tests/policy/pt.conllu``), for want of a tagger; all others by Stanza.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mtbias.morphology.conllu_analyses import ConlluAnalyser
from mtbias.new_language.policy_rows import (
    PolicyRow,
    describe,
    is_right,
    policy_calls,
    read_policy_rows,
)
from mtbias.reading.policy import policy_lines
from mtbias.settings import EvidenceReader
from mtbias.types import GenderCall
from scripts.labelled import ROOT, SHIPPED, Chosen, Evidence, shipped_language, stanza_of

FILE = ROOT / "mtbias" / "new_language" / "policy_sentences.tsv"


def read_policy(path: Path = FILE) -> tuple[PolicyRow, ...]:
    """The rows of the policy, in order.

    Raises:
        DataError: as `read_policy_rows`.
    """
    return read_policy_rows(path, SHIPPED)


def evaluate(
    rows: Sequence[PolicyRow], code: str, stanza_dir: Path, evidence: EvidenceReader = "tables"
) -> list[tuple[PolicyRow, GenderCall]]:
    """The calls on the rows of one language, aligned among themselves."""
    own = [row for row in rows if row.language == code]
    given = ROOT / "tests" / "policy" / f"{code}.conllu"
    analyser = ConlluAnalyser(given) if given.exists() else stanza_of(code, stanza_dir)
    return policy_calls(own, shipped_language(code), analyser, evidence)


def table_lines(rows: Sequence[PolicyRow]) -> Iterator[str]:
    """The lines of ``docs/policy.md`` that show the rows: a table for each kind, a line for each
    evidence.
    """
    for kind in dict.fromkeys(row.kind for row in rows):
        yield from ("", f"### {kind[0].upper()}{kind[1:]}", "")
        yield "| evidence | call | " + " | ".join(SHIPPED) + " |"
        yield "|---|---|" + "---|" * len(SHIPPED)
        own = [row for row in rows if row.kind == kind]
        for evidence in dict.fromkeys(row.evidence for row in own):
            same = [row for row in own if row.evidence == evidence]
            cells = (
                ", ".join(f"*{_cell(r)}*" for r in same if r.language == code) for code in SHIPPED
            )
            yield f"| {evidence} | {same[0].call} | " + " | ".join(cells) + " |"


def policy_lines_shown() -> Iterator[str]:
    """The policy itself for ``docs/policy.md``: a line for each line of the table that decides."""
    yield from ("", "| line | noun | evidence | shows | call |", "|---|---|---|---|---|")
    for line in policy_lines():
        yield f"| {line.number} | {line.noun} | {line.evidence} | {line.shows} | {line.call} |"


def _cell(row: PolicyRow) -> str:
    shown = " … ".join(row.pair.text[slice(*span)] for span in row.shown)
    return shown.replace("*", "\\*").replace("|", "\\|")


def policy(choice: Chosen, *, evidence: Evidence = "tables") -> int:
    """The policy as sentences: one answer to one question in every language."""
    rows = read_policy()

    def run(code: str) -> None:
        outcomes = evaluate(rows, code, choice.stanza_dir, evidence)
        wrong = [describe(row, call) for row, call in outcomes if not is_right(row, call)]
        choice.show(f"{code}  {len(outcomes) - len(wrong)} of {len(outcomes)}", wrong)

    return choice.each(SHIPPED, run)


def policy_tables() -> None:
    """The tables of docs/policy.md, as its page of the site shows them; nothing is run."""
    print("\n".join([*policy_lines_shown(), *table_lines(read_policy())]))
