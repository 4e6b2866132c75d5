"""Word alignment from the embeddings of a multilingual encoder (SimAlign: Jalili Sabet et al. 2020,
"argmax").

Two subwords are linked if each is the other's most similar by the cosine of their embeddings in
context; two words are linked if any of their subwords are. No sentence needs another: a text of one
line is aligned as one of thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

from mtbias.align.aligners import Aligner, align_entities
from mtbias.align.entity_scores import Links, scores_of_links
from mtbias.align.sentence_pairs import index_pairs
from mtbias.errors import ModelError, SettingError
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import chosen_device
from mtbias.reading.sentence_pair import Pair
from mtbias.translate.seq2seq.checkpoints import Checkpoint, explained, locate
from mtbias.translate.seq2seq.codec import TOKENIZER_ADVICE, load_tokenizer, read_config
from mtbias.translate.seq2seq.engine import OutOfMemory, within_memory
from mtbias.translate.seq2seq.transformers_engine import load_model
from mtbias.types import Alignment, Progress, Span, frozen, quiet

_ADVICE = "download the checkpoint again"
# Layer 8 of 12 is the best of mBERT and of XLM-R's base size (Jalili Sabet et al. 2020, figure 2);
# a model of another depth has its own as far up.
DEPTH = 2 / 3
"""Height of the default layer, as a share of the layers."""
# What mBERT and XLM-R have learnt from. A model that reads more reads longer texts in windows all
# the same.
MOST_TOKENS = 512
"""Subwords of a window, special ones included, unless the model reads fewer."""
LEAST_TOKENS = 8
"""Subwords that an encoder must be able to read."""
CPU_TOKENS, GPU_TOKENS = 1 << 12, 1 << 15
"""Subwords of a batch, padded."""


LAYER_KEY = "aligner_layer"
"""The key of config.json under which a tuned encoder (`mtbias.align.encoder_tuning`) has its
layer."""


def check_encoder(folder: Path, layer: int | None, setting: str = "aligner_layer") -> int:
    """The layer whose embeddings are taken, of the encoder whose config.json is in `folder`:
    `layer`, else the one that the encoder was tuned at, else two thirds up.

    Raises:
        ModelError: no config.json, or one of something else than an encoder.
        SettingError: the encoder has no such layer; `setting` is what asked for it.
    """
    config = read_config(folder)
    layers = config.get("num_hidden_layers")
    kind = config.get("model_type")
    if config.get("is_encoder_decoder") or type(layers) is not int or layers < 1:
        raise ModelError(
            f"{folder}: expected a multilingual encoder such as BERT or XLM-R, got a config.json of"
            f" type {kind!r}; give the hub id or the folder of an encoder"
        )
    if layer is not None and layer > layers:
        raise SettingError(
            setting, f"expected a layer of {folder.name}, 0 to {layers}, got {layer}"
        )
    if layer is not None:
        return layer
    tuned = config.get(LAYER_KEY)
    if type(tuned) is int and 0 < tuned <= layers:
        return tuned
    return round(DEPTH * layers)


@frozen
class Subwords:
    """A text as the encoder reads it, without special tokens."""

    ids: Sequence[int]
    spans: Sequence[Span]
    """Each one's characters in the text."""


