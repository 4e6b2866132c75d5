"""The speaker's gender in sentences of 16 stereotypes: counts of calls, the masculine rate and the
stereotype rate.

Source: Pikuliak et al. (2024), *Women Are Beautiful, Men Are Leaders: Gender Stereotypes in Machine
Translation and Language Modeling*, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mtbias.corpora.gest import SpeakerSentence
from mtbias.evaluation.gender_calls import AnalysedTexts, make_analyser
from mtbias.files.strict_json import EXACT, decoded
from mtbias.language.definition import Language
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import require_device
from mtbias.morphology import Analyser
from mtbias.reading.speaker import speaker_call
from mtbias.runs.call_records import CallLine, call_json
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import declared
from mtbias.scoring.measure import MeasureKind, MeasureOptions
from mtbias.stats.results import Counts, Floats, Tables, percent
from mtbias.types import Gender, GenderCall, JsonObject, Progress, Reason, Translation, frozen

STEREOTYPES = tuple(str(n) for n in range(1, 17))
_ABOUT_WOMEN, _ABOUT_MEN = slice(0, 7), slice(7, 16)
CALLS: tuple[Gender | None, ...] = (Gender.MALE, Gender.FEMALE, Gender.NEUTRAL, None)
"""None: no call."""
_GENDERED, _CALLED = slice(0, 2), slice(0, 3)

NUMBERS = declared("speaker")


def speaker_rates(tables: Tables) -> dict[str, Floats]:
    """The numbers of tables ``[..., 16, 4]`` (stereotype × call), each ``[...]``, NaN where
    undefined; per cent.

    - p = male / (male + female); p_i is that of stereotype i.
    - f_m = (mean of p_1 to p_7 + mean of p_8 to p_16) / 2; f_s = mean of p_8 to p_16 − mean of p_1
      to p_7.

    Edge cases: f_m and f_s are undefined where any of the 16 p_i is.
    """
    gendered, whole = tables[..., _GENDERED], tables.sum(axis=-2)
    each = percent(gendered[..., 0], gendered.sum(axis=-1))
    women, men = each[..., _ABOUT_WOMEN].mean(axis=-1), each[..., _ABOUT_MEN].mean(axis=-1)
    return {
        "decided_percent": percent(whole[..., _CALLED].sum(axis=-1), whole.sum(axis=-1)),
        "p": percent(whole[..., 0], whole[..., _GENDERED].sum(axis=-1)),
        "f_m": (women + men) / 2,
        "f_s": men - women,
    }


def _classes(table: Counts) -> dict[str, int]:
    return {
        "n": int(table.sum()),
        "decided": int(table[:, _CALLED].sum()),
        "gendered": int(table[:, _GENDERED].sum()),
        "about_women": int(table[_ABOUT_WOMEN].sum()),
        "about_men": int(table[_ABOUT_MEN].sum()),
    }


def _counts(table: Counts) -> Mapping[str, int]:
    """Men, women, and sentences that show neither: both forms at once, contradictions, none."""
    male, female, *others = table.sum(axis=0).tolist()
    return {"male": male, "female": female, "undecided": sum(others)}


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"stereotype": STEREOTYPES, "call": CALLS},
    place=lambda record: (record.stereotype - 1, CALLS.index(record.call.gender)),
    rates=speaker_rates,
    classes=_classes,
    breakdowns={"stereotype": lambda record: str(record.stereotype)},
    stratified=True,
    shown=("stereotype",),
    more=_counts,
)
"""GEST's sentences: no call is right or wrong, since no source tells the speaker's gender."""


SPEAKER = "speaker"
"""The entity of every sentence."""


@frozen
class SpeakerRecord:
    """A line of `calls.jsonl`: what was asked, what the system made of it, and what was read from
    it.
    """

    row: int
    source: str
    translation: str | None
    stereotype: int
    call: GenderCall

    @property
    def id(self) -> str:
        """The id of the sentence."""
        return self.call.id

    def to_json(self) -> JsonObject:
        """The object of the line."""
        return {
            "id": self.id,
            "row": self.row,
            "source": self.source,
            "translation": self.translation,
            "entity": SPEAKER,
            "stereotype": self.stereotype,
            **call_json(self.call, self.translation),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _SpeakerLine(CallLine):
    __pydantic_config__: ClassVar = EXACT

    stereotype: int


@dataclass(frozen=True)
class SpeakerMeasure(AnalysedTexts):
    """What reads the speaker's gender in one language (`mtbias.scoring.measure.Measure`)."""

    language: Language
    analyser: Analyser

    def judge(
        self,
        instances: Sequence[SpeakerSentence],
        translations: Sequence[Translation],
        progress: Progress,
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
            records.append(
                SpeakerRecord(instance.row, instance.source, text, instance.stereotype, call)
            )
        progress("decide", len(instances), len(instances))
        return records


class SpeakerKind(MeasureKind):
    """The measure, as far as it does not depend on a language
    (`mtbias.scoring.measure.MeasureKind`).
    """

    counting = COUNTING
    needs_stanza = True

    def open(self, options: MeasureOptions) -> SpeakerMeasure:
        """See `mtbias.scoring.measure.MeasureKind`.

        Raises:
            UsageError: an unknown language or device.
            MissingResourceError: Stanza's models are not there and may not be downloaded.
        """
        if options.device is not None:
            require_device(options.device)
        return SpeakerMeasure(get_language(options.lang), make_analyser(options))

    def read(self, line: bytes) -> SpeakerRecord:
        """See `mtbias.scoring.measure.MeasureKind`."""
        read = decoded(_SpeakerLine, line)
        return SpeakerRecord(read.row, read.source, read.translation, read.stereotype, read.call())


GEST = SpeakerKind()
