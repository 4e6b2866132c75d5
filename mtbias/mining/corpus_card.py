"""The card of a mined corpus: what is in it, what was left out, how it was made, how to evaluate with it, its limits.

Markdown beside the corpus, for those who are given it. Numbers are counted from the rows, one after the other, so that
the memory does not grow with the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from mtbias.mining.find_filters import MinedRow
from mtbias.report.tables import PrintedTable, draw, markdown_text, number
from mtbias.stats.results import percent_of

_COMMONEST = 10
_SIDES = {1: "pro-stereotypical", -1: "anti-stereotypical", 0: "no stereotype"}
_NOT_STATED = "not stated: find out before you share the corpus"

_WHAT = """\
Sentences with a profession and a gendered pronoun that a syntactic pattern ties together, mined from text by
`mtbias corpora mine` as BUG was (Levy, Lazar and Stanovsky, Findings of EMNLP 2021)."""

_COMMANDS = """\
```
mtbias eval --model opus-mt --lang de --dataset bug --data {corpus}
mtbias coref run --system stanza --model model.pt --dataset bug --data {corpus} --out clusters.jsonl
mtbias coref bug --data {corpus} --predictions clusters.jsonl
mtbias corpora check --data {corpus} --out check.html
mtbias corpora balance --dataset bug --data {corpus} --sample balanced.tsv
```"""

_LIMITS = """\
- A pattern finds a structure, not coreference: a share of the rows is wrong. mtbias's manual (docs/mining.md) has the
  precision that was measured for the patterns; that of this corpus is found with `mtbias corpora check`. The
  confidence was fitted on finds of mtbias's own patterns in other texts; it does not know how right other patterns are.
- The gender is the pronoun's, he or she; nobody else is in the corpus. Stereotypes are the majority of workers in the
  table of occupations, in its country and year.
- The sentences are those in which the patterns hold, not a sample of the texts: frequencies of professions or genders
  here are not those of the texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """What the card says that the rows do not."""

    counts: Mapping[str, int]
    """What was read and parsed: name → number, in the order in which it is shown."""
    left_out: Mapping[str, int]
    """Finds that are no rows, by reason."""
    signature: str
    licence: str | None = None
    """Of the texts, as the user states it."""
    masked: bool = False
    """Whether personal names were masked."""


@dataclass(slots=True)
class _Tally:
    rows: int = 0
    patterns: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    kinds: Counter[tuple[str, int]] = field(default_factory=Counter)
    domains: Counter[str] = field(default_factory=Counter)
    professions: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    sums: dict[tuple[str, int | None], float] = field(default_factory=dict)
    """Of the confidences, by pattern."""

    def add(self, row: MinedRow) -> None:
        self.rows += 1
        pattern = row.pattern, row.data_index
        self.patterns[pattern] += 1
        self.sums[pattern] = self.sums.get(pattern, 0.0) + row.confidence
        self.kinds[row.predicted_gender, row.stereotype] += 1
        self.domains[row.corpus] += 1
        self.professions[row.profession.lower()] += 1
        self.lengths[len(row.tokens)] += 1

    def share(self, n: int) -> str:
        return number(percent_of(n, self.rows), 1)


def card_path(corpus: Path) -> Path:
    """Where the card of a corpus stands: beside it, with the end ``.md``."""
    return corpus.with_suffix(".md")


def corpus_card(corpus: Path, rows: Iterable[MinedRow], facts: CardFacts) -> str:
    """The card of the corpus that is the file `corpus` with these `rows`."""
    tally = _Tally()
    for row in rows:
        tally.add(row)
    name = markdown_text(corpus.name)
    mean = number(sum(tally.sums.values()) / tally.rows if tally.rows else None, 2)
    licence = _NOT_STATED if facts.licence is None else markdown_text(facts.licence)
    what = [
        f"# {name}",
        _WHAT,
        "\n".join(
            [
                f"- Rows: {tally.rows:,}",
                f"- Licence of the texts: {licence}",
                f"- Personal names: {'masked' if facts.masked else 'as in the texts'}",
                f"- Precision: not measured here; mean confidence {mean}",
                f"- Signature: `{facts.signature}`",
            ]
        ),
        "## Rows",
        *_tables(tally),
        "## Read and left out",
        _counted(["", "number"], {**facts.counts, **{f"left out: {why}": n for why, n in facts.left_out.items()}}),
        "## Evaluating with it",
        _COMMANDS.format(corpus=quote(corpus.name)),
        "## Limits",
        _LIMITS,
    ]
    return "\n\n".join(what) + "\n"


def _tables(tally: _Tally) -> list[str]:
    """Counts by pattern, gender, stereotype, domain, profession, and the lengths."""
    patterns = [
        [name, "" if index is None else str(index), f"{n:,}", tally.share(n), number(tally.sums[name, index] / n, 2)]
        for (name, index), n in sorted(tally.patterns.items(), key=lambda item: (-item[1], item[0][0]))
    ]
    genders = sorted({gender for gender, _ in tally.kinds})
    kinds = [
        [gender, *(f"{tally.kinds[gender, side]:,}" for side in _SIDES),
         f"{sum(tally.kinds[gender, side] for side in _SIDES):,}"]
        for gender in genders
    ]  # fmt: skip
    common = tally.professions.most_common(_COMMONEST)
    lengths = {name: _quantile(tally.lengths, share) for name, share in _QUANTILES.items()}
    return [
        _drawn(["pattern", "data_index", "rows", "%", "mean confidence"], patterns),
        _drawn(["gender", *_SIDES.values(), "all"], kinds),
        _counted(["domain", "rows"], dict(tally.domains.most_common())),
        _counted([f"profession ({len(tally.professions):,} in all)", "rows"], dict(common)),
        _counted(["sentence", "words"], lengths),
    ]


_QUANTILES = {"shortest": 0.0, "first quartile": 0.25, "median": 0.5, "third quartile": 0.75, "longest": 1.0}


def _quantile(lengths: Counter[int], share: float) -> int:
    """The smallest length that this share of the sentences does not exceed; 0 without sentences."""
    reached = 0
    for length in sorted(lengths):
        reached += lengths[length]
        if reached >= share * lengths.total():
            return length
    return 0


def _counted(head: list[str], counts: Mapping[str, int]) -> str:
    return _drawn(head, [[name, f"{n:,}"] for name, n in counts.items()])


def _drawn(head: list[str], rows: list[list[str]]) -> str:
    return draw([PrintedTable(head, rows)], "markdown").strip()
