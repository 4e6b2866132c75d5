"""Hold `mtbias eval` against a plain ``generate()`` loop, on a whole corpus, in several languages.

    python scripts/check_checkpoint.py --model FOLDER --lang de --lang ru --data WINOMT
        --stanza-dir DIR

For each language: `mtbias eval` runs every row; the same checkpoint translates the same sentences
in a loop as transformers' documentation has it (batches of 16 in the corpus's order, beam 5, fp32);
`mtbias score` scores that. The translations and the metrics must be equal. How many translations
are identified as another language is printed (py3langid, choosing among English and the languages
of mtbias). The checkpoint must be of M2M100's architecture. Exits with 1 where something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mtbias.corpora import Corpus, load_corpus
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.evaluation.stages import Request, evaluate
from mtbias.files.text_repair import repair
from mtbias.machine.stage_progress import ProgressLine
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EvaluatorSettings, TranslationSettings
from mtbias.translate.given_translations import given_file
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import locate
from mtbias.types import Instance

LANGUAGES = ("ar", "cs", "de", "en", "es", "fr", "he", "it", "ru", "uk")


def plain(folder: Path, lang: str, sources: Sequence[str]) -> list[str]:
    """Translations without any code of mtbias."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer.src_lang = "en"
    texts: list[str] = []
    for start in range(0, len(sources), 16):
        inputs = tokenizer(list(sources[start : start + 16]), return_tensors="pt", padding=True)
        found = model.generate(
            **inputs,
            forced_bos_token_id=tokenizer.get_lang_id(lang),
            num_beams=5,
            max_length=200,
            length_penalty=1.0,
            early_stopping=True,
        )
        texts += tokenizer.batch_decode(found, skip_special_tokens=True)
    return texts


def check(args: argparse.Namespace, lang: str, corpus: Corpus[Instance], work: Path) -> bool:
    """Compare in one language; print what came out in a line."""
    settings = EvaluatorSettings(stanza_dir=args.stanza_dir, cache_dir=work)
    measure = GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=settings, device="cpu"))
    common: dict[str, Any] = {
        "corpus": corpus,
        "lang": lang,
        "measure": measure,
        "kind": GENDER_MEASURE,
    }
    checkpoint = locate(str(args.model), lang, cache=work)
    system = CheckpointSystem(checkpoint, lang, TranslationSettings(), cache=work, device="cpu")
    start = time.perf_counter()
    made = evaluate(
        Request(system=system, **common), out=work / f"eval-{lang}", progress=ProgressLine()
    ).metrics
    seconds = time.perf_counter() - start
    ours = [t.text or "" for t in RunFolder(work / f"eval-{lang}").read_translations()]
    sources = [instance.source for instance in corpus.instances]
    # mtbias repairs what is damaged for certain, such as Cyrillic letters in a Latin word.
    theirs = [repair(text.strip()).text for text in plain(args.model, lang, sources)]
    file = work / f"{lang}.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for instance, text in zip(corpus.instances, theirs, strict=True):
            lines.write(json.dumps({"id": instance.id, "target": text}, ensure_ascii=False) + "\n")
    scored = evaluate(Request(system=given_file(file, name="plain"), **common)).metrics
    keys = (
        "n",
        "decided",
        "reasons",
        "overall",
        "by_domain",
        "by_pronouns",
        "by_stereotype",
        "by_entity",
        "evidence",
    )
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    equal = [key for key in keys if made[key] == scored[key]]
    elsewhere = [text for text in ours if text and identify(text) != lang]
    print(
        f"{lang}: {len(ours):,} rows in {seconds:.0f} s; translations equal to the plain loop's: {same:,}; metrics "
        f"equal: {len(equal)} of {len(keys)} parts; identified as another language: {len(elsewhere)}",
        flush=True,
    )
    for text in elsewhere[:5]:
        print(f"    {identify(text)}: {text}")
    return same == len(ours) and len(equal) == len(keys)


def identify(text: str) -> str:
    """The likeliest of `LANGUAGES`."""
    import py3langid

    py3langid.set_languages(list(LANGUAGES))
    return str(py3langid.classify(text)[0])


def main() -> int:
    """Check every language that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--lang", action="append", required=True)
    parser.add_argument("--data", type=Path, required=True, help="WinoMT's folder")
    parser.add_argument("--stanza-dir", type=Path, required=True)
    parser.add_argument("--rows", type=int, help="only so many rows, spread over the corpus")
    args = parser.parse_args()
    corpus = load_corpus("winomt", args.data)
    if args.rows:
        from dataclasses import replace

        step = len(corpus.instances) / args.rows
        corpus = replace(
            corpus, instances=tuple(corpus.instances[int(n * step)] for n in range(args.rows))
        )
    with tempfile.TemporaryDirectory() as name:
        fine = [check(args, lang, corpus, Path(name)) for lang in args.lang]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
