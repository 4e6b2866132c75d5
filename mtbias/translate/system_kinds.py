"""Kinds of systems by their scheme, found through the entry-point group ``mtbias.systems``.

``SCHEME:NAME`` asks the kind that is registered under SCHEME for the system NAME, ``openai:NAME``
an endpoint, ``deepl:MODEL`` DeepL, ``apertium:PAIR`` Apertium; any other name is that of a
checkpoint. No system imports this module.
"""

from __future__ import annotations

from mtbias.entry_points import installed, load, refuse
from mtbias.translate.seq2seq.checkpoints import check_name, is_decoder, locate
from mtbias.translate.system import GROUP, Asked, System, SystemKind


class CheckpointKind(SystemKind):
    """Checkpoints by short name, hub id or folder (`mtbias.translate.system.SystemKind`)."""

    def open(self, asked: Asked) -> System:
        """The checkpoint that is asked for, downloaded where it is missing and may be; see
        `SystemKind.open`.

        One that is a decoder is asked as a language model.
        """
        from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem, check_settings

        check_settings(asked.settings)  # before gigabytes are downloaded
        checkpoint = locate(
            asked.name,
            asked.lang,
            source_lang=asked.source_lang,
            cache=asked.cache,
            revision=asked.settings.revision,
            offline=asked.offline,
        )
        if is_decoder(checkpoint.folder):
            from mtbias.translate.language_models.decoder_system import DecoderSystem

            return DecoderSystem(checkpoint, asked)
        return CheckpointSystem(
            checkpoint,
            asked.lang,
            asked.settings,
            source_lang=asked.source_lang,
            cache=asked.cache,
            device=asked.device,
            translates_on=asked.translates_on,
        )


CHECKPOINT_KIND = CheckpointKind()


def is_of_kind(model: str) -> bool:
    """Whether a model is named by the scheme of a kind of system; any other is a checkpoint."""
    scheme, colon, _ = model.partition(":")
    return bool(colon) and scheme in installed(GROUP)


def is_other_program(model: str) -> bool:
    """See `SystemKind`; the name of a checkpoint is not looked at."""
    return is_of_kind(model) and find_kind(model)[0].is_other_program


def find_kind(model: str) -> tuple[SystemKind, str]:
    """The kind of system that a model is, and its name without the scheme.

    Raises:
        SettingError: it is neither a kind's nor a short name, a hub id, or a folder that is here.
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
