"""The description of a corpus, and samples of it in which the sentences of men and of women differ
in gender alone.

A description has size, vocabulary, lengths, pronouns and distances, as in BUG's paper.

Samples are drawn by exact matching: as many sentences of men as of women in every cell, a
combination of classes of all properties (`mtbias.scoring.weighted.weigh`, for ``mtbias compare
--weighted``, gives weights with the same effect). Or BUG's balanced part: as many sentences of
either gender with either stereotype.

Source: Levy, Lazar and Stanovsky, Findings of EMNLP 2021, table 2, figures 3 to 5 and section 3,
and for the balanced part src/evaluations/Analyze.py of github.com/SLAB-NLP/BUG; Stuart,
*Statistical Science* 25 (2010), for exact matching.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.corpora.bug import FILES
from mtbias.corpora.corpus import Corpus
from mtbias.corpora.own_sentences import write_custom
from mtbias.english.vocabulary import different_words
from mtbias.errors import DataError
from mtbias.files.reading import Record, read_table
from mtbias.files.writing import check_table_name, signature_line, write_table
from mtbias.scoring.weighted import ALL_PROPERTIES, PROPERTIES, properties_of
from mtbias.stats.results import source
from mtbias.types import Described, Gender, Instance, Stereotype, frozen

if TYPE_CHECKING:
    import pandas as pd

GENDERS = (Gender.MALE, Gender.FEMALE)
"""The two groups, in the order of their values."""
QUARTERS = tuple(product((Gender.FEMALE, Gender.MALE), (Stereotype.PRO, Stereotype.ANTI)))


@frozen
class Sample:
    """A sample of sentences."""

    chosen: tuple[int, ...]
    """Positions of the sentences, in the corpus's order."""
    facts: Mapping[str, int]
    """Counts of the sentences and cells from which they were drawn, by name."""


def matched_sample(rows: Sequence[Described], properties: Sequence[str], seed: int) -> Sample:
    """The largest sample with as many sentences of men as of women in every cell of `properties`,
    drawn at random.

    A cell has the sentences with the same classes in all properties
    (`mtbias.scoring.weighted.properties_of`); of the gender with more of them, as many are drawn as
    the other has. Quartiles are those of both genders together.

    Raises:
        DataError: no cell has sentences of both genders; a property that no sentence has.
    """
    places = [n for n, row in enumerate(rows) if row.gold in GENDERS]
    by_property = properties_of([rows[n] for n in places], properties)
    for name, column in by_property.items():
        if all(value is None for value in column):
            raise DataError(
                f"expected sentences with a {name}, got none in this corpus; leave {name} out"
            )

    cells: dict[tuple[str | None, ...], tuple[list[int], list[int]]] = {}
    classes = zip(*by_property.values(), strict=True) if by_property else [()] * len(places)
    for place, cell in zip(places, classes, strict=True):
        cells.setdefault(cell, ([], []))[rows[place].gold is Gender.FEMALE].append(place)

    rng = source(seed)
    chosen: list[int] = []
    matched = 0
    for sides in cells.values():
        n = min(map(len, sides))
        matched += n > 0
        for side in sides:
            chosen += side if len(side) == n else rng.choice(side, n, replace=False).tolist()
    if not chosen:
        names = ", ".join(properties)
        raise DataError(
            f"no sentence of a man is like one of a woman in {names}; ask for fewer properties"
        )
    facts = {"cells of like sentences": len(cells), "with both genders": matched}
    return Sample(tuple(sorted(chosen)), facts)


