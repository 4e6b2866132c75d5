"""How far the evaluator can be trusted: its calls beside human labels, and runs corrected for the
errors in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from mtbias.align import Pair
from mtbias.corpora import load_corpus
from mtbias.corpora.human_labels import HumanLabel, read_label_file
from mtbias.errors import DataError, SettingError
from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure
from mtbias.language.installed import get_language
from mtbias.report.validation_page import LabelledLanguage, render_page, render_validation
from mtbias.runs.call_records import evidence_json
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.scoring.bias import UNKNOWN_GENDER, count
from mtbias.scoring.correction import (
    CORRECTED,
    LABELS,
    Correction,
    LabelAgreement,
    compute_agreement,
    correct,
    count_agreement,
)
from mtbias.scoring.evidence import withheld
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import DECIMALS, N_RESAMPLES, Counts, minus, percent_of, rounded
from mtbias.translate.bitext import read_bitext
from mtbias.types import GenderCall, Json, JsonDict, JsonObject, Progress, Reason, quiet
from mtbias.version import __version__

BEYOND_PHRASE = ("P", "C")
"""Bases of labels that follow a pronoun: where the phrase is silent (P), or against it (C; a verb,
too)."""

UNKNOWN_BASIS = "?"
"""The basis of a label that says none, where others do."""

MOST = 50.0
"""Where more of a correction than this, in per cent, comes from such labels, there is a warning."""

_Row = tuple[HumanLabel, GenderCall]


@dataclass(frozen=True)
class Validation:
    """How often the evaluator agrees with human labels of one language."""

    lang: str
    annotator: str
    rows: tuple[_Row, ...]
    signature: str
    evaluator: Mapping[str, Json]
    """What called: aligner, Stanza and its models, language plugin, release of mtbias, as in a
    run's identity."""
    basis: tuple[str, ...] = ()
    """The bases that were asked for; empty for all."""

    @cached_property
    def counts(self) -> Counts:
        """The confusion, label × call."""
        return _confusion(self.rows)

    def on_pronouns(self) -> tuple[int, Counts]:
        """How many labels follow a pronoun (`BEYOND_PHRASE`), and the confusion of label and call
        without them.
        """
        rest = [row for row in self.rows if row[0].basis not in BEYOND_PHRASE]
        return len(self.rows) - len(rest), _confusion(rest)

    def heads(self) -> list[bool]:
        """For every label that names the head's token: whether the head that was found is in it."""
        return [_is_head_right(*row) for row in self.rows if row[0].target_head is not None]

    def agreement_by(
        self, name: Callable[[HumanLabel, GenderCall], str]
    ) -> dict[str, LabelAgreement]:
        """Agreement on the rows that have each name, in alphabetical order."""
        rows_of: dict[str, list[tuple[HumanLabel, GenderCall]]] = {}
        for row in self.rows:
            rows_of.setdefault(name(*row), []).append(row)
        return {key: compute_agreement(_confusion(rows)) for key, rows in sorted(rows_of.items())}

    def to_json(self) -> JsonDict:
        """Numbers in per cent, κ too; further keys beside the fixed ones are intervals and
        denominators.
        """
        overall, heads = compute_agreement(self.counts), self.heads()
        known = any(label.basis for label, _ in self.rows)
        bases = self.agreement_by(lambda label, _: label.basis or UNKNOWN_BASIS) if known else {}
        evidence = self.agreement_by(lambda _, call: call.decided_by)
        content = {
            "lang": self.lang,
            "annotator": self.annotator,
            "basis": self.basis,
            "signature": self.signature,
            **asdict(overall),
            "kappa": None if overall.kappa is None else 100 * round(overall.kappa, DECIMALS),
            "agreement_decided": percent_of(overall.agreed, overall.decided),
            "fixed_nouns": sum(withheld(call) for _, call in self.rows),
            "head_n": len(heads),
            "head_exact": percent_of(sum(heads), len(heads)),
            "head_interval": wilson_percent(sum(heads), len(heads)),
            "by_basis": {
                kind: {"n": part.n, "agreement": part.agreement} for kind, part in bases.items()
            },
            "basis_intervals": {kind: part.agreement_interval for kind, part in bases.items()},
            "by_evidence": {
                kind: _part_json(part) for kind, part in evidence.items() if kind not in {*Reason}
            },
            "reasons": {
                kind: {
                    "n": part.n,
                    "percent": percent_of(part.n, overall.n),
                    "interval": wilson_percent(part.n, overall.n),
                }
                for kind in Reason
                if (part := evidence.get(kind)) is not None
            },
            "confusion": self.counts.tolist(),
        }
        return rounded(content)

    def differing(self) -> list[_Row]:
        """The rows on which label and call, or the heads, differ."""
        return [
            row
            for row in self.rows
            if row[1].gender is not LABELS[row[0].label] or not _is_head_right(*row)
        ]

    def differing_json(self) -> list[JsonDict]:
        """The rows on which label and call, or the heads, differ, as plain values."""
        return [_row_json(label, call) for label, call in self.differing()]


