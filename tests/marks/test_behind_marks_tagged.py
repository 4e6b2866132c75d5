"""Whose the words behind a comma are, and whose the article before a noun (``tests/marks``): no
sentence is called by a gender that it does not show, but those that the files know.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.label_sets import marks


@pytest.mark.slow
@pytest.mark.parametrize("code", marks.FILES)
def test_no_other_sentence_is_called_wrongly(code: str, stanza_dir: Path) -> None:
    sentences = marks.read_sentences(marks.FILES[code])
    assert {sentence.expected for sentence in sentences} == {"male", "female", marks.NONE}
    calls = marks.calls_of(code, stanza_dir, sentences)
    wrong = {s.text: str(call.gender) for s, call in calls if marks.outcome(s, call) == "wrong"}
    assert wrong == {s.text: s.known for s in sentences if s.known}
