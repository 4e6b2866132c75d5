"""How the measure of whole persons does on persons that were labelled word by word.

    python scripts/whole_person.py --stanza-dir DIR [--lang CODE]… [--part PART] [--rows]

The labels are those of ``tests/whole_person``, whose README has the conventions and names the texts,
which are public data and no part of mtbias: they are read from the folder that ``MTBIAS_SHARED``
names (default ``../shared``). The persons of a part are aligned together with `BITEXT` further lines
of each file of translations that they come from, as they would be in a run.

Of the persons it prints, with the rows that are the denominator:

- called: the measure has a call, of all;
- precision: the label is wrong or mixed, of those that the measure calls wrong or mixed;
- recall: the measure calls wrong or mixed, of those with such a label;
- same: the call is the label, of those that have both.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import StatisticalAligner  # noqa: E402 - the paths above come first
from mtbias.evaluation.gender_calls import GenderMeasure  # noqa: E402
from mtbias.evaluation.person_calls import PersonMeasure  # noqa: E402
from mtbias.files.text_repair import repair  # noqa: E402
from mtbias.morphology.english_parser import EnglishParser  # noqa: E402
from mtbias.morphology.stanza_models import PARSER, find_package  # noqa: E402
from mtbias.scoring.whole_person import Outcome, PersonRecord  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402
from mtbias.types import Instance, Span, Stereotype  # noqa: E402
from scripts.labelled import (  # noqa: E402
    each_language,
    shared_data,
    shipped_language,
    stanza_of,
)
from scripts.whole_person_labels import (  # noqa: E402
    LANGUAGES,
    SECOND_SENTENCE,
    LabelledPerson,
    read_labels,
    texts_beside,
)

BITEXT = 500
"""Lines of a file that help the aligner."""
BAD = frozenset((Outcome.MIXED, Outcome.WRONG))

Chosen = Literal["dev", "unread", "all"]
Counts = dict[str, tuple[int, int]]


def instance_of(person: LabelledPerson, row: int) -> Instance:
    """The person as a corpus has it; of MT-GenEval's two sentences the second."""
    before, separator, second = person.source.partition(SECOND_SENTENCE)
    source, shift = (second, len(before + separator)) if separator else (person.source, 0)
    start, end = person.entity
    head = Span(start - shift, end - shift)
    return Instance(
        id=f"{person.text}@{start}",
        row=row,
        source=source,
        head=head,
        entity=source[slice(*head)].lower(),
        gold=person.gender,
        stereotype=Stereotype.NONE,
        domain=re.sub(r"-\d+$", "", person.text),
        pronouns=None,
    )


def measure_of(lang: str, stanza_dir: Path) -> PersonMeasure:
    """The measure, with the language as the checkout has it."""
    analyser = stanza_of(lang, stanza_dir)
    gender = GenderMeasure(shipped_language(lang), StatisticalAligner(), analyser)
    parser = EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")
    return PersonMeasure(gender, parser)


def judge(
    lang: str, persons: Sequence[LabelledPerson], stanza_dir: Path, data: Path
) -> list[PersonRecord]:
    """What the measure says of labelled persons, in their order."""
    instances = [instance_of(person, row) for row, person in enumerate(persons)]
    # As `mtbias eval` reads translations.
    translations = [repair(person.target).text for person in persons]
    bitext = texts_beside(lang, data, persons, BITEXT)
    return measure_of(lang, stanza_dir).judge_texts(instances, translations, bitext)


def count(persons: Sequence[LabelledPerson], records: Sequence[PersonRecord]) -> Counts:
    """(rows, of rows) by the names of the module's docstring."""
    rows = list(zip(persons, records, strict=True))
    bad_labels = [(p, r) for p, r in rows if p.outcome in BAD]
    bad_calls = [(p, r) for p, r in rows if r.outcome in BAD]
    both = [(p, r) for p, r in rows if r.outcome is not None and p.outcome != "none"]
    return {
        "called": (sum(r.outcome is not None for _, r in rows), len(rows)),
        "precision": (sum(p.outcome in BAD for p, _ in bad_calls), len(bad_calls)),
        "recall": (sum(r.outcome in BAD for _, r in bad_labels), len(bad_labels)),
        "same": (sum(p.outcome == r.outcome for p, r in both), len(both)),
    }


def line(name: str, counts: Counts) -> str:
    """The counts of one set of persons, with 95 % intervals."""
    parts = []
    for key, (rows, of) in counts.items():
        interval = wilson_percent(rows, of)
        ends = "" if interval is None else f" [{interval[0]:.0f}, {interval[1]:.0f}]"
        share = f"{100 * rows / of:5.1f} %{ends}" if of else "    –"
        parts.append(f"{key} {share} ({rows}/{of})")
    return f"{name:4} " + "  ".join(parts)


def describe(person: LabelledPerson, record: PersonRecord) -> str:
    """One row on which label and call differ."""
    target = record.translation or ""
    right, wrong = ("|".join(words) for words in (person.right, person.wrong))
    label = f"label {person.outcome} (right {right}; wrong {wrong})"
    got = f"got {record.outcome or record.reason}"
    lines = [
        f"{record.id} {person.gender}: {label}; {got} {person.note}",
        f"    {record.source}",
        f"    {target}",
    ]
    for mention in record.mentions:
        found = " ".join(target[slice(*span)] for span in mention.target) or "–"
        shown = ", ".join(
            f"{word.word} {word.gender} ({word.rule} {word.shows})" for word in mention.words
        )
        lines.append(
            f"      {mention.kind} {mention.mention} → {found}: {shown or mention.reason or '='}"
        )
    return "\n".join(lines)


def main(
    *,
    stanza_dir: Path,
    lang: list[str] | None = None,
    part: Chosen = "dev",
    rows: bool = False,
) -> int:
    """Print one line per language, and with ``--rows`` the persons on which label and call
    differ.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models, English among them.
    lang
        Only these languages.
    part
        The part of the labels that rules may be corrected by (dev), the other (unread), or all.
    rows
        List the rows that differ; never of unread ones while rules are written.
    """
    total: Counter[str] = Counter()
    rows_of: Counter[str] = Counter()

    def run(code: str) -> None:
        data = shared_data()
        persons = [p for p in read_labels(code, data) if part in (p.part, "all")]
        records = judge(code, persons, stanza_dir, data)
        counts = count(persons, records)
        print(line(code, counts), flush=True)
        for key, (found, of) in counts.items():
            total[key] += found
            rows_of[key] += of
        for person, record in zip(persons, records, strict=True):
            if rows and person.outcome != (record.outcome or "none"):
                print(describe(person, record))

    status = each_language(lang, LANGUAGES, run)
    print(line("all", {key: (total[key], rows_of[key]) for key in rows_of}))
    return status


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
