"""Where a model is: a short name, a hub id or a local folder becomes a folder of files at a known
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

DEMO = "demo"
RECORD = "models.json"
"""The file in the cache that holds, for each repository, the commit it was first fetched at."""

_BRANCH = "main"
"""Of a repository, where no other is asked for."""
_CONFIG = "config.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # no ./folder that is not there
_WANTED = (
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
        """Refuse what would load files that `revision` does not cover, or code.

        Raises:
            ModelError: an index of weights names a file elsewhere, or config.json a kernel of the
                hub, or more layers than any model has; there is an adapter.
            DataError: a pipe or a device is among the files.
        """
        refuse_special(self.folder)
        if (
            self.folder / "adapter_config.json"
        ).exists():  # loaded where peft is installed, and nowhere else
            raise ModelError(
                f"{self.folder}: expected whole weights, got an adapter too; merge it into them, or remove its files"
            )
        for index in (_WEIGHTS[1], _OLD_WEIGHTS[1]):
            names = _object(self.folder / index).get("weight_map") or {}
            for name in sorted(map(str, names.values())) if isinstance(names, dict) else ():
                if not any(
                    fnmatchcase(name, pattern) and "/" not in name
                    for pattern in (_WEIGHTS[0], _OLD_WEIGHTS[0])
                ):
                    raise ModelError(
                        f"{self.folder / index}: expected names of weights in this folder ({_WEIGHTS[0]}), got {name!r}"
                    )
        configs = [_object(self.folder / _CONFIG)]
        for config in configs:
            configs += [each for each in config.values() if isinstance(each, dict)]
            for key in (
                "_attn_implementation",
                "attn_implementation",
                "_attn_implementation_internal",
            ):
                if "/" in str(
                    config.get(key, "")
                ):  # transformers would ask the hub for native code, offline too
                    raise ModelError(
                        f"{self.folder / _CONFIG}: {key}: expected an implementation of transformers, got code of the "
                        f"hub, {config[key]!r}; remove it"
                    )
            for key in _LAYERS:
                if (
                    isinstance(n := config.get(key), int) and n > _MOST_LAYERS
                ):  # they are made one by one
                    raise ModelError(
                        f"{self.folder / _CONFIG}: {key}: expected at most {_MOST_LAYERS}, got {n}; download the "
                        "checkpoint again"
                    )


@contextmanager
def explained(folder: Path, doing: str, advice: str) -> Iterator[None]:
    """Within the block an error of a library is one line: which checkpoint, what failed, what to
    do.

    Raises:
        DependencyError: a library is not installed.
        ModelError: anything else that is no error of ours.
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
    """Find the files of a model, and download them where they are missing and the network may be
    used.

    Args:
        model: a short name (`catalog`), ``demo``, a hub id (``owner/name``), or a folder with a
            checkpoint.
        lang: ISO 639-1 code of the target language.
        cache: mtbias's cache, where the commits of fetched models are written down. The files are
            in Hugging Face's own cache (``HF_HOME``).
        revision: a commit (40 hexadecimal digits), branch or tag of the hub repository; without
            network, a branch is at the commit at which it was last fetched.
        offline: never use the network (so do ``HF_HUB_OFFLINE=1`` and ``MTBIAS_NO_NETWORK=1``).
        fetch: whether to download what is missing.
        source_lang: ISO 639-1 code of the language of the sources.

    Raises:
        UsageError: no such model.
        MissingResourceError: it is not here and may not, or cannot, be fetched; names the command
            that does.
        ModelError: a folder that holds no checkpoint, or a model that does not translate into
            `lang`.
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
            f"{repository} does not translate into the language asked for; use facebook/mbart-large-50-many-to-many-mmt"
        )
    pinned = revision or (named.revision if named else "") or read_pins(cache).get(repository)
    command = f"mtbias fetch --model {model} --lang {lang}" + (
        f" --revision {revision}" if revision else ""
    )
    command += "" if source_lang == "en" else f" --source-lang {source_lang}"
    return _hub(
        repository, pinned, command, cache, online=fetch and downloads_allowed(offline=offline)
    )


def check_name(model: str) -> None:
    """Refuse what cannot be a model: no short name, no folder that is here, and no hub id. Nothing
    is looked up.

    Raises:
        SettingError: it cannot be; names the short names that are close.
    """
    names = [*catalog(), DEMO]
    is_folder = model != "" and Path(model).is_dir()  # an empty path would be the current folder
    if model in names or _HUB_ID.fullmatch(model) or is_folder:
        return
    raise SettingError(
        "model",
        "expected a short name, a hub id (OWNER/NAME) or a folder with a checkpoint, "
        f"got {model!r}; {choices(model, [*names, *(f'{scheme}:NAME' for scheme in installed(GROUP))])}",
    )


def check_language(model: str, lang: str, source_lang: str = "en") -> None:
    """Refuse a language that the model certainly lacks: of no other than the demo's is that known
    by its name.

    Raises:
        UsageError: names those that it has.
    """
    if model == DEMO and lang not in languages():
        raise UsageError(
            f"the model {DEMO} translates into {', '.join(languages())} alone, got the language {lang}"
        )
    if model == DEMO and source_lang != "en":
        raise UsageError(
            f"the model {DEMO} translates from en alone, got the language {source_lang}"
        )


def read_pins(cache: Path) -> dict[str, str]:
    """Commits by repository, written down when each was first fetched.

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
    paths = _matching(folder, *_WANTED, *_WEIGHTS, *_OLD_WEIGHTS)
    if any(path.suffix == ".safetensors" for path in paths):
        paths = {
            path for path in paths if path.suffix != ".bin"
        }  # transformers prefers safetensors
    for path in sorted(paths):
        digest.update(f"{path.name} {file_hash(path)}\n".encode())
    return digest.hexdigest()


