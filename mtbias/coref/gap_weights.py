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
from mtbias.types import JsonDict

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
    """What is to be said beside them, of a file's."""
    signature: str = ""
    out: Path | None = None
    """Where they were written."""

    def to_json(self, *, histograms: bool = False) -> JsonDict:
        """Plain values, numbers unrounded.

        ``noise_bound`` is by how many points the weights can change the accuracy on a group,
        whatever a system's right answers are (`Balance.noise_bounds`); ``together`` has the larger.
        """
        of, keys = self.balance, list(self.examples["id"] + self.examples["antecedent"])
        sizes = zip(
            (*of.groups, "together"),
            (*of.sizes, len(of.weights)),
            (*of.effective_sizes, of.effective_size),
            (*of.noise_bounds, max(of.noise_bounds)),
            strict=True,
        )
        classes = [
            (f"{title}: {name}", counts)
            for title, one in self.histograms.items()
            for name, counts in one.items()
        ]
        return {
            "confounders": [
                {"name": f"{name}, {gender}", **one}
                for name, genders in self.confounders.items()
                for gender, one in genders.items()
            ],
            "groups": [
                {"name": name, "n": n, "effective_size": effective, "noise_bound": bound}
                for name, n, effective, bound in sizes
            ],
            "solution": {
                name: getattr(of, name) for name in ("objective", "gap", "n_cells", "n_zero")
            },
            "properties": {"balanced": list(of.balanced), "of_one_group": list(of.one_sided)},
            "n_drawn": self.n_drawn,
            "largest": [{"key": keys[i], "weight": weight} for i, weight in of.largest()],
            "histograms": [
                {"class": name, **dict(zip(of.groups, counts, strict=True))}
                for name, counts in classes
            ]
            if histograms
            else None,
            **{name: getattr(self, name) for name in ("notes", "out", "signature")},
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
        gender, antecedent = (
            gender_of(instance, data.path).value,
            antecedent_of(instance, data.path),
        )
        rows.append(
            (instance.id, gender, antecedent, len(ordered), rank_of_antecedent(instance, ordered))
        )
    frame = pd.DataFrame(rows, columns=["id", "gender", "antecedent", *PROPERTIES])
    return frame.astype({"distance": "Int64"})


def confounders(examples: pd.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """What women's and men's examples differ in (section 3.3 of the paper), by property and gender.

    ``names`` of all texts, ``distance`` of those in which a name touches the antecedent: ``mean``,
    ``deviation`` (of the population) and ``n``.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in PROPERTIES:
        of = examples.dropna(subset=[name]).astype({name: int}).groupby("gender")[name]
        parts = zip(of.mean().items(), of.std(ddof=0), of.count(), strict=True)
        found[name] = {
            str(g): {"mean": mean, "deviation": sd, "n": int(n)} for (g, mean), sd, n in parts
        }
    return found


def antecedent_of(instance: GapInstance, path: Path) -> Literal["a", "b"] | None:
    """Which candidate the pronoun means.

    Raises:
        DataError: both.
    """
    if all(instance.gold):
        message = f"{instance.id}: both candidates are TRUE; the weighted scores expect one antecedent at most"
        raise DataError(message, path=path)
    return "a" if instance.gold.a else "b" if instance.gold.b else None


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
    weights = {f"{id_}{side}": 0.0 for id_ in everything["id"] for side in "ab"}
    weights |= dict(
        zip(examples["id"] + examples["antecedent"], solved.weights.tolist(), strict=True)
    )
    cells = pd.crosstab([examples[name].fillna(0) for name in columns], examples["gender"])
    tenths = np.floor(10 * solved.weights + 1e-6).clip(max=10 * _LARGE) / 10
    counted = {
        f"{name}{what}": _histogram(of, name)
        for what, of in (
            ("", everything),
            (", trimmed", examples if len(examples) < len(meant) else examples[:0]),
        )
        for name in PROPERTIES
    } | {
        f"weight, in tenths ({_LARGE:.1f}: and more)": _histogram(
            examples.assign(tenth=tenths), "tenth"
        )
    }
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


def agreement(found: NameSpans, annotated: NameSpans, data: GapFile) -> str:
    """How far the names that were found are the annotated ones, and the properties that rest on
    them.
    """
    here, there = (
        {(id_, span) for id_, names in spans.of.items() for span in names}
        for spans in (found, annotated)
    )
    shares = [100 * len(here & there) / max(1, len(of)) for of in (there, here)]
    ours, theirs = properties(data, found), properties(data, annotated).dropna(subset=["distance"])
    equal = [
        100 * float(ours.loc[theirs.index, name].eq(theirs[name]).fillna(value=False).mean())
        for name in PROPERTIES
    ]
    return (
        f"of {len(there):,} annotated names {shares[0]:.1f} % were found, of {len(here):,} found {shares[1]:.1f} % are "
        f"annotated; of the {len(theirs):,} texts with an annotated antecedent {equal[0]:.1f} % have as many names, "
        f"{equal[1]:.1f} % the antecedent in the same place"
    )


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
    kept, n = solved.n_drawn, len(file.instances)
    notes = [
        f"{solved.n_without_antecedent} examples without antecedent among the candidates have weight 0",
        f"drawing as many of either gender instead would keep {kept} of {n} examples ({100 * kept / n:.1f} %)",
    ]
    if solved.n_trimmed:
        notes.append(
            f"{solved.n_trimmed} examples with too many names or too far an antecedent have weight 0"
        )
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
    """Say where there is nothing to balance."""
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
            if (
                isinstance(weight, bool)
                or not isinstance(weight, int | float)
                or not isfinite(weight)
                or weight < 0
            ):
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
