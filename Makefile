# Weighbridge: `make run` starts the demo, `make test` proves everything. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help setup run check lint types architecture test unit e2e browser lock format bench clean

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready ## Build .venv from requirements.lock

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Weighbridge needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@$(PYTHON) -m venv $(VENV) || { echo "Cannot make a virtual environment. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

run: setup ## Start the demo: dashboard on http://127.0.0.1:8050
	$(BIN)/weighbridge demo

check: lint types architecture ## ruff, mypy and the import contracts

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

architecture: setup
	$(BIN)/lint-imports

test: check unit e2e browser ## Everything: check, unit, end-to-end and browser tests

unit: setup
	$(PYTEST) -m "not e2e and not browser and not soak" -n 2 --dist loadfile

e2e: setup
	$(PYTEST) -m "e2e and not soak"

browser: setup
	$(BIN)/python tests/browser/ensure_browser.py
	$(PYTEST) -m "browser and not soak"

bench: setup ## Measure the figures in docs/performance.md (about 15 minutes)
	$(BIN)/weighbridge bench all

format: setup ## Rewrite the sources in the project's format
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lock: setup ## Resolve the dependencies again into requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --all-extras --group dev --no-emit-index-url --no-header --no-annotate --python-version 3.11 pyproject.toml --output-file requirements.lock

clean: ## Remove .venv, caches and test artefacts (never data)
	rm -rf $(VENV) artifacts build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
