"""The order of the stages: translate → align → analyse → decide → score. The only module that knows it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mtbias import __version__
from mtbias.align import Aligner, Pair
from mtbias.decide import FIXED_GENDER, FormVotes, decide
from mtbias.metrics import AgreementReport, agreement, score
from mtbias.metrics.agreement import LABELS
from mtbias.morphology import Analyser
from mtbias.plugin import Language
from mtbias.report.html import ReportRun, render_html
from mtbias.runs import Chunks, Json, RunFolder, RunManifest, join_records, remove_chunks
from mtbias.translate.generate import NOTICED, Memory, Output, Store, count_outputs, is_noticed
from mtbias.types import Alignment, GenderCall, Instance, Reason, Translation

if TYPE_CHECKING:
    from mtbias.corpora import Corpus
    from mtbias.corpora.labels import HumanLabel
    from mtbias.translate.given import GivenTranslations
    from mtbias.translate.translator import Translator

REPORT = "report.html"

Progress = Callable[[str, int, int], object]
"""Called as ``progress(stage, done, total)``."""


def _quiet(stage: str, done: int, total: int) -> None:
    """No progress wanted."""


def call_genders(
    instances: Sequence[Instance],
    translations: Sequence[Translation],
    language: Language,
    aligner: Aligner,
    analyser: Analyser,
    *,
    progress: Progress = _quiet,
) -> tuple[GenderCall, ...]:
    """The gender in which each entity stands in its translation, in the order of `instances`.

    Args:
        instances: the corpus.
        translations: one for each instance, joined by id.
        language: the plugin of the target language.
        aligner: finds the entity's words; it sees the whole corpus at once.
        analyser: reads their morphology.
        progress: see `Progress`.
    """
    texts = {t.id: t.text for t in translations}
    missing = [i.id for i in instances if i.id not in texts]
    if missing:
        raise ValueError(
            f"no translation, not even an empty one, for {len(missing)} instances, the first is {missing[0]}"
        )
    pairs = [Pair.of(i, text) for i in instances if (text := texts[i.id]) is not None]
    calls = {c.id: c for c in call_pairs(pairs, language, aligner, analyser, progress=progress)}
    return tuple(calls.get(i.id) or GenderCall(i.id, None, Reason.UNTRANSLATED) for i in instances)


def call_pairs(
    pairs: Sequence[Pair], language: Language, aligner: Aligner, analyser: Analyser, *, progress: Progress = _quiet
) -> tuple[GenderCall, ...]:
    """One call for each of `pairs`; those without a head only help the statistics of alignment and of the tagger."""
    total = len(pairs)
    progress("align", 0, total)
    alignments = aligner.align(pairs, language)
    progress("align", total, total)
    texts = [p.text for p in pairs]
    distinct = dict.fromkeys(texts)
    done = 0

    def count(n: int) -> None:
        nonlocal done
        done += n
        progress("analyse", done, len(distinct))

    progress("analyse", 0, len(distinct))
    analyser.prepare(distinct, count)
    progress("analyse", len(distinct), len(distinct))  # those that the cache had, too
    votes = FormVotes()
    for text in distinct:
        votes.add(analyser.analysis(text), language)
    return tuple(_decide_all(pairs, alignments, language, analyser, votes, progress))


def _decide_all(
    pairs: Sequence[Pair],
    alignments: Sequence[Alignment],
    language: Language,
    analyser: Analyser,
    votes: FormVotes,
    progress: Progress,
) -> list[GenderCall]:
    calls = []
    for done, (pair, alignment) in enumerate(zip(pairs, alignments, strict=True), 1):
        if pair.head is not None:
            calls.append(decide(alignment, analyser.analysis(pair.text), language, votes))
        if done % 1000 == 0 or done == len(pairs):
            progress("decide", done, len(pairs))
    return calls


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What scoring depends on, wherever the translations come from."""

    corpus: Corpus
    language: Language
    aligner: Aligner
    analyser: Analyser
    seed: int = 0
    n_resamples: int = 2000

    def _identity(self, made_by: Mapping[str, Json]) -> dict[str, Json]:
        return {
            "dataset": self.corpus.name,
            "data": dict(sorted(self.corpus.files.items())),
            "language": self.language.code,
            **made_by,
            "aligner": self.aligner.signature,
            "stanza": self.analyser.signature,
            "plugin": f"{self.language.code}/{self.language.version}",
            "mtbias": __version__,
            "seed": self.seed,
            "resamples": self.n_resamples,
        }


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(_Request):
    """All that scoring given translations depends on."""

    given: GivenTranslations
    system: str
    """Name of the system that made the translations, for the signature."""

    def identity(self) -> dict[str, Json]:
        """What changes results."""
        return self._identity({"system": self.system, "translations": self.given.sha256})


@dataclass(frozen=True, kw_only=True)
class EvalRequest(_Request):
    """All that translating a corpus and scoring the translations depends on."""

    translator: Translator

    def identity(self) -> dict[str, Json]:
        """What changes results."""
        return self._identity(self.translator.identity())


