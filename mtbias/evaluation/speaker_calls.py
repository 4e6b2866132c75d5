"""GEST's measure: the gender in which the speaker stands in each translation, by morphology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mtbias.corpora.gest import SpeakerSentence
from mtbias.decide.speaker import speaker_call
from mtbias.evaluation.analysed_texts import AnalysedTexts
from mtbias.evaluation.gender_calls import make_analyser
from mtbias.files.strict_json import EXACT, decoded
from mtbias.language.definition import Language
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import require_device
from mtbias.morphology import Analyser
from mtbias.runs.call_records import evidence_json
from mtbias.scoring.counting import score_groups
from mtbias.scoring.measure import Wanted
from mtbias.scoring.scores import CallScores, reasons_and_evidence
from mtbias.scoring.speaker_rates import COUNTING
from mtbias.types import Evidence, Gender, GenderCall, Progress, Reason, Span, Translation

SPEAKER = "speaker"
"""The entity of every sentence."""


@dataclass(frozen=True, slots=True)
class SpeakerRecord:
    """A line of `calls.jsonl`: what was asked, what the system made of it, and what was read from it."""

    row: int
    source: str
    translation: str | None
    stereotype: int
    call: GenderCall

    @property
    def id(self) -> str:
        """The id of the sentence."""
        return self.call.id

    def to_json(self) -> Mapping[str, Any]:
        """The object of the line."""
        call, text = self.call, self.translation or ""
        return {
            "id": call.id,
            "row": self.row,
            "source": self.source,
            "translation": self.translation,
            "entity": SPEAKER,
            "stereotype": self.stereotype,
            "gender": call.gender,
            "reason": call.reason,
            "target": [text[start:end] for start, end in call.target],
            "target_spans": [list(span) for span in call.target],
            "evidence": evidence_json(call),
        }


@dataclass(frozen=True, slots=True)
class _SpeakerLine:
    """A line as it is decoded."""

    __pydantic_config__: ClassVar = EXACT

    id: str
    row: int
    source: str
    translation: str | None
    entity: str
    stereotype: int
    gender: Gender | None
    reason: Reason | None
    target: list[str]
    target_spans: tuple[Span, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class SpeakerMeasure(AnalysedTexts):
    """What reads the speaker's gender in one language (`mtbias.scoring.measure.Measure`)."""

    language: Language
    analyser: Analyser

    def judge(
        self, instances: Sequence[SpeakerSentence], translations: Sequence[Translation], progress: Progress
    ) -> list[SpeakerRecord]:
        """See `mtbias.scoring.measure.Measure`."""
        texts = {translation.id: translation.text for translation in translations}
        self.analyse((text for text in texts.values() if text is not None), progress)
        split = SplitTexts(self.language)
        records = []
        for instance in instances:
            text = texts[instance.id]
            if text is None:
                call = GenderCall(instance.id, None, Reason.UNTRANSLATED)
            else:
                call = speaker_call(instance.id, self.analyser.analysis(text), split)
            records.append(SpeakerRecord(instance.row, instance.source, text, instance.stereotype, call))
        progress("decide", len(instances), len(instances))
        return records


class SpeakerKind:
    """The measure, as far as it does not depend on a language (`mtbias.scoring.measure.MeasureKind`)."""

    counting = COUNTING

    def open(self, wanted: Wanted) -> SpeakerMeasure:
        """See `mtbias.scoring.measure.MeasureKind`.

        Raises:
            UsageError: an unknown language or device.
            MissingResourceError: Stanza's models are not there and may not be downloaded.
        """
        if wanted.device is not None:
            require_device(wanted.device)
        return SpeakerMeasure(get_language(wanted.lang), make_analyser(wanted))

    def read(self, line: bytes) -> SpeakerRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        read = decoded(_SpeakerLine, line)
        call = GenderCall(read.id, read.gender, read.reason, read.target_spans, read.evidence)
        return SpeakerRecord(read.row, read.source, read.translation, read.stereotype, call)

    def score(self, records: Sequence[SpeakerRecord], *, n_resamples: int, seed: int) -> CallScores:
        """See `mtbias.scoring.measure.MeasureKind`."""
        overall, by = score_groups(records, COUNTING, n_resamples=n_resamples, seed=seed)
        return CallScores(overall, by, n_resamples, seed, *reasons_and_evidence([record.call for record in records]))


GEST = SpeakerKind()
