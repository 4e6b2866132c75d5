"""Checkpoints in CTranslate2's format: converted once, checked against transformers, kept in the
cache.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from mtbias.errors import DependencyError, ModelError, first_line
from mtbias.files.reading import input_bytes
from mtbias.files.strict_json import load_json
from mtbias.files.writing import waiting_lock
from mtbias.machine.devices import install_command
from mtbias.translate.seq2seq.checkpoints import file_hash, files_hash
from mtbias.translate.seq2seq.torch_search import TokenRules
from mtbias.translate.seq2seq.transformers_engine import check_finite, check_whole

RECORD = "mtbias.json"
"""What the converted config.json does not say: the settings of generation that transformers would
read."""
VOCABULARY = "shared_vocabulary.json"
"""The tokens in the order of their ids."""

_log = logging.getLogger(__name__)

_LAYOUT = 2
"""Counts the changes of what is written, so that an older conversion is not taken for a new one."""
_TOLERANCE = 0.01
"""Most difference of a log probability between the engines in fp32. What is wrong is off by 0.1 and
far more."""
_INSTEAD = "use --engine transformers"


def convert(folder: Path, cache: Path) -> Path:
    """The folder ``ct2/HASH`` in `cache` with the checkpoint in CTranslate2's format, fp32; made
    where it is missing.

    It is made under another name and renamed, so that it is complete or absent; files that do not
    have the SHA-256 that was written down are damaged, and all is made again. One conversion runs
    at a time where the file system has locks; what a killed one left behind is removed by the next.

    Raises:
        DependencyError: CTranslate2 is not installed.
        ModelError: it cannot be converted or written, or would not compute the same.
    """
    library()
    versions = f"{_LAYOUT} {version('ctranslate2')} {version('transformers')}"
    name = sha256(f"{files_hash(folder)} {versions}".encode()).hexdigest()[:32]
    home = cache / "ct2"
    made = home / name
    if _is_whole(made):
        return made
    try:
        home.mkdir(parents=True, exist_ok=True)
        with waiting_lock(cache / ".ct2.lock") as held:
            for left in home.glob(".*.tmp") if held else ():  # of conversions that were killed
                shutil.rmtree(left, ignore_errors=True)
            if made.is_dir() and not _is_whole(made):
                _log.warning("%s is damaged; it is converted again", made)
                shutil.rmtree(made)
            if not made.is_dir():
                _make(folder, made)
    except OSError as error:
        raise ModelError(
            f"{made}: cannot be written: {error.strerror or error}; make room, or choose another --cache-dir"
        ) from error
    return made


def library() -> Any:  # noqa: ANN401 - the module
    """CTranslate2.

    Raises:
        DependencyError: it is not installed.
    """
    try:
        return import_module("ctranslate2")
    except ImportError as error:
        raise DependencyError(
            f"--engine ct2 needs CTranslate2: {install_command('ct2')}"
        ) from error


def _make(folder: Path, made: Path) -> None:
    workplace = Path(mkdtemp(prefix=".", suffix=".tmp", dir=made.parent))
    try:
        target = workplace / made.name
        model, tokenizer = _run_converter(folder, target)
        tokens = _check_vocabulary(folder, target, model, tokenizer)
        _complete_config(target)
        _compare(folder, target, model, tokens)
        record = {**_record(model), "files": _hashes(target)}
        (target / RECORD).write_text(
            json.dumps({**record, "sha256": _hash(record)}) + "\n", encoding="utf-8"
        )
        for path in target.iterdir():
            with path.open("rb") as file:
                os.fsync(file)
        try:
            target.rename(made)
        except OSError:
            if not made.is_dir():  # without locks, another process may have been faster
                raise
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _hashes(made: Path) -> dict[str, str]:
    """SHA-256 of the files of a conversion, but for the record itself."""
    return {path.name: file_hash(path) for path in sorted(made.iterdir()) if path.name != RECORD}


def _hash(record: dict[str, Any]) -> str:
    return sha256(json.dumps(record).encode()).hexdigest()


def _is_whole(made: Path) -> bool:
    try:
        record = load_json(input_bytes(made / RECORD))
        return bool(record.pop("sha256") == _hash(record) and record["files"] == _hashes(made))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _run_converter(folder: Path, target: Path) -> tuple[Any, Any]:
    """Convert into `target`; gives transformers' model and tokenizer."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    loaded: dict[str, Any] = {}

    def load_model(model_class: Any, name: str, **options: Any) -> Any:  # noqa: ANN401
        loaded["model"] = _load_model(folder, model_class, name, options)
        return loaded["model"]

    def load_tokenizer(tokenizer_class: Any, name: str, **options: Any) -> Any:  # noqa: ANN401
        loaded["tokenizer"] = tokenizer_class.from_pretrained(
            name, **{**options, "local_files_only": True}
        )
        return loaded["tokenizer"]

    converter = import_module("ctranslate2.converters").TransformersConverter(str(folder))
    converter.load_model, converter.load_tokenizer = load_model, load_tokenizer
    try:
        converter.convert(str(target), quantization="float32")
    except ModelError:
        raise
    except Exception as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # of the disk; transformers' own have no number
            raise
        what = f"{type(error).__name__}: {first_line(error)}"
        raise ModelError(
            f"{folder}: CTranslate2 cannot convert this checkpoint: {what}; {_INSTEAD}"
        ) from error
    return loaded["model"], loaded["tokenizer"]


