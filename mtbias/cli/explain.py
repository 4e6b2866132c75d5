"""``mtbias explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mtbias.cli.shared import Device, Evaluator
from mtbias.corpora.own_sentences import custom_corpus
from mtbias.english.words import pronouns_gender
from mtbias.errors import DataError, SettingError, UsageError
from mtbias.evaluation.explanation import (
    explain,
    explain_in_run,
    explain_person,
    explain_person_in_run,
)
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.reading.sentence_pair import Pair
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
    gender: Literal["male", "female"] | None = None,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
) -> None:
    """Explain how the gender of one sentence was read.

    For a sentence and its translation (SOURCE TRANSLATION), or a sentence of a run by the run's
    folder and its id (RUN ID), it prints the words that may render the person, in the order of
    trust; all words as the language's tables and the tagger read them; the rules that applied; and
    the call with its evidence. A single sentence is aligned without a corpus to learn from, so its
    candidates may differ from a run's. Give the evaluator's options as in the run: if the call is
    not the run's, the last line says so.

    With --measure whole-person, or for a run with it, it prints the person's mentions in the
    source, the words that render each and agree with it, and the call.

    Parameters
    ----------
    first
        The sentence in English, or the folder of a run.
    second
        Its translation, or the id of a sentence of the run.
    lang
        Target language of a translation; a run has its own.
    entity
        The person's words in the sentence, such as "construction worker".
    gender
        The person's gender, for --measure whole-person (default: that of the sentence's pronouns).
    """
    if lang is None and entity is None:
        run = read_run(Path(first))
        if run.kind.reads_persons:
            print(explain_person_in_run(run, second), end="")
            return
        if not run.kind.reads_entities:
            message = f"expected a run that reads the gender of a person, got one of {run.measure}"
            raise UsageError(message)
        options = MeasureOptions(
            lang=run.lang, settings=evaluator, device=device.device, source_lang=run.source_lang
        )
        explanation = explain_in_run(GENDER_MEASURE.open(options), run, second)
    elif lang is None or entity is None:
        raise UsageError("expected --lang and --entity with a sentence, or neither with a run")
    else:
        options = MeasureOptions(lang=lang, settings=evaluator, device=device.device)
        instance = _instance(first, entity, gender)
        if evaluator.measure is not None:
            print(explain_person(options, instance, second), end="")
            return
        pair = Pair.from_instance(instance, second)
        explanation = explain(GENDER_MEASURE.open(options), [pair], pair.id)
    print(explanation.text(), end="")


def _instance(source: str, entity: str, gender: str | None) -> Instance:
    gold = gender or pronouns_gender(source) or "unknown"
    row = {"id": "1", "source": source, "entity": entity, "gender": str(gold)}
    try:
        (instance,) = custom_corpus([row]).instances
    except DataError as error:
        message = f"expected words that occur once in {source!r}, got {entity!r}"
        raise SettingError("entity", message) from error
    return instance
