"""Text to token ids and back, with the family's language tokens and prefix in their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError
from mtbias.files.reading import input_bytes
from mtbias.files.strict_json import load_json
from mtbias.translate.seq2seq.checkpoints import TOKENIZER_CONFIG, explained
from mtbias.translate.seq2seq.families import SOURCE, Direction, Family, family_of
from mtbias.types import Span

_UNBOUNDED = 100_000
"""More tokens than any checkpoint reads; a table of so many positions still fits into memory."""
_LEAST_TOKENS = 8
"""Least tokens of a source that a checkpoint must read; with fewer every sentence would be cut."""
TOKENIZER_ADVICE = (
    "its tokenizer's files are damaged or of another model: download the checkpoint again"
)
_LEAST_SHARE = 0.5
"""Least share of the model's vocabulary in the tokenizer; real checkpoints have 0.99 or more."""
_GENERATION = "generation_config.json"
_TOKENIZER = "tokenizer.json"
_PLAIN: dict[str, Any] = {
    "local_files_only": True,
    "trust_remote_code": False,
    "sp_model_kwargs": {},
}
"""Options for loading every tokenizer; a checkpoint's own ``sp_model_kwargs`` could sample, or name
any file of this machine."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A source sentence as the model reads it."""

    ids: tuple[int, ...]
    cut: bool
    """Whether it was longer than the model can read, and lost its end."""
    unknown: tuple[Span, ...] = ()
    """Places for which the vocabulary has no token."""


