"""A file of human labels: languages validated on it, and runs corrected for the errors that the labels show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.corpora import load_corpus
from mtbias.corpora.human_labels import read_label_file
from mtbias.errors import DataError, SettingError
from mtbias.evaluation.gender_calls import GENDER as GENDER_MEASURE
from mtbias.evaluation.validation import Validation, together, validate
from mtbias.language.installed import get_language
from mtbias.report.validation_page import LabelledLanguage, render_page
from mtbias.report.validation_table import render_validation
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.scoring.bias import count
from mtbias.scoring.correction import CORRECTED, Correction, correct
from mtbias.scoring.counting import Counts
from mtbias.scoring.definitions import GENDER, named
from mtbias.scoring.measure import MeasureOptions
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER
from mtbias.settings import EvaluatorSettings
from mtbias.stats.results import N_RESAMPLES, minus, percent_of, rounded
from mtbias.translate.bitext import read_bitext
from mtbias.types import Progress, Reason, quiet

MOST = 50.0
"""Where more of a correction than this, in per cent, comes from such labels, there is a warning."""


@dataclass(frozen=True)
class CorrectedRun:
    """A run's numbers corrected with the confusion that human labels show."""

    system: str
    lang: str
    corpus: str
    confusion_of: tuple[str, ...]
    """Languages whose labels the confusion rests on."""
    basis: tuple[str, ...]
    correction: Correction
    signature: str
    """The run's."""
    on_pronouns: int
    """Labels behind the confusion that follow a pronoun, alone or against the phrase (basis P or C)."""
    from_pronouns: Mapping[str, float | None]
    """By the names of `CORRECTED`: what part of the correction goes where these labels are left out, in per cent."""

    @property
    def warning(self) -> str | None:
        """What must be read before the corrected numbers; None where there is nothing of that kind.

        Where most of a correction comes from labels that follow a pronoun, the evaluator and the people have answered
        two questions (what does the noun phrase show, what does the sentence show), and the correction turns one into
        the other instead of removing errors.
        """
        shares = ", ".join(
            f"{min(share, 100):.0f} % of that of {named(GENDER, key).label}"
            for key, share in self.from_pronouns.items()
            if share is not None and share > MOST
        )
        if not shares:
            return None
        return (
            f"{self.on_pronouns} labels rest on a pronoun, alone or against the noun phrase (basis P or C), which the "
            f"evaluator does not read; most of the correction comes from them: {shares}. It is a difference of "
            "definition, not of errors; --basis N --basis D leaves such labels out"
        )

    def to_json(self) -> dict[str, Any]:
        """A plain value: per cent, rounded to 6 decimals, null where undefined."""
        return {
            "system": self.system,
            "lang": self.lang,
            "corpus": self.corpus,
            "confusion_of": list(self.confusion_of),
            "basis": list(self.basis),
            "warning": self.warning,
            "labels_on_pronouns": self.on_pronouns,
            "percent_from_pronouns": rounded(dict(self.from_pronouns)),
            **self.correction.to_json(),
            "signature": self.signature,
        }


