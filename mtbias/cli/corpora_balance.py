"""``mtbias corpora balance``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mtbias.cli.corpora_shared import JSONL, TSV, corpus_of_entities
from mtbias.cli.shared import Cache, Corpus, Flag, Json, Seed, print_json, refuse_input
from mtbias.errors import SettingError, UsageError
from mtbias.settings import CacheSettings, CorpusSettings

if TYPE_CHECKING:
    from mtbias.corpora.corpus import Corpus as ReadCorpus
    from mtbias.mining.corpus_balance import Confounder
    from mtbias.types import Instance


def command(
    *,
    weights: Path | None = None,
    sample: Path | None = None,
    over: list[Literal["pronouns", "distance", "length", "domain", "stereotype"]] | None = None,
    quarters: Flag = False,
    seed: Seed = 0,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Take differences other than gender out of a corpus: by weights of its sentences, or by a sample of them.

    Sentences of men and of women may differ in pronouns, distance to the pronoun, length, domain. With --weights
    every class of each property weighs the same in both, and all sentences stay; these are the weights with which
    `mtbias compare --weighted` computes ΔG. With --sample both have as many sentences in every combination of classes;
    the sample is a corpus like the one it is from. The table shows both genders before and after.

    Parameters
    ----------
    weights
        Write weights: a TSV with id and weight, whose mean is 1.
    sample
        Write a sample: of BUG and of mined corpora with their own columns (.tsv, .csv, .jsonl; read it with the same
        --dataset), of others with those of --dataset custom (.tsv, .jsonl).
    over
        Balance this property; may be given several times (default: pronouns, distance, length and domain, where they
        vary).
    quarters
        With --sample: as BUG's balanced part, as many sentences of men and of women, pro- and anti-stereotypical each,
        instead of cells of like sentences.
    seed
        Of the sample.
    """
    from mtbias.scoring.weighted import ALL_PROPERTIES, PROPERTIES, properties_of

    out = weights or sample
    if out is None or (weights is not None and sample is not None):
        raise UsageError("expected one of --weights and --sample")
    if quarters and (sample is None or over):
        raise UsageError("--quarters goes with --sample, and not with --over")
    read = corpus_of_entities(corpus, cache)
    refuse_input("weights" if sample is None else "sample", out, read.path)
    rows = [instance for instance in read.instances if instance.gold in {"male", "female"}]
    if sample is not None:
        _check_name(sample, read.name)
    varying = [name for name, column in properties_of(rows, PROPERTIES).items() if len(set(column)) > 1]
    wanted = [name for name in ALL_PROPERTIES if name in over] if over else varying
    if sample is None:
        after, facts = _weigh(rows, wanted, out)
    else:
        after, facts = _sample(read, rows, [] if quarters else wanted, out, seed, quarters=quarters)
    report = _report(read, rows, after, [*varying, "stereotype"] if quarters else wanted, facts)
    if json:
        print_json(
            {**report, "confounders": [confounder.to_json() for confounder in report["confounders"]]}, indent=None
        )
    else:
        print(_text(report))


def _check_name(sample: Path, dataset: str) -> None:
    from mtbias.corpora.bug import FILES
    from mtbias.mining.kept_rows import check_name

    if dataset in FILES:
        check_name(sample, "sample")
    elif sample.suffix.lower() not in JSONL | TSV:
        ends = ", ".join(sorted(TSV | JSONL))
        raise SettingError("sample", f"expected a name that ends in {ends}, got {str(sample)!r}")


def _weigh(rows: Sequence[Instance], over: Sequence[str], out: Path) -> tuple[Sequence[float], dict[str, Any]]:
    from mtbias.errors import DataError
    from mtbias.files.writing import write_atomic
    from mtbias.scoring.weighted import weigh

    weighting = weigh(rows, "delta_g", over)
    if weighting is None:
        raise DataError("expected sentences of men and of women, got those of one gender: nothing to balance")
    write_atomic(out, ["id\tweight", *(f"{row.id}\t{w:.10g}" for row, w in zip(rows, weighting.weights, strict=True))])
    solved = weighting.to_json()
    effective = dict(zip(solved["groups"], solved["effective_sizes"], strict=True))
    facts = {"method": "weights", "over": weighting.properties, "effective": effective, "out": str(out)}
    kept = ("kinds", "weight_0", "one_sided", "largest")
    return weighting.weights.tolist(), facts | {name: solved[name] for name in kept}


