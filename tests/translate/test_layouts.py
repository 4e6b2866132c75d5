"""Checkpoints in every layout in which they are published translate alike, with both engines."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import sentencepiece
import torch

from mtbias.translate.seq2seq.checkpoints import missing_files
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

from .checkpoints import ROOT
from .conftest import Checkpoint
from .layouts import LAYOUTS, TARGETS, scores_of_their_own
from .reference import DECODING, SOURCES, translate

CELLS = [
    pytest.param(name, layout, marks=pytest.mark.exhaustive if n else ())
    for layout, (names, _) in LAYOUTS.items()
    for n, name in enumerate(names)
]
ODD = (
    "The ﬁrst pilot … is ｗｉｄｅ awake.",
    "a  b\tc",
    "„So“, she said: «10½ h» — it's a\u00a0dream",
)
"""What ``nmt_nfkc`` changes: ligatures, full width, the ellipsis, blanks; and what it leaves."""


@pytest.fixture(scope="module")
def whole(checkpoint: Checkpoint) -> Callable[[str], list[str]]:
    """The translations of a checkpoint as it was made."""
    return cache(lambda name: translate(checkpoint(name), TARGETS[name]))


@pytest.mark.parametrize(("name", "layout"), CELLS)
def test_every_layout_translates_alike(
    copied: Callable[[str], Path],
    whole: Callable[[str], list[str]],
    checkpoint: Checkpoint,
    ct2_cache: Path,
    name: str,
    layout: str,
) -> None:
    folder = LAYOUTS[layout][1](copied(name))
    assert missing_files(folder) == []
    assert translate(folder, TARGETS[name]) == whole(name)
    if (
        layout != "`.bin` in parts"
    ):  # the conversion reads files by the same function; one form of parts is enough
        assert translate_ct2(folder, name, ct2_cache) == translate_ct2(
            checkpoint(name), name, ct2_cache
        )


def translate_ct2(folder: Path, name: str, where: Path) -> list[str]:
    """`SOURCES` by CTranslate2."""
    codec = Codec(folder, TARGETS[name])
    batch = [one.ids for one in codec.encode(SOURCES)]
    engine = CTranslate2Engine(folder, cache=where, threads=1)
    return codec.decode(
        [one.ids for one in engine.generate(batch, Bounds(DECODING, 40, codec.forced))]
    )


@pytest.mark.parametrize("name", ["m2m100", "mbart50"])
def test_a_score_matrix_of_its_own_is_used(
    copied: Callable[[str], Path], checkpoint: Checkpoint, ct2_cache: Path, name: str
) -> None:
    # transformers 4 put the embeddings in its place; transformers 5 has what the file has.
    from transformers import AutoModelForSeq2SeqLM

    folder = scores_of_their_own(copied(name))
    model = AutoModelForSeq2SeqLM.from_pretrained(checkpoint(name), dtype=torch.float32)
    own = model.get_input_embeddings().weight.detach()
    model.lm_head.weight = torch.nn.Parameter(own * torch.linspace(0.7, 1.3, own.shape[1]))
    codec = Codec(folder, "de")
    expected = []
    for one in codec.encode(SOURCES):
        (ids,) = model.generate(
            input_ids=torch.tensor([one.ids]),
            forced_bos_token_id=codec.forced,
            num_beams=DECODING.beams,
            max_length=41,
            early_stopping=True,
        )
        expected += codec.decode([ids[1:].tolist()])
    assert translate(folder, "de") == expected == translate_ct2(folder, name, ct2_cache)
    assert expected != translate(checkpoint(name), "de")


def test_the_matrices_of_the_published_madlad_are_in_their_places(
    madlad: Path, tmp_path: Path
) -> None:
    # Its files have the decoder's embeddings and the scores, nothing for the encoder:
    # https://github.com/huggingface/transformers/issues/48154
    from safetensors.torch import load_file

    stored = load_file(madlad / "model.safetensors")
    assert {"decoder.embed_tokens.weight", "lm_head.weight"} == {
        name for name in stored if name.count(".") < 3
    } - {
        "decoder.final_layer_norm.weight",
        "encoder.final_layer_norm.weight",
    }
    model = TransformersEngine(madlad)._model
    assert torch.equal(
        model.get_encoder().embed_tokens.weight, stored["decoder.embed_tokens.weight"]
    )
    assert torch.equal(model.get_output_embeddings().weight, stored["lm_head.weight"])
    assert not torch.equal(stored["lm_head.weight"], stored["decoder.embed_tokens.weight"])


PIECES = {"marian": "source.spm", "madlad": "spiece.model"}
SPLIT = [
    (name, layout)
    for layout in ("", "files of transformers 4", "no tokenizer.json")
    for name in TARGETS
    if not layout or name in LAYOUTS[layout][0]
]


@pytest.mark.parametrize(("name", "layout"), SPLIT)
def test_words_are_split_as_sentencepiece_splits_them(
    copied: Callable[[str], Path], name: str, layout: str
) -> None:
    folder = copied(name)
    if layout:
        LAYOUTS[layout][1](folder)
    tokenizer = Codec(folder, TARGETS[name])._tokenizer
    file = PIECES.get(name.removesuffix("-multi"), "sentencepiece.bpe.model")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / file))
    assert pieces.encode("ﬁｗ…", out_type=str) == pieces.encode(
        "fiw...", out_type=str
    )  # it does normalize
    for text in (*SOURCES, *ODD):
        found, expected = tokenizer.tokenize(text), pieces.encode(text, out_type=str)
        assert tokenizer.convert_tokens_to_ids(found) == tokenizer.convert_tokens_to_ids(expected)


def test_the_table_of_the_documentation_is_what_is_tested() -> None:
    text = (ROOT / "docs" / "translation.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.+) \| (.+) \|$", text, re.MULTILINE))
    families = {
        "marian": "Opus-MT",
        "marian-multi": "Opus-MT with several targets",
        "m2m100": "M2M100",
        "mbart50": "mBART50",
        "nllb": "NLLB-200",
        "madlad": "MADLAD-400",
    }
    expected = {
        layout: ", ".join(shown for name, shown in families.items() if name not in names) or "–"
        for layout, (names, _) in LAYOUTS.items()
    }
    assert {layout: rows.get(layout) for layout in LAYOUTS} == expected
    assert re.search(r"transformers 5\.18\.0 and 5\.23\.0", text)
