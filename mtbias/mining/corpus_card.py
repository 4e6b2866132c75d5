"""The card of a mined corpus: what is in it, what was left out, how it was made, how to evaluate with it, its limits.

Markdown beside the corpus, for those who are given it. Numbers are counted from the rows, one after the other, so that
the memory does not grow with the corpus.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote

from mtbias.mining.mined_rows import MinedRow
from mtbias.report.tables import PrintedTable, draw, markdown_text, number
from mtbias.stats.results import percent_of

_COMMONEST = 10
_SIDES = {1: "pro-stereotypical", -1: "anti-stereotypical", 0: "no stereotype"}

_CARD = """\
# {name}

Sentences with a profession and a gendered pronoun that a syntactic pattern ties together, mined from text by
`mtbias corpora mine` as BUG was (Levy, Lazar and Stanovsky, Findings of EMNLP 2021).

- Rows: {rows:,}
- Licence of the texts: {licence}
- Precision: not measured here; mean confidence {confidence}
- Signature: `{signature}`

## Rows

{tables}

## Read and left out

{counts}

## Evaluating with it

```
mtbias eval --model opus-mt --lang de --dataset bug --data {file}
mtbias coref run --system stanza --model model.pt --dataset bug --data {file} --out clusters.jsonl
mtbias coref score bug --data {file} --predictions clusters.jsonl
mtbias corpora check --data {file} --out check.html
mtbias corpora balance --dataset bug --data {file} --out balanced.tsv
```

## Limits

- A pattern finds a structure, not coreference: a share of the rows is wrong. mtbias's manual (docs/mining.md) has the
  precision that was measured for the patterns; that of this corpus is found with `mtbias corpora check`. The
  confidence was fitted on finds of mtbias's own patterns in other texts; it does not know how right other patterns are.
- The gender is the pronoun's, he or she; nobody else is in the corpus. Stereotypes are the majority of workers in the
  table of occupations, in its country and year.
- The sentences are those in which the patterns hold, not a sample of the texts: frequencies of professions or genders
  here are not those of the texts.
"""


class RowCounts:
    """What a card counts in the rows of a corpus."""

    def __init__(self) -> None:
        self.rows = 0
        self._patterns: Counter[tuple[str, int | None]] = Counter()
        self._confidence: defaultdict[tuple[str, int | None], float] = defaultdict(float)
        """Sums, by pattern."""
        self._sides: Counter[str] = Counter()
        self._domains: Counter[str] = Counter()
        self._professions: Counter[str] = Counter()
        self._lengths: Counter[str] = Counter()

    def counted(self, rows: Iterable[MinedRow]) -> Iterator[MinedRow]:
        """The same rows, each counted as it goes by."""
        for row in rows:
            self.rows += 1
            pattern = row.pattern, row.data_index
            self._patterns[pattern] += 1
            self._confidence[pattern] += row.confidence
            self._sides[f"{row.predicted_gender}, {_SIDES[row.stereotype]}"] += 1
            self._domains[row.corpus] += 1
            self._professions[row.profession.lower()] += 1
            tens = row.sentence_text.count(" ") // 10 * 10
            self._lengths[f"{tens + 1} to {tens + 10}"] += 1
            yield row

    def card(
        self, corpus: Path, read: Mapping[str, int], left_out: Mapping[str, int], signature: str, licence: str | None
    ) -> str:
        """The card of the `corpus` with these rows.

        Args:
            corpus: its file.
            read: what was read and parsed, in the order in which it is shown.
            left_out: finds that are no rows, by reason.
            signature: of the corpus.
            licence: of the texts, as the user states it.
        """
        stated = "not stated: find out before you share the corpus" if licence is None else markdown_text(licence)
        return _CARD.format(
            name=markdown_text(corpus.name),
            rows=self.rows,
            licence=stated,
            confidence=number(sum(self._confidence.values()) / self.rows if self.rows else None, 2),
            signature=signature,
            tables="\n\n".join(self._tables()),
            counts=_counted("", "number", {**read, **{f"left out: {why}": n for why, n in left_out.items()}}),
            file=quote(corpus.name),
        )

    def _tables(self) -> Iterator[str]:
        """Counts by pattern, gender, stereotype, domain, profession, and length."""
        patterns = [
            [name, "" if index is None else str(index), f"{n:,}", number(percent_of(n, self.rows), 1),
             number(self._confidence[name, index] / n, 2)]
            for (name, index), n in sorted(self._patterns.items(), key=lambda item: (-item[1], item[0][0]))
        ]  # fmt: skip
        yield _table(["pattern", "data_index", "rows", "%", "mean confidence"], patterns)
        yield _counted("gender and stereotype", "rows", self._sides)
        yield _counted("domain", "rows", self._domains)
        yield _counted(f"profession ({len(self._professions):,} in all)", "rows", self._professions)
        yield _counted("words of the sentence", "rows", self._lengths)


def _counted(what: str, of: str, counts: Mapping[str, int]) -> str:
    """A table of counts; the largest ones of rows."""
    items = counts.most_common(_COMMONEST) if isinstance(counts, Counter) else counts.items()
    return _table([what, of], [[name, f"{n:,}"] for name, n in items])


def _table(head: list[str], rows: list[list[str]]) -> str:
    return draw([PrintedTable(head, rows)], "markdown").strip()
