"""Families of translation checkpoints, and how each is told its source and target languages.

A family is one small class, chosen by the checkpoint's own config. The languages are those of the
checkpoint's tokenizer, not of a table; one that the tokenizer does not know is an error, never
another language.
"""

from __future__ import annotations

import functools
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

from mtbias.errors import ModelError, SettingError

SOURCE = "en"
"""The language of the sources, unless another is named."""
_VOCABULARY_OF_MBART25 = 250_027
"""``vocab_size`` of facebook/mbart-large-cc25: 250,001 pieces, 25 languages, a mask; mBART50 has 52
languages."""


@dataclass(frozen=True, slots=True)
class Direction:
    """How one checkpoint is told to translate from one language into another."""

    source_code: str | None
    """Value of the tokenizer's ``src_lang``; None for a tokenizer without it."""
    forced: str | None
    """The token with which every translation must begin (``forced_bos_token_id``)."""
    prefix: str
    """Text in front of every source sentence, with its space."""

    @property
    def signature(self) -> str:
        """``en_XX>de_DE``, ``>>ara<<``, or nothing: part of a run's identity."""
        named = f"{self.source_code}>{self.forced}" if self.forced else ""
        return f"{named}{self.prefix.strip()}"


class Family(ABC):
    """Checkpoints of one architecture and training."""

    name: ClassVar[str]
    early_stopping: ClassVar[bool] = True
    """Beam search ends when as many hypotheses are finished as there are beams (the families'
    published default)."""
    half: ClassVar[str] = "float16"
    """The type of weights of 16 bits. fp16 rounds eight times as finely as bf16, but its range is
    too small for T5, whose activations overflow."""
    tokenizer_class: ClassVar[str]
    """Transformers' class. Its AutoTokenizer takes another in some releases, one without language
    tokens."""
    tokenizer_files: ClassVar[tuple[tuple[str, ...], ...]]
    """Files that its tokenizer needs: one of each group."""
    start: ClassVar[str | None] = "eos_token"
    """The tokenizer's token with which the decoder begins; None where checkpoints differ."""

    @abstractmethod
    def languages(
        self,
        tokenizer: Any,  # noqa: ANN401 - transformers' tokenizers share no type
    ) -> Collection[str]:
        """The tokens that name target languages; none of them may be part of a translation."""

    def token(self, code: str, known: Collection[str]) -> str | None:
        """The token for the language of an ISO 639-1 code; None if there is none."""
        raise NotImplementedError

    def direction(
        self,
        tokenizer: Any,  # noqa: ANN401
        lang: str,
        code: str | None = None,
        source: str = SOURCE,
    ) -> Direction:
        """How to translate into `lang`.

        Args:
            tokenizer: the checkpoint's.
            lang: ISO 639-1 code.
            code: the checkpoint's own name of the language, where it is not the usual one.
            source: ISO 639-1 code of the language of the sources.

        Raises:
            ModelError: the checkpoint lacks one of the languages; lists those that it has.
            SettingError: the checkpoint lacks the language `code`.
        """
        known = self.languages(tokenizer)
        target = self._choose(code or self.token(lang, known), lang, code, known)
        return Direction(self._source(self.token(source, known), source, known), target, "")

    def _source(self, token: str | None, source: str, known: Collection[str]) -> str:
        """The token of the source language, if the checkpoint has it."""
        if token is None or token not in known:
            raise ModelError(
                f"this {self.name} checkpoint has no source language {source!r}; "
                "choose another model"
            )
        return token

    def _choose(
        self, token: str | None, lang: str, code: str | None, known: Collection[str]
    ) -> str:
        """The token of the target language, if the checkpoint has it."""
        if token in known and token is not None:
            return token
        some = ", ".join(sorted(known)[:12]) + (", …" if len(known) > 12 else "") or "none"
        if code is not None:
            raise SettingError(
                "target_code",
                f"this {self.name} checkpoint has no language {code!r}; it has {some}",
            )
        looked = f" (looked for {token})" if token else ""
        raise ModelError(
            f"this {self.name} checkpoint has no target language {lang!r}{looked}; it has "
            f"{some}; --target-code names one of them, or choose another model"
        )


