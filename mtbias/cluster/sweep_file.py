"""What a sweep is: models × languages × data sets × presets, and how its tasks are to run; read from a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Literal

from mtbias.cluster.coref_settings import CorefSettings
from mtbias.errors import SettingError
from mtbias.files.reading import parse_toml, read_text, split_lines
from mtbias.files.strict_json import DecodingError, converted
from mtbias.settings import (
    BootstrapSettings,
    DecodingSettings,
    Engine,
    EvaluatorSettings,
    LanguageModelSettings,
    Preset,
    Settings,
    at_least,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Of a sweep: it becomes the name of jobs, and begins with no hyphen, so that it is no option of sbatch."""


@dataclass(frozen=True, kw_only=True)
class Resources(Settings):
    """What a Slurm task asks for; None is what suits the model's size (`mtbias.cluster.model_sizes`)."""

    gpus: int | None = at_least(0, None, 1024)
    cpus: int | None = at_least(1, None, 4096)
    mem: str | None = None
    """Such as ``16G``."""
    minutes: int | None = at_least(1, None, 60 * 24 * 365)

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
    max_parallel: int | None = at_least(1, None, 100_000)
    """Tasks of an array that may run at once."""
    score: Resources = Resources()
    """Of scoring."""
    coref: Resources = Resources()
    """Of a coreference system."""
    models: Mapping[str, Resources] = field(default_factory=dict)
    """Of translation, by model."""
    extra: Mapping[str, str | int | bool] = field(default_factory=dict)
    """Further options of sbatch, such as ``qos``."""
    setup: tuple[str, ...] = ()
    """Shell lines before a task, such as ``module load cuda``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, value in {"partition": self.partition, "account": self.account, **self.extra}.items():
            if isinstance(value, str) and not value.isprintable():  # each is a line of the job's script
                raise SettingError(key, f"expected text in one line without control characters, got {value!r}")


@dataclass(frozen=True, kw_only=True)
class Sweep(DecodingSettings, LanguageModelSettings, EvaluatorSettings, BootstrapSettings):
    """All that a sweep's tasks depend on. Paths are absolute."""

    engine: Engine = "transformers"
    """The same for all presets: tasks of one run work on different machines, which need not have the same installed."""
    name: str = ""
    """Letters (a to z), digits, ``.``, ``_`` and ``-``; default: the file's name, with ``_`` for other characters."""
    out: Path
    """Folder of all runs."""
    models: tuple[str, ...] = ()
    """Short names, hub ids, absolute paths of folders, ``openai:NAME`` of an endpoint, or ``deepl:MODEL``."""
    languages: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ("paper",)
    data: Mapping[str, Path] = field(default_factory=dict)
    """File or folder to read instead of the cache, by data set."""
    shards: int | None = at_least(1, None, 10_000)
    """Shards of every run; None: as many as its sentences need at `sentences_per_shard`."""
    sentences_per_shard: int = at_least(1, 20_000)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to translate; auto: a GPU where there is one."""
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Sentences a second by model, for the estimate."""
    slurm: Slurm = Slurm()
    coref: CorefSettings | None = None
    """Coreference systems, beside translation or alone."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name and not _NAME.fullmatch(self.name):
            raise SettingError(
                "name", f"expected up to 100 letters (a to z), digits, '.', '_' and '-', got {self.name!r:.60}"
            )
        for key in ("models", "languages", "datasets", "presets"):
            values = getattr(self, key)
            if self.coref is not None and not (self.models or self.languages or self.datasets):
                continue  # coreference alone
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
            if not 0 < speed < inf:
                raise SettingError(f"speeds.{model}", f"expected a finite number above 0, got {speed:g}")


def read_sweep(path: Path | str) -> Sweep:
    """Read a sweep's file. Relative paths count from the folder of the file.

    Raises:
        DataError: no such file, no TOML, an unknown key, a value of a wrong type; with file, line and key.
    """
    path = Path(path)
    file = read_text(path)
    base = path.resolve().parent
    try:
        sweep = converted(Sweep, _with_models(parse_toml(file), base))
    except DecodingError as error:
        raise file.error(str(error), _line_of(file.text, str(error).partition(": ")[0])) from None
    return resolved(replace(sweep, name=sweep.name or name_of(path.stem)), base)


def name_of(text: str) -> str:
    """A sweep's name made of a file's: other characters than a name may have become ``_``."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", text)[:100]
    return name if _NAME.fullmatch(name) else f"sweep{name}"[:100]


def _line_of(text: str, key: str) -> int | None:
    """The 1-based line where a key such as ``slurm.gpus`` is set, or the table that holds it; None if not found."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(split_lines(text), start=1):
        if header := re.match(r"\s*\[([^\[\]=]+)\]", line):
            table = header[1].strip()
            lines.setdefault(table, number)
        elif found := re.match(r"""\s*["']?([^"'=#\[\]]+?)["']?\s*=""", line):
            lines.setdefault(f"{table}.{found[1]}" if table else found[1], number)
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


def resolved(sweep: Sweep, base: Path) -> Sweep:
    """The sweep with its paths absolute; relative ones count from `base`."""
    return replace(
        sweep,
        out=_absolute(sweep.out, base),
        data={name: _absolute(file, base) for name, file in sweep.data.items()},
        aligner_model=None if sweep.aligner_model is None else model_path(sweep.aligner_model, base),
        stanza_dir=None if sweep.stanza_dir is None else _stanza_path(sweep.stanza_dir, base),
        cache_dir=None if sweep.cache_dir is None else _absolute(sweep.cache_dir, base),
        coref=None if sweep.coref is None else sweep.coref.resolved(base),
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
    """A file that `read_sweep` reads as `sweep`, for one that was given as options (no [slurm], no [coref])."""
    tables = {"data", "speeds", "slurm", "coref"}
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
