"""What a run will ask of an endpoint, and what that will cost about, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mtbias.translate.language_models.answers import kept_answers
from mtbias.translate.language_models.endpoint_client import estimated_tokens
from mtbias.translate.language_models.endpoint_system import EndpointPlan
from mtbias.translate.system import Store
from mtbias.types import Json

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class RequestEstimate:
    """Requests and tokens of what is missing of a run."""

    requests: int
    """One for each distinct source, as often as it is repeated, that has no answer yet."""
    kept: int
    """Answers that are there."""
    prompt_tokens: int
    answer_tokens: int
    basis: str
    """What the tokens are estimated from."""

    def cost(self, price_in: float, price_out: float) -> float:
        """``(prompt tokens × price_in + answer tokens × price_out) / 10⁶``: prices of a million tokens."""
        return (self.prompt_tokens * price_in + self.answer_tokens * price_out) / _MILLION

    def to_json(self, price_in: float | None, price_out: float | None) -> Mapping[str, Json]:
        """The estimate as plain values, with the cost where both prices are given."""
        cost = None if price_in is None or price_out is None else round(self.cost(price_in, price_out), 6)
        return {**{name: getattr(self, name) for name in self.__slots__}, "cost": cost}


def estimate_requests(plan: EndpointPlan, store: Store) -> RequestEstimate:
    """What `plan` lacks in `store`.

    Tokens are those of the answers that are there, by what the server counted, for each character of their sources.
    Without any, a prompt has a token for four bytes, and an answer one for two characters of its source: English has
    about four characters a token, and a translation takes up to twice its source's, more in other scripts.
    """
    system, counted, missing = plan.system, [], []
    for part, source in enumerate(plan.asked):
        found = kept_answers(store, part, 1)
        if found is None:
            missing.append(source)
        elif found[0].prompt_tokens is not None and found[0].answer_tokens is not None:
            counted.append((len(source), found[0].prompt_tokens, found[0].answer_tokens))
    characters = sum(map(len, missing))
    known = sum(length for length, _, _ in counted)
    if known:
        prompts, answers = (round(characters * sum(row[n] for row in counted) / known) for n in (1, 2))
        basis = f"{len(counted):,} answers that are there"
    else:
        prompts = sum(estimated_tokens(system.prompt.messages(source, system.lang)) for source in missing)
        answers, basis = characters // 2, "a token for four bytes of a prompt, and for two characters of a source"
    return RequestEstimate(len(missing), len(plan.asked) - len(missing), prompts, answers, basis)
