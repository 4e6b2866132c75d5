"""Generation with transformers: the reference engine."""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError, UsageError
from mtbias.machine import cores_and_memory as host
from mtbias.translate.seq2seq.batch_plan import cpu_concurrency
from mtbias.translate.seq2seq.beam_search import Decoding
from mtbias.translate.seq2seq.checkpoints import first_line
from mtbias.translate.seq2seq.engine import Generated, OutOfMemory, is_out_of_memory

_SMALL = 256
"""Hidden size up to which a model on a CPU is small."""

DTYPES = ("float32", "bfloat16", "float16")


class Abandoned(Exception):  # noqa: N818 - a signal from one thread to another
    """Nobody waits for this batch any more."""


class _Threads:
    """How torch's threads are shared out among the batches that a CPU computes at the same time."""

    def __init__(self, model: Any, device: str) -> None:  # noqa: ANN401 - one of transformers' models
        import torch

        self._all = torch.get_num_threads()
        # For a small model several threads would wait for each other, and for Python, longer than they compute.
        small = int(getattr(model.config, "d_model", _SMALL + 1)) <= _SMALL
        on_cpu = device == "cpu"
        memory = host.free_memory()
        # While Python is between the steps of one batch, another is computed; and products of 80 rows gain little from
        # a second core.
        self.concurrency = 1
        if on_cpu and not small:
            self.concurrency = cpu_concurrency(model.config.to_dict(), threads=self._all, memory=memory)
        self._each = self._all if not on_cpu else 1 if small else self._all // self.concurrency
        self._working, self._lock = 0, threading.Lock()

    @contextmanager
    def shared_out(self) -> Iterator[None]:
        """Within the block this thread has its share of threads; once no batch is computed, torch has all again."""
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


