"""What rests on each rule of the reading: calls of the public files, labels, and what is lost
without it.

    python scripts/rules.py --stanza-dir DIR [--cache-dir DIR] [--lang CODE]… [--rule NAME]…

Of each rule (`mtbias.reading.rules`) that a language asks it prints how many sentences of WinoMT's
public translations it held in, how many of these have another call without it, and the same of the
persons that are labelled by hand (``tests/natural``, ``tests/challenge``), with how many of those
are wrong without it and right with it, and the reverse. A rule without which no label is lost rests
on the public files alone, or on nothing. A second table has the lines of the policy
(``mtbias/reading/policy.tsv``): how many sentences each decides, and how many of the labels it has
right.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.cli.shared import Evaluator  # noqa: E402 - the paths above come first
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure, translated_part  # noqa: E402
from mtbias.language.split_texts import SplitTexts  # noqa: E402
from mtbias.reading import decide  # noqa: E402
from mtbias.reading.policy import Decision, PolicyLine, policy_lines  # noqa: E402
from mtbias.reading.rules import RULES, listening, without  # noqa: E402
from mtbias.reading.sentence_pair import Pair  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.types import Alignment, Analysis, Gender, GenderCall  # noqa: E402
from scripts import all_calls  # noqa: E402
from scripts.label_sets import challenge, natural  # noqa: E402
from scripts.labelled import files_of, shared_data  # noqa: E402


@dataclass(frozen=True)
class Row:
    """A sentence with what is read of it, and its label where it has one."""

    alignment: Alignment
    analysis: Analysis
    texts: SplitTexts
    label: Gender | None
    labelled: bool

    def whole_call(self) -> GenderCall:
        """The call, with its evidence."""
        return decide(self.alignment, self.analysis, self.texts)

    def call(self) -> Gender | None:
        """The gender that is read."""
        return self.whole_call().gender


@dataclass
class Count:
    """What rests on one rule."""

    held: Counter[bool] = field(default_factory=Counter)
    """Sentences in which it held, by whether they are labelled."""
    changed: Counter[bool] = field(default_factory=Counter)
    """Of these, those with another call without it."""
    lost: int = 0
    """Labels that are wrong without it, and right with it."""
    won: int = 0
    """The reverse."""


@dataclass
class LineCount:
    """What one line of the policy decides."""

    public: int = 0
    labels: int = 0
    right: int = 0

    def add(self, row: Row, gender: Gender | None) -> None:
        """Counts one sentence that it decides."""
        self.public += not row.labelled
        self.labels += row.labelled
        self.right += row.labelled and gender is row.label


def rows_of(measure: GenderMeasure) -> Iterator[Row]:
    """The sentences of a language, those of a set aligned together."""
    lang, data = measure.language.code, shared_data()
    for name, groups in all_calls.sets_of(lang):
        if name.startswith("winomt"):
            for group in groups:
                yield from _read(measure, group, None)
    told = [person for person in natural.read_persons(lang, data) if person.basis in "ND"]
    yield from _read(measure, [p.pair for p in told], [p.gender for p in told])
    file = files_of("challenge").get(lang)
    if file is not None:
        sentences = challenge.read_sentences(file)
        yield from _read(measure, [s.pair for s in sentences], [s.gender for s in sentences])


def _read(
    measure: GenderMeasure, pairs: Sequence[Pair], labels: Sequence[Gender | None] | None
) -> Iterator[Row]:
    texts = SplitTexts(measure.language)
    parts = [translated_part(pair) for pair in pairs]
    alignments = measure.aligner.align([part.pair for part in parts], texts)
    measure.analyse((pair.text for pair in pairs), lambda *_: None)
    for n, (pair, part, alignment) in enumerate(zip(pairs, parts, alignments, strict=True)):
        analysis = part.only(measure.analyser.analysis(pair.text))
        label = None if labels is None else labels[n]
        yield Row(alignment, analysis, texts, label, labels is not None)


@dataclass
class Heard:
    """What was asked of one sentence."""

    rules: dict[str, None] = field(default_factory=dict)
    """Names of the rules that held, in the order in which they were asked."""
    decision: Decision | None = None
    """The last of the policy."""

    def listen(self, name: str, answer: object) -> None:
        """Notes one answer."""
        if isinstance(answer, Decision):
            self.decision = answer
        elif answer != RULES[name].otherwise:
            self.rules[name] = None


def count(
    rows: Sequence[Row], only: Sequence[str] | None, lines: dict[PolicyLine, LineCount]
) -> dict[str, Count]:
    """What rests on each rule, over these sentences; those that each line of the policy decides are
    added to `lines`.
    """
    held: defaultdict[str, list[tuple[Row, Gender | None]]] = defaultdict(list)
    for row in rows:
        heard = Heard()
        with listening(heard.listen):
            call = row.whole_call()
        for name in heard.rules:
            held[name].append((row, call.gender))
        decision = heard.decision
        if decision is not None and decision.evidence == call.evidence:
            lines.setdefault(decision.line, LineCount()).add(row, call.gender)
    chosen = [name for name in RULES if name in held and (only is None or name in only)]
    return {name: _without(name, held[name]) for name in chosen}


def _without(name: str, rows: Sequence[tuple[Row, Gender | None]]) -> Count:
    counted = Count()
    with without(name):
        for row, before in rows:
            after = row.call()
            counted.held[row.labelled] += 1
            counted.changed[row.labelled] += after is not before
            if row.labelled:
                right, right_without = before is row.label, after is row.label
                counted.lost += right and not right_without
                counted.won += right_without and not right
    return counted


def table(counts: dict[str, Count]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield "| rule | held | changed without it | labels | changed | lost | won |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, counted in counts.items():
        public = f"{counted.held[False]:,} | {counted.changed[False]:,}"
        labels = f"{counted.held[True]:,} | {counted.changed[True]:,}"
        yield f"| `{name}` | {public} | {labels} | {counted.lost} | {counted.won} |"


def policy_table(lines: dict[PolicyLine, LineCount]) -> Iterator[str]:
    """The lines of the policy with what each decides, as a table in Markdown."""
    yield "| line of the policy | sentences | labels | right |"
    yield "| --- | ---: | ---: | ---: |"
    for line in policy_lines():
        counted = lines.get(line, LineCount())
        yield f"| {line} | {counted.public:,} | {counted.labels:,} | {counted.right:,} |"


def main(
    *,
    evaluator: Evaluator = EvaluatorSettings(),
    lang: list[str] | None = None,
    rule: list[str] | None = None,
) -> None:
    """Print the table, of all languages together."""
    total: dict[str, Count] = {}
    lines: dict[PolicyLine, LineCount] = {}
    for code in lang or all_calls.LANGUAGES:
        measure = GENDER_MEASURE.open(MeasureOptions(lang=code, settings=evaluator, device="cpu"))
        for name, counted in count(list(rows_of(measure)), rule, lines).items():
            known = total.setdefault(name, Count())
            known.held += counted.held
            known.changed += counted.changed
            known.lost += counted.lost
            known.won += counted.won
        print(f"{code} read", file=sys.stderr, flush=True)
    ordered = {name: total[name] for name in RULES if name in total}
    print("\n".join(table(ordered)))
    print("\n".join(["", *policy_table(lines)]))
    print(f"\nNever held: {', '.join(name for name in RULES if name not in total)}")


if __name__ == "__main__":
    app = cyclopts.App(help_format="plaintext", version_flags=[])
    app.default(main)
    app()