def _sample(
    read: ReadCorpus[Instance], rows: Sequence[Instance], over: Sequence[str], out: Path, seed: int, *, quarters: bool
) -> tuple[Sequence[float], dict[str, Any]]:
    from mtbias.mining.balanced_sample import balanced_part
    from mtbias.mining.corpus_balance import matched_sample

    facts: dict[str, Any] = {"method": "quarters" if quarters else "sample", "over": tuple(over), "seed": seed}
    if quarters:
        part = balanced_part([(row.gold, row.stereotype) for row in rows], seed)
        chosen = part.chosen
        facts["quarters"] = {f"{gender} {side}": size for (gender, side), size in part.sizes.items()}
    else:
        matched = matched_sample(rows, over, seed)
        chosen = matched.chosen
        facts |= {"cells": matched.n_cells, "matched_cells": matched.n_matched}
    _write(read, [rows[n] for n in chosen], out)
    kept = set(chosen)
    return [float(n in kept) for n in range(len(rows))], facts | {"sample": len(chosen), "out": str(out)}


def _write(read: ReadCorpus[Instance], chosen: Sequence[Instance], out: Path) -> None:
    """The sample, in the columns of the corpus where it is one of BUG's, else in those of a corpus of one's own."""
    from mtbias.corpora.bug import FILES
    from mtbias.corpora.counterfactual_pairs import format_custom
    from mtbias.files.reading import read_table
    from mtbias.files.writing import write_atomic
    from mtbias.mining.kept_rows import write_rows

    if read.name in FILES:
        table = read_table(read.path)
        write_rows(out, table, [table.records[instance.row] for instance in chosen])
        return
    ids = {instance.id for instance in chosen}
    alone = [
        replace(i, pair=i.pair if i.pair in ids else None, control=i.control if i.control in ids else None)
        for i in chosen
    ]  # a link to a sentence that is not in the sample would be refused
    write_atomic(out, format_custom(alone, jsonl=out.suffix.lower() in JSONL).encode())


def _report(
    read: ReadCorpus[Instance],
    rows: Sequence[Instance],
    after: Sequence[float],
    shown: Sequence[str],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    from mtbias.files.signatures import signature_line
    from mtbias.mining.corpus_balance import confounders

    over = "+".join(facts["over"]) or ("gender+stereotype" if facts["method"] == "quarters" else "nothing")
    options = {"dataset": read.name, "groups": "male+female", "method": facts["method"], "over": over}
    if "seed" in facts:
        options["seed"] = facts["seed"]
    return {
        "sentences": len(read.instances),
        "male": sum(row.gold == "male" for row in rows),
        "female": sum(row.gold == "female" for row in rows),
        **facts,
        "confounders": confounders(rows, after, shown),
        "signature": signature_line("balance", {"data": read.files}, options),
    }


def _text(report: Mapping[str, Any]) -> str:
    from mtbias.report.tables import columns, number, printable

    counts = {"sentences of the corpus": report["sentences"], "male": report["male"], "female": report["female"]}
    counts["in neither group, left out"] = report["sentences"] - report["male"] - report["female"]
    if report["method"] == "weights":
        counts |= {f"effective {gender}": round(report["effective"][gender]) for gender in ("male", "female")}
        counts["weight 0"] = report["weight_0"]
    else:
        counts |= {f"before, {name}": n for name, n in report.get("quarters", {}).items()}
        if "cells" in report:
            counts |= {"cells of like sentences": report["cells"], "with both genders": report["matched_cells"]}
        counts["in the sample"] = report["sample"]
    lines = [columns(["", "number"], [[name, f"{value:,}"] for name, value in counts.items()])]
    lines.append(
        columns(
            ["", "male before", "female before", "male after", "female after", "std.diff. before", "after"],
            [_cells(confounder, number) for confounder in report["confounders"]],
        )
    )
    lines.append("Means of numbers; shares of classes, in per cent; standardised differences male - female.")
    if one_sided := report.get("one_sided"):
        lines.append(f"Of one gender only, so weight 0: {printable(', '.join(one_sided))}")
    return "\n".join([*lines, "", f"File: {report['out']}", f"Signature: {report['signature']}"])


def _cells(confounder: Confounder, number: Any) -> list[str]:  # noqa: ANN401 - the writer of numbers, imported when used
    scale = 1 if confounder.level is None else 100
    values = [None if one is None else scale * one for one in (*confounder.before, *confounder.after)]
    name = confounder.property if confounder.level is None else f"{confounder.property}: {confounder.level}"
    return [name, *(number(value, 2) for value in values), *(number(value, 3) for value in confounder.standardised)]
