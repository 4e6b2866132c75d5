"""Finding a model's files: a short name, a hub id or a local folder becomes a folder at a known
revision.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import file_digest, sha256
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

from mtbias.demo import languages, model_folder_of_demo
from mtbias.entry_points import installed
from mtbias.errors import (
    DependencyError,
    MissingResourceError,
    ModelError,
    MtbiasError,
    SettingError,
    UsageError,
    choices,
    first_line,
)
from mtbias.files.reading import input_bytes, open_input, refuse_special
from mtbias.files.strict_json import DecodingError, decoded, load_json
from mtbias.files.writing import waiting_lock, write_atomic
from mtbias.machine.network import downloads_allowed, why_failed
from mtbias.translate.seq2seq.families import family_of
from mtbias.translate.system import GROUP
from mtbias.types import JsonDict

DEMO = "demo"
RECORD = "models.json"
"""The file in the cache with the commit at which each repository was first fetched."""

_BRANCH = "main"
"""The default branch of a repository."""
_CONFIG = "config.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # no ./folder that is not there
_CONFIG_FILES = (
    "config.json",
    "generation_config.json",
    "*token*.json",
    "special_tokens_map.json",
    "vocab.json",
    "target_vocab.json",
    "*.model",
    "*.spm",
    "merges.txt",
    "chat_template.jinja",
)
_WEIGHTS = ("model*.safetensors", "model.safetensors.index.json")
_OLD_WEIGHTS = ("pytorch_model*.bin", "pytorch_model.bin.index.json")
_LAYERS = (
    "decoder_layers",
    "encoder_layers",
    "num_decoder_layers",
    "num_hidden_layers",
    "num_layers",
)
_MOST_LAYERS = 1000
_ATTENTION_KEYS = (
    "_attn_implementation",
    "attn_implementation",
    "_attn_implementation_internal",
)
_NOT_MANY_TO_MANY = {
    "facebook/mbart-large-50",
    "facebook/mbart-large-50-many-to-one-mmt",
    "facebook/mbart-large-cc25",
}


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A line of the catalog."""

    name: str
    repository: str
    family: str
    licence: str
    note: str
    revision: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model on this machine."""

    name: str
    """Hub id, or the folder's name."""
    revision: str
    """The commit, or ``sha256:…`` over the files of a local folder."""
    folder: Path

    def __post_init__(self) -> None:
        """Refuse a folder that would load code, or files that `revision` does not cover.

        Raises:
            ModelError: an index of weights names a file elsewhere; config.json names a kernel of
                the hub or more layers than any model has; there is an adapter.
            DataError: a pipe or a device is among the files.
        """
        refuse_special(self.folder)
        # Where peft is installed, transformers loads an adapter, elsewhere not.
        if (self.folder / "adapter_config.json").exists():
            raise ModelError(
                f"{self.folder}: expected whole weights, got an adapter too; "
                "merge it into them, or remove its files"
            )
        for index in (_WEIGHTS[1], _OLD_WEIGHTS[1]):
            self._check_index(self.folder / index)
        configs = [_object(self.folder / _CONFIG)]
        for config in configs:
            configs += [each for each in config.values() if isinstance(each, dict)]
            self._check_config(config)

    @staticmethod
    def _check_index(path: Path) -> None:
        """Refuse an index of weights with a file that is not beside it."""
        names = _object(path).get("weight_map") or {}
        for name in sorted(map(str, names.values())) if isinstance(names, dict) else ():
            is_weights = fnmatchcase(name, _WEIGHTS[0]) or fnmatchcase(name, _OLD_WEIGHTS[0])
            if "/" in name or not is_weights:
                raise ModelError(
                    f"{path}: expected names of weights in this folder ({_WEIGHTS[0]}), "
                    f"got {name!r}"
                )

    def _check_config(self, config: JsonDict) -> None:
        """Refuse a config with code of the hub or an absurd number of layers."""
        path = self.folder / _CONFIG
        for key in _ATTENTION_KEYS:
            # transformers would fetch native code from the hub, even offline.
            if "/" in str(config.get(key, "")):
                raise ModelError(
                    f"{path}: {key}: expected an implementation of transformers, "
                    f"got code of the hub, {config[key]!r}; remove it"
                )
        for key in _LAYERS:  # layers are built one by one
            layers = config.get(key)
            if isinstance(layers, int) and layers > _MOST_LAYERS:
                raise ModelError(
                    f"{path}: {key}: expected at most {_MOST_LAYERS}, got {layers}; "
                    "download the checkpoint again"
                )


