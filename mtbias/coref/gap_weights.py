"""Weights that take away what GAP's women's and men's examples differ in, as in "The Gap on GAP".

Of Kocijan, Camburu and Lukasiewicz (2020) are the properties: N, how many names the text has, and
D, which place the antecedent has among them by distance from the pronoun. Only examples with an
antecedent among the candidates have weight. The solver is `mtbias.stats.balance.balance`, which
takes any two groups and any properties.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from json import dumps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    NameSpans,
    files_in,
    gender_of,
    nearest_first,
    rank_of_antecedent,
    read_instances,
    read_name_spans,
)
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import parse_json_by_id, read_text
from mtbias.files.writing import signature_line, write_atomic
from mtbias.stats.balance import Balance, balance
from mtbias.stats.results import Floats
from mtbias.types import JsonDict, Span

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)

Property = Literal["names", "distance"]

PROPERTIES: tuple[Property, ...] = get_args(Property)

_LARGE = 4
"""Of a histogram of weights: from this on they are one class."""


@dataclass(frozen=True, slots=True, eq=False)
class GapWeights:
    """Weights of GAP's examples."""

    balance: Balance
    examples: pd.DataFrame
    """The examples that the weights are solved for, in the order of the data: a row of `properties`
    each."""
    weights: Mapping[str, float]
    """As a file has them, by ``<id>a`` and ``<id>b``: the antecedent's weight, 0 for everything
    else."""
    n_without_antecedent: int
    n_trimmed: int
    """What W_t leaves out."""
    n_drawn: int
    """Examples that the largest sample would keep that has as many women's as men's in each cell of
    the properties."""
    histograms: Mapping[str, Mapping[str, Sequence[int]]]
    """What the paper's figures count, by title and class, of women's and men's examples: names of
    the texts, places of the antecedents, both after trimming, weights in tenths."""
    confounders: Mapping[str, Mapping[str, Mapping[str, float]]]
    """`confounders` of all examples."""
    notes: Sequence[str] = ()
    """Notes on the weights of a file."""
    signature: str = ""
    out: Path | None = None
    """The file that they were written to."""

    def to_json(self, *, histograms: bool = False) -> JsonDict:
        """Plain values, numbers unrounded.

        ``noise_bound`` is by how many points the weights can change the accuracy on a group,
        whatever a system's right answers are (`Balance.noise_bounds`); ``together`` has the larger.
        """
        solution = self.balance
        keys = list(self.examples["id"] + self.examples["antecedent"])
        sizes = zip(
            (*solution.groups, "together"),
            (*solution.sizes, len(solution.weights)),
            (*solution.effective_sizes, solution.effective_size),
            (*solution.noise_bounds, max(solution.noise_bounds)),
            strict=True,
        )

        confounders: list[JsonDict] = []
        for name, genders in self.confounders.items():
            for gender, moments in genders.items():
                confounders.append({"name": f"{name}, {gender}", **moments})

        classes: list[JsonDict] = []
        for title, histogram in self.histograms.items():
            for name, counts in histogram.items():
                by_group = dict(zip(solution.groups, counts, strict=True))
                classes.append({"class": f"{title}: {name}", **by_group})

        return {
            "confounders": confounders,
            "groups": [
                {"name": name, "n": n, "effective_size": effective, "noise_bound": bound}
                for name, n, effective, bound in sizes
            ],
            "solution": {
                "objective": solution.objective,
                "gap": solution.gap,
                "n_cells": solution.n_cells,
                "n_zero": solution.n_zero,
            },
            "properties": {
                "balanced": list(solution.balanced),
                "of_one_group": list(solution.one_sided),
            },
            "n_drawn": self.n_drawn,
            "largest": [{"key": keys[i], "weight": weight} for i, weight in solution.largest()],
            "histograms": classes if histograms else None,
            "notes": self.notes,
            "out": self.out,
            "signature": self.signature,
        }


def properties(data: GapFile, spans: NameSpans) -> pd.DataFrame:
    """What the weights balance, a row for each example: ``id``, ``gender``, ``antecedent``,
    ``names``, ``distance``.

    The antecedent is ``a`` or ``b``, missing where it is neither; names (N) are those of the text;
    distance (D) is the antecedent's place among them by distance from the pronoun, from 1, missing
    where no name touches it.

    Raises:
        DataError: a pronoun without gender; an example whose candidates are both TRUE.
    """
    import pandas as pd

    rows = []
    for instance in data.instances:
        ordered = nearest_first(instance, spans.of[instance.id])
        gender = gender_of(instance, data.path).value
        antecedent = antecedent_of(instance, data.path)
        rank = rank_of_antecedent(instance, ordered)
        rows.append((instance.id, gender, antecedent, len(ordered), rank))
    frame = pd.DataFrame(rows, columns=["id", "gender", "antecedent", *PROPERTIES])
    return frame.astype({"distance": "Int64"})


