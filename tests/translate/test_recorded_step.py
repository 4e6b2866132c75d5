"""Steps of fixed shapes: what they find is what today's search and `generate` find, and nothing of a
step stands outside of what a recording replays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from mtbias.translate.seq2seq.beam_pool import PooledDecoder
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, OutOfMemory
from mtbias.translate.seq2seq.recorded_step import RecordedDecoder, Step
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from tests.draws import crossed

from .conftest import Checkpoint
from .test_search import DECODINGS, FAMILIES, ids_of, plainly


class Tape(TorchDispatchMode):  # type: ignore[misc]
    """A CPU's stand-in for a CUDA graph: torch's operators as they were called once, called again
    with the same tensors. A number that Python computed is on it as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, tuple[Any, ...], Mapping[str, Any], Any]] = []

    def __torch_dispatch__(
        self,
        operator: Any,
        types: object,
        given: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
    ) -> Any:
        name = operator.overloadpacket.__name__
        # A GPU cannot record that the processor looks at a value.
        assert name not in {"_local_scalar_dense", "is_nonzero", "equal", "nonzero"}, name
        made = operator(*given, **(named or {}))
        self.calls.append((operator, given, named or {}, made))
        return made

    def replayed(self, states: torch.Tensor) -> torch.Tensor:
        made: dict[int, torch.Tensor] = {}

        def current(one: torch.Tensor) -> torch.Tensor:
            return made.get(id(one), one)

        for operator, given, named, before in self.calls:
            again, by_name = tree_map_only(torch.Tensor, current, (given, dict(named)))
            new = operator(*again, **by_name)
            outputs = zip(_tensors(before), _tensors(new), strict=True)
            made.update({id(old): one for old, one in outputs})
        return made[id(states)]


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each)


class Tapes:
    """Records steps on tapes, and counts what is replayed."""

    def __init__(self) -> None:
        self.replays = 0

    def record(self, step: Step) -> Step:
        with Tape() as tape:
            states = step()
        computed = [states]  # a CUDA graph is recorded without being computed; this was

        def replay() -> torch.Tensor:
            self.replays += 1
            return computed.pop() if computed else tape.replayed(states)

        return replay


def recorded(folder: Path) -> tuple[TransformersEngine, Tapes]:
    engine, tapes = TransformersEngine(folder, recorded=True), Tapes()
    assert engine._recordings is not None
    engine._recordings._record = tapes.record
    return engine, tapes


@pytest.mark.parametrize(("name", "how"), crossed(FAMILIES, list(DECODINGS)))
def test_replayed_steps_find_what_is_found_without(
    checkpoint: Checkpoint, name: str, how: str
) -> None:
    decoding, limit = DECODINGS[how]
    codec, sources = ids_of(checkpoint(name), "ar" if name == "marian-multi" else "de", 12)
    bounds = Bounds(decoding, limit, codec.forced)
    engine, tapes = recorded(checkpoint(name))
    plain = TransformersEngine(checkpoint(name))
    assert engine.generate(sources, bounds) == plain.generate(sources, bounds)
    before, steps = tapes.replays, engine.steps
    # The same layout: of shapes that came before all steps but the first are replayed.
    assert engine.generate(sources, bounds) == plain.generate(sources, bounds)
    assert tapes.replays - before == engine.steps - steps - 1
    # Fewer sentences have another layout.
    assert engine.generate(sources[3:7], bounds) == plain.generate(sources[3:7], bounds)


@pytest.mark.parametrize("name", FAMILIES)
def test_replayed_steps_find_what_generate_finds(checkpoint: Checkpoint, name: str) -> None:
    decoding, limit = DECODINGS["beams"]
    codec, sources = ids_of(checkpoint(name), "ar" if name == "marian-multi" else "de", 8)
    engine, tapes = recorded(checkpoint(name))
    made = engine.generate(sources, Bounds(decoding, limit, codec.forced))
    common = {"num_beams": 5, "early_stopping": True, "forced_bos_token_id": codec.forced}
    expected = plainly(checkpoint(name), sources, max_new_tokens=limit, **common)
    assert [one.ids for one in made] == expected
    assert tapes.replays > 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("name", FAMILIES)
