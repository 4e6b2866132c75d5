"""How far the evaluator can be trusted: its calls beside human labels, and a run's numbers corrected for its errors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mtbias import __version__
from mtbias.align import Pair
from mtbias.corpora.human_labels import HumanLabel
from mtbias.errors import DataError
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.runs.call_records import evidence_json
from mtbias.scoring.counting import Counts
from mtbias.scoring.evidence import withheld
from mtbias.scoring.human_agreement import LABELS, AgreementReport, agreement, count_agreement, decided_by
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import percent_of, rounded
from mtbias.types import GenderCall, Json, Progress, Reason, quiet

BEYOND_PHRASE = ("P", "C")
"""Bases of labels that follow a pronoun: where the phrase is silent (P), or against it (C; a verb, too)."""

UNKNOWN_BASIS = "?"
"""The basis of a label that says none, where others do."""


@dataclass(frozen=True)
class Validation:
    """How often the evaluator agrees with human labels of one language."""

    lang: str
    annotator: str
    rows: tuple[tuple[HumanLabel, GenderCall], ...]
    signature: str
    evaluator: Mapping[str, Json]
    """What called: aligner, Stanza and its models, language plugin, release of mtbias, as in a run's identity."""
    basis: tuple[str, ...] = ()
    """The bases that were asked for; empty for all."""

    def on_pronouns(self) -> tuple[int, Counts]:
        """How many labels follow a pronoun (`BEYOND_PHRASE`), and the confusion of label and call without them."""
        rest = [row for row in self.rows if row[0].basis not in BEYOND_PHRASE]
        return len(self.rows) - len(rest), count_agreement((LABELS[label.label], call.gender) for label, call in rest)

    @cached_property
    def report(self) -> AgreementReport:
        """The counts of labels and calls, and the numbers that follow."""
        known = any(label.basis for label, _ in self.rows)
        return agreement(
            [label.label for label, _ in self.rows],
            [call.gender for _, call in self.rows],
            basis=[label.basis or UNKNOWN_BASIS for label, _ in self.rows] if known else None,
            evidence=[decided_by(call) for _, call in self.rows],
        )

    def heads(self) -> list[bool]:
        """For every label that names the head's token: whether the head that was found lies in it."""
        return [_is_head_right(*row) for row in self.rows if row[0].target_head is not None]

    def to_json(self) -> dict[str, Any]:
        """Numbers in per cent, κ too; further keys beside the fixed ones are intervals and denominators."""
        overall = self.report.overall
        heads, parts = self.heads(), self.report.to_json()
        whole = parts["overall"]
        reasons = {reason.value for reason in Reason}
        evidence, bases = parts["by_evidence"], parts["by_basis"]
        return {
            "lang": self.lang,
            "annotator": self.annotator,
            "basis": list(self.basis),
            "signature": self.signature,
            **whole,
            "kappa": None if whole["kappa"] is None else rounded(100 * whole["kappa"]),
            "agreement_decided": rounded(percent_of(overall.agreed, overall.decided)),
            "fixed_nouns": sum(withheld(call) for _, call in self.rows),
            "head_n": len(heads),
            "head_exact": rounded(percent_of(sum(heads), len(heads))),
            "head_interval": rounded(wilson_percent(sum(heads), len(heads))),
            "by_basis": {kind: {key: part[key] for key in ("n", "agreement")} for kind, part in bases.items()},
            "basis_intervals": {kind: part["agreement_interval"] for kind, part in bases.items()},
            "by_evidence": {
                kind: {key: part[key] for key in ("n", "agreed", "agreement", "agreement_interval")}
                for kind, part in evidence.items()
                if kind not in reasons
            },
            "reasons": {
                kind: {
                    "n": evidence[kind]["n"],
                    "percent": rounded(percent_of(evidence[kind]["n"], whole["n"])),
                    "interval": rounded(wilson_percent(evidence[kind]["n"], whole["n"])),
                }
                for kind in (reason.value for reason in Reason)
                if kind in evidence
            },
            "confusion": parts["confusion"],
        }

    def differing(self) -> list[tuple[HumanLabel, GenderCall]]:
        """The rows on which label and call, or the heads, differ."""
        return [row for row in self.rows if row[1].gender is not LABELS[row[0].label] or not _is_head_right(*row)]

    def differing_json(self) -> list[dict[str, Any]]:
        """The rows on which label and call, or the heads, differ, as plain values."""
        return [
            {
                "line": label.line,
                "system": label.system,
                "basis": label.basis,
                "source": label.source,
                "translation": label.target,
                "label": LABELS[label.label].value,
                "called": None if call.gender is None else call.gender.value,
                "reason": None if call.reason is None else call.reason.value,
                "target": [label.target[slice(*span)] for span in call.target],
                "evidence": evidence_json(call),
            }
            for label, call in self.differing()
        ]

    def disagreements(self) -> Iterator[str]:
        """The rows on which label and call, or the heads, differ; a few lines each."""
        for label, call in self.differing():
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
        basis: count only the labels that rest on one of these; all labels are called, so the calls stay the same.
        progress: see `mtbias.types.Progress`.

    Raises:
        DataError: no label rests on one of `basis`.
    """
    pairs = [Pair(label.id, label.source, label.target, label.head, label.entity) for label in labels]
    pairs += [Pair(f"bitext-{n}", source, target) for n, (source, target) in enumerate(bitext)]
    called = measure.call_pairs(pairs, progress)
    lang = measure.language.code
    rows = [(label, call) for label, call in zip(labels, called, strict=True) if not basis or label.basis in basis]
    if basis and not rows:
        known = ", ".join(sorted({label.basis or "none" for label in labels}))
        raise DataError(f"expected labels in {lang!r} with basis {' or '.join(basis)}, got none; the file has {known}")
    evaluator = {**measure.identity, "mtbias": __version__}
    about = {"lang": lang, "labels": len(labels), "bitext": len(bitext)}
    signature = "|".join(f"{key}:{value}" for key, value in {**about, **evaluator}.items())
    signature += f"|basis:{','.join(basis)}" if basis else ""
    return Validation(lang, annotator, tuple(rows), signature, evaluator, tuple(basis))


def together(validations: Sequence[Validation]) -> Validation:
    """The labels of several languages as one set, under the name ``all``."""
    rows = tuple(row for v in validations for row in v.rows)
    first, codes = validations[0], "+".join(v.lang for v in validations)
    read = "".join(f"|{key}:{first.evaluator[key]}" for key in ("aligner", "evidence") if key in first.evaluator)
    signature = f"lang:{codes}|labels:{len(rows)}{read}|mtbias:{__version__}"
    return Validation("all", first.annotator, rows, signature, {}, first.basis)


def _is_head_right(label: HumanLabel, call: GenderCall) -> bool:
    """Whether the head that was found lies in the token that the label names, if it names one."""
    head = label.target_head
    return head is None or (bool(call.target) and call.target[0].overlaps(head))
