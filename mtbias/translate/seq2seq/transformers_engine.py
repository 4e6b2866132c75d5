"""Generation with transformers: the reference engine."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from mtbias.errors import ModelError, MtbiasError
from mtbias.machine import devices as host
from mtbias.translate.seq2seq.batches import cpu_concurrency
from mtbias.translate.seq2seq.checkpoints import explained
from mtbias.translate.seq2seq.engine import Bounds, Engine, Generated, within_memory
from mtbias.translate.seq2seq.torch_search import TokenRules, TorchSearch

_LAYER = re.compile(r"\.(layers|block)\.\d+\.")
_SMALL = 256
"""Hidden size up to which a model on a CPU is small."""

_TOKEN_IDS = (
    "bos_token_id",
    "decoder_start_token_id",
    "eos_token_id",
    "forced_eos_token_id",
    "pad_token_id",
)
"""Keys of generation_config.json."""


_OF_ONE_MODEL = (
    "config.json, generation_config.json and the weights must be of one model: "
    "download the checkpoint again"
)


class Abandoned(MtbiasError):  # noqa: N818 - a signal from one thread to another
    """The batch is no longer needed."""


class _Threads:
    """Shares torch's threads out among the batches that a CPU computes at the same time."""

    def __init__(self, model: Any, device: str) -> None:  # noqa: ANN401 - of transformers
        import torch

        self._all = torch.get_num_threads()
        # For a small model several threads would wait for each other, and for Python, longer than
        # they compute.
        small = int(getattr(model.config, "d_model", _SMALL + 1)) <= _SMALL
        # While Python is between the steps of one batch, another is computed; and products of 80
        # rows gain little from a second core.
        self.concurrency, self._each = 1, self._all
        if device == "cpu" and small:
            self._each = 1
        elif device == "cpu":
            memory = host.free_memory()
            config = model.config.to_dict()
            self.concurrency = cpu_concurrency(config, threads=self._all, memory=memory)
            self._each = self._all // self.concurrency
        self._working, self._lock = 0, threading.Lock()

    @contextmanager
    def shared_out(self) -> Iterator[None]:
        """Give the block its share of threads; once no batch is computed, torch has all again."""
        import torch

        if self._each == self._all:
            yield
            return
        with self._lock:
            self._working += 1
            torch.set_num_threads(self._each)
        try:
            yield
        finally:
            with self._lock:
                self._working -= 1
                if not self._working:
                    torch.set_num_threads(self._all)


