"""Contrasts for a metric to score: one source with two translations that differ in gender alone
(`mtbias.scoring.metric_bias`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from mtbias.corpora.mt_geneval import ReferencedSentence
from mtbias.errors import DataError
from mtbias.evaluation.metric_judge import is_answers, judge_requests, read_answers
from mtbias.files.reading import Table, read_table
from mtbias.files.writing import write_atomic
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.metric_bias import UNKNOWN, ScoredContrast
from mtbias.scoring.mt_geneval_words import read_scores
from mtbias.types import Gender, SourceSentence, frozen

COLUMNS = ("id", "source", "translation", "form", "gender", "pair")
"""Of a file of contrasts, which has a row for each translation."""
_FORMS = (Gender.FEMALE, Gender.MALE)


@frozen
class Contrast:
    """One source with a feminine and a masculine translation."""

    name: str
    source: str
    gender: Gender | None
    """Which the source shows."""
    pair: str
    """The same for the contrasts of two sources that differ in gender alone."""
    translations: Mapping[Gender, str]

    @property
    def differs(self) -> bool:
        """Whether its two translations are two."""
        return self.translations[Gender.FEMALE] != self.translations[Gender.MALE]

    def rows(self) -> Iterator[dict[str, str]]:
        """Its two rows in a file (`COLUMNS`)."""
        for form in _FORMS:
            yield {
                "id": self.id_of(form),
                "source": self.source,
                "translation": self.translations[form],
                "form": str(form),
                "gender": str(self.gender or UNKNOWN),
                "pair": self.pair,
            }

    def lines(self) -> Iterator[str]:
        """The same, tab-separated."""
        for row in self.rows():
            yield "\t".join(row[column] for column in COLUMNS)

    def id_of(self, form: Gender) -> str:
        """The id of a translation."""
        return f"{self.name}/{form}"


def contrasts_of_references(sentences: Iterable[ReferencedSentence]) -> list[Contrast]:
    """Those of MT-GenEval: the references of both genders for the sentence of each."""
    contrasts = []
    for each in sentences:
        other = Gender.MALE if each.gender is Gender.FEMALE else Gender.FEMALE
        translations = {each.gender: each.reference, other: each.other_reference}
        pair = min(each.id, each.pair)
        contrasts.append(Contrast(each.id, each.source, each.gender, pair, translations))
    return contrasts


def contrasts_of_run(records: Iterable[CallRecord]) -> list[Contrast]:
    """Those of a run over a corpus with counterfactual pairs: the translations of the two sentences
    where both are right and have as many words as each other.
    """
    by_id = {record.id: record for record in records}
    contrasts = []
    for record in by_id.values():
        other = by_id.get(record.pair or "")
        if other is None or not (_is_right(record) and _is_right(other)):
            continue
        if len(_words(record)) != len(_words(other)) or record.gold is other.gold:
            continue
        translations = {each.gold: each.translation or "" for each in (record, other)}
        if translations.keys() != set(_FORMS):
            continue
        known = {gender: text for gender, text in translations.items() if gender is not None}
        pair = min(record.id, other.id)
        contrasts.append(Contrast(record.id, record.source, record.gold, pair, known))
    return contrasts


def _is_right(record: CallRecord) -> bool:
    return record.gold is not None and record.call.gender is record.gold


def _words(record: CallRecord) -> list[str]:
    return (record.translation or "").split()


def read_own_contrasts(path: Path) -> list[Contrast]:
    """One's own: a table with ``source``, ``feminine`` and ``masculine``, and where the source
    shows one the person's ``gender``, with ``pair`` for sources that differ in gender alone.

    Raises:
        DataError: a column is missing, a cell is empty, or a gender is none; with the line.
    """
    table = read_table(path, "source", "feminine", "masculine")
    contrasts = []
    for n, record in enumerate(table.records, 1):
        texts = {name: record.get(name) for name in ("source", "feminine", "masculine")}
        for name, text in texts.items():
            if not text:
                raise record.error(f"{name}: expected a text, got nothing")
        name = record.get("id") or str(n)
        translations = {Gender.FEMALE: texts["feminine"], Gender.MALE: texts["masculine"]}
        gender = _gender(record.get("gender") or UNKNOWN, record.error)
        pair = record.get("pair") or name
        contrasts.append(Contrast(name, texts["source"], gender, pair, translations))
    return contrasts


def _gender(text: str, error: Callable[[str], DataError]) -> Gender | None:
    if text == UNKNOWN:
        return None
    if text not in (Gender.FEMALE, Gender.MALE):
        raise error(f"gender: expected female, male or {UNKNOWN}, got {text!r:.40}")
    return Gender(text)


def write_requests(path: Path, contrasts: Iterable[Contrast], model: str) -> None:
    """Write what asks a model for scores (`judge_requests`)."""
    rows = chain.from_iterable(contrast.rows() for contrast in contrasts)
    lines = judge_requests(rows, model)
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def write_contrasts(path: Path, contrasts: Iterable[Contrast]) -> None:
    """Write a file of contrasts, tab-separated."""
    lines = ["\t".join(COLUMNS)]
    for contrast in contrasts:
        lines.extend(contrast.lines())
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def read_scored(contrasts: Path, scores: Path) -> tuple[str, list[ScoredContrast]]:
    """The name of a metric with the hashes of both files, and the contrasts with their scores; the
    scores are a table with ``id`` and one column of the metric's name, or the answers of a model to
    the requests of `write_requests`.

    Raises:
        DataError: a column, a form or a score is missing, or an id stands twice; with the line.
    """
    table = read_table(contrasts, *COLUMNS)
    sentences = []
    for n, row in enumerate(table.records):
        sentences.append(SourceSentence(row.get("id"), n, row.get("source")))
    if is_answers(scores):
        file, answers = read_answers(scores, (each.id for each in sentences))
        name = f"judge#{file.sha256[:16]}"
        return _signature(name, table), list(_scored(table, answers))
    given = read_scores(scores)
    if given.key != "id":
        raise given.table.file.error("expected the column 'id', got 'source' alone", 1)
    return _signature(given.label, table), list(_scored(table, given.of(sentences)))


def _signature(metric: str, contrasts: Table) -> str:
    return f"metric:{metric}|contrasts:sha256:{contrasts.file.sha256[:16]}"


def _scored(table: Table, scores: Mapping[str, float]) -> Iterator[ScoredContrast]:
    waiting: dict[str, tuple[Gender, float]] = {}
    for record in table.records:
        name, _, form = record.get("id").rpartition("/")
        if form not in (Gender.FEMALE, Gender.MALE) or form != record.get("form"):
            message = "expected an id that ends with /female or /male, as its form"
            raise record.error(f"{message}, got {record.get('id')!r:.80}")
        score = scores[record.get("id")]
        if name not in waiting:
            waiting[name] = Gender(form), score
            continue
        both = dict([waiting.pop(name), (Gender(form), score)])
        gender = _gender(record.get("gender"), record.error)
        yield ScoredContrast(gender, record.get("pair"), both[Gender.FEMALE], both[Gender.MALE])
    if waiting:
        raise table.file.error(
            f"expected two translations of each, got one of {min(waiting)!r:.80}"
        )