class Encoder:
    """Tokenizer and weights of an encoder, in fp32: a text's vectors must not depend on what shares
    its batch.
    """

    def __init__(self, folder: Path, *, layer: int, device: str) -> None:
        """Load the encoder up to `layer` (0: the embeddings without context; see `check_encoder`).

        Raises:
            ModelError: tokenizer or weights cannot be loaded, or do not fit.
        """
        self.folder, self.device = folder, device
        self.most_tokens = GPU_TOKENS if device.startswith("cuda") else CPU_TOKENS
        self._tokenizer = load_tokenizer(folder, "AutoTokenizer")
        with explained(folder, "reading the tokenizer", TOKENIZER_ADVICE):
            self._before, self._after = self._special_tokens()
        self.model = _load_encoder(folder, layer, device)
        """transformers' model, of `layer` layers."""
        with explained(folder, "reading config.json", _ADVICE):
            self.room = self._most_tokens() - len(self._before) - len(self._after)
            """Subwords that it reads at once, special ones not included."""
            self._vocabulary = int(self.model.get_input_embeddings().num_embeddings)

    def subwords(self, texts: Sequence[str]) -> list[Subwords]:
        """The subwords of each text, however long.

        Raises:
            ModelError: an id that the model does not have.
        """
        if not texts:
            return []
        with explained(self.folder, "splitting texts", TOKENIZER_ADVICE):
            read = self._tokenizer(
                list(texts),
                add_special_tokens=False,
                truncation=False,
                return_offsets_mapping=True,
                verbose=False,
            )
        subwords = []
        for ids, offsets in zip(read["input_ids"], read["offset_mapping"], strict=True):
            if ids and max(ids) >= self._vocabulary:
                raise ModelError(
                    f"{self.folder}: the tokenizer has the id {max(ids)}, the model"
                    f" {self._vocabulary} ids; {TOKENIZER_ADVICE}"
                )
            subwords.append(Subwords(ids, [Span(*offset) for offset in offsets]))
        return subwords

    def vectors(self, texts: Sequence[Subwords]) -> list[Any]:
        """The embedding of every subword of each text, length 1: tensors of shape [subwords, size],
        on the CPU.

        A text that the model cannot read at once is read in windows that overlap by half; of two, a
        subword is taken from that in which it is farther from the end.

        Raises:
            ModelError: a single window does not fit into memory, or embeddings that are not
                numbers.
        """
        import torch

        windows = [cut_windows(len(text.ids), self.room) for text in texts]
        rows = []
        for text, text_windows in zip(texts, windows, strict=True):
            rows += [text.ids[window.start : window.end] for window in text_windows]
        embeddings = iter(self._embeddings(rows))
        vectors = []
        for text_windows in windows:
            if not text_windows:
                vectors.append(torch.zeros((0, 1)))
                continue
            pieces = [
                row[window.first - window.start : window.last - window.start]
                for window, row in zip(text_windows, embeddings, strict=False)
            ]
            vectors.append(torch.nn.functional.normalize(torch.cat(pieces), dim=-1))
        return vectors

    def _embeddings(self, rows: Sequence[Sequence[int]]) -> list[Any]:
        """The embeddings of each row of subwords, in order; rows of like length are computed
        together.
        """
        order = sorted(range(len(rows)), key=lambda n: (-len(rows[n]), n))
        embeddings: dict[int, Any] = {}
        batch: list[int] = []
        for n in order:
            if batch and (len(batch) + 1) * len(rows[batch[0]]) > self.most_tokens:
                embeddings |= zip(batch, self._batch([rows[k] for k in batch]), strict=True)
                batch = []
            batch.append(n)
        embeddings |= zip(batch, self._batch([rows[k] for k in batch]), strict=True)
        return [embeddings[n] for n in range(len(rows))]

    def _batch(self, rows: Sequence[Sequence[int]]) -> list[Any]:
        """The embeddings of one batch, in halves where memory runs out; later batches stay below
        what failed.
        """
        if not rows:
            return []
        longest = max(map(len, rows))
        middle = (len(rows) + 1) // 2
        if len(rows) == 1 or len(rows) * longest <= self.most_tokens:
            try:
                with explained(self.folder, "encoding", _ADVICE):
                    return within_memory(lambda: self._hidden(rows))
            except OutOfMemory as error:
                failed = str(error)
            if len(rows) == 1:
                raise ModelError(
                    f"{longest} subwords do not fit into memory ({failed}); use --device cpu, or a"
                    " smaller --aligner-model"
                )
            self.most_tokens = middle * longest
        return [*self._batch(rows[:middle]), *self._batch(rows[middle:])]

    def states(self, rows: Sequence[Sequence[int]]) -> Any:  # noqa: ANN401 - a tensor
        """The last layer's states of each row of at most `room` subwords, special tokens left out:
        a tensor [rows, longest row, size] on the device. What is behind a shorter row means
        nothing.
        """
        import torch

        longest = max(map(len, rows))
        start = len(self._before)
        width = start + longest + len(self._after)
        pad = self._tokenizer.pad_token_id or 0
        ids, mask = [], []
        for row in rows:
            tokens = [*self._before, *row, *self._after]
            padding = width - len(tokens)
            ids.append(tokens + [pad] * padding)
            mask.append([1] * len(tokens) + [0] * padding)
        output = self.model(
            input_ids=torch.tensor(ids, device=self.device),
            attention_mask=torch.tensor(mask, device=self.device),
        )
        return output.last_hidden_state[:, start : start + longest]

    def _hidden(self, rows: Sequence[Sequence[int]]) -> list[Any]:
        import torch

        with torch.inference_mode():
            states = self.states(rows).cpu()
        embeddings = [row[: len(ids)] for row, ids in zip(states, rows, strict=True)]
        if not all(bool(vectors.isfinite().all()) for vectors in embeddings):
            raise ModelError(f"{self.folder}: embeddings that are not numbers; {_ADVICE}")
        return embeddings

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """The ids in front of a text and behind it."""
        if not self._tokenizer.is_fast:
            raise ModelError(
                f"{self.folder}: expected a tokenizer that says which characters a subword stands"
                " for, got one without tokenizer.json; use a checkpoint that has it"
            )
        read = self._tokenizer("a", return_special_tokens_mask=True)
        ids, special = read["input_ids"], read["special_tokens_mask"]
        if 0 not in special:
            raise ModelError(f"{self.folder}: the tokenizer has no letter a; {TOKENIZER_ADVICE}")
        first, last = special.index(0), len(special) - special[::-1].index(0)
        return list(ids[:first]), list(ids[last:])

    def _most_tokens(self) -> int:
        config = self.model.config
        positions = getattr(config, "max_position_embeddings", None) or MOST_TOKENS
        if "roberta" in config.model_type:
            positions -= config.pad_token_id + 1  # its positions begin behind the padding's
        most = int(min(self._tokenizer.model_max_length, positions, MOST_TOKENS))
        if most < LEAST_TOKENS:
            raise ModelError(
                f"{self.folder}: expected a model that reads {LEAST_TOKENS} subwords, got {most};"
                f" {_ADVICE}"
            )
        return most


