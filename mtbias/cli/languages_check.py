"""``mtbias languages check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from mtbias.cli.shared import Cache, Json, print_json
from mtbias.settings import CacheSettings

if TYPE_CHECKING:
    from mtbias.language.definition import Language
    from mtbias.morphology import Analyser

_SHOWN = 20
"""Lines and occupations that are shown; JSON has all."""


def command(
    code: Annotated[str, Parameter(name="CODE")],
    /,
    *,
    challenge: Path | None = None,
    analyses: Path | None = None,
    stanza_dir: Path | None = None,
    json: Json = False,
    cache: Cache = CacheSettings(),
) -> None:
    """Check an installed language: its contract, whether it calls men and women alike, which occupations it lacks, and
    which calls on sentences are wrong.

    Parameters
    ----------
    code
        Code of an installed language (`mtbias list languages` lists them).
    challenge
        Sentences with the calls that are right, a TSV as `mtbias languages new` writes it: kind, evidence, call,
        source, target; rows without a target are passed over. Needs the language's Stanza models, or analyses.
    analyses
        Analyses of these sentences instead of Stanza's, in CoNLL-U with a line "# text = …" above each.
    stanza_dir
        Folder of Stanza models.
    """
    from mtbias.decide.gender_pairs import count, pair_outcomes
    from mtbias.errors import SettingError
    from mtbias.language.installed import get_language
    from mtbias.new_language.policy_rows import occupation_coverage
    from mtbias.testing import contract_problems

    if analyses is not None and challenge is None:
        raise SettingError("analyses", "expected --challenge too, the sentences that are analysed")
    language = get_language(code)
    coverage, outcomes = occupation_coverage(language), pair_outcomes(language)
    pairs = count(outcomes)
    found: dict[str, Any] = {
        "code": code,
        "version": language.version,
        "nouns": len(language.nouns),
        "contract": contract_problems(language, outcomes),
        "gender_pairs": {**asdict(pairs), "difference": pairs.difference, "interval": pairs.interval},
        "occupations": coverage.all,
        "missing": list(coverage.missing),
        "one_sided": list(coverage.one_sided),
        **({} if challenge is None else _challenge(language, challenge, _analyser(code, analyses, stanza_dir, cache))),
    }
    if json:
        print_json(found)
    else:
        _show(found)


def _analyser(code: str, analyses: Path | None, stanza_dir: Path | None, cache: CacheSettings) -> Analyser:
    from mtbias.corpora import cache_folder
    from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
    from mtbias.morphology.given_analyses import GivenAnalyser
    from mtbias.morphology.stanza_models import stanza_folder

    if analyses is not None:
        return GivenAnalyser(analyses)
    package = find_package(code, stanza_folder(stanza_dir, cache_folder(cache.cache_dir)))
    return StanzaAnalyser(package, AnalysisCache(None), device="cpu")


def _challenge(language: Language, file: Path, analyser: Analyser) -> dict[str, Any]:
    """How many sentences there are, and a line for each wrong call."""
    from mtbias.new_language.policy_rows import policy_mistakes, read_policy_rows

    rows = read_policy_rows(file)
    return {"sentences": len(rows), "wrong": policy_mistakes(rows, language, analyser)}


def _show(found: dict[str, Any]) -> None:
    contract, missing, one_sided = found["contract"], found["missing"], found["one_sided"]
    _list(f"contract: {f'broken in {len(contract):,} places' if contract else 'kept'}", contract)
    pairs = found["gender_pairs"]
    if pairs["pairs"]:
        low, high = pairs["interval"]
        print(
            f"pairs that differ in gender alone: {pairs['pairs']:,}; men right in {pairs['male']:,}, women in "
            f"{pairs['female']:,}; difference {pairs['difference']:.1f} points, 95 % interval {low:.1f} to {high:.1f}"
        )
    known = found["occupations"] - len(missing)
    print(f"occupations: {known:,} of {found['occupations']:,} have a noun")
    if missing:
        print(f"  without: {_some(missing)}")
    if one_sided:
        print(f"  for one gender alone: {_some(one_sided)}")
    if "wrong" in found:
        right = found["sentences"] - len(found["wrong"])
        _list(f"sentences: {right:,} of {found['sentences']:,} calls are right", found["wrong"])


def _list(head: str, lines: Sequence[str]) -> None:
    more = [f"… and {len(lines) - _SHOWN:,} more (--json has all)"] if len(lines) > _SHOWN else []
    print(head, *lines[:_SHOWN], *more, sep="\n  ")


def _some(words: Sequence[str]) -> str:
    more = f", … ({len(words):,} in all)" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
