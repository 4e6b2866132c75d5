"""Whether the matrices that files may store under one name or under several are in their places in the model.

Embeddings of the encoder and of the decoder and the score matrix are often one and the same, and a file then has it
under any of their names. Which names stand for one matrix is for transformers to decide, and a release that decides
wrongly loads without a word: before 5.18 MADLAD-400's encoder got the score matrix for its embeddings, and its
translations were one word repeated (https://github.com/huggingface/transformers/issues/48154).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError

_SHARED = "shared.weight"
_ENCODER = "encoder.embed_tokens.weight"
_DECODER = "decoder.embed_tokens.weight"
_SCORES = "lm_head.weight"
_STANDS_FOR = {
    _ENCODER: (_ENCODER, _SHARED, _DECODER, _SCORES),
    _DECODER: (_DECODER, _SHARED, _ENCODER, _SCORES),
    _SCORES: (_SCORES, _SHARED, _DECODER, _ENCODER),
}
"""Where each comes from: its own name, else the first of these that the files have. A score matrix comes last, since
it may differ where all others are one; for the scores the decoder's comes before the encoder's."""


def check_matrices(folder: Path, model: Any) -> None:  # noqa: ANN401 - a transformers model on the CPU
    """Refuse a model whose embeddings or scores are not computed with the matrices of its files.

    Raises:
        ModelError: names the first that is not.
    """
    import torch
    import transformers

    stored = dict(_stored(folder))
    used = {
        _ENCODER: model.get_encoder().embed_tokens.weight,
        _DECODER: model.get_decoder().embed_tokens.weight,
        _SCORES: model.get_output_embeddings().weight,
    }
    for name, sources in _STANDS_FOR.items():
        source = next((one for one in sources if one in stored), None)
        if source is not None and not torch.equal(used[name], stored[source].to(used[name].dtype)):
            raise ModelError(
                f"{folder}: transformers {transformers.__version__} computes with another {name} than the weights' "
                f"{source}; install another release (transformers>=5.18), or use another checkpoint"
            )


def _stored(folder: Path) -> Iterator[tuple[str, Any]]:
    """The matrices among the weights' files that transformers reads, by name without ``model.``; none is copied."""
    import torch
    from safetensors import safe_open

    files = sorted(folder.glob("model*.safetensors"))
    for path in files:
        with safe_open(path, framework="pt") as opened:
            for key in opened.keys():  # noqa: SIM118 - no mapping, and no other way to ask
                if (name := key.removeprefix("model.")) in (_SHARED, *_STANDS_FOR):
                    yield name, opened.get_tensor(key)
    for path in [] if files else sorted(folder.glob("pytorch_model*.bin")):
        if zipfile.is_zipfile(path):  # the older form cannot be opened without reading all of it
            weights: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            for key, tensor in weights.items():
                if (name := key.removeprefix("model.")) in (_SHARED, *_STANDS_FOR):
                    yield name, tensor