class Window(NamedTuple):
    """A stretch of subwords that the encoder reads at once, and those that are taken from it."""

    start: int
    end: int
    first: int
    """First subword that is taken."""
    last: int
    """Where those that are taken end."""


def cut_windows(count: int, most: int) -> list[Window]:
    """Windows of at most `most` subwords over `count`, which overlap by half.

    From all windows together each subword is taken once, in order.
    """
    if not count:
        return []
    starts = [*range(0, count - most, max(most // 2, 1)), max(count - most, 0)]
    ends = [min(start + most, count) for start in starts]
    middles = [(start + end) // 2 for start, end in zip(starts[1:], ends, strict=False)]
    cuts = [0, *middles, count]
    return [Window(*places) for places in zip(starts, ends, cuts, cuts[1:], strict=False)]


def _load_encoder(folder: Path, layer: int, device: str) -> Any:  # noqa: ANN401 - transformers'
    from transformers import AutoConfig, AutoModel

    with explained(folder, "loading the weights with transformers", _ADVICE):
        # The layers above are not needed: a third of the time.
        config = AutoConfig.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False, num_hidden_layers=layer
        )
    return load_model(folder, AutoModel, config, device=device, dtype="float32")


DEFAULT_ENCODER = "google-bert/bert-base-multilingual-cased"
"""The encoder that is used where none is named: mBERT, with which SimAlign was published."""
# Cosines of one pair differ by about 1e-7 from batch to batch. Subwords whose contexts are the
# same, as those of a repeated word have it without context, are as similar as each other, and
# rounding must not choose among them.
TIE = 1e-5
"""Cosines that differ by less are equal; equal ones are all linked."""
# Their embeddings take 3 kB a subword with the base size: 100 MB of European text.
LETTERS = 1 << 17
"""Letters of the sentence pairs whose embeddings are in memory at once."""

Text = tuple[str, str]
"""Source and translation."""


class NeuralAligner(Aligner):
    """Links words by the embeddings of an encoder, and finds entities as the statistical model
    does.

    The tables of nouns, common spellings and cognates count as they do there
    (`mtbias.align.entity_scores`). Everything is computed in fp32, and links do not depend on
    batches.
    """

    def __init__(
        self, checkpoint: Checkpoint, *, layer: int | None = None, device: str | None = None
    ) -> None:
        """Weights are loaded when something is aligned, and given back then.

        Args:
            checkpoint: an encoder on this machine (`locate_encoder`).
            layer: whose embeddings; None is the one two thirds up
                (`mtbias.align.neural_aligner.check_encoder`).
            device: None is a GPU if available.

        Raises:
            ModelError: it is not an encoder.
            SettingError: it has no such layer.
        """
        self.checkpoint, self.device = checkpoint, device
        self.layer = check_encoder(checkpoint.folder, layer)

    @property
    def signature(self) -> str:
        """``neural(MODEL@REVISION,LAYER)``."""
        return f"neural({self.checkpoint.name}@{self.checkpoint.revision},{self.layer})"

    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        """See `mtbias.align.Aligner`.

        Raises:
            ModelError: the encoder cannot be loaded, or one sentence does not fit into memory.
        """
        if not pairs:
            return ()
        text_links = {text: words.links() for text, words in self.compared(pairs, texts, progress)}
        links = [(text_links[pair.source, pair.text],) * 2 for pair in pairs]
        scores = scores_of_links(index_pairs(pairs, texts), links, texts.language)
        return align_entities(pairs, scores, texts)

    def compared(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress
    ) -> Iterator[tuple[Text, Compared]]:
        """Each distinct source with its translation, and their words compared.

        Raises:
            ModelError: as `align`.
        """
        encoder = Encoder(
            self.checkpoint.folder, layer=self.layer, device=chosen_device(self.device)
        )
        distinct = list(dict.fromkeys((pair.source, pair.text) for pair in pairs))
        done = 0
        for batch in _batches(distinct):
            yield from zip(batch, _compare(encoder, batch, texts), strict=True)
            done += len(batch)
            progress("align", len(pairs) * done // len(distinct), len(pairs))


class Compared(NamedTuple):
    """The subwords of a sentence and of its translation: of each the words that it is in, and their
    embeddings.
    """

    left: list[list[int]]
    right: list[list[int]]
    source: Any
    """Tensor [subwords, size], as `target`."""
    target: Any

    def links(self) -> Links:
        """The links between the words."""
        links: set[tuple[int, int]] = set()
        for a, b in mutual_links(self.source, self.target):
            links.update(product(self.left[a], self.right[b]))
        return links

    def alike(self, word: int) -> dict[int, float]:
        """Word of the translation → the greatest cosine of a subword of it and one of the source's
        `word`.
        """
        alike: dict[int, float] = {}
        if not self.right:  # an empty tensor has no size
            return alike
        for subword, source_words in enumerate(self.left):
            if word not in source_words:
                continue
            cosines = (self.target @ self.source[subword]).tolist()
            for target_words, cosine in zip(self.right, cosines, strict=True):
                for j in target_words:
                    alike[j] = max(cosine, alike.get(j, cosine))
        return alike


def _batches(pairs: Sequence[Text]) -> Iterator[Sequence[Text]]:
    """Pairs of like length together, the longest first: what does not fit into memory fails at
    once.
    """
    batch: list[Text] = []
    letters = 0
    for pair in sorted(pairs, key=lambda pair: -max(map(len, pair))):
        size = sum(map(len, pair))
        if batch and letters + size > LETTERS:
            yield batch
            batch, letters = [], 0
        batch.append(pair)
        letters += size
    yield batch


def _compare(encoder: Encoder, pairs: Sequence[Text], texts: SplitTexts) -> Iterator[Compared]:
    """The words of each pair, compared."""
    subwords = encoder.subwords(list(chain.from_iterable(pairs)))
    vectors = encoder.vectors(subwords)
    for n, (source, target) in enumerate(pairs):
        left = words_of(subwords[2 * n], [word.span for word in texts.source.words(source)])
        right = words_of(subwords[2 * n + 1], [word.span for word in texts.words(target)])
        yield Compared(left, right, vectors[2 * n], vectors[2 * n + 1])


def words_of(subwords: Subwords, words: Sequence[Span]) -> list[list[int]]:
    """For each subword the words that it shares a character with: none for punctuation. Both are in
    text order.
    """
    sharing: list[list[int]] = []
    first = 0
    for span in subwords.spans:
        while first < len(words) and words[first].end <= span.start:
            first += 1
        end = first
        while end < len(words) and words[end].start < span.end:
            end += 1
        sharing.append(list(range(first, end)))
    return sharing


def mutual_links(source: Any, target: Any) -> list[tuple[int, int]]:  # noqa: ANN401 - tensors
    """Pairs of subwords that are each other's most similar; `TIE` says what is equal.

    Both are tensors [subwords, size].
    """
    if not len(source) or not len(target):
        return []
    similar = source @ target.T
    best = (similar >= similar.amax(1, keepdim=True) - TIE) & (
        similar >= similar.amax(0, keepdim=True) - TIE
    )
    return [(int(a), int(b)) for a, b in best.nonzero().tolist()]


def locate_encoder(
    model: str | None,
    lang: str,
    *,
    cache: Path,
    offline: bool = False,
    fetch: bool = True,
    setting: str = "aligner_model",
) -> Checkpoint:
    """The encoder `model` on this machine: a folder, or a hub id, which may end in ``@COMMIT`` (or
    a branch or tag).

    Everything else is as for translation models (`mtbias.translate.seq2seq.checkpoints.locate`):
    the commit at which it was first downloaded is written down and used from then on.

    Raises:
        UsageError: no such model; `setting` is what names it.
        MissingResourceError: it is not here and may not, or cannot, be fetched; names the command
            that does.
    """
    name = model or DEFAULT_ENCODER
    revision = None
    if not Path(name).is_dir():
        name, _, revision = name.partition("@")
    try:
        return locate(
            name, lang, cache=cache, revision=revision or None, offline=offline, fetch=fetch
        )
    except SettingError:
        raise SettingError(
            setting,
            f"expected a hub id (OWNER/NAME) or a folder with an encoder, got {name!r}",
        ) from None