def _load_model(folder: Path, model_class: Any, name: str, options: dict[str, Any]) -> Any:  # noqa: ANN401
    """The model, with what the converter reads in its config as it must be, whatever the
    checkpoint's file says.
    """
    import torch

    # In fp32 whatever the weights are in: positions that are computed would else be rounded to the
    # weights' type.
    exact = {
        **options,
        "dtype": torch.float32,
        "local_files_only": True,
        "output_loading_info": True,
    }
    model, found = model_class.from_pretrained(name, **exact)
    check_whole(folder, found)
    check_finite(folder, model, "float32")
    config = model.config
    config.decoder_start_token_id = TokenRules.of(model).start
    if config.model_type == "mbart":
        config.normalize_before = config.normalize_embedding = True  # transformers knows no other
        config.tokenizer_class = (
            "MBart50Tokenizer"  # else the converter leaves the decoder's start to the caller
        )
    if config.model_type == "t5":
        # The converter scales scores by this key; transformers 5 sets it for every T5 and has
        # another for the scale.
        config.tie_word_embeddings = getattr(
            config, "scale_decoder_outputs", config.tie_word_embeddings
        )
    _check_model(folder, model)
    return model


def _check_model(folder: Path, model: Any) -> None:  # noqa: ANN401
    """Raise `ModelError` where CTranslate2 would search or compute something else than
    transformers.
    """
    rules, config = TokenRules.of(model), model.config
    if isinstance(rules.forced_end, list):
        raise ModelError(
            f"{folder}: its generation settings have forced_eos_token_id={rules.forced_end!r}, of which CTranslate2 "
            f"takes one; {_INSTEAD}"
        )
    if config.model_type == "marian" and not config.share_encoder_decoder_embeddings:
        raise ModelError(
            f"{folder}: it has separate vocabularies for source and target; {_INSTEAD}"
        )


def _check_vocabulary(folder: Path, target: Path, model: Any, tokenizer: Any) -> list[str]:  # noqa: ANN401
    """The converted vocabulary; `ModelError` unless every token of the tokenizer has kept its
    id.
    """
    tokens: list[str] = load_json((target / VOCABULARY).read_bytes())
    known = {n: token for token, n in tokenizer.get_vocab().items() if n < len(tokens)}
    wrong = sorted(n for n, token in known.items() if tokens[n] != token)
    marian = model.config.model_type == "marian"
    if wrong or len(set(tokens)) < len(tokens) or len(tokens) + marian < model.config.vocab_size:
        what = (
            f"id {wrong[0]} is {known[wrong[0]]!r}, then {tokens[wrong[0]]!r}"
            if wrong
            else "tokens are lost"
        )
        raise ModelError(
            f"{folder}: its vocabulary does not survive the conversion: {what}; {_INSTEAD}"
        )
    return tokens


def _complete_config(target: Path) -> None:
    """Put a beginning of sentence into the converted config.json, which must have one; nothing of
    ours uses it.
    """
    path = target / "config.json"
    config = load_json(path.read_bytes())
    if config.get("bos_token") is None:
        config["bos_token"] = config["decoder_start_token"]
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _compare(folder: Path, target: Path, model: Any, tokens: Sequence[str]) -> None:  # noqa: ANN401
    """Score one nonsense sentence with both engines; raise `ModelError` where they do not agree."""
    import torch

    end = TokenRules.of(model).ends[0]
    ids = [len(tokens) * n // 17 for n in range(1, 17)]
    source, said = [*ids[::2], end], [*ids[1::2], end]
    given = [TokenRules.of(model).start, *said[:-1]]
    with torch.inference_mode():
        scores = model.eval()(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([given])
        ).logits[0]
    kept = scores[:, : len(tokens)]  # without Marian's padding, which the conversion leaves out
    expected = kept.log_softmax(dim=-1)[range(len(said)), said].tolist()
    translator = library().Translator(
        str(target), device="cpu", compute_type="float32", inter_threads=1
    )
    spelt = [[tokens[n] for n in ids] for ids in (source, said[:-1])]
    (found,) = translator.score_batch(spelt[:1], spelt[1:], max_input_length=0)
    apart = max(abs(a - b) for a, b in zip(expected, found.log_probs, strict=True))
    if not apart <= _TOLERANCE:  # nor where it is not a number
        raise ModelError(
            f"{folder}: after the conversion to CTranslate2 a log probability is {apart:.3g} from transformers'; "
            f"{_INSTEAD}"
        )


def _record(model: Any) -> dict[str, Any]:  # noqa: ANN401
    rules, config = TokenRules.of(model), model.config
    never = list(rules.never)
    if config.model_type == "marian":  # the converted vocabulary has no padding
        never = [ids for ids in never if ids != (config.pad_token_id,)]
    return {
        "ends": rules.ends,
        "forced_end": rules.forced_end,
        "never": never,
        "positions": None if config.model_type == "t5" else config.max_position_embeddings,
    }
