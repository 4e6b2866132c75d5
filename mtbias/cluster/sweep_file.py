"""The file of a sweep (TOML): models × languages × data sets × presets, and how its tasks run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar
from unicodedata import category

from mtbias.demo import STANZA_NAME
from mtbias.errors import DataError, SettingError, UsageError
from mtbias.files.reading import own_descriptor, parse_toml, read_text, split_lines
from mtbias.files.strict_json import DecodingError, converted
from mtbias.settings import (
    LANG,
    BootstrapSettings,
    DecodingSettings,
    EngineName,
    EvaluatorSettings,
    LanguageModelSettings,
    LimitSettings,
    Preset,
    Settings,
    SourceSettings,
    at_least,
)
from mtbias.translate.language_models.prompt_files import is_file
from mtbias.translate.seq2seq.checkpoints import DEMO, catalog
from mtbias.types import JsonDict, JsonObject

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""The name of a sweep, and so of its jobs; without a hyphen at its beginning, which sbatch would
take for an option."""
_NAME_IN_WORDS = "up to 100 letters (a to z), digits, '.', '_' and '-'"
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""A long option of sbatch, without its hyphens."""
LISTS = {"models", "languages", "datasets", "presets"}
"""Keys whose values are lists of texts."""


@dataclass(frozen=True, kw_only=True)
class Resources(Settings):
    """The resources that a Slurm task asks for."""

    gpus: int = at_least(0, 0, 1024)
    cpus: int = at_least(1, 4, 4096)
    mem: str = "16G"
    """An amount such as ``16G``."""
    minutes: int = at_least(1, 480, 60 * 24 * 365)

    def __post_init__(self) -> None:
        super().__post_init__()
        mem = self.mem
        if not (mem[:-1].isascii() and mem[:-1].isdigit() and mem[-1:] in tuple("KMGT")):
            raise SettingError("mem", f"expected an amount such as 16G or 8000M, got {mem!r}")


@dataclass(frozen=True, kw_only=True)
class Slurm(Resources):
    """How jobs are submitted; the resources are those of translation with checkpoints."""

    gpus: int = at_least(0, 1, 1024)
    mem: str = "64G"
    partition: str | None = None
    account: str | None = None
    max_parallel: int | None = at_least(1, None, 100_000)
    """Tasks of an array that may run at once."""
    score: Resources = Resources()
    """Resources of scoring, and of translation that another machine computes."""
    extra: Mapping[str, str | int | bool] = field(default_factory=dict)
    """Further options of sbatch, such as ``qos``."""
    setup: tuple[str, ...] = ()
    """Shell lines before a task, such as ``module load cuda``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in self.extra:
            if not _OPTION.fullmatch(key):
                raise SettingError(
                    "extra", f"expected names of options of sbatch, such as qos, got {key!r:.60}"
                )
        script_lines = {"partition": self.partition, "account": self.account, **self.extra}
        for key, value in script_lines.items():
            if isinstance(value, str) and not value.isprintable():
                raise SettingError(
                    key, f"expected text in one line without control characters, got {value!r}"
                )


