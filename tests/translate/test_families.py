"""Families of checkpoints: each is told its languages as its documentation says; what is told wrong
comes out wrong."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from mtbias.errors import ModelError, SettingError
from mtbias.translate.seq2seq.batches import cpu_budget, make_plan
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.families import M2M100, Direction, Family, Marian, MBart50, family_of
from mtbias.translate.seq2seq.generation import Generation
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from tests.built import built

from .checkpoints import TWO_TARGETS, UNSEEN, WRONG_SOURCE, learn_pieces, parallel, sentences
from .conftest import Checkpoint
from .generating import run

LANGUAGES = ("de", "es")
SOURCES = parallel()["en"][-UNSEEN:]
PLAIN = 4
"""So many of them are translated by a plain loop too."""
TOLD_WRONG = 10
"""So many of them are enough to see what comes out wrong."""
Change = Callable[[Direction, str], Direction]
"""What is told wrong: the right direction and its language → a wrong direction."""


@dataclass(frozen=True)
class Trained:
    """A checkpoint that has learned German and Spanish."""

    name: str
    folder: Path
    engine: TransformersEngine

    def translate(self, lang: str, count: int = UNSEEN) -> list[str]:
        """The first `count` of `SOURCES` in `lang`, as mtbias translates."""
        codec = Codec(self.folder, lang)
        decoding = replace(Decoding(), early_stopping=codec.family.early_stopping)
        encoded = codec.encode(SOURCES[:count])
        plan = make_plan([len(e.ids) for e in encoded], decoding, cpu_budget())
        return [
            output.text
            for output in run(Generation(codec, lambda: self.engine, decoding), encoded, plan)
        ]

    def both(self, count: int = UNSEEN) -> dict[str, list[str]]:
        """`translate` into both languages."""
        return {lang: self.translate(lang, count) for lang in LANGUAGES}

    @cached_property
    def right(self) -> dict[str, list[str]]:
        """`both`, as long as nobody has spoilt a direction."""
        return self.both()


@pytest.fixture(scope="session")
def two_targets(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """``two_targets("m2m100")``: made when it is first asked for."""
    made: dict[str, Trained] = {}

    def get(name: str) -> Trained:
        if name not in made:
            folder = built(tmp_path_factory, f"two-targets-{name}", TWO_TARGETS[name])
            made[name] = Trained(name, folder, TransformersEngine(folder))
        return made[name]

    return get


def words(texts: list[str] | tuple[str, ...]) -> list[str]:
    """All words, without punctuation, in lower case."""
    return re.findall(r"\w+", " ".join(texts).lower())


def share(texts: list[str], language: str) -> float:
    """Share of the words of `texts` that a language of the grammar has; the two languages share
    none."""
    known = set(words(parallel()[language]))
    found = words(texts)
    return sum(word in known for word in found) / len(found) if found else 0.0


def is_right(translations: dict[str, list[str]]) -> bool:
    """Whether what shall be German is German and not Spanish, and the other way round."""
    german, spanish = translations["de"], translations["es"]
    return (
        min(share(german, "de"), share(spanish, "es")) >= 0.9
        and max(share(german, "es"), share(spanish, "de")) <= 0.3
    )


def plain(trained: Trained, lang: str) -> list[str]:
    """The same as the documentation of each architecture in transformers has it: one sentence, one
    ``generate()``."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(trained.folder)
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(trained.folder, dtype=torch.float32)
    prefix, settings = "", {"early_stopping": True}
    if trained.name == "m2m100":
        tokenizer.src_lang = "en"
        settings["forced_bos_token_id"] = tokenizer.get_lang_id(lang)
    elif trained.name == "mbart50":
        tokenizer.src_lang = "en_XX"
        settings["forced_bos_token_id"] = tokenizer.lang_code_to_id[
            {"de": "de_DE", "es": "es_XX"}[lang]
        ]
    else:
        prefix, settings = {"de": ">>deu<< ", "es": ">>spa<< "}[lang], {"early_stopping": False}
    found = []
    for source in SOURCES[:PLAIN]:
        inputs = tokenizer(prefix + source, return_tensors="pt")
        (ids,) = model.generate(
            **inputs, num_beams=5, max_length=200, length_penalty=1.0, **settings
        )
        found.append(tokenizer.decode(ids, skip_special_tokens=True).strip())
    return found


def test_the_languages_of_the_grammar_share_no_word() -> None:
    assert not set(words(parallel()["de"])) & set(words(parallel()["es"]))


