"""The numbers of `mtbias validate` as records: the module that knows the keys of its JSON.

All numbers are in per cent, None where undefined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mtbias.scoring.metrics_reader import read_estimate, read_interval
from mtbias.stats.results import Estimate, Interval
from mtbias.types import JsonObject, frozen


@frozen
class AgreementRow:
    """Agreement, or another share, on some of the labels."""

    name: str
    n: int
    percent: float | None
    interval: Interval | None


@frozen
class LanguageAgreement:
    """How often the evaluator agrees with human labels (`mtbias.scoring.correction`)."""

    lang: str
    """Code of the language; ``all`` of several together."""
    annotator: str
    basis: Sequence[str]
    """The bases that were asked for; empty for all."""
    signature: str
    n: int
    labels: Mapping[str, int]
    """By gender."""
    agreement: float | None
    agreement_interval: Interval | None
    agreement_decided: float | None
    """Of the rows with a call."""
    kappa: float | None
    """Cohen's κ × 100."""
    balanced_accuracy: float | None
    undecided: float | None
    undecided_interval: Interval | None
    fixed_nouns: int
    """Rows without a call since their noun has one grammatical gender."""
    head_exact: float | None
    head_interval: Interval | None
    by_basis: Sequence[AgreementRow]
    by_evidence: Sequence[AgreementRow]
    """By the kind of word that a call rests on, most frequent first."""
    reasons: Sequence[AgreementRow]
    """Rows without a call by reason, in per cent of all labels."""
    confusion: Sequence[Sequence[int]]
    """Label × call."""


@frozen
class CorrectedNumbers:
    """A run's numbers as called, and corrected for the evaluator's errors."""

    system: str
    lang: str
    corpus: str
    signature: str
    n: int
    plain: Mapping[str, Estimate]
    """The numbers as called, by key."""
    corrected: Mapping[str, Estimate]
    labels: Mapping[str, int]
    """Human labels by gender."""
    assumed_never_read: Sequence[str]
    """Genders without a label."""
    few_labels: Sequence[str]
    """Genders with too few labels to know the errors on them."""
    untranslated: int
    prior: float
    resamples: int
    seed: int
    warning: str | None


def read_agreement(content: JsonObject) -> LanguageAgreement:
    """The record of `mtbias.evaluation.validation.Validation.to_json`."""
    by_basis = []
    for kind, part in content["by_basis"].items():
        ends = content["basis_intervals"][kind]
        by_basis.append(_row(kind, part, "agreement", ends))
    by_evidence = []
    for kind, part in content["by_evidence"].items():
        by_evidence.append(_row(kind, part, "agreement", part["agreement_interval"]))
    reasons = []
    for reason, part in content["reasons"].items():
        reasons.append(_row(reason, part, "percent", part["interval"]))
    return LanguageAgreement(
        lang=content["lang"],
        annotator=content["annotator"],
        basis=content["basis"],
        signature=content["signature"],
        n=content["n"],
        labels=content["labels"],
        agreement=content["agreement"],
        agreement_interval=read_interval(content["agreement_interval"]),
        agreement_decided=content["agreement_decided"],
        kappa=content["kappa"],
        balanced_accuracy=content["balanced_accuracy"],
        undecided=content["undecided"],
        undecided_interval=read_interval(content["undecided_interval"]),
        fixed_nouns=content["fixed_nouns"],
        head_exact=content["head_exact"],
        head_interval=read_interval(content["head_interval"]),
        by_basis=by_basis,
        by_evidence=sorted(by_evidence, key=lambda row: (-row.n, row.name)),
        reasons=reasons,
        confusion=content["confusion"],
    )


def read_correction(content: JsonObject) -> CorrectedNumbers:
    """The record of `mtbias.evaluation.validation.CorrectedRun.to_json`."""
    return CorrectedNumbers(
        system=content["system"],
        lang=content["lang"],
        corpus=content["corpus"],
        signature=content["signature"],
        n=content["n"],
        plain=_estimates(content["plain"]),
        corrected=_estimates(content["corrected"]),
        labels=content["labels"],
        assumed_never_read=content["assumed_never_read"],
        few_labels=content["few_labels"],
        untranslated=content["untranslated"],
        prior=content["prior"],
        resamples=content["resamples"],
        seed=content["seed"],
        warning=content["warning"],
    )


def _row(name: str, part: JsonObject, share: str, ends: Sequence[float] | None) -> AgreementRow:
    return AgreementRow(name, part["n"], part[share], read_interval(ends))


def _estimates(content: JsonObject) -> dict[str, Estimate]:
    return {key: read_estimate(part) for key, part in content.items()}
