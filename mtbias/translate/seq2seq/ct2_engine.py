"""Generation with CTranslate2: several times as fast as transformers on a CPU, with the same
results in fp32.
"""

from __future__ import annotations

import copy
import ctypes
import math
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from mtbias.errors import DependencyError, ModelError, MtbiasError, UsageError, first_line
from mtbias.files.strict_json import load_json
from mtbias.machine import devices as host
from mtbias.machine.devices import install_command
from mtbias.settings import DTYPES
from mtbias.translate.seq2seq.codec import read_config
from mtbias.translate.seq2seq.ct2_conversion import RECORD, VOCABULARY, convert, library
from mtbias.translate.seq2seq.engine import (
    Bounds,
    Decoding,
    Engine,
    Generated,
    cpu_concurrency,
    within_memory,
)

# What CTranslate2 needs on a GPU besides itself: cuBLAS 12, which PyTorch's own packages no longer
# have.

PACKAGE = "nvidia-cublas-cu12"
_LIBRARIES = ("libcublasLt.so.12", "libcublas.so.12")
"""In the order in which they need each other."""


def load_cublas() -> bool:
    """Load the libraries of `PACKAGE` where it is installed; says whether they are loaded.

    CTranslate2 opens them by name, which finds what is loaded already; where they lie the system's
    loader does not look. Without the package the system may have them all the same.
    """
    try:
        files = {path.name: path for path in distribution(PACKAGE).files or ()}
        for name in _LIBRARIES:
            ctypes.CDLL(str(files[name].locate()), mode=ctypes.RTLD_GLOBAL)
    except (PackageNotFoundError, KeyError, OSError):
        return False
    return True


def usable_types(device: str) -> frozenset[str]:
    """Types in which CTranslate2 can compute on the GPU `device`, as far as that is known without
    weights.

    Raises:
        MtbiasError: none, and why: CTranslate2 or cuBLAS is not here, or it does not see that GPU.
    """
    if find_spec("ctranslate2") is None:
        raise DependencyError(f"CTranslate2 is not installed ({install_command('ct2-cuda')})")
    import ctranslate2

    number = int(device.partition(":")[2] or 0)
    if number >= (count := ctranslate2.get_cuda_device_count()):
        raise MtbiasError(f"CTranslate2 sees {count} GPUs here")
    if not load_cublas() and not _system_has_cublas():
        raise DependencyError(f"cuBLAS 12 is not here ({install_command('ct2-cuda')})")
    return frozenset(ctranslate2.get_supported_compute_types("cuda", number))


def _system_has_cublas() -> bool:
    try:
        ctypes.CDLL(_LIBRARIES[-1])
    except OSError:
        return (
            sys.platform != "linux"
        )  # elsewhere it has another name, and the batch in `_load` shows what is missing
    return True


def unusable(error: Exception, device: str, converted: Path) -> DependencyError | ModelError:
    """What to say where CTranslate2 cannot load a checkpoint, or compute with it."""
    said = first_line(error)[:200]
    if "libcublas" in said or "libcudart" in said:
        return DependencyError(
            f"--engine ct2 on {device} needs cuBLAS 12, which is not here ({said}): {install_command('ct2-cuda')}"
        )
    return ModelError(
        f"{converted}: CTranslate2 cannot compute with it on {device}: {said}; delete that folder to convert it "
        "again, use --engine transformers, or another --device"
    )


_MOST_SCORES = 2**31 - 1
"""CTranslate2 numbers a batch's scores, rows × vocabulary, by 32 bits, and picks wrong tokens
where there are more."""
PATIENCE = 2.0
"""Finished hypotheses, in multiples of the beams, that end a search without
`Decoding.early_stopping`."""


