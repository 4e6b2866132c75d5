"""From wrong genders to their cost: the words that a post-editor changes to make them right.

How many errors there are does not say what they cost: *la médica* of a man is two words, *la periodista* one. Savoldi
et al. (arXiv 2410.00545) found with 90 people that post-editing took more work for women, which usual metrics did not
show.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from mtbias.stats.resampling import bootstrap_counts, estimate
from mtbias.stats.results import Floats, Tables, enough, source
from mtbias.types import Called, Gender, JsonDict

_OTHER = {Gender.MALE: Gender.FEMALE, Gender.FEMALE: Gender.MALE}


def post_edits(records: Sequence[Called], n_resamples: int, seed: int) -> dict[str, JsonDict]:
    """The words to be changed, for men, for women, and for both: `post_edits` of `metrics.json`.

    Wrong are men called women and women called men; each costs the words that show the gender (`GenderCall.edits`).
    ``per_wrong`` = edits / wrong calls, ``per_sentence`` = edits / all rows of that gold gender, called or not, each
    with the percentile interval of resampled rows (from `MIN_ROWS` on).

    ``unknown`` of the edits are words whose other form no table tells.

    Edge cases: empty where no call says its words; a gender without rows is left out; ``per_wrong`` is None without a
    wrong call.
    """
    if not any(record.call.edits for record in records):
        return {}
    golds = {gold.value: (gold,) for gold in _OTHER} | {"all": tuple(_OTHER)}
    parts = {name: [record for record in records if record.gold in of] for name, of in golds.items()}
    return {name: _of(rows, n_resamples, seed) for name, rows in parts.items() if rows}


def _of(rows: Sequence[Called], n_resamples: int, seed: int) -> JsonDict:
    wrong = [record.call for record in rows if record.gold and record.call.gender is _OTHER[record.gold]]
    words = np.bincount([len(call.edits) for call in wrong], minlength=1)
    counts = np.append(words, len(rows) - len(wrong))  # by number of edits, then the rows without a wrong call
    resample = partial(bootstrap_counts, counts, n_resamples=n_resamples, rng=source(seed))
    sizes = {"per_wrong": len(wrong), "per_sentence": len(rows)}
    intervals = [name for name, size in sizes.items() if enough(size)]
    found = estimate(counts[None], _means, resample, n=sizes, intervals=intervals)
    return {
        "n": len(rows),
        "wrong": len(wrong),
        "edits": sum(len(call.edits) for call in wrong),
        "unknown": sum(not edit.known for call in wrong for edit in call.edits),
        **{name: {"value": mean.value, "interval": mean.interval} for name, mean in found.items()},
    }


def _means(counts: Tables) -> dict[str, Floats]:
    """Edits for each wrong call and for each row, of tables ``[R, edits]``."""
    wrong, rows = counts[..., :-1], counts.sum(axis=-1)
    edits = wrong @ np.arange(wrong.shape[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"per_wrong": edits / wrong.sum(axis=-1), "per_sentence": edits / rows}
