"""A small real coreference model to try things with: documents of WinoBias's shape, and a BERT with
random weights.

A pronoun means the person of its stereotype's gender, so that the model that learns the documents
is biased on purpose; two layers of 64 and some 300 word pieces learn them in seconds and know
nothing else. Results with it say that the tools work, and nothing of any real system.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtbias.coref.documents import CorefText, Mention, exported
from mtbias.coref.training import TrainingSettings
from mtbias.files.writing import write_atomic

MEN = ("plumber", "carpenter", "driver", "lawyer", "smith", "farmer", "chief", "janitor")
WOMEN = ("nurse", "florist", "cleaner", "baker", "teacher", "tailor", "clerk", "nanny")
VERBS = ("called", "thanked", "met", "saw", "helped", "liked")
ADJECTIVES = ("late", "tired", "early", "new", "busy", "kind")
PRONOUN = 6
"""Its place in every sentence; the people are at 0 to 1 and 3 to 4."""


@dataclass(frozen=True, slots=True)
class ToySentence:
    """A sentence of two people."""

    words: tuple[str, ...]
    meant: int
    """Which of the two the pronoun means, 0 or 1."""
    stereotypical: bool

    @property
    def mention(self) -> Mention:
        """Of the person, with the article."""
        return 3 * self.meant, 3 * self.meant + 1

    @property
    def person(self) -> str:
        """Who is meant."""
        return self.words[self.mention[1]]


def sentences(n: int, seed: int, *, stereotypical: bool = True) -> list[ToySentence]:
    """`n` sentences whose pronoun means the man or woman by stereotype, or the other one."""
    rng = random.Random(seed)
    found = []
    for _ in range(n):
        people = [rng.choice(MEN), rng.choice(WOMEN)]
        rng.shuffle(people)
        pronoun = rng.choice(("he", "she"))
        meant = next(
            k
            for k, person in enumerate(people)
            if (person in MEN) == ((pronoun == "he") == stereotypical)
        )
        text = f"The {people[0]} {rng.choice(VERBS)} the {people[1]} because {pronoun} was {rng.choice(ADJECTIVES)} ."
        found.append(ToySentence(tuple(text.split()), meant, stereotypical))
    return found


def settings(encoder: Path) -> TrainingSettings:
    """Of the trainer: with these the development documents are all right after three epochs."""
    return TrainingSettings(
        encoder=str(encoder),
        epochs=3,
        learning_rate=1e-3,
        encoder_learning_rate=3e-4,
        hidden_size=64,
        dropout=0.1,
        window=128,
        candidates=15,
    )


def write_documents(path: Path, given: Sequence[ToySentence]) -> None:
    """They as CoNLL-2012, a sentence a document."""
    texts = [
        CorefText(
            f"toy/{path.stem}/{n}",
            one.words,
            " ".join(one.words),
            ((one.mention, (PRONOUN, PRONOUN)),),
        )
        for n, one in enumerate(given)
    ]
    write_atomic(path, exported(texts, "conll", gold=True))


def write_bug(path: Path, given: Sequence[ToySentence]) -> None:
    """They as a file of BUG."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["sentence_text", "profession", "profession_first_index", "g", "g_first_index", "predicted gender",
             "stereotype", "distance", "num_of_pronouns", "corpus"]
        )  # fmt: skip
        for one in given:
            pronoun, at = one.words[PRONOUN], one.mention[1]
            gender = "Male" if pronoun == "he" else "Female"
            table.writerow(
                [" ".join(one.words), one.person, at, pronoun, PRONOUN, gender, 1 if one.stereotypical else -1,
                 PRONOUN - at, 1, "toy"]
            )  # fmt: skip


def write_encoder(folder: Path) -> None:
    """A BERT with random weights, and a tokenizer of the documents' words and of single
    characters.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    words = {"The", "the", "because", "he", "she", "was", ".", *MEN, *WOMEN, *VERBS, *ADJECTIVES}
    characters = [chr(code) for code in range(33, 127)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words | set(characters))]
    pieces += [f"##{character}" for character in characters]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    BertTokenizerFast.from_pretrained(folder, do_lower_case=False).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=160,
    )
    BertModel(config).save_pretrained(folder)
