"""A language model as a metric: requests of a batch of an OpenAI-like endpoint, and the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mtbias.files.reading import TextFile, read_text
from mtbias.translate.file_shapes import is_object, read_rows

QUESTION = (
    "How good is this translation? Answer with one number from 0 (it keeps nothing of the meaning) "
    "to 100 (it is perfect), and with nothing else.\n\nSource: {source}\nTranslation: {translation}"
)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\.?")


def judge_requests(rows: Iterable[Mapping[str, str]], model: str) -> Iterator[str]:
    """A line of JSON for each row of a file of contrasts, as OpenAI's batches take them."""
    for row in rows:
        question = QUESTION.format(source=row["source"], translation=row["translation"])
        request = {
            "custom_id": row["id"],
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": model,
                "temperature": 0,
                "messages": [{"role": "user", "content": question}],
            },
        }
        yield json.dumps(request, ensure_ascii=False)


def is_answers(path: Path) -> bool:
    """Whether a file holds answers to `judge_requests`."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    first = read_text(path).text.partition("\n")[0]
    return is_object(first) and "custom_id" in json.loads(first)


def read_answers(path: Path, ids: Iterable[str]) -> tuple[TextFile, dict[str, float]]:
    """The file, and the number that the model answered for each of `ids`.

    Raises:
        DataError: an answer is not a number or belongs to no id, with its line; or one is missing.
    """
    file = read_text(path)
    expected = dict.fromkeys(ids)
    scores: dict[str, float] = {}
    for row in read_rows(file).rows:
        if row.id not in expected:
            message = "expected the id of a translation of the contrasts"
            raise file.error(f"{message}, got {row.id!r:.80}", row.line)
        number = _NUMBER.fullmatch(row.target.strip())
        if number is None:
            raise file.error(f"expected a number as answer, got {row.target!r:.80}", row.line)
        scores[row.id] = float(number[1])
    missing = [id_ for id_ in expected if id_ not in scores]
    if missing:
        raise file.error(
            f"expected an answer for each of {len(expected)} translations, got none for "
            f"{len(missing)}, the first is {missing[0]!r:.80}"
        )
    return file, scores
