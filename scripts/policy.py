"""The policy (``docs/policy.md``) as sentences that are run: the same question has the same answer
in every language.

    python scripts/policy.py --stanza-dir DIR [--lang CODE]… [--evidence stanza]
    python scripts/policy.py --tables

``mtbias/reading/policy.tsv`` is the policy itself, the table that decides. Each row of
``mtbias/new_language/policy_sentences.tsv`` is a sentence with its translation: ``[ ]`` marks the
entity's head, ``{ }`` the words of the translation that show the kind and the evidence. `call` is
the gender or the reason for none that follows from kind and evidence, in whatever language. The
sentences of a language are aligned among themselves. Those of Portuguese are analysed by hand
(``tests/policy/pt.conllu``), for want of a tagger; all others by Stanza. With ``--tables`` it
prints the tables of ``docs/policy.md``, otherwise what each language gets wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.morphology.conllu_analyses import ConlluAnalyser  # noqa: E402 - the paths above come first
from mtbias.new_language.policy_rows import (  # noqa: E402
    PolicyRow,
    describe,
    is_right,
    policy_calls,
    read_policy_rows,
)
from mtbias.reading.policy import policy_lines  # noqa: E402
from mtbias.settings import EvidenceReader  # noqa: E402
from mtbias.types import GenderCall  # noqa: E402
from scripts.labelled import SHIPPED, each_language, shipped_language, stanza_of  # noqa: E402

FILE = ROOT / "mtbias" / "new_language" / "policy_sentences.tsv"
LANGUAGES = SHIPPED


def read_policy(path: Path = FILE) -> tuple[PolicyRow, ...]:
    """The rows of the policy, in order.

    Raises:
        DataError: as `read_policy_rows`.
    """
    return read_policy_rows(path, LANGUAGES)


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
        yield "| evidence | call | " + " | ".join(LANGUAGES) + " |"
        yield "|---|---|" + "---|" * len(LANGUAGES)
        own = [row for row in rows if row.kind == kind]
        for evidence in dict.fromkeys(row.evidence for row in own):
            same = [row for row in own if row.evidence == evidence]
            cells = (
                ", ".join(f"*{_cell(r)}*" for r in same if r.language == code) for code in LANGUAGES
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


def main(
    *,
    stanza_dir: Path | None = None,
    lang: list[str] | None = None,
    tables: bool = False,
    evidence: EvidenceReader = "tables",
) -> int:
    """Print what each language gets wrong, or the tables of the policy.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    tables
        Print the tables of docs/policy.md; nothing is run.
    evidence
        What tells the gender, as the option of mtbias eval.
    """
    rows = read_policy()
    if tables or stanza_dir is None:
        print("\n".join([*policy_lines_shown(), *table_lines(rows)]))
        return 0

    def run(code: str) -> None:
        outcomes = evaluate(rows, code, stanza_dir, evidence)
        wrong = [describe(row, call) for row, call in outcomes if not is_right(row, call)]
        print(
            f"{code}  {len(outcomes) - len(wrong)} of {len(outcomes)}", *wrong, sep="\n", flush=True
        )

    return each_language(lang, LANGUAGES, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
