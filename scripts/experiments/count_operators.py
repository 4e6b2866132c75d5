"""Operators of torch that a step of beam search calls, and bytes that they read and write, counted
and not timed: ``model.generate``'s, ours, and what of ours is outside of recorded steps.

    python scripts/experiments/count_operators.py [--family m2m100] [--sentences 16] [--tokens 40]

Random weights of a family's true size (`scripts.bench.families`), one batch of sources of 20 to 55
tokens, beam 5, searched to `--tokens` new tokens, on a CPU in fp32. What torch's dispatcher sees is
counted: on a GPU an operator is a kernel or several. Those that only look at memory in another way
are none. An operator reads its tensors and writes its results; of a table it reads the rows that it
takes; reading the weights is left out, since every search has to. The encoder's are divided among
the steps like all others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.recorded_step import Recordings, Step
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from scripts.bench.families import SHAPES, make_checkpoint

BEAMS = 5
_TAKES_ROWS = ("embedding", "index", "gather", "index_select")
"""Operators that read as much as they write."""
_ONLY_WRITES = ("empty", "zeros", "ones", "full", "fill", "arange", "new_empty", "eye", "zero")


class Counter(TorchDispatchMode):  # type: ignore[misc] # torch's classes are not there to be checked
    """Counts within its block."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.operators = self.bytes = 0
        self._weights = {one.untyped_storage().data_ptr() for one in model.parameters()}

    def __torch_dispatch__(
        self,
        operator: Any,  # noqa: ANN401
        types: object,
        given: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run an operator, and count it."""
        made = operator(*given, **(named or {}))
        name = operator.overloadpacket.__name__.strip("_")
        if operator.is_view or name.startswith(("empty", "new_empty", "item", "local_scalar")):
            return made
        self.operators += 1
        written = self._size(made)
        if name == "index_put":
            self.bytes += 2 * self._size(given[2])
        elif name.startswith(_ONLY_WRITES):
            self.bytes += written
        elif name in _TAKES_ROWS:
            self.bytes += 2 * written
        else:
            read = {key: one for key, one in (named or {}).items() if key != "out"}
            self.bytes += written + self._size((given, read))
        return made

    def _size(self, tensors: object) -> int:
        found = [one for one in tree_leaves(tensors) if isinstance(one, torch.Tensor)]
        return sum(map(self._bytes, found))

    def _bytes(self, tensor: torch.Tensor) -> int:
        """Of those that are there; what is repeated by a stride of zero is there once."""
        if tensor.untyped_storage().data_ptr() in self._weights:
            return 0
        size: int = tensor.element_size()
        for length, stride in zip(tensor.shape, tensor.stride(), strict=True):
            size *= length if stride else 1
        return size


def counted(model: Any, search: Callable[[], object], steps: int) -> str:  # noqa: ANN401
    """Operators and megabytes a step, as cells of a table."""
    with torch.inference_mode(), Counter(model) as counter:
        search()
    return f"{counter.operators / steps:,.0f} | {counter.bytes / steps / 1e6:,.1f}"


def uncounted(step: Step) -> Step:
    """What replays a step as if one CUDA graph were started."""

    def replay() -> torch.Tensor:
        with _disable_current_modes():
            return step()

    return replay


def main() -> None:
    """Count, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", choices=tuple(SHAPES), default="opus-mt")
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=40)
    args = parser.parse_args()
    shape = SHAPES[args.family]
    drawn = torch.Generator().manual_seed(0)
    lengths = torch.randint(20, 56, (args.sentences,), generator=drawn).tolist()
    sources = [torch.randint(4, 500, (length,), generator=drawn).tolist() for length in lengths]
    with tempfile.TemporaryDirectory() as folder:
        make_checkpoint(shape, Path(folder), tokenizer=False)
        engine = TransformersEngine(Path(folder))
    model = engine._model
    ids, mask = engine._padded(sources)
    bounds = Bounds(Decoding(beams=BEAMS), args.tokens, shape.language)

    def generate() -> None:
        model.generate(
            input_ids=ids,
            attention_mask=mask,
            num_beams=BEAMS,
            do_sample=False,
            max_new_tokens=args.tokens,
            forced_bos_token_id=shape.language,
        )

    print(f"{args.family}, {args.sentences} sentences, {args.tokens} tokens")
    print("| search | operators a step | MB a step |\n|---|---:|---:|")
    print(f"| `model.generate` | {counted(model, generate, args.tokens)} |")
    ours = counted(model, lambda: engine._search(sources, bounds), args.tokens)
    print(f"| mtbias | {ours} |", flush=True)
    engine._recordings = Recordings(model, uncounted)
    engine._search(sources, bounds)  # the first step of each shape is not replayed
    outside = counted(model, lambda: engine._search(sources, bounds), args.tokens)
    print(f"| mtbias, outside of recorded steps | {outside} |", flush=True)


if __name__ == "__main__":
    main()