class TransformersEngine(Engine):
    """Beam search over a transformers model, with explicit settings only."""

    def __init__(
        self,
        folder: Path,
        *,
        device: str = "cpu",
        dtype: str = "float32",
        recorded: bool = False,
    ) -> None:
        """Load the weights (safetensors, or ``torch.load`` with ``weights_only``; never remote
        code).

        With `recorded` a GPU replays the decoder's steps
        (`mtbias.translate.seq2seq.recorded_step`).

        Raises:
            ModelError: the weights cannot be loaded.
        """
        self.folder, self.device, self.dtype = folder, device, dtype
        from transformers import AutoModelForSeq2SeqLM

        from mtbias.translate.seq2seq.beam_pool import share_pools
        from mtbias.translate.seq2seq.recorded_step import Recordings, cuda_graphs

        self._model = load_model(folder, AutoModelForSeq2SeqLM, device=device, dtype=dtype)
        _check_ids(folder, self._model)
        share_pools(self._model)
        self._exact: TransformersEngine | None = None
        self._threads = _Threads(self._model, device)
        self.concurrency = self._threads.concurrency
        self._recordings: Recordings | None = None
        if recorded:
            self.concurrency = 1  # the steps of a batch have the memory for themselves
            record = cuda_graphs() if device.startswith("cuda") else None
            self._recordings = Recordings(self._model, record)
        self._abandoned = threading.Event()
        self._watching = dtype != "float32"  # which costs a per cent or two
        with explained(folder, "reading generation_config.json", "download the checkpoint again"):
            self._rules = TokenRules.from_model(self._model)
        self.steps: int = 0
        self.row_steps = 0
        self._lock = threading.Lock()

    @property
    def attention(self) -> str:
        """The implementation of attention: ``sdpa``."""
        from mtbias.translate.seq2seq.beam_pool import IMPLEMENTATION

        return IMPLEMENTATION

    def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        """See `Engine.generate`."""
        with explained(self.folder, "generating with transformers", _OF_ONE_MODEL):
            return within_memory(lambda: self._search(batch, bounds))

    def _search(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        import torch

        with torch.inference_mode(), self._threads.shared_out(), _attention(self.device):
            search = TorchSearch(self._model, self._rules, self._go_on, self._recordings)
            try:
                translations = search.run(*self._padded(batch), bounds, watch=self._watching)
            except BaseException:
                if self._recordings is not None:  # a smaller batch needs less memory
                    self._recordings.clear()
                raise
        with self._lock:  # concurrent batches count together
            self.steps += search.steps
            self.row_steps += search.row_steps
        return translations

    def exact(self) -> TransformersEngine:
        """The same weights in fp32, loaded when they are first needed."""
        if self.dtype == "float32":
            return self
        if self._exact is None:
            self._exact = TransformersEngine(self.folder, device=self.device)
            self._exact._watching = True
        return self._exact

    @contextmanager
    def abandon(self) -> Iterator[None]:
        """End the work of other threads at its next step."""
        self._abandoned.set()
        try:
            yield
        finally:
            self._abandoned.clear()

    def _go_on(self) -> None:
        if self._abandoned.is_set():
            raise Abandoned

    def _padded(self, batch: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        import torch

        longest = max(map(len, batch))
        pad = self._rules.pad
        rows = [[*ids, *[pad] * (longest - len(ids))] for ids in batch]
        ones = [[1] * len(ids) + [0] * (longest - len(ids)) for ids in batch]
        sources = torch.tensor(rows, dtype=torch.long)
        mask = torch.tensor(ones, dtype=torch.long)
        return sources.to(self.device), mask.to(self.device)


def _attention(device: str) -> AbstractContextManager[object]:
    """Attention without cuDNN on a GPU, which torch prefers in half precision: it makes a plan for
    each shape, and every step of a search has another shape.
    """
    if device == "cpu":
        return nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    context: AbstractContextManager[object] = sdpa_kernel(backends)
    return context


def load_model(
    folder: Path,
    model_class: Any,  # noqa: ANN401
    config: Any = None,  # noqa: ANN401
    *,
    device: str,
    dtype: str,
) -> Any:  # noqa: ANN401
    """A model of one of transformers' classes on a device, without network and without code of the
    checkpoint.

    With a `config` it may have fewer layers than there are weights.

    Raises:
        ModelError: the weights cannot be loaded, are incomplete or not finite; a pickle holds
            something else.
    """
    import torch
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    fixed = {
        "local_files_only": True,
        "trust_remote_code": False,
        "output_loading_info": True,
        "config": config,
    }
    with explained(
        folder, "loading the weights with transformers", "download the checkpoint again"
    ):
        try:
            with warnings.catch_warnings():
                # About a pickle's protocol; a pickle of something else is refused below.
                warnings.simplefilter("ignore")
                model, keys = model_class.from_pretrained(
                    str(folder), dtype=getattr(torch, dtype), **fixed
                )
        except UnpicklingError as error:  # torch's own message advises to run the pickle's content
            raise ModelError(
                f"{folder}: expected weights, got a pickle with something else in it, "
                "which mtbias does not load; use a checkpoint with safetensors"
            ) from error
        check_whole(folder, keys if config is None else {**keys, "unexpected_keys": ()})
        check_finite(folder, model, dtype)
    with explained(
        folder,
        f"moving the weights to {device}",
        "choose another --device or --dtype, or a smaller model",
    ):
        return model.to(device).eval()


def _check_ids(folder: Path, model: Any) -> None:  # noqa: ANN401 - a transformers model
    """Refuse special tokens outside the vocabulary: a search would crash or never end."""
    size = model.get_input_embeddings().num_embeddings
    for name in _TOKEN_IDS:
        value = getattr(model.generation_config, name, None)
        for id_ in value if isinstance(value, list) else [value]:
            if id_ is not None and (type(id_) is not int or not 0 <= id_ < size):
                raise ModelError(
                    f"{folder}: generation_config.json: {name}: expected an id below {size}, "
                    f"got {id_!r:.40}; download the checkpoint again"
                )


def check_finite(folder: Path, model: Any, dtype: str) -> None:  # noqa: ANN401 - of transformers
    """Refuse weights that are infinite or not numbers, with which a search would still give text.

    Raises:
        ModelError: names the first such tensor.
    """
    import torch

    for name, tensor in model.named_parameters():
        # A finite sum has finite terms, and takes a fiftieth of the time; it may overflow itself.
        if bool(tensor.detach().sum(dtype=torch.float32).isfinite()):
            continue
        if not bool(tensor.isfinite().all()):
            advice = "" if dtype == "float32" else ", or use --dtype float32"
            raise ModelError(
                f"{folder}: the weights {name} have values that are infinite or not a number "
                f"in {dtype}; download the checkpoint again{advice}"
            )


def check_whole(folder: Path, loading_info: Mapping[str, Collection[Any]]) -> None:
    """Refuse a checkpoint that lacks weights, which transformers would replace by random numbers.

    `loading_info` is that of ``from_pretrained`` with ``output_loading_info=True``.

    Raises:
        ModelError: there are ``missing_keys``, or ``unexpected_keys`` of layers that config.json
            does not have.
    """
    # Encoders that predict masked words have no pooler, which nothing here reads.
    missing = sorted(key for key in map(str, loading_info["missing_keys"]) if "pooler" not in key)
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ModelError(
            f"{folder}: the weights lack {missing[0]}{more}; "
            "the checkpoint is not whole: download it again"
        )
    # Positions and the like may be left over, layers not: it would be another, smaller model.
    layers = sorted(key for key in map(str, loading_info["unexpected_keys"]) if _LAYER.search(key))
    if layers:
        raise ModelError(
            f"{folder}: the weights have {layers[0]}, which the model of config.json does not; "
            "the files do not fit: download the checkpoint again"
        )