def correct_run(
    run: FinishedRun,
    validations: Sequence[Validation],
    *,
    pool: bool = False,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> CorrectedRun:
    """Correct a run's accuracy, ΔG and ΔS with the confusion of its language, or of all languages together.

    One of `validations` must be of the run's language, by the evaluator that scored the run. With `pool` the confusions
    of all of them are added up: the evaluator is taken to err alike in all. `n_resamples` and `seed` are those of
    `mtbias.scoring.correction.correct`.

    Raises:
        DataError: the run's language was not validated, another evaluator called it, or a gender has no labels.
    """
    _check_language(run, [v.lang for v in validations])
    own = next(v for v in validations if v.lang == run.lang)
    keys = dict.fromkeys((*own.evaluator, *run.evaluator))
    other = [key for key in keys if run.evaluator.get(key) != own.evaluator.get(key)]
    if other:
        key = other[0]
        raise DataError(
            f"{run.path}: expected a run that this evaluator scored ({key} {own.evaluator.get(key)}), got {key} "
            f"{run.evaluator.get(key)}; score the translations again"
        )
    if run.counting is UNKNOWN_GENDER:
        raise DataError(
            f"{run.path}: expected sentences that show a gender, got none; what is corrected is accuracy, ΔG and ΔS"
        )
    used = list(validations) if pool else [own]
    calls = run.known.calls
    counts = count((r.gold, r.stereotype, r.call.gender) for r in calls)
    blank: Counts = count((r.gold, r.stereotype, None) for r in calls if r.call.reason is Reason.UNTRANSLATED)
    how: dict[str, Any] = {"untranslated": blank[..., -1], "n_resamples": n_resamples, "seed": seed}
    try:
        correction = correct(counts, sum((v.report.counts for v in used[1:]), start=used[0].report.counts), **how)
    except DataError as error:
        raise DataError(f"{run.lang}: {error}") from error
    on_pronouns, confusions = zip(*(v.on_pronouns() for v in used), strict=True)
    return CorrectedRun(
        system=run.system,
        lang=run.lang,
        corpus=run.corpus[0],
        confusion_of=tuple(v.lang for v in used),
        basis=own.basis,
        correction=correction,
        signature=str(run.metrics.get("signature")),
        on_pronouns=sum(on_pronouns),
        from_pronouns=_gone(correction, counts, sum(confusions[1:], start=confusions[0]), how)
        if any(on_pronouns)
        else dict.fromkeys(CORRECTED),
    )


def _gone(whole: Correction, counts: Counts, confusion: Counts, how: Mapping[str, Any]) -> dict[str, float | None]:
    """What part of a correction is not there with another confusion, by number; in per cent, None where undefined."""
    try:
        part = correct(counts, confusion, **how)
    except DataError:  # no label of a gender is left: all that is known of it comes from the labels that are not there
        return dict.fromkeys(CORRECTED, 100.0)
    gone: dict[str, float | None] = {}
    for key in CORRECTED:
        with_all = whole.corrected[key].value
        change, corrected = (minus(with_all, each[key].value) for each in (part.corrected, whole.called))
        gone[key] = None if change is None or corrected is None else percent_of(change, corrected)
    return gone


@dataclass(frozen=True)
class Validations:
    """The labels of several languages, and the runs that were corrected with them."""

    languages: tuple[Validation, ...]
    corrections: tuple[CorrectedRun, ...]

    @property
    def whole(self) -> Validation:
        """All languages together, or the one."""
        return self.languages[0] if len(self.languages) == 1 else together(self.languages)

    def to_json(self, *, rows: bool = False) -> dict[str, Any]:
        """One language: its numbers. Several: ``languages`` by code, and ``all``. With runs: ``corrections``.

        With `rows` each language has its rows of disagreement, too.
        """
        parts = {v.lang: {**v.to_json(), **({"differing": v.differing_json()} if rows else {})} for v in self.languages}
        content = next(iter(parts.values())) if len(parts) == 1 else {"languages": parts, "all": self.whole.to_json()}
        return {**content, "corrections": self._corrections()} if self.corrections else content

    def _corrections(self) -> list[dict[str, Any]]:
        return [each.to_json() for each in self.corrections]

    def text(self) -> str:
        """The tables for a terminal."""
        return render_validation([v.to_json() for v in self.languages], self.whole.to_json(), self._corrections())

    def page(self) -> str:
        """The page with all of it, HTML in one file."""
        parts = [
            LabelledLanguage(v.to_json(), get_language(v.lang).direction, tuple(v.differing())) for v in self.languages
        ]
        return render_page(parts, self.whole.to_json(), self._corrections())

    def rows(self, *, jsonl: bool = False) -> list[str]:
        """The rows of disagreement, as JSON or to be read."""
        if jsonl:
            rows = ({"lang": v.lang, **row} for v in self.languages for row in v.differing_json())
            return [json.dumps(row, ensure_ascii=False) for row in rows]
        several = len(self.languages) > 1
        return [f"{v.lang}, {row}" if several else row for v in self.languages for row in v.disagreements()]


def validate_file(
    gold: Path,
    langs: Sequence[str],
    *,
    settings: EvaluatorSettings,
    translations: Sequence[Path] = (),
    data: Path | None = None,
    annotator: str = "1",
    basis: Sequence[str] = (),
    runs: Sequence[Path] = (),
    pool: bool = False,
    device: str | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    progress: Progress = quiet,
) -> Validations:
    """Compare the evaluator with a file of human labels, as ``mtbias validate`` does, and correct runs for its errors.

    Args:
        gold: the labels (`mtbias.corpora.human_labels.read_label_file`).
        langs: codes of the languages.
        settings: the evaluator's.
        translations: files of further pairs to learn alignment from (`mtbias.translate.bitext.read_bitext`), or folders
            that have them as en-CODE.txt.
        data: WinoMT, for labels without entity and word index; by default that of the cache.
        annotator: whose labels.
        basis: count only labels that rest on one of these.
        runs: folders of runs to correct (`correct_run`), with `pool`, `n_resamples` and `seed`.
        pool: see there.
        device: where Stanza runs.
        n_resamples: see there.
        seed: see there.
        progress: see `mtbias.types.Progress`.

    Raises:
        UsageError: a language is not installed.
        MtbiasError: labels, translations or runs are missing or do not fit.
    """
    langs = list(dict.fromkeys(langs))
    for lang in langs:
        get_language(lang)  # an unknown one is refused before anything is read
    finished = _read_runs(runs, langs)
    file = read_label_file(gold)
    instances = load_corpus("winomt", data, cache=settings.cache_dir).instances if file.needs_winomt else ()
    winomt = {instance.row: instance for instance in instances} if file.needs_winomt else None
    labels = [file.labels(lang, annotator, winomt) for lang in langs]
    bitexts = [_bitext(translations, lang, len(langs)) for lang in langs]
    measures = [GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=settings, device=device)) for lang in langs]
    done = tuple(
        validate(*each, annotator=annotator, basis=tuple(dict.fromkeys(basis)), progress=progress)
        for each in zip(labels, bitexts, measures, strict=True)
    )
    corrections = (correct_run(run, done, pool=pool, n_resamples=n_resamples, seed=seed) for run in finished)
    return Validations(done, tuple(corrections))


