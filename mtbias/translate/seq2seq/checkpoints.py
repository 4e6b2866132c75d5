"""Where a model is: a short name, a hub id or a local folder becomes a folder of files at a known revision."""

from __future__ import annotations

import functools
import json
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import file_digest, sha256
from importlib import resources
from math import inf
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
)
from mtbias.files.reading import input_bytes, open_input, refuse_special
from mtbias.files.strict_json import DecodingError, decoded, load_json
from mtbias.files.writing import waiting_lock, write_atomic
from mtbias.machine.network import downloads_allowed, why_failed
from mtbias.translate.seq2seq.families import family_of
from mtbias.translate.system_kinds import GROUP

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
_LAYERS = ("decoder_layers", "encoder_layers", "num_decoder_layers", "num_hidden_layers", "num_layers")
"""What a config.json calls its numbers of layers."""
_NOT_MANY_TO_MANY = {"facebook/mbart-large-50", "facebook/mbart-large-50-many-to-one-mmt", "facebook/mbart-large-cc25"}


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
            ModelError: an index of weights names a file elsewhere, or config.json a kernel of the hub, or more layers
                than can be in the weights.
            DataError: a pipe or a device is among the files.
        """
        refuse_special(self.folder)
        for index in (_WEIGHTS[1], _OLD_WEIGHTS[1]):
            names = _object(self.folder / index).get("weight_map") or {}
            for name in sorted(map(str, names.values())) if isinstance(names, dict) else ():
                if not any(
                    fnmatchcase(name, pattern) and "/" not in name for pattern in (_WEIGHTS[0], _OLD_WEIGHTS[0])
                ):
                    raise ModelError(
                        f"{self.folder / index}: expected names of weights in this folder ({_WEIGHTS[0]}), got {name!r}"
                    )
        configs = [_object(self.folder / _CONFIG)]
        for config in configs:
            configs += [each for each in config.values() if isinstance(each, dict)]
            for key in ("_attn_implementation", "attn_implementation", "_attn_implementation_internal"):
                if "/" in str(config.get(key, "")):  # transformers would ask the hub for native code, offline too
                    raise ModelError(
                        f"{self.folder / _CONFIG}: {key}: expected an implementation of transformers, got code of the "
                        f"hub, {config[key]!r}; remove it"
                    )
            layers = {key: n for key in _LAYERS if isinstance(n := config.get(key), int)}
            most = _tensors(self.folder) if layers else inf
            for key, n in layers.items():
                if n > most:  # they are made one by one
                    raise ModelError(
                        f"{self.folder / _CONFIG}: {key}: expected no more layers than the weights have tensors, "
                        f"{most}, got {n}; download the checkpoint again"
                    )


def first_line(error: BaseException) -> str:
    """The first line of an error's text: libraries give pages."""
    return (str(error).strip().splitlines() or [""])[0]


@contextmanager
def explained(folder: Path, doing: str, advice: str) -> Iterator[None]:
    """Within the block an error of a library is one line: which checkpoint, what failed, what to do.

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
    text = resources.files("mtbias.translate.seq2seq").joinpath("models.toml").read_text(encoding="utf-8")
    return {name: NamedModel(name=name, **entry) for name, entry in tomllib.loads(text).items()}


def locate(
    model: str, lang: str, *, cache: Path, revision: str | None = None, offline: bool = False, fetch: bool = True
) -> Checkpoint:
    """Find the files of a model, and download them where they are missing and the network may be used.

    Args:
        model: a short name (`catalog`), ``demo``, a hub id (``owner/name``), or a folder with a checkpoint.
        lang: ISO 639-1 code of the target language.
        cache: mtbias's cache, where the commits of fetched models are written down. The files are in Hugging
            Face's own cache (``HF_HOME``).
        revision: a commit (40 hexadecimal digits), branch or tag of the hub repository; without network, a branch is
            at the commit at which it was last fetched.
        offline: never use the network (so do ``HF_HUB_OFFLINE=1`` and ``MTBIAS_NO_NETWORK=1``).
        fetch: whether to download what is missing.

    Raises:
        UsageError: no such model.
        MissingResourceError: it is not here and may not, or cannot, be fetched; names the command that does.
        ModelError: a folder that holds no checkpoint, or a model that does not translate into `lang`.
    """
    if model == DEMO:
        if revision is not None:
            raise UsageError(f"--revision is for models of the hub; {DEMO} ships with mtbias")
        check_language(model, lang)
        return _local(model_folder_of_demo(), DEMO)
    folder = Path(model)
    if folder.is_dir():
        if revision is not None:
            raise UsageError(f"--revision is for models of the hub; {model} is a folder")
        return _local(folder, folder.resolve().name)
    check_name(model)
    named = catalog().get(model)
    repository = named.repository.format(lang=lang) if named else model
    if repository in _NOT_MANY_TO_MANY:
        raise ModelError(
            f"{repository} does not translate into the language asked for; use facebook/mbart-large-50-many-to-many-mmt"
        )
    pinned = revision or (named.revision if named else "") or read_pins(cache).get(repository)
    command = f"mtbias fetch --model {model} --lang {lang}" + (f" --revision {revision}" if revision else "")
    return _hub(repository, pinned, command, cache, online=fetch and downloads_allowed(offline=offline))


def check_name(model: str) -> None:
    """Refuse what cannot be a model: no short name, no folder that is here, and no hub id. Nothing is looked up.

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


