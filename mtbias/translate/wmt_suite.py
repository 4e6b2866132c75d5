"""Test suites for WMT: the sentences of a corpus with an instruction for the system, as JSON lines.

A line has the fields of WMT 2026's general test set; a system's file has a ``hypothesis`` for each
``doc_id``. The organisers' collector gives a language model the instruction, an empty line and the
text. The fields of suites are announced (JSON lines, a prompt for each item) but not published;
those of the test set are used.

Source: README.md of github.com/wmt-conference/wmt26-general-mt at 2fb096d6; ``tools/utils.py`` of
github.com/wmt-conference/wmt-collect-translations at 2d1b1857; www2.statmt.org/wmt26, test suites.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from mtbias.errors import DataError, UsageError
from mtbias.translate.language_models.prompt_files import Prompt
from mtbias.translate.wmt_names import SuitePlace, wmt_code
from mtbias.types import JsonDict, SourceSentence


def instruction(prompt: Prompt, lang: str, source_lang: str) -> str:
    """The instruction of a prompt without the sentence, which WMT adds after an empty line.

    Raises:
        UsageError: WMT cannot use the prompt: it has several turns, or something behind the
            sentence; or as `Prompt.filled`.
    """
    content = prompt.messages[-1].content
    if len(prompt.messages) > 1 or prompt.examples or not content.endswith("\n\n{source}"):
        raise UsageError(
            "expected a prompt of one message that ends with an empty line and {source}, "
            f"as WMT asks, got {prompt.name}; take another, or write such a file"
        )
    filled = prompt.filled("", lang, source_lang)[-1]["content"]
    return filled.removesuffix("\n\n")


def suite_lines(
    instances: Sequence[SourceSentence],
    dataset: str,
    prompts: Sequence[Prompt],
    *,
    lang: str,
    source_lang: str = "en",
) -> Iterator[str]:
    """The lines of a suite: all sentences, with each of the prompts.

    Raises:
        UsageError: WMT cannot use a prompt (`instruction`), or two have one name.
        DataError: an id holds the separator of a ``doc_id``.
    """
    for name, times in Counter(prompt.name for prompt in prompts).items():
        if times > 1:
            message = "expected prompts of different names, which are in the doc_ids of WMT"
            raise UsageError(f"{message}, got {times} of the name {name}")
    for prompt in prompts:
        instruction_text = instruction(prompt, lang, source_lang)
        for instance in instances:
            if "#" in instance.id:
                raise DataError(
                    f"expected an id without #, which parts the doc_id of WMT, got {instance.id!r}"
                )
            place = SuitePlace(
                dataset, prompt.name, wmt_code(source_lang), wmt_code(lang), instance.id
            )
            line: JsonDict = {
                "doc_id": place.doc_id,
                "domain": f"{dataset}.{prompt.name}",
                "src_lang": place.source_lang,
                "tgt_lang": place.lang,
                "src_text": instance.source,
                "video": None,
                "screenshot": None,
                "prompt_instruction": instruction_text,
                "refs": {},
            }
            yield json.dumps(line, ensure_ascii=False)
