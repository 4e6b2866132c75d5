"""What Stanza and the families of translation models know of a language: what a draft can be tried with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtbias.entry_points import installed
from mtbias.errors import DataError
from mtbias.files.strict_json import load_json
from mtbias.language.installed import GROUP
from mtbias.morphology.stanza_models import PROCESSORS
from mtbias.translate.seq2seq.families import codes

_FOR = {"tokenize": "words", "mwt": "contractions are split", "pos": "parts of speech and gender"}


def prospects(code: str, stanza: Path) -> tuple[str, ...]:
    """What is to be said, a line each: who registers the language already, which models Stanza has in the folder
    `stanza`, and which families of translation models know it.

    Raises:
        DataError: Stanza's index there is damaged.
    """
    there = installed(GROUP).get(code, ())
    twice = [f"{' and '.join(there)} registers {code} already: two plugins for one code are refused"] if there else []
    return (*twice, _stanza_line(code, stanza), *_family_lines(code))


def _stanza_line(code: str, folder: Path) -> str:
    index = folder / "resources.json"
    try:
        listed = load_json(index.read_bytes())
        entry = listed.get(code, {})
        entry = listed.get(entry["alias"], {}) if "alias" in entry else entry
        default = entry.get("packages", {}).get("default") or entry.get("default_processors", {})
    except (FileNotFoundError, NotADirectoryError):
        return (
            "Stanza: not known: the folder of its models has no index of them; once the draft is installed, "
            f"`mtbias fetch --lang {code}` gets both"
        )
    except (ValueError, AttributeError, TypeError) as error:
        message = f"not Stanza's index of resources ({error}): delete it, then fetch the models of any language"
        raise DataError(message, path=index) from None
    if not default:
        return f"Stanza: the index of models (resources.json) has no {code}; without models nothing can be scored"
    lacking = [f"no {name} ({_FOR[name]})" for name in PROCESSORS if name not in default]
    has = ", ".join(f"{name} {default[name]}" for name in PROCESSORS if name in default)
    return f"Stanza: {has}{'; ' + ', '.join(lacking) if lacking else ''}"


def _family_lines(code: str) -> Iterator[str]:
    # The lists of the tokenizers: the checkpoints themselves need not be here.
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M100
    from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB200

    yield f"M2M100: {'has it' if code in M2M100['m2m100'] else 'does not have it'}"
    named = next((name for name in MBART50 if name.split("_")[0] == code), None)
    yield f"mBART50: {f'has it ({named})' if named else 'does not have it'}"
    # NLLB's names begin with a code of three letters, which need not be that of ISO 639-3 (lvs for lav).
    named = codes("nllb").get(code) or next((name for name in NLLB200 if name.split("_")[0] == code), None)
    if named:
        yield f"NLLB-200: has it ({named})"
    else:
        yield f"NLLB-200: no name for {code!r} is known here; look in its list, and give it as --target-code"
    yield f"Opus-MT: see whether there is Helsinki-NLP/opus-mt-en-{code} on the Hugging Face hub"
