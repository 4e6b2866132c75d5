"""Given translations that are answers of a language model: the translations in them."""

from __future__ import annotations

from dataclasses import replace

from mtbias.translate.given_translations import EXAMPLES, GivenSystem, GivenTranslations
from mtbias.translate.language_models.cleaning import clean, tally
from mtbias.translate.language_models.prompt_files import load_prompt
from mtbias.translate.system import Sources
from mtbias.types import SourceSentence, Translation

_PROMPT = "plain"
"""What was asked is not known; this prompt asks for one line."""


def cleaned_system(system: GivenSystem, lang: str) -> GivenSystem:
    """The system whose translations are those in the answers of `system`, into the language `lang`.

    What a file lacks, and an empty line of it, is no answer and counts as it does otherwise.
    """

    def read(corpus: Sources) -> GivenTranslations:
        return _cleaned(system.read(corpus), corpus, lang)

    return replace(system, read=read)


def _cleaned(given: GivenTranslations, corpus: Sources, lang: str) -> GivenTranslations:
    prompt = load_prompt(_PROMPT)
    instances: dict[str, SourceSentence] = {instance.id: instance for instance in corpus.instances}
    found = {
        answer.id: clean(answer.text, instances[answer.id].source, prompt, lang)
        for answer in given.translations
        if answer.text is not None
    }
    counts = tally(found.items())
    examples = dict(given.noticed["examples"])
    for kind, ids in counts["ids"].items():
        examples[kind] = [*examples.get(kind, ()), *ids][:EXAMPLES]
    translations = [
        Translation(answer.id, found[answer.id].text, found[answer.id].reason, answer.text)
        if answer.id in found
        else answer
        for answer in given.translations
    ]
    noticed = {"cleaned": counts["cleaned"], "untranslated": counts["untranslated"], "examples": examples}
    return replace(given, translations=translations, noticed={**given.noticed, **noticed}, cleaned=True)
