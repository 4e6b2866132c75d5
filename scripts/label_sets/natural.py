"""Natural text: persons of Wikipedia and of first-person sentences, labelled by sentence.

The labels are those of ``tests/natural``, whose README has the conventions and names the texts,
which are public data and no part of mtbias: they are read from the folder that ``MTBIAS_SHARED``
names (default ``../shared``). All sentences of a language are aligned together, those of all parts;
with ``--alone`` 25 at a time, as in a newcomer's first file. Portuguese, which is measured where it
is asked for, is analysed by Apertium (``scripts/apertium_tagger.py``), all others by Stanza.

Of the persons that are kept (``keep`` 1) it prints, with the rows that are the denominator:

- head: the first aligned word overlaps the labelled head, of rows that have one;
- agreement: the call is the label, of rows whose noun, determiner or adjective shows a gender
  (basis N, D);
- wrong: another gender is called, of the same rows;
- silent: a gender is called, of rows that show none or leave the person out (basis X).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from mtbias.align import Aligner, Pair
from mtbias.corpora.mt_geneval import REFERENCE, read_mt_geneval_context
from mtbias.errors import DataError
from mtbias.evaluation.gender_calls import make_aligner
from mtbias.files.reading import Record, parse_tabs, read_table, read_text
from mtbias.files.text_repair import repair
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import Aligner as AlignerName
from mtbias.settings import EvaluatorSettings, EvidenceReader
from mtbias.translate.bitext import read_bitext
from mtbias.types import Gender, Span, frozen
from scripts.labelled import (
    BY_APERTIUM,
    PART,
    Chosen,
    Counts,
    Evidence,
    Judged,
    LabelledPair,
    files_of,
    judge,
    labelled_head,
    line_of,
    lines_of,
    named_entity,
    of_part,
    require_data,
    share,
    shared_data,
)

FILES = files_of("natural")
LABELS = {"m": Gender.MALE, "f": Gender.FEMALE, "n": Gender.NEUTRAL, "none": None}
COLUMNS = ("text", "start", "entity", "head", "label", "basis", "keep", "part", "second", "note")
ALONE = 25
"""Sentences that are aligned together with ``--alone``."""

Part = Literal[
    "dev", "held-out", "held-out-2", "held-out-3", "held-out-4", "held-out-5", "held-out-6", "all"
]
Texts = dict[str, tuple[str, str]]
"""Name of a text → source and translation."""


@frozen
class Person(LabelledPair):
    """One labelled person of one sentence."""

    basis: str
    """N: the noun's form, D: determiner or adjective in the phrase, P: a predicate alone, X:
    nothing."""


def read_texts(lang: str, data: Path) -> Texts:
    """The texts of a language by the name that the labels give them (``geneval-4``,
    ``context-0012``, ``bing-7``).

    Raises:
        DataError: a file is missing.
    """
    require_data(data)
    texts: Texts = {}
    try:
        for read in _READERS[lang]:
            texts |= read(lang, data)
    except DataError as error:
        raise DataError(
            f"{lang}: expected the texts that tests/natural/README.md names: {error}"
        ) from error
    return texts


def _marked_persons(lang: str, data: Path) -> Texts:
    file = read_text(data / "mtgeneval" / "entities" / f"geneval.en-{lang}.tsv")
    records = parse_tabs(file, quoted=True).records
    return {
        f"geneval-{each.get('id')}": (each.get("source"), each.get(REFERENCE)) for each in records
    }


def _second_sentences(lang: str, data: Path) -> Texts:
    contextual = read_mt_geneval_context(data / "mtgeneval" / "context", lang)
    return {sentence.id: (sentence.second, sentence.reference) for sentence in contextual.instances}


def _counterfactual_sentences(lang: str, data: Path) -> Texts:
    texts: Texts = {}
    for form in ("feminine", "masculine"):
        stem = data / "mtgeneval" / "sentences" / f"geneval-sentences-{form}-test.en_{lang}"
        sources, targets = lines_of(Path(f"{stem}.en")), lines_of(Path(f"{stem}.{lang}"))
        for number, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
            texts[f"{form}-{number}"] = source, target.strip()
    return texts


def _first_person(lang: str, data: Path) -> Texts:
    texts: Texts = {}
    for system in ("amazon_translate", "nllb_3b"):
        table = read_table(data / "gest" / "translations" / system / f"{lang}.csv", "from", "to")
        for record in table.records:
            target = record.raw("to").replace("\n", " ")
            texts[f"{system}-{record.row + 1}"] = record.raw("from"), target
    return texts


def _winomt(lang: str, data: Path) -> Texts:
    texts: Texts = {}
    sources = [line.split("\t")[2] for line in lines_of(data / "winomt" / "en.txt")]
    for system in ("google", "bing"):
        file = data / "winomt" / "translations" / system / f"en-{lang}.txt"
        by_source = dict(read_bitext(file))
        for number, source in enumerate(sources):
            if source in by_source:
                texts[f"{system}-{number}"] = source, by_source[source]
    return texts


_READERS: Mapping[str, Sequence[Callable[[str, Path], Texts]]] = {
    "ar": (_counterfactual_sentences, _second_sentences),
    "cs": (_first_person,),
    "de": (_marked_persons, _second_sentences),
    "es": (_marked_persons, _second_sentences),
    "fr": (_second_sentences,),
    "he": (_winomt,),
    "it": (_counterfactual_sentences, _second_sentences),
    "pt": (_counterfactual_sentences,),
    "ru": (_counterfactual_sentences, _second_sentences),
    "uk": (_first_person,),
}


def read_persons(lang: str, data: Path) -> list[Person]:
    """The persons of a language that are kept.

    Raises:
        DataError: a text is missing, or a label does not fit its sentence.
    """
    return persons_in(FILES[lang], read_texts(lang, data))


def persons_in(path: Path, texts: Mapping[str, tuple[str, str]]) -> list[Person]:
    """The persons of a file of labels that are kept.

    Raises:
        DataError: a label does not fit its sentence.
    """
    records = read_table(path, *COLUMNS).records
    return [_person(record, texts) for record in records if record.get("keep") == "1"]


def _person(record: Record, texts: Mapping[str, tuple[str, str]]) -> Person:
    name = record.get("text")
    if name not in texts:
        raise record.error(f"expected a text of the sources, got {name!r}")
    source, target = texts[name]
    target = repair(target).text  # as `mtbias eval` reads it
    start, end = named_entity(record, source)
    # The mark may hold more than the head ("police chief"): the head is its last word, as in every
    # corpus.
    noun = re.sub(r"['’]s?$", "", source[start:end])
    last = re.split(r"[\s-]", noun)[-1].strip(".,'’")
    end = start + len(noun)
    return Person(
        pair=Pair(f"{name}@{start}", source, target, Span(end - len(last), end), noun.lower()),
        head=labelled_head(record, target),
        gender=LABELS[record.get("label")],
        part=record.get("part"),
        note=record.get("note"),
        basis=record.get("basis"),
    )


def evaluate(
    lang: str,
    data: Path,
    stanza_dir: Path,
    *,
    part: Part,
    alone: bool = False,
    evidence: EvidenceReader = "tables",
    aligner: Aligner | None = None,
) -> list[Judged[Person]]:
    """The persons of `part` with the calls on them; the other parts' sentences help alignment."""
    judged = judge(
        read_persons(lang, data),
        lang,
        stanza_dir,
        together=ALONE if alone else None,
        evidence=evidence,
        aligner=aligner,
    )
    return of_part(judged, part)


