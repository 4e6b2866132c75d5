"""A small WinoBias and a small Winogender of our own sentences, as the files that their readers
take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from mtbias.coref.documents import Mention
from mtbias.coref.gap_data import GapInstance, Labels
from mtbias.types import Span

Sentence = tuple[str, Sequence[Mention]]

# Men by stereotype: plumber, night guard. Women: florist, nanny.
PRO_SENTENCES: list[Sentence] = [
    ("The plumber called the florist because he was late .", [(0, 1), (6, 6)]),
    ("The plumber called the florist because she was late .", [(3, 4), (6, 6)]),
    ("The night guard thanked the nanny because she liked her work .", [(4, 5), (7, 7), (9, 9)]),
]
ANTI_SENTENCES: list[Sentence] = [
    ("The plumber called the florist because she was late .", [(0, 1), (6, 6)]),
    ("The plumber called the florist because he was early .", [(3, 4), (6, 6)]),
    ("The night guard thanked the nanny because he liked his work .", [(4, 5), (7, 7), (9, 9)]),
]

# Occupation, other participant, share of women by BLS and by Bergsma.
OCCUPATIONS = [
    ("florist", "caller", 80.0, 60.5),
    ("plumber", "tenant", 5.0, 1.25),
    ("clerk", "guest", 50.0, 40.0),
]
WORDS = {"male": ("he", "his"), "female": ("she", "her"), "neutral": ("they", "their")}


def conll(sentences: Sequence[Sentence], name: str) -> str:
    """The sentences as documents ``nw/NAME//0`` and so on, in CoNLL's form."""
    parts = []
    # Written backwards: the order of the file is not that of the lines.
    for number, (text, mentions) in reversed(list(enumerate(sentences))):
        document = f"nw/{name}//{number}"
        parts.append(f"#begin document ({document}); part 000")
        for at, word in enumerate(text.split()):
            links = [
                "(1)" if a == b else "(1" if at == a else "1)" for a, b in mentions if at in {a, b}
            ]
            parts.append("\t".join([document, "0", str(at), word, "|".join(links) or "-"]))
        parts += ["", "#end document"]
    return "\n".join(parts) + "\n"


def write_winobias(folder: Path) -> None:
    """A small WinoBias: type 1 of dev."""
    (folder / "male_occupations.txt").write_text("plumber\nnight guard\n", encoding="utf-8")
    (folder / "female_occupations.txt").write_text("florist\nnanny", encoding="utf-8")
    for condition, sentences in (("pro", PRO_SENTENCES), ("anti", ANTI_SENTENCES)):
        path = folder / f"dev_type1_{condition}_stereotype.v4_auto_conll"
        path.write_text(conll(sentences, condition), encoding="utf-8")


def write_winogender(folder: Path) -> list[str]:
    """A small Winogender: 3 occupations, 36 sentences, whose ids it gives."""
    rows = {}
    for (occupation, participant, _, _), answer, other, pronoun in product(
        OCCUPATIONS, "01", ("", "someone"), WORDS
    ):
        who = other or f"the {participant}"
        subject, possessive = WORDS[pronoun]
        ends = f"{subject} couldn't stay" if answer == "0" else f"{possessive} bell rang"
        id_ = f"{occupation}.{other or participant}.{answer}.{pronoun}.txt"
        rows[id_] = f"{id_}\tThe {occupation} rang {who}, but {ends}."
    lines = ["sentid\tsentence", *rows.values()]
    (folder / "all_sentences.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    stats = ["occupation\tbergsma_pct_female\tbls_pct_female\tbls_year"]
    stats += [f"{name}\t{bergsma}\t{bls}\t2015" for name, _, bls, bergsma in OCCUPATIONS]
    (folder / "occupations-stats.tsv").write_text("\n".join(stats) + "\n", encoding="utf-8")
    return list(rows)


def gap_instance(
    id_: str, text: str, pronoun: str, pronoun_offset: int, a: str, a_offset: int, a_coref: bool | None, b: str,
    b_offset: int, b_coref: bool | None, others: Mapping[str, str] | None = None,
) -> GapInstance:  # fmt: skip
    """An instance as a file has it: by its words and where they stand."""
    pronoun_at, *names = (
        Span(start, start + len(word))
        for word, start in ((pronoun, pronoun_offset), (a, a_offset), (b, b_offset))
    )
    return GapInstance(
        id_, text, pronoun_at, (names[0], names[1]), Labels(a_coref, b_coref), others or {}
    )
