"""A process that translates with one of Firefox's models, sentence by sentence.

It is started as a file, and knows nothing of mtbias: Firefox's engine keeps Python's lock while it
translates, so that threads would take turns, and where a file is damaged it may end its process.

Standard input has the lengths of model, source vocabulary, target vocabulary and shortlist (none:
0) as one line of JSON, then their bytes, then a line of JSON for each sentence. Standard output has
a line of JSON for the model, and one for each sentence: ``{"ok": TEXT}``, or ``{"error": TEXT}``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the engine might print is not an answer
    lengths = json.loads(sys.stdin.buffer.readline())
    files = [sys.stdin.buffer.read(length) for length in lengths]
    translator: list[Any] = []

    def load() -> str:
        from fxtranslate import Translator

        model, source, target, shortlist = files
        translator.append(Translator(model, source, target, shortlist or None))
        return str(translator[0].backend())

    def answer(compute: Callable[[], str]) -> None:
        try:
            line = {"ok": compute()}
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of the engine is not an `Exception`
            line = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(line), file=answers, flush=True)

    answer(load)
    files.clear()
    for line in sys.stdin.buffer:
        answer(partial(translate, translator, json.loads(line)))


def translate(translator: list[Any], text: str) -> str:
    """The translation of one sentence by the engine, once it is loaded."""
    return str(translator[0].translate(text))


if __name__ == "__main__":
    main()
