"""Stanza's tokenizer, splitter and tagger without its documents: the same answers for much less
Python.

Stanza builds a document, sentences, tokens and words of every text, three times over, and looks
every character, word and tag up one by one. Here its models get their tensors directly: characters
are looked up in a table, a multiword token is split once, the character model of the tagger sees
every word form of a batch once, and the names of features are put together once for every
combination. Models for which this might give something else (those that read more than characters,
a tokenizer with a dictionary, languages written without blanks, another layout of Stanza's code)
are refused with `Unsupported`, and the caller goes the long way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.morphology.analysis_cache import parse_feats
from mtbias.types import Analysis, Span, Token, Word

MOST_CHARACTERS = 900
"""Stanza cuts texts of 1,000 characters into windows: those go the long way."""
TOKENIZE_CHARACTERS = 8_000, 256_000
"""Characters of a batch of the tokenizer, padding included: on a CPU, and on a GPU."""
TOO_LONG = "<UNK>"
"""Stanza's form, for its tagger, of a token of more characters than its tokenizer's
``max_seqlen``."""
_BLANKS = re.compile(r"[\s\u0080-\u009f]")
_RUN = re.compile("  +")
_PER_CHARACTER: Mapping[str, Callable[[str], bool]] = {
    "space_before": lambda c: c == " ",
    "capitalized": str.isupper,
    "numeric": lambda c: re.match(r"\d", c) is not None,
}
_PER_POSITION = ("end_of_para", "start_of_para")
_MWT = 3
"""Labels of the tokenizer from here on end a multiword token."""

Features = tuple[tuple[str, str], ...]
_Tag = tuple[str, Features]
"""Part of speech and features of a word."""
_Split = tuple[Span, str, bool]
"""A token: where, its text, whether it is a multiword token."""


class Unsupported(Exception):  # noqa: N818 - no error: there is another way
    """These models, or this release of Stanza, are not as this module knows them; says what."""


class Bulk:
    """The three models of a pipeline."""

    def __init__(self, pipeline: Any, *, words: int) -> None:  # noqa: ANN401 - stanza has no types
        """Take the models of `pipeline` (``tokenize``, perhaps ``mwt``, ``pos``), which still
        works.

        A batch of the tagger has at most so many `words`, or one sentence.

        Raises:
            Unsupported: the answers might differ from the pipeline's.
        """
        try:
            self._tokenizer = _Tokenizer(pipeline.processors["tokenize"])
            self._splitter = _Splitter(pipeline.processors.get("mwt"))
            self._tagger = _Tagger(pipeline.processors["pos"], words)
        except (AttributeError, KeyError, ImportError) as error:
            raise Unsupported(
                f"Stanza's code has another layout ({type(error).__name__}: {error})"
            ) from None

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """The pipeline's analysis of each of `texts`, at most `MOST_CHARACTERS` long, as one
        sentence.
        """
        import torch

        with torch.inference_mode():
            split = self._tokenizer.split(texts)
            multiword = [text for _, text, mwt in chain.from_iterable(split) if mwt]
            pieces = self._splitter.pieces(multiword)
            forms = [_forms(row, pieces) for row in split]
            tags = self._tagger.tags([list(chain.from_iterable(row)) for row in forms])
        analyses = []
        for text, places, words, row_tags in zip(texts, split, forms, tags, strict=True):
            analyses.append(Analysis(text, tuple(_tokens(text, places, words, row_tags))))
        return analyses


def _forms(row: Sequence[_Split], pieces: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The words of each token of a text."""
    return [pieces[text] if mwt else (text,) for _, text, mwt in row]


def _tokens(
    text: str,
    split: Sequence[_Split],
    forms: Sequence[Sequence[str]],
    tags: Sequence[tuple[str, Features]],
) -> Iterator[Token]:
    tag = iter(tags)  # every token takes as many as it has words
    for (span, _, _), token_forms in zip(split, forms, strict=True):
        words = tuple(Word(form, None, *next(tag)) for form in token_forms)
        yield Token(span, text[span.start : span.end], words)


