"""Kinds of systems by their scheme, found through the entry-point group ``mtbias.systems``.

``SCHEME:NAME`` asks the kind that is registered under SCHEME for the system NAME, ``openai:NAME``
an endpoint, ``deepl:MODEL`` DeepL, ``apertium:PAIR`` Apertium; any other name is that of a
checkpoint.
"""

from __future__ import annotations

from mtbias.entry_points import installed, load, refuse
from mtbias.translate.system import SystemKind

GROUP = "mtbias.systems"

ENDPOINT, DEEPL, APERTIUM = "openai", "deepl", "apertium"
"""Schemes of the models of endpoints, of DeepL's and of Apertium's pairs, registered as a third
party's are."""


def is_other_program(model: str) -> bool:
    """Whether another program translates: it takes no GPU from us and knows no presets."""
    return model.partition(":")[0] in {ENDPOINT, DEEPL, APERTIUM} and ":" in model


def is_of_kind(model: str) -> bool:
    """Whether a model is named by the scheme of a kind of system; any other is a checkpoint."""
    scheme, colon, _ = model.partition(":")
    return bool(colon) and scheme in installed(GROUP)


def find_kind(model: str) -> tuple[SystemKind, str]:
    """The kind of system that a model is, and its name without the scheme.

    Raises:
        SettingError: it is neither a kind's nor a short name, a hub id, or a folder that is here.
        PluginError: two distributions register the scheme, or the kind fails to load.
    """
    if is_of_kind(model):
        scheme, _, name = model.partition(":")
        kind = load(GROUP, scheme, "kind of system")
        if not isinstance(kind, SystemKind):
            raise refuse(
                GROUP,
                scheme,
                "kind of system",
                f"expected open and needs_network, got {kind!r:.80}",
            )
        return kind, name
    from mtbias.translate.seq2seq.checkpoint_system import CheckpointKind
    from mtbias.translate.seq2seq.checkpoints import check_name

    check_name(model)
    return CheckpointKind(), model
