"""Whether single translations show the gender that their sources show, as a reward for training."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mtbias.corpora.own_sentences import custom_corpus
from mtbias.english.words import pronouns_gender
from mtbias.errors import DataError, SettingError
from mtbias.evaluation.gender_calls import GenderMeasure, make_aligner, stanza_package
from mtbias.language.installed import get_language
from mtbias.language.split_texts import SplitTexts
from mtbias.morphology.batch_analyser import BatchAnalyser
from mtbias.reading.sentence_pair import Pair
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings
from mtbias.types import Gender, GenderCall, Instance

RIGHT, NO_CALL, WRONG = 1, 0, -1


class Reward(NamedTuple):
    """What a translation is worth for the person of its source."""

    value: int
    """1: it shows the person's gender; −1: another; 0: none (`reason`)."""
    gender: Gender | None
    """What it shows."""
    reason: str
    """Why there is no call; empty if there is one."""
    words: tuple[str, ...]
    """The words of the translation that render the person."""


class RewardedSentence(NamedTuple):
    """A source sentence with the person who is asked about."""

    source: str
    entity: str | int
    """The person's words as in the source, or the position of the head among the words between
    blanks, from 0."""
    gender: str | None = None
    """The person's gender; None is that of the sentence's pronouns."""


def compute_rewards(
    sentences: Sequence[RewardedSentence],
    translations: Sequence[str],
    lang: str,
    settings: EvaluatorSettings,
    device: str | None,
) -> list[Reward]:
    """The reward of each translation, which depends on its own sentence alone: no corpus is learnt
    from.

    The models of the languages used last stay in memory.

    Raises:
        SettingError: the source tells no gender and none is given, the given one is invalid, or the
            person is not found.
        MtbiasError: a language or model is missing.
    """
    instances = [_instance(sentence) for sentence in sentences]
    measure, analyser = _open_evaluator(lang, settings, device)
    pairs = [
        Pair.from_instance(instance, text)
        for instance, text in zip(instances, translations, strict=True)
    ]
    analyser.hold(pair.text for pair in pairs if pair.text)
    return [
        _reward(measure, pair, instance) for pair, instance in zip(pairs, instances, strict=True)
    ]


def _reward(measure: GenderMeasure, pair: Pair, instance: Instance) -> Reward:
    if not pair.text.strip():
        return Reward(NO_CALL, None, "untranslated", ())
    texts = SplitTexts(measure.language, measure.source)
    (call,) = measure.call_pairs([pair], words=texts)
    words = tuple(pair.text[slice(*span)] for span in call.target)
    return Reward(_value(call, instance), call.gender, str(call.reason or ""), words)


def _value(call: GenderCall, instance: Instance) -> int:
    if call.gender is None:
        return NO_CALL
    return RIGHT if call.gender is instance.gold else WRONG


@lru_cache(maxsize=4)
def _open_evaluator(
    lang: str, settings: EvaluatorSettings, device: str | None
) -> tuple[GenderMeasure, BatchAnalyser]:
    options = MeasureOptions(lang=lang, settings=settings, device=device)
    language, aligner = get_language(lang), make_aligner(options)
    analyser = BatchAnalyser(stanza_package(options), device)
    return GenderMeasure(language, aligner, analyser, settings.evidence), analyser


def _instance(sentence: RewardedSentence) -> Instance:
    gender = sentence.gender or pronouns_gender(sentence.source)
    if gender is None:
        message = "expected male or female for a sentence without pronouns of one gender"
        raise SettingError("gender", f"{message}, got nothing for {sentence.source!r:.80}")
    if gender not in set(Gender):
        message = f"expected {', '.join(Gender)}, or None for that of the sentence's pronouns"
        raise SettingError("gender", f"{message}, got {gender!r:.40}")
    place = "entity_index" if isinstance(sentence.entity, int) else "entity"
    row = {"id": "1", "source": sentence.source, "gender": str(gender), place: sentence.entity}
    try:
        (instance,) = custom_corpus([row]).instances
    except DataError as error:
        expected = "words that occur once, or the number of a word from 0"
        message = f"expected {expected}, in {sentence.source!r:.80}, got {sentence.entity!r}"
        raise SettingError("entity", message) from error
    return instance
