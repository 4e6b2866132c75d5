"""A second opinion on heads that the tables do not know: the statistical aligner, and an encoder
where it may err.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

import numpy as np

from mtbias.align.aligners import Aligner, StatisticalAligner, align_entities
from mtbias.align.entity_scores import Links, scores_of_links
from mtbias.align.neural_aligner import NeuralAligner, Text
from mtbias.align.sentence_pairs import index_pairs
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.sentence_pair import Pair, entity_place
from mtbias.types import Alignment, Json, Progress, Span, quiet

SURE_ROWS = 400
"""Rows on which the margin rests, at most: they cost the encoder as much as doubtful ones."""
MAX_OVERRULED = 0.05
"""Share of these rows, whose head the tables know, in which the encoder may prefer another word by
the margin."""


class SecondOpinion(Aligner):
    """The statistical aligner, and an encoder for the doubtful rows: those in which that chose no
    word, or one that the tables do not know as a translation of the entity.

    The encoder's word is taken if it is more alike to the entity than the chosen one, or than any
    other word where none was chosen, by more than a margin, 0 or more. The margin is measured on
    the texts at hand: the quantile 1 - `MAX_OVERRULED` of how much more alike another word is than
    the head, over the sure rows, in which the tables know one word, the head, as a translation.
    With too few rows for such a quantile the encoder is not used.
    """

    def __init__(self, neural: NeuralAligner) -> None:
        """`neural` has the encoder."""
        self.neural = neural
        self.execution: dict[str, Json] = {}
        """How many rows the encoder compared and overruled in `align`, with its time in seconds."""

    @property
    def signature(self) -> str:
        """``mtbias-agree/1+neural(MODEL@REVISION,LAYER)``."""
        return f"{StatisticalAligner.signature}+{self.neural.signature}"

    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        """See `mtbias.align.Aligner`.

        Raises:
            ModelError: as `NeuralAligner.align`.
        """
        alignments = list(StatisticalAligner().align(pairs, texts))
        known = [bool(a.target) and a.target[0] in a.translations for a in alignments]
        doubtful = [n for n, pair in enumerate(pairs) if pair.head is not None and not known[n]]
        sure = [n for n, a in enumerate(alignments) if known[n] and len(a.translations) == 1]
        # Evenly over the texts: a corpus may begin with its easy sentences.
        sample = np.linspace(0, len(sure) - 1, min(len(sure), SURE_ROWS), dtype=int)
        sure = [sure[k] for k in sample]
        self.execution = {"encoder_asked": 0, "encoder_margin_rows": len(sure)}
        if not doubtful or len(sure) * MAX_OVERRULED < 1:
            return tuple(alignments)

        start = perf_counter()
        links, alike = self._compared(pairs, doubtful, sure, texts, progress)
        leads = []
        for n in sure:
            heads = alignments[n].target
            others = alike[n].keys() - set(heads)
            leads.append(_most(alike[n], others) - _most(alike[n], heads))
        margin = max(0.0, float(np.quantile(leads, 1 - MAX_OVERRULED)))

        doubtful_pairs = [pairs[n] for n in doubtful]
        scores = scores_of_links(
            index_pairs(doubtful_pairs, texts), [links[n] for n in doubtful], texts.language
        )
        overruled = 0
        opinions = align_entities(doubtful_pairs, scores, texts)
        for n, opinion in zip(doubtful, opinions, strict=True):
            head, heads = opinion.target[:1], alignments[n].target
            rivals = heads or alike[n].keys() - set(opinion.target)
            another = bool(head) and head[0] not in heads
            if another and _most(alike[n], head) - _most(alike[n], rivals) > margin:
                alignments[n] = opinion
                overruled += 1
        self.execution |= {
            "encoder_asked": len(doubtful),
            "encoder_overruled": overruled,
            "encoder_margin": margin,
            "encoder_seconds": round(perf_counter() - start, 3),
        }
        return tuple(alignments)

    def _compared(
        self,
        pairs: Sequence[Pair],
        doubtful: Sequence[int],
        sure: Sequence[int],
        texts: SplitTexts,
        progress: Progress,
    ) -> tuple[dict[int, tuple[Links, Links]], dict[int, dict[Span, float]]]:
        """The encoder's links in the `doubtful` rows; in these and the `sure` ones how alike each
        word of the translation is to the entity.
        """
        rows = [*doubtful, *sure]
        rows_by_text: dict[Text, list[int]] = {}
        for n in rows:
            rows_by_text.setdefault((pairs[n].source, pairs[n].text), []).append(n)
        links: dict[int, tuple[Links, Links]] = {}
        alike: dict[int, dict[Span, float]] = {}
        for text, compared in self.neural.compared([pairs[n] for n in rows], texts, progress):
            source, target = texts.source.words(text[0]), texts.words(text[1])
            linked = set(doubtful).intersection(rows_by_text[text])
            if linked:
                links |= dict.fromkeys(linked, (compared.links(),) * 2)
            for n in rows_by_text[text]:
                cosines = compared.alike(entity_place(pairs[n], source)[1])
                alike[n] = {target[j].span: cosine for j, cosine in cosines.items()}
        return links, alike


def _most(alike: Mapping[Span, float], words: Iterable[Span]) -> float:
    """How alike the most alike of `words` is to the entity."""
    return max((alike.get(span, -1.0) for span in words), default=-1.0)
