"""Kinds of systems by their scheme, found through the entry-point group ``mtbias.systems``.

``SCHEME:NAME`` is the system NAME of the kind that is registered under SCHEME: ``openai:NAME`` of
an endpoint, ``deepl:MODEL`` of DeepL, ``apertium:PAIR`` of Apertium. Any other name is that of a
checkpoint. No system imports this module.
"""

from __future__ import annotations

from mtbias.entry_points import installed, load, refuse
from mtbias.translate.seq2seq.checkpoints import check_name, is_decoder, locate
from mtbias.translate.system import GROUP, System, SystemKind, SystemRequest


class CheckpointKind(SystemKind):
    """Checkpoints by short name, hub id or folder (`mtbias.translate.system.SystemKind`)."""

    def open(self, request: SystemRequest) -> System:
        """The checkpoint, downloaded where it is missing and may be; see `SystemKind.open`.

        A decoder is used as a language model.
        """
        from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
        from mtbias.translate.seq2seq.engine_choice import check_settings

        check_settings(request.settings)  # before gigabytes are downloaded
        checkpoint = locate(
            request.name,
            request.lang,
            source_lang=request.source_lang,
            cache=request.cache,
            revision=request.settings.revision,
            offline=request.offline,
        )
        if is_decoder(checkpoint.folder):
            from mtbias.translate.language_models.decoder_system import DecoderSystem

            return DecoderSystem(checkpoint, request)
        return CheckpointSystem(
            checkpoint,
            request.lang,
            request.settings,
            source_lang=request.source_lang,
            cache=request.cache,
            device=request.device,
            translates_on=request.translates_on,
        )


CHECKPOINT_KIND = CheckpointKind()


def is_of_kind(model: str) -> bool:
    """Whether a model's name begins with the scheme of a kind of system; others are checkpoints."""
    scheme, colon, _ = model.partition(":")
    return bool(colon) and scheme in installed(GROUP)


def is_other_program(model: str) -> bool:
    """See `SystemKind`; the name of a checkpoint is not checked."""
    return is_of_kind(model) and find_kind(model)[0].is_other_program


def find_kind(model: str) -> tuple[SystemKind, str]:
    """The kind of system that a model is, and its name without the scheme.

    Raises:
        SettingError: it has no scheme, and is not a short name, a hub id or a folder that exists.
        PluginError: two distributions register the scheme, or the kind fails to load.
    """
    if not is_of_kind(model):
        check_name(model)
        return CHECKPOINT_KIND, model
    scheme, _, name = model.partition(":")
    kind = load(GROUP, scheme, "kind of system")
    if not isinstance(kind, SystemKind):
        expected = "expected a mtbias.translate.system.SystemKind"
        raise refuse(GROUP, scheme, "kind of system", f"{expected}, got {kind!r:.80}")
    return kind, name