def balanced_part(rows: Sequence[Described], seed: int) -> Sample:
    """BUG's balanced part: as many rows of either gender and of either stereotype, drawn at random.

    The authors take all n rows with a feminine pronoun and a feminine stereotype, and draw n from
    each of the other three quarters without a seed. Here n is the size of the smallest quarter,
    whichever it is (their program does not check), the draw has a seed, and the gender is what the
    row says, whatever the case of its pronoun (theirs compares in lower case, so that rows with
    *He*, *She*, *His*, *Her* at the beginning of a sentence never enter).

    Raises:
        DataError: a quarter has no row; the message has the number of each.
    """
    places: dict[tuple[Gender, Stereotype], list[int]] = {quarter: [] for quarter in QUARTERS}
    for place, row in enumerate(rows):
        for quarter in QUARTERS:
            if (row.gold, row.stereotype) == quarter:
                places[quarter].append(place)
    sizes = {f"{gender} {side}": len(own) for (gender, side), own in places.items()}
    n = min(sizes.values())
    if n == 0:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise DataError(
            f"expected rows of both genders with both stereotypes, got {counts}:"
            " nothing is balanced"
        )
    rng = source(seed)
    chosen: list[int] = []
    for own in places.values():
        chosen += rng.choice(own, n, replace=False).tolist()
    return Sample(tuple(sorted(chosen)), {f"before, {name}": size for name, size in sizes.items()})


@frozen
class BalancedCorpus:
    """A sample that was written."""

    sentences: Mapping[str, int]
    """Numbers of sentences by name: in the corpus, of either gender, in the cells or quarters from
    which the sample was drawn, in the sample."""
    notes: Mapping[str, int]
    """Notes of the corpus's reader (`Corpus.notes`), such as rows that it left out."""
    out: Path
    signature: str


def balance_corpus(
    corpus: Corpus[Instance],
    out: Path,
    over: Sequence[str] | None = None,
    *,
    quarters: bool = False,
    seed: int = 0,
) -> BalancedCorpus:
    """Write a sample of `corpus` in which sentences of men and of women are alike.

    Args:
        corpus: as `mtbias.corpora.load_entities` reads it.
        out: a table, with the corpus's own columns where it is BUG or was mined, else with those
            of own sentences (`mtbias.corpora.own_sentences`).
        over: the properties that are balanced, of `ALL_PROPERTIES`; None: pronouns, distance,
            length and domain, where they vary.
        quarters: draw BUG's balanced part instead.
        seed: of the draw.

    Raises:
        SettingError: `out` is not a table.
        OutputError: `out` is the corpus.
        DataError: nothing can be balanced.
        RunFolderError: `out` cannot be written.
    """
    check_table_name(out)
    rows = [instance for instance in corpus.instances if instance.gold in GENDERS]
    by_property = properties_of(rows, over or PROPERTIES)
    properties = [name for name in ALL_PROPERTIES if name in by_property]
    if not over:
        properties = [name for name in properties if len(set(by_property[name])) > 1]
    sample = balanced_part(rows, seed) if quarters else matched_sample(rows, properties, seed)
    _write(corpus, [rows[n] for n in sample.chosen], out)

    options = {
        "dataset": corpus.name,
        "groups": "male+female",
        "method": "quarters" if quarters else "sample",
        "over": "gender+stereotype" if quarters else "+".join(properties) or "nothing",
        "seed": seed,
    }
    signature = signature_line("balance", {"data": corpus.files}, options)
    sentences = {"in the corpus": len(corpus.instances)}
    for gender in GENDERS:
        sentences[str(gender)] = sum(row.gold is gender for row in rows)
    sentences |= {**sample.facts, "in the sample": len(sample.chosen)}
    return BalancedCorpus(sentences, corpus.notes, out, signature)


def _write(corpus: Corpus[Instance], chosen: Sequence[Instance], out: Path) -> None:
    """Write the sample, in the corpus's columns where it is one of BUG's, else in those of own
    sentences.
    """
    if corpus.name in FILES:
        table = read_table(corpus.path)
        records = (table.records[instance.row] for instance in chosen)
        write_table(out, (_cells(record, table.columns) for record in records))
        return
    ids = {instance.id for instance in chosen}
    sentences = []
    for instance in chosen:
        # A link to a sentence that is not in the sample would be refused.
        pair = instance.pair if instance.pair in ids else None
        control = instance.control if instance.control in ids else None
        sentences.append(replace(instance, pair=pair, control=control))
    write_custom(out, sentences)


def _cells(record: Record, columns: Sequence[str]) -> dict[str, str]:
    return {name: record.raw(name).rstrip() for name in columns}


