r"""Whether a translation model's own cross-attention finds the entity better than the statistical
model does.

    mtbias eval --model FOLDER --lang de --out RUN
    python scripts/experiments/attention_heads.py --model FOLDER --lang de --data WINOMT \
        --translations RUN/translations.jsonl

The checkpoint reads source and translation once more (teacher forcing), and its cross-attention,
averaged over heads and layers, takes the place of the statistical model's links; everything else is
as `mtbias score` has it. Both align the corpus, and a part of it in files of 25 sentences. A head
is judged by the plugin's whole table: right is the one word that it knows as a translation of the
entity, and rows where it knows none or several are left out. With "outside the table" every other
entity is taken out of the table that the aligners see, and only those are counted. With `--layers`
each layer is tried alone.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cyclopts
import numpy as np
from numpy.typing import NDArray

from mtbias.align import Pair
from mtbias.align.aligners import align_entities
from mtbias.align.entity_scores import MAX_SHARE, model_scores, prior_links
from mtbias.align.link_model import counted, distinct_keys, prior_counts
from mtbias.align.neural_aligner import Subwords, words_of
from mtbias.align.sentence_pairs import IndexedPairs, index_pairs
from mtbias.english.words import english_words, singulars
from mtbias.language.definition import Language
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.known_translations import KnownTranslations
from mtbias.reading.target_words import EntityScores
from mtbias.translate.given_translations import given_file
from mtbias.translate.seq2seq.codec import Codec
from mtbias.types import Span

Matrix = NDArray[np.float64]
"""Attention of one pair: [layers, source words, target words]."""
Scoring = Callable[[Sequence[Pair], IndexedPairs, Language], Iterator[EntityScores | None]]

ALONE = 25
"""Sentences of a small file."""
SAMPLE = 1000
"""Sentences that are aligned in small files."""
BATCH = 32


def spans_of(pieces: Sequence[str], text: str) -> Subwords:
    """Where each SentencePiece piece stands in `text`; a special token, or what is not found,
    stands nowhere.
    """
    spans, at = [], 0
    for piece in pieces:
        word = piece.replace("▁", "")
        found = text.find(word, at) if word else -1
        if 0 <= found <= at + 3:  # behind at most a few spaces
            spans.append(Span(found, found + len(word)))
            at = found + len(word)
        else:
            spans.append(Span(at, at))
    return Subwords((), spans)


def share(words: Sequence[Sequence[int]], count: int) -> NDArray[np.float64]:
    """Which subword belongs to which word: [subwords, words]."""
    found = np.zeros((len(words), count))
    for row, here in enumerate(words):
        found[row, list(here)] = 1.0
    return found


def read_attention(
    folder: Path, lang: str, pairs: Sequence[Pair], texts: SplitTexts
) -> dict[str, Matrix]:
    """The cross-attention of every pair by its id, averaged over heads: P(source word | target
    word).
    """
    import torch
    from transformers import AutoModelForSeq2SeqLM

    codec = Codec(folder, lang)
    tokenizer: Any = codec._tokenizer
    model = AutoModelForSeq2SeqLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    begin = [
        model.generation_config.decoder_start_token_id,
        *([] if codec.forced is None else [codec.forced]),
    ]
    pad = model.config.pad_token_id
    found: dict[str, Matrix] = {}
    order = sorted(pairs, key=lambda pair: -len(pair.text))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        sources = [list(each.ids) for each in codec.encode([pair.source for pair in batch])]
        # Only Opus-MT has a vocabulary of its own for targets; others would want to be told which
        # language it is.
        side = "text_target" if codec.direction.source_code is None else "text"
        targets = [
            [i for i in ids if i not in codec._dropped]
            for ids in tokenizer(**{side: [pair.text for pair in batch]})["input_ids"]
        ]
        read, mask = _padded(sources, pad)
        with torch.inference_mode():
            out = model(
                input_ids=read,
                attention_mask=mask,
                decoder_input_ids=_padded([[*begin, *ids] for ids in targets], pad)[0],
                output_attentions=True,
                use_cache=False,
            )
        layers = np.stack(
            [each.mean(1).numpy() for each in out.cross_attentions]
        )  # [layers, pairs, target, source]
        for n, (pair, source, target) in enumerate(zip(batch, sources, targets, strict=True)):
            # A token is predicted where the one before it is read.
            first = len(begin) - 1
            seen = layers[:, n, first : first + len(target), : len(source)]
            left = [word.span for word in english_words(pair.source)]
            right = [word.span for word in texts.words(pair.text)]
            names = [tokenizer.convert_ids_to_tokens(ids) for ids in (source, target)]
            of_source = share(words_of(spans_of(names[0], pair.source), left), len(left))
            of_target = share(words_of(spans_of(names[1], pair.text), right), len(right))
            each = of_target.T @ seen / np.maximum(of_target.sum(0)[:, None], 1)
            found[pair.id] = (each @ of_source).transpose(0, 2, 1)
    return found


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    import torch

    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
    return ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])


@dataclass(frozen=True)
class ByAttention:
    """Scores with attention in the place of the statistical model's links."""

    attention: Mapping[str, Matrix]
    layer: int | None = None
    """None is the mean of all."""

    def __call__(
        self, pairs: Sequence[Pair], indexed: IndexedPairs, language: Language
    ) -> Iterator[EntityScores | None]:
        """See `mtbias.align.entity_scores.model_scores`."""
        source, target = indexed.source, indexed.target
        keys, width = distinct_keys(source, target), len(target.types)
        counts = prior_counts(keys, prior_links(indexed, language))
        forward, link = [], []
        for n, pair in enumerate(pairs):
            whole = self.attention[pair.id]
            matrix = whole.mean(0) if self.layer is None else whole[self.layer]
            back = matrix / np.maximum(matrix.sum(1, keepdims=True), 1e-9)
            forward.append(matrix)
            link.append(np.sqrt(matrix * back))
            cells = source.ids[source.offsets[n] : source.offsets[n + 1], None] * width
            cells = cells + target.ids[None, target.offsets[n] : target.offsets[n + 1]]
            np.add.at(counts, np.searchsorted(keys, cells.ravel()), (matrix * back).ravel())
        table = counted(keys, counts, source, target)
        common = np.bincount(target.ids, minlength=width) > MAX_SHARE * len(target.lengths)
        for n, (first, head) in enumerate(indexed.heads):
            types = target.ids[target.offsets[n] : target.offsets[n + 1]]
            if head < 0 or not len(types):
                yield None
                continue
            word = source.ids[source.offsets[n] + head]
            others = link[n].copy()
            others[first : head + 1] = 0.0
            totals = table.source_totals[word] + table.target_totals[types]
            lexicon = 2 * table.links[table.rows(word * width + types)] / np.maximum(totals, 1e-12)
            yield EntityScores(
                link[n][head],
                forward[n][first : head + 1].sum(0),
                lexicon,
                others.max(0),
                ~common[types],
            )


