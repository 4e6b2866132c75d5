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
"""The file with the settings of generation that transformers would read, and that the converted
config.json lacks."""
VOCABULARY = "shared_vocabulary.json"
"""The tokens in the order of their ids."""

_log = logging.getLogger(__name__)

_LAYOUT = 2
"""Version of the files, so that an older conversion is not taken for a new one."""
_TOLERANCE = 0.01
"""Largest difference of a log probability between the engines in fp32; a wrong conversion is off by
0.1 or far more."""
_INSTEAD = "use --engine transformers"


def convert(folder: Path, cache: Path) -> Path:
    """The folder ``ct2/HASH`` in `cache` with the checkpoint in CTranslate2's format, in fp32,
    converted if it is missing.

    It is filled under another name and renamed, so that it is complete or absent; if a file lacks
    the recorded SHA-256, all is converted again. One conversion runs at a time where the file
    system has locks; the next one removes what a killed one left behind.

    Raises:
        DependencyError: CTranslate2 is not installed.
        ModelError: it cannot be converted or written, or would compute something else.
    """
    library()
    versions = f"{_LAYOUT} {version('ctranslate2')} {version('transformers')}"
    name = sha256(f"{files_hash(folder)} {versions}".encode()).hexdigest()[:32]
    home = cache / "ct2"
    converted = home / name
    if _is_whole(converted):
        return converted
    try:
        home.mkdir(parents=True, exist_ok=True)
        with waiting_lock(cache / ".ct2.lock") as held:
            for temporary in home.glob(".*.tmp") if held else ():  # of killed conversions
                shutil.rmtree(temporary, ignore_errors=True)
            if converted.is_dir() and not _is_whole(converted):
                _log.warning("%s is damaged; it is converted again", converted)
                shutil.rmtree(converted)
            if not converted.is_dir():
                _make(folder, converted)
    except OSError as error:
        raise ModelError(
            f"{converted}: cannot be written: {error.strerror or error}; "
            "make room, or choose another --cache-dir"
        ) from error
    return converted


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


def _make(folder: Path, converted: Path) -> None:
    workplace = Path(mkdtemp(prefix=".", suffix=".tmp", dir=converted.parent))
    try:
        target = workplace / converted.name
        model, tokenizer = _run_converter(folder, target)
        tokens = _check_vocabulary(folder, target, model, tokenizer)
        _complete_config(target)
        _compare(folder, target, model, tokens)
        record = {**_record(model), "files": _hashes(target)}
        content = json.dumps({**record, "sha256": _hash(record)})
        (target / RECORD).write_text(f"{content}\n", encoding="utf-8")
        for path in target.iterdir():
            with path.open("rb") as file:
                os.fsync(file)
        try:
            target.rename(converted)
        except OSError:
            if not converted.is_dir():  # without locks, another process may have been faster
                raise
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _hashes(converted: Path) -> dict[str, str]:
    """SHA-256 of the files of a conversion except the record itself."""
    files = [path for path in sorted(converted.iterdir()) if path.name != RECORD]
    return {path.name: file_hash(path) for path in files}


def _hash(record: dict[str, Any]) -> str:
    return sha256(json.dumps(record).encode()).hexdigest()


def _is_whole(converted: Path) -> bool:
    try:
        record = load_json(input_bytes(converted / RECORD))
        return bool(record.pop("sha256") == _hash(record) and record["files"] == _hashes(converted))
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
        # Errors of the disk have a number, transformers' own have none.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        what = f"{type(error).__name__}: {first_line(error)}"
        raise ModelError(
            f"{folder}: CTranslate2 cannot convert this checkpoint: {what}; {_INSTEAD}"
        ) from error
    return loaded["model"], loaded["tokenizer"]


def _load_model(
    folder: Path,
    model_class: Any,  # noqa: ANN401
    name: str,
    options: dict[str, Any],
) -> Any:  # noqa: ANN401
    """The model, with a config that the converter reads correctly, whatever the checkpoint's file
    says.
    """
    import torch

    # In fp32 for all types of weights, to which computed positions would else be rounded.
    exact = {
        **options,
        "dtype": torch.float32,
        "local_files_only": True,
        "output_loading_info": True,
    }
    model, keys = model_class.from_pretrained(name, **exact)
    check_whole(folder, keys)
    check_finite(folder, model, "float32")
    config = model.config
    config.decoder_start_token_id = TokenRules.from_model(model).start
    if config.model_type == "mbart":
        config.normalize_before = config.normalize_embedding = True  # transformers knows no other
        # Else the converter leaves the decoder's start to the caller.
        config.tokenizer_class = "MBart50Tokenizer"
    if config.model_type == "t5":
        # The converter scales scores by this key; transformers 5 sets it for every T5 and has
        # another for the scale.
        config.tie_word_embeddings = getattr(
            config, "scale_decoder_outputs", config.tie_word_embeddings
        )
    _check_model(folder, model)
    return model


