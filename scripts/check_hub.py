"""Hold the checkpoints that are published against what mtbias assumes of them.

    python scripts/check_hub.py                           # one checkpoint of each family: 25 GB
    python scripts/check_hub.py --only mbart50 --lang de  # one family, one language
    python scripts/check_hub.py --folder DIR --lang de    # a checkpoint that is here, of any size

It is run once by somebody with network, and again where a family's files or transformers have
changed. Files, config, special tokens, generation settings, matrices, language codes and the
splitting of words are looked at; then 20 sentences are translated into each language (beam 5, fp32)
by a plain ``generate()`` loop as transformers' documentation has it, by mtbias, and by CTranslate2
where it is installed: all must be equal, and be text in that language.

Prints a line for each difference: what, expected, found. Between the engines one sentence in a
hundred may differ by a near tie. Exits with 1 where something differs. MADLAD-400 needs 16 GB of
memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mtbias.corpora.catalog import cache_folder
from mtbias.errors import MtbiasError
from mtbias.translate.seq2seq.checkpoints import locate, missing_files
from mtbias.translate.seq2seq.codec import Codec, read_config
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, Engine
from mtbias.translate.seq2seq.families import family_of
from mtbias.translate.seq2seq.torch_search import TokenRules
from mtbias.translate.text_language import is_repetitive

LANGUAGES = ("ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk")
SENTENCES = (
    "The doctor asked the nurse to help her with the procedure.",
    "The carpenter built a table for his neighbour.",
    "The engineer said that she would be late.",
    "Yesterday the teacher read a story to the children.",
    "The guard opened the gate because he had the key.",
    "My sister is a lawyer, and my brother is a cook.",
    "The secretary wrote two letters and sent them to the manager.",
    "The farmer sold her house and moved to the city.",
    "The driver thanked the mechanic for his work.",
    "The judge listened to the witness, who was very nervous.",
    "After lunch the cleaner found the keys under the chair.",
    "The writer finished her third novel in the spring of 1998.",
    "The librarian showed the student where the old maps were.",
    "The soldier had not seen his family for more than a year.",
    "The scientist explained to the journalist why she did not believe the results.",
    "The baker gets up at four o'clock every morning.",
    "The nurse, who had worked all night, was tired but happy.",
    "The chief asked the analyst whether he needed more time for the report.",
    "The singer and her friends travelled by train.",
    "The tailor measured the customer and wrote the numbers down in his book.",
)
ODD = (
    "The ﬁrst pilot … is ｗｉｄｅ awake.",
    "a  b\tc",
    "„So“, she said: «10½ h» — it's a\u00a0dream",
)
"""What sentencepiece's usual normalization changes, and what it leaves."""
MOST_ELSEWHERE = 4
"""Of 20 translations, those that may be taken for another language: Czech for Slovak, Russian for
Ukrainian."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    expected: object
    found: object


@dataclass(frozen=True)
class Assumed:
    """What mtbias assumes of one family. Negative ids are counted from the end of the
    vocabulary.
    """

    repository: str
    family: str
    codes: Mapping[str, str]
    """The token of each language that the checkpoint translates into; "" for Opus-MT with one
    target."""
    config: Mapping[str, object]
    rules: Mapping[str, object]
    """Fields of `TokenRules`."""
    tokens: Mapping[str, int]
    pieces: str
    """The sentencepiece model that splits the source."""
    source: str | None = None
    """``src_lang``; a family without one names the target in front of the source."""
    tied: bool = True
    early_stopping: bool = True
    sizes: Mapping[str, object] = field(default_factory=dict)
    """What config.json of the published one says besides."""
    ids: Mapping[str, int] = field(default_factory=dict)
    """Of the tokens of languages, in the published one; elsewhere their order is looked at."""


def column(*codes: str) -> dict[str, str]:
    """The code of each of `LANGUAGES`."""
    return dict(zip(LANGUAGES, codes, strict=True))


def numbered(*ids: int) -> dict[str, int]:
    """The token id of English and of each of `LANGUAGES`."""
    return dict(zip(("en", *LANGUAGES), ids, strict=True))


def opus(pair: str, codes: Mapping[str, str]) -> Assumed:
    """Opus-MT: everything but the pair is the same."""
    config = {
        "scale_embedding": True,
        "static_position_embeddings": True,
        "activation_function": "swish",
    }
    return Assumed(
        f"Helsinki-NLP/opus-mt-en-{pair}",
        "Opus-MT",
        codes,
        {"model_type": "marian", **config, "share_encoder_decoder_embeddings": True},
        {
            "start": -1,
            "ends": (0,),
            "pad": -1,
            "forced_end": 0,
            "never": ((-1,),),
            "renormalised": True,
        },
        {"</s>": 0, "<unk>": 1, "<pad>": -1},
        "source.spm",
        early_stopping=False,
        sizes={
            "d_model": 512,
            "encoder_layers": 6,
            "decoder_layers": 6,
            "max_position_embeddings": 512,
        },
    )


FAIRSEQ = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
PLAIN_RULES: dict[str, object] = {
    "start": 2,
    "ends": (2,),
    "pad": 1,
    "never": (),
    "renormalised": False,
}
WIDE = {
    "d_model": 1024,
    "encoder_layers": 12,
    "decoder_layers": 12,
    "max_position_embeddings": 1024,
}
ASSUMED = {
    "opus-mt": opus("de", {"de": ""}),
    "opus-mt-many": opus("ar", {"ar": ">>ara<<"}),
    "opus-mt-romance": opus("ROMANCE", {"es": ">>es<<", "it": ">>it<<"}),
    "m2m100": Assumed(
        "facebook/m2m100_418M",
        "M2M100",
        column(*(f"__{lang}__" for lang in LANGUAGES)),
        {"model_type": "m2m_100", "scale_embedding": True, "activation_function": "relu"},
        PLAIN_RULES | {"forced_end": None},
        FAIRSEQ,
        "sentencepiece.bpe.model",
        source="__en__",
        sizes=WIDE | {"vocab_size": 128_112},
        ids=dict(
            zip(
                ("en", *LANGUAGES),
                (128022, 128006, 128017, 128020, 128023, 128028, 128035, 128045, 128077, 128094),
            )
        ),
    ),
    "mbart50": Assumed(
        "facebook/mbart-large-50-many-to-many-mmt",
        "mBART50",
        column("ar_AR", "cs_CZ", "de_DE", "es_XX", "fr_XX", "he_IL", "it_IT", "ru_RU", "uk_UA"),
        {"model_type": "mbart", "scale_embedding": True, "tokenizer_class": "MBart50Tokenizer"},
        PLAIN_RULES | {"forced_end": 2},
        FAIRSEQ,
        "sentencepiece.bpe.model",
        source="en_XX",
        sizes=WIDE
        | {"vocab_size": 250_054, "activation_function": "relu", "normalize_before": True},
        ids=dict(
            zip(
                ("en", *LANGUAGES),
                (250004, 250001, 250002, 250003, 250005, 250008, 250030, 250011, 250021, 250048),
            )
        ),
    ),
    "nllb": Assumed(
        "facebook/nllb-200-distilled-600M",
        "NLLB-200",
        column(
            *(
                f"{code}_{script}"
                for code, script in (
                    ("arb", "Arab"),
                    ("ces", "Latn"),
                    ("deu", "Latn"),
                    ("spa", "Latn"),
                    ("fra", "Latn"),
                    ("heb", "Hebr"),
                    ("ita", "Latn"),
                    ("rus", "Cyrl"),
                    ("ukr", "Cyrl"),
                )
            )
        ),
        {"model_type": "m2m_100", "scale_embedding": True, "activation_function": "relu"},
        PLAIN_RULES | {"forced_end": None},
        FAIRSEQ,
        "sentencepiece.bpe.model",
        source="eng_Latn",
        sizes=WIDE | {"vocab_size": 256_206},
        ids=dict(
            zip(
                ("en", *LANGUAGES),
                (256047, 256011, 256036, 256042, 256161, 256057, 256067, 256077, 256147, 256188),
            )
        ),
    ),
    "madlad": Assumed(
        "google/madlad400-3b-mt",
        "MADLAD-400",
        column(*(f"<2{lang}>" for lang in LANGUAGES)),
        {"model_type": "t5", "feed_forward_proj": "gated-gelu", "scale_decoder_outputs": False},
        PLAIN_RULES | {"start": 0, "forced_end": None},
        {"<unk>": 0, "<s>": 1, "</s>": 2},
        "spiece.model",
        tied=False,
        early_stopping=False,
        sizes={"d_model": 1024, "num_layers": 32, "num_decoder_layers": 32, "vocab_size": 256_000},
    ),
}


def of_files(folder: Path, assumed: Assumed, *, published: bool) -> Iterator[Finding]:
    """Files and config; sizes of the published one."""
    from transformers import AutoConfig

    yield Finding("files that are missing", [], missing_files(folder))
    yield Finding(
        f"files: {assumed.pieces}",
        "there",
        "there" if (folder / assumed.pieces).is_file() else "absent",
    )
    config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
    for name, expected in {**assumed.config, **(assumed.sizes if published else {})}.items():
        stated = read_config(folder).get(name)
        yield Finding(
            f"config.json: {name}",
            expected,
            getattr(config, name, None) if stated is None else stated,
        )


def of_tokens(codec: Codec, assumed: Assumed, lang: str, *, published: bool) -> Iterator[Finding]:
    """Special tokens, how a source is read, the language's code and id, and how words are split."""
    import sentencepiece

    tokenizer, size = codec._tokenizer, int(codec.config["vocab_size"])
    for token, n in assumed.tokens.items():
        yield Finding(f"id of {token}", n % size, tokenizer.convert_tokens_to_ids(token))
    code = assumed.codes[lang]
    prefix = f"{code} " if code and assumed.source is None else ""
    yield Finding(
        f"{lang}: prefix and forced token",
        (prefix, code if assumed.source else None),
        (codec.direction.prefix, codec.direction.forced),
    )
    first, *_, last = tokenizer.convert_ids_to_tokens(codec.encode(SENTENCES[:1])[0].ids)
    yield Finding(f"{lang}: last token of a source", "</s>", last)
    if code:
        yield Finding(f"{lang}: first token of a source", assumed.source or code, first)
    if assumed.ids and codec.forced is not None and assumed.source is not None:
        english = tokenizer.convert_tokens_to_ids(assumed.source)
        yield Finding(
            f"{lang}: id of {code} after English",
            assumed.ids[lang] - assumed.ids["en"],
            codec.forced - english,
        )
        if published:
            yield Finding(f"{lang}: id of {code}", assumed.ids[lang], codec.forced)
    path = codec.folder / assumed.pieces
    if path.is_file():
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        for text in (*SENTENCES, *ODD):
            split = pieces.encode(text, out_type=str)
            yield Finding(
                f"pieces of {text!r}",
                *(
                    tokenizer.convert_tokens_to_ids(each)
                    for each in (split, tokenizer.tokenize(text))
                ),
            )