@dataclass(frozen=True, slots=True)
class _Translated:
    """Translations, and what was noticed while they were read or made."""

    translations: Sequence[Translation]
    counts: Mapping[str, Any]
    execution: Mapping[str, Json]


def score_translations(
    request: ScoreRequest, *, out: Path | None = None, progress: Progress = _quiet
) -> Mapping[str, Any]:
    """Call every instance's gender and score the calls: the content of ``metrics.json``.

    With `out`, the run folder is written there; a folder in which the same run is complete is read instead of computed
    again, one in which it was killed is completed, one that belongs to another run is refused.

    Raises:
        RunFolderError: the folder belongs to another run or cannot be written.
    """
    given = _Translated(request.given.translations, _given_counts(request.given), {})
    return _run(request, request.identity(), lambda _: given, out, progress)


def evaluate(request: EvalRequest, *, out: Path | None = None, progress: Progress = _quiet) -> Mapping[str, Any]:
    """Translate the corpus, then as `score_translations`.

    With `out`, every batch of translations is kept there as soon as it is made, so that a run that was killed goes on.

    Raises:
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
        RunFolderError: the folder belongs to another run or cannot be written.
    """
    return _run(request, request.identity(), lambda folder: _translate(request, folder, progress), out, progress)


def _translate(request: EvalRequest, folder: RunFolder | None, progress: Progress) -> _Translated:
    instances = request.corpus.instances

    def store(key: str) -> Store:
        return Memory() if folder is None else _Kept(Chunks(folder.path, key))

    start = time.perf_counter()
    outputs, tally, plan = request.translator.translate(
        [i.source for i in instances], store, lambda done, total: progress("translate", done, total)
    )
    translations = [
        Translation(i.id, o.text) if o.text else Translation(i.id, None, "empty")
        for i, o in zip(instances, outputs, strict=True)
    ]
    examples = {
        name: [i.id for i, o in zip(instances, outputs, strict=True) if is_noticed(o, name)][:5] for name in NOTICED
    }
    return _Translated(
        translations,
        {"form": "generated", **count_outputs(outputs), "examples": {k: v for k, v in examples.items() if v}},
        {
            **request.translator.execution(loaded=tally.generated > 0),
            **tally.to_json(),
            "batches": len(plan),
            "translate_seconds": round(time.perf_counter() - start, 3),
        },
    )