def test_cuda_graphs_find_what_is_found_without(checkpoint: Checkpoint, name: str) -> None:
    codec, sources = ids_of(checkpoint(name), "ar" if name == "marian-multi" else "de", 12)
    bounds = Bounds(Decoding(beams=5), 60, codec.forced)
    expected = TransformersEngine(checkpoint(name), device="cuda").generate(sources, bounds)
    engine = TransformersEngine(checkpoint(name), device="cuda", recorded=True)
    for _ in range(3):
        found = engine.generate(sources, bounds)
        assert [one.ids for one in found] == [one.ids for one in expected]


def test_more_slots_than_there_was_room_for(m2m100: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codec, sources = ids_of(m2m100, "de", 12)
    bounds = Bounds(Decoding(beams=5), 60, codec.forced)
    expected = TransformersEngine(m2m100).generate(sources, bounds)
    monkeypatch.setattr("mtbias.translate.seq2seq.recorded_step._MORE", 3 - max(map(len, sources)))
    engine, _ = recorded(m2m100)
    assert engine.generate(sources, bounds) == expected
    assert engine._recordings is not None
    assert engine._recordings._memory is not None
    # Room for three tokens is that for 16 steps of five beams; then it doubles.
    slots = engine._recordings._memory.layout[1]
    assert slots in {160, 320}
    assert max(one.steps for one in expected) > 16


def driven(decoder: PooledDecoder, beams: int, leave_at: int, steps: int) -> list[torch.Tensor]:
    """The scores of each step, with beams and tokens that are drawn; half of eight sentences, every
    other one, leave behind one step."""
    drawn = torch.Generator().manual_seed(1)
    count, found = 8, []
    last = torch.full((count, 1), 2)
    with torch.inference_mode():
        for step in range(steps):
            found.append(decoder.scores(last).clone())
            parents = torch.randint(beams, (count, beams), generator=drawn)
            staying = torch.arange(count)
            if step == leave_at:
                staying, count = torch.tensor([0, 6, 2, 4]), 4
            decoder.keep(parents[staying], staying)
            last = torch.randint(5, 60, (count * beams, 1), generator=drawn)
    return found


@pytest.mark.parametrize("name", ["marian", "m2m100", "mbart50", "madlad"])
def test_scores_step_by_step(checkpoint: Checkpoint, name: str) -> None:
    engine, tapes = recorded(checkpoint(name))
    model, recordings, beams = engine._model, engine._recordings, 2
    assert recordings is not None
    sources = torch.randint(5, 60, (8, 6), generator=torch.Generator().manual_seed(2))
    mask = torch.ones_like(sources)
    mask[3:, 4:] = 0
    # There is room for 64 slots, 31 steps of two beams. The first time that (4, 64) comes it is
    # recorded. The second time (4, 32) is new, then what was recorded is replayed, then room is
    # made for more; last half leave in the first step.
    for leave_at, steps in ((20, 25), (5, 40), (0, 12)):
        with torch.inference_mode():
            plain = PooledDecoder(model, sources, mask, beams)
            fixed = RecordedDecoder(model, sources, mask, beams, recordings)
        expected = driven(plain, beams, leave_at, steps)
        for one, other in zip(driven(fixed, beams, leave_at, steps), expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
    assert tapes.replays > 40


def test_what_is_no_number_does_not_stay(m2m100: Path) -> None:
    codec, sources = ids_of(m2m100, "de", 12)
    bounds = Bounds(Decoding(beams=5), 30, codec.forced)
    engine, _ = recorded(m2m100)
    expected = engine.generate(sources, bounds)
    assert engine._recordings is not None
    memory = engine._recordings._memory
    assert memory is not None
    with torch.inference_mode():
        for held in (*memory._pools(), memory.mask, memory.source_mask):
            held.fill_(torch.nan)
    assert engine.generate(sources, bounds) == expected
    assert engine._recordings._memory is memory


def test_memory_is_given_back_where_it_ran_out(
    m2m100: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codec, sources = ids_of(m2m100, "de", 12)
    bounds = Bounds(Decoding(beams=5), 30, codec.forced)
    engine, _ = recorded(m2m100)
    expected = engine.generate(sources, bounds)
    assert engine._recordings is not None

    def full(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("mtbias.translate.seq2seq.recorded_step.RecordedDecoder._step", full)
        patch.setattr(engine._recordings, "_replays", {})
        with pytest.raises(OutOfMemory):
            engine.generate(sources, bounds)
    assert engine._recordings._memory is None
    assert engine.generate(sources, bounds) == expected