def statistical(
    _: Sequence[Pair], indexed: IndexedPairs, language: Language
) -> Iterator[EntityScores | None]:
    """What `mtbias score` does."""
    return model_scores(indexed, language)


def without(language: Language, entities: Sequence[str]) -> Language:
    """`language` with a table that does not know `entities`, nor phrases with one of them as
    head.
    """
    heads = {word for entity in entities for word in singulars(entity.split(" ")[-1])}
    kept = {
        english: forms
        for english, forms in language.glossary.items()
        if english.split(" of ")[0].split(" ")[-1] not in heads
    }
    return replace(language, glossary=kept)


def judge(
    scoring: Scoring,
    pairs: Sequence[Pair],
    language: Language,
    right: Mapping[str, Span],
    size: int,
) -> tuple[int, int, int]:
    """Heads right, wrong and not found, of the pairs in `right`, where `size` pairs at a time are
    aligned.
    """
    texts = SplitTexts(language)
    found = [0, 0, 0]
    for start in range(0, len(pairs), size):
        part = pairs[start : start + size]
        scores = scoring(part, index_pairs(part, texts), language)
        for pair, alignment in zip(part, align_entities(part, scores, texts), strict=True):
            if pair.id in right:
                found[
                    2 if not alignment.target else int(alignment.target[0] != right[pair.id])
                ] += 1
    return found[0], found[1], found[2]


def main(
    *,
    model: Path,
    lang: str,
    translations: Path,
    dataset: str = "winomt",
    data: Path | None = None,
    layers: bool = False,
) -> None:
    """Print one line for each way, size of file and table.

    Parameters
    ----------
    model
        Folder of the checkpoint.
    lang
        Target language.
    translations
        Its translations, in any form that `mtbias score` reads.
    dataset
        Of what.
    data
        File or folder of the data set instead of the cache.
    layers
        Each layer alone, too.
    """
    from mtbias.corpora import load_corpus

    language, corpus = get_language(lang), load_corpus(dataset, data)
    texts = {each.id: each.text for each in given_file(translations).read(corpus).translations}
    pairs = [Pair.from_instance(i, text) for i in corpus.instances if (text := texts.get(i.id))]
    split, known = SplitTexts(language), KnownTranslations(language)
    right = {}
    for pair in pairs:
        words = split.words(pair.text)
        hits = [
            word.span
            for word in words
            if not known.forms(pair.entity).isdisjoint(word.facts.dictionary_forms)
        ]
        if len(hits) == 1:
            right[pair.id] = hits[0]
    clock = time.process_time()
    attention = read_attention(model, lang, pairs, split)
    print(
        f"{lang}: {len(pairs)} sentences, attention read in {time.process_time() - clock:.1f} CPU seconds"
    )
    ways: dict[str, Scoring] = {"statistical": statistical, "attention": ByAttention(attention)}
    depth = len(next(iter(attention.values())))
    ways |= {f"layer {n + 1}": ByAttention(attention, n) for n in range(depth) if layers}
    entities = sorted({pair.entity for pair in pairs})
    random.Random(0).shuffle(entities)
    out = entities[::2]
    shuffled = random.Random(1).sample(pairs, min(SAMPLE, len(pairs)))
    outside = {
        pair.id: right[pair.id] for pair in pairs if pair.id in right and pair.entity in set(out)
    }
    for size, part in ((ALONE, shuffled), (len(pairs), pairs)):
        for named, table, judged in (
            ("whole table", language, right),
            ("outside the table", without(language, out), outside),
        ):
            for way, scoring in ways.items():
                good, bad, none = judge(scoring, part, table, judged, size)
                n = good + bad + none
                shares = "  ".join(
                    f"{name} {100 * k / n:6.2f} %"
                    for name, k in (("right", good), ("wrong", bad), ("none", none))
                )
                print(
                    f"{lang}  {size:4} at a time, {named:17}  {way:11}  {shares}  of {n}",
                    flush=True,
                )


if __name__ == "__main__":
    cyclopts.run(main)
