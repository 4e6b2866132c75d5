"""A model, an engine and a way of decoding, made ready to translate a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.errors import DependencyError, UsageError
from mtbias.translate.seq2seq.batch_plan import Batch, Budget, cpu_budget, gpu_budget, make_plan, plan_key
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.decoding import Decoding, adjusted, get_preset
from mtbias.translate.seq2seq.engine import Engine
from mtbias.translate.seq2seq.generation import Generation, Output, Store, Tally

ENGINES = ("transformers", "ct2")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user chooses; None is the preset's, or what suits the device."""

    preset: str = "paper"
    engine: str = "transformers"
    beams: int | None = None
    length_penalty: float | None = None
    max_length: int | None = None
    dtype: str | None = None
    device: str | None = None
    batch_rows: int | None = None
    """Sentences × beams of a batch."""
    target_code: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Sentences, encoded and divided into batches."""

    sources: tuple[str, ...]
    """As they were given."""
    distinct: tuple[str, ...]
    """Each once, in order of first appearance: what is translated."""
    encoded: Sequence[Encoded]
    plan: tuple[Batch, ...]
    budget: Budget
    key: str
    """`plan_key`."""

    def of_sources(self, outputs: Sequence[Output]) -> list[Output]:
        """The outputs of all sources, from those of the distinct ones."""
        by_source = dict(zip(self.distinct, outputs, strict=True))
        return [by_source[source] for source in self.sources]


class Translator:
    """Translates English sentences into one language with one checkpoint."""

    def __init__(self, checkpoint: Checkpoint, lang: str, settings: Settings, *, cache: Path) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Args:
            checkpoint: the model.
            lang: ISO 639-1 code of the target language.
            settings: how to translate.
            cache: mtbias's cache, where converted checkpoints are kept.

        Raises:
            UsageError: an unknown preset, engine, dtype or device.
            ModelError: the checkpoint cannot be used for `lang`.
        """
        if settings.engine not in ENGINES:
            raise UsageError(f"--engine: expected {' or '.join(ENGINES)}, got {settings.engine!r}")
        preset = get_preset(settings.preset)
        self.checkpoint, self.settings, self._cache = checkpoint, settings, cache
        self.device = choose_device(settings.device)
        self.dtype = settings.dtype or (preset.gpu_dtype if self.device.startswith("cuda") else "float32")
        self.codec = Codec(checkpoint.folder, lang, target_code=settings.target_code)
        chosen = adjusted(
            preset.decoding,
            beams=settings.beams,
            length_penalty=settings.length_penalty,
            max_length=settings.max_length,
        )
        self.decoding: Decoding = replace(chosen, early_stopping=self.codec.family.early_stopping)
        self._engine: Engine | None = None
        self._budget: Budget | None = None

    @property
    def engine(self) -> Engine:
        """The engine, with the weights loaded."""
        if self._engine is None:
            self._engine = self._load()
        return self._engine

    def identity(self) -> dict[str, Any]:
        """What translations depend on.

        In fp32 they do not depend on the batch; in other types the rows of a batch are named too.
        """
        identity: dict[str, Any] = {
            "model": self.checkpoint.name,
            "revision": self.checkpoint.revision,
            "family": self.codec.family.name,
            "direction": self.codec.direction.signature,
            "engine": self._engine_name(),
            "dtype": self.dtype,
            "decoding": self.decoding.signature,
        }
        if self.dtype != "float32":
            identity["batch"] = list(_budget_numbers(self.budget()))
        return identity

    def execution(self, *, loaded: bool) -> dict[str, Any]:
        """Circumstances for the manifest: they do not change results. `loaded`: whether the weights were needed."""
        found = {
            "preset": self.settings.preset,
            "translate_device": self.device,
            "batch": list(_budget_numbers(self.budget())),
        }
        if loaded:
            found["attention"] = str(getattr(self.engine, "attention", "the engine's own"))
        return found

    def budget(self) -> Budget:
        """What a batch may hold: `settings.batch_rows`, else what `use_budget` said, else what suits the device."""
        if self.settings.batch_rows is not None:
            return cpu_budget(max(self.settings.batch_rows, self.decoding.beams))
        if self._budget is not None:
            return self._budget
        if not self.device.startswith("cuda"):
            return cpu_budget()
        import torch

        size = 4 if self.dtype == "float32" else 2
        memory = torch.cuda.mem_get_info(torch.device(self.device))[0]
        self._budget = gpu_budget(self.codec.config, memory, bytes_per_value=size, beams=self.decoding.beams)
        return self._budget  # and so it stays, however much is free later

    def use_budget(self, budget: Budget) -> None:
        """Plan with the budget of a run that was begun, perhaps on another device; `settings.batch_rows` overrules it.

        Batches that are too large for the memory that is here are halved.
        """
        self._budget = budget

    def prepare(self, sources: Sequence[str]) -> Prepared:
        """Encode and plan; each distinct source is translated once. The weights are not needed.

        Raises:
            ModelError: see `Codec.encode`.
        """
        distinct = tuple(dict.fromkeys(sources))
        encoded, budget = self.codec.encode(distinct), self.budget()
        plan = make_plan([len(e.ids) for e in encoded], self.decoding, budget)
        return Prepared(tuple(sources), distinct, encoded, plan, budget, plan_key(plan, distinct))

    def translate(
        self,
        prepared: Prepared,
        store: Store,
        progress: Callable[[int, int], object],
        made: Callable[[Sequence[Output]], object] | None = None,
    ) -> tuple[list[Output], Tally]:
        """The outputs of all sources, in their order.

        Args:
            prepared: from `prepare`.
            store: keeps finished batches.
            progress: called with how many distinct sentences are done, and how many there are.
            made: called with the outputs of each batch.

        Raises:
            ModelError: see `Generation.run`.
        """
        generation = Generation(self.codec, _Late(self), self.decoding)
        done, total = 0, len(prepared.distinct)
        progress(done, total)

        def count(n: int) -> None:
            nonlocal done
            done += n
            progress(done, total)

        outputs = generation.run(prepared.encoded, prepared.plan, store, count, made)
        return prepared.of_sources(outputs), generation.tally

    def translate_part(
        self, prepared: Prepared, batches: Sequence[Batch], store: Store, progress: Callable[[int, int], object]
    ) -> Tally:
        """Put the outputs of some batches of the plan into `store`; nothing is held in memory.

        Raises:
            ModelError: see `Generation.run`.
        """
        generation = Generation(self.codec, _Late(self), self.decoding)
        done, total = 0, sum(len(batch.rows) for batch in batches)
        progress(done, total)
        with closing(generation.batches(prepared.encoded, batches, store)) as kept:
            for batch, _ in kept:
                done += len(batch.rows)
                progress(done, total)
        return generation.tally

    def _engine_name(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        package = {"transformers": "transformers", "ct2": "ctranslate2"}[self.settings.engine]
        try:
            return f"{package}/{version(package)}"
        except PackageNotFoundError:
            raise DependencyError(
                f"--engine {self.settings.engine} needs {package}: pip install 'mtbias[ct2]'"
            ) from None

    def _load(self) -> Engine:
        if self.settings.engine == "ct2":
            from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

            return CTranslate2Engine(self.checkpoint.folder, device=self.device, dtype=self.dtype, cache=self._cache)
        from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

        return TransformersEngine(self.checkpoint.folder, device=self.device, dtype=self.dtype)


class _Late:
    """The translator's engine, loaded at the first batch: a run that only resumes needs no weights."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator

    @property
    def signature(self) -> str:
        return self._translator.engine.signature

    @property
    def batch_matters(self) -> bool:
        return self._translator.engine.batch_matters

    @property
    def lanes(self) -> int:
        return self._translator.engine.lanes

    def generate(self, batch: Any, *, decoding: Decoding, limit: int, forced: int | None) -> Any:  # noqa: ANN401
        return self._translator.engine.generate(batch, decoding=decoding, limit=limit, forced=forced)

    def abandon(self) -> AbstractContextManager[None]:
        return self._translator.engine.abandon()

    def exact(self) -> Engine:
        return self._translator.engine.exact()


def choose_device(name: str | None) -> str:
    """`name`, or a GPU where there is one."""
    if name is not None:
        return name
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def sources_hash(sources: Sequence[str]) -> str:
    """SHA-256 of the sentences, a line each."""
    return sha256("\n".join(sources).encode()).hexdigest()


def _budget_numbers(budget: Budget) -> tuple[int, int]:
    return budget.rows, budget.tokens