def files_beside_weights(folder: Path) -> list[Path]:
    """Config and tokenizer of a checkpoint: all that mtbias reads of it but the weights."""
    return sorted(_matching(folder, *_WANTED))


def _matching(folder: Path, *patterns: str) -> set[Path]:
    return {path for pattern in patterns for path in folder.glob(pattern)}


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with open_input(path) as file:
        return file_digest(file, "sha256").hexdigest()


def _hub(
    repository: str, pinned: str | None, command: str, cache: Path, *, online: bool
) -> Checkpoint:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    # A branch or tag may have moved: where the network may be used, the hub says which commit it is
    # now; elsewhere the hub's cache says which it was when it was fetched, by whatever program.
    lacking: list[str] = []
    if not online or (pinned is not None and _COMMIT.fullmatch(pinned)):
        try:
            found = Path(
                snapshot_download(repository, revision=pinned or _BRANCH, local_files_only=True)
            )
        except (LocalEntryNotFoundError, OSError):
            pass
        else:
            lacking = missing_files(found)
            if not lacking:
                if pinned is None and _pin(cache, repository, found.name) != found.name:
                    return _hub(
                        repository, read_pins(cache)[repository], command, cache, online=online
                    )
                return Checkpoint(repository, found.name, found)
    if not online:
        at = f" at {pinned[:12]}" if pinned else ""
        what = f"is here without {', '.join(lacking)}" if lacking else "is not on this machine"
        raise MissingResourceError(
            f"the model {repository}{at} {what}, and the network may not be used; on a machine with network run: "
            f"{command}"
        )
    return _download(repository, pinned, cache)


def missing_files(folder: Path) -> list[str]:
    """What a checkpoint lacks that it cannot be loaded without: a download that was stopped leaves
    such a folder.

    Config, one whole set of weights (with an index: every file that it names), the files of the
    family's tokenizer.
    """
    if not (folder / _CONFIG).is_file():
        return [_CONFIG]
    lacking = _missing_weights(folder)
    try:
        family = family_of(
            _object(folder / _CONFIG),
            str(_object(folder / TOKENIZER_CONFIG).get("tokenizer_class") or ""),
        )
    except ModelError:
        return lacking  # whoever reads it says what is wrong with it
    for names in family.tokenizer_files:
        if not any((folder / name).is_file() for name in names):
            lacking.append(" or ".join(names))
    return lacking


def _object(path: Path) -> dict[str, Any]:
    """The object in a JSON file, empty where there is none that can be read."""
    try:
        content = load_json(input_bytes(path))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def is_decoder(folder: Path) -> bool:
    """Whether a checkpoint is a causal language model, by the architecture that its config names.

    Of models that read pictures too (Gemma 3), those count that transformers takes for one.
    """
    config = _object(
        folder / _CONFIG
    )  # empty where it cannot be read: whoever loads it says what is wrong
    # Sequence-to-sequence models have such a class for their decoder alone (MarianForCausalLM).
    if config.get("is_encoder_decoder"):
        return False
    named = str((config.get("architectures") or [""])[0])
    if named.endswith("ForCausalLM"):
        return True
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return (
        bool(named)
        and MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(str(config.get("model_type"))) == named
    )


def _missing_weights(folder: Path) -> list[str]:
    for whole, index in (
        ("model.safetensors", _WEIGHTS[1]),
        ("pytorch_model.bin", _OLD_WEIGHTS[1]),
    ):
        if (folder / whole).is_file():
            return []
        if (folder / index).is_file():
            named = _object(folder / index).get("weight_map")
            if not isinstance(named, dict):
                return [index]
            return sorted(
                name for name in set(named.values()) if not (folder / str(name)).is_file()
            )
    return ["model.safetensors or pytorch_model.bin"]


def _download(repository: str, pinned: str | None, cache: Path) -> Checkpoint:
    """Download a repository's files at one commit; where none was asked for, write it down for the
    next time.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    try:
        info = HfApi().model_info(repository, revision=pinned)
        names = {sibling.rfilename for sibling in info.siblings or ()}
        safe = any(name.endswith(".safetensors") and "/" not in name for name in names)
        weights = _WEIGHTS if safe else _OLD_WEIGHTS
        # By the name that was asked for: the hub's cache then holds which commit that was, for runs
        # without network.
        revision = pinned or str(info.sha)
        folder = Path(
            snapshot_download(repository, revision=revision, allow_patterns=[*_WANTED, *weights])
        )
        commit = folder.name
    except Exception as error:
        raise MissingResourceError(
            f"the model {repository} (https://huggingface.co/{repository}) could not be downloaded: "
            f"{why_failed(error)}; check the name and the network, or give a folder with the checkpoint"
        ) from error
    if lacking := missing_files(folder):
        raise ModelError(
            f"{repository} at {commit} lacks {', '.join(lacking)}, without which mtbias cannot load it"
        )
    if pinned is None and (kept := _pin(cache, repository, commit)) != commit:
        return _download(
            repository, kept, cache
        )  # another process wrote one down meanwhile: both use that
    return Checkpoint(repository, commit, folder)


def _pin(cache: Path, repository: str, commit: str) -> str:
    """Write down the commit of a repository where none is; gives the one that is there in the
    end.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with waiting_lock(cache / f".{RECORD}.lock"):
        pins = read_pins(cache)
        if repository not in pins:
            content = json.dumps(dict(sorted({**pins, repository: commit}.items())), indent=2)
            write_atomic(cache / RECORD, f"{content}\n".encode(), own=True)
        return pins.get(repository, commit)