class _Tokenizer:
    def __init__(self, processor: Any) -> None:  # noqa: ANN401
        from stanza.models.tokenization.utils import update_pred_regex

        self._trainer, self._vocabulary = processor.trainer, processor.vocab
        self._keep_addresses = update_pred_regex
        arguments = self._trainer.args
        names = arguments["feat_funcs"]
        unknown = [n for n in names if n not in _PER_CHARACTER and n not in _PER_POSITION]
        if (
            unknown
            or arguments["use_dictionary"]
            or arguments.get("skip_newline")
            or hasattr(processor, "_variant")
        ):
            raise Unsupported(f"the tokenizer looks at {unknown or 'a dictionary or line breaks'}")
        if self._vocabulary.lang_replaces_spaces or arguments["shorthand"] == "la_ittb":
            raise Unsupported(f"the tokenizer is one for {arguments['shorthand']}")
        if processor.config.get("postprocessor") or not processor.config.get("no_ssplit"):
            raise Unsupported("the tokenizer has a postprocessor, or splits sentences")
        self._longest: int = processor.config.get("max_seqlen", 1000)
        self._features = [_PER_CHARACTER[n] for n in names if n in _PER_CHARACTER]
        self._positions = [n for n in _PER_POSITION if n in names]
        self._rows: dict[str, int] = {}
        self._units: list[int] = []
        self._values: list[list[float]] = []
        device = next(self._trainer.model.parameters()).device
        self._most = TOKENIZE_CHARACTERS[device.type == "cuda"]
        self._trainer.model.eval()

    def split(self, texts: Sequence[str]) -> list[list[_Split]]:
        """The tokens of each text."""
        paragraphs = [_paragraph(text) for text in texts]
        order = [n for n, paragraph in enumerate(paragraphs) if paragraph.text]
        order.sort(key=lambda n: -len(paragraphs[n].text))
        split: list[list[_Split]] = [[] for _ in texts]
        start = 0
        while start < len(order):
            size = max(1, self._most // (len(paragraphs[order[start]].text) + 1))
            batch = order[start : start + size]
            batch_labels = self._labels([paragraphs[n].text for n in batch])
            for n, labels in zip(batch, batch_labels, strict=True):
                split[n] = list(paragraphs[n].tokens(labels, self._longest))
            start += size
        return split

    def _labels(self, texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        """The labels of Stanza's tokenizer for every character; the longest text comes first."""
        import torch

        rows = [list(map(self._row, text)) for text in texts]
        row_units, row_values = np.array(self._units), np.array(self._values, np.float32)
        shape = len(texts), len(texts[0]) + 1
        units = np.full(shape, self._vocabulary.unit2id("<PAD>"), np.int64)
        values = np.zeros((*shape, row_values.shape[1]), np.float32)
        for n, row in enumerate(rows):
            units[n, : len(row)] = row_units[row]
            values[n, : len(row)] = row_values[row]
            for k, name in enumerate(self._positions, len(self._features)):
                values[n, len(row) - 1 if name == "end_of_para" else 0, k] = 1.0
        raw = [[*text, "<PAD>"] for text in texts]
        batch = torch.from_numpy(units), None, torch.from_numpy(values), raw
        scores = self._trainer.predict(batch)
        for text, row_labels in zip(texts, scores.argmax(axis=2), strict=True):
            labels = row_labels[: len(text)]
            labels[-1] = 2 if labels[-1] <= 2 else 4  # a sentence ends here
            if "@" in text or "." in text[:-1] or ":" in text:
                labels = self._keep_addresses(list(text), labels)
            yield labels

    def _row(self, character: str) -> int:
        """The character's row in the tables of units and features."""
        row = self._rows.get(character)
        if row is None:
            row = self._rows[character] = len(self._units)
            self._units.append(self._vocabulary.unit2id(character))
            values = [float(feature(character)) for feature in self._features]
            self._values.append(values + [0.0] * len(self._positions))
        return row


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A text as Stanza's tokenizer sees it."""

    text: str
    """Without blanks behind, every kind of blank as a blank, and never two together."""
    places: Sequence[int]
    """Where each of its characters is in the original."""

    def tokens(self, labels: NDArray[np.int64], longest: int) -> Iterator[_Split]:
        """The tokens that end where a label is not 0."""
        start = 0
        for end in np.flatnonzero(labels).tolist():
            token = self.text[start : end + 1].lstrip()
            if token:
                span = Span(self.places[end + 1 - len(token)], self.places[end] + 1)
                yield span, token if len(token) <= longest else TOO_LONG, bool(labels[end] >= _MWT)
            start = end + 1


def _paragraph(text: str) -> _Paragraph:
    clean = _BLANKS.sub(" ", text.rstrip())
    if "  " not in clean:
        return _Paragraph(clean, range(len(clean)))
    places = [n for n, c in enumerate(clean) if c != " " or n == 0 or clean[n - 1] != " "]
    return _Paragraph(_RUN.sub(" ", clean), places)


class _Splitter:
    """Splits multiword tokens, each form once."""

    def __init__(self, processor: Any) -> None:  # noqa: ANN401
        self._processor = processor
        self._known: dict[str, tuple[str, ...]] = {}

    def pieces(self, texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The words of every one of `texts`."""
        if self._processor is None:
            return {text: (text,) for text in texts}
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            document = _MultiwordTokens(new)
            self._processor.process(document)
            for text, expansion in zip(new, document.expansions, strict=True):
                words = tuple(word for word in expansion.split(" ") if word)
                self._known[text] = (text,) if len(words) == 1 else words
        return self._known


class _MultiwordTokens:
    """The part of a Stanza document that its splitter reads and writes."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.expansions: list[str] = []

    def get_mwt_expansions(self, evaluation: bool = True) -> list[str]:  # noqa: ARG002 - Stanza's
        return self._texts

    def set_mwt_expansions(self, expansions: list[str], **_: object) -> None:
        self.expansions = expansions


class _Tagger:
    def __init__(self, processor: Any, words: int) -> None:  # noqa: ANN401
        from inspect import signature

        from stanza.models.common.utils import simplify_punct

        trainer = processor.trainer
        self._model, self._vocabulary, self._most = trainer.model, trainer.vocab, words
        self._simplify = simplify_punct
        arguments = trainer.args
        if arguments.get("bert_model"):
            raise Unsupported("the tagger reads a transformer")
        if "tags" not in signature(self._model.forward).parameters:
            raise Unsupported("the tagger's model is an older one")
        self._columns = [list(self._model.tag_names).index(name) for name in ("upos", "feats")]
        pretrain = processor.pretrain
        self._pretrain = pretrain.vocab if pretrain is not None and arguments["pretrain"] else None
        self._model.eval()
        charmodel = getattr(self._model, "charmodel", None)
        if charmodel is not None and not hasattr(charmodel, "form_model"):
            self._model.charmodel = _once_a_form(charmodel)
        upos, feats = self._vocabulary["upos"], self._vocabulary["feats"]
        self._part = cache(lambda number: _not_empty(upos.id2unit(number)) or "X")
        # The key is a number, or a tuple of one number for every feature.
        self._features = cache(lambda key: parse_feats(_not_empty(feats.id2unit(key))))

    def tags(self, sentences: Sequence[Sequence[str]]) -> list[list[_Tag]]:
        """Part of speech and features of every word."""
        tags: list[list[_Tag]] = [[] for _ in sentences]
        order = [n for n, sentence in enumerate(sentences) if sentence]
        order.sort(key=lambda n: -len(sentences[n]))
        for rows in self._batches(order, sentences):
            batch_tags = self._batch_tags([sentences[n] for n in rows])
            for n, row_tags in zip(rows, batch_tags, strict=True):
                tags[n] = row_tags
        return tags

    def _batches(
        self, order: Sequence[int], sentences: Sequence[Sequence[str]]
    ) -> Iterator[Sequence[int]]:
        """The sentences in `order`, in batches of as many words as the tagger may hold."""
        batch: list[int] = []
        words = 0
        for n in order:
            if batch and words + len(sentences[n]) > self._most:
                yield batch
                batch, words = [], 0
            batch.append(n)
            words += len(sentences[n])
        if batch:
            yield batch

    def _batch_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[_Tag]]:
        """The tags of one batch, whose longest sentence comes first."""
        import torch

        device = next(self._model.parameters()).device
        distinct = set(chain.from_iterable(sentences))
        forms = sorted(distinct, key=lambda form: (-len(form), form))
        number = {form: n for n, form in enumerate(forms, 1)}  # 0 is padding
        sentence_of_forms = [[form] for form in forms]
        simplified = [entry[0] for entry in self._simplify([sentence_of_forms])[0]]
        lengths = [len(sentence) for sentence in sentences]
        places = torch.zeros(len(sentences), lengths[0], dtype=torch.int64)
        words = []
        for k, sentence in enumerate(sentences):
            numbers = [number[form] for form in sentence]
            places[k, : lengths[k]] = torch.tensor(numbers)
            words.append([simplified[n - 1] for n in numbers])

        word_ids = torch.tensor([0, *self._vocabulary["word"].map(simplified)])
        word_ids = word_ids[places].to(device)
        known = [0] * len(simplified)
        if self._pretrain is not None:
            known = self._pretrain.map([form.lower() for form in simplified])
        pretrained_ids = torch.tensor([0, *known])[places].to(device)
        characters, order, sizes = self._characters(simplified)
        # the character model's rows of all words, sentence by sentence
        form_rows = torch.empty(len(forms) + 1, dtype=torch.int64)
        form_rows[torch.tensor(order) + 1] = torch.arange(len(forms))
        inside = torch.cat([places[k, :length] for k, length in enumerate(lengths)])
        _, predictions = self._model(
            word_ids,
            word_ids == 0,
            characters.to(device),
            (characters == 0).to(device),
            None,
            pretrained_ids,
            form_rows[inside].to(device),
            lengths,
            sizes,
            words,
        )
        upos, feats = (predictions[k].tolist() for k in self._columns)
        return [
            self._tags(parts[:length], keys[:length])
            for parts, keys, length in zip(upos, feats, lengths, strict=True)
        ]

    def _tags(self, parts: Sequence[int], keys: Sequence[int | list[int]]) -> list[_Tag]:
        """The tags with the model's numbers."""
        tags = []
        for part, key in zip(parts, keys, strict=True):
            features = self._features(tuple(key) if isinstance(key, list) else key)
            tags.append((self._part(part), features))
        return tags

    def _characters(self, forms: Sequence[str]) -> tuple[Any, list[int], list[int]]:
        """Character ids of every form, the longest form first; the forms' order, and their
        lengths.
        """
        import torch

        order = sorted(range(len(forms)), key=lambda n: -len(forms[n]))
        ids = [self._vocabulary["char"].map(forms[n]) for n in order]
        sizes = [len(row) for row in ids]
        table = np.zeros((len(ids), sizes[0]), np.int64)
        for n, row in enumerate(ids):
            table[n, : len(row)] = row
        return torch.from_numpy(table), order, sizes


def _not_empty(name: str) -> str | None:
    return None if name == "_" else name


def _once_a_form(charmodel: Any) -> Any:  # noqa: ANN401 - torch is imported late
    """A character model that also takes the distinct forms alone, and for each word the row of its
    form; otherwise as `charmodel`.
    """
    import torch
    from torch.nn.utils.rnn import pack_sequence

    class Once(torch.nn.Module):  # type: ignore[misc] # torch has no types
        def __init__(self) -> None:
            super().__init__()
            self.form_model = charmodel

        def forward(
            self,
            characters: Any,  # noqa: ANN401
            mask: Any,  # noqa: ANN401
            order: Any,  # noqa: ANN401
            lengths: Any,  # noqa: ANN401
            sizes: Any,  # noqa: ANN401
        ) -> Any:  # noqa: ANN401
            if not isinstance(order, torch.Tensor):  # Stanza's own call
                return self.form_model(characters, mask, order, lengths, sizes)
            packed = self.form_model(characters, mask, range(len(sizes)), [len(sizes)], sizes)
            return pack_sequence(packed.data[order].split(lengths))

    return Once()
