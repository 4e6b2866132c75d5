"""Families of translation checkpoints: how each is told which language it reads and which it must
write.

A family is one small class. The checkpoint's own config says which one it belongs to; its
tokenizer, not a table, says which languages it has. A language that the tokenizer does not know is
an error, never another language.
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
    """What the tokenizer's ``src_lang`` is set to before anything is tokenised; None where there is
    no such thing."""
    forced: str | None
    """The token that every translation must begin with (``forced_bos_token_id``)."""
    prefix: str
    """What is put in front of every source sentence, with its space."""

    @property
    def signature(self) -> str:
        """``en_XX>de_DE``, ``>>ara<<``, or nothing: part of a run's identity."""
        named = f"{self.source_code}>{self.forced}" if self.forced else ""
        return f"{named}{self.prefix.strip()}"


class Family(ABC):
    """What checkpoints of one architecture and training have in common."""

    name: ClassVar[str]
    early_stopping: ClassVar[bool] = True
    """Beam search ends when as many hypotheses are finished as there are beams (the families'
    published default)."""
    half: ClassVar[str] = "float16"
    """The type of weights of 16 bits. fp16 rounds eight times as finely as bf16; its range is too
    small for T5 alone, whose activations overflow."""
    tokenizer_class: ClassVar[str]
    """Transformers' class. Its AutoTokenizer takes another in some releases, one without language
    tokens."""
    tokenizer_files: ClassVar[tuple[tuple[str, ...], ...]]
    """What its tokenizer cannot do without: one of each."""
    start: ClassVar[str | None] = "eos_token"
    """Which of the tokenizer's tokens the decoder begins with, before all that it writes; None
    where that differs."""

    @abstractmethod
    def languages(self, tokenizer: Any) -> Collection[str]:  # noqa: ANN401 - transformers' tokenizers share no type
        """The tokens that name target languages; none of them may stand in a translation."""

    def token(self, code: str, known: Collection[str]) -> str | None:
        """Which of its tokens stands for the language of an ISO 639-1 code; None where there is
        none.
        """
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
            code: the checkpoint's own name of the language, where the usual one does not fit.
            source: ISO 639-1 code of the language of the sources.

        Raises:
            ModelError: the checkpoint does not have one of the languages; lists those that it has.
            SettingError: nor the one that `code` names.
        """
        known = self.languages(tokenizer)
        target = self._choose(code or self.token(lang, known), lang, code, known)
        return Direction(self._source(self.token(source, known), source, known), target, "")

    def _source(self, found: str | None, source: str, known: Collection[str]) -> str:
        """The token of the source language, `found` by its code."""
        if found is None or found not in known:
            raise ModelError(
                f"this {self.name} checkpoint has no source language {source!r}; choose another model"
            )
        return found

    def _choose(
        self, found: str | None, lang: str, code: str | None, known: Collection[str]
    ) -> str:
        if found in known and found is not None:
            return found
        some = ", ".join(sorted(known)[:12]) + (", …" if len(known) > 12 else "") or "none"
        if code is not None:
            raise SettingError(
                "target_code",
                f"this {self.name} checkpoint has no language {code!r}; it has {some}",
            )
        looked = f" (looked for {found})" if found else ""
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
        spoken, target = (getattr(tokenizer, name, None) for name in ("source_lang", "target_lang"))
        languages = {*codes("iso3"), *codes("iso3").values()}
        if spoken in languages - {
            source,
            codes("iso3").get(source),
        }:  # else it is a group of languages, or not said
            raise ModelError(
                f"this Opus-MT checkpoint translates from {spoken!r}, the sentences are {source!r}"
            )
        known = self.languages(tokenizer)
        if known:
            # Most have ISO 639-3; the older ones, such as opus-mt-en-ROMANCE, ISO 639-1.
            wanted = [code.strip("<>")] if code else [codes("iso3").get(lang, lang), lang]
            tokens = [f">>{name}<<" for name in wanted]
            token = self._choose(
                next((t for t in tokens if t in known), tokens[0]), lang, code, known
            )
            return Direction(None, None, f"{token} ")
        if target is not None and target not in (
            {code} if code else {lang, codes("iso3").get(lang)}
        ):
            raise ModelError(
                f"this Opus-MT checkpoint translates into {target!r}, not into {code or lang!r}; choose another, or "
                f"give --target-code {target} if that is the language you mean"
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
        found = known[self._choose(code or lang, lang, code, known)]
        return Direction(self._source(source, source, known), found, "")

    @staticmethod
    def _check_places(tokenizer: Any) -> None:  # noqa: ANN401
        """Refuse a vocabulary that lost pieces: the languages' ids are counted from its end, and
        would be others'.
        """
        for code, id_ in tokenizer.lang_code_to_id.items():
            token = tokenizer.lang_code_to_token[code]
            taken = tokenizer.decoder.get(id_)
            if taken is not None or tokenizer.convert_tokens_to_ids(token) != id_:
                wrong = f"that of {taken!r}" if taken is not None else "not its own"
                raise ModelError(
                    f"this M2M100 checkpoint's vocab.json has {len(tokenizer.decoder)} pieces, behind which its "
                    f"languages are counted: {token} would have the id {id_}, which is {wrong}; pieces were lost, or "
                    "the files are of different models: download the checkpoint again"
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
"""By ``model_type`` how the names of transformers' classes begin, and the family."""


def family_of(config: Mapping[str, Any], tokenizer_class: str = "") -> Family:
    """The family of a checkpoint, from its ``config.json``.

    `tokenizer_class` tells NLLB-200 from M2M100, and mBART50 from the older mBART: the one that the
    checkpoint's ``tokenizer_config.json`` names (the class that transformers makes of it has
    another name in every other release).

    Raises:
        ModelError: none that mtbias knows.
    """
    kind = config.get("model_type")
    architecture, family = _ARCHITECTURES.get(kind if isinstance(kind, str) else "", ("", None))
    classes = config.get("architectures")
    # transformers reads one of the two keys, and would load other layers by it.
    for each in map(str, classes) if architecture and isinstance(classes, list) else ():
        if not each.startswith(architecture):
            raise ModelError(
                f"the checkpoint's config.json says model_type {kind!r} and architectures {each!r}, which do not fit "
                "together; download the checkpoint again"
            )
    named = str(tokenizer_class or config.get("tokenizer_class") or "")
    if kind == "mbart" and (
        named.startswith("MBartTokenizer")
        if named
        else config.get("vocab_size") == _VOCABULARY_OF_MBART25
    ):
        raise ModelError(
            f"expected a checkpoint of mBART50, tokenizer_class {MBart50.tokenizer_class!r}, got one of the older mBART"
            f" ({named or 'vocab_size ' + str(_VOCABULARY_OF_MBART25)}), which reads its language tokens in other "
            "places. Translate with your own code and give the result to `mtbias score`"
        )
    if kind == "m2m_100" and named.startswith("Nllb"):
        return Nllb()
    if family is None:
        raise ModelError(
            f"the checkpoint's config.json says model_type {kind!r}; expected one of marian (Opus-MT), "
            "m2m_100 (M2M100, NLLB-200), mbart (mBART50), t5 (MADLAD-400). "
            "Translate with your own code and give the result to `mtbias score`"
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
    found: Mapping[str, str] = tomllib.loads(text)[table]
    return found