class Marian(Family):
    """Opus-MT: one pair a checkpoint, or several targets chosen by a ``>>id<<`` in front of the
    source.
    """

    name = "Opus-MT"
    early_stopping = False
    start = "pad_token"
    tokenizer_class = "MarianTokenizer"
    tokenizer_files = (("source.spm",), ("target.spm",), ("vocab.json",))

    def languages(self, tokenizer: Any) -> Collection[str]:  # noqa: ANN401, D102
        # The tokenizer's own list is empty where the source has a vocabulary of its own, which then
        # holds the prefixes.
        return tuple(
            token
            for token in tokenizer.get_vocab()
            if token.startswith(">>") and token.endswith("<<")
        )

    def direction(  # noqa: D102
        self,
        tokenizer: Any,  # noqa: ANN401
        lang: str,
        code: str | None = None,
        source: str = SOURCE,
    ) -> Direction:
        iso3 = codes("iso3")
        own_source = getattr(tokenizer, "source_lang", None)
        # Other values are groups of languages, or missing.
        if own_source in {*iso3, *iso3.values()} - {source, iso3.get(source)}:
            raise ModelError(
                f"this Opus-MT checkpoint translates from {own_source!r}, "
                f"the sentences are {source!r}"
            )
        known = self.languages(tokenizer)
        if known:
            # Most have ISO 639-3; the older ones, such as opus-mt-en-ROMANCE, ISO 639-1.
            names = [code.strip("<>")] if code else [iso3.get(lang, lang), lang]
            tokens = [f">>{name}<<" for name in names]
            token = next((token for token in tokens if token in known), tokens[0])
            return Direction(None, None, f"{self._choose(token, lang, code, known)} ")
        target = getattr(tokenizer, "target_lang", None)
        accepted = {code} if code else {lang, iso3.get(lang)}
        if target is not None and target not in accepted:
            raise ModelError(
                f"this Opus-MT checkpoint translates into {target!r}, not into {code or lang!r}; "
                f"choose another, or give --target-code {target} if that is the language you mean"
            )
        return Direction(None, None, "")


class M2M100(Family):
    """M2M100: source language token in front of the source, target language token forced first."""

    name = "M2M100"
    tokenizer_class = "M2M100Tokenizer"
    tokenizer_files = (("vocab.json",), ("sentencepiece.bpe.model",))

    def languages(self, tokenizer: Any) -> Collection[str]:  # noqa: ANN401, D102
        return tuple(tokenizer.lang_code_to_token.values())

    def direction(  # noqa: D102
        self,
        tokenizer: Any,  # noqa: ANN401
        lang: str,
        code: str | None = None,
        source: str = SOURCE,
    ) -> Direction:
        known = tokenizer.lang_code_to_token
        self._check_places(tokenizer)
        target = known[self._choose(code or lang, lang, code, known)]
        return Direction(self._source(source, source, known), target, "")

    @staticmethod
    def _check_places(tokenizer: Any) -> None:  # noqa: ANN401
        """Refuse a vocabulary that lost pieces: the ids of languages are counted from its end, and
        would be those of other tokens.
        """
        for code, id_ in tokenizer.lang_code_to_id.items():
            token = tokenizer.lang_code_to_token[code]
            piece = tokenizer.decoder.get(id_)
            if piece is not None or tokenizer.convert_tokens_to_ids(token) != id_:
                wrong = f"that of {piece!r}" if piece is not None else "not its own"
                raise ModelError(
                    f"this M2M100 checkpoint's vocab.json has {len(tokenizer.decoder)} pieces, "
                    f"behind which its languages are counted: {token} would have the id {id_}, "
                    f"which is {wrong}; pieces were lost, or the files are of different models: "
                    "download the checkpoint again"
                )


class MBart50(Family):
    """mBART50 many-to-many: the same with codes such as ``de_DE``."""

    name = "mBART50"
    tokenizer_class = "MBart50Tokenizer"
    tokenizer_files = (("tokenizer.json", "sentencepiece.bpe.model"),)

    def languages(self, tokenizer: Any) -> Collection[str]:  # noqa: ANN401, D102
        return tuple(tokenizer.lang_code_to_id)

    def token(self, code: str, known: Collection[str]) -> str | None:  # noqa: D102
        return next((token for token in sorted(known) if token.startswith(f"{code}_")), None)


