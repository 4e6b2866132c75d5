"""GEST's measure: the gender in which the speaker stands in each translation, by morphology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mtbias.corpora.gest import SpeakerSentence
from mtbias.decide.speaker import speaker_call
from mtbias.errors import SettingError
from mtbias.evaluation.gender_calls import make_analyser
from mtbias.files.strict_json import EXACT, decoded
from mtbias.language.definition import Language
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import require_device
from mtbias.metrics.counting import score_groups
from mtbias.metrics.measure import Wanted
from mtbias.metrics.scores import CallScores, reasons_and_evidence
from mtbias.metrics.speaker_rates import COUNTING
from mtbias.morphology import Analyser
from mtbias.runs.call_records import evidence_json
from mtbias.types import Evidence, Gender, GenderCall, Json, Progress, Reason, Span, Translation

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
class SpeakerMeasure:
    """What reads the speaker's gender in one language (`mtbias.metrics.measure.Measure`)."""

    language: Language
    analyser: Analyser

    @property
    def identity(self) -> Mapping[str, Json]:
        """Stanza with the hashes of its models, and language plugin."""
        return {
            "stanza": self.analyser.signature,
            "plugin": f"{self.language.code}/{self.language.version}",
        }

    @property
    def execution(self) -> Mapping[str, Json]:
        """How new texts went through Stanza."""
        return {"analysed_by": list(self.analyser.ways)}

    def hint(self, texts: Iterable[str]) -> None:
        """Let the analyser's other processes begin."""
        self.analyser.submit(texts)

    def abandon(self) -> None:
        """End them: the translations will not be judged."""
        self.analyser.abandon()

    def judge(
        self, instances: Sequence[SpeakerSentence], translations: Sequence[Translation], progress: Progress
    ) -> list[SpeakerRecord]:
        """See `mtbias.metrics.measure.Measure`."""
        texts = {translation.id: translation.text for translation in translations}
        distinct = dict.fromkeys(text for text in texts.values() if text is not None)
        done, split = 0, SplitTexts(self.language)

        def count(n: int) -> None:
            nonlocal done
            done += n
            progress("analyse", done, len(distinct))

        count(0)
        self.analyser.prepare(distinct, count)
        progress("analyse", len(distinct), len(distinct))  # those that the cache had, too
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
    """The measure, as far as it does not depend on a language (`mtbias.metrics.measure.MeasureKind`)."""

    counting = COUNTING

    def open(self, wanted: Wanted) -> SpeakerMeasure:
        """See `mtbias.metrics.measure.MeasureKind`.

        Raises:
            UsageError: an unknown language or device, or a setting of another measure.
            MissingResourceError: Stanza's models are not there and may not be downloaded.
        """
        if wanted.settings.variant is not None:
            raise SettingError("variant", "expected the data set mt-geneval with it; leave it out here")
        if wanted.device is not None:
            require_device(wanted.device)
        return SpeakerMeasure(get_language(wanted.lang), make_analyser(wanted))

    def read(self, line: bytes) -> SpeakerRecord:
        """See `mtbias.metrics.measure.MeasureKind`."""
        read = decoded(_SpeakerLine, line)
        call = GenderCall(read.id, read.gender, read.reason, read.target_spans, read.evidence)
        return SpeakerRecord(read.row, read.source, read.translation, read.stereotype, call)

    def score(self, records: Sequence[SpeakerRecord], *, n_resamples: int, seed: int) -> CallScores:
        """See `mtbias.metrics.measure.MeasureKind`."""
        overall, by = score_groups(records, COUNTING, n_resamples=n_resamples, seed=seed)
        return CallScores(overall, by, n_resamples, seed, *reasons_and_evidence([record.call for record in records]))


GEST = SpeakerKind()
