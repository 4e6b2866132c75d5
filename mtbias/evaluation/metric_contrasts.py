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
from mtbias.files.writing import write_atomic, write_table
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
    """The user's own contrasts: a table with ``source``, ``feminine`` and ``masculine``; the
    person's ``gender`` if the source shows one; and ``pair`` for sources that differ in gender
    alone.

    Raises:
        DataError: a column is missing, a cell is empty, a gender is invalid, or an id occurs twice,
            or a gender twice in a pair; with the line.
    """
    table = read_table(path, "source", "feminine", "masculine")
    contrasts: dict[str, Contrast] = {}
    pairs: set[tuple[str, Gender]] = set()
    for n, record in enumerate(table.records, 1):
        texts = {name: record.get(name) for name in ("source", "feminine", "masculine")}
        for name, text in texts.items():
            if not text:
                raise record.error(f"{name}: expected a text, got nothing")
        name = record.get("id") or str(n)
        if name in contrasts:
            message = "expected another id for each row, whose number it is where none is given"
            raise record.error(f"{message}; got {name!r:.80} twice")
        translations = {Gender.FEMALE: texts["feminine"], Gender.MALE: texts["masculine"]}
        gender = _gender(record.get("gender") or UNKNOWN, record.error)
        pair = record.get("pair") or name
        _note_pair(pairs, pair, gender, record.error)
        contrasts[name] = Contrast(name, texts["source"], gender, pair, translations)
    return list(contrasts.values())


def _note_pair(
    pairs: set[tuple[str, Gender]],
    pair: str,
    gender: Gender | None,
    error: Callable[[str], DataError],
) -> None:
    """Add the gender of a pair to `pairs`, where it must not be."""
    if gender is None:
        return
    if (pair, gender) in pairs:
        message = "expected at most one source about a woman and one about a man in a pair"
        raise error(f"{message}, got a second about a {gender} person in {pair!r:.80}")
    pairs.add((pair, gender))


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
    """Write a file of contrasts.

    Raises:
        MtbiasError: as `write_table`.
    """
    write_table(path, chain.from_iterable(contrast.rows() for contrast in contrasts), COLUMNS)


def read_scored(contrasts: Path, scores: Path) -> tuple[str, list[ScoredContrast]]:
    """The name of a metric with the hashes of both files, and the contrasts with their scores; the
    scores are a table with ``id`` and one column of the metric's name, or the answers of a model to
    the requests of `write_requests`.

    Raises:
        DataError: a column, a form or a score is missing, or an id occurs twice, or a gender twice
            in a pair; with the line.
    """
    table = read_table(contrasts, *COLUMNS)
    sentences: dict[str, SourceSentence] = {}
    for n, row in enumerate(table.records):
        id_ = row.get("id")
        if id_ in sentences:
            raise row.error(f"id {id_!r:.80} occurs twice; keep one of the rows")
        sentences[id_] = SourceSentence(id_, n, row.get("source"))
    if is_answers(scores):
        file, answers = read_answers(scores, sentences)
        return _signature(f"judge#{file.sha256[:16]}", table), list(_scored(table, answers))
    metric = read_scores(scores)
    if metric.key != "id":
        raise metric.table.file.error("expected the column 'id', got 'source' alone", 1)
    scored = _scored(table, metric.by_instance(list(sentences.values())))
    return _signature(metric.label, table), list(scored)


def _signature(metric: str, contrasts: Table) -> str:
    return f"metric:{metric}|contrasts:sha256:{contrasts.file.sha256[:16]}"


def _scored(table: Table, scores: Mapping[str, float]) -> Iterator[ScoredContrast]:
    waiting: dict[str, tuple[Gender, float]] = {}
    pairs: set[tuple[str, Gender]] = set()
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
        gender, pair = _gender(record.get("gender"), record.error), record.get("pair")
        _note_pair(pairs, pair, gender, record.error)
        yield ScoredContrast(gender, pair, both[Gender.FEMALE], both[Gender.MALE])
    if waiting:
        raise table.file.error(
            f"expected two translations of each, got one of {min(waiting)!r:.80}"
        )
