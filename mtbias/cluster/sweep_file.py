"""What a sweep is: models × languages × data sets × presets, and how its tasks are to run; read from a TOML file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mtbias.cluster.toml_table import Table
from mtbias.errors import DataError

DEVICES = ("auto", "cpu", "cuda")
SENTENCES_A_SHARD = 20_000
_MEMORY = "expected an amount such as 16G or 8000M, got"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a Slurm task asks for; None is what suits the model's size (`mtbias.cluster.model_sizes`)."""

    gpus: int | None = None
    cpus: int | None = None
    mem: str | None = None
    minutes: int | None = None

    def over(self, base: Resources) -> Resources:
        """These values, where they are given, else those of `base`."""
        return Resources(
            gpus=base.gpus if self.gpus is None else self.gpus,
            cpus=base.cpus if self.cpus is None else self.cpus,
            mem=base.mem if self.mem is None else self.mem,
            minutes=base.minutes if self.minutes is None else self.minutes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Slurm:
    """How jobs are submitted."""

    partition: str | None = None
    account: str | None = None
    max_parallel: int | None = None
    """Tasks of an array that may run at once."""
    resources: Resources = Resources()
    """Of translation, for all models."""
    score: Resources = Resources()
    """Of scoring."""
    models: Mapping[str, Resources] = field(default_factory=dict)
    """Of translation, by model."""
    extra: Mapping[str, str | int | bool] = field(default_factory=dict)
    """Further options of sbatch, such as ``qos``."""
    setup: tuple[str, ...] = ()
    """Shell lines before a task, such as ``module load cuda``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """All that a sweep's tasks depend on. Paths are absolute."""

    name: str
    out: Path
    models: tuple[str, ...]
    """Short names, hub ids, or absolute paths of folders."""
    languages: tuple[str, ...]
    datasets: tuple[str, ...]
    presets: tuple[str, ...] = ("paper",)
    data: Mapping[str, Path] = field(default_factory=dict)
    """File or folder to read instead of the cache, by data set."""
    shards: int | None = None
    """Shards of every cell; None: as many as its sentences need at `sentences_per_shard`."""
    sentences_per_shard: int = SENTENCES_A_SHARD
    engine: str = "transformers"
    dtype: str | None = None
    beams: int | None = None
    length_penalty: float | None = None
    max_length: int | None = None
    batch_rows: int | None = None
    device: str = "auto"
    aligner: str = "statistical"
    seed: int = 0
    resamples: int = 2000
    processes: int = 1
    """That analyse translations in a score task; the results do not depend on it."""
    stanza_dir: Path | None = None
    cache_dir: Path | None = None
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Sentences a second by model, for the estimate."""
    slurm: Slurm = Slurm()


def read_sweep(path: Path | str) -> Sweep:
    """Read a sweep's file. Relative paths count from the folder of the file.

    Raises:
        DataError: no such file, no TOML, an unknown key, a value of a wrong type; with file and key.
    """
    path = Path(path)
    table = Table.read(path)
    base = path.resolve().parent
    needed = {key: table.texts(key) for key in ("models", "languages", "datasets")}
    name, out = table.text("name", path.stem), table.text("out")
    for key, value in {**needed, "out": out}.items():
        if value is None:
            raise table.error(key, "expected this key, it is not there")
    data = table.table("data")
    speeds = table.table("speeds")
    stanza, cache = table.text("stanza_dir"), table.text("cache_dir")
    shards, per_shard = table.whole("shards"), table.whole("sentences_per_shard")
    seed, resamples = table.whole("seed", least=0), table.whole("resamples", least=0)
    sweep = Sweep(
        name=name or path.stem,
        out=_absolute(out or "", base),
        models=tuple(_model(model, base) for model in needed["models"] or ()),
        languages=needed["languages"] or (),
        datasets=needed["datasets"] or (),
        presets=table.texts("presets") or ("paper",),
        data={key: _absolute(value, base) for key, value in data.each(data.text).items()},
        shards=shards,
        sentences_per_shard=per_shard or SENTENCES_A_SHARD,
        engine=table.text("engine") or "transformers",
        dtype=table.text("dtype"),
        beams=table.whole("beams"),
        length_penalty=table.number("length_penalty"),
        max_length=table.whole("max_length"),
        batch_rows=table.whole("batch_rows"),
        device=table.one_of("device", DEVICES) or "auto",
        aligner=table.text("aligner") or "statistical",
        seed=seed or 0,
        resamples=2000 if resamples is None else resamples,
        processes=table.whole("processes") or 1,
        stanza_dir=None if stanza is None else stanza_path(stanza, base),
        cache_dir=None if cache is None else _absolute(cache, base),
        speeds={_model(key, base): value for key, value in speeds.each(speeds.number).items()},
        slurm=_slurm(table.table("slurm"), base),
    )
    table.finish()
    for key, known, what in (
        ("data", sweep.datasets, "datasets"),
        ("speeds", sweep.models, "models"),
        ("slurm.models", sweep.models, "models"),
    ):
        given: Mapping[str, object] = {"data": sweep.data, "speeds": sweep.speeds, "slurm.models": sweep.slurm.models}[
            key
        ]
        for name in given:
            if name not in known:
                raise DataError(f"{key}.{name}: expected one of this sweep's {what}: {', '.join(known)}", path=path)
    return sweep


def to_toml(sweep: Sweep) -> str:
    """A file that `read_sweep` reads as `sweep`, for one that was given as options (the part [slurm] aside)."""
    values: dict[str, object] = {
        "name": sweep.name,
        "out": str(sweep.out),
        "models": sweep.models,
        "languages": sweep.languages,
        "datasets": sweep.datasets,
        "presets": sweep.presets,
        "shards": sweep.shards,
        "sentences_per_shard": sweep.sentences_per_shard,
        "engine": sweep.engine,
        "dtype": sweep.dtype,
        "beams": sweep.beams,
        "length_penalty": sweep.length_penalty,
        "max_length": sweep.max_length,
        "batch_rows": sweep.batch_rows,
        "device": sweep.device,
        "aligner": sweep.aligner,
        "seed": sweep.seed,
        "resamples": sweep.resamples,
        "processes": sweep.processes,
        "stanza_dir": sweep.stanza_dir and str(sweep.stanza_dir),
        "cache_dir": sweep.cache_dir and str(sweep.cache_dir),
    }
    # A JSON text, number or list of texts is one of TOML too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value is not None]
    if sweep.data:
        lines += ["", "[data]"]
        lines += [
            f"{json.dumps(key)} = {json.dumps(str(value), ensure_ascii=False)}" for key, value in sweep.data.items()
        ]
    return "\n".join(lines) + "\n"


def _slurm(table: Table, base: Path) -> Slurm:
    models, score, extra = table.table("models"), table.table("score"), table.table("extra")
    slurm = Slurm(
        partition=table.text("partition"),
        account=table.text("account"),
        max_parallel=table.whole("max_parallel"),
        resources=_resources(table),
        score=_resources(score),
        models={_model(key, base): _own(models.table(key)) for key in models.keys()},  # noqa: SIM118 - no mapping
        extra=_extra(extra),
        setup=table.texts("setup") or (),
    )
    score.finish()
    table.finish()
    return slurm


def _own(table: Table) -> Resources:
    found = _resources(table)
    table.finish()
    return found


def _resources(table: Table) -> Resources:
    mem = table.text("mem")
    if mem is not None and not (mem[:-1].isascii() and mem[:-1].isdigit() and mem[-1] in "KMGT"):
        raise table.error("mem", f"{_MEMORY} {mem!r}")
    return Resources(
        gpus=table.whole("gpus", least=0), cpus=table.whole("cpus"), mem=mem, minutes=table.whole("minutes")
    )


def _extra(table: Table) -> dict[str, str | int | bool]:
    found: dict[str, str | int | bool] = {}
    for key, value in table.plain().items():
        if not isinstance(value, (str, int, bool)):
            raise table.error(key, f"expected a text, a whole number, true or false, got {value!r}"[:200])
        found[key] = value
    return found


def model_path(model: str, base: Path) -> str:
    """A model as it stands in a sweep: a folder by its absolute path, any other name as it is."""
    return _model(model, base)


def stanza_path(text: str, base: Path) -> Path:
    """``--stanza-dir`` of a sweep: absolute, but for the name of the demo's."""
    from mtbias.demo import STANZA_NAME

    return Path(text) if text == STANZA_NAME else _absolute(text, base)


def _model(model: str, base: Path) -> str:
    from mtbias.translate.seq2seq.checkpoints import DEMO, catalog

    if model in catalog() or model == DEMO:
        return model
    folder = _absolute(model, base)
    return str(folder) if folder.is_dir() or Path(model).expanduser().is_absolute() else model


def _absolute(path: str, base: Path) -> Path:
    return (base / Path(path).expanduser()).resolve()
