"""What a sweep is: models × languages × data sets × presets, and how its tasks are to run; read from a TOML file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from mtbias.errors import DataError, SettingError
from mtbias.files.reading import read_bytes
from mtbias.files.strict_json import DecodingError, converted
from mtbias.settings import BootstrapSettings, DecodingSettings, EvaluatorSettings, Preset, Settings, at_least


@dataclass(frozen=True, kw_only=True)
class Resources(Settings):
    """What a Slurm task asks for; None is what suits the model's size (`mtbias.cluster.model_sizes`)."""

    gpus: int | None = at_least(0, None)
    cpus: int | None = at_least(1, None)
    mem: str | None = None
    """Such as ``16G``."""
    minutes: int | None = at_least(1, None)

    def __post_init__(self) -> None:
        super().__post_init__()
        mem = self.mem
        if mem is not None and not (mem[:-1].isascii() and mem[:-1].isdigit() and mem[-1] in "KMGT"):
            raise SettingError("mem", f"expected an amount such as 16G or 8000M, got {mem!r}")

    def over(self, base: Resources) -> Resources:
        """These values, where they are given, else those of `base`."""
        values = {each.name: getattr(self, each.name) for each in fields(Resources)}
        return replace(base, **{name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True, kw_only=True)
class Slurm(Resources):
    """How jobs are submitted; the resources are those of translation, for all models."""

    partition: str | None = None
    account: str | None = None
    max_parallel: int | None = at_least(1, None)
    """Tasks of an array that may run at once."""
    score: Resources = Resources()
    """Of scoring."""
    models: Mapping[str, Resources] = field(default_factory=dict)
    """Of translation, by model."""
    extra: Mapping[str, str | int | bool] = field(default_factory=dict)
    """Further options of sbatch, such as ``qos``."""
    setup: tuple[str, ...] = ()
    """Shell lines before a task, such as ``module load cuda``."""


@dataclass(frozen=True, kw_only=True)
class Sweep(DecodingSettings, EvaluatorSettings, BootstrapSettings):
    """All that a sweep's tasks depend on. Paths are absolute."""

    name: str = ""
    """Default: the file's name."""
    out: Path
    """Folder of all runs."""
    models: tuple[str, ...]
    """Short names, hub ids, or absolute paths of folders."""
    languages: tuple[str, ...]
    datasets: tuple[str, ...]
    presets: tuple[Preset, ...] = ("paper",)
    data: Mapping[str, Path] = field(default_factory=dict)
    """File or folder to read instead of the cache, by data set."""
    shards: int | None = at_least(1, None)
    """Shards of every run; None: as many as its sentences need at `sentences_per_shard`."""
    sentences_per_shard: int = at_least(1, 20_000)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to translate; auto: a GPU where there is one."""
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Sentences a second by model, for the estimate."""
    slurm: Slurm = Slurm()

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("models", "languages", "datasets", "presets"):
            values = getattr(self, key)
            if not values or not all(values):
                raise SettingError(key, f"expected a list of texts, at least one, got {list(values)!r}")
            if twice := [value for n, value in enumerate(values) if value in values[:n]]:
                raise SettingError(key, f"expected each value once, got {twice[0]!r} twice")
        for key, given, known, what in (
            ("data", self.data, self.datasets, "datasets"),
            ("speeds", self.speeds, self.models, "models"),
            ("slurm.models", self.slurm.models, self.models, "models"),
        ):
            for name in given:
                if name not in known:
                    raise SettingError(f"{key}.{name}", f"expected one of this sweep's {what}: {', '.join(known)}")
        for model, speed in self.speeds.items():
            if speed <= 0:
                raise SettingError(f"speeds.{model}", f"expected a number above 0, got {speed:g}")


def read_sweep(path: Path | str) -> Sweep:
    """Read a sweep's file. Relative paths count from the folder of the file.

    Raises:
        DataError: no such file, no TOML, an unknown key, a value of a wrong type; with file and key.
    """
    path = Path(path)
    base = path.resolve().parent
    try:
        sweep = converted(Sweep, _with_models(tomllib.loads(read_bytes(path).decode("utf-8")), base))
    except DecodingError as error:
        raise DataError(str(error), path=path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not TOML: {error}", path=path) from None
    return resolved(replace(sweep, name=sweep.name or path.stem), base)


def resolved(sweep: Sweep, base: Path) -> Sweep:
    """The sweep with its paths absolute; relative ones count from `base`."""
    return replace(
        sweep,
        out=_absolute(sweep.out, base),
        data={name: _absolute(file, base) for name, file in sweep.data.items()},
        stanza_dir=None if sweep.stanza_dir is None else _stanza_path(sweep.stanza_dir, base),
        cache_dir=None if sweep.cache_dir is None else _absolute(sweep.cache_dir, base),
    )


def _with_models(content: dict[str, Any], base: Path) -> dict[str, Any]:
    """The content with models as `model_path` has them, in the list and as keys: so that they can be compared."""
    slurm = content.get("slurm")
    for table, key in ((content, "speeds"), (slurm, "models")):
        if isinstance(table, dict) and isinstance(table.get(key), dict):
            table[key] = {model_path(name, base): value for name, value in table[key].items()}
    if isinstance(content.get("models"), list):
        content["models"] = [model_path(m, base) if isinstance(m, str) else m for m in content["models"]]
    return content


def to_toml(sweep: Sweep) -> str:
    """A file that `read_sweep` reads as `sweep`, for one that was given as options (the part [slurm] aside)."""
    tables = {"data", "speeds", "slurm"}
    values = {each.name: getattr(sweep, each.name) for each in fields(sweep) if each.name not in tables}
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}
    # A JSON text, number or list of texts is one of TOML too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items() if value is not None]
    if sweep.data:
        data = [f"{json.dumps(key)} = {json.dumps(str(path), ensure_ascii=False)}" for key, path in sweep.data.items()]
        lines += ["", "[data]", *data]
    return "\n".join(lines) + "\n"


def model_path(model: str, base: Path) -> str:
    """A model as it stands in a sweep: a folder by its absolute path, any other name as it is."""
    from mtbias.translate.seq2seq.checkpoints import DEMO, catalog

    if not model or model in catalog() or model == DEMO:
        return model
    folder = _absolute(Path(model), base)
    return str(folder) if folder.is_dir() or Path(model).expanduser().is_absolute() else model


def _stanza_path(path: Path, base: Path) -> Path:
    """``stanza_dir`` of a sweep: absolute, but for the name of the demo's Stanza models."""
    from mtbias.demo import STANZA_NAME

    return path if str(path) == STANZA_NAME else _absolute(path, base)


def _absolute(path: Path, base: Path) -> Path:
    return (base / path.expanduser()).resolve()