@dataclass(frozen=True, kw_only=True)
class Sweep(
    SourceSettings,
    LimitSettings,
    DecodingSettings,
    LanguageModelSettings,
    EvaluatorSettings,
    BootstrapSettings,
):
    """Everything that a sweep's tasks depend on. Paths are absolute."""

    engine: EngineName = "transformers"
    """The same for all presets: tasks of one run work on different machines, which need not have
    the same installed."""
    name: str = ""
    """Letters (a to z), digits, ``.``, ``_`` and ``-``; default: the file's name, with ``_`` for
    other characters."""
    out: Path
    """Folder of all runs."""
    models: tuple[str, ...] = ()
    """Short names, hub ids, absolute paths of folders, ``openai:NAME`` of an endpoint, or
    ``deepl:MODEL``."""
    systems: Mapping[str, Path] = field(default_factory=dict)
    """Files of translations by the system's name, with ``{lang}`` in the path for the language."""
    languages: tuple[str, ...]
    datasets: tuple[str, ...]
    presets: tuple[Preset, ...] = ("paper",)
    data: Mapping[str, Path] = field(default_factory=dict)
    """File or folder to read instead of the cache, by data set."""
    shards: int | None = at_least(1, None, 10_000)
    """Shards of every run; None: as many as its sentences need at `sentences_per_shard`."""
    sentences_per_shard: int = at_least(1, 20_000)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to translate; auto: a GPU if there is one."""
    slurm: Slurm = Slurm()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name and not _NAME.fullmatch(self.name):
            raise SettingError("name", f"expected {_NAME_IN_WORDS}, got {self.name!r:.60}")
        # The path is part of the jobs' scripts.
        if any(category(char) == "Cc" for char in str(self.out)):
            raise SettingError(
                "out", f"expected a path without control characters, got {str(self.out)!r:.200}"
            )
        for key in ("models", "languages", "datasets", "presets"):
            values = getattr(self, key)
            if not (values or (key == "models" and self.systems)) or not all(values):
                raise SettingError(
                    key, f"expected a list of texts, at least one, got {list(values)!r}"
                )
            if twice := [value for n, value in enumerate(values) if value in values[:n]]:
                raise SettingError(key, f"expected each value once, got {twice[0]!r} twice")
        if self.systems and self.limit is not None:
            message = "expected none beside [systems], whose files are of the whole data set"
            raise SettingError("limit", f"{message}, got {self.limit}")
        for system, path in self.systems.items():
            check_name("systems", system)
            if len(self.languages) > 1 and LANG not in str(path):
                message = (
                    f"expected {LANG} in the path where there are several languages, got {path}"
                )
                raise SettingError(f"systems.{system}", message)
        for name in self.data:
            if name not in self.datasets:
                known = ", ".join(self.datasets)
                raise SettingError(
                    f"data.{name}", f"expected one of this sweep's datasets: {known}"
                )


def check_name(key: str, name: str) -> None:
    """`SettingError` for a name in the table `key` that is not a name of a folder."""
    if not _NAME.fullmatch(name):
        message = f"expected names of {_NAME_IN_WORDS}, got {name!r:.60}"
        raise SettingError(key, message)


def read_sweep(path: Path | str, changes: Sequence[str] = ()) -> Sweep:
    """Read a sweep's file; each of `changes` (``key=value``) overrides a key of it.

    Relative paths start at the folder of the file, those of `changes` at the current folder.

    Raises:
        DataError: the file is missing, a pipe or not TOML, or a sweep of coreference; a key is
            unknown or its value of a wrong type. The message has file, line and key.
        UsageError: a change has such a fault.
    """
    path = Path(path)
    if is_of_coreference(path):
        message = (
            "expected a sweep of translation, got one of coreference, which `mtbias sweep FILE` "
            "runs; for jobs of a cluster it takes --tasks and --task"
        )
        raise DataError(message, path=path)
    sweep = read_as(Sweep, path, changes, _with_paths)
    return replace(sweep, name=sweep.name or name_of(path))


COREFERENCE = "training"
"""The table that a sweep of coreference has, and one of translation has not."""


def is_of_coreference(path: Path) -> bool:
    """Whether a file is a sweep of coreference; not where it cannot be read, which is said by
    whoever reads it as a sweep.
    """
    if own_descriptor(path) is not None:
        return False
    try:
        return COREFERENCE in parse_toml(read_text(path))
    except DataError:
        return False


def read_as(
    kind: type[T], path: Path, changes: Sequence[str], placed: Callable[[JsonDict, Path], JsonDict]
) -> T:
    """A sweep's file as a value of the dataclass `kind`; `changes` as in `read_sweep`, `placed`
    makes the paths in a table absolute, which count from a folder.

    Raises:
        DataError, UsageError: as `read_sweep`.
    """
    if own_descriptor(path) is not None:
        message = (
            "expected a file, which the sweep's processes read again, got a pipe; "
            "write the content into one"
        )
        raise DataError(message, path=path)
    file = read_text(path)
    changed = placed(_tables(changes), Path.cwd())
    content = placed(parse_toml(file), path.resolve().parent)
    try:
        return converted(kind, _merged(content, changed))
    except DecodingError as error:
        key = str(error).partition(": ")[0]
        if key.partition(".")[0] in changed:
            raise UsageError(f"--set {error}") from None
        raise file.error(str(error), _line_of(file.text, key)) from None


def name_of(path: Path) -> str:
    """The name of a sweep whose file does not give one."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", path.stem)[:100]
    return name if _NAME.fullmatch(name) else f"sweep{name}"[:100]


