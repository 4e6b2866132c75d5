"""Checkpoints of decoders (causal language models) as a translation system, with greedy answers."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError, SettingError
from mtbias.files.strict_json import load_json
from mtbias.machine.devices import chosen_device
from mtbias.settings import DTYPES, LanguageModelSettings
from mtbias.translate.language_models.answers import MOST_TOKENS, Answer, AnswersPlan
from mtbias.translate.language_models.decoder_tokenizer import DecoderTokenizer
from mtbias.translate.language_models.greedy_search import (
    Answering,
    EndRules,
    GreedySearch,
    Question,
)
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.outputs import unknown_marks, with_marks
from mtbias.translate.seq2seq.batches import BatchPlan, BatchSystem, Budget
from mtbias.translate.seq2seq.checkpoints import Checkpoint, explained
from mtbias.translate.seq2seq.decoding import Decoding, get_preset
from mtbias.translate.seq2seq.engine import Halving, within_memory
from mtbias.translate.seq2seq.transformers_engine import load_model
from mtbias.translate.system import Begun, Sources, Store, SystemRequest, Translated
from mtbias.types import Json, SourceSentence

# More than translations need (docs/language_models.md), even with a tokenizer that knows little
# but English.
TIMES_SOURCE = 6
ROOM = 64
"""An answer has at most `TIMES_SOURCE` times the tokens of its source, and `ROOM` more for an
announcement or a note."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AnswerLimit:
    """The most tokens of an answer."""

    most: int
    """Most tokens for any source."""
    from_source: bool
    """Whether the limit also depends on the source's tokens."""

    def for_source(self, source_tokens: int) -> int:
        """Most tokens of the answer to a source: ``min(most, 6 × source tokens + 64)``, or `most`.

        It depends on the sentence alone, so that an answer does not depend on the rest of its
        batch.
        """
        if not self.from_source:
            return self.most
        return min(self.most, TIMES_SOURCE * source_tokens + ROOM)

    @property
    def signature(self) -> Json:
        """``1024,6x+64``, or the number alone: part of a run's identity."""
        return f"{self.most},{TIMES_SOURCE}x+{ROOM}" if self.from_source else self.most