def _part_json(part: LabelAgreement) -> JsonDict:
    return {
        "n": part.n,
        "agreed": part.agreed,
        "agreement": part.agreement,
        "agreement_interval": part.agreement_interval,
    }


def _row_json(label: HumanLabel, call: GenderCall) -> JsonDict:
    head = label.target[slice(*label.target_head)] if label.target_head else None
    return {
        "line": label.line,
        "system": label.system,
        "basis": label.basis,
        "source": label.source,
        "translation": label.target,
        "label": LABELS[label.label],
        "label_head": head,
        "called": call.gender,
        "reason": call.reason,
        "target": [label.target[slice(*span)] for span in call.target],
        "evidence": evidence_json(call),
    }


def validate(
    labels: Sequence[HumanLabel],
    bitext: Sequence[tuple[str, str]],
    measure: GenderMeasure,
    *,
    annotator: str = "1",
    basis: Collection[str] = (),
    progress: Progress = quiet,
) -> Validation:
    """Call the labelled translations and compare.

    Args:
        labels: human labels, all in the language of `measure`.
        bitext: further (source, target) pairs that alignment and the tagger's votes learn from.
        measure: what reads the genders.
        annotator: whose labels these are, for the record.
        basis: count only the labels that rest on one of these; all labels are called, so the calls
            stay the same.
        progress: see `mtbias.types.Progress`.

    Raises:
        DataError: no label rests on one of `basis`.
    """
    pairs = [
        Pair(label.id, label.source, label.target, label.head, label.entity) for label in labels
    ]
    pairs += [Pair(f"bitext-{n}", source, target) for n, (source, target) in enumerate(bitext)]
    called = measure.call_pairs(pairs, progress)
    lang = measure.language.code
    rows = [
        (label, call)
        for label, call in zip(labels, called, strict=True)
        if not basis or label.basis in basis
    ]
    if basis and not rows:
        known = ", ".join(sorted({label.basis or "none" for label in labels}))
        labels_text = f"labels in {lang!r} with basis {' or '.join(basis)}"
        raise DataError(f"expected {labels_text}, got none; the file has {known}")
    evaluator = {**measure.identity, "mtbias": __version__}
    about = {"lang": lang, "labels": len(labels), "bitext": len(bitext)}
    signature = "|".join(f"{key}:{value}" for key, value in {**about, **evaluator}.items())
    signature += f"|basis:{','.join(basis)}" if basis else ""
    return Validation(lang, annotator, tuple(rows), signature, evaluator, tuple(basis))


def together(validations: Sequence[Validation]) -> Validation:
    """The labels of several languages as one set, under the name ``all``."""
    rows = tuple(chain.from_iterable(validation.rows for validation in validations))
    first, codes = validations[0], "+".join(v.lang for v in validations)
    read = "".join(
        f"|{key}:{first.evaluator[key]}"
        for key in ("aligner", "evidence")
        if key in first.evaluator
    )
    signature = f"lang:{codes}|labels:{len(rows)}{read}|mtbias:{__version__}"
    return Validation("all", first.annotator, rows, signature, {}, first.basis)


def _is_head_right(label: HumanLabel, call: GenderCall) -> bool:
    """Whether the head that was found is in the token that the label names, if it names one."""
    head = label.target_head
    return head is None or (bool(call.target) and call.target[0].overlaps(head))


def _confusion(rows: Iterable[_Row]) -> Counts:
    """The confusion of label and call (`mtbias.scoring.correction.count_agreement`)."""
    return count_agreement((LABELS[label.label], call.gender) for label, call in rows)


