"""What every corpus reader shares: the value that it returns, the notes it takes, the gender in a
field; and the sentences of a corpus as a file for a system to translate, in a form that `mtbias
score` takes back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, Self, TypeVar

from mtbias.corpora import entity_place as locate
from mtbias.english.gender_swap import pronouns_contradict
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, sha256_of
from mtbias.types import Gender, Instance, SourceSentence, frozen

GENDER = "gender"
"""The measure of corpora that name no other: of sentences with an entity and its gender."""


S = TypeVar("S", bound=SourceSentence)
S_co = TypeVar("S_co", bound=SourceSentence, covariant=True)


@frozen
class Corpus(Generic[S_co]):
    """A corpus as read: its instances in the file's order, and what was noticed on the way."""

    name: str
    """The data set's name, such as ``winomt``."""
    path: Path
    """The file that holds the sentences."""
    sha256: str
    """SHA-256 of that file's bytes, in hexadecimal."""
    instances: tuple[S_co, ...]
    notes: Mapping[str, int]
    """What was repaired, skipped or noticed, in plain English, with the number of times."""
    skipped: int = 0
    """Rows of the file that became no instance; the notes say why."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Every file that was read, by name, with its SHA-256: what decides the instances, stereotypes
    included."""
    measure: str = GENDER
    """What it is measured by (`mtbias.scoring.measure`)."""
    source_lang: str = "en"
    """ISO code of the language of the sources."""
    given: Mapping[str, str] = field(default_factory=dict)
    """By id what a system is given in place of the source; empty where it is given the source."""

    @property
    def rows(self) -> int:
        """Rows of the file: instances plus skipped rows."""
        return len(self.instances) + self.skipped

    @property
    def has_entities(self) -> bool:
        """Whether its sentences have an entity and its gender (`mtbias.types.Instance`)."""
        return all(isinstance(instance, Instance) for instance in self.instances)

    def part(self, ids: Collection[str]) -> Self:
        """The sentences with these ids as a corpus of their own.

        Its name has the number of the sentences, that of the corpus, and a hash of their ids, so
        that other sentences are another corpus.
        """
        kept = [instance for instance in self.instances if instance.id in ids]
        which = sha256_of(" ".join(instance.id for instance in kept))[:8]
        return replace(
            self,
            name=f"{self.name}-{len(kept)}-of-{len(self.instances)}-{which}",
            instances=tuple(_linked_within(instance, ids) for instance in kept),
            skipped=0,
        )

    def spread(self, count: int | None) -> Self:
        """`count` sentences, evenly spread, as a corpus of their own (`part`); None, or as many as
        there are: the corpus.
        """
        total = len(self.instances)
        if count is None or count >= total:
            return self
        return self.part({self.instances[n * total // count].id for n in range(count)})


def _linked_within(instance: S, ids: Collection[str]) -> S:
    """The instance without links to others than these."""
    if not isinstance(instance, Instance):
        return instance
    pair = instance.pair if instance.pair in ids else None
    control = instance.control if instance.control in ids else None
    return replace(instance, pair=pair, control=control)


class Notes:
    """Counts what a reader notices; becomes `Corpus.notes`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, what: str, times: int = 1) -> None:
        """Count `what`."""
        if times:
            self.counts[what] = self.counts.get(what, 0) + times

    def add_file(self, file: TextFile) -> None:
        """Count what the bytes of `file` show."""
        self.add("byte-order mark dropped", int(file.bom))
        self.add("file with Windows line ends", int(file.crlf))

    def add_place(self, source: str, place: locate.Located, entity: str) -> None:
        """Count what it took to find `entity`, written as the corpus has it, at `place` in
        `source`.
        """
        if place.how == locate.CORRECTED:
            self.add("entity index corrected")
        elif place.how == locate.NEAREST:
            self.add("entity index corrected to the nearest of several")
        if source[slice(*place.head)] not in entity:
            self.add("profession with other capitals in the sentence")

    def corpus(
        self,
        name: str,
        file: TextFile,
        instances: Sequence[S],
        skipped: int = 0,
        beside: Mapping[str, str] = MappingProxyType({}),
        measure: str = GENDER,
        given: Mapping[str, str] = MappingProxyType({}),
        source_lang: str = "en",
    ) -> Corpus[S]:
        """The corpus that was read from `file`, and from the files `beside` it (name → SHA-256),
        with these notes.
        """
        return Corpus(
            name=name,
            path=file.path,
            sha256=file.sha256,
            instances=tuple(instances),
            notes=self.counts,
            skipped=skipped,
            files={**file.hashes, **beside},
            measure=measure,
            source_lang=source_lang,
            given=dict(given),
        )


CONTRADICTED = "gold gender that every gendered pronoun of the sentence contradicts"
"""The note of rows whose gold is the other gender than that of all pronouns."""


def with_contradictions(corpus: Corpus[S]) -> Corpus[S]:
    """The corpus with the note `CONTRADICTED`, where its sentences are English and some have such a
    gold.
    """
    if corpus.source_lang != "en":
        return corpus
    contradicted = 0
    for instance in corpus.instances:
        if isinstance(instance, Instance):
            contradicted += pronouns_contradict(instance.source, instance.entity, instance.gold)
    if not contradicted:
        return corpus
    return replace(corpus, notes={**corpus.notes, CONTRADICTED: contradicted})


GENDERS = {name: each for each in Gender for name in (each.value, each.value[0])}
"""By the words and letters that files have."""


def gender(text: str, path: Path, line: int) -> Gender:
    """The gender written in `text`: male, female, neutral, or m, f, n, in any case.

    Raises:
        DataError: anything else.
    """
    found = GENDERS.get(text.strip().lower())
    if found is None:
        message = f"gender: expected male, female or neutral (or m, f, n), got {text!r}"
        raise DataError(message, path=path, line=line)
    return found


def source_lines(corpus: Corpus[Any], form: Literal["text", "tsv", "jsonl"]) -> Iterator[str]:
    """The lines of the file, in the corpus's order, without their line ends.

    ``text`` has the sources alone; ``tsv`` a header and id and source; ``jsonl`` objects of id and
    source.

    Raises:
        DataError: a source of ``text`` or ``tsv`` is empty or holds a line break or, of ``tsv``, a
            tab; a system that reads lines would return another number of them, and every
            translation below would be that of another sentence.
    """
    if form == "tsv":
        yield "id\tsource"
    for instance in corpus.instances:
        id_, source = instance.id, instance.source
        if form == "jsonl":
            yield json.dumps({"id": id_, "source": source}, ensure_ascii=False)
            continue
        cells = [source] if form == "text" else [id_, source]
        for cell in cells:
            # All that Python takes for the end of a line, U+2028 among them: systems read lines in
            # that way, too.
            if cell.splitlines() != [cell] or (form == "tsv" and "\t" in cell):
                wrong = "a sentence in one line" + (" without tabs" if form == "tsv" else "")
                message = f"sentence {id_!r}: expected {wrong}, got {cell!r}; use --format jsonl"
                raise DataError(message, path=corpus.path)
        yield "\t".join(cells)