class Codec:
    """The tokenizer of one checkpoint, set to one direction."""

    def __init__(
        self, folder: Path, lang: str, *, target_code: str | None = None, source_lang: str = SOURCE
    ) -> None:
        """Load the tokenizer of the checkpoint in `folder`; `target_code` is its own name of the
        language `lang`.

        Raises:
            ModelError: the checkpoint is not of a known family, or lacks one of the languages.
        """
        self.folder = folder
        self.config = read_config(folder)
        # Before the tokenizer, since that of another family may not even load.
        self.family: Family = family_of(self.config, _tokenizer_class(folder))
        self._generation = {}
        if (folder / _GENERATION).exists():  # transformers ignores one that it cannot read
            self._generation = read_config(folder, _GENERATION)
        self._tokenizer = load_tokenizer(folder, self.family.tokenizer_class)
        with explained(folder, "reading the tokenizer", TOKENIZER_ADVICE):
            self._check_vocabulary()
            self._check_start()
            self.direction: Direction = self.family.direction(
                self._tokenizer, lang, target_code, source_lang
            )
            self._languages = tuple(self.family.languages(self._tokenizer))
            self._check_stated_ids()
            if self.direction.source_code is not None:
                self._tokenizer.src_lang = self.direction.source_code
            self.forced: int | None = None
            if self.direction.forced is not None:
                self.forced = self._id(self.direction.forced)
            self._dropped = self._never_text()
            self.most_tokens = self._most_tokens()
            self._special = special_ids(self._tokenizer)
            around = self._tokenizer(self.direction.prefix)["input_ids"]
            self._special_around = self._count_special(around)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Token ids of each text, with prefix and special tokens.

        A text of more tokens than the model reads is cut there, as transformers does it, and
        marked; a text is also marked where the vocabulary lacks a piece of it.

        Raises:
            ModelError: the prefix is not one token of the vocabulary.
        """
        if not texts:
            return []
        prefixed = [self.direction.prefix + text for text in texts]
        most = self.most_tokens
        encoded = []
        with explained(self.folder, "encoding the sources", TOKENIZER_ADVICE):
            whole = self._tokenizer(prefixed, truncation=False)["input_ids"]
            for source, text, all_ids in zip(texts, prefixed, whole, strict=True):
                ids, cut = all_ids, len(all_ids) > most
                if cut:
                    ids = self._tokenizer(text, truncation=True, max_length=most)["input_ids"]
                has_unknown = self._count_special(ids) > self._special_around
                unknown = self._unknown_places(source) if has_unknown else ()
                encoded.append(Encoded(tuple(ids), cut, unknown))
        if self.direction.prefix:
            self._check_prefix(encoded[0])
        return encoded

    def _unknown_places(self, source: str) -> tuple[Span, ...]:
        return unknown_places(self._tokenizer, source, self._special)

    def _count_special(self, ids: Sequence[int]) -> int:
        """The number of special tokens among the ids."""
        return sum(id_ in self._special for id_ in ids)

    def decode(self, batch: Sequence[Sequence[int]]) -> list[str]:
        """Texts of generated ids, without special tokens and language tokens, stripped.

        Raises:
            ModelError: a text still begins with a language token.
        """

        def text_ids(ids: Sequence[int]) -> list[int]:
            return [id_ for id_ in ids if id_ not in self._dropped]

        decoded = self._tokenizer.batch_decode(list(map(text_ids, batch)), skip_special_tokens=True)
        texts = [text.strip() for text in decoded]
        for text in texts:
            if text.startswith(self._languages):
                raise ModelError(
                    f"{self.folder}: a translation begins with a language token: {text[:40]!r}; "
                    "the tokenizer does not know its own special tokens "
                    "(special_tokens_map.json or tokenizer_config.json is missing?)"
                )
        return texts

    def _never_text(self) -> frozenset[int]:
        """The ids of language tokens and special tokens, which are never part of a text."""
        tokens = {*self._languages, *map(str, self._tokenizer.all_special_tokens)}
        target = getattr(self._tokenizer, "target_encoder", None)
        # An Opus-MT model may have another vocabulary for the target, with other ids.
        if target is not None:
            return frozenset(target[token] for token in tokens if token in target)
        return frozenset(map(self._id, self._languages)) | frozenset(
            self._tokenizer.all_special_ids
        )

    def _most_tokens(self) -> int:
        """Most source tokens that the checkpoint can read, special tokens included."""
        stated = {"tokenizer_config.json: model_max_length": self._tokenizer.model_max_length}
        positions = self.config.get("max_position_embeddings")
        # T5 has relative positions, and so reads any length.
        if self.config.get("model_type") != "t5" and positions is not None:
            stated["config.json: max_position_embeddings"] = positions
            if isinstance(positions, int) and positions > _UNBOUNDED:
                raise ModelError(
                    f"{self.folder}: config.json: max_position_embeddings: "
                    f"expected at most {_UNBOUNDED}, got {positions}; download the checkpoint again"
                )
        for place, value in stated.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not value >= _LEAST_TOKENS:
                raise ModelError(
                    f"{self.folder}: {place}: expected a number of at least {_LEAST_TOKENS}, "
                    f"got {value!r}; download the checkpoint again"
                )
        return int(min([*stated.values(), _UNBOUNDED]))

    def _id(self, token: str) -> int:
        id_ = self._tokenizer.convert_tokens_to_ids(token)
        if id_ is None or id_ == self._tokenizer.unk_token_id:
            raise ModelError(
                f"{self.folder}: {token!r} is not in the vocabulary of the tokenizer; "
                "the files do not fit"
            )
        return int(id_)

    def _check_vocabulary(self) -> None:
        """Refuse a tokenizer without its files, which may load and read every word as unknown."""
        known, expected = len(self._tokenizer), int(self.config.get("vocab_size") or 0)
        if known < _LEAST_SHARE * expected:
            raise ModelError(
                f"{self.folder}: the tokenizer knows {known} tokens of the model's {expected}; "
                "its files (tokenizer.json, vocab.json or *.model) are missing: "
                "download the checkpoint again"
            )

    def _check_start(self) -> None:
        """Refuse a decoder that begins with another token than its family's.

        Its translations would look like any others, and be worse. A checkpoint that was trained so
        cannot be used either, since the search forces the target language behind that token.
        """
        kind = self.family.start
        if kind is None:
            return
        from transformers import AutoConfig

        token = str(getattr(self._tokenizer, kind))
        expected = [self._id(token)]
        # Opus-MT may have another vocabulary for the target, with another id for the token.
        target = getattr(self._tokenizer, "target_encoder", None) or {}
        if token in target:
            expected.append(target[token])
        key = "decoder_start_token_id"
        file, start = _GENERATION, self._generation.get(key)
        if start is None:
            default = getattr(AutoConfig.for_model(self.config["model_type"]), key, None)
            file, start = "config.json", self.config.get(key, default)
        if type(start) is not int or start not in expected:
            raise ModelError(
                f"{self.folder}: {file}: {key}: expected {expected[0]} ({token}), with which "
                f"{self.family.name} begins every translation, got {start!r:.40}; "
                "set it right, or download the checkpoint again. "
                "If it was trained with that start, translate with your own code "
                "and give the result to `mtbias score`"
            )

    def _check_stated_ids(self) -> None:
        """Refuse a vocabulary in which language and end tokens have other ids than the tokenizer's
        files state.

        After a missing piece all others have the ids, and so the meaning, of different ones.
        """
        checked = {*self._languages, str(self._tokenizer.eos_token)}
        for file, token, stated in _stated_ids(self.folder):
            actual = self._tokenizer.convert_tokens_to_ids(token)
            if token in checked and actual != stated:
                raise ModelError(
                    f"{self.folder}: {file}: {token} is said to be token {stated}, "
                    f"and is token {actual} of the vocabulary: pieces were lost or added; "
                    "download the checkpoint again"
                )

    def _check_prefix(self, first: Encoded) -> None:
        token = self.direction.prefix.strip()
        if first.ids[0] != self._id(token):
            raise ModelError(
                f"{self.folder}: the tokenizer splits {token!r} instead of reading it as one token"
            )


_WORD = re.compile(r"\S+")
_BLANK = "\u2581"
"""SentencePiece's sign for a blank."""