@contextmanager
def explained(folder: Path, doing: str, advice: str) -> Iterator[None]:
    """Turn a library's error in the block into one line: which checkpoint, what failed, what to do.

    Raises:
        DependencyError: a library is not installed.
        ModelError: any other error of a library.
    """
    try:
        yield
    except MtbiasError:
        raise
    except ImportError as error:
        raise DependencyError(
            f"{folder}: {doing} needs a library that is not installed: {first_line(error)}"
        ) from error
    except Exception as error:
        raise ModelError(
            f"{folder}: {doing} failed: {type(error).__name__}: {first_line(error)[:200]}; {advice}"
        ) from error


@functools.cache
def catalog() -> Mapping[str, NamedModel]:
    """The models that have a short name."""
    text = (
        resources.files("mtbias.translate.seq2seq")
        .joinpath("models.toml")
        .read_text(encoding="utf-8")
    )
    return {name: NamedModel(name=name, **entry) for name, entry in tomllib.loads(text).items()}


def locate(
    model: str,
    lang: str,
    *,
    cache: Path,
    revision: str | None = None,
    offline: bool = False,
    fetch: bool = True,
    source_lang: str = "en",
) -> Checkpoint:
    """Find the files of a model, and download missing ones if the network may be used.

    Args:
        model: a short name (`catalog`), ``demo``, a hub id (``owner/name``), or a folder with a
            checkpoint.
        lang: ISO 639-1 code of the target language.
        cache: mtbias's cache, which records the commits of fetched models. The files are in
            Hugging Face's own cache (``HF_HOME``).
        revision: a commit (40 hexadecimal digits), branch or tag of the hub repository; without
            network, a branch is at the commit at which it was last fetched.
        offline: whether the network is forbidden, as with ``HF_HUB_OFFLINE=1`` and
            ``MTBIAS_NO_NETWORK=1``.
        fetch: whether to download missing files.
        source_lang: ISO 639-1 code of the language of the sources.

    Raises:
        UsageError: there is no such model.
        MissingResourceError: it is missing here and may not, or cannot, be fetched; names the
            command that fetches it.
        ModelError: the folder holds no checkpoint, or the model does not translate into `lang`.
    """
    if model == DEMO:
        if revision is not None:
            raise UsageError(f"--revision is for models of the hub; {DEMO} ships with mtbias")
        check_language(model, lang, source_lang)
        return _local(model_folder_of_demo(), DEMO)
    folder = Path(model)
    if folder.is_dir():
        if revision is not None:
            raise UsageError(f"--revision is for models of the hub; {model} is a folder")
        return _local(folder, folder.resolve().name)
    check_name(model)
    named = catalog().get(model)
    repository = named.repository.format(lang=lang, source=source_lang) if named else model
    if repository in _NOT_MANY_TO_MANY:
        raise ModelError(
            f"{repository} does not translate into the language asked for; "
            "use facebook/mbart-large-50-many-to-many-mmt"
        )
    pinned = revision or (named.revision if named else "") or read_pins(cache).get(repository)
    command = f"mtbias fetch --model {model} --lang {lang}"
    if revision:
        command += f" --revision {revision}"
    if source_lang != "en":
        command += f" --source-lang {source_lang}"
    online = fetch and downloads_allowed(offline=offline)
    return _hub(repository, pinned, command, cache, online=online)


