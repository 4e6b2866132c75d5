"""Word alignment from the embeddings of a multilingual encoder (SimAlign: Jalili Sabet et al. 2020, "argmax").

Two subwords are linked if each is the other's most similar by the cosine of their embeddings in context; two words are
linked if any of their subwords are. No sentence needs another: a text of one line is aligned as one of thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mtbias.align.aligners import align_entities
from mtbias.align.encoder_model import Encoder, Subwords, check_encoder
from mtbias.align.plain_links import Links, scores_of_links
from mtbias.align.sentence_pairs import Pair, index_pairs
from mtbias.english.words import english_words
from mtbias.errors import SettingError
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import chosen_device
from mtbias.translate.seq2seq.checkpoints import Checkpoint, locate
from mtbias.types import Alignment, Progress, Span, quiet

DEFAULT_ENCODER = "google-bert/bert-base-multilingual-cased"
"""The encoder that is used where none is named: mBERT, with which SimAlign was published."""
# Cosines of one pair differ by about 1e-7 from batch to batch. Subwords whose contexts are the same, as those of a
# repeated word have it without context, are as similar as each other, and rounding must not choose among them.
TIE = 1e-5
"""Cosines that differ by less are equal; equal ones are all linked."""
# Their embeddings take 3 kB a subword with the base size: 100 MB of European text.
LETTERS = 1 << 17
"""Letters of the sentence pairs whose embeddings are in memory at once."""

Text = tuple[str, str]
"""Source and translation."""


class NeuralAligner:
    """Links words by the embeddings of an encoder, and finds entities as the statistical model does.

    The tables of nouns, common spellings and cognates count as they do there (`mtbias.align.plain_links`). Everything
    is computed in fp32, and links do not depend on batches.
    """

    def __init__(self, checkpoint: Checkpoint, *, layer: int | None = None, device: str | None = None) -> None:
        """Weights are loaded when something is aligned, and given back then.

        Args:
            checkpoint: an encoder on this machine (`locate_encoder`).
            layer: whose embeddings; None is the one two thirds up (`mtbias.align.encoder_model.check_encoder`).
            device: None is a GPU where there is one.

        Raises:
            ModelError: it is no encoder.
            SettingError: it has no such layer.
        """
        self.checkpoint, self.device = checkpoint, device
        self.layer = check_encoder(checkpoint.folder, layer)

    @property
    def signature(self) -> str:
        """``neural(MODEL@REVISION,LAYER)``."""
        return f"neural({self.checkpoint.name}@{self.checkpoint.revision},{self.layer})"

    def align(self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet) -> tuple[Alignment, ...]:
        """See `mtbias.align.Aligner`.

        Raises:
            ModelError: the encoder cannot be loaded, or one sentence does not fit into memory.
        """
        if not pairs:
            return ()
        encoder = Encoder(self.checkpoint.folder, layer=self.layer, device=chosen_device(self.device))
        distinct = list(dict.fromkeys((pair.source, pair.text) for pair in pairs))
        found: dict[Text, Links] = {}
        for batch in _batches(distinct):
            found |= zip(batch, _links(encoder, batch, texts), strict=True)
            progress("align", len(pairs) * len(found) // len(distinct), len(pairs))
        links = [(found[pair.source, pair.text],) * 2 for pair in pairs]
        return align_entities(pairs, scores_of_links(index_pairs(pairs, texts), links, texts.language), texts)


def _batches(pairs: Sequence[Text]) -> Iterator[Sequence[Text]]:
    """Pairs of like length together, the longest first: what does not fit into memory fails at once."""
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


def _links(encoder: Encoder, pairs: Sequence[Text], texts: SplitTexts) -> list[Links]:
    """The links between the words of each pair."""
    read = encoder.subwords([text for pair in pairs for text in pair])
    vectors = encoder.vectors(read)
    found: list[Links] = []
    for n, (source, target) in enumerate(pairs):
        left = words_of(read[2 * n], [word.span for word in english_words(source)])
        right = words_of(read[2 * n + 1], [word.span for word in texts.words(target)])
        mutual = mutual_links(vectors[2 * n], vectors[2 * n + 1])
        found.append({(i, j) for a, b in mutual for i in left[a] for j in right[b]})
    return found


def words_of(subwords: Subwords, words: Sequence[Span]) -> list[list[int]]:
    """For each subword the words that it shares a character with: none for punctuation. Both are in text order."""
    found: list[list[int]] = []
    at = 0
    for span in subwords.spans:
        while at < len(words) and words[at].end <= span.start:
            at += 1
        here = []
        for n in range(at, len(words)):
            if words[n].start >= span.end:
                break
            here.append(n)
        found.append(here)
    return found


def mutual_links(source: Any, target: Any) -> list[tuple[int, int]]:  # noqa: ANN401 - tensors [subwords, size]
    """Pairs of subwords of which each is the other's most similar; `TIE` says what is equal."""
    if not len(source) or not len(target):
        return []
    similar = source @ target.T
    best = (similar >= similar.amax(1, keepdim=True) - TIE) & (similar >= similar.amax(0, keepdim=True) - TIE)
    return [(int(a), int(b)) for a, b in best.nonzero().tolist()]


def locate_encoder(
    model: str | None, lang: str, *, cache: Path, offline: bool = False, fetch: bool = True
) -> Checkpoint:
    """The encoder `model` on this machine: a folder, or a hub id, which may end in ``@COMMIT`` (or a branch or tag).

    Everything else is as for translation models (`mtbias.translate.seq2seq.checkpoints.locate`): the commit at
    which it was first downloaded is written down and used from then on.

    Raises:
        UsageError: no such model.
        MissingResourceError: it is not here and may not, or cannot, be fetched; names the command that does.
    """
    name = model or DEFAULT_ENCODER
    revision = None
    if not Path(name).is_dir():
        name, _, revision = name.partition("@")
    try:
        return locate(name, lang, cache=cache, revision=revision or None, offline=offline, fetch=fetch)
    except SettingError:
        raise SettingError(
            "aligner_model", f"expected a hub id (OWNER/NAME) or a folder with an encoder, got {name!r}"
        ) from None