def check_language(model: str, lang: str) -> None:
    """Refuse a language that the model certainly lacks: of no other than the demo's is that known by its name.

    Raises:
        UsageError: names those that it has.
    """
    if model == DEMO and lang not in languages():
        raise UsageError(f"the model {DEMO} translates into {', '.join(languages())} alone, got the language {lang}")


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
        raise ModelError(f"{path}: damaged: {error}; delete it and run mtbias fetch again") from None


def _local(folder: Path, name: str) -> Checkpoint:
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: expected a checkpoint in Hugging Face's layout, got no config.json")
    return Checkpoint(name, f"sha256:{files_hash(folder)[:16]}", folder)


def files_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of a checkpoint's files (config, tokenizer, weights)."""
    digest = sha256()
    paths = {path for pattern in (*_WANTED, *_WEIGHTS, *_OLD_WEIGHTS) for path in folder.glob(pattern)}
    if any(path.suffix == ".safetensors" for path in paths):
        paths = {path for path in paths if path.suffix != ".bin"}  # transformers prefers safetensors
    for path in sorted(paths):
        digest.update(f"{path.name} {file_hash(path)}\n".encode())
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with open_input(path) as file:
        return file_digest(file, "sha256").hexdigest()


def _hub(repository: str, pinned: str | None, command: str, cache: Path, *, online: bool) -> Checkpoint:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    # A branch or tag may have moved: where the network may be used, the hub says which commit it is now; elsewhere the
    # hub's cache says which it was when it was fetched, by whatever program.
    lacking: list[str] = []
    if not online or (pinned is not None and _COMMIT.fullmatch(pinned)):
        try:
            found = Path(snapshot_download(repository, revision=pinned or _BRANCH, local_files_only=True))
        except (LocalEntryNotFoundError, OSError):
            pass
        else:
            lacking = missing_files(found)
            if not lacking:
                if pinned is None and _pin(cache, repository, found.name) != found.name:
                    return _hub(repository, read_pins(cache)[repository], command, cache, online=online)
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
    """What a checkpoint lacks that it cannot be loaded without: a download that was stopped leaves such a folder.

    Config, one whole set of weights (with an index: every file that it names), the files of the family's tokenizer.
    """
    if not (folder / _CONFIG).is_file():
        return [_CONFIG]
    lacking = _missing_weights(folder)
    try:
        family = family_of(
            _object(folder / _CONFIG), str(_object(folder / TOKENIZER_CONFIG).get("tokenizer_class") or "")
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


def _missing_weights(folder: Path) -> list[str]:
    for whole, index in (("model.safetensors", _WEIGHTS[1]), ("pytorch_model.bin", _OLD_WEIGHTS[1])):
        if (folder / whole).is_file():
            return []
        if (folder / index).is_file():
            named = _object(folder / index).get("weight_map")
            if not isinstance(named, dict):
                return [index]
            return sorted(name for name in set(named.values()) if not (folder / str(name)).is_file())
    return ["model.safetensors or pytorch_model.bin"]


def _download(repository: str, pinned: str | None, cache: Path) -> Checkpoint:
    """Download a repository's files at one commit; where none was asked for, write it down for the next time."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    try:
        info = HfApi().model_info(repository, revision=pinned)
        names = {sibling.rfilename for sibling in info.siblings or ()}
        safe = any(name.endswith(".safetensors") and "/" not in name for name in names)
        weights = _WEIGHTS if safe else _OLD_WEIGHTS
        # By the name that was asked for: the hub's cache then holds which commit that was, for runs without network.
        revision = pinned or str(info.sha)
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=[*_WANTED, *weights]))
        commit = folder.name
    except Exception as error:
        raise MissingResourceError(
            f"the model {repository} (https://huggingface.co/{repository}) could not be downloaded: "
            f"{why_failed(error)}; check the name and the network, or give a folder with the checkpoint"
        ) from error
    if lacking := missing_files(folder):
        raise ModelError(f"{repository} at {commit} lacks {', '.join(lacking)}, without which mtbias cannot load it")
    if pinned is None:
        kept = _pin(cache, repository, commit)
        if kept != commit:  # another process wrote one down meanwhile: both use that
            return _download(repository, kept, cache)
    return Checkpoint(repository, commit, folder)


def _pin(cache: Path, repository: str, commit: str) -> str:
    """Write down the commit of a repository where none is; gives the one that is there in the end."""
    cache.mkdir(parents=True, exist_ok=True)
    with waiting_lock(cache / f".{RECORD}.lock"):
        pins = read_pins(cache)
        if repository not in pins:
            content = json.dumps(dict(sorted({**pins, repository: commit}.items())), indent=2)
            write_atomic(cache / RECORD, f"{content}\n".encode())
        return pins.get(repository, commit)


# Whether the matrices that files may store under one name or under several are in their places in the model.
#
# Embeddings of the encoder and of the decoder and the score matrix are often one and the same, and a file then has it
# under any of their names. Which names stand for one matrix is for transformers to decide, and a release that decides
# wrongly loads without a word: before 5.18 MADLAD-400's encoder got the score matrix for its embeddings, and its
# translations were one word repeated (https://github.com/huggingface/transformers/issues/48154).

_SHARED = "shared.weight"
_ENCODER = "encoder.embed_tokens.weight"
_DECODER = "decoder.embed_tokens.weight"
_SCORES = "lm_head.weight"
_STANDS_FOR = {
    _ENCODER: (_ENCODER, _SHARED, _DECODER, _SCORES),
    _DECODER: (_DECODER, _SHARED, _ENCODER, _SCORES),
    _SCORES: (_SCORES, _SHARED, _DECODER, _ENCODER),
}
"""Where each comes from: its own name, else the first of these that the files have. A score matrix comes last, since
it may differ where all others are one; for the scores the decoder's comes before the encoder's."""


def check_matrices(folder: Path, model: Any) -> None:  # noqa: ANN401 - a transformers model on the CPU
    """Refuse a model whose embeddings or scores are not computed with the matrices of its files.

    Raises:
        ModelError: names the first that is not.
    """
    import torch
    import transformers

    stored = dict(_stored(folder))
    used = {
        _ENCODER: model.get_encoder().embed_tokens.weight,
        _DECODER: model.get_decoder().embed_tokens.weight,
        _SCORES: model.get_output_embeddings().weight,
    }
    for name, sources in _STANDS_FOR.items():
        source = next((one for one in sources if one in stored), None)
        if source is not None and not torch.equal(used[name], stored[source].to(used[name].dtype)):
            raise ModelError(
                f"{folder}: transformers {transformers.__version__} computes with another {name} than the weights' "
                f"{source}; install another release (transformers>=5.18), or use another checkpoint"
            )


def _tensors(folder: Path) -> float:
    """How many tensors the weights' files hold at most; infinitely many where that cannot be told."""
    from safetensors import SafetensorError, safe_open

    files = sorted(folder.glob(_WEIGHTS[0]))
    found = 0
    try:
        for path in files:
            with safe_open(path, framework="np") as opened:
                found += len(opened.keys())
        for path in [] if files else sorted(folder.glob(_OLD_WEIGHTS[0])):
            with zipfile.ZipFile(path) as opened:
                found += len(opened.namelist())
    except (OSError, SafetensorError, zipfile.BadZipFile):  # whoever loads it says what is wrong
        return inf
    return found or inf


def _stored(folder: Path) -> Iterator[tuple[str, Any]]:
    """The matrices among the weights' files that transformers reads, by name without ``model.``; none is copied."""
    import torch
    from safetensors import safe_open

    files = sorted(folder.glob("model*.safetensors"))
    for path in files:
        with safe_open(path, framework="pt") as opened:
            for key in opened.keys():  # noqa: SIM118 - no mapping, and no other way to ask
                if (name := key.removeprefix("model.")) in (_SHARED, *_STANDS_FOR):
                    yield name, opened.get_tensor(key)
    for path in [] if files else sorted(folder.glob("pytorch_model*.bin")):
        if zipfile.is_zipfile(path):  # the older form cannot be opened without reading all of it
            weights: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            for key, tensor in weights.items():
                if (name := key.removeprefix("model.")) in (_SHARED, *_STANDS_FOR):
                    yield name, tensor