_NUMBERS = {"length": 5, "distance": 5, "pronouns": 1, "corpus_pronouns": 1}
"""Property of a sentence that is a number → the width of the classes in its histogram."""


@frozen
class PropertyMean:
    """The mean of a number over some sentences."""

    property: str
    """length: words between white space; distance: words between entity and pronoun; pronouns:
    gendered ones, as mtbias counts them; corpus_pronouns: the corpus's own count."""
    of: str
    """``all``, or a stereotype."""
    mean: float
    deviation: float
    """Standard deviation of the population."""
    n: int


@frozen
class CorpusDescription:
    """The description of a corpus."""

    sentences: int
    vocabulary: int
    """Different words, as BUG's table 2 counts them (`mtbias.english.vocabulary`)."""
    genders: Sequence[str]
    means: Sequence[PropertyMean]
    """Means of the numbers that the corpus has."""
    histograms: Sequence[Mapping[str, str | int]]
    """For each class of each property, the number of sentences of each of `genders`. The classes
    of `occupation` are whether mostly men or mostly women have it, by the corpus's stereotypes."""
    notes: Mapping[str, int]
    """Notes of the corpus's reader (`Corpus.notes`), such as rows that it left out."""
    signature: str


def _majority(row: Instance) -> str | None:
    """Whether mostly men or women have the occupation, by gender and stereotype of the sentence;
    None where it has no stereotype.
    """
    if row.gold not in GENDERS or row.stereotype not in {Stereotype.PRO, Stereotype.ANTI}:
        return None
    is_men = (row.gold is Gender.MALE) == (row.stereotype is Stereotype.PRO)
    return "mostly men" if is_men else "mostly women"


def describe(corpus: Corpus[Instance]) -> CorpusDescription:
    """Describe a corpus whose sentences have an entity."""
    import pandas as pd

    rows = corpus.instances
    table = pd.DataFrame({
        "gender": [str(row.gold or "unknown") for row in rows],
        "length": [len(row.source.split()) for row in rows],
        "distance": [row.distance for row in rows],
        "pronouns": [row.pronouns for row in rows],
        "corpus_pronouns": pd.array([row.corpus_pronouns for row in rows], dtype="Int64"),
        "stereotype": [str(row.stereotype) for row in rows],
        "occupation": [_majority(row) for row in rows],
        "domain": [row.domain for row in rows],
    })  # fmt: skip
    present = set(table["gender"])
    genders = [name for name in ("male", "female", "neutral", "unknown") if name in present]
    histograms: list[dict[str, str | int]] = []
    for name in table.columns[1:]:
        histograms += _histogram(table, name, genders)
    return CorpusDescription(
        sentences=len(rows),
        vocabulary=len(different_words(row.source for row in rows)),
        genders=genders,
        means=_means(table),
        histograms=histograms,
        notes=corpus.notes,
        signature=signature_line("describe", {"data": corpus.files}, {"dataset": corpus.name}),
    )


def _means(table: pd.DataFrame) -> list[PropertyMean]:
    """The mean of each number over all sentences, and over those of either stereotype."""
    means = []
    for name in _NUMBERS:
        for side in ("all", "pro", "anti"):
            rows = (table["stereotype"] == side) | (side == "all")
            values = table.loc[rows, name].dropna().astype(float)
            if len(values):
                mean, deviation = values.mean(), values.std(ddof=0)
                means.append(PropertyMean(name, side, mean, deviation, len(values)))
    return means


def _histogram(
    table: pd.DataFrame, name: str, genders: Sequence[str]
) -> Iterator[dict[str, str | int]]:
    """The sentences of each gender in each class of a property."""
    import pandas as pd

    width = _NUMBERS.get(name, 0)
    classes = table[name] // width * width if width else table[name]
    counts = pd.crosstab(classes, table["gender"]).reindex(columns=list(genders))
    for first, numbers in zip(counts.index, counts.to_numpy().tolist(), strict=True):
        title = f"{first:.0f}" if width else first
        if width > 1:
            title = f"{first:.0f} to {first + width - 1:.0f}"
        yield {"class": f"{name}, {title}", **dict(zip(genders, numbers, strict=True))}