class CTranslate2Engine(Engine):
    """A checkpoint converted to CTranslate2, once, in fp32; quantised when it is loaded.

    In fp32 its translations equal those of `TransformersEngine`, but for near ties and these
    differences of rule:

    * Tokens that are never generated (``bad_words_ids``; padding in Opus-MT) are taken away before
      the softmax, by transformers after it. So scores differ by the probability that such tokens
      had.
    * After a forced language token, an end token finishes a hypothesis, an empty translation, only
      where it is the most probable token. For transformers it is enough that it is among as many as
      there are beams.
    * Without `Decoding.early_stopping` transformers ends a search when no hypothesis seems able to
      beat the finished ones; CTranslate2 when `PATIENCE` times as many are finished as there are
      beams.
    * A source of nothing but an end token is not translated: the result is empty.
    """

    def __init__(
        self,
        folder: Path,
        *,
        device: str = "cpu",
        dtype: str = "float32",
        cache: Path,
        threads: int | None = None,
    ) -> None:
        """Convert the checkpoint, unless `cache` has it, and load it.

        On a CPU there are as many `threads` as ``OMP_NUM_THREADS`` says, else as there are cores:
        so many batches are computed at the same time, each on one thread; beyond `MOST_CONCURRENT`
        these share the threads out.

        Raises:
            DependencyError: CTranslate2 is not installed.
            UsageError: no such device, or it cannot compute in `dtype`, for which there is never
                another instead; names those that there are.
            ModelError: the checkpoint cannot be converted, or not without a change of its results.
        """
        ctranslate2 = library()
        self.folder, self.device, self.dtype = folder, device, dtype
        self._kind, self._number = _find_device(ctranslate2, device)
        self._threads = host.threads() if threads is None else threads
        _check_dtype(ctranslate2, self._kind, self._number, dtype)
        self.converted = convert(folder, cache)
        record = load_json((self.converted / RECORD).read_bytes())
        self._tokens: list[str] = load_json((self.converted / VOCABULARY).read_bytes())
        self._ids = {token: n for n, token in enumerate(self._tokens)}
        self._ends: list[int] = record["ends"]
        self._forced_end: int | None = record["forced_end"]
        self._never: list[list[int]] = record["never"]
        self._positions: int | None = record["positions"]
        weights = sum(path.stat().st_size for path in self.converted.iterdir())
        memory = host.free_memory() - weights
        on_cpu = self._kind == "cpu"
        # A step of beam search multiplies matrices of 80 rows, which gain little from a second
        # core; two batches on two cores are done nearly twice as fast.
        self.concurrency = (
            cpu_concurrency(read_config(folder), threads=self._threads, memory=memory)
            if on_cpu
            else 1
        )
        self._translator = self._load(dtype)
        self._exact: CTranslate2Engine | None = None

    def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        """See `Engine.generate`.

        Raises:
            ModelError: `limit` is more than the checkpoint has positions.
        """
        limit, decoding = bounds.limit, bounds.decoding
        if self._positions is not None and limit > self._positions:
            raise ModelError(
                f"{self.folder}: the checkpoint has {self._positions} positions, and {limit} new tokens are allowed; "
                f"with --engine ct2 use --max-length {self._positions + 1} or less"
            )

        def generate() -> list[Generated]:
            if bounds.stop is not None and bounds.stop < limit:
                return self._until(batch, replace(bounds, limit=bounds.stop))
            found = self._search(batch, bounds)
            mixed = [n for n, one in enumerate(found) if self._is_mixed(one, decoding)]
            if mixed:
                every = self._search([batch[n] for n in mixed], bounds, every=True)
                for n, one in zip(mixed, every, strict=True):
                    found[n] = one
            return [self._best(one, bounds) for one in found]

        return within_memory(generate)

    def _until(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        """What is done before the limit: those of which as many hypotheses have ended as end the
        search.
        """
        beams, stop = bounds.decoding.beams, bounds.limit
        needed = beams if bounds.decoding.early_stopping or beams == 1 else round(PATIENCE * beams)
        made = []
        for one in self._search(batch, bounds, hypotheses=needed):
            ended = all(
                self._has_ended(tokens) and len(tokens) < stop - 1 for tokens in one.hypotheses
            )
            whole = ended and len(one.hypotheses) == needed
            # The limit plays no part in it, nor does a token that would be forced there.
            made.append(self._best(one, bounds) if whole else Generated((), done=False))
        return made

    def abandon(self) -> AbstractContextManager[None]:
        """CTranslate2 cannot be interrupted: a batch that was begun is finished."""
        return nullcontext()

    def exact(self) -> CTranslate2Engine:
        """The same conversion in fp32, loaded when it is first asked for."""
        if self.dtype == "float32":
            return self
        if self._exact is None:
            exact = copy.copy(self)
            exact.dtype = "float32"
            exact._translator = exact._load("float32")
            self._exact = exact
        return self._exact

    def _load(self, dtype: str) -> Any:  # noqa: ANN401 - a ctranslate2.Translator
        on_gpu = self._kind == "cuda"
        if on_gpu:
            load_cublas()
        try:
            translator = library().Translator(
                str(self.converted),
                device=self._kind,
                device_index=self._number,
                compute_type=dtype,
                inter_threads=self.concurrency,
                intra_threads=max(1, self._threads // self.concurrency),
            )
            if on_gpu:  # so that a library that does not fit is noticed here and not in the middle of a corpus
                one = self._spell([len(self._tokens) // 2, self._ends[0]])
                translator.translate_batch([one], beam_size=1, max_decoding_length=1)
        except Exception as error:
            raise unusable(error, self.device, self.converted) from error
        used = translator.compute_type
        if used != dtype and not (dtype == "int8" and used.startswith("int8")):
            raise UsageError(
                f"--dtype {dtype}: CTranslate2 would compute in {used} instead; ask for that"
            )
        return translator

    def _spell(self, ids: Sequence[int]) -> list[str]:
        return [self._tokens[n] for n in ids]

    def _search(
        self,
        batch: Sequence[Sequence[int]],
        bounds: Bounds,
        *,
        every: bool = False,
        hypotheses: int | None = None,
    ) -> list[Any]:
        """CTranslate2's results: the best `hypotheses` and their scores; with `every` no finished
        one is left out.

        A forced end token comes behind the last of `limit` tokens. CTranslate2 has no such thing:
        the search ends one token before, and `_best` adds it.
        """
        decoding, limit, forced = bounds.decoding, bounds.limit, bounds.forced
        beams = decoding.beams
        most = most_sentences(beams, len(self._tokens))
        if len(batch) > most:
            parts = [batch[first : first + most] for first in range(0, len(batch), most)]
            found = [
                self._search(part, bounds, every=every, hypotheses=hypotheses) for part in parts
            ]
            return list(chain.from_iterable(found))
        some = 1 if self._forced_end is None else beams
        return list(
            self._translator.translate_batch(
                [self._spell(ids) for ids in batch],
                target_prefix=None if forced is None else [[self._tokens[forced]]] * len(batch),
                beam_size=beams,
                patience=2.0 if every else 1.0 if decoding.early_stopping else PATIENCE,
                num_hypotheses=hypotheses or (2 * beams if every else some),
                length_penalty=decoding.length_penalty,
                suppress_sequences=[self._spell(ids) for ids in self._never] or None,
                end_token=self._spell(self._ends),
                return_end_token=True,
                return_scores=True,
                max_batch_size=0,
                batch_type="examples",
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=limit if self._forced_end is None else limit - 1,
            )
        )

    def _is_mixed(self, result: Any, decoding: Decoding) -> bool:  # noqa: ANN401
        """Whether some ended by themselves and some will be forced to, so that the former must all
        be counted.
        """
        if self._forced_end is None or not decoding.early_stopping or decoding.beams == 1:
            return False
        ended = sum(self._has_ended(tokens) for tokens in result.hypotheses)
        return 0 < ended < len(result.hypotheses)

    def _has_ended(self, tokens: Sequence[str]) -> bool:
        return not tokens or self._ids[tokens[-1]] in self._ends

    def _best(self, result: Any, bounds: Bounds) -> Generated:  # noqa: ANN401
        """The hypothesis that transformers would choose once those that are cut have their forced
        end token.

        The token adds nothing to the sum of log probabilities, and one to the length by which it is
        divided. Where as many have ended by themselves as there are beams, the search was over
        before the limit.
        """
        decoding, limit = bounds.decoding, bounds.limit
        found = list(zip(result.scores, result.hypotheses, strict=True))
        forced: tuple[int, ...] = ()
        if self._forced_end is not None:
            ended = [one for one in found if self._has_ended(one[1])]
            shrink = ((limit - 1) / limit) ** decoding.length_penalty
            cut = [
                (score * shrink, tokens) for score, tokens in found if not self._has_ended(tokens)
            ]
            full = decoding.early_stopping and len(ended) >= decoding.beams
            found = sorted(ended if full else [*ended, *cut], key=lambda one: -one[0])
            forced = () if self._has_ended(found[0][1]) else (self._forced_end,)
        ids = (*(self._ids[token] for token in found[0][1]), *forced)
        return Generated(
            ids, cut=len(ids) >= limit, finite=all(math.isfinite(score) for score in result.scores)
        )


def most_sentences(beams: int, vocabulary: int) -> int:
    """How many sentences CTranslate2 can search at a time: 1,717 of mBART50 at beam 5, 7,391 of
    Opus-MT. It fills up a vocabulary to a multiple of eight.
    """
    filled_up = -(-vocabulary // 8) * 8
    return max(1, _MOST_SCORES // (beams * filled_up))


def _find_device(ctranslate2: Any, device: str) -> tuple[str, int]:  # noqa: ANN401
    kind, _, number = device.partition(":")
    if kind not in {"cpu", "cuda"} or not (number.isdecimal() or number == ""):
        raise UsageError(f"--device: the engine ct2 has cpu, cuda and cuda:N, not {device!r}")
    index = int(number or 0)
    if kind == "cuda" and index >= (count := ctranslate2.get_cuda_device_count()):
        raise UsageError(
            f"--device {device}: CTranslate2 sees {count} GPUs here; use --device cpu, or --engine transformers"
        )
    return kind, index


def _check_dtype(ctranslate2: Any, kind: str, number: int, dtype: str) -> None:  # noqa: ANN401
    able = ctranslate2.get_supported_compute_types(kind, number)
    if dtype not in able:
        usable = ", ".join(name for name in DTYPES["ct2"] if name in able)
        raise UsageError(f"--dtype: the engine ct2 has {usable} on this device, not {dtype!r}")
