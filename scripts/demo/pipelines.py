"""The demo's Stanza pipelines: a small tokenizer, multiword expander and tagger a language, trained
on the grammar.

They are real Stanza models, made by Stanza's own training programs from the grammar's annotation
and packed small: half precision, nothing kept that only training needs.
``FOLDER/LANG/{tokenize,mwt,pos}/demo.pt`` and ``FOLDER/resources.json`` are what
``stanza.Pipeline`` and `mtbias.morphology.find_package` read. A seed gives the same bytes again on
the same machine and versions.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import json
import logging
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.demo.grammar import Realised

PACKAGE = "demo"
PROCESSORS = ("tokenize", "mwt", "pos")

TOKENIZE_OPTIONS = """
    --emb_dim 16 --hidden_dim 32 --dropout 0.1 --unit_dropout 0.05 --feat_dropout 0 --feat_unit_dropout 0
    --split_mwt_prob 0 --max_seqlen 300 --batch_size 16 --steps 800 --eval_steps 1000000
"""
MWT_OPTIONS = "--emb_dim 24 --hidden_dim 48 --emb_dropout 0.1 --dropout 0.1 --lr 0.003 --num_epoch 8 --batch_size 32"
POS_OPTIONS = """
    --no_pretrain --share_hid --char_bidirectional --char_emb_dim 24 --char_hidden_dim 32 --transformed_dim 32
    --word_emb_dim 32 --word_cutoff 1 --hidden_dim 64 --num_layers 1 --deep_biaff_hidden_dim 64 --tag_emb_dim 8
    --dropout 0.2 --word_dropout 0.1 --batch_size 50 --lr 0.004 --second_lr 0.0004 --max_steps_before_stop 800
    --max_steps 1000 --fix_eval_interval --eval_interval 1000
"""
"""No model is selected by a score: there is none before the last step (Stanza's tagger needs one
there). The learning rate falls after 800 steps, which is what Stanza does where the score has not
risen for that long."""

DAMAGED = 0.35
"""For so many of the sentences, a damaged one is added to them."""
CLOSED_CLASS = 40
"""Fewer different multiword tokens than these are contractions that a table lists; more are split
by a network."""
MWT_EXAMPLES = 8
"""Sentences that the multiword expander sees of each multiword token, at most."""
TRAINING_ONLY = re.compile(
    r"_(file|dir|name|gold)$|^(wandb|device|mode|log_|save_|load_|eval_|max_steps|train_)"
)


@dataclass(frozen=True)
class Scores:
    """What a pipeline gets right from raw text, as shares of 1; where the segmentation is wrong,
    every word is.
    """

    sentences: int
    segmentation: float
    """Sentences whose tokens and words are all right."""
    upos: float
    feats: float
    gender: float
    """Words that have Gender in the grammar: the same Gender came out."""


@dataclass(frozen=True)
class Report:
    """What training one language's models cost and gave."""

    language: str
    seconds: float
    """Of one core, for training."""
    sizes: tuple[tuple[str, int], ...]
    """(processor, bytes)."""
    scores: Scores
    """On the held-out sentences."""


def train_pipeline(
    language: str,
    sentences: Sequence[Realised],
    held_out: Sequence[Realised],
    folder: Path,
    *,
    seed: int,
) -> Report:
    """Train the models of `language` on `sentences`, into ``folder/language``; score what was
    packed on `held_out`.

    `sentences` should hold `mixtures` too; some of them are also seen damaged. Models of `language`
    that are there are replaced.
    """
    import torch

    started = time.process_time()
    rng = random.Random(f"{seed} {language}")
    material = [
        *sentences,
        *(_damaged(sentence, rng) for sentence in sentences if rng.random() < DAMAGED),
    ]
    rng.shuffle(material)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with TemporaryDirectory() as name, _silent():
            work = Path(name)
            _train_tokenizer(language, material, work, seed)
            _train_mwt(language, material, work, seed)
            _train_tagger(language, material, work, seed)
            shutil.rmtree(folder / language, ignore_errors=True)
            sizes = tuple(_pack(work, folder / language, processor) for processor in _trained(work))
    finally:
        torch.set_num_threads(threads)
    seconds = time.process_time() - started
    return Report(language, seconds, sizes, score(language, held_out, folder))