@dataclass(frozen=True)
class CorrectedRun:
    """A run's numbers corrected with the confusion that human labels show."""

    system: str
    lang: str
    corpus: str
    basis: tuple[str, ...]
    correction: Correction
    signature: str
    """The run's."""
    labels_on_pronouns: int
    """Labels in the confusion that follow a pronoun, alone or against the phrase (basis P or C)."""
    percent_from_pronouns: Mapping[str, float | None]
    """By the names of `CORRECTED`: what part of the correction disappears without these labels, in
    per cent."""

    @property
    def warning(self) -> str | None:
        """What must be read before the corrected numbers; None where there is nothing of that kind.

        Where most of a correction comes from labels that follow a pronoun, the evaluator and the
        people have answered two questions (what does the noun phrase show, what does the sentence
        show), and the correction turns one into the other instead of removing errors.
        """
        shares = ", ".join(
            f"{min(share, 100):.0f} % of that of {CORRECTED[key].label}"
            for key, share in self.percent_from_pronouns.items()
            if share is not None and share > MOST
        )
        if not shares:
            return None
        return (
            f"{self.labels_on_pronouns} labels rest on a pronoun, alone or against the noun phrase "
            "(basis P or C), which the evaluator does not read; most of the correction comes from "
            f"them: {shares}. It is a difference of definition, not of errors; "
            "--basis N --basis D leaves such labels out"
        )

    def to_json(self) -> JsonDict:
        """A plain value: per cent, rounded to 6 decimals, null where undefined."""
        own = {name: value for name, value in vars(self).items() if name != "correction"}
        return {**rounded(own), "warning": self.warning, **self.correction.to_json()}