def count(rows: Sequence[Judged[Person]]) -> Counts:
    """(rows, of rows) by the names of the module's docstring."""
    showing = [row for row in rows if row.label.basis in "ND"]
    return {
        "head": share(row.head_right for row in rows if row.label.head is not None),
        "agreement": share(row.gender_right for row in showing),
        "wrong": share(row.gender_wrong for row in showing),
        "silent": share(row.call.gender is not None for row in rows if row.label.basis == "X"),
    }


def is_wrong(row: Judged[Person]) -> bool:
    """The head or the call is not the labelled one; a predicate alone (basis P) is not counted."""
    misplaced = row.label.head is not None and not row.head_right
    return misplaced or (row.label.basis != "P" and not row.gender_right)


def line(lang: str, rows: Sequence[Judged[Person]]) -> str:
    """The line of one language."""
    bases = Counter(row.label.basis for row in rows)
    listed = ", ".join(f"{basis} {bases[basis]}" for basis in "NDPX")
    return f"{line_of(lang, count(rows))}  of {len(rows)}: {listed}"


def natural(
    choice: Chosen,
    *,
    part: Annotated[Part, PART] = "dev",
    alone: bool = False,
    evidence: Evidence = "tables",
    aligner: AlignerName = "statistical",
    aligner_model: str | None = None,
) -> int:
    """Persons of natural text, labelled by sentence (tests/natural).

    Parameters
    ----------
    alone
        Align 25 persons at a time.
    aligner
        What finds the heads, as the option of mtbias eval; what an encoder was asked is printed
        below the language.
    aligner_model
        The aligner's encoder.
    """
    settings = EvaluatorSettings(aligner=aligner, aligner_model=aligner_model)

    def run(code: str) -> None:
        chosen = make_aligner(MeasureOptions(lang=code, settings=settings, device=None))
        rows = evaluate(
            code,
            shared_data(),
            choice.stanza_dir,
            part=part,
            alone=alone,
            evidence=evidence,
            aligner=chosen,
        )
        if not rows:
            print(f"{code}  no persons in this part")
            return
        asked = getattr(chosen, "execution", {})
        lines = [line(code, rows), *(f"    {name} {value}" for name, value in asked.items())]
        wrong = [row.described(row.label.basis) for row in rows if is_wrong(row)]
        choice.show("\n".join(lines), wrong)

    return choice.each(FILES, run, unasked=BY_APERTIUM)
