"""What a report is made of: runs, and the sentences that they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from mtbias.corpora.catalog import catalogued, datasets
from mtbias.corpora.citations import citations
from mtbias.errors import DataError, UsageError
from mtbias.language.definition import Direction
from mtbias.language.installed import get_language
from mtbias.language.source import ENGLISH_CODE, english_name
from mtbias.report.call_steps import explain_command
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring import definitions
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.definitions import Number
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.metrics_records import RunMetrics
from mtbias.scoring.statements import Statement
from mtbias.scoring.whole_person import PersonRecord
from mtbias.types import frozen

_OWN = {"demo": "the demo's sentences", "custom": "sentences of one's own"}
"""What corpora are called that nobody downloads."""
_NAMED = 3
"""Up to so many runs are named in a title."""


@frozen
class ReportRun:
    """A run as it enters the report."""

    name: str
    """What the reader knows it by, unique in the report."""
    lang: str
    """Code of the target language."""
    metrics: RunMetrics
    calls: Sequence[CallRecord] = ()
    """The lines of its `calls.jsonl`; without any the report has no list of sentences."""
    direction: Direction = "ltr"
    """In which direction the target language is written."""
    numbers: Sequence[Number] = definitions.GENDER_NUMBERS
    """What its measure reports."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """By id the whole answer of a language model, where it is more than the translation."""
    date: str = ""
    """On which day it was scored: 2026-11-26."""
    source_lang: str = ENGLISH_CODE
    """Code of the source language."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file of its corpus."""
    explain: str = ""
    """The command that explains one of its sentences, before the sentence's id; empty where it has
    no folder."""
    persons: Sequence[PersonRecord] = ()
    """The lines of its `calls.jsonl`, of a measure of whole persons."""

    @property
    def label(self) -> str:
        """Its name with the language, unless it has it already: ``opus-mt (de)``."""
        return self.name if self.name.endswith(f", {self.lang}") else f"{self.name} ({self.lang})"

    @property
    def system(self) -> str:
        """Its name without the language, which a column of its own has: ``opus-mt``."""
        return self.name.removesuffix(f", {self.lang}")

    @property
    def corpus(self) -> str:
        """Name of the corpus; empty where `metrics.json` does not say."""
        return self.metrics.corpus.name

    @property
    def finding(self) -> Sequence[Statement]:
        """The run's finding, in sentences."""
        return self.metrics.finding

    @property
    def unknown(self) -> ReportRun | None:
        """The numbers of its sentences of unknown gender, where it has others, too."""
        part = self.metrics.unknown
        if part is None:
            return None
        return ReportRun(self.name, self.lang, part, numbers=UNKNOWN_GENDER.numbers)


def report_run(run: FinishedRun, name: str | None = None) -> ReportRun:
    """A finished run under a name, by default its system's; only gender calls are listed sentence
    by sentence.

    Raises:
        UsageError: the language is not installed.
    """
    plain = ReportRun(
        name or run.system,
        run.lang,
        read_metrics(run.metrics),
        numbers=run.numbers,
        date=str(run.manifest.execution.get("date", "")),
        source_lang=run.source_lang,
        files=run.corpus[1],
    )
    if run.kind.reads_persons:
        direction = get_language(run.lang).direction
        return replace(plain, persons=run.calls, direction=direction, explain=explain_command(run))
    if not run.kind.reads_entities:
        return plain
    return replace(
        plain,
        calls=run.calls,
        direction=get_language(run.lang).direction,
        answers=run.answers,
        explain=explain_command(run),
    )