class DecoderSystem(BatchSystem):
    """Asks a causal language model for translations into one language
    (`mtbias.translate.system.System`).
    """

    uses = frozenset({"prompt", "answer_tokens", "dtype", "batch_rows", "preset", "revision"})
    """The settings that change something."""
    cpu_rows = 16  # prompts are longer than sources

    def __init__(self, checkpoint: Checkpoint, request: SystemRequest) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Raises:
            UsageError: there is no such prompt or preset, or the prompt is for other languages.
            ModelError: the tokenizer cannot be loaded.
        """
        self.checkpoint, self.lang, self.settings = checkpoint, request.lang, request.settings
        self.source_lang = request.source_lang
        self.language_model: LanguageModelSettings = request.language_model
        self.prompt: Prompt = load_prompt(self.language_model.prompt)
        self.prompt.filled("", request.lang, request.source_lang)  # refuses other languages
        self.device = chosen_device(request.device)
        preset = get_preset(request.settings.preset)
        self.dtype = request.settings.dtype or preset.dtype(request.translates_on or self.device)
        if self.dtype not in DTYPES["transformers"]:  # a sweep's, which may be for CTranslate2
            known = ", ".join(DTYPES["transformers"])
            raise SettingError(
                "dtype",
                f"expected {known} for {checkpoint.name}, a language model, got {self.dtype!r}",
            )
        self.tokenizer = DecoderTokenizer.load(checkpoint.folder)
        self._warn_of_instructions()
        most = self.language_model.answer_tokens
        is_translation = not (self.tokenizer.thinks or self._asks_for_more)
        self.limit = AnswerLimit(most or MOST_TOKENS, most is None and is_translation)
        # Greedy; `max_length` counts a start token, which a decoder does not have.
        self.decoding = Decoding(beams=1, max_length=self.limit.most + 1)

    def _warn_of_instructions(self) -> None:
        """Warn of an instruction to a model without a chat template, which will not follow it."""
        asks_to_continue = self.prompt.messages[-1].content.rstrip().endswith(":")
        if self.tokenizer.template == "plain" and not asks_to_continue:
            _log.warning(
                "%s has no chat template: such a model continues a text rather than obey the "
                "prompt %s; --prompt few-shot shows it examples",
                self.checkpoint.name,
                self.prompt.name,
            )

    @property
    def _asks_for_more(self) -> bool:
        """Whether the prompt asks for more than a translation: something before it, or several."""
        form = self.prompt.answer
        return form.between is not None or form.lines == "alternatives"

    @property
    def ends_at_line(self) -> bool:
        """Whether an answer ends with its line: without a chat template a model continues with the
        next question.
        """
        return self.tokenizer.template == "plain" and not self._asks_for_more

    @cached_property
    def engine(self) -> DecoderEngine:
        """The engine, with the weights loaded."""
        return DecoderEngine(
            self.checkpoint.folder, self.tokenizer, device=self.device, dtype=self.dtype
        )

    def weights(self) -> int:
        """See `BatchSystem`; by the sizes of their files."""
        folder = self.checkpoint.folder
        files = [*folder.glob("*.safetensors")] or [*folder.glob("*.bin")]
        return sum(path.stat().st_size for path in files) * (2 if self.dtype == "float32" else 1)

    def sizes(self) -> Mapping[str, Any]:
        """See `BatchSystem`; ``d_model`` is the width of keys and values, which may have fewer
        heads.
        """
        config = load_json((self.checkpoint.folder / "config.json").read_bytes())
        config = config.get("text_config") or config  # of models that read pictures too
        hidden = int(config.get("hidden_size") or 4096)
        heads = int(config.get("num_attention_heads") or 1)
        cached_heads = int(config.get("num_key_value_heads") or heads)
        head_size = int(config.get("head_dim") or hidden // heads)
        return {
            "decoder_layers": config.get("num_hidden_layers") or 32,
            "d_model": cached_heads * head_size,
            "vocab_size": config.get("vocab_size"),
        }

    def plan(self, corpus: Sources, begun: Begun) -> DecoderPlan:
        """See `mtbias.translate.system.System`."""
        return DecoderPlan(self, corpus.instances, self.prompt, self.lang, self.budget(begun))


@dataclass(frozen=True, eq=False)
class DecoderPlan(BatchPlan[Answer], AnswersPlan):
    """See `BatchPlan`."""

    system: DecoderSystem
    instances: Sequence[SourceSentence]
    prompt: Prompt
    lang: str
    budget: Budget

    @property
    def parameters(self) -> Mapping[str, Json]:
        """See `BatchPlan`."""
        return {
            "engine": f"transformers/{version('transformers')}",
            "dtype": self.system.dtype,
            "decoding": "greedy,noloop" + (",line" if self.system.ends_at_line else ""),
            "template": self.system.tokenizer.template,
            "prompt": self.prompt.label,
            "answer_tokens": self.system.limit.signature,
        }

    @cached_property
    def encoded(self) -> Sequence[Sequence[int]]:
        """The prompt of each distinct source as token ids."""
        encode, source_lang = self.system.tokenizer.encode, self.system.source_lang
        return [
            encode(self.prompt.filled(source, self.lang, source_lang)) for source in self.distinct
        ]

    @cached_property
    def questions(self) -> Sequence[Question]:
        """The prompt of each distinct source with the limit of its answer."""
        count, limit = self.system.tokenizer.count, self.system.limit
        limits = [limit.for_source(count(source)) for source in self.distinct]
        return [Question(ids, most) for ids, most in zip(self.encoded, limits, strict=True)]

    @property
    def lengths(self) -> Sequence[int]:
        """See `BatchPlan`."""
        return list(map(len, self.encoded))

    def translated(self, pieces: Sequence[tuple[str, Answer]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; sources with characters that the tokenizer
        cannot read are marked.
        """
        translated = AnswersPlan.translated(self, pieces)
        tokenizer = self.system.tokenizer
        places = {source: tokenizer.unknown_places(source) for source in self.distinct}
        marked = unknown_marks(self.instances, places)
        return replace(translated, noticed=with_marks(translated.noticed, marked))

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, list[Answer]]]:
        """See `mtbias.translate.outputs.PartsPlan`.

        Raises:
            ModelError: the weights cannot be loaded, or one prompt does not fit into memory.
        """
        halving, given_up = Halving(), _GivenUp()
        ends_at_line = self.system.ends_at_line

        def too_long(question: Question, lacking: str) -> ModelError:
            return ModelError(
                f"one prompt of {len(question.ids)} tokens "
                f"with an answer of up to {question.limit} does not fit into memory ({lacking}); "
                "use fewer --answer-tokens, another --dtype, or --device cpu"
            )

        for part in parts:
            answers = halving.run(
                [self.questions[row] for row in self.batches[part].rows],
                _area,
                lambda some: self.system.engine.answer(some, ends_at_line=ends_at_line),
                too_long,
            )
            self.put(store, part, answers)
            given_up.count(answers)
            yield part, answers
        circumstances |= {
            "translate_device": self.system.device,
            "batch": list(self.budget),
            "batches_halved": halving.halved,
            "answers_given_up": dict(given_up.kinds),
        }


