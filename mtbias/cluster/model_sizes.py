"""How large models are: what a task asks of Slurm, how wide its batches are on a GPU, how fast it is about."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from mtbias.cluster.sweep_file import Resources, Sweep
from mtbias.translate.system_kinds import is_remote

UNKNOWN_SIZE = "large"
"""Of models that are not in the table: more than they need rather than less."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Sentences a second, and whence the figure comes."""

    value: float
    source: str


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(resources.files("mtbias.cluster").joinpath("model_sizes.toml").read_text(encoding="utf-8"))


def short_name(model: str) -> str:
    """The short name of a hub id that has one, in whatever language, else the model's own name."""
    from mtbias.translate.seq2seq.checkpoints import catalog

    patterns = {name: re.escape(e.repository).replace(r"\{lang\}", r"\w+") for name, e in catalog().items()}
    return next((name for name, pattern in patterns.items() if re.fullmatch(pattern, model)), model)


def translate_resources(sweep: Sweep, model: str) -> Resources:
    """What translating with `model` asks of Slurm: the sweep's own wishes, else what suits its size."""
    own = sweep.slurm.models.get(model, Resources())
    size = _table()["models"].get(short_name(model), {}).get("size", UNKNOWN_SIZE)
    usual = _table()["score"] if is_remote(model) else _table()["sizes"][size]  # another machine computes
    return own.over(sweep.slurm.over(Resources(**usual)))


def score_resources(sweep: Sweep) -> Resources:
    """What scoring asks of Slurm."""
    return sweep.slurm.score.over(Resources(**_table()["score"]))


def coref_resources(sweep: Sweep) -> Resources:
    """What a coreference system asks of Slurm: as a model of unknown size, unless the sweep says otherwise."""
    return sweep.slurm.coref.over(sweep.slurm.over(Resources(**_table()["sizes"][UNKNOWN_SIZE])))


def translate_speed(sweep: Sweep, model: str, *, gpu: bool) -> Speed | None:
    """About how many sentences a second one task translates; None where nothing is known."""
    if model in sweep.speeds:
        return Speed(sweep.speeds[model], "the sweep's own")
    entry = _table()["models"].get(short_name(model), {})
    if gpu:
        return Speed(entry["gpu"], "projected for an H200, not measured") if "gpu" in entry else None
    by_engine = entry.get("cpu", {})
    key = f"{sweep.engine} int8" if (sweep.dtype or "").startswith("int8") else sweep.engine
    return Speed(by_engine[key], "measured on one thread of a CPU") if key in by_engine else None


def score_speed() -> Speed:
    """About how many sentences a second one process aligns, analyses and scores."""
    return Speed(_table()["speed"]["score"], "measured on one thread of a CPU")
