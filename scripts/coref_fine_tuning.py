"""BUG's experiment: a coreference model before and after fine-tuning on anti-stereotypical BUG, and
trained on gender-swapped copies.

    python scripts/coref_fine_tuning.py --train CONLL --dev CONLL --encoder MODEL
        --bug FILE --gold FILE --out DIR
    python scripts/coref_fine_tuning.py --toy --out DIR

Four models of Stanza's: *base* on the documents of --train; *anti-stereotypical*, base fine-tuned
on the anti-stereotypical rows of --bug (profession and pronoun in one cluster); *anonymised* and
*names*, trained on --train with copies of `mtbias coref augment` (a-CDA and n-CDA). Each is run on
--gold, and accuracy, ΔG and ΔS of `mtbias coref score bug` stand beside those of base, with paired
intervals and p (table 4 of Levy et al., Findings of EMNLP 2021, with SpanBERT: 65.1, 10.2, 6.0
before and 64.1, 5.8, 2.9 after). --rows valid fine-tunes only on rows whose indices are at the
profession and the pronoun, as the authors' converter does (of Gold BUG these would be 1,688 of
1,719).

With --toy everything is made here (`scripts/toy_coref.py`): that the tools work is all that it
shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mtbias.coref.augmentation import Kind, augment
from mtbias.coref.bug_links import Bug, read_bug
from mtbias.coref.counterfactual_quadruples import find_proper_nouns
from mtbias.coref.documents import Answers, CorefText, exported, read_conll
from mtbias.coref.systems import StanzaCoref, run_system
from mtbias.coref.training import TrainingSettings, train, training_data
from mtbias.corpora.catalog import cache_folder
from mtbias.files.writing import write_atomic
from mtbias.machine.stage_progress import ProgressLine
from mtbias.morphology.stanza_models import stanza_folder
from mtbias.report.tables import columns, interval, number
from mtbias.stats.paired import corrected
from mtbias.stats.results import p_text
from mtbias.types import Stereotype
from scripts.toy_coref import sentences, write_bug, write_documents, write_encoder
from scripts.toy_coref import settings as toy_settings

NUMBERS = {"accuracy": "accuracy", "delta_g": "ΔG", "delta_s": "ΔS"}
KINDS: tuple[Kind, ...] = ("anonymised", "names")


def write_toy(folder: Path) -> None:
    """The toy's encoder, documents and BUG in `folder`."""
    write_encoder(folder / "encoder")
    # Mostly stereotypical, as text is, so that copies with the genders swapped change something.
    for name, n, seed in (("train", 200, 0), ("dev", 40, 1)):
        write_documents(folder / f"{name}.conll", sentences(n, seed))
    write_bug(folder / "bug.csv", sentences(100, 2, stereotypical=False) + sentences(100, 3))
    write_bug(folder / "gold.csv", sentences(60, 4, stereotypical=False) + sentences(120, 5))


def anti_stereotypical(bug: Bug, *, valid: bool) -> list[CorefText]:
    """The anti-stereotypical rows; with `valid` those whose two indices are right."""
    rows = {
        row.id
        for row in bug.rows
        if row.stereotype is Stereotype.ANTI and not (valid and row.misplaced)
    }
    return [text for text in bug.texts if text.id in rows and text.gold]


def run_all(args: argparse.Namespace, settings: TrainingSettings) -> dict[str, Answers]:
    """Train the four models, and run each on Gold BUG."""
    out: Path = args.out
    dev = training_data(read_conll(args.dev).documents)
    models = {
        "base": train(training_data(read_conll(args.train).documents), dev, settings, out / "base")
    }
    anti = out / "anti.conll"
    write_atomic(
        anti,
        exported(
            anti_stereotypical(read_bug(args.bug), valid=args.rows == "valid"), "conll", gold=True
        ),
    )
    models["anti-stereotypical"] = train(
        training_data(read_conll(anti).documents),
        dev,
        settings,
        out / "anti-stereotypical",
        models["base"],
    )
    tagger = partial(find_proper_nouns, folder=stanza_folder(args.stanza_dir, cache_folder(None)))
    for kind in KINDS:
        path = out / f"{kind}.conll"
        augment(args.train, kind, path, proper_nouns=tagger)
        models[kind] = train(training_data(read_conll(path).documents), dev, settings, out / kind)
    gold, answers = read_bug(args.gold), {}
    for name, model in models.items():
        clusters = out / f"{name}.jsonl"
        run_system(StanzaCoref(model, device=settings.device), gold.texts, clusters, ProgressLine())
        answers[name] = gold.read([clusters], spans="included")
    return answers


def table(gold: Bug, answers: Mapping[str, Answers], resamples: int) -> str:
    """Each model's numbers, and its differences from base, with paired intervals and p."""
    scores = {
        name: gold.score(predictions, resamples=resamples) for name, predictions in answers.items()
    }
    others = [name for name in scores if name != "base"]
    base = scores["base"].units[""]
    differences = corrected(
        (scores[name].units[""].minus(base, "rows", resamples, 0) for name in others), together=True
    )
    rows = []
    for name, of in scores.items():
        for key, label in NUMBERS.items():
            one = of[key]
            cells: Sequence[str] = ("", "", "", "")
            if name != "base":
                d = differences[others.index(name)][key]
                pvalues = (p_text(d.p, 4), p_text(d.p_holm, 4))
                cells = (number(d.difference), interval(d.interval), *pvalues)
            rows.append([name, label, number(one.value), interval(one.interval), *cells])
    return columns(["trained", "", "", "95 %", "minus base", "95 %", "p", "p, Holm"], rows)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--toy", action="store_true", help="make encoder, documents and BUG here")
    for name in ("train", "dev", "bug", "gold"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--encoder", help="folder or Hub id of a transformer encoder")
    parser.add_argument("--epochs", type=int, default=32)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", choices=("all", "valid"), default="all")
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument(
        "--stanza-dir", type=Path, help="Stanza's English tagger, for an untagged --train"
    )
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    args = parser.parse_args()
    if args.out.exists():
        parser.error(f"--out: expected a new folder, {args.out} is there already")
    if not args.toy and None in (args.train, args.dev, args.bug, args.gold, args.encoder):
        parser.error("expected --train, --dev, --bug, --gold and --encoder, or --toy")
    args.out.mkdir(parents=True)
    if args.toy:
        write_toy(args.out / "toy")
        args.train, args.dev = args.out / "toy" / "train.conll", args.out / "toy" / "dev.conll"
        args.bug, args.gold = args.out / "toy" / "bug.csv", args.out / "toy" / "gold.csv"
        settings = toy_settings(args.out.resolve() / "toy" / "encoder")
    else:
        settings = TrainingSettings(encoder=args.encoder, epochs=args.epochs, device=args.device)
    answers = run_all(args, settings)
    print("A toy: random weights, template sentences.\n" if args.toy else "", end="")
    print(table(read_bug(args.gold), answers, args.resamples))


if __name__ == "__main__":
    main()