class Nllb(Family):
    """NLLB-200: M2M100's architecture, languages named by FLORES-200."""

    name = "NLLB-200"
    tokenizer_class = "NllbTokenizer"
    tokenizer_files = (("tokenizer.json", "sentencepiece.bpe.model"),)

    def languages(self, tokenizer: Any) -> Collection[str]:  # noqa: ANN401, D102
        special = {
            *getattr(tokenizer, "additional_special_tokens", ()),
            *getattr(tokenizer, "extra_special_tokens", ()),
        }
        return tuple(token for token in special if len(token) == 8 and token[3] == "_")

    def token(self, code: str, known: Collection[str]) -> str | None:  # noqa: ARG002, D102
        return codes("nllb").get(code)


class Madlad400(Family):
    """MADLAD-400: T5, target language as ``<2xx>`` in front of the source."""

    name = "MADLAD-400"
    half = "bfloat16"
    early_stopping = False
    start = None
    tokenizer_class = "AutoTokenizer"
    tokenizer_files = (("tokenizer.json", "spiece.model"),)

    def languages(self, tokenizer: Any) -> Collection[str]:  # noqa: ANN401, D102
        return tuple(
            token
            for token in tokenizer.get_vocab()
            if token.startswith("<2") and token.endswith(">")
        )

    def direction(  # noqa: D102
        self,
        tokenizer: Any,  # noqa: ANN401
        lang: str,
        code: str | None = None,
        source: str = SOURCE,
    ) -> Direction:
        del source  # it is told the target alone
        token = self._choose(f"<2{code or lang}>", lang, code, self.languages(tokenizer))
        return Direction(None, None, f"{token} ")


_ARCHITECTURES: Mapping[str, tuple[str, type[Family] | None]] = {
    "marian": ("Marian", Marian),
    "m2m_100": ("M2M100", M2M100),
    "mbart": ("MBart", MBart50),
    "t5": ("T5", Madlad400),
}
"""For each ``model_type``, the beginning of the names of transformers' classes, and the family."""


def family_of(config: Mapping[str, Any], tokenizer_class: str = "") -> Family:
    """The family of a checkpoint, from its ``config.json``.

    `tokenizer_class`, as the checkpoint's ``tokenizer_config.json`` names it, tells NLLB-200 from
    M2M100 and mBART50 from the older mBART. (The class that transformers makes of it changes its
    name between releases.)

    Raises:
        ModelError: it is not of a family that mtbias knows.
    """
    kind = config.get("model_type")
    architecture, family = _ARCHITECTURES.get(kind if isinstance(kind, str) else "", ("", None))
    classes = config.get("architectures")
    # transformers reads one of the two keys, and would load other layers by it.
    for each in map(str, classes) if architecture and isinstance(classes, list) else ():
        if not each.startswith(architecture):
            raise ModelError(
                f"the checkpoint's config.json says model_type {kind!r} "
                f"and architectures {each!r}, which do not fit together; "
                "download the checkpoint again"
            )
    tokenizer = str(tokenizer_class or config.get("tokenizer_class") or "")
    is_older_mbart = tokenizer.startswith("MBartTokenizer")
    if not tokenizer:
        is_older_mbart = config.get("vocab_size") == _VOCABULARY_OF_MBART25
    if kind == "mbart" and is_older_mbart:
        raise ModelError(
            f"expected a checkpoint of mBART50, tokenizer_class {MBart50.tokenizer_class!r}, "
            f"got one of the older mBART ({tokenizer or f'vocab_size {_VOCABULARY_OF_MBART25}'}), "
            "which reads its language tokens in other places. "
            "Translate with your own code and give the result to `mtbias score`"
        )
    if kind == "m2m_100" and tokenizer.startswith("Nllb"):
        return Nllb()
    if family is None:
        raise ModelError(
            f"the checkpoint's config.json says model_type {kind!r}; "
            "expected one of marian (Opus-MT), m2m_100 (M2M100, NLLB-200), mbart (mBART50), "
            "t5 (MADLAD-400). Translate with your own code and give the result to `mtbias score`"
        )
    return family()


@functools.cache
def codes(table: str) -> Mapping[str, str]:
    """A table of ``families.toml``."""
    text = (
        resources.files("mtbias.translate.seq2seq")
        .joinpath("families.toml")
        .read_text(encoding="utf-8")
    )
    content: Mapping[str, str] = tomllib.loads(text)[table]
    return content
