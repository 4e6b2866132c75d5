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
from mtbias.translate.system import Begun, Sources, System, SystemKind, SystemRequest
from mtbias.translate.text_system import TextPlan, TextSystem

SCHEME = "deepl"
# `prefer_quality_optimized` is left out: either model may answer, and numbers of two models are
# those of neither.
MODELS = ("quality_optimized", "latency_optimized")
"""DeepL's ``model_type``: which of its models translates."""
KEY, SERVER = "DEEPL_AUTH_KEY", "DEEPL_SERVER_URL"
"""Environment variables, with the names of DeepL's own command. The settings of a sweep for
endpoints, such as ``base_url``, must not decide where DeepL's key is sent."""
TEXTS = 50
"""Sentences of a request, the most that DeepL takes; it translates each by itself. A killed process
loses no more than these."""
TIMEOUT = 300
"""Seconds for a request with all its repetitions, which take the client about 100 where nobody
answers."""
_VARIANTS = {"EN": "EN-US or EN-GB", "PT": "PT-BR or PT-PT"}
"""Languages for which DeepL needs a variety."""


class DeepLKind(SystemKind):
    """``deepl:MODEL`` (`mtbias.translate.system.SystemKind`)."""

    needs_network = True
    is_other_program = True

    def place(self, request: SystemRequest) -> str:  # noqa: ARG002 - all of its systems are there
        """See `SystemKind.place`."""
        return "DeepL"

    def open(self, request: SystemRequest) -> DeepLSystem:
        """DeepL, to which nothing is sent yet. See `SystemKind.open`.

        Raises:
            UsageError: DeepL has no such model, or needs a variety of the language.
        """
        if request.name not in MODELS:
            models = " or ".join(f"{SCHEME}:{model}" for model in MODELS)
            raise SettingError("model", f"expected {models}, got {SCHEME}:{request.name}")
        target = (request.settings.target_code or request.lang).upper()
        if target in _VARIANTS:
            raise SettingError(
                "target_code", f"expected {_VARIANTS[target]}: DeepL must be told which"
            )
        return DeepLSystem(
            request.name,
            target,
            request.source_lang.upper(),
            request.offline or network.is_forbidden(),
        )


DEEPL_KIND = DeepLKind()


@dataclass(frozen=True)
class DeepLSystem(System):
    """Asks DeepL for translations into one language (`mtbias.translate.system.System`)."""

    model: str
    target: str
    """DeepL's name of the language."""
    source: str = "EN"
    """DeepL's name of the sources' language."""
    offline: bool = False
    """Whether only a server on this machine may be used."""
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
        system = TextSystem(identity, self._translate, part_size=TEXTS, needs_network=True)
        plan = system.plan(corpus, begun)
        return replace(plan, settings={**plan.settings, "date": date})

    @cached_property
    def _key(self) -> str:
        return key_from(KEY, "DeepL")

    @cached_property
    def _ask(self) -> Callable[..., Any]:
        """`translate_text` of DeepL's client.

        Whether the network may be used is checked only here: a run that has all translations needs
        none.
        """
        own = os.environ.get(SERVER) or None  # else the client knows the host by the key
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
            ModelError: the key is missing or refused, or DeepL does not answer after several tries.
            MissingResourceError: the network is forbidden.
        """
        ask = self._ask
        import deepl

        # Without the language of the source DeepL would guess it, sentence by sentence.
        options = {"source_lang": self.source, "target_lang": self.target, "model_type": self.model}
        advice = (
            "what was translated is kept in the folder of the run (--out), "
            "the same command continues"
        )
        translations: list[Any] = []
        try:
            results = network.awaited(lambda: ask(list(texts), **options), TIMEOUT)
            translations = [result.text for result in results]
        except TimeoutError:
            raise ModelError(f"DeepL: no whole answer after {TIMEOUT} s; {advice}") from None
        except deepl.AuthorizationException:  # what it says of a key may hold the key
            raise ModelError(f"DeepL refuses the key; set {KEY} to one of yours") from None
        except deepl.QuotaExceededException:
            raise ModelError(
                f"DeepL: the characters of this billing period are used up; {advice}"
            ) from None
        except deepl.DeepLException as error:
            raise ModelError(f"DeepL: {server_line(str(error), self._key)}; {advice}") from None
        # The client raises these about an answer of another form.
        except (TypeError, ValueError, AttributeError, RecursionError):
            translations = []
        if list(map(type, translations)) != [str] * len(texts):
            raise ModelError(
                f"expected translations of {len(texts)} sentences from DeepL, "
                f"got something else; {advice}"
            )
        return [without_key(text, self._key) for text in translations]


def _host(address: str) -> str:
    try:
        return server_address(address).hostname or ""
    except SettingError as error:
        raise UsageError(f"{SERVER}: {error.message}") from None