def check_name(model: str) -> None:
    """Refuse a name that is neither a short name nor an existing folder nor like a hub id, without
    looking anything up.

    Raises:
        SettingError: it is none of these; names the short names that are close.
    """
    names = [*catalog(), DEMO]
    is_folder = model != "" and Path(model).is_dir()  # an empty path would be the current folder
    if model in names or _HUB_ID.fullmatch(model) or is_folder:
        return
    schemes = [f"{scheme}:NAME" for scheme in installed(GROUP)]
    raise SettingError(
        "model",
        "expected a short name, a hub id (OWNER/NAME) or a folder with a checkpoint, "
        f"got {model!r}; {choices(model, [*names, *schemes])}",
    )


def check_language(model: str, lang: str, source_lang: str = "en") -> None:
    """Refuse a language that the model certainly lacks, which is known by its name only for the
    demo's model.

    Raises:
        UsageError: it lacks the language; names those that it has.
    """
    if model == DEMO and lang not in languages():
        raise UsageError(
            f"the model {DEMO} translates into {', '.join(languages())} alone, "
            f"got the language {lang}"
        )
    if model == DEMO and source_lang != "en":
        raise UsageError(
            f"the model {DEMO} translates from en alone, got the language {source_lang}"
        )


def read_pins(cache: Path) -> dict[str, str]:
    """The commit of each repository when it was first fetched.

    Raises:
        ModelError: the file is damaged.
    """
    path = cache / RECORD
    try:
        return dict(decoded(dict[str, str], input_bytes(path)))
    except FileNotFoundError:
        return {}
    except DecodingError as error:
        raise ModelError(
            f"{path}: damaged: {error}; delete it and run mtbias fetch again"
        ) from None


def _local(folder: Path, name: str) -> Checkpoint:
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"{folder}: expected a checkpoint in Hugging Face's layout, got no config.json"
        )
    return Checkpoint(name, f"sha256:{files_hash(folder)[:16]}", folder)


def files_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of a checkpoint's files (config, tokenizer, weights)."""
    digest = sha256()
    paths = _matching(folder, *_CONFIG_FILES, *_WEIGHTS, *_OLD_WEIGHTS)
    if any(path.suffix == ".safetensors" for path in paths):
        # transformers prefers safetensors.
        paths = {path for path in paths if path.suffix != ".bin"}
    for path in sorted(paths):
        digest.update(f"{path.name} {file_hash(path)}\n".encode())
    return digest.hexdigest()


def files_beside_weights(folder: Path) -> list[Path]:
    """The files of a checkpoint's config and tokenizer, which are all but the weights."""
    return sorted(_matching(folder, *_CONFIG_FILES))


def _matching(folder: Path, *patterns: str) -> set[Path]:
    return set(chain.from_iterable(map(folder.glob, patterns)))


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with open_input(path) as file:
        return file_digest(file, "sha256").hexdigest()


def _hub(
    repository: str, pinned: str | None, command: str, cache: Path, *, online: bool
) -> Checkpoint:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    # A branch or tag may have moved: where the network may be used, the hub tells its commit now;
    # elsewhere the hub's cache tells the commit when it was fetched, by whatever program.
    lacking: list[str] = []
    if not online or (pinned is not None and _COMMIT.fullmatch(pinned)):
        options: dict[str, Any] = {"revision": pinned or _BRANCH, "local_files_only": True}
        try:
            local = Path(snapshot_download(repository, **options))
        except (LocalEntryNotFoundError, OSError):
            pass
        else:
            lacking = missing_files(local)
            if not lacking:
                first = local.name if pinned else _pin(cache, repository, local.name)
                if first != local.name:
                    return _hub(repository, first, command, cache, online=online)
                return Checkpoint(repository, local.name, local)
    if not online:
        at = f" at {pinned[:12]}" if pinned else ""
        what = f"is here without {', '.join(lacking)}" if lacking else "is not on this machine"
        raise MissingResourceError(
            f"the model {repository}{at} {what}, and the network may not be used; "
            f"on a machine with network run: {command}"
        )
    return _download(repository, pinned, cache)


