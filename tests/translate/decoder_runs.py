"""Runs of decoders for their tests: a plan as the command line makes it, run to its end in
memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtbias.settings import LanguageModelSettings, TranslationSettings
from mtbias.translate.language_models.decoder_system import DecoderPlan, DecoderSystem
from mtbias.translate.system import MemoryStore, Sources, SystemRequest, Translated
from mtbias.translate.system_kinds import CheckpointKind


def plan(
    folder: Path, corpus: Sources, begun: Mapping[str, Any] | None = None, **more: Any
) -> DecoderPlan:
    """The plan that translates `corpus` into German with the checkpoint in `folder`; `more` are
    settings."""
    ours = {key: more.pop(key) for key in ("prompt", "answer_tokens") if key in more}
    asked = SystemRequest(
        name=str(folder),
        lang=more.pop("lang", "de"),
        settings=TranslationSettings(**more),
        device="cpu",
        cache=folder.parent,
        offline=True,
        language_model=LanguageModelSettings(**ours),
    )
    system = CheckpointKind().open(asked)
    assert isinstance(system, DecoderSystem)
    return system.plan(corpus, begun or {})


def run(made: DecoderPlan, store: MemoryStore | None = None) -> Translated:
    """All translations of a plan."""
    store = store or MemoryStore()
    made.translate(store, range(len(made.sizes)), lambda *_: None)
    found = made.collect(store)
    assert isinstance(found, Translated)
    return found


def continued(folder: Path, prompts: Sequence[str], limit: int, end: int = 1) -> list[str]:
    """What a model says after each of some texts by the plain loop: one prompt, one step after the
    other, no cache, no padding."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    answers = []
    for prompt in prompts:
        ids = tokenizer(prompt)["input_ids"]
        new: list[int] = []
        with torch.inference_mode():
            while len(new) < limit and new[-1:] != [end]:
                new.append(int(model(torch.tensor([[*ids, *new]])).logits[0, -1].argmax()))
        answers.append(tokenizer.decode(new, skip_special_tokens=True))
    return answers