class _Kept:
    """Batches of outputs as chunks in the run folder."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks

    def get(self, index: int) -> Sequence[Output] | None:
        records = self._chunks.get(index)
        return None if records is None else [Output(**record) for record in records]

    def put(self, index: int, outputs: Sequence[Output]) -> None:
        self._chunks.put(index, [asdict(output) for output in outputs])


def _run(
    request: _Request,
    identity: Mapping[str, Json],
    translate: Callable[[RunFolder | None], _Translated],
    out: Path | None,
    progress: Progress,
) -> Mapping[str, Any]:
    if out is None:
        return _compute(request, translate(None), RunManifest(identity, {}), progress)[0]
    with RunFolder(out).open_or_create(
        identity, {"host": platform.node(), "python": platform.python_version()}
    ) as folder:
        if not folder.is_complete():
            start = time.perf_counter()
            translated = translate(folder)
            metrics, calls = _compute(request, translated, folder.manifest, progress)
            folder.write_translations(translated.translations)
            folder.write_calls(join_records(request.corpus.instances, translated.translations, calls))
            seconds = round(time.perf_counter() - start, 3)
            folder.record_execution({**translated.execution, "seconds": seconds})
            folder.write_metrics(metrics)
        remove_chunks(folder.path)
        metrics = folder.read_metrics()
        if not folder.has(REPORT):
            run = ReportRun(_name(identity), request.language.code, metrics, folder.read_calls(), _direction(request))
            folder.write_atomic(REPORT, render_html([run]).encode())
        return metrics


def _name(identity: Mapping[str, Json]) -> str:
    return str(identity.get("system") or identity["model"])


def _direction(request: _Request) -> Literal["ltr", "rtl"]:
    return "rtl" if request.language.direction == "rtl" else "ltr"


def _compute(
    request: _Request, translated: _Translated, manifest: RunManifest, progress: Progress
) -> tuple[dict[str, Any], tuple[GenderCall, ...]]:
    instances = request.corpus.instances
    calls = call_genders(
        instances, translated.translations, request.language, request.aligner, request.analyser, progress=progress
    )
    scores = score(instances, calls, n_resamples=request.n_resamples, seed=request.seed)
    metrics = scores.to_json(signature=manifest.signature(), fingerprint=manifest.fingerprint)
    metrics["corpus"] = {
        "name": request.corpus.name,
        "rows": request.corpus.rows,
        "skipped": len(request.corpus.skipped),
        "notes": dict(request.corpus.notes),
    }
    metrics["translations"] = dict(translated.counts)
    return metrics, calls


def _given_counts(given: GivenTranslations) -> dict[str, Any]:
    """What reading the translations noticed, with the first examples of each kind."""
    kinds = ("missing", "empty", "extra", "duplicates", "shared", "normalised")
    return {
        "form": given.form,
        **{kind: getattr(given, kind) for kind in kinds},
        "examples": {kind: list(names) for kind, names in given.examples.items()},
    }


@dataclass(frozen=True)
class Validation:
    """How often the evaluator agrees with human labels of one language."""

    lang: str
    annotator: str
    labels: tuple[HumanLabel, ...]
    calls: tuple[GenderCall, ...]
    report: AgreementReport
    signature: str

    def heads(self) -> list[bool]:
        """For every label that names the head's token: whether the head that was found lies in it."""
        return [
            bool(call.target) and call.target[0].overlaps(label.target_head)
            for label, call in zip(self.labels, self.calls, strict=True)
            if label.target_head is not None
        ]

    def to_json(self) -> dict[str, Any]:
        """Numbers in per cent, κ too; further keys beside the fixed ones are intervals and denominators."""
        overall, heads = self.report.overall.to_json(), self.heads()
        return {
            "lang": self.lang,
            "n": overall["n"],
            "agreement": overall["agreement"],
            "kappa": _percent(overall["kappa"]),
            "balanced_accuracy": overall["balanced_accuracy"],
            "undecided": overall["undecided"],
            "head_exact": round(100 * sum(heads) / len(heads), 6) if heads else None,
            "by_basis": {k: {"n": v.n, "agreement": v.to_json()["agreement"]} for k, v in self.report.by_basis.items()},
            "head_n": len(heads),
            "agreement_decided": self._agreement_decided(),
            "fixed_nouns": sum(withheld(call) for call in self.calls),
            "annotator": self.annotator,
            "agreement_interval": overall["agreement_interval"],
            "recall": overall["recall"],
            "labels": overall["labels"],
            "signature": self.signature,
        }

    def _agreement_decided(self) -> float | None:
        """Agreement on the rows with a verdict, in per cent."""
        overall = self.report.overall
        return round(100 * overall.agreed / overall.decided, 6) if overall.decided else None

    def disagreements(self) -> Iterator[str]:
        """The rows on which label and call, or the heads, differ; a few lines each."""
        for label, call in zip(self.labels, self.calls, strict=True):
            found = label.target_head is None or (bool(call.target) and call.target[0].overlaps(label.target_head))
            if call.gender is LABELS[label.label] and found:
                continue
            head = label.target[slice(*call.target[0])] if call.target else "nothing"
            expected = label.target[slice(*label.target_head)] if label.target_head else "?"
            evidence = "; ".join(
                f"{e.kind} {e.word} {e.gender or 'silent'} ({e.source}: {e.detail})" for e in call.evidence
            )
            yield (
                f"line {label.line}, {label.system}, basis {label.basis or '?'}: {label.source}\n  {label.target}\n"
                f"  label {LABELS[label.label]} at {expected}; "
                f"called {call.gender or call.reason} at {head}: {evidence}"
            )


def validate(
    labels: Sequence[HumanLabel],
    bitext: Sequence[tuple[str, str]],
    language: Language,
    aligner: Aligner,
    analyser: Analyser,
    *,
    annotator: str = "1",
    progress: Progress = _quiet,
) -> Validation:
    """Call the labelled translations and compare.

    Args:
        labels: human labels, all in `language`.
        bitext: further (source, target) pairs that alignment and the tagger's votes learn from.
        language: the plugin.
        aligner: see `call_genders`.
        analyser: see `call_genders`.
        annotator: whose labels these are, for the record.
        progress: see `Progress`.
    """
    pairs = [Pair(label.id, label.source, label.target, label.head, label.entity) for label in labels]
    pairs += [Pair(f"bitext-{n}", source, target) for n, (source, target) in enumerate(bitext)]
    calls = call_pairs(pairs, language, aligner, analyser, progress=progress)
    report = agreement(
        [label.label for label in labels],
        [call.gender for call in calls],
        basis=[label.basis or "?" for label in labels] if any(label.basis for label in labels) else None,
    )
    signature = "|".join(
        (
            f"lang:{language.code}",
            f"labels:{len(labels)}",
            f"bitext:{len(bitext)}",
            f"aligner:{aligner.signature}",
            f"stanza:{analyser.signature}",
            f"plugin:{language.code}/{language.version}",
            f"mtbias:{__version__}",
        )
    )
    return Validation(language.code, annotator, tuple(labels), calls, report, signature)


def withheld(call: GenderCall) -> bool:
    """No call because the head is a noun of fixed grammatical gender."""
    return call.gender is None and any(e.detail.startswith(FIXED_GENDER) for e in call.evidence)


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 6)