def special_ids(
    tokenizer: Any,  # noqa: ANN401 - transformers' tokenizers share no type
) -> frozenset[int]:
    """The tokens that are not text: those with a role, and all that the tokenizer's files call
    special, such as those between the turns of a conversation.
    """
    added = tokenizer.added_tokens_decoder.items()
    marked = (id_ for id_, token in added if token.special)
    return frozenset(tokenizer.all_special_ids).union(marked)


def unknown_places(
    tokenizer: Any,  # noqa: ANN401
    text: str,
    special: frozenset[int],
) -> tuple[Span, ...]:
    """The places in `text` that `tokenizer` reads as one of the tokens `special` (`special_ids`):
    the unknown token or its substitute, or a token whose name occurs in the text.

    With transformers 5, MADLAD-400's end token replaces an unknown character. A tokenizer in Python
    gives no places, so each word is read alone, since no piece crosses words; if no word has such a
    piece alone, the place is the whole text.
    """
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if special.isdisjoint(ids):
        return ()
    if tokenizer.is_fast:
        encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        offsets = zip(ids, encoding["offset_mapping"], strict=True)
        return tuple(Span(*place) for id_, place in offsets if id_ in special)
    places: list[Span] = []
    for match in _WORD.finditer(text):
        places += _special_in_word(tokenizer, text, Span(*match.span()), special)
    return tuple(places) or (Span(0, len(text)),)


def _special_in_word(
    tokenizer: Any,  # noqa: ANN401
    text: str,
    word: Span,
    special: frozenset[int],
) -> Iterator[Span]:
    """The places of special tokens in a word; the whole word where its pieces do not spell it."""
    tokens = tokenizer.tokenize(text[slice(*word)])
    ids = tokenizer.convert_tokens_to_ids(tokens)
    pieces = [token.replace(_BLANK, "") for token in tokens]
    as_written = "".join(pieces) == text[slice(*word)]
    start = word.start
    for piece, id_ in zip(pieces, ids, strict=True):
        end = start + len(piece)
        if id_ in special:
            yield Span(start, end) if as_written else word
        start = end


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """``config.json`` of a checkpoint, or another file with one JSON object.

    Raises:
        ModelError: the file is missing or damaged.
    """
    path = folder / name
    try:
        content = load_json(input_bytes(path))
    except FileNotFoundError:
        raise ModelError(
            f"{folder}: found no {name}; give the folder of a checkpoint in Hugging Face's layout"
        ) from None
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read: {error.strerror or error}; download the checkpoint again"
        ) from None
    except ValueError as error:
        raise ModelError(f"{path}: damaged: {error}; download the checkpoint again") from None
    if not isinstance(content, dict):
        raise ModelError(f"{path}: expected an object; download the checkpoint again")
    return content


def _tokenizer_class(folder: Path) -> str:
    """The tokenizer's class in ``tokenizer_config.json``; empty where it is not named."""
    if not (folder / TOKENIZER_CONFIG).exists():
        return ""
    return str(read_config(folder, TOKENIZER_CONFIG).get("tokenizer_class") or "")


def _stated_ids(folder: Path) -> Iterator[tuple[str, str, int]]:
    """File, token and id of each token whose id a tokenizer's files state."""
    if (folder / _TOKENIZER).exists():
        for added in read_config(folder, _TOKENIZER).get("added_tokens") or ():
            yield _TOKENIZER, added["content"], int(added["id"])
    if (folder / TOKENIZER_CONFIG).exists():
        tokens = read_config(folder, TOKENIZER_CONFIG).get("added_tokens_decoder") or {}
        for id_, added in tokens.items():
            yield TOKENIZER_CONFIG, added["content"], int(id_)


def load_tokenizer(folder: Path, name: str) -> Any:  # noqa: ANN401 - of transformers
    """A checkpoint's tokenizer by transformers' class `name`, without network and without code of
    the checkpoint.

    It splits a text in one way only: sampling, or another model's file, in the checkpoint's files
    has no effect (`_PLAIN`) or is refused.

    Raises:
        ModelError: it cannot be loaded, or samples.
    """
    import transformers
    from transformers.utils import logging

    logging.set_verbosity_error()
    with explained(
        folder, "loading the tokenizer with transformers", "download the checkpoint again"
    ):
        tokenizer = getattr(transformers, name).from_pretrained(str(folder), **_PLAIN)
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    if dropout := getattr(model, "dropout", None):
        raise ModelError(
            f"{folder}: tokenizer.json: dropout: expected none, got {dropout:g}, "
            "with which a sentence has other tokens each time; set it to null"
        )
    return tokenizer
