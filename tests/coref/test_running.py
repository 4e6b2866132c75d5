"""Running a coreference system: what was found is kept, resumed, and the same however often a run was stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mtbias.coref.conll import Clusters
from mtbias.coref.coref_text import CorefText
from mtbias.coref.running import Put, run_system
from mtbias.errors import DataError

TEXTS = [CorefText(str(n), ("He", "saw", "him", "."), "He saw him.", frozenset(), ()) for n in range(6)]


class FirstAndThird:
    """Links the first and the third word; stops after so many documents."""

    def __init__(self, stops_after: int = 99, name: str = "first-and-third") -> None:
        self.signature, self._left, self.asked = name, stops_after, [""]

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """In reverse order: the file's is the data's."""
        self.asked = [text.id for text in texts]
        for text in reversed(texts):
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            put(text.id, _clusters(int(text.id)))


def _clusters(number: int) -> Clusters:
    return (((0, 0), (2, 2)),) if number % 2 else ()


def test_a_stopped_run_resumes_with_the_same_bytes(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert run_system(FirstAndThird(), TEXTS, whole) == 0
    lines = [json.loads(line) for line in whole.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [text.id for text in TEXTS]
    assert lines[1] == {"id": "1", "tokens": ["He", "saw", "him", "."], "clusters": [[[0, 0], [2, 2]]]}

    with pytest.raises(KeyboardInterrupt):
        run_system(FirstAndThird(2), TEXTS, out)
    assert not out.exists()
    part = out.with_name("out.jsonl.part")
    with part.open("a", encoding="utf-8") as file:
        file.write('{"id": "0", "clus')  # a kill within a write
    system = FirstAndThird()
    assert run_system(system, TEXTS, out) == 2
    assert system.asked == ["0", "1", "2", "3"]  # the last two were found before
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "whole.jsonl"]


def test_another_system_or_other_texts_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_system(FirstAndThird(2), TEXTS, out)
    for system, texts in ((FirstAndThird(name="another"), TEXTS), (FirstAndThird(), TEXTS[1:])):
        with pytest.raises(DataError, match=r"out\.jsonl\.part.*give the same system and data, or remove the file"):
            run_system(system, texts, out)
    run_system(FirstAndThird(), TEXTS, out)
    with pytest.raises(DataError, match=r"out\.jsonl.*this file is there already"):
        run_system(FirstAndThird(), TEXTS, out)


def test_a_broken_part_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_system(FirstAndThird(2), TEXTS, out)
    part = out.with_name("out.jsonl.part")
    head = part.read_text(encoding="utf-8").splitlines()[0]
    for line, said in (('{"id": "1"}', "expected a document"), ('{"id": "x", "clusters": []}', "'x' is none")):
        part.write_text(f"{head}\n{line}\n", encoding="utf-8")
        with pytest.raises(DataError, match=said):
            run_system(FirstAndThird(), TEXTS, out)


def test_a_system_that_leaves_documents_out_is_told(tmp_path: Path) -> None:
    class Silent(FirstAndThird):
        def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
            put(texts[0].id, ())

    out = tmp_path / "out.jsonl"
    for left in (5, 4):
        with pytest.raises(DataError, match=f"gave nothing for {left} of 6 documents"):
            run_system(Silent(), TEXTS, out)
