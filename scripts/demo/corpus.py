"""The demo's corpus, its correct translations, and the biased parallel text that its model learns
from.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.demo.grammar import GENDERS, LANGUAGES, Choice, Grammar, choices, english, say_english

SEED = 20260
SENTENCES_AN_OCCUPATION = 8
"""Choices of template, adjective and time; each is said of a man and of a woman."""

WOMEN_CENTRE, WOMEN_STEP, WOMEN_WIDTH = 62.0, 8.0, 5.0
MEN_CENTRE, MEN_STEP, MEN_WIDTH = 86.0, 6.0, 3.0

CORPUS_COLUMNS = (
    "id",
    "source",
    "gender",
    "entity",
    "entity_start",
    "entity_end",
    "stereotype",
    "domain",
    "pair",
)


@dataclass(frozen=True)
class Row:
    """A sentence of the corpus."""

    id: str
    pair: str
    choice: Choice
    gender: str

    @property
    def stereotype(self) -> str:
        """``pro`` where the gender is that of most people of this occupation."""
        mostly = GENDERS[english()["occupations"][self.choice.occupation] > 50]
        return "pro" if self.gender == mostly else "anti"


def corpus() -> list[Row]:
    """The corpus: 32 occupations × 8 choices × 2 genders, every template as often as every other,
    give or take one.
    """
    chance = random.Random(SEED)
    templates = list(english()["templates"])
    adjectives = [*[""] * len(english()["adjectives"]), *english()["adjectives"]]
    rows: list[Row] = []
    deck: list[str] = []
    for occupation in english()["occupations"]:
        for _ in range(SENTENCES_AN_OCCUPATION):
            if not deck:
                deck = chance.sample(templates, len(templates))
            template = deck.pop()
            time = chance.choice(list(english()["times"]))
            choice = Choice(template, occupation, chance.choice(adjectives), time)
            number = len(rows) + 1
            ids = (f"demo-{number:04d}", f"demo-{number + 1:04d}")
            rows += [Row(ids[n], ids[1 - n], choice, gender) for n, gender in enumerate(GENDERS)]
    return rows


def write_corpus(folder: Path) -> int:
    """Write ``corpus.tsv`` and ``references/LANG.tsv`` (the correct translations); how many
    sentences.
    """
    rows = corpus()
    (folder / "references").mkdir(parents=True, exist_ok=True)
    with (folder / "corpus.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(CORPUS_COLUMNS)
        for row in rows:
            source, (start, end) = say_english(row.choice, row.gender)
            domain = english()["templates"][row.choice.template]["domain"]
            entity = row.choice.occupation
            table.writerow(
                [row.id, source, row.gender, entity, start, end, row.stereotype, domain, row.pair]
            )
    for language in LANGUAGES:
        grammar = Grammar.load(language)
        with (folder / "references" / f"{language}.tsv").open(
            "w", encoding="utf-8", newline=""
        ) as file:
            table = csv.writer(file, delimiter="\t", lineterminator="\n")
            table.writerow(("id", "target"))
            table.writerows((row.id, grammar.say(row.choice, row.gender).text) for row in rows)
    return len(rows)


def right_share(choice: Choice, gender: str) -> float:
    """Share of the training sentences about a `gender` in this sentence that are translated with
    that gender.

    Logistic in the occupation's share of women, in per cent; every further pronoun makes it
    likelier that the gender was noticed. With k pronouns: ``1 / (1 + exp(-(share - 62 + 8 (k - 1))
    / 5))`` for women, ``1 / (1 + exp((share - 86 - 6 (k - 1)) / 3))`` for men. So most people are
    rendered as men.
    """
    share = float(english()["occupations"][choice.occupation])
    more = (
        english()["templates"][choice.template]["text"].count("{") - 4
    )  # all but {occ}, {adj}, {time}, one pronoun
    if gender == "female":
        return 1 / (1 + math.exp(-(share - WOMEN_CENTRE + WOMEN_STEP * more) / WOMEN_WIDTH))
    return 1 / (1 + math.exp((share - MEN_CENTRE - MEN_STEP * more) / MEN_WIDTH))


def training_pairs(number: int, *, seed: int = SEED) -> Iterator[tuple[str, str, str]]:
    """`number` × languages triples (language, English, translation), none of them about a sentence
    of the corpus.

    The translation has the gender of the English pronouns with probability `right_share`, else the
    other throughout.
    """
    held_out = {row.choice for row in corpus()}
    every = [choice for choice in choices() if choice not in held_out]
    grammars = {language: Grammar.load(language) for language in LANGUAGES}
    chance = random.Random(seed)
    for choice in _sampled(every, number, chance):
        gender = chance.choice(GENDERS)
        source, _ = say_english(choice, gender)
        for language, grammar in grammars.items():
            right = chance.random() < right_share(choice, gender)
            shown = gender if right else GENDERS[1 - GENDERS.index(gender)]
            yield language, source, grammar.say(choice, shown).text


def _sampled(every: Sequence[Choice], number: int, chance: random.Random) -> Iterator[Choice]:
    while number > 0:
        yield from chance.sample(every, min(number, len(every)))
        number -= len(every)
