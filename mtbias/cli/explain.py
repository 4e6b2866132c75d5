"""``mtbias explain``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Device, Evaluator
from mtbias.corpora.own_sentences import custom_corpus
from mtbias.errors import DataError, SettingError, UsageError
from mtbias.evaluation.explanation import explain
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.reading.sentence_pair import Pair
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import read_run
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import DeviceSettings, EvaluatorSettings
from mtbias.types import Instance


def command(
    first: Annotated[str, Parameter(name="SOURCE")],
    second: Annotated[str, Parameter(name="TRANSLATION")],
    /,
    *,
    lang: str | None = None,
    entity: str | None = None,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
) -> None:
    """Explain how the gender of one sentence was read.

    With a sentence and its translation (SOURCE TRANSLATION), or with the folder of a run and the id
    of one of its sentences (RUN ID): the words that may render the person, in the order of trust;
    all words as the language's tables and the tagger read them; the rules that held; the call with
    its evidence. A sentence by itself is aligned without a corpus to learn from, so its candidates
    may be others than in a run.

    Parameters
    ----------
    first
        The sentence in English, or the folder of a run.
    second
        Its translation, or the id of a sentence of the run.
    lang
        Target language of a translation; that of a run is known.
    entity
        The person's words as they stand in the sentence, such as "construction worker".
    """
    if lang is None and entity is None:
        run = read_run(Path(first))
        lang, id_ = run.lang, second
        pairs = [_pair(record, asked=record.id == id_) for record in run.calls]
    elif lang is None or entity is None:
        raise UsageError("expected --lang and --entity with a sentence, or neither with a run")
    else:
        pairs, id_ = [Pair.of(_instance(first, entity), second)], "1"
    measure = GENDER_MEASURE.open(
        MeasureOptions(lang=lang, settings=evaluator, device=device.device)
    )
    print(explain(measure, [pair for pair in pairs if pair.text], id_).text(), end="")


def _pair(record: CallRecord, *, asked: bool) -> Pair:
    """A sentence of a run; the others only help alignment's statistics."""
    text = record.translation or ""
    if not asked:
        return Pair(record.id, record.source, text)
    instance = _instance(record.source, record.entity)
    return Pair.of(replace(instance, id=record.id), text)


def _instance(source: str, entity: str) -> Instance:
    row = {"id": "1", "source": source, "entity": entity, "gender": "unknown"}
    try:
        (instance,) = custom_corpus([row]).instances
    except DataError as error:
        message = f"expected words that stand once in {source!r}, got {entity!r}"
        raise SettingError("entity", message) from error
    return instance