def _bitext(paths: Sequence[Path], lang: str, languages: int) -> list[tuple[str, str]]:
    """The pairs of one language: of files, where there is one language; of ``en-CODE.txt`` in folders."""
    pairs = []
    for path in paths:
        if not path.is_dir() and languages > 1:
            raise SettingError(
                "translations",
                f"expected a folder with en-CODE.txt for several languages, got {path}, a file or nothing; give a "
                "folder, or one --lang at a time",
            )
        pairs += read_bitext(path / f"en-{lang}.txt" if path.is_dir() else path)
    return pairs


def _read_runs(paths: Sequence[Path], langs: Sequence[str]) -> list[FinishedRun]:
    """The runs to correct, read before anything is computed."""
    runs = [read_run(path) for path in paths]
    names = [(run.system, run.lang, run.corpus[0]) for run in runs]
    for run, name in zip(runs, names, strict=True):
        _check_language(run, langs)
        if names.count(name) > 1:
            raise DataError(
                f"{run.path}: expected each system once in a language and corpus, got {run.system!r} twice; leave one "
                "out"
            )
    return runs


def _check_language(run: FinishedRun, langs: Sequence[str]) -> None:
    if run.lang not in langs:
        raise DataError(
            f"{run.path}: expected a run in one of the languages validated here ({', '.join(langs)}), got "
            f"{run.lang!r}; add --lang {run.lang}"
        )
