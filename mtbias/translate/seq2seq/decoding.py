"""How translations are searched for: beams, length penalty and maximum length, and the presets of
these; always explicit, never inherited from a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass

from mtbias.errors import UsageError

STEP = 8
"""Source lengths are rounded up to a multiple of this to get a maximum length."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Beam search.

    The score of a hypothesis is its log probability divided by ``length ** length_penalty``.
    """

    beams: int = 5
    length_penalty: float = 1.0
    max_length: int = 200
    """Most tokens of a translation, the decoder's start token included (transformers'
    ``max_length``)."""
    from_source: bool = False
    """Whether the maximum also depends on the source: twice its tokens and 20, up to
    `max_length`."""
    early_stopping: bool = True
    """Whether a search ends with as many finished hypotheses as beams, or only when no better one
    is possible."""

    def __post_init__(self) -> None:
        if self.beams < 1:
            raise UsageError(f"--beams: expected a whole number of at least 1, got {self.beams}")
        if self.max_length < 3:
            raise UsageError(
                f"--max-length: expected a whole number of at least 3, got {self.max_length}"
            )

    def limit(self, source_tokens: int) -> int:
        """Most new tokens (the language token and the end token count, the start token does not).

        It depends on the sentence alone, so that a translation does not depend on the rest of its
        batch.
        """
        ceiling = self.max_length - 1
        if not self.from_source:
            return ceiling
        rounded = -(-source_tokens // STEP) * STEP
        return min(ceiling, 2 * rounded + 20)

    def expected(self, source_tokens: int) -> int:
        """Tokens of a translation for which memory is reserved; few are longer, and a batch that
        does not fit is halved.
        """
        return min(self.limit(source_tokens), source_tokens + 20)

    @staticmethod
    def first_stop(source_tokens: int) -> int:
        """Tokens after which the first of two stages gives a sentence up: mostly, it is a loop.

        The number does not change translations in fp32, since such a sentence is searched again, to
        its limit.
        """
        return 3 * source_tokens // 2 + 20

    @property
    def signature(self) -> str:
        """``beam5,penalty1,max200``: part of a run's identity."""
        length = f"max{self.max_length}" + (",max2x+20" if self.from_source else "")
        early = ",early" if self.early_stopping else ""
        return f"beam{self.beams},penalty{self.length_penalty:g},{length}{early}"


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings under one name."""

    decoding: Decoding
    half_on_gpu: bool = False
    """Whether weights on a GPU have 16 bits; on a CPU they are always float32."""

    def dtype(self, device: str, half: str = "bfloat16") -> str:
        """The weights' type on a device, for a model whose type of 16 bits is `half`."""
        return half if self.half_on_gpu and device.startswith("cuda") else "float32"


PRESETS = {
    "paper": Preset(Decoding()),
    "fast": Preset(Decoding(from_source=True), half_on_gpu=True),
}
"""``paper``: the settings of BUG's authors (EasyNMT 1.1): beam 5, penalty 1.0, 200 tokens, fp32.
``fast``: 16 bits on a GPU (`mtbias.translate.seq2seq.families.Family.half`), and lengths bounded by
the source's."""


def get_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in PRESETS:
        raise UsageError(f"--preset: expected {' or '.join(PRESETS)}, got {name!r}")
    return PRESETS[name]
