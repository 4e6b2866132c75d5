"""Files of every kind of damage, to what reads occupations and patterns: each is refused in one
line that names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.mining.mined_rows import read_occupations
from mtbias.mining.patterns import read_patterns
from tests.attack.preparations import DAMAGES, prepare

OCCUPATIONS = "entities,M_workers,F_workers\nbaker,40,60\npilot,95,5\n"
PATTERN = """\
[[pattern]]
name = "own"
up = ["nsubj"]
down = ["obj", "nmod:poss"]
pronouns = ["determiner"]
"""


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    ("name", "text", "read"),
    [("occupations.csv", OCCUPATIONS, read_occupations), ("patterns.toml", PATTERN, read_patterns)],
)
def test_a_damaged_file_is_refused(
    name: str, text: str, read: Callable[[Path], object], damage: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read(path)
    prepare(f"damage {path} → {damage}")
    with pytest.raises(DataError) as refused:
        read(path)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)
