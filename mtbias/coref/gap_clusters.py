"""GAP and Counter-GAP from clusters: which labels a system's clusters give its candidates.

The rule of the authors of the e2e and SpanBERT systems (`to_gap_tsv.py` in github.com/mandarjoshi90/coref, which
Counter-GAP uses too): of the first cluster that has the pronoun as a mention of its own, a mention that lies within the
candidate, or around it, makes it TRUE. Both may be TRUE. Their converter takes the sign behind a name or a pronoun into
its span where no blank is between ("he." instead of "he"); here spans are those of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.dataset_texts import gap_texts, mentions_of
from mtbias.coref.gap_instances import GapFile, GapInstance, Labels, SystemLabels, read_labels
from mtbias.coref.output_reading import read_output
from mtbias.coref.predicted_clusters import Predictions
from mtbias.coref.system_output import SpanCounting, holds_clusters
from mtbias.files.reading import read_text


def labels_of(instance: GapInstance, clusters: Clusters) -> Labels:
    """The labels of A and B; FALSE twice where no cluster has the pronoun. `clusters` are of tokens of `gap_texts`."""
    pronoun, a, b = mentions_of(instance)
    mine = next((cluster for cluster in clusters if pronoun in cluster), ())
    return Labels(*(any(_one_within_other(mention, candidate) for mention in mine) for candidate in (a, b)))


def _one_within_other(one: Mention, other: Mention) -> bool:
    return (one[0] >= other[0] and one[1] <= other[1]) or (other[0] >= one[0] and other[1] <= one[1])


def read_system(
    path: Path, data: GapFile, *, official: bool = False, ids: Path | None = None, spans: SpanCounting | None = None
) -> tuple[SystemLabels, Predictions | None]:
    """A system's labels, from a table of labels (`read_labels`) or from clusters; what they were made of, if clusters.

    Raises:
        DataError: what the readers raise.
    """
    if not path.is_dir() and not holds_clusters(read_text(path)):
        return read_labels(path, official=official), None
    predictions = read_output(gap_texts(data), [path], ids=ids, spans=spans)
    known = {instance.id: instance for instance in data.instances}
    found = {
        id_: labels_of(known[id_], prediction.clusters) if id_ in known else Labels(None, None)
        for id_, prediction in predictions.documents.items()
    }
    predictions = replace(predictions, reading={"labels": "pronoun's-cluster", **predictions.reading})
    return SystemLabels(found, _together(list(predictions.files.values())), 0, 0, path), predictions


def _together(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()