@pytest.mark.parametrize("name", TWO_TARGETS)
def test_what_comes_out_is_in_the_language_asked_for_and_equals_a_plain_loop(
    two_targets: Callable[[str], Trained], name: str
) -> None:
    trained = two_targets(name)
    found = trained.right
    assert is_right(found), found
    for lang, texts in found.items():
        assert texts[:PLAIN] == plain(trained, lang)
        assert len(set(texts)) > UNSEEN // 3  # not one sentence for all of them


OTHER = {"de": "es", "es": "de"}
PREFIXES = {"de": ">>deu<< ", "es": ">>spa<< "}
MBART50 = {"de": "de_DE", "es": "es_XX"}
WRONG: list[tuple[str, type[Family], str, Change]] = [
    (
        "marian",
        Marian,
        "prefix of the other language",
        lambda d, lang: replace(d, prefix=PREFIXES[OTHER[lang]]),
    ),
    ("marian", Marian, "no prefix", lambda d, lang: replace(d, prefix="")),
    (
        "m2m100",
        M2M100,
        "the other language forced",
        lambda d, lang: replace(d, forced=f"__{OTHER[lang]}__"),
    ),
    ("m2m100", M2M100, "no language forced", lambda d, lang: replace(d, forced=None)),
    ("m2m100", M2M100, "source said to be German", lambda d, lang: replace(d, source_code="de")),
    ("m2m100", M2M100, "source left as it is", lambda d, lang: replace(d, source_code=None)),
    (
        "mbart50",
        MBart50,
        "the other language forced",
        lambda d, lang: replace(d, forced=MBART50[OTHER[lang]]),
    ),
    ("mbart50", MBart50, "no language forced", lambda d, lang: replace(d, forced=None)),
    (
        "mbart50",
        MBart50,
        "source said to be German",
        lambda d, lang: replace(d, source_code="de_DE"),
    ),
    ("mbart50", MBart50, "source left as it is", lambda d, lang: replace(d, source_code=None)),
]


def tell(monkeypatch: pytest.MonkeyPatch, family: type[Family], change: Change) -> None:
    """From now on `family` gives a direction that `change` has spoilt."""
    right = family.direction

    def wrong(
        self: Family, tokenizer: Any, lang: str, code: str | None = None, source: str = "en"
    ) -> Direction:
        return change(right(self, tokenizer, lang, code, source), lang)

    monkeypatch.setattr(family, "direction", wrong)


@pytest.mark.parametrize(
    ("name", "family", "what", "change"), WRONG, ids=[f"{w[0]}: {w[2]}" for w in WRONG]
)
def test_what_is_told_wrong_is_noticed(
    two_targets: Callable[[str], Trained],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    family: type[Family],
    what: str,
    change: Change,
) -> None:
    # The tokenizers of these checkpoints are left with German as their source: who does not set it
    # gets that.
    trained = two_targets(name)
    right = {lang: texts[:TOLD_WRONG] for lang, texts in trained.right.items()}
    tell(monkeypatch, family, change)
    found = trained.both(TOLD_WRONG)
    assert not is_right(found), found
    assert found != right
    if what.startswith("source"):
        assert min(texts.count(WRONG_SOURCE) for texts in found.values()) > TOLD_WRONG // 2
    if what.startswith("no"):
        assert found["de"] == found["es"]