def _check_model(folder: Path, model: Any) -> None:  # noqa: ANN401
    """Refuse a model that CTranslate2 would search or compute in another way than transformers.

    Raises:
        ModelError: it is such a model.
    """
    rules, config = TokenRules.from_model(model), model.config
    if isinstance(rules.forced_end, list):
        raise ModelError(
            f"{folder}: its generation settings have forced_eos_token_id={rules.forced_end!r}, "
            f"of which CTranslate2 takes one; {_INSTEAD}"
        )
    if config.model_type == "marian" and not config.share_encoder_decoder_embeddings:
        raise ModelError(
            f"{folder}: it has separate vocabularies for source and target; {_INSTEAD}"
        )


def _check_vocabulary(
    folder: Path,
    target: Path,
    model: Any,  # noqa: ANN401
    tokenizer: Any,  # noqa: ANN401
) -> list[str]:
    """The converted vocabulary.

    Raises:
        ModelError: a token of the tokenizer has not kept its id.
    """
    tokens: list[str] = load_json((target / VOCABULARY).read_bytes())
    known = {n: token for token, n in tokenizer.get_vocab().items() if n < len(tokens)}
    wrong = sorted(n for n, token in known.items() if tokens[n] != token)
    marian = model.config.model_type == "marian"
    if wrong or len(set(tokens)) < len(tokens) or len(tokens) + marian < model.config.vocab_size:
        what = "tokens are lost"
        if wrong:
            what = f"id {wrong[0]} is {known[wrong[0]]!r}, then {tokens[wrong[0]]!r}"
        raise ModelError(
            f"{folder}: its vocabulary does not survive the conversion: {what}; {_INSTEAD}"
        )
    return tokens


def _complete_config(target: Path) -> None:
    """Add the beginning of sentence that the converted config.json must have; mtbias does not use
    it.
    """
    path = target / "config.json"
    config = load_json(path.read_bytes())
    if config.get("bos_token") is None:
        config["bos_token"] = config["decoder_start_token"]
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _compare(folder: Path, target: Path, model: Any, tokens: Sequence[str]) -> None:  # noqa: ANN401
    """Score one nonsense sentence with both engines.

    Raises:
        ModelError: they do not agree.
    """
    import torch

    rules = TokenRules.from_model(model)
    ids = [len(tokens) * n // 17 for n in range(1, 17)]
    source, translation = [*ids[::2], rules.ends[0]], [*ids[1::2], rules.ends[0]]
    before = [rules.start, *translation[:-1]]
    with torch.inference_mode():
        output = model.eval()(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([before])
        )
    # Without Marian's padding, which the conversion leaves out.
    scores = output.logits[0][:, : len(tokens)].log_softmax(dim=-1)
    expected = scores[range(len(translation)), translation].tolist()

    translator = library().Translator(
        str(target), device="cpu", compute_type="float32", inter_threads=1
    )
    source_tokens = [tokens[n] for n in source]
    translation_tokens = [tokens[n] for n in translation[:-1]]
    (result,) = translator.score_batch([source_tokens], [translation_tokens], max_input_length=0)
    difference = max(abs(a - b) for a, b in zip(expected, result.log_probs, strict=True))
    if not difference <= _TOLERANCE:  # also where it is not a number
        raise ModelError(
            f"{folder}: after the conversion to CTranslate2 a log probability is "
            f"{difference:.3g} from transformers'; {_INSTEAD}"
        )


def _record(model: Any) -> dict[str, Any]:  # noqa: ANN401
    rules, config = TokenRules.from_model(model), model.config
    never = list(rules.never)
    if config.model_type == "marian":  # the converted vocabulary has no padding
        never = [ids for ids in never if ids != (config.pad_token_id,)]
    return {
        "ends": rules.ends,
        "forced_end": rules.forced_end,
        "never": never,
        "positions": None if config.model_type == "t5" else config.max_position_embeddings,
    }
