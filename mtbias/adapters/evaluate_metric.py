"""A metric of Hugging Face's `evaluate`:
``evaluate.load(mtbias.adapters.evaluate_metric.__file__)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import evaluate

import mtbias
from mtbias.adapters.benchmark import numbers
from mtbias.errors import UsageError
from mtbias.settings import ScoreSettings

_DESCRIPTION = (
    "Gender bias of translations: accuracy, ΔG and ΔS, with 95 % intervals (WinoMT's evaluation)."
)
_INPUTS = """
Args:
    predictions: translations, one a reference.
    references: sentences, each with source, entity, gender (male, female, neutral, unknown) and
        perhaps stereotype (pro, anti, none); or the ids of the sentences of a data set
        (`mtbias export`).
    lang: code of the target language, such as de.
    clean, out, system, allow_missing: as of mtbias.score; other arguments are fields of
        mtbias.ScoreSettings.
Returns:
    accuracy, delta_g, delta_s, each with _low and _high; n, the sentences; calls; signature.
"""


_ARGUMENTS = {
    "source": "sources",
    "entity": "entities",
    "gender": "genders",
    "stereotype": "stereotypes",
}
"""Keys of a reference, with the arguments of `mtbias.score`."""


def _keys(reference: object) -> list[str] | None:
    return sorted(reference) if isinstance(reference, Mapping) else None


class GenderBias(evaluate.Metric):
    """See `mtbias.score`, whose numbers it gives."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        sentence = {"source": text, "entity": text, "gender": text}
        references = ({**sentence, "stereotype": text}, sentence, text)
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": each}) for each in references
            ],
        )

    def _infer_feature_from_example(self, example: Mapping[str, Any]) -> datasets.Features:
        """The form whose keys the references have; evaluate's own choice fails on some of them."""
        keys = _keys(example["references"])
        for features in self.info.features:
            if _keys(features["references"]) == keys:
                return features
        raise UsageError(
            "expected references with source, entity, gender and perhaps stereotype, or ids; "
            f"got {keys}"
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        *,
        lang: str,
        clean: bool = False,
        out: str | None = None,
        system: str | None = None,
        allow_missing: bool = False,
        **settings: Any,  # noqa: ANN401 - checked as fields of ScoreSettings
    ) -> dict[str, Any]:
        sentences: dict[str, Any] = {}
        if isinstance(references[0], Mapping):
            for key in references[0]:
                sentences[_ARGUMENTS[key]] = [reference[key] for reference in references]
        elif len(set(references)) < len(references):
            raise UsageError("expected one prediction for each id in references, got one id twice")
        run = mtbias.score(
            predictions if sentences else dict(zip(references, predictions, strict=True)),
            lang,
            **sentences,
            system=system,
            out=out,
            allow_missing=allow_missing,
            clean=clean,
            settings=ScoreSettings(**settings),
        )
        return {**numbers(run), "signature": run.signature}
