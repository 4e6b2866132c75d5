"""Runs by hand that are compared: their rows, and systems that are right at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mtbias.runs.call_records import CallRecord
from mtbias.scoring.bias import GENDER_COUNTING, GOLDS, STEREOTYPES
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import GENDER_NUMBERS
from mtbias.types import Gender, GenderCall, Reason, Stereotype

M, F, N = GOLDS
PRO, ANTI, NONE = STEREOTYPES
NUMBERS = tuple(each.key for each in GENDER_NUMBERS if each.compared)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def record_of(n: int, gold: Gender | None, kind: Stereotype, call: Gender | None) -> CallRecord:
    made = GenderCall(f"r{n}", call, None if call else Reason.UNALIGNED)
    return CallRecord(n, f"Sentence {n}.", f"Satz {n}.", "cook", gold, kind, "own", 1, made)


@dataclass(frozen=True)
class Run:
    """What a comparison needs of a run."""

    system: str
    lang: str
    calls: Sequence[CallRecord]
    fingerprint: str
    corpus: tuple[str, Mapping[str, str]] = ("own", {"own.tsv": "aa" * 32})
    evaluator: Mapping[str, Any] = field(
        default_factory=lambda: {"aligner": "agree/1", "plugin": "de/1"}
    )
    counting: Counting = GENDER_COUNTING
    metrics: Mapping[str, Any] = field(default_factory=dict)
    unknown: None = None
    source_lang: str = "en"

    @property
    def known(self) -> Run:
        return self


def _random_call(gold: Gender | None, right: float, rng: np.random.Generator) -> Gender | None:
    if rng.random() < right:
        return gold
    other = F if gold is M else M
    return other if rng.random() < 0.8 else None


def random_run(system: str, lang: str, *, seed: int = 0, right: float = 0.7, n: int = 200) -> Run:
    """A system that is right for this share of `n` rows, and else mostly calls the other gender."""
    rng = generator(seed)
    records = []
    for row in range(n):
        gold, kind = (M, F)[row % 2], (PRO, ANTI)[row // 2 % 2]
        records.append(record_of(row, gold, kind, _random_call(gold, right, rng)))
    return Run(system, lang, records, f"{system}-{lang}-{seed}-{right}".ljust(16, "0"))


def six_runs() -> list[Run]:
    """Three systems in German, two in Spanish, one in Italian."""
    return [
        random_run("a", "de", seed=1),
        random_run("b", "de", seed=2, right=0.9),
        random_run("c", "de", seed=3),
        random_run("a", "es", seed=4),
        random_run("b", "es", seed=5),
        random_run("only", "it", seed=6),
    ]
