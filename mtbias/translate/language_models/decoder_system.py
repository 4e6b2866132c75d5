"""Checkpoints that are decoders (causal language models) as a translation system: greedy answers,
cleaned and kept.
"""

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
from mtbias.translate.seq2seq.checkpoints import Checkpoint, explained
from mtbias.translate.seq2seq.engine import (
    BatchPlan,
    BatchSystem,
    Budget,
    Decoding,
    Halving,
    get_preset,
    within_memory,
)
from mtbias.translate.seq2seq.transformers_engine import load_model
from mtbias.translate.system import Asked, Begun, Sources, Store, Translated
from mtbias.types import Json, SourceSentence

# More than translations need (docs/language_models.md), even where a tokenizer knows little but
# English.
TIMES_SOURCE = 6
ROOM = 64
"""The most tokens of an answer follow its source: `TIMES_SOURCE` times its tokens, and room for an
announcement or a note."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AnswerLimit:
    """How many tokens an answer may have."""

    most: int
    """At most so many, whatever the source."""
    from_source: bool
    """Whether the limit also follows the source's tokens."""

    def of(self, source_tokens: int) -> int:
        """Most tokens of the answer to a source: ``min(most, 6 × source tokens + 64)``, or `most`.

        It depends on the sentence alone, so that an answer does not depend on what shares its
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

    def __init__(self, checkpoint: Checkpoint, asked: Asked) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Raises:
            UsageError: no such prompt or preset, or a prompt for other languages.
            ModelError: the tokenizer cannot be loaded.
        """
        self.checkpoint, self.lang, self.settings = checkpoint, asked.lang, asked.settings
        self.source_lang = asked.source_lang
        self.language_model: LanguageModelSettings = asked.language_model
        self.prompt: Prompt = load_prompt(self.language_model.prompt)
        self.prompt.filled(
            "", asked.lang, asked.source_lang
        )  # refuses a language that it is not for
        self.device = chosen_device(asked.device)
        preset = get_preset(asked.settings.preset)
        self.dtype = asked.settings.dtype or preset.dtype(asked.translates_on or self.device)
        if self.dtype not in DTYPES["transformers"]:  # a sweep's, which may be for CTranslate2
            known = ", ".join(DTYPES["transformers"])
            raise SettingError(
                "dtype",
                f"expected {known} for {checkpoint.name}, a language model, got {self.dtype!r}",
            )
        self.tokenizer = DecoderTokenizer.load(checkpoint.folder)
        self._warn_of_orders()
        given = self.language_model.answer_tokens
        is_translation = not (self.tokenizer.thinks or self._asks_for_more)
        self.limit = AnswerLimit(given or MOST_TOKENS, given is None and is_translation)
        # Greedy; the start token that `max_length` counts is none here.
        self.decoding = Decoding(beams=1, max_length=self.limit.most + 1)

    def _warn_of_orders(self) -> None:
        """Warn where a model without a chat template is given an order, which it would not obey."""
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
        """Whether an answer ends with its line: a model without a chat template does not end it
        otherwise, but continues with the next question.
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
        files = [*self.checkpoint.folder.glob("*.safetensors")] or [
            *self.checkpoint.folder.glob("*.bin")
        ]
        return sum(path.stat().st_size for path in files) * (2 if self.dtype == "float32" else 1)

    def sizes(self) -> Mapping[str, Any]:
        """See `BatchSystem`; few heads of keys and values are narrow."""
        config = load_json((self.checkpoint.folder / "config.json").read_bytes())
        config = config.get("text_config") or config  # of models that read pictures too
        hidden, heads = (
            int(config.get("hidden_size") or 4096),
            int(config.get("num_attention_heads") or 1),
        )
        kept = int(config.get("num_key_value_heads") or heads) * int(
            config.get("head_dim") or hidden // heads
        )
        return {
            "decoder_layers": config.get("num_hidden_layers") or 32,
            "d_model": kept,
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
    def asked(self) -> Mapping[str, Json]:
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
        source = self.system.source_lang
        return [
            self.system.tokenizer.encode(self.prompt.filled(s, self.lang, source))
            for s in self.distinct
        ]

    @cached_property
    def questions(self) -> Sequence[Question]:
        """The prompt of each distinct source with the limit of its answer."""
        count, limit = self.system.tokenizer.count, self.system.limit
        limits = [limit.of(count(source)) for source in self.distinct]
        return [Question(ids, most) for ids, most in zip(self.encoded, limits, strict=True)]

    @property
    def lengths(self) -> Sequence[int]:
        """See `BatchPlan`."""
        return list(map(len, self.encoded))

    def translated(self, pieces: Sequence[tuple[str, Answer]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; sources that were read with a hole are
        marked.
        """
        made = AnswersPlan.translated(self, pieces)
        tokenizer = self.system.tokenizer
        marked = unknown_marks(
            self.instances, {source: tokenizer.unknown_places(source) for source in self.distinct}
        )
        return replace(made, noticed=with_marks(made.noticed, marked))

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
                f"one prompt of {len(question.ids)} tokens with an answer of up to {question.limit} does not fit into "
                f"memory ({lacking}); use fewer --answer-tokens, another --dtype, or --device cpu"
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
    """Counts the answers that were ended before they were finished, and says so while they are
    made.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    """How many ended as ``loop``, and how many as ``length``."""
    made: int = 0
    """Answers so far."""
    _said_at: int = 1

    def count(self, answers: Sequence[Answer]) -> None:
        """Count these too; warns where the number has doubled since it was said."""
        self.made += len(answers)
        kinds = [answer.finish for answer in answers]
        self.kinds.update(kind for kind in kinds if kind in {"loop", "length"})
        total = self.kinds.total()
        if total < self._said_at:
            return
        self._said_at = 2 * total
        _log.warning(
            "%d of the first %d answers were given up: %d repeat themselves, %d reached their most tokens",
            total,
            self.made,
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
        named = self._model.generation_config.eos_token_id
        listed = named if isinstance(named, list) else [] if named is None else [named]
        self._ends = frozenset({*listed, *tokenizer.ends})
        # What the checkpoint's own says of beams, sampling and repetition is no part of greedy
        # search, and would fill what a search leaves open.
        self._model.generation_config = GenerationConfig()

    def answer(self, questions: Sequence[Question], *, ends_at_line: bool = False) -> list[Answer]:
        """The likeliest next token each time: the answers to `questions`, each up to its limit.

        Prompts are padded on the left, so that all answers begin at one place; what pads is masked.

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
            raise ModelError(
                f"{self.folder}: scores are not finite in {self.dtype}; "
                + (
                    "the weights are damaged or untrained"
                    if self.dtype == "float32"
                    else "use --dtype float32"
                )
            )
        return list(map(self._answer, answers))

    def _answer(self, made: Answering) -> Answer:
        """An answer as it is kept."""
        text = self.tokenizer.decode(made.ids)
        return Answer(text, made.finish, None, len(made.question.ids), len(made.ids))
