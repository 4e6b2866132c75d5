"""MT-GenEval, contextual part: two sentences of Wikipedia, of which the first tells a gender that the second does not.

Each language has sentences of its own, about 1,100, in three files whose lines belong together (Currey et al. 2022):
``geneval-context-wikiprofessions-2to1-test.en_LANG.en`` with lines ``first <sep> second``, and references of the second
sentence, ``…-original-test.en_LANG.LANG`` as the source says it, ``…-flipped-test.en_LANG.LANG`` in the other gender.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mtbias.corpora.corpus import Corpus, Notes
from mtbias.corpora.parallel_files import read_parallel
from mtbias.english.pronouns import pronouns_gender
from mtbias.files.reading import TextFile
from mtbias.types import Gender, SourceSentence

NAME = "mt-geneval-context"
SEPARATOR = "<sep>"
"""Stands between the two sentences of a line."""


@dataclass(frozen=True, slots=True)
class ContextualSentence(SourceSentence):
    """A sentence whose gender the sentence before it tells; `source` is both of them, with the separator."""

    context: str
    """The first sentence; empty in the few lines that begin with the separator."""
    second: str
    told: Gender | None
    """The gender of the context's pronouns (`mtbias.english.pronouns.pronouns_gender`)."""
    reference: str
    """The human translation of the second sentence."""
    other_reference: str
    """The same in the other gender."""


def read_mt_geneval_context(folder: Path, lang: str) -> Corpus[ContextualSentence]:
    """Read the sentences of `lang` from the folder of the published files.

    Ids are ``context-0001`` and so on; line k of each file is sentence k. A system is given both sentences with a blank
    between them, without the separator (`Corpus.given`).

    Raises:
        UsageError: the folder has no sentences of this language; the message lists those it has.
        DataError: it is no folder, a file is missing, is empty, has another number of lines than the first, or an empty
            line; a line of the sources does not have one separator, or nothing after it.
    """
    read = read_parallel(NAME, folder, lang, _names)
    sources, originals, flipped = read
    notes = Notes()
    instances = []
    for row, (source, reference, other) in enumerate(zip(*(each.lines for each in read), strict=True)):
        context, second = _parts(source, sources.file, row + 1)
        id_ = f"context-{row + 1:04d}"
        if not context:
            notes.add("sentence without a context", id_)
        told = pronouns_gender(context)
        instances.append(ContextualSentence(id_, row, source, context, second, told, reference, other))
    return Corpus(
        name=NAME,
        path=sources.file.path,
        sha256=sources.file.sha256,
        instances=tuple(instances),
        notes=notes.counts,
        files={each.file.path.name: each.file.sha256 for each in (sources, originals, flipped)},
        measure=NAME,
        examples=notes.examples(),
        given={each.id: f"{each.context} {each.second}".strip() for each in instances},
    )


def _names(lang: str) -> list[str]:
    kinds = {"2to1": "en", "original": lang, "flipped": lang}
    return [f"geneval-context-wikiprofessions-{kind}-test.en_{lang}.{side}" for kind, side in kinds.items()]


def _parts(source: str, file: TextFile, line: int) -> tuple[str, str]:
    """Both sentences of a line."""
    parts = [part.strip() for part in source.split(SEPARATOR)]
    if len(parts) != 2:
        raise file.error(f"expected two sentences with one {SEPARATOR} between them, got {len(parts) - 1}", line)
    context, second = parts
    if not second:
        raise file.error(f"expected a sentence after {SEPARATOR}, got nothing", line)
    return context, second