def missing_files(folder: Path) -> list[str]:
    """The files that a checkpoint lacks and cannot be loaded without, as after an interrupted
    download.

    It needs its config, one whole set of weights (with an index: every file that it names), and the
    files of the family's tokenizer.
    """
    if not (folder / _CONFIG).is_file():
        return [_CONFIG]
    lacking = _missing_weights(folder)
    tokenizer_class = str(_object(folder / TOKENIZER_CONFIG).get("tokenizer_class") or "")
    try:
        family = family_of(_object(folder / _CONFIG), tokenizer_class)
    except ModelError:
        return lacking  # the error comes when the config is read
    for names in family.tokenizer_files:
        if not any((folder / name).is_file() for name in names):
            lacking.append(" or ".join(names))
    return lacking


def _object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where it cannot be read."""
    try:
        content = load_json(input_bytes(path))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def is_decoder(folder: Path) -> bool:
    """Whether a checkpoint is a causal language model, by the architecture in its config.

    Models that also read pictures (Gemma 3) are, if transformers loads them as such.
    """
    config = _object(folder / _CONFIG)  # empty where it cannot be read, which is an error later
    # Sequence-to-sequence models have such a class for their decoder alone (MarianForCausalLM).
    if config.get("is_encoder_decoder"):
        return False
    architecture = str((config.get("architectures") or [""])[0])
    if architecture.endswith("ForCausalLM"):
        return True
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(str(config.get("model_type")))
    return bool(architecture) and causal == architecture


def _missing_weights(folder: Path) -> list[str]:
    weights = {"model.safetensors": _WEIGHTS[1], "pytorch_model.bin": _OLD_WEIGHTS[1]}
    for whole, index in weights.items():
        if (folder / whole).is_file():
            return []
        if (folder / index).is_file():
            names = _object(folder / index).get("weight_map")
            if not isinstance(names, dict):
                return [index]
            return sorted(
                name for name in set(names.values()) if not (folder / str(name)).is_file()
            )
    return ["model.safetensors or pytorch_model.bin"]


def _download(repository: str, pinned: str | None, cache: Path) -> Checkpoint:
    """Download a repository's files at one commit, and record it for the next time unless `pinned`
    names it.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    try:
        info = HfApi().model_info(repository, revision=pinned)
        names = {sibling.rfilename for sibling in info.siblings or ()}
        safe = any(name.endswith(".safetensors") and "/" not in name for name in names)
        weights = _WEIGHTS if safe else _OLD_WEIGHTS
        # By the name of the branch or tag: the hub's cache then records its commit, for runs
        # without network.
        revision, patterns = pinned or str(info.sha), [*_CONFIG_FILES, *weights]
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=patterns))
        commit = folder.name
    except Exception as error:
        raise MissingResourceError(
            f"the model {repository} (https://huggingface.co/{repository}) could not be "
            f"downloaded: {why_failed(error)}; check the name and the network, "
            "or give a folder with the checkpoint"
        ) from error
    if lacking := missing_files(folder):
        raise ModelError(
            f"{repository} at {commit} lacks {', '.join(lacking)}, "
            "without which mtbias cannot load it"
        )
    if pinned is None and (first := _pin(cache, repository, commit)) != commit:
        # Another process has recorded a commit meanwhile: both use that.
        return _download(repository, first, cache)
    return Checkpoint(repository, commit, folder)


def _pin(cache: Path, repository: str, commit: str) -> str:
    """Record the commit of a repository unless there is one already; gives the recorded one."""
    cache.mkdir(parents=True, exist_ok=True)
    with waiting_lock(cache / f".{RECORD}.lock"):
        pins = read_pins(cache)
        if repository not in pins:
            content = json.dumps(dict(sorted({**pins, repository: commit}.items())), indent=2)
            write_atomic(cache / RECORD, f"{content}\n".encode(), own=True)
        return pins.get(repository, commit)
