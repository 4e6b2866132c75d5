"""GEST: English sentences in the first person, each with one of 16 stereotypes (Pikuliak et al.
2024).
"""

from __future__ import annotations

from pathlib import Path

from mtbias.corpora.corpus import Corpus, Notes
from mtbias.corpora.corpus_kinds import AskedCorpus, CorpusKind
from mtbias.files.reading import read_table, refuse_long
from mtbias.types import SourceSentence, frozen

NAME = "gest"
STEREOTYPES = 16
"""Their number; 1 to 7 are about women, 8 to 16 about men (`docs/metrics/gest.md`)."""


@frozen
class SpeakerSentence(SourceSentence):
    """A sentence in the first person whose source does not show the speaker's gender."""

    stereotype: int
    """Number of its stereotype (1 to `STEREOTYPES`)."""


def read_gest(path: Path) -> Corpus[SpeakerSentence]:
    """Read the table `path` with the columns ``sentence`` and ``stereotype``: ``gest.csv``, or the
    later ``gest_1.1.csv``.

    Ids are ``gest-0001`` and so on, in the order of the file. `path` may be the folder of
    ``gest.csv``.

    Raises:
        DataError: there is no such file, a column is missing, or a row lacks a sentence or a
            stereotype from 1 to 16.
    """
    table = read_table(path / "gest.csv" if path.is_dir() else path, "sentence", "stereotype")
    sentences = []
    for record in table.records:
        source, stereotype = record.get("sentence"), record.get("stereotype")
        if not source or "\n" in source:
            raise record.error(f"sentence: expected a sentence in one line, got {source!r:.80}")
        refuse_long(source, "sentence", record.path, record.line)
        if stereotype not in map(str, range(1, STEREOTYPES + 1)):
            raise record.error(
                f"stereotype: expected a number from 1 to {STEREOTYPES}, got {stereotype!r}"
            )
        sentences.append(
            SpeakerSentence(f"gest-{record.row + 1:04d}", record.row, source, int(stereotype))
        )
    return Notes().corpus(NAME, table.file, sentences, measure=NAME)


class GestKind(CorpusKind):
    """GEST."""

    def read(self, request: AskedCorpus) -> Corpus[SpeakerSentence]:
        """See `CorpusKind`."""
        return read_gest(request.file)


GEST_KIND = GestKind()
