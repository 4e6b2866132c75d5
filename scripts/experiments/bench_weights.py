"""Seconds, peak memory and objective of the weighting program: naive, grouped by cells, and as
mtbias solves it.

    python scripts/experiments/bench_weights.py [--gap FOLDER]
        [--sizes 200 400 2000 10000 100000] [--naive-up-to 400]

naive: a variable for each example and for each pair of examples of one group, as published (HiGHS
interior point). pairs of cells: the same with a variable for each cell of like examples and for
each pair of cells.
mtbias: `mtbias.stats.balance.balance`, which makes the sets of cells it needs.

The examples are synthetic, drawn like GAP's: two groups that differ in the number of names and in
the distance. The case mt is 100,000 examples with four properties (24 values, about 2,000 cells),
as sentences for machine translation have them; only mtbias takes it. With --gap, the test set
itself follows (W and W_t). Every run is a process of its own, so that peak memory is its own;
loading numpy and scipy is in it, and in the seconds. --limit stops longer runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

METHODS = {"naive": "naive", "cells": "pairs of cells", "mtbias": "mtbias"}
CELLS_UP_TO = 100_000

Columns = dict[str, list[int | None]]


def synthetic(n: int, seed: int = 0) -> tuple[list[str], Columns]:
    """Groups, and the number of names (negative binomial) and rank of the antecedent (geometric) of
    `n` examples.
    """
    rng = np.random.default_rng(seed)
    female = rng.random(n) < 0.5
    names = np.minimum(1 + rng.negative_binomial(3, np.where(female, 0.36, 0.4)), 50)
    rank = np.minimum(rng.geometric(np.where(female, 0.45, 0.52)), names)
    outside = rng.random(n) < 0.005  # no name touches the antecedent
    ranks = [None if out else int(r) for r, out in zip(rank, outside, strict=True)]
    return ["female" if f else "male" for f in female], {
        "names": [int(x) for x in names],
        "distance": ranks,
    }


def like_translation(n: int, seed: int = 0) -> tuple[list[str], Columns]:
    """Groups, pronoun count, distance, length and domain in classes, which the two groups have in
    unlike shares.
    """
    rng = np.random.default_rng(seed)
    female = rng.random(n) < 0.3
    columns: Columns = {}
    for name, classes in {"pronouns": 5, "distance": 10, "length": 5, "domain": 4}.items():
        of_men = rng.dirichlet(np.full(classes, 2.0))
        of_women = rng.dirichlet(200 * of_men)
        drawn = np.where(
            female, rng.choice(classes, n, p=of_women), rng.choice(classes, n, p=of_men)
        )
        columns[name] = drawn.tolist()
    return ["female" if f else "male" for f in female], columns


def gap(folder: Path, *, trimmed: bool) -> tuple[list[str], Columns]:
    """The examples of GAP's test set that W or W_t is solved for."""
    from mtbias.coref.gap_data import files_in, read_instances, read_name_spans
    from mtbias.coref.gap_weights import properties, solve_gap_weights

    path, spans = files_in(folder, None)
    assert spans is not None, f"no names in {folder}"
    data = read_instances(path)
    most_names, farthest = (15, 4) if trimmed else (None, None)
    found = properties(data, read_name_spans(spans, data))
    examples = solve_gap_weights(found, max_names=most_names, max_distance=farthest).examples
    distance = examples["distance"].astype(object)
    return examples["gender"].tolist(), {
        "names": examples["names"].tolist(), "distance": distance.where(distance.notna(), None).tolist()
    }  # fmt: skip


