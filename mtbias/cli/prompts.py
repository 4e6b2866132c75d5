"""``mtbias prompts``."""

from __future__ import annotations

from mtbias.cli.shared import Json, print_json


def command(*names: str, json: Json = False) -> None:
    """List the prompts that ask a language model for translations; with names, show their wording too.

    A TOML file of the same form is a prompt as well.

    Parameters
    ----------
    names
        Names of prompts, or paths of TOML files (default: all that ship).
    """
    from mtbias.errors import escaped
    from mtbias.translate.language_models.prompt_files import list_prompts, load_prompt

    found = [load_prompt(name) for name in names] or list_prompts()
    if json:
        print_json([prompt.as_json() for prompt in found])
        return
    for prompt in found:
        languages = f" ({', '.join(prompt.languages)})" if prompt.languages else ""
        print(escaped(f"{prompt.label:<28} {prompt.about}{languages}"))
        for turn in prompt.turns if names else ():
            for line in f"{turn.role}: {turn.content}".split("\n"):
                print(escaped(f"  {line}"))
