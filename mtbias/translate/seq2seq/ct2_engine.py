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
from pathlib import Path
from typing import Any

from mtbias.errors import DependencyError, ModelError, MtbiasError, UsageError, first_line
from mtbias.files.strict_json import load_json
from mtbias.machine import devices as host
from mtbias.machine.devices import install_command
from mtbias.settings import DTYPES
from mtbias.translate.seq2seq.batches import cpu_concurrency
from mtbias.translate.seq2seq.codec import read_config
from mtbias.translate.seq2seq.ct2_conversion import RECORD, VOCABULARY, convert, library
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, Engine, Generated, within_memory

# On a GPU CTranslate2 also needs cuBLAS 12, which PyTorch's own packages no longer have.

PACKAGE = "nvidia-cublas-cu12"
_LIBRARIES = ("libcublasLt.so.12", "libcublas.so.12")
"""In the order in which they need each other."""


def load_cublas() -> bool:
    """Load the libraries of `PACKAGE`; returns whether they are loaded.

    CTranslate2 opens them by name, and so finds loaded ones; the system's loader does not look into
    the package. Without the package the system may still have them.
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
        MtbiasError: CTranslate2 or cuBLAS is missing, or CTranslate2 does not see that GPU.
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
        # On other systems it has another name, and the batch in `_load` shows whether it is there.
        return sys.platform != "linux"
    return True


def unusable(error: Exception, device: str, converted: Path) -> DependencyError | ModelError:
    """The error for a user where CTranslate2 cannot load a checkpoint, or compute with it."""
    reason = first_line(error)[:200]
    if "libcublas" in reason or "libcudart" in reason:
        return DependencyError(
            f"--engine ct2 on {device} needs cuBLAS 12, which is not here ({reason}): "
            f"{install_command('ct2-cuda')}"
        )
    return ModelError(
        f"{converted}: CTranslate2 cannot compute with it on {device}: {reason}; "
        "delete that folder to convert it again, use --engine transformers, or another --device"
    )


_MOST_SCORES = 2**31 - 1
"""CTranslate2 numbers a batch's scores, rows × vocabulary, by 32 bits, and picks wrong tokens
where there are more."""
PATIENCE = 2.0
"""Finished hypotheses, in multiples of the beams, that end a search without
`Decoding.early_stopping`."""


class CTranslate2Engine(Engine):
    """A checkpoint converted to CTranslate2, once, in fp32; quantised when it is loaded.

    In fp32 its translations equal those of `TransformersEngine`, except for near ties and these
    differences of rule:

    * Tokens that are never generated (``bad_words_ids``; padding in Opus-MT) are removed before the
      softmax, in transformers after it. So scores differ by the probability of such tokens.
    * After a forced language token, an end token finishes a hypothesis, an empty translation, only
      where it is the most probable token; in transformers, where it is among the best tokens, as
      many as beams.
    * Without `Decoding.early_stopping` transformers ends a search when no hypothesis seems able to
      beat the finished ones; CTranslate2 when `PATIENCE` times as many are finished as there are
      beams.
    * A source that is only an end token is not translated: the result is empty.
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

        On a CPU there are as many `threads` as ``OMP_NUM_THREADS`` says, else as cores, and as many
        batches at the same time, each on one thread; beyond `MOST_CONCURRENT` batches share the
        threads out.

        Raises:
            DependencyError: CTranslate2 is not installed.
            UsageError: there is no such device, or it cannot compute in `dtype`, which is never
                replaced by another type; names the possible ones.
            ModelError: the checkpoint cannot be converted without a change of its results.
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
        self.concurrency = 1
        # A step of beam search multiplies matrices of 80 rows, which gain little from a second
        # core; two batches on two cores are nearly twice as fast.
        if self._kind == "cpu":
            config = read_config(folder)
            self.concurrency = cpu_concurrency(config, threads=self._threads, memory=memory)
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
                f"{self.folder}: the checkpoint has {self._positions} positions, and {limit} new "
                "tokens are allowed; "
                f"with --engine ct2 use --max-length {self._positions + 1} or less"
            )

        def generate() -> list[Generated]:
            if bounds.stop is not None and bounds.stop < limit:
                return self._until(batch, replace(bounds, limit=bounds.stop))
            results = self._search(batch, bounds)
            mixed = [n for n, result in enumerate(results) if self._is_mixed(result, decoding)]
            if mixed:
                complete = self._search([batch[n] for n in mixed], bounds, every=True)
                for n, result in zip(mixed, complete, strict=True):
                    results[n] = result
            return [self._best(result, bounds) for result in results]

        return within_memory(generate)

    def _until(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        """Search up to the limit; only sentences whose search is over before it are done."""
        beams, stop = bounds.decoding.beams, bounds.limit
        needed = beams if bounds.decoding.early_stopping or beams == 1 else round(PATIENCE * beams)
        translations = []
        for result in self._search(batch, bounds, hypotheses=needed):
            lengths = [len(tokens) for tokens in result.hypotheses]
            all_ended = all(map(self._has_ended, result.hypotheses))
            if all_ended and len(lengths) == needed and max(lengths) < stop - 1:
                # Neither the limit nor a token that is forced there had an effect.
                translations.append(self._best(result, bounds))
            else:
                translations.append(Generated((), done=False))
        return translations

    def abandon(self) -> AbstractContextManager[None]:
        """CTranslate2 cannot be interrupted: a batch that was begun is finished."""
        return nullcontext()

    def exact(self) -> CTranslate2Engine:
        """The same conversion in fp32, loaded when it is first needed."""
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
            if on_gpu:  # a library that does not fit fails here, not in the middle of a corpus
                sentence = self._spell([len(self._tokens) // 2, self._ends[0]])
                translator.translate_batch([sentence], beam_size=1, max_decoding_length=1)
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
        """CTranslate2's results: the best `hypotheses` and their scores; with `every`, all finished
        ones.

        A forced end token follows the last of `limit` tokens. CTranslate2 cannot force it: the
        search ends one token before, and `_best` adds it.
        """
        decoding, limit, forced = bounds.decoding, bounds.limit, bounds.forced
        beams = decoding.beams
        most = most_sentences(beams, len(self._tokens))
        if len(batch) > most:
            results: list[Any] = []
            for first in range(0, len(batch), most):
                part = batch[first : first + most]
                results += self._search(part, bounds, every=every, hypotheses=hypotheses)
            return results

        patience = 1.0 if decoding.early_stopping else PATIENCE
        count = 1 if self._forced_end is None else beams
        if every:
            patience, count = 2.0, 2 * beams
        return list(
            self._translator.translate_batch(
                [self._spell(ids) for ids in batch],
                target_prefix=None if forced is None else [[self._tokens[forced]]] * len(batch),
                beam_size=beams,
                patience=patience,
                num_hypotheses=hypotheses or count,
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
        """Whether some hypotheses ended by themselves and others will be forced to, so that all of
        the former are needed.
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
        best: Sequence[str] = result.hypotheses[0]
        forced: tuple[int, ...] = ()
        if self._forced_end is not None:
            ended: list[tuple[float, Sequence[str]]] = []
            cut: list[tuple[float, Sequence[str]]] = []
            shrink = ((limit - 1) / limit) ** decoding.length_penalty
            for score, tokens in zip(result.scores, result.hypotheses, strict=True):
                if self._has_ended(tokens):
                    ended.append((score, tokens))
                else:
                    cut.append((score * shrink, tokens))
            is_over = decoding.early_stopping and len(ended) >= decoding.beams
            candidates = ended if is_over else [*ended, *cut]
            _, best = max(candidates, key=lambda candidate: candidate[0])
            forced = () if self._has_ended(best) else (self._forced_end,)
        ids = (*(self._ids[token] for token in best), *forced)
        finite = all(map(math.isfinite, result.scores))
        return Generated(ids, cut=len(ids) >= limit, finite=finite)


def most_sentences(beams: int, vocabulary: int) -> int:
    """Most sentences that CTranslate2 can search at a time: 1,717 of mBART50 at beam 5, 7,391 of
    Opus-MT. It pads a vocabulary to a multiple of eight.
    """
    padded = -(-vocabulary // 8) * 8
    return max(1, _MOST_SCORES // (beams * padded))


def _find_device(ctranslate2: Any, device: str) -> tuple[str, int]:  # noqa: ANN401
    kind, _, number = device.partition(":")
    if kind not in {"cpu", "cuda"} or not (number.isdecimal() or number == ""):
        raise UsageError(f"--device: the engine ct2 has cpu, cuda and cuda:N, not {device!r}")
    index = int(number or 0)
    if kind == "cuda" and index >= (count := ctranslate2.get_cuda_device_count()):
        raise UsageError(
            f"--device {device}: CTranslate2 sees {count} GPUs here; "
            "use --device cpu, or --engine transformers"
        )
    return kind, index


def _check_dtype(ctranslate2: Any, kind: str, number: int, dtype: str) -> None:  # noqa: ANN401
    able = ctranslate2.get_supported_compute_types(kind, number)
    if dtype not in able:
        usable = ", ".join(name for name in DTYPES["ct2"] if name in able)
        raise UsageError(f"--dtype: the engine ct2 has {usable} on this device, not {dtype!r}")
