"""How translations are searched for: beams, length penalty, maximum length; always explicit, never inherited."""

from __future__ import annotations

from dataclasses import dataclass

from mtbias.errors import UsageError

STEP = 8
"""Source lengths are rounded up to a multiple of this before a maximum length is made of them."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Beam search.

    The score of a hypothesis is its log probability divided by ``length ** length_penalty``.
    """

    beams: int = 5
    length_penalty: float = 1.0
    max_length: int = 200
    """Most tokens of a translation, the decoder's start token included (transformers' ``max_length``)."""
    from_source: bool = False
    """Whether the maximum also follows the source: twice its tokens and 20, no more than `max_length`."""
    early_stopping: bool = True
    """Whether a search ends with as many finished hypotheses as beams; else when no better one can come."""

    def __post_init__(self) -> None:
        if self.beams < 1:
            raise UsageError(f"--beams: expected a whole number of at least 1, got {self.beams}")
        if self.max_length < 3:
            raise UsageError(f"--max-length: expected a whole number of at least 3, got {self.max_length}")

    def limit(self, source_tokens: int) -> int:
        """Most new tokens (the language token and the end token count, the start token does not).

        It depends on the sentence alone, so that a translation does not depend on what shares its batch.
        """
        ceiling = self.max_length - 1
        if not self.from_source:
            return ceiling
        rounded = -(-source_tokens // STEP) * STEP
        return min(ceiling, 2 * rounded + 20)

    def expected(self, source_tokens: int) -> int:
        """Tokens of a translation for which room is kept: few are longer, and what does not fit is halved."""
        return min(self.limit(source_tokens), 2 * source_tokens + 20)

    @staticmethod
    def first_stop(source_tokens: int) -> int:
        """Tokens after which the first of two stages gives a sentence up: what is not done then is most often a loop.

        Whatever it is, translations in fp32 are the same: what is given up is searched again, to its limit.
        """
        return 3 * source_tokens // 2 + 20

    @property
    def signature(self) -> str:
        """``beam5,penalty1,max200``: part of a run's identity."""
        length = f"max{self.max_length}" + (",max2x+20" if self.from_source else "")
        return f"beam{self.beams},penalty{self.length_penalty:g},{length}" + (",early" if self.early_stopping else "")


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings under one name."""

    decoding: Decoding
    gpu_dtype: str
    """Weights' type on a GPU; on a CPU it is float32."""


PRESETS = {
    "paper": Preset(Decoding(), "float32"),
    "fast": Preset(Decoding(from_source=True), "bfloat16"),
}
"""``paper``: the setting of BUG's authors (EasyNMT 1.1): beam 5, penalty 1.0, 200 tokens, fp32. ``fast``: bf16 on a
GPU, lengths bounded by the source's."""


def get_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in PRESETS:
        raise UsageError(f"--preset: expected {' or '.join(PRESETS)}, got {name!r}")
    return PRESETS[name]
