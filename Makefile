# Everything sets itself up: `make demo` and `make test` work on a fresh machine with Python >= 3.10, make and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
NATIVE := CMakeLists.txt pyproject.toml $(wildcard src/native/*)

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types contracts docstrings doctests bench bench-quick bench-serving paper docs clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "trueup needs Python 3.10 or later; set PYTHON="; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	@touch $@

$(VENV)/installed: $(VENV)/made $(NATIVE)
	$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) install --group dev
	@touch $@

demo: $(VENV)/installed ## Fit on simulated traffic and show what changed
	@$(BIN)/trueup demo

test: $(VENV)/installed-dev ## Run all tests
	$(BIN)/python -m pytest

check: lint types contracts docstrings doctests test ## All that CI checks

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror src/native/*

types: $(VENV)/installed-dev
	$(BIN)/mypy

contracts: $(VENV)/installed-dev
	$(BIN)/lint-imports

docstrings: $(VENV)/installed-dev
	$(BIN)/python -m numpydoc lint $$(git ls-files 'src/trueup/*.py')

doctests: $(VENV)/installed-dev
	$(BIN)/python -m pytest --doctest-modules --quiet src/trueup

# An environment of its own: the peer brings 1.5 GB. Not editable, so that what is measured is what users install.
$(BENCH)/installed: benchmarks/requirements.txt $(NATIVE) $(wildcard src/trueup/*.py src/trueup/*/*.py)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	$(BENCH)/bin/python -m pip --quiet install --requirement benchmarks/requirements.txt
	$(BENCH)/bin/python -m pip --quiet install --upgrade .
	@touch $@

bench: $(BENCH)/installed ## Measure speed, memory and quality beside Meta's package (an hour or more)
	$(BENCH)/bin/python benchmarks/run_all.py

bench-quick: $(BENCH)/installed ## Measure the most important in about five minutes
	$(BENCH)/bin/python benchmarks/run_all.py --quick

bench-serving: $(VENV)/installed-dev ## Measure the server on the loopback (a quarter of an hour)
	$(BIN)/python benchmarks/serving/throughput.py --seconds 60
	$(BIN)/python benchmarks/serving/latency.py --seconds 60
	$(BIN)/python benchmarks/serving/soak.py --seconds 600

.PHONY: fuzz audit
$(VENV)/installed-fuzz: $(VENV)/installed
	$(PIP) install --group fuzz
	@touch $@

fuzz: $(VENV)/installed-fuzz ## Fuzz the loader, request bodies and conditions for hours; options in FUZZ=
	$(BIN)/python tests/fuzz/fuzz.py $(FUZZ)

audit: $(VENV)/installed-dev ## Ask a vulnerability service about every package that `make check` installed
	$(BIN)/python .ci/audit.py

$(VENV)/installed-paper: $(VENV)/installed
	$(PIP) install --editable '.[paper]'
	@touch $@

paper: $(VENV)/installed-paper ## Run the paper's benchmark anew; data from TRUEUP_DATA or downloaded, options in PAPER=
	$(BIN)/trueup bench paper $(PAPER)

docs: $(VENV)/installed-dev ## Build the reference from the docstrings
	$(BIN)/python -m sphinx -q -W -b html docs build/docs
	@echo "The reference is build/docs/index.html; decisions and their reasons are in docs/decisions/."

clean: ## Remove everything that was made
	rm -rf $(VENV) $(BENCH) build dist trueup-demo trueup-paper .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