def write_index(folder: Path, languages: Sequence[str]) -> None:
    """Write ``folder/resources.json`` for the models of `languages` that lie in `folder`."""
    index: dict[str, Any] = {}
    for language in sorted(languages):
        chosen = {
            p: PACKAGE for p in PROCESSORS if (folder / language / p / f"{PACKAGE}.pt").exists()
        }
        index[language] = {
            "packages": {"default": chosen},
            "default_processors": chosen,
            "default_dependencies": {},
            "lang_name": language,
        }
        for processor in chosen:
            content = (folder / language / processor / f"{PACKAGE}.pt").read_bytes()
            digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
            index[language][processor] = {PACKAGE: {"md5": digest}}
    (folder / "resources.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def score(language: str, sentences: Sequence[Realised], folder: Path) -> Scores:
    """What the models in `folder` get right on `sentences` (one at least), from raw text with
    ``stanza.Pipeline``.
    """
    import stanza

    present = {p: PACKAGE for p in PROCESSORS if (folder / language / p / f"{PACKAGE}.pt").exists()}
    with TemporaryDirectory() as name, _silent():
        shown = Path(name)
        (shown / language).symlink_to((folder / language).resolve())
        write_index(shown, [language])
        pipeline = stanza.Pipeline(
            *(language, str(shown)),
            processors=present,
            download_method=None,
            tokenize_no_ssplit=True,
            device="cpu",
            verbose=False,
        )
        documents = pipeline.bulk_process([sentence.text for sentence in sentences])
    right: Counter[str] = Counter()
    for sentence, document in zip(sentences, documents, strict=True):
        right += _agreement(sentence, document)
    return Scores(
        len(sentences),
        right["segmentation"] / len(sentences),
        *(
            right[what] / right[of]
            for what, of in (("upos", "words"), ("feats", "words"), ("gender", "gendered"))
        ),
    )


def _agreement(sentence: Realised, document: Any) -> Counter[str]:  # noqa: ANN401 - stanza has no types
    gold = [word for token in sentence.tokens for word in token.words]
    found = Counter(words=len(gold), gendered=sum("Gender=" in word.feats for word in gold))
    tokens = [token for part in document.sentences for token in part.tokens]
    wanted = [(token.start, token.end, *(w.text for w in token.words)) for token in sentence.tokens]
    if wanted != [
        (token.start_char, token.end_char, *(w.text for w in token.words)) for token in tokens
    ]:
        return found
    found["segmentation"] = 1
    for word, got in zip(gold, (word for token in tokens for word in token.words), strict=True):
        ours, theirs = (
            dict(p.split("=") for p in f.split("|") if "=" in p)
            for f in (word.feats, got.feats or "_")
        )
        found["upos"] += word.upos == got.upos
        found["feats"] += ours == theirs
        found["gender"] += "Gender" in ours and ours["Gender"] == theirs.get("Gender")
    return found


# Sentences that a translation model says and the grammar does not.


def mixture(male: Realised, female: Realised, rng: random.Random) -> Realised:
    """The sentence `male` and `female` are realisations of, each place where they differ taken from
    either at random.

    The entity's article, adjective and noun are one place, so that "der Fahrer ..., weil sie ..."
    comes about and "der Fahrerin" does not. Where the two differ in annotation only, the next
    visible difference tells which one is meant.
    """
    chosen: list[tuple[Realised, int]] = []
    gender = rng.choice((male, female))
    for mine, hers in reversed(_places(male, female)):
        if [male.tokens[i].text for i in mine] != [female.tokens[i].text for i in hers]:
            gender = rng.choice((male, female))
        chosen[:0] = [(gender, i) for i in (mine if gender is male else hers)]
    return _sentence(chosen)


def mixtures(pairs: Sequence[tuple[Realised, Realised]], *, seed: int) -> list[Realised]:
    """One `mixture` of each pair of realisations (male, female) of the same choice."""
    rng = random.Random(f"{seed} mixtures")
    return [mixture(male, female, rng) for male, female in pairs]


def _places(male: Realised, female: Realised) -> list[tuple[range, range]]:
    """Both sentences cut into places that correspond: tokens, the entity's phrase, what has no
    counterpart.
    """
    his, her = _phrase(male), _phrase(female)
    before = _aligned(male, female, range(his.start), range(her.start))
    after = _aligned(
        male, female, range(his.stop, len(male.tokens)), range(her.stop, len(female.tokens))
    )
    return [*before, (his, her), *after]


def _phrase(sentence: Realised) -> range:
    """The entity's noun with articles, adjectives and prepositions before it and adjectives behind
    it.
    """
    kinds = [[word.upos for word in token.words] for token in sentence.tokens]
    start = sentence.tokens.index(sentence.head)
    end = start + 1
    while start and set(kinds[start - 1]) <= {"ADP", "DET", "ADJ"}:
        start -= 1
    while end < len(kinds) and kinds[end][-1] == "ADJ":
        end += 1
    return range(start, end)


def _aligned(
    male: Realised, female: Realised, his: range, her: range
) -> Iterator[tuple[range, range]]:
    left, right = (
        [(s.tokens[i].text, s.tokens[i].words) for i in part]
        for s, part in ((male, his), (female, her))
    )
    for _, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if b - a == d - c:
            yield from (
                (his[i : i + 1], her[j : j + 1])
                for i, j in zip(range(a, b), range(c, d), strict=True)
            )
        else:
            yield his[a:b], her[c:d]


def _damaged(sentence: Realised, rng: random.Random) -> Realised:
    """One to three tokens are said over and over, or one is left out, or the end is cut off."""
    order = list(range(len(sentence.tokens)))
    start = rng.randrange(len(order))
    match rng.choice(("repeat", "omit", "cut")):
        case "repeat":
            order[start:start] = order[start : start + rng.randint(1, 3)] * rng.randint(1, 3)
        case "omit":
            del order[start]
        case _:
            del order[rng.choice((-1, -1, max(start, 1))) :]
    return _sentence([(sentence, i) for i in order])


def _sentence(parts: Sequence[tuple[Realised, int]]) -> Realised:
    """A sentence of these tokens, each with the space that stands before it in its own sentence."""
    text = ""
    tokens = []
    for sentence, i in parts:
        token = sentence.tokens[i]
        if text and (i == 0 or sentence.tokens[i - 1].end < token.start):
            text += " "
        tokens.append(replace(token, start=len(text)))
        text += token.text
    return Realised(text, tuple(tokens))


# The three models.


def _train_tokenizer(language: str, sentences: Sequence[Realised], work: Path, seed: int) -> None:
    """Stanza's tokenizer: a label a character; 1 ends a token, 2 a sentence, 3 and 4 the same for
    multiword tokens.
    """
    from stanza.models import tokenizer

    labels, expansions = [], Counter[tuple[str, tuple[str, ...]]]()
    for sentence in sentences:
        marks = ["0"] * len(sentence.text)
        for token in sentence.tokens:
            multiword = len(token.words) > 1
            marks[token.end - 1] = str((3 if multiword else 1) + (token is sentence.tokens[-1]))
            if multiword:
                expansions[token.text, tuple(word.text.lower() for word in token.words)] += 1
        labels.append("".join(marks))
    (work / "train.txt").write_text(
        "\n\n".join(s.text for s in sentences) + "\n\n", encoding="utf-8"
    )
    (work / "train.label").write_text("\n\n".join(labels) + "\n\n", encoding="utf-8")
    (work / "mwt.json").write_text(json.dumps(list(expansions.items())), encoding="utf-8")
    text, label = work / "train.txt", work / "train.label"
    files = {"txt_file": text, "label_file": label, "dev_txt_file": text, "dev_label_file": label}
    files["mwt_json_file"] = work / "mwt.json"
    tokenizer.main(
        [*TOKENIZE_OPTIONS.split(), *_arguments(files, language, work / "tokenize.pt", seed)]
    )


def _train_mwt(language: str, sentences: Sequence[Realised], work: Path, seed: int) -> None:
    """Stanza's multiword expander, where there is a multiword token: a table, and for an open class
    a network too.
    """
    from stanza.models import mwt_expander

    seen: Counter[str] = Counter()
    kept = []
    for sentence in sentences:
        multiword = {token.text for token in sentence.tokens if len(token.words) > 1}
        if any(seen[text] < MWT_EXAMPLES for text in multiword):
            kept.append(sentence)
            seen.update(multiword)
    if not kept:
        return
    few = _conllu(work / "few.conllu", kept[:50])
    files = {"train_file": _conllu(work / "mwt.conllu", kept), "eval_file": few, "gold_file": few}
    table = ["--dict_only"] if len({text.lower() for text in seen}) < CLOSED_CLASS else []
    mwt_expander.main(
        [*MWT_OPTIONS.split(), *table, *_arguments(files, language, work / "mwt.pt", seed)]
    )


def _train_tagger(language: str, sentences: Sequence[Realised], work: Path, seed: int) -> None:
    from stanza.models import tagger

    few = _conllu(work / "few.conllu", sentences[:50])
    files = {"train_file": _conllu(work / "pos.conllu", sentences), "eval_file": few}
    tagger.main([*POS_OPTIONS.split(), *_arguments(files, language, work / "pos.pt", seed)])


def _conllu(path: Path, sentences: Sequence[Realised]) -> Path:
    path.write_text(
        "".join(s.conllu(str(n)) for n, s in enumerate(sentences, start=1)), encoding="utf-8"
    )
    return path


def _arguments(files: Mapping[str, Path], language: str, model: Path, seed: int) -> list[str]:
    given = {**files, "lang": language, "shorthand": f"{language}_{PACKAGE}"}
    given |= {"save_dir": model.parent, "save_name": model.name, "seed": seed, "device": "cpu"}
    return [text for name, value in given.items() for text in (f"--{name}", str(value))]


def _trained(work: Path) -> Iterator[str]:
    return (processor for processor in PROCESSORS if (work / f"{processor}.pt").exists())


def _pack(work: Path, folder: Path, processor: str) -> tuple[str, int]:
    """Put a trained model into its place, in half precision and without what names this machine;
    its name and bytes.

    Stanza copies the weights into parameters of single precision when it loads them. The file is
    written through memory because torch writes a file's name into it.
    """
    import torch

    model = torch.load(work / f"{processor}.pt", weights_only=True)
    weights = model["model"] or {}
    model["model"] = {
        k: v.half() if v.is_floating_point() else v for k, v in weights.items()
    } or None
    model["config"] = {k: v for k, v in model["config"].items() if not TRAINING_ONLY.search(k)}
    memory = io.BytesIO()
    torch.save(model, memory)
    path = folder / processor / f"{PACKAGE}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(memory.getvalue())
    return processor, len(memory.getvalue())


@contextmanager
def _silent() -> Iterator[None]:
    """Stanza's training programs log every step."""
    from stanza.models import _training_logging  # noqa: F401 - it sets the level when it is first imported

    logger = logging.getLogger("stanza")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