def pairwise(groups: list[str], columns: Columns, *, cells: bool) -> tuple[int, int, float]:
    """Variables, inequalities and optimum of the program with a variable for each pair (of cells,
    or of examples).
    """
    from scipy import sparse
    from scipy.optimize import linprog

    number = {value: i for i, value in enumerate(sorted(set(groups)))}
    codes = [
        [number[g] for g in groups],
        *([-1 if v is None else v for v in c] for c in columns.values()),
    ]
    keys = np.array(codes, dtype=np.int64).T
    sizes: NDArray[np.float64] = np.ones(len(keys))
    if cells:
        keys, times = np.unique(keys, axis=0, return_counts=True)
        sizes = times.astype(np.float64)
    n = len(keys)
    sign = np.where(keys[:, 0] == 1, 1, -1)
    members = [
        keys[:, k] == value
        for k in range(1, keys.shape[1])
        for value in np.unique(keys[:, k])
        if value >= 0
    ]
    equal = np.vstack([sizes, sizes * sign, *(sizes * sign * m for m in members)])
    of_group = [np.flatnonzero(sign == side) for side in (-1, 1)]
    pairs = [index[np.stack(np.triu_indices(len(index), 1))] for index in of_group]
    one, other = np.concatenate(pairs, axis=1)
    p = len(one)
    rows, unit = np.arange(p), np.ones(p)
    above = sparse.coo_matrix(
        (
            np.concatenate([unit, -unit, unit, -unit]),
            (
                np.concatenate([rows, rows, p + rows, p + rows]),
                np.concatenate([one, n + rows, other, n + rows]),
            ),
        ),
        shape=(2 * p, n + p),
    )
    found = linprog(
        np.concatenate([sizes * (sizes - 1) / 2, sizes[one] * sizes[other]]),
        A_ub=above.tocsr(),
        b_ub=np.zeros(2 * p),
        A_eq=sparse.hstack([sparse.csr_matrix(equal), sparse.csr_matrix((len(equal), p))]).tocsr(),
        b_eq=np.append(sizes.sum(), np.zeros(len(equal) - 1)),
        method="highs-ipm",
    )
    assert found.status == 0, found.message
    return n + p, 2 * p, float(found.fun)


def measure(method: str, case: str, folder: Path | None) -> dict[str, float]:
    """One run in this process."""
    from mtbias.stats.balance import balance

    if case in {"W", "Wt"}:
        assert folder is not None, "--gap is missing"
        groups, columns = gap(folder, trimmed=case == "Wt")
    elif case == "mt":
        groups, columns = like_translation(100_000)
    else:
        groups, columns = synthetic(int(case))
    began = time.perf_counter()
    if method == "mtbias":
        result = balance(groups, columns)
        found = {"objective": result.objective, "cells": float(result.n_cells)}
    else:
        variables, inequalities, objective = pairwise(groups, columns, cells=method == "cells")
        found = {
            "objective": objective,
            "variables": float(variables),
            "inequalities": float(inequalities),
        }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"n": float(len(groups)), "seconds": time.perf_counter() - began, "peak": peak, **found}


def main() -> None:
    """Measure every method at every size that it can take, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gap", type=Path, metavar="FOLDER", help="gap-test.tsv and its names")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[200, 400, 2000, 10_000, 100_000], metavar="N"
    )
    parser.add_argument("--naive-up-to", type=int, default=400, metavar="N")
    parser.add_argument(
        "--cells-up-to", type=int, default=CELLS_UP_TO, metavar="N", help="for pairs of cells"
    )
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--one", nargs=2, metavar=("METHOD", "CASE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        method, case = args.one
        print(json.dumps(measure(method, case, args.gap)))
        return
    cases = [*map(str, args.sizes), "mt", *(["W", "Wt"] if args.gap else [])]
    most = {"naive": args.naive_up_to, "cells": args.cells_up_to}
    print(
        f"{'case':>7} {'method':<15} {'variables':>10} {'inequalities':>13} {'seconds':>8} {'peak MiB':>9}  objective"
    )
    for case in cases:
        for method, label in METHODS.items():
            size = {"W": 1773, "Wt": 1670, "mt": 10**9}.get(case) or int(case)
            if size > most.get(method, size):
                continue
            command = [
                sys.executable,
                __file__,
                "--one",
                method,
                case,
                *(["--gap", str(args.gap)] if args.gap else []),
            ]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=args.limit, check=False
                )
            except subprocess.TimeoutExpired:
                print(f"{case:>7} {label:<15} stopped after {args.limit:.0f} s", flush=True)
                continue
            if done.returncode:
                print(
                    f"{case:>7} {label:<15} failed: {done.stderr.strip().splitlines()[-1:]}",
                    flush=True,
                )
                continue
            found = json.loads(done.stdout)
            counts = [
                f"{found[k]:,.0f}" if k in found else "" for k in ("variables", "inequalities")
            ]
            print(
                f"{case:>7} {label:<15} {counts[0]:>10} {counts[1]:>13} {found['seconds']:>8.2f} "
                f"{found['peak']:>9.0f}  {found['objective']:.4f}", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