def test_a_change_that_changes_nothing_is_right(
    two_targets: Callable[[str], Trained], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(monkeypatch, M2M100, lambda d, lang: replace(d, forced=f"__{lang}__", source_code="en"))
    assert is_right(two_targets("m2m100").both(TOLD_WRONG))


def test_a_prefix_that_the_vocabulary_lacks_is_an_error(
    two_targets: Callable[[str], Trained], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(monkeypatch, Marian, lambda d, lang: replace(d, prefix=">>xyz<< "))
    with pytest.raises(ModelError, match="'>>xyz<<' is not in the vocabulary"):
        two_targets("marian").translate("de")


# Codes of the shipped languages, and the ids that they have in facebook/m2m100_418M and
# facebook/mbart-large-50-many-to-many-mmt. Source of codes and order: the lists
# FAIRSEQ_LANGUAGE_CODES of the tokenizers, FLORES-200's list, ISO 639-3 (Opus-MT). In these
# checkpoints languages follow 128,004 and 250,001 other tokens, in small ones fewer, but in the
# same order.
CODES = [
    ("ar", "__ar__", 128006, "ar_AR", 250001, "arb_Arab", ">>ara<< "),
    ("cs", "__cs__", 128017, "cs_CZ", 250002, "ces_Latn", ">>ces<< "),
    ("de", "__de__", 128020, "de_DE", 250003, "deu_Latn", ">>deu<< "),
    ("es", "__es__", 128023, "es_XX", 250005, "spa_Latn", ">>spa<< "),
    ("fr", "__fr__", 128028, "fr_XX", 250008, "fra_Latn", ">>fra<< "),
    ("he", "__he__", 128035, "he_IL", 250030, "heb_Hebr", ">>heb<< "),
    ("it", "__it__", 128045, "it_IT", 250011, "ita_Latn", ">>ita<< "),
    ("ru", "__ru__", 128077, "ru_RU", 250021, "rus_Cyrl", ">>rus<< "),
    ("uk", "__uk__", 128094, "uk_UA", 250048, "ukr_Cyrl", ">>ukr<< "),
]
ENGLISH = {"m2m100": 128022, "mbart50": 250004}


@pytest.fixture(scope="module")
def opus_mt_into_all(marian_multi: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An Opus-MT tokenizer with a prefix for each language."""
    folder = Path(shutil.copytree(marian_multi, tmp_path_factory.mktemp("opus") / "model"))
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    for row in CODES:
        vocabulary.setdefault(row[6].strip(), len(vocabulary))
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("lang", "m2m100", "m2m100_id", "mbart50", "mbart50_id", "nllb", "opus"), CODES
)
def test_every_language_has_the_published_code_and_id(
    checkpoint: Checkpoint,
    opus_mt_into_all: Path,
    lang: str,
    m2m100: str,
    m2m100_id: int,
    mbart50: str,
    mbart50_id: int,
    nllb: str,
    opus: str,
) -> None:
    for name, token, published in (("m2m100", m2m100, m2m100_id), ("mbart50", mbart50, mbart50_id)):
        codec = Codec(checkpoint(name), lang)
        assert codec.direction.forced == token
        assert codec.forced is not None
        (english,) = {encoded.ids[0] for encoded in codec.encode(SOURCES[:3])}
        assert codec.forced - english == published - ENGLISH[name]
    assert Codec(checkpoint("nllb"), lang).direction == Direction("eng_Latn", nllb, "")
    assert Codec(checkpoint("madlad"), lang).direction == Direction(None, None, f"<2{lang}> ")
    assert Codec(opus_mt_into_all, lang).direction == Direction(None, None, opus)


def test_the_language_of_the_sources_is_told(
    checkpoint: Checkpoint, marian: Path, tmp_path: Path
) -> None:
    for name, code, spoken in (
        ("m2m100", "tr", "tr"),
        ("mbart50", "tr", "tr_TR"),
        ("nllb", "tr", "tur_Latn"),
    ):
        assert Codec(checkpoint(name), "es", source_lang=code).direction.source_code == spoken
        with pytest.raises(
            ModelError, match=r"checkpoint has no source language 'xx'; choose another model"
        ):
            Codec(checkpoint(name), "es", source_lang="xx")
    folder = Path(shutil.copytree(marian, tmp_path / "model"))
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) | {
        "source_lang": "fr",
        "target_lang": "de",
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    assert Codec(folder, "de", source_lang="fr").direction == Direction(None, None, "")


def test_mbart50_with_the_files_that_its_published_checkpoint_has(
    mbart50: Path, tmp_path: Path
) -> None:
    # No tokenizer.json but a sentencepiece model, and settings that name no language.
    folder = Path(shutil.copytree(mbart50, tmp_path / "model"))
    (folder / "tokenizer.json").unlink()
    (folder / "sentencepiece.bpe.model").write_bytes(
        learn_pieces([*sentences()[0], *sentences()[1]])
    )
    settings = {
        "tokenizer_class": "MBart50Tokenizer",
        "src_lang": None,
        "tgt_lang": None,
        "language_codes": "ML50",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    expected, found = Codec(mbart50, "de"), Codec(folder, "de")
    assert found.forced == expected.forced
    assert found.encode(SOURCES) == expected.encode(SOURCES)


def test_opus_mt_into_several_languages_takes_the_prefix_of_each(marian_multi: Path) -> None:
    # As opus-mt-en-ar has it: ISO 639-3 in the vocabulary, ISO 639-1 asked for.
    vocabulary = json.loads((marian_multi / "vocab.json").read_text(encoding="utf-8"))
    for lang, token in (("ar", ">>ara<<"), ("he", ">>heb<<")):
        codec = Codec(marian_multi, lang)
        assert codec.direction == Direction(None, None, f"{token} ")
        assert (codec.direction.signature, codec.forced) == (token, None)
        assert {encoded.ids[0] for encoded in codec.encode(SOURCES)} == {vocabulary[token]}
    for code in ("ara", ">>ara<<"):
        assert Codec(marian_multi, "xx", target_code=code).direction.prefix == ">>ara<< "


@pytest.mark.parametrize(
    ("name", "lang", "said"),
    [
        (
            "marian-multi",
            "de",
            r"Opus-MT .* language 'de' \(looked for >>deu<<\); it has >>ara<<, >>heb<<;",
        ),
        ("m2m100", "xx", r"M2M100 .* language 'xx' \(looked for xx\); it has af, am, ar, .*, …;"),
        ("mbart50", "xx", r"mBART50 .* language 'xx'; it has af_ZA, ar_AR, az_AZ, .*, …;"),
        ("nllb", "xx", r"NLLB-200 .* language 'xx'; it has ace_Arab, .*, …;"),
        (
            "madlad",
            "xx",
            r"MADLAD-400 .* language 'xx' \(looked for <2xx>\); it has <2ar>, <2cs>, <2de>, .*;",
        ),
    ],
)
def test_a_language_that_is_not_there_is_an_error_that_names_those_that_are(
    checkpoint: Checkpoint, name: str, lang: str, said: str
) -> None:
    with pytest.raises(
        ModelError, match=f"{said} --target-code names one of them, or choose another model"
    ):
        Codec(checkpoint(name), lang)


def test_the_code_can_be_given_by_hand(checkpoint: Checkpoint) -> None:
    for name, code, token in (
        ("m2m100", "es", "__es__"),
        ("mbart50", "es_XX", "es_XX"),
        ("nllb", "ast_Latn", "ast_Latn"),
    ):
        assert Codec(checkpoint(name), "xx", target_code=code).direction.forced == token
        with pytest.raises(
            SettingError, match=r"target_code: this .* checkpoint has no language 'tlh'; it has"
        ):
            Codec(checkpoint(name), "de", target_code="tlh")
    assert Codec(checkpoint("madlad"), "xx", target_code="es").direction.prefix == "<2es> "


def test_opus_mt_into_one_language_is_of_use_for_that_one(marian: Path) -> None:
    assert Codec(marian, "de").direction == Direction(None, None, "")
    with pytest.raises(
        ModelError,
        match=r"translates into 'de', not into 'es'; choose another, or give --target-code de",
    ):
        Codec(marian, "es")
    assert Codec(marian, "es", target_code="de").direction.prefix == ""
    with pytest.raises(ModelError, match="translates into 'de', not into 'gsw'"):
        Codec(marian, "de", target_code="gsw")


@pytest.mark.parametrize(
    ("source", "target", "lang", "expected"),
    [
        ("en", "de", "de", None),
        ("eng", "deu", "de", None),  # either standard
        (None, None, "de", None),  # nothing is said
        ("gmw", "de", "de", None),  # a group of languages, English among them
        ("fr", "de", "de", "translates from 'fr', the sentences are 'en'"),
        ("deu", "deu", "de", "translates from 'deu', the sentences are 'en'"),
        ("en", "uk", "ru", "translates into 'uk', not into 'ru'"),
    ],
)
def test_the_pair_of_an_opus_mt_checkpoint(
    marian: Path,
    tmp_path: Path,
    source: str | None,
    target: str | None,
    lang: str,
    expected: str | None,
) -> None:
    folder = Path(shutil.copytree(marian, tmp_path / "model"))
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) | {
        "source_lang": source,
        "target_lang": target,
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    if expected is None:
        assert Codec(folder, lang).direction == Direction(None, None, "")
    else:
        with pytest.raises(ModelError, match=expected):
            Codec(folder, lang)


def test_opus_mt_whose_prefixes_have_two_letters(marian_multi: Path, tmp_path: Path) -> None:
    # As opus-mt-en-ROMANCE has them, where most have three:
    # https://huggingface.co/Helsinki-NLP/opus-mt-en-ROMANCE
    folder = Path(shutil.copytree(marian_multi, tmp_path / "model"))
    path = folder / "vocab.json"
    vocabulary = json.loads(path.read_text(encoding="utf-8"))
    for two, three in ((">>es<<", ">>ara<<"), (">>pt_br<<", ">>heb<<")):
        vocabulary[two] = vocabulary.pop(three)
    path.write_text(json.dumps(vocabulary), encoding="utf-8")
    codec = Codec(folder, "es")
    assert codec.direction.prefix == ">>es<< "
    assert {encoded.ids[0] for encoded in codec.encode(SOURCES)} == {vocabulary[">>es<<"]}
    assert Codec(folder, "pt", target_code="pt_br").direction.prefix == ">>pt_br<< "
    with pytest.raises(
        ModelError,
        match=r"no target language 'de' \(looked for >>deu<<\); it has >>es<<, >>pt_br<<;",
    ):
        Codec(folder, "de")


def test_opus_mt_with_a_vocabulary_for_each_side(marian_multi: Path, tmp_path: Path) -> None:
    # The prefixes are in the source's, and an id of theirs is a word in the target's.
    folder = Path(shutil.copytree(marian_multi, tmp_path / "model"))
    source = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    pieces = [token for token in source if not token.startswith(">>") and token != "<pad>"]
    word = next(token for token in pieces if token.startswith("▁") and len(token) > 3)
    target = {token: n for n, token in enumerate(t for t in pieces if t != word)}
    target[word] = source[">>ara<<"]
    target["<pad>"] = source["<pad>"]
    assert len(set(target.values())) == len(target)
    (folder / "target_vocab.json").write_text(json.dumps(target), encoding="utf-8")
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) | {"separate_vocabs": True}
    path.write_text(json.dumps(settings), encoding="utf-8")
    codec = Codec(folder, "ar")
    assert codec.direction.prefix == ">>ara<< "
    assert {encoded.ids[0] for encoded in codec.encode(SOURCES)} == {source[">>ara<<"]}
    assert codec.decode([[target[word], target["</s>"]]]) == [word[1:]]


def test_the_older_mbart_is_not_taken_for_mbart50(mbart50: Path, tmp_path: Path) -> None:
    # facebook/mbart-large-cc25: the same model_type, 25 languages, its language tokens behind the
    # text.
    from transformers import MBartTokenizer

    folder = Path(shutil.copytree(mbart50, tmp_path / "model"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    processor = sentencepiece.SentencePieceProcessor(
        model_proto=learn_pieces([*sentences()[0], *sentences()[1]])
    )
    pieces = [(processor.id_to_piece(n), processor.get_score(n)) for n in range(3, len(processor))]
    special = [(token, 0.0) for token in ("<s>", "<pad>", "</s>", "<unk>")]
    MBartTokenizer(vocab=[*special, *pieces], src_lang="en_XX", tgt_lang="de_DE").save_pretrained(
        folder
    )
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    del config["tokenizer_class"]
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(
        ModelError,
        match=r"expected a checkpoint of mBART50, .*, got one of the older mBART \(MBartTok",
    ):
        Codec(folder, "de")
    # As it is published it names no tokenizer: 250,001 pieces, 25 languages and a mask tell it.
    published = {"model_type": "mbart", "vocab_size": 250_027}
    with pytest.raises(ModelError, match=r"got one of the older mBART \(vocab_size 250027\)"):
        family_of(published)
    assert family_of(published | {"vocab_size": 250_054}).name == "mBART50"
    assert family_of(published | {"tokenizer_class": "MBart50Tokenizer"}).name == "mBART50"


def test_nllb_is_told_by_its_files_and_not_by_a_class_of_transformers(
    nllb: Path, tmp_path: Path
) -> None:
    # Releases of transformers name the class that they make of it differently.
    config = {"model_type": "m2m_100"}
    assert (
        family_of(config, "NllbTokenizer").name
        == family_of(config, "NllbTokenizerFast").name
        == "NLLB-200"
    )
    assert family_of(config, "").name == family_of(config, "M2M100Tokenizer").name == "M2M100"
    folder = Path(shutil.copytree(nllb, tmp_path / "model"))
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    assert settings["tokenizer_class"] == "NllbTokenizer"
    path.write_text(
        json.dumps(settings | {"tokenizer_class": "NllbTokenizerFast"}), encoding="utf-8"
    )
    assert Codec(folder, "de").direction == Direction("eng_Latn", "deu_Latn", "")
