"""Build the demo that ships with mtbias: corpus, translation model, Stanza pipelines.

    python scripts/build_demo.py                   all of it, into mtbias/demo (about an hour on
                                                   one core)
    python scripts/build_demo.py check [LANG…]     says everything that the grammar can say;
                                                   names what is missing
    python scripts/build_demo.py corpus            writes the corpus and its correct translations
    python scripts/build_demo.py model             trains the translation model
    python scripts/build_demo.py stanza [LANG…]    trains the Stanza pipelines
    python scripts/build_demo.py verify [LANG…]    translates and calls the corpus; compares with
                                                   the known genders

Everything is seeded and runs on one thread: the same machine and versions give the same bytes
again.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.demo.corpus import SEED, corpus, write_corpus
from scripts.demo.grammar import GENDERS, TAGGED, Grammar, GrammarError, choices, say_english

DEMO = Path(__file__).resolve().parent.parent / "mtbias" / "demo"
STANZA_TRAINING, STANZA_HELD_OUT = 1500, 300
"""Choices of the grammar for the taggers: each is said of a man, of a woman, and in a mixture of
both."""


def check(languages: Sequence[str], *, examples: int = 0) -> None:
    """Say every sentence in every language; print how many, and some of them."""
    every = list(choices())
    for language in languages:
        grammar = Grammar.load(language)
        print(f"{language}: {grammar.check():,} sentences")
        for choice in random.Random(0).sample(every, examples):
            for gender in GENDERS:
                print(f"  {say_english(choice, gender)[0]}\n    {grammar.say(choice, gender).text}")


def train_stanza(languages: Sequence[str], folder: Path) -> None:
    """Train a pipeline a language on sentences that are not in the corpus; print its size and what
    it gets right.
    """
    from scripts.demo.pipelines import mixtures, train_pipeline, write_index

    kept = {row.choice for row in corpus()}
    every = [choice for choice in choices() if choice not in kept]
    chosen = random.Random(SEED).sample(every, STANZA_TRAINING + STANZA_HELD_OUT)
    for language in languages:
        grammar = Grammar.load(language)
        said = [(grammar.say(choice, "male"), grammar.say(choice, "female")) for choice in chosen]
        pairs, rest = said[:STANZA_TRAINING], said[STANZA_TRAINING:]
        sentences = [
            *(sentence for pair in pairs for sentence in pair),
            *mixtures(pairs, seed=SEED),
        ]
        held_out = [
            *(sentence for pair in rest for sentence in pair),
            *mixtures(rest, seed=SEED + 1),
        ]
        report = train_pipeline(language, sentences, held_out, folder, seed=SEED)
        size, scores = sum(size for _, size in report.sizes), report.scores
        print(
            f"{language}: {report.seconds:.0f} s, {size / 1000:.0f} kB; of {scores.sentences} held-out sentences "
            f"segmentation {scores.segmentation:.2%}, UPOS {scores.upos:.2%}, gender {scores.gender:.2%}",
            flush=True,
        )
    write_index(folder, sorted(path.name for path in folder.iterdir() if path.is_dir()))


def main() -> int:
    """Run one step of the build, or all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "step",
        nargs="?",
        default="all",
        choices=("all", "check", "corpus", "model", "stanza", "verify"),
    )
    parser.add_argument(
        "languages", nargs="*", default=[], metavar="LANG", help="for check, stanza and verify"
    )
    parser.add_argument("--folder", type=Path, default=DEMO, help="where the demo is built")
    parser.add_argument(
        "--examples", type=int, default=0, help="check: print that many sentences of each language"
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=9_000,
        help="model: English sentences, each in all languages",
    )
    parser.add_argument("--epochs", type=int, default=4, help="model: times that they are seen")
    parser.add_argument(
        "--threads", type=int, default=1, help="model: another number gives other bytes"
    )
    args = parser.parse_args()
    languages = args.languages or TAGGED
    steps: dict[str, Callable[[], None]] = {
        "check": lambda: check(languages, examples=args.examples),
        "corpus": lambda: print(f"{write_corpus(args.folder):,} sentences"),
        "model": lambda: _train_model(args),
        "stanza": lambda: train_stanza(languages, args.folder / "stanza"),
        "verify": lambda: _verify(languages),
    }
    try:
        for name, step in steps.items():
            if args.step in {"all", name}:
                step()
    except GrammarError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _train_model(args: argparse.Namespace) -> None:
    from scripts.demo.model import train

    train(args.folder / "model", sentences=args.sentences, epochs=args.epochs, threads=args.threads)


def _verify(languages: Sequence[str]) -> None:
    from scripts.demo.verify import verify

    for language in languages:
        print(verify(language).line(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