def _area(questions: Sequence[Question]) -> int:
    """Rows × tokens of a batch, answers included."""
    longest = max(len(question.ids) for question in questions)
    return len(questions) * (longest + max(question.limit for question in questions))


@dataclass
class _GivenUp:
    """Counts the answers that were ended before they were finished, and warns of them."""

    kinds: Counter[str] = field(default_factory=Counter)
    """Answers that ended as ``loop`` and as ``length``."""
    answers: int = 0
    """All answers so far."""
    _next_warning: int = 1
    """The total at which the next warning is due."""

    def count(self, answers: Sequence[Answer]) -> None:
        """Count further answers; warns whenever the total has doubled."""
        self.answers += len(answers)
        kinds = [answer.finish for answer in answers]
        self.kinds.update(kind for kind in kinds if kind in {"loop", "length"})
        total = self.kinds.total()
        if total < self._next_warning:
            return
        self._next_warning = 2 * total
        _log.warning(
            "%d of the first %d answers were given up: "
            "%d repeat themselves, %d reached their most tokens",
            total,
            self.answers,
            self.kinds["loop"],
            self.kinds["length"],
        )


class DecoderEngine:
    """The weights of a decoder on a device."""

    def __init__(
        self, folder: Path, tokenizer: DecoderTokenizer, *, device: str, dtype: str
    ) -> None:
        """Load the weights.

        Raises:
            ModelError: they cannot be loaded.
        """
        from transformers import AutoModelForCausalLM, GenerationConfig

        self.folder, self.tokenizer, self.device, self.dtype = folder, tokenizer, device, dtype
        self._model = load_model(folder, AutoModelForCausalLM, device=device, dtype=dtype)
        ends = self._model.generation_config.eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        self._ends = frozenset({*listed, *tokenizer.ends} - {None})
        # The checkpoint's own settings of beams, sampling and repetition would change the search.
        self._model.generation_config = GenerationConfig()

    def answer(self, questions: Sequence[Question], *, ends_at_line: bool = False) -> list[Answer]:
        """Answers of the likeliest next tokens to `questions`, each up to its limit.

        Prompts are padded on the left, where the padding is masked, so that all answers begin at
        one place.

        Args:
            questions: prompts with their limits.
            ends_at_line: whether an answer ends at the end of its first line that is not blank.

        Raises:
            OutOfMemory: the batch is too large for the device.
            ModelError: scores are not finite, or generating fails.
        """
        import torch

        bad: list[Any] = []

        def watch(scores: Any) -> None:  # noqa: ANN401 - a tensor; it does not wait for the GPU
            bad[:] = [scores.isnan().any() | (bad[0] if bad else False)]

        pad = min(self._ends, default=0)
        search = GreedySearch(self._model, pad=pad, watch=watch)
        rules = EndRules(self._ends, self.tokenizer.ends_line if ends_at_line else None)

        def generate() -> list[Answering]:
            with torch.inference_mode(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return search.run(questions, rules)

        with explained(
            self.folder, "generating with transformers", "download the checkpoint again"
        ):
            answers = within_memory(generate)
        if any(bad):
            is_full = self.dtype == "float32"
            advice = "the weights are damaged or untrained" if is_full else "use --dtype float32"
            raise ModelError(f"{self.folder}: scores are not finite in {self.dtype}; {advice}")
        return list(map(self._answer, answers))

    def _answer(self, answering: Answering) -> Answer:
        """A finished answer as it is kept."""
        text = self.tokenizer.decode(answering.ids)
        prompt_tokens = len(answering.question.ids)
        return Answer(text, answering.finish, None, prompt_tokens, len(answering.ids))
