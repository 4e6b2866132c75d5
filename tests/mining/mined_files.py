"""A small corpus in the columns of a mined one."""

from __future__ import annotations

from pathlib import Path

COLUMNS = (
    "sentence_text", "profession", "profession_first_index", "g", "g_first_index", "predicted gender", "stereotype",
    "distance", "num_of_pronouns", "corpus", "data_index", "pattern", "confidence", "file", "offset",
)  # fmt: skip

Row = tuple[str, str, str, str, int, str, float]

ROWS: list[Row] = [
    ("The nurse lost her keys .", "nurse", "her", "Female", 1, "object", 0.92),
    ("The doctor lost his keys .", "doctor", "his", "Male", 1, "object", 0.92),
    ("The carpenter and her friends slept .", "carpenter", "her", "Female", -1, "conjunct", 0.55),
    ("The clerk and his friends slept .", "clerk", "his", "Male", -1, "conjunct", 0.55),
    ("His doctor slept .", "doctor", "His", "Male", 1, "conjunct", 0.41),
]
"""Sentence, profession, pronoun, gender, stereotype, pattern, confidence."""


def write_mined(path: Path, rows: list[Row] = ROWS) -> Path:
    """The corpus as a TSV; the distance is counted, the rest is the same in all rows."""
    lines = ["\t".join(COLUMNS)]
    for n, (sentence, profession, pronoun, gender, stereotype, pattern, confidence) in enumerate(
        rows
    ):
        words = sentence.split()
        p, g = words.index(profession), words.index(pronoun)
        fields = (
            sentence, profession, p, pronoun, g, gender, stereotype, abs(p - g), 1, "ward", 11, pattern, confidence,
            "notes.txt", 100 * n,
        )  # fmt: skip
        lines.append("\t".join(map(str, fields)))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
