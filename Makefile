# What people and CI run. `make test` is the whole of the checks; it needs python3 (3.11 or newer) with venv, nothing else.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
MTBIAS_SHARED ?= $(abspath ../shared)
export MTBIAS_SHARED

# One thread a test process: several processes share the cores, and torch's own threads would fight over them.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -rs -n $(JOBS) --dist worksteal

# The figures of the README and of docs/: they need WinoMT, its translations, the human labels and Stanza's models.
WINOMT := $(MTBIAS_SHARED)/data/winomt
MACHINE := --stanza-dir $(MTBIAS_SHARED)/stanza_resources --cache-dir $(VENV)/cache

# The demo's language.
DEMO_LANG ?= de

.PHONY: help docs demo demo-build demo-verify checkpoint bench-translate bench-scale install test lint types imports pytest test-slow test-eflomal test-latex format wheel agreement challenge published compare coverage clean

help:
	@echo "make demo       mtbias eval --model demo, in $(VENV): no network but for the installation (DEMO_LANG=es for Spanish)"
	@echo "make test       ruff, mypy, import-linter, pytest (without the slow tests), in $(VENV)"
	@echo "make test-slow  the slow tests"
	@echo "make test-eflomal  the test of --aligner eflomal: installs it (GPL, compiled)"
	@echo "make test-latex  the test that LaTeX takes the tables for papers: needs pdflatex"
	@echo "make format     let ruff format and mend what it can"
	@echo "make wheel      dist/*.whl and dist/*.tar.gz, and a look into them"
	@echo "make agreement  how often the evaluator agrees with human labels, by language"
	@echo "make challenge  how it does on the sentences of tests/challenge"
	@echo "make published  the figures published in 2019 beside ours"
	@echo "make demo-build   build what the demo ships anew (an hour)"
	@echo "make demo-verify  the demo's model and the evaluator in all eight languages"
	@echo "make checkpoint   mtbias eval against a plain generate() loop, 3,888 sentences in seven languages"
	@echo "make bench-translate  speed of the engines against EasyNMT's way"
	@echo "make bench-scale  time and memory of every stage at 1/16, 1/4 and 1/1 of BUG's size"
	@echo "make docs       the documentation site, into site/"
	@echo "make compare    Google and Bing of 2019 on WinoMT: which differences are significant"
	@echo "make coverage   do the intervals hold the truth: simulations"
	@echo "make clean      remove $(VENV), dist and the tools' caches"

demo: $(VENV)/.package
	$(BIN)/mtbias eval --model demo --lang $(DEMO_LANG) --out runs/demo-$(DEMO_LANG)

install: $(VENV)/.installed

$(VENV)/.package: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip hatchling editables
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable .
	touch $@

$(VENV)/.installed: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev
	touch $@

test: lint types imports pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy
	$(BIN)/mypy tests scripts

imports: install
	$(BIN)/lint-imports

pytest: install
	$(PYTEST) -m "not slow and not eflomal and not latex"

test-slow: install
	$(PYTEST) -m slow

test-eflomal: install
	$(BIN)/python -m pip install --quiet --constraint constraints.txt "eflomal>=2"
	$(PYTEST) -m eflomal

test-latex: install
	@command -v pdflatex > /dev/null || { echo "expected pdflatex, found none (Debian: apt install texlive-latex-recommended)"; exit 1; }
	$(PYTEST) -m latex

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: install
	rm -rf dist
	$(BIN)/hatchling build
	$(BIN)/python -m zipfile --list dist/*.whl

agreement: install
	$(BIN)/python scripts/agreement.py --gold $(MTBIAS_SHARED)/data/human_agreement/dev.csv \
	  --translations $(WINOMT)/translations/google $(MACHINE)

challenge: install
	$(BIN)/python scripts/challenge.py --stanza-dir $(MTBIAS_SHARED)/stanza_resources

published: install
	$(BIN)/python scripts/published.py --data $(WINOMT) --folder $(WINOMT)/translations $(MACHINE)

demo-build: install
	$(BIN)/python scripts/build_demo.py

demo-verify: install
	$(BIN)/python scripts/build_demo.py verify

checkpoint: install
	$(BIN)/python scripts/check_checkpoint.py --model $(MTBIAS_SHARED)/mt_checkpoints/winomt-m2m100-mini --data $(WINOMT) \
	  --stanza-dir $(MTBIAS_SHARED)/stanza_resources $(foreach lang,ar de es he it ru uk,--lang $(lang))

bench-translate: install
	$(BIN)/python scripts/bench_translate.py

bench-scale: install
	OMP_NUM_THREADS=1 $(BIN)/python scripts/bench_scale.py --data $(WINOMT) --lang de --engine ct2 --stanza-dir $(MTBIAS_SHARED)/stanza_resources

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

compare: install
	$(BIN)/python scripts/compare_systems.py --weighted $(MACHINE)

coverage: install
	$(BIN)/python scripts/coverage.py --runs 1000
	$(BIN)/python scripts/coverage_weighted.py --runs 1000
	$(BIN)/python scripts/coverage_correction.py --runs 1000

clean:
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