def of_model(model: Any, assumed: Assumed) -> Iterator[Finding]:  # noqa: ANN401 - a transformers model
    """Generation settings that have an effect, and whether scores and embeddings are one matrix."""
    rules, size = TokenRules.from_model(model), int(model.config.vocab_size)

    def counted(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(counted(each) for each in value)
        return value % size if type(value) is int else value

    for name, expected in assumed.rules.items():
        yield Finding(f"generation settings: {name}", counted(expected), getattr(rules, name))
    one = (
        model.get_output_embeddings().weight.data_ptr()
        == model.get_input_embeddings().weight.data_ptr()
    )
    yield Finding("scores and embeddings are one matrix", assumed.tied, one)


def plain(model: Any, codec: Codec, assumed: Assumed, lang: str) -> list[str]:  # noqa: ANN401
    """`SENTENCES` without mtbias's codec, directions or search."""
    tokenizer = type(codec._tokenizer).from_pretrained(str(codec.folder), local_files_only=True)
    code, settings = assumed.codes[lang], dict[str, Any]()
    if assumed.source is not None:
        tokenizer.src_lang = assumed.source.strip("_")
        settings["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(code)
    texts = []
    for sentence in SENTENCES:
        asked = sentence if assumed.source is not None or not code else f"{code} {sentence}"
        (ids,) = model.generate(
            **tokenizer(asked, return_tensors="pt"),
            num_beams=5,
            max_length=200,
            length_penalty=1.0,
            early_stopping=assumed.early_stopping,
            **settings,
        )
        texts.append(tokenizer.decode(ids, skip_special_tokens=True).strip())
    return texts


def of_translations(
    codec: Codec, engines: Mapping[str, Engine], assumed: Assumed, lang: str, *, untrained: bool
) -> Iterator[Finding]:
    """The ways of translating against each other, and whether it is text in `lang`."""
    decoding = Decoding(early_stopping=assumed.early_stopping)
    batch = [one.ids for one in codec.encode(SENTENCES)]
    reference: Any = engines["transformers"]
    expected = plain(reference._model, codec, assumed, lang)
    for name, engine in engines.items():
        made = engine.generate(batch, Bounds(decoding, decoding.limit(0), codec.forced))
        texts = codec.decode([one.ids for one in made])
        for sentence, right, text in zip(SENTENCES, expected, texts, strict=True):
            yield Finding(f"{lang}: {name}: {sentence!r}", right, text)
    if untrained:
        return
    for sentence, text in zip(SENTENCES, expected, strict=True):
        yield Finding(
            f"{lang}: a translation of {sentence!r}",
            "text",
            "text" if text and not is_repetitive(text) else text,
        )
    elsewhere = [text for text in expected if identified(text) != lang]
    yield Finding(
        f"{lang}: translations taken for another language",
        [],
        elsewhere if len(elsewhere) > MOST_ELSEWHERE else [],
    )


def identified(text: str) -> str:
    """The likeliest of `LANGUAGES` and English."""
    import py3langid

    py3langid.set_languages(["en", *LANGUAGES])
    return str(py3langid.classify(text)[0])


def engines_of(folder: Path, args: argparse.Namespace) -> dict[str, Engine]:
    """Those that are asked for and installed, in fp32; transformers always."""
    from importlib.util import find_spec

    from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

    found: dict[str, Engine] = {"transformers": TransformersEngine(folder)}
    if "ct2" in (args.engine or ["ct2"]) and find_spec("ctranslate2") is not None:
        from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

        found["ct2"] = CTranslate2Engine(folder, cache=args.cache_dir)
    return found


def findings(
    folder: Path, assumed: Assumed, langs: Sequence[str], args: argparse.Namespace
) -> Iterator[Finding]:
    """All that is looked at in one checkpoint; what cannot be loaded is a finding, and the last."""
    published = args.folder is None
    try:
        yield from of_files(folder, assumed, published=published)
        codecs = {lang: Codec(folder, lang) for lang in langs}
        for lang, codec in codecs.items():
            yield Finding("family", assumed.family, codec.family.name)
            yield from of_tokens(codec, assumed, lang, published=published)
        engines = engines_of(folder, args)
        yield from of_model(getattr(engines["transformers"], "_model"), assumed)  # noqa: B009 - not in the protocol
        for lang, codec in () if args.no_translations else codecs.items():
            yield from of_translations(codec, engines, assumed, lang, untrained=args.untrained)
    except (MtbiasError, OSError, ValueError) as error:
        yield Finding("it can be used", True, f"{type(error).__name__}: {error}")


def kind_of(folder: Path) -> str:
    """Which of `ASSUMED` a folder is held against."""
    named = read_config(folder, "tokenizer_config.json").get("tokenizer_class") or ""
    family = family_of(read_config(folder), str(named)).name
    if family == "Opus-MT":
        prefixes = [token for token in read_config(folder, "vocab.json") if token.startswith(">>")]
        return (
            "opus-mt"
            if not prefixes
            else "opus-mt-romance"
            if ">>es<<" in prefixes
            else "opus-mt-many"
        )
    return next(name for name, assumed in ASSUMED.items() if assumed.family == family)


def check(name: str, folder: Path, args: argparse.Namespace) -> int:
    """Print the differences of one checkpoint; how many there are."""
    assumed = ASSUMED[name]
    langs = [lang for lang in args.lang or LANGUAGES if lang in assumed.codes]
    looked_at = differing = 0
    print(
        f"{name}: {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}", flush=True
    )
    for one in findings(folder, assumed, langs, args):
        looked_at += 1
        if one.expected != one.found:
            differing += 1
            print(f"{name}: {one.what}: expected {one.expected!r}, found {one.found!r}", flush=True)
    print(
        f"{name}: {looked_at - differing:,} of {looked_at:,} as assumed, into {', '.join(langs) or 'no language'}"
    )
    return differing + (not langs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        choices=list(ASSUMED),
        action="append",
        help="one of the checkpoints; may be repeated",
    )
    parser.add_argument(
        "--folder", type=Path, help="a checkpoint that is here, instead of those of the hub"
    )
    parser.add_argument(
        "--lang", choices=LANGUAGES, action="append", help="may be repeated; default: all it has"
    )
    parser.add_argument("--cache-dir", type=Path, default=cache_folder(None), help="mtbias's cache")
    parser.add_argument(
        "--engine", choices=("transformers", "ct2"), action="append", help="default: both"
    )
    parser.add_argument(
        "--no-translations", action="store_true", help="look at files, tokens and settings alone"
    )
    parser.add_argument(
        "--untrained", action="store_true", help="do not ask whether translations are text"
    )
    args = parser.parse_args(arguments)
    differing = 0
    for asked in [None] if args.folder is not None else args.only or ASSUMED:
        try:
            name, folder = place(asked, args)
        except MtbiasError as error:
            print(
                f"{asked or args.folder}: expected a checkpoint that mtbias knows, found {error}",
                flush=True,
            )
            differing += 1
        else:
            differing += check(name, folder, args)
    return 1 if differing else 0


def place(asked: str | None, args: argparse.Namespace) -> tuple[str, Path]:
    """Which of `ASSUMED`, and where it is: the folder that was given, else downloaded."""
    if asked is None:
        return (args.only or [kind_of(args.folder)])[0], args.folder
    assumed = ASSUMED[asked]
    return asked, locate(assumed.repository, next(iter(assumed.codes)), cache=args.cache_dir).folder


if __name__ == "__main__":
    sys.exit(main())