def confounders(examples: pd.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """What women's and men's examples differ in (section 3.3 of the paper), by property and gender.

    ``names`` of all texts, ``distance`` of those in which a name touches the antecedent: ``mean``,
    ``deviation`` (of the population) and ``n``.
    """
    by_property: dict[str, dict[str, dict[str, float]]] = {}
    for name in PROPERTIES:
        defined = examples.dropna(subset=[name]).astype({name: int})
        values = defined.groupby("gender")[name]
        moments = zip(values.mean().items(), values.std(ddof=0), values.count(), strict=True)
        by_property[name] = {
            str(gender): {"mean": mean, "deviation": deviation, "n": int(n)}
            for (gender, mean), deviation, n in moments
        }
    return by_property


def antecedent_of(instance: GapInstance, path: Path) -> Literal["a", "b"] | None:
    """Which candidate the pronoun means.

    Raises:
        DataError: both.
    """
    if all(instance.gold):
        message = f"{instance.id}: both candidates are TRUE"
        expected = "the weighted scores expect one antecedent at most"
        raise DataError(f"{message}; {expected}", path=path)
    if instance.gold.a:
        return "a"
    return "b" if instance.gold.b else None


def solve_gap_weights(
    everything: pd.DataFrame,
    *,
    over: Collection[Property] = PROPERTIES,
    max_names: int | None = None,
    max_distance: int | None = None,
) -> GapWeights:
    """The weights W of examples with their `properties`, `over` both; over one of them W_num and
    W_dist.

    Without the examples that have more than `max_names` names or an antecedent beyond place
    `max_distance`: the paper's W_t is that with 15 and 4.

    Raises:
        DataError: as `mtbias.stats.balance.balance`.
    """
    import pandas as pd

    meant = everything.dropna(subset=["antecedent"])
    too_many = meant["names"] > (max_names or np.inf)
    too_far = (meant["distance"].fillna(0) > (max_distance or np.inf)).astype(bool)
    examples = meant[~(too_many | too_far)]
    columns: dict[str, list[Any]] = {
        name: examples[name].tolist() for name in PROPERTIES if name in over
    }
    solved = balance(examples["gender"].tolist(), columns)
    weights = {f"{id_}{side}": 0.0 for id_, side in product(everything["id"], "ab")}
    keys = examples["id"] + examples["antecedent"]
    weights |= dict(zip(keys, solved.weights.tolist(), strict=True))

    cells = pd.crosstab([examples[name].fillna(0) for name in columns], examples["gender"])
    tenths = np.floor(10 * solved.weights + 1e-6).clip(max=10 * _LARGE) / 10
    trimmed = examples if len(examples) < len(meant) else examples[:0]
    counted: dict[str, dict[str, list[int]]] = {}
    for name in PROPERTIES:
        counted[name] = _histogram(everything, name)
    for name in PROPERTIES:
        counted[f"{name}, trimmed"] = _histogram(trimmed, name)
    title = f"weight, in tenths ({_LARGE:.1f}: and more)"
    counted[title] = _histogram(examples.assign(tenth=tenths), "tenth")
    return GapWeights(
        balance=solved,
        examples=examples,
        weights=weights,
        n_without_antecedent=len(everything) - len(meant),
        n_trimmed=len(meant) - len(examples),
        n_drawn=int(2 * cells.min(axis=1).sum()),
        histograms={title: counts for title, counts in counted.items() if counts},
        confounders=confounders(everything),
    )


def _histogram(examples: pd.DataFrame, column: str) -> dict[str, list[int]]:
    """By value how many women's and how many men's examples."""
    import pandas as pd

    counts = pd.crosstab(examples[column], examples["gender"])
    return {
        str(value): row for value, row in zip(counts.index, counts.to_numpy().tolist(), strict=True)
    }


def agreement(automatic: NameSpans, annotated: NameSpans, data: GapFile) -> str:
    """How well names that were found automatically, and the properties that rest on them, agree
    with the annotated ones.
    """
    here, there = _places(automatic), _places(annotated)
    common = len(here & there)
    recall, precision = (100 * common / max(1, len(places)) for places in (there, here))

    ours = properties(data, automatic)
    theirs = properties(data, annotated).dropna(subset=["distance"])
    equal = []
    for name in PROPERTIES:
        is_equal = ours.loc[theirs.index, name].eq(theirs[name]).fillna(value=False)
        equal.append(100 * float(is_equal.mean()))
    return (
        f"of {len(there):,} annotated names {recall:.1f} % were found, of {len(here):,} found "
        f"{precision:.1f} % are annotated; of the {len(theirs):,} texts with an annotated "
        f"antecedent {equal[0]:.1f} % have as many names, {equal[1]:.1f} % the antecedent in the "
        "same place"
    )


def _places(spans: NameSpans) -> set[tuple[str, Span]]:
    """The names with the ids of their texts."""
    places: set[tuple[str, Span]] = set()
    for id_, names in spans.of.items():
        places.update((id_, span) for span in names)
    return places


def write_gap_weights(
    data: Path,
    name_spans: Path | None = None,
    *,
    find: Callable[[GapFile], tuple[NameSpans, str]] | None = None,
    over: Collection[Property] = (),
    max_names: int | None = None,
    max_distance: int | None = None,
    out: Path | None = None,
) -> GapWeights:
    """`solve_gap_weights` of a file of GAP or its folder; `over` nothing means over both
    properties.

    `find` returns the names and how they were found; they are compared with those of `name_spans`,
    where given.

    Raises:
        DataError: what the readers and the solver raise.
        UsageError: no names.
        OutputError: `out` is one of the files.
    """
    data, name_spans = files_in(data, name_spans)
    if name_spans is None and find is None:
        raise UsageError("--name-spans is missing; see --help")
    file = read_instances(data)
    annotated = read_name_spans(name_spans, file) if name_spans else None
    spans, how = find(file) if find else (annotated, "")
    assert spans is not None  # noqa: S101 - one of the two is given
    chosen = [name for name in PROPERTIES if not over or name in over]
    everything = properties(file, spans)
    limits = {"max_names": max_names, "max_distance": max_distance}
    solved = solve_gap_weights(everything, over=chosen, **limits)
    _warn(everything, data)
    drawn, n = solved.n_drawn, len(file.instances)
    no_antecedent = "examples without antecedent among the candidates have weight 0"
    share = f"{drawn} of {n} examples ({100 * drawn / n:.1f} %)"
    notes = [
        f"{solved.n_without_antecedent} {no_antecedent}",
        f"drawing as many of either gender instead would keep {share}",
    ]
    if solved.n_trimmed:
        trimmed_out = "examples with too many names or too far an antecedent have weight 0"
        notes.append(f"{solved.n_trimmed} {trimmed_out}")
    if annotated and annotated.unknown:
        notes.append(f"{annotated.unknown} texts of {name_spans} are not in the data")
    if find:
        notes.append(f"names: {how}")
    if find and annotated:
        notes.append(agreement(spans, annotated, file))
    where = "found" if name_spans is None or find else name_spans.name
    files = {"data": {data.name: file.sha256}, "names": {where: spans.sha256}}
    trimmed = {"max-names": max_names or "all", "max-distance": max_distance or "all"}
    options = {
        "tokens": "regex-as-spacy2",
        "over": "+".join(chosen),
        **trimmed,
        "objective": "pair-maxima",
    }
    signature = signature_line("coref:gap-weights", files, options)
    if out is not None:
        write_atomic(out, dumps(solved.weights, ensure_ascii=False, indent=0).split("\n"))
    return replace(solved, notes=notes, signature=signature, out=out)


def _warn(everything: pd.DataFrame, path: Path) -> None:
    """Warn if there is nothing to balance."""
    if not everything["names"].any():
        _log.warning("%s: its texts have no names: there is nothing to balance", path)
    elif everything["distance"].isna().all():
        _log.warning("%s: no name touches an antecedent: no distance can be balanced", path)


def read_gap_weights(path: Path, data: GapFile) -> tuple[Floats, str]:
    """Read a JSON file of weights, ``{"test-1a": 0.0, "test-1b": 0.85, …}``.

    Returns: the weight of each example's antecedent, in the order of `data` (0 without one), and
    the file's SHA-256.

    Raises:
        DataError: not such JSON; a candidate of `data` without weight, or a key that is none of its
            candidates; a weight that is negative or infinite; a weight above 0 for a candidate that
            is FALSE.
    """
    file = read_text(path)
    content = parse_json_by_id(file)
    weights = np.zeros(len(data.instances))
    for row, instance in enumerate(data.instances):
        antecedent = antecedent_of(instance, data.path)
        for side in "ab":
            key = instance.id + side
            if key not in content:
                raise file.error(f"expected a weight for {key!r}, got none")
            weight = content.pop(key)
            is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not is_number or not isfinite(weight) or weight < 0:
                raise file.error(f"{key}: expected a number of 0 or more, got {weight!r:.60}")
            if side == antecedent:
                weights[row] = weight
            elif weight:
                # Such a weight would sum with the others and never be found: another file's, most
                # likely.
                raise file.error(
                    f"{key}: weight {weight} for a candidate that is FALSE in {data.path}"
                )
    if content:
        raise file.error(f"{next(iter(content))!r} is no candidate of {data.path}")
    return weights, file.sha256
