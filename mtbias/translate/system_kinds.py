"""Kinds of systems by their scheme, found through the entry-point group ``mtbias.systems``.

``SCHEME:NAME`` asks the kind that is registered under SCHEME for the system NAME; any other name is that of a
checkpoint.
"""

from __future__ import annotations

from mtbias.entry_points import installed, load, refuse
from mtbias.translate.system import SystemKind

GROUP = "mtbias.systems"


def find_kind(model: str) -> tuple[SystemKind, str]:
    """The kind of system that a model is, and its name without the scheme.

    Raises:
        PluginError: two distributions register the scheme, or the kind fails to load.
    """
    scheme, colon, name = model.partition(":")
    if colon and scheme in installed(GROUP):
        kind = load(GROUP, scheme, "kind of system")
        if not isinstance(kind, SystemKind):
            raise refuse(GROUP, scheme, "kind of system", f"expected open and needs_network, got {kind!r:.80}")
        return kind, name
    from mtbias.translate.seq2seq.checkpoint_system import CheckpointKind

    return CheckpointKind(), model
