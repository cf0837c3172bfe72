# make demo | make test: each sets up everything it needs. make help lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NOX := $(BIN)/nox --no-venv --non-interactive
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help setup demo test lint types unit laws cluster soak docs bench requirements clean
help:
	@echo "make demo   the main job on this machine, with a report in build/demo"
	@echo "make test   lint, types, import contract, all tests"
	@echo "make soak   the long repetitions"
	@echo "make bench  side by side benchmarks"

setup: $(VENV)/.ready

$(VENV)/.ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "instar needs Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "python3-venv is missing: apt-get install python3-venv (or your system's package of that name)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q $(VENV)/lib src || true
	touch $@

demo: setup
	$(BIN)/instar demo

test: setup
	$(NOX) -s lint types unit laws cluster

lint types unit laws cluster soak bench: setup
	$(NOX) -s $@

requirements: setup
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --all-extras pyproject.toml requirements/build.in requirements/dev.in -o requirements/dev.txt

clean:
	rm -rf $(VENV) build dist .nox .mypy_cache .ruff_cache .pytest_cache