def unknown_parts(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """The parts of unknown gender, one for each run; empty where a run has none."""
    parts = [run.unknown for run in runs if run.unknown is not None]
    return parts if len(parts) == len(runs) else []


def title_and_intro(runs: Sequence[ReportRun]) -> tuple[str, str]:
    """Systems, language and corpus in one line; then what the corpus is, how large, when and by
    what it was scored.
    """
    corpora = dict.fromkeys(run.corpus for run in runs if run.corpus)
    named = listed([corpus_name(name) for name in corpora])
    languages = dict.fromkeys(language_name(run.lang) for run in runs)
    counted = f"{len(runs)} {'runs' if len(languages) > 1 else 'systems'}"
    systems = counted if len(runs) > _NAMED else listed([run.name for run in runs])
    into = f"{len(languages)} languages" if len(languages) > _NAMED else listed([*languages])
    on = f" on {named}" if named else ""
    sources = dict.fromkeys(run.source_lang for run in runs)
    spoken = listed([language_name(code) for code in sources])
    title = f"{systems}: gender in translations from {spoken} into {into}{on}"
    return title, " · ".join(_facts(runs, corpora))


def _facts(runs: Sequence[ReportRun], corpora: Iterable[str]) -> Iterator[str]:
    """What the corpora are, how many sentences were scored, when, and by which mtbias."""
    for name in corpora:
        yield datasets()[name].description if name in datasets() else corpus_name(name)
    sizes = sorted({run.metrics.n for run in runs if run.metrics.n is not None})
    if sizes:
        yield f"{' or '.join(map('{:,}'.format, sizes))} sentences"
    dates = sorted({run.date for run in runs} - {""})
    if dates:
        yield f"scored {' and '.join(dates)}"
    for version in sorted({run.metrics.mtbias for run in runs} - {""}):
        yield f"mtbias {version}"


_PART = re.compile(r"(.+)-(\d+)-of-(\d+)-([0-9a-f]{8})")
"""The name of a part (`mtbias.corpora.corpus.Corpus.part`)."""


def corpus_name(name: str) -> str:
    """``WinoMT``; the name itself for a plugin's corpus. The name of a part has its number of
    sentences and the hash that identifies them.
    """
    part = _PART.fullmatch(name)
    if part:
        corpus, size, whole, digest = part.groups()
        of_all = f"{int(size):,} of {int(whole):,} sentences"
        return f"{corpus_name(corpus)}: {of_all} ({digest})"
    return (
        datasets()[name].description.partition(":")[0]
        if name in datasets()
        else _OWN.get(name, name)
    )


def citations_of(runs: Sequence[ReportRun]) -> list[str]:
    """What to cite beside the numbers of runs: their data sets, as far as they are public, and
    mtbias.
    """
    names = []
    for run in runs:
        name = run.corpus
        part = _PART.fullmatch(name)
        names.append(part[1] if part else name)
    return citations(name for name in names if name in catalogued())


def language_name(code: str) -> str:
    """``German (de)``; the code alone if the language is not installed. English is not a target and
    needs no code.
    """
    if code == ENGLISH_CODE:
        return english_name(code)
    try:
        return f"{get_language(code).name} ({code})"
    except UsageError:
        return code


def listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


@frozen
class Sentence:
    """A sentence of the corpus with what each run made of it; None where a run does not have it."""

    first: CallRecord
    records: tuple[CallRecord | None, ...]


def join_sentences(runs: Sequence[ReportRun]) -> list[Sentence]:
    """The sentences of all runs: one where id, source, entity, gold, stereotype, domain and
    pronouns are the same.
    """
    rows: dict[object, list[CallRecord | None]] = {}
    for number, run in enumerate(runs):
        for r in run.calls:
            key = (r.id, r.source, r.entity, r.gold, r.stereotype, r.domain, r.pronouns)
            rows.setdefault(key, [None] * len(runs))[number] = r
    sentences = []
    for records in rows.values():
        first = next(record for record in records if record is not None)
        sentences.append(Sentence(first, tuple(records)))
    return sentences


def unique_names(named: Sequence[tuple[str, str]]) -> list[str]:
    """Names for runs, given each one's system and language: the system, with the language where
    systems are not unique.

    Raises:
        DataError: two runs have both in common.
    """
    systems, pairs = Counter(system for system, _ in named), Counter(named)
    for (system, lang), times in pairs.items():
        if times > 1:
            raise DataError(
                f"expected one run of a system and language, got {times} of {system!r} in {lang}; "
                "leave one out, or give each run a name of its own with --name"
            )
    return [system if systems[system] == 1 else f"{system}, {lang}" for system, lang in named]
