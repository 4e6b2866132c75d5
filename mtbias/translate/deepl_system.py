"""DeepL as a translation system, through its own client, which sends again what fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mtbias.errors import (
    DependencyError,
    MissingResourceError,
    ModelError,
    SettingError,
    UsageError,
)
from mtbias.machine import network
from mtbias.machine.devices import install_command
from mtbias.translate.remote_server import (
    begun_date,
    key_from,
    server_address,
    server_line,
    without_key,
)
from mtbias.translate.system import Asked, Begun, Sources, System, SystemKind
from mtbias.translate.text_system import TextPlan, TextSystem

SCHEME = "deepl"
# `prefer_quality_optimized` is not among them: it answers with the one or the other, and numbers of
# two models are those of neither.
MODELS = ("quality_optimized", "latency_optimized")
"""DeepL's ``model_type``: which of its models translates."""
KEY, SERVER = "DEEPL_AUTH_KEY", "DEEPL_SERVER_URL"
"""Environment variables, by the names that DeepL's own command has for them: of a sweep's settings
for endpoints, such as ``base_url``, none may reach DeepL with its key."""
TEXTS = 50
"""Sentences of a request, the most that DeepL takes; it translates each by itself. So many are lost
at most where the process is killed."""
TIMEOUT = 300
"""Seconds for a request with all its repetitions, which take the client about 100 where nobody
answers."""
_VARIANTS = {"EN": "EN-US or EN-GB", "PT": "PT-BR or PT-PT"}
"""Languages of which DeepL wants to know the variety."""


class DeepLKind(SystemKind):
    """``deepl:MODEL`` (`mtbias.translate.system.SystemKind`)."""

    needs_network = True
    is_other_program = True

    def place(self, asked: Asked) -> str:  # noqa: ARG002 - all of its systems are there
        """See `SystemKind.place`."""
        return "DeepL"

    def open(self, asked: Asked) -> DeepLSystem:
        """DeepL; it is asked nothing yet. See `SystemKind.open`.

        Raises:
            UsageError: no such model, or a variety of the language must be named.
        """
        if asked.name not in MODELS:
            raise SettingError(
                "model",
                f"expected {' or '.join(f'{SCHEME}:{name}' for name in MODELS)}, got {SCHEME}:{asked.name}",
            )
        target = (asked.settings.target_code or asked.lang).upper()
        if target in _VARIANTS:
            raise SettingError(
                "target_code", f"expected {_VARIANTS[target]}: DeepL must be told which"
            )
        return DeepLSystem(
            asked.name, target, asked.source_lang.upper(), asked.offline or network.asked_for()
        )


DEEPL_KIND = DeepLKind()


@dataclass(frozen=True)
class DeepLSystem(System):
    """Asks DeepL for translations into one language (`mtbias.translate.system.System`)."""

    model: str
    target: str
    """DeepL's name of the language."""
    source: str = "EN"
    """And of that of the sources."""
    offline: bool = False
    """Whether only a server on this machine may be asked."""
    needs_network = True
    uses = frozenset({"target_code"})
    """The settings that change something."""

    def plan(self, corpus: Sources, begun: Begun) -> TextPlan:
        """See `mtbias.translate.system.System`; the date is that of the run's beginning, since
        DeepL changes.
        """
        date = begun_date(begun)
        identity = {
            "model": f"{SCHEME}:{self.model}",
            "direction": f"{self.source.lower()}>{self.target}",
            "date": date,
        }
        own = os.environ.get(SERVER)
        if own:
            identity["server"] = _host(own)
        made = TextSystem(identity, self._translate, part_size=TEXTS, needs_network=True).plan(
            corpus, begun
        )
        return replace(made, settings={**made.settings, "date": date})

    @cached_property
    def _key(self) -> str:
        return key_from(KEY, "DeepL")

    @cached_property
    def _ask(self) -> Callable[..., Any]:
        """`translate_text` of DeepL's client.

        Only now is it looked at whether it may be asked: who scores a run that has all translations
        needs no network.
        """
        own = (
            os.environ.get(SERVER) or None
        )  # by its key the client knows the host of accounts that are free
        if self.offline and not (own and network.is_local(_host(own))):
            raise MissingResourceError(
                "DeepL is on another machine, and the network may not be used; allow it"
            )
        try:
            import deepl
        except ImportError:
            raise DependencyError(
                f"DeepL needs the package deepl: {install_command('deepl')}"
            ) from None
        return deepl.DeepLClient(self._key, server_url=own).translate_text

    def _translate(self, texts: Sequence[str]) -> list[str]:
        """The translations of some texts.

        Raises:
            ModelError: there is no key, DeepL refuses it, or does not answer even after some tries.
            MissingResourceError: the network is forbidden.
        """
        ask = self._ask
        import deepl

        # Without the language of the source DeepL would guess it, sentence by sentence.
        asked = {"source_lang": self.source, "target_lang": self.target, "model_type": self.model}
        kept = "what was translated is kept in the folder of the run (--out), the same command continues"
        try:
            found = [
                result.text
                for result in network.awaited(lambda: ask(list(texts), **asked), TIMEOUT)
            ]
        except TimeoutError:
            raise ModelError(f"DeepL: no whole answer after {TIMEOUT} s; {kept}") from None
        except deepl.AuthorizationException:  # what it says of a key may hold the key
            raise ModelError(f"DeepL refuses the key; set {KEY} to one of yours") from None
        except deepl.QuotaExceededException:
            raise ModelError(
                f"DeepL: the characters of this billing period are used up; {kept}"
            ) from None
        except deepl.DeepLException as error:
            raise ModelError(f"DeepL: {server_line(str(error), self._key)}; {kept}") from None
        except (
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
        ):  # of the client, about another form of answer
            found = []
        if len(found) != len(texts) or not all(isinstance(text, str) for text in found):
            raise ModelError(
                f"expected translations of {len(texts)} sentences from DeepL, got something else; {kept}"
            )
        return [without_key(text, self._key) for text in found]


def _host(address: str) -> str:
    try:
        return server_address(address).hostname or ""
    except SettingError as error:
        raise UsageError(f"{SERVER}: {error.message}") from None