class TransformersEngine:
    """``model.generate`` with everything that it searches by said explicitly."""

    def __init__(self, folder: Path, *, device: str = "cpu", dtype: str = "float32") -> None:
        """Load the weights (safetensors, or ``torch.load`` with ``weights_only``; never remote code).

        Raises:
            UsageError: the dtype is not one of `DTYPES`.
            ModelError: the weights cannot be loaded.
        """
        if dtype not in DTYPES:
            raise UsageError(f"--dtype: the engine transformers has {', '.join(DTYPES)}, not {dtype!r}")
        self.folder, self.device, self.dtype = folder, device, dtype
        self._model = _load_model(folder, device, dtype)
        self._exact: TransformersEngine | None = None
        self._threads = _Threads(self._model, device)
        self.concurrency = self._threads.concurrency
        self._abandoned = threading.Event()
        self._watching = dtype != "float32"  # looking at all scores of every step costs a per cent or two

    @property
    def attention(self) -> str:
        """The implementation of attention that was chosen: ``sdpa``, ``eager``."""
        return str(getattr(self._model.config, "_attn_implementation", "eager"))

    def generate(
        self, batch: Sequence[Sequence[int]], *, decoding: Decoding, limit: int, forced: int | None
    ) -> list[Generated]:
        """See `Engine.generate`."""
        import torch
        from transformers import LogitsProcessorList

        watch = _Watch()
        processors: list[Any] = [watch] if self._watching else []
        if self.concurrency > 1:
            processors.append(self._go_on)
        sources, mask = self._padded(batch)
        try:
            with torch.inference_mode(), self._threads.shared_out():
                found = self._model.generate(
                    input_ids=sources,
                    attention_mask=mask,
                    generation_config=self._configuration(decoding, limit, forced),
                    logits_processor=LogitsProcessorList(processors),
                )
            rows = found.tolist()
        except Exception as error:
            if is_out_of_memory(error):
                found = sources = mask = None
                self._free()
                raise OutOfMemory(str(error)) from error
            raise
        finite = watch.finite(len(batch), decoding.beams)
        return [self._generated(row, limit, fine) for row, fine in zip(rows, finite, strict=True)]

    def exact(self) -> TransformersEngine:
        """The same weights in fp32, loaded when they are first asked for."""
        if self.dtype == "float32":
            return self
        if self._exact is None:
            self._exact = TransformersEngine(self.folder, device=self.device)
            self._exact._watching = True
        return self._exact

    @contextmanager
    def abandon(self) -> Iterator[None]:
        """What other threads generate ends at its next step."""
        self._abandoned.set()
        try:
            yield
        finally:
            self._abandoned.clear()

    def _go_on(self, _: Any, scores: Any) -> Any:  # noqa: ANN401 - tensors of tokens and scores
        if self._abandoned.is_set():
            raise Abandoned
        return scores

    def _padded(self, batch: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        import torch

        longest = max(map(len, batch))
        pad = self._model.config.pad_token_id
        sources = torch.tensor([[*ids, *[pad] * (longest - len(ids))] for ids in batch], dtype=torch.long)
        mask = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids in batch], dtype=torch.long)
        return sources.to(self.device), mask.to(self.device)

    def _configuration(self, decoding: Decoding, limit: int, forced: int | None) -> Any:  # noqa: ANN401
        chosen = copy.deepcopy(self._model.generation_config)
        chosen.update(
            num_beams=decoding.beams,
            length_penalty=decoding.length_penalty,
            early_stopping=decoding.early_stopping if decoding.beams > 1 else False,
            max_length=None,
            max_new_tokens=limit,
            min_length=0,
            min_new_tokens=None,
            do_sample=False,
            num_return_sequences=1,
            no_repeat_ngram_size=0,
            repetition_penalty=1.0,
            forced_bos_token_id=forced,
        )
        return chosen

    def _generated(self, row: Sequence[int], limit: int, finite: bool) -> Generated:
        settings = self._model.generation_config
        end = settings.eos_token_id
        ends = set(end) if isinstance(end, list) else {end}
        new = list(row[1:])  # without the decoder's start token
        for place, token in enumerate(new):
            if token in ends:
                new = new[: place + 1]
                break
        while new and new[-1] == settings.pad_token_id and settings.pad_token_id not in ends:
            new.pop()
        return Generated(tuple(new), cut=len(new) >= limit, finite=finite)

    def _free(self) -> None:
        import torch

        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()


class _Watch:
    """A logits processor that changes nothing and notices scores that are not numbers, without waiting for the GPU."""

    def __init__(self) -> None:
        self._bad: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ANN401, ARG002 - transformers' interface
        bad = scores.isnan().any(dim=-1)
        self._bad = bad if self._bad is None else self._bad | bad
        return scores

    def finite(self, sentences: int, beams: int) -> list[bool]:
        """For each sentence whether the scores of all its beams were numbers throughout."""
        if self._bad is None:
            return [True] * sentences
        bad = self._bad.view(sentences, beams).any(dim=-1).tolist()
        return [not value for value in bad]


def _load_model(folder: Path, device: str, dtype: str) -> Any:  # noqa: ANN401 - a transformers model
    import torch
    from transformers import AutoModelForSeq2SeqLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, found = AutoModelForSeq2SeqLM.from_pretrained(
            str(folder),
            dtype=getattr(torch, dtype),
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:
        raise ModelError(
            f"{folder}: transformers cannot load the weights: {type(error).__name__}: {first_line(error)}; "
            "is the checkpoint whole?"
        ) from error
    check_whole(folder, found)
    return model.to(device).eval()


def check_whole(folder: Path, loading_info: Mapping[str, Collection[Any]]) -> None:
    """Refuse a checkpoint that lacks weights: transformers would continue with random numbers in their place.

    `loading_info` is what ``from_pretrained`` gives with ``output_loading_info=True``.

    Raises:
        ModelError: there are ``missing_keys``.
    """
    missing = sorted(map(str, loading_info["missing_keys"]))
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ModelError(
            f"{folder}: the weights lack {missing[0]}{more}; the checkpoint is not whole: download it again"
        )