def correct_run(
    run: FinishedRun,
    validations: Sequence[Validation],
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> CorrectedRun:
    """Correct a run's accuracy, ΔG and ΔS with the confusion of its language.

    One of `validations` must be of the run's language, by the evaluator that scored the run.
    `n_resamples` and `seed` are those of `mtbias.scoring.correction.correct`.

    Raises:
        DataError: another evaluator called the run, it shows no genders, or a gender has no labels.
    """
    own = next(v for v in validations if v.lang == run.lang)
    for key in (*own.evaluator, *run.evaluator):
        if (here := own.evaluator.get(key)) != (there := run.evaluator.get(key)):
            raise DataError(
                f"{run.path}: expected a run that this evaluator scored ({key} {here}), "
                f"got {key} {there}; score the translations again"
            )
    if run.counting is UNKNOWN_GENDER:
        raise DataError(
            f"{run.path}: expected sentences that show a gender, got none; "
            "what is corrected is accuracy, ΔG and ΔS"
        )
    calls = run.known.calls
    counts = count((r.gold, r.stereotype, r.call.gender) for r in calls)
    blank: Counts = count(
        (r.gold, r.stereotype, None) for r in calls if r.call.reason is Reason.UNTRANSLATED
    )
    how: JsonDict = {"untranslated": blank[..., -1], "n_resamples": n_resamples, "seed": seed}
    try:
        correction = correct(counts, own.counts, **how)
    except DataError as error:
        raise DataError(f"{run.lang}: {error}") from error
    on_pronouns, confusion = own.on_pronouns()
    return CorrectedRun(
        system=run.system,
        lang=run.lang,
        corpus=run.corpus[0],
        basis=own.basis,
        correction=correction,
        signature=str(run.metrics.get("signature")),
        labels_on_pronouns=on_pronouns,
        percent_from_pronouns=_gone(correction, counts, confusion, how)
        if on_pronouns
        else dict.fromkeys(CORRECTED),
    )


def _gone(
    whole: Correction, counts: Counts, confusion: Counts, how: JsonObject
) -> dict[str, float | None]:
    """What part of a correction is not there with another confusion, by number; in per cent, None
    where undefined.
    """
    try:
        part = correct(counts, confusion, **how)
    except DataError:
        # No label of a gender is left: all that is known of it comes from the labels left out.
        return dict.fromkeys(CORRECTED, 100.0)
    gone: dict[str, float | None] = {}
    for key in CORRECTED:
        with_all = whole.corrected[key].value
        change, corrected = (
            minus(with_all, each[key].value) for each in (part.corrected, whole.called)
        )
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

    def to_json(self) -> JsonDict:
        """One language: its numbers. Several: ``languages`` by code, and ``all``. With runs:
        ``corrections``.
        """
        parts = {v.lang: v.to_json() for v in self.languages}
        content = (
            parts.popitem()[1]
            if len(parts) == 1
            else {"languages": parts, "all": self.whole.to_json()}
        )
        return {**content, "corrections": self._corrections()} if self.corrections else content

    def _corrections(self) -> list[JsonDict]:
        return [each.to_json() for each in self.corrections]

    def text(self) -> str:
        """The tables for a terminal."""
        return render_validation(
            [v.to_json() for v in self.languages], self.whole.to_json(), self._corrections()
        )

    def page(self) -> str:
        """The page with all of it, HTML in one file."""
        parts = [
            LabelledLanguage(v.to_json(), get_language(v.lang).direction, tuple(v.differing()))
            for v in self.languages
        ]
        return render_page(parts, self.whole.to_json(), self._corrections())

    def rows(self) -> list[JsonDict]:
        """The rows of disagreement, as plain values."""
        rows: list[JsonDict] = []
        for language in self.languages:
            rows += [{"lang": language.lang, **row} for row in language.differing_json()]
        return rows


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
    device: str | None = None,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    progress: Progress = quiet,
) -> Validations:
    """Compare the evaluator with a file of human labels, as ``mtbias validate`` does, and correct
    runs for its errors.

    Args:
        gold: the labels (`mtbias.corpora.human_labels.read_label_file`).
        langs: codes of the languages.
        settings: the evaluator's.
        translations: files of further pairs to learn alignment from
            (`mtbias.translate.bitext.read_bitext`), or folders that have them as en-CODE.txt.
        data: WinoMT, for labels without entity and word index; by default that of the cache.
        annotator: whose labels.
        basis: count only labels that rest on one of these.
        runs: folders of runs to correct (`correct_run`), with `n_resamples` and `seed`.
        device: where Stanza runs.
        n_resamples: see there.
        seed: see there.
        progress: see `mtbias.types.Progress`.

    Raises:
        UsageError: a language is not installed; runs, and no resamples.
        MtbiasError: labels, translations or runs are missing or do not fit.
    """
    langs = list(dict.fromkeys(langs))
    for lang in langs:
        get_language(lang)  # an unknown one is refused before anything is read
    if settings.measure is not None:
        message = "human labels of entities are compared here; leave it out"
        raise SettingError("measure", message)
    if runs and not n_resamples:
        message = "expected at least 200 where runs are corrected, "
        message += "whose numbers are medians of draws, got 0"
        raise SettingError("resamples", message)
    finished = _read_runs(runs, langs)
    file = read_label_file(gold)
    winomt = None
    if file.needs_winomt:
        corpus = load_corpus("winomt", data, cache=settings.cache_dir)
        winomt = {instance.row: instance for instance in corpus.instances}
    labels = [file.labels(lang, annotator, winomt) for lang in langs]
    bitexts = [_bitext(translations, lang, len(langs)) for lang in langs]
    measures = [
        GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=settings, device=device))
        for lang in langs
    ]
    done = tuple(
        validate(*each, annotator=annotator, basis=tuple(dict.fromkeys(basis)), progress=progress)
        for each in zip(labels, bitexts, measures, strict=True)
    )
    corrections = (correct_run(run, done, n_resamples=n_resamples, seed=seed) for run in finished)
    return Validations(done, tuple(corrections))


def _bitext(paths: Sequence[Path], lang: str, languages: int) -> list[tuple[str, str]]:
    """The pairs of one language: from files, if it is the only language; from ``en-CODE.txt`` in
    folders.
    """
    pairs = []
    for path in paths:
        if not path.is_dir() and languages > 1:
            raise SettingError(
                "translations",
                f"expected a folder with en-CODE.txt for several languages, got {path}, "
                "a file or nothing; give a folder, or one --lang at a time",
            )
        pairs += read_bitext(path / f"en-{lang}.txt" if path.is_dir() else path)
    return pairs


def _read_runs(paths: Sequence[Path], langs: Sequence[str]) -> list[FinishedRun]:
    """The runs to correct, read before anything is computed."""
    runs = [read_run(path) for path in paths]
    seen: set[tuple[str, str, str]] = set()
    for run in runs:
        if run.lang not in langs:
            raise DataError(
                f"{run.path}: expected a run in one of the languages validated here "
                f"({', '.join(langs)}), got {run.lang!r}; add --lang {run.lang}"
            )
        if (name := (run.system, run.lang, run.corpus[0])) in seen:
            raise DataError(
                f"{run.path}: expected each system once in a language and corpus, "
                f"got {run.system!r} twice; leave one out"
            )
        seen.add(name)
    return runs