def _tables(changes: Sequence[str]) -> JsonDict:
    """The content of changes. Values are TOML, or texts without quotes; a list may be texts with
    commas between them.

    Raises:
        UsageError: a change is not ``key=value``.
    """
    tables: JsonDict = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if key.strip() in LISTS:
            texts = [part.strip(" \"'") for part in value.strip(" []").split(",")]
            value = json.dumps(texts, ensure_ascii=False)
        for text in (value, json.dumps(value, ensure_ascii=False)) if equals else ():
            # It may not be TOML, or have thousands of digits, or lists without end.
            with suppress(ValueError, RecursionError):
                tables = _merged(tables, tomllib.loads(f"{key} = {text}"))
                break
        else:
            raise UsageError(
                "--set: expected KEY=VALUE, such as models=opus-mt,m2m100 or seed=1, "
                f"got {change!r}"
            )
    return tables


def _merged(content: JsonObject, changes: JsonObject) -> JsonDict:
    """The content with `changes`; tables are merged key by key."""
    merged = dict(content)
    for key, value in changes.items():
        both_tables = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both_tables else value
    return merged


def _line_of(text: str, key: str) -> int | None:
    """The 1-based line of a key such as ``slurm.gpus``, or of the table that holds it; None where
    neither is in the text.
    """
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(split_lines(text), start=1):
        if header := re.match(r"\s*\[([^\[\]=]+)\]", line):
            table = header[1].strip()
            lines.setdefault(table, number)
        elif setting := re.match(r"""\s*["']?([^"'=#\[\]]+?)["']?\s*=""", line):
            lines.setdefault(f"{table}.{setting[1]}" if table else setting[1], number)
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


def _with_paths(content: JsonDict, base: Path) -> JsonDict:
    """The content with absolute paths; relative ones start at `base`. Models are names or paths of
    folders.
    """

    def absolute(value: Any) -> Any:  # noqa: ANN401 - any TOML
        is_path = isinstance(value, str) and value != STANZA_NAME
        return str(absolute_path(value, base)) if is_path else value

    def model(value: Any) -> Any:  # noqa: ANN401 - any TOML
        return model_path(value, base) if isinstance(value, str) else value

    placed = dict(content)
    files = {"prompt"} if is_file(str(placed.get("prompt", ""))) else set()
    for key in placed.keys() & {"out", "stanza_dir", "cache_dir", *files}:
        placed[key] = absolute(placed[key])
    if "aligner_model" in placed:
        placed["aligner_model"] = model(placed["aligner_model"])
    if isinstance(placed.get("models"), list):
        placed["models"] = [model(name) for name in placed["models"]]
    for key in ("data", "systems"):
        if isinstance(placed.get(key), dict):
            placed[key] = {name: absolute(path) for name, path in placed[key].items()}
    return placed


def to_toml(sweep: Sweep) -> str:
    """A file that `read_sweep` reads as `sweep`: one key a line, tables inline."""
    settings = {key: value for key, value in asdict(sweep).items() if value is not None}
    return "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())


def _toml(value: object) -> str:
    """A value as TOML, in which texts, numbers and lists of texts are written as in JSON."""
    if isinstance(value, Mapping):
        present = {key: each for key, each in value.items() if each is not None}
        pairs = [f"{json.dumps(key)} = {_toml(each)}" for key, each in present.items()]
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)


def model_path(model: str, base: Path) -> str:
    """A model's name in a sweep: the absolute path of a folder, any other name as it is."""
    if not model or model in catalog() or model == DEMO:
        return model
    folder = absolute_path(model, base)
    return str(folder) if folder.is_dir() or Path(model).expanduser().is_absolute() else model


def absolute_path(path: str, base: Path) -> Path:
    """A path that counts from `base`."""
    return (base / Path(path).expanduser()).resolve()
