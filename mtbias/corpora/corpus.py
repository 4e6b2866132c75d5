"""Code that corpus readers share: `Corpus`, notes, the gender in a field; and the sentences of a
corpus as a file for any system to translate, in a form that `mtbias score` reads back.
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
"""The default measure, for sentences with an entity and its gender."""


S = TypeVar("S", bound=SourceSentence)
S_co = TypeVar("S_co", bound=SourceSentence, covariant=True)


@frozen
class Corpus(Generic[S_co]):
    """A corpus: its instances in the file's order, and notes on its files."""

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
    """Rows of the file without an instance; the notes give the reasons."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every file that was read, by name; together they determine the instances."""
    measure: str = GENDER
    """Its measure (`mtbias.scoring.measure`)."""
    source_lang: str = "en"
    """ISO code of the language of the sources."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The input of a system by id, where that is not the source."""

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

        Its name has their number, that of the whole corpus, and a hash of their ids, so that other
        sentences are another corpus.
        """
        selected = [instance for instance in self.instances if instance.id in ids]
        digest = sha256_of(" ".join(instance.id for instance in selected))[:8]
        return replace(
            self,
            name=f"{self.name}-{len(selected)}-of-{len(self.instances)}-{digest}",
            instances=tuple(_linked_within(instance, ids) for instance in selected),
            skipped=0,
        )

    def spread(self, count: int | None) -> Self:
        """`count` sentences, evenly spread, as a corpus of their own (`part`); the whole corpus
        where `count` is None or not smaller.
        """
        total = len(self.instances)
        if count is None or count >= total:
            return self
        return self.part({self.instances[n * total // count].id for n in range(count)})


def _linked_within(instance: S, ids: Collection[str]) -> S:
    """The instance without links to sentences outside `ids`."""
    if not isinstance(instance, Instance):
        return instance
    pair = instance.pair if instance.pair in ids else None
    control = instance.control if instance.control in ids else None
    return replace(instance, pair=pair, control=control)


class Notes:
    """Counts of a reader's observations, for `Corpus.notes`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, what: str, times: int = 1) -> None:
        """Count `what`."""
        if times:
            self.counts[what] = self.counts.get(what, 0) + times

    def add_file(self, file: TextFile) -> None:
        """Count peculiarities of the bytes of `file`."""
        self.add("byte-order mark dropped", int(file.bom))
        self.add("file with Windows line ends", int(file.crlf))

    def add_place(self, source: str, place: locate.EntityPlace, entity: str) -> None:
        """Count how `entity`, as the corpus writes it, was found at `place` in `source`."""
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
        inputs: Mapping[str, str] = MappingProxyType({}),
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
            inputs=dict(inputs),
        )


CONTRADICTED = "gold gender that every gendered pronoun of the sentence contradicts"
"""The note on rows whose gold gender is not that of any gendered pronoun."""


def with_contradictions(corpus: Corpus[S]) -> Corpus[S]:
    """The corpus with the note `CONTRADICTED`, if its sentences are English and some have such a
    gold gender.
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


GENDERS = {each.value: each for each in Gender} | {each.value[0]: each for each in Gender}
"""The genders by their words and letters in files."""


def gender(text: str, path: Path, line: int) -> Gender:
    """The gender written in `text`: male, female, neutral, or m, f, n, in any case.

    Raises:
        DataError: anything else.
    """
    value = GENDERS.get(text.strip().lower())
    if value is None:
        message = f"gender: expected male, female or neutral (or m, f, n), got {text!r}"
        raise DataError(message, path=path, line=line)
    return value


def source_lines(corpus: Corpus[Any], form: Literal["text", "tsv", "jsonl"]) -> Iterator[str]:
    """The lines of a file of sentences, in the corpus's order, without line ends.

    ``text`` has the sources alone; ``tsv`` a header and id and source; ``jsonl`` objects of id and
    source.

    Raises:
        DataError: a source in ``text`` or ``tsv`` is empty or has a line break, or in ``tsv`` a
            tab: a system that reads lines would return another number of them, and each later
            translation would be that of another sentence.
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
            # Any line end in Python, such as U+2028, may be one for a system.
            if cell.splitlines() != [cell] or (form == "tsv" and "\t" in cell):
                wrong = "a sentence in one line" + (" without tabs" if form == "tsv" else "")
                message = f"sentence {id_!r}: expected {wrong}, got {cell!r}; use --format jsonl"
                raise DataError(message, path=corpus.path)
        yield "\t".join(cells)
