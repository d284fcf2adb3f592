# Every target makes the environment it needs in .venv, from the versions in requirements/constraints.txt.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test check docs matrix bench servers peers accuracy format pages picture dashboards
.PHONY: pins clean

PYTHON ?= python3
BIN := .venv/bin
PINS := requirements/constraints.txt
INSTALL := $(BIN)/python -m pip install --quiet --constraint $(PINS) --build-constraint $(PINS)

DEMO_EXTRAS := cli,mcp,otlp
DEV_EXTRAS := $(DEMO_EXTRAS),instrument
# What stands on the SDK 1.x cannot be pinned beside 2.x: see requirements/frameworks.
PIN_EXTRAS := cli,fastmcp,instrument,mcp,openai-agents,otlp,pydantic-ai,viewer

# One environment for each requirement file: two servers may want different versions of the MCP SDK.
SERVERS := $(patsubst requirements/servers/%.txt,build/servers/%/.installed,$(wildcard requirements/servers/*.txt))

# The same for the libraries that waypost is compared with: each in an environment of its own.
PEERS := $(patsubst requirements/peers/%.txt,build/peers/%/.installed,$(wildcard requirements/peers/*.txt))

# What must be covered to the last branch, and nothing less.
FULLY_COVERED := */waypost/core/*,*/waypost/guidance.py,*/waypost/pipeline/*,*/waypost/retries/*,*/waypost/rule_file/*

MAKEFLAGS += --no-print-directory
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.demo ## Watch a real host call real tools that fail (ARGS=--json for machines)
	@$(BIN)/waypost demo $(ARGS)

test: .venv/.dev ## Run every test, with coverage, then the timed ratios alone
	@$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not ratio"
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report
	@echo "What must be covered to the last branch:"
	@$(BIN)/coverage report --include="$(FULLY_COVERED)" --fail-under=100
	$(BIN)/pytest -m ratio

check: .venv/.dev ## Format, lint, types and import contracts, as CI runs them
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo

docs: .venv/.dev ## Build the documentation; a wrong link, name or page is an error
	@$(BIN)/python -m docs.build --check
	$(BIN)/sphinx-build --quiet --fresh-env --nitpicky --fail-on-warning --keep-going docs build/docs
	@echo "Start at build/docs/index.html"

matrix: .venv/.dev ## Run the tests on the oldest and the newest releases of the dependencies
	$(BIN)/nox $(ARGS)

bench: .venv/.dev ## Compare the cost of waypost with its floors, in one process
	@$(BIN)/python -m benchmarks $(ARGS)

servers: $(SERVERS) ## Install the public MCP servers that tests/servers drives

peers: $(PEERS) ## Install the libraries that benchmarks/accuracy compares waypost with

accuracy: .venv/.dev $(PEERS) ## Score waypost and its peers on the corpus, and write docs/accuracy.md
	@$(BIN)/python -m benchmarks.accuracy --write

format: .venv/.dev ## Rewrite the code the way `make check` wants it
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

pages: .venv/.dev ## Write the pages of docs/reference that the code describes
	@$(BIN)/python -m docs.build

dashboards: .venv/.dev ## Write dashboards/generated, from the code beside it
	@$(BIN)/python -m dashboards.build

picture: .venv/.dev ## Draw the picture of the README, from what the demo prints
	@$(BIN)/python -m docs.picture

pins: ## Write requirements/constraints.txt anew, with the newest versions
	@$(call need_python)
	@rm -rf build/pins
	@$(PYTHON) -m venv build/pins
	@build/pins/bin/python -m pip install --quiet --upgrade pip
	@build/pins/bin/python -m pip install --quiet --editable ".[$(PIN_EXTRAS)]" --group dev
	@{ grep '^#' $(PINS); build/pins/bin/python -m pip freeze --all --exclude-editable \
		--exclude setuptools; } > build/constraints.txt
	@mv build/constraints.txt $(PINS)
	@rm -rf build/pins

clean: ## Remove .venv and everything else that make and the tools left
	rm -rf .venv build dist .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache
	find benchmarks dashboards docs src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# ---------------------------------------------------------------------------- the environment
# Progress goes to stderr, so that the output of a target stays its own.

define need_python
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "waypost needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." >&2; \
	echo "Name another one, for example: make $(or $(firstword $(MAKECMDGOALS)),demo) PYTHON=python3.13" >&2; \
	exit 1; }
endef

.venv/.pip: $(PINS)
	@$(call need_python)
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade --constraint $(PINS) pip
	@touch $@

.venv/.demo: pyproject.toml $(PINS) .venv/.pip
	@echo "Installing waypost and what the demo needs into .venv (about half a minute) ..." >&2
	@$(INSTALL) --editable ".[$(DEMO_EXTRAS)]"
	@touch $@

.venv/.dev: pyproject.toml $(PINS) .venv/.pip
	@echo "Installing waypost and its tools into .venv (about a minute) ..." >&2
	@$(INSTALL) --editable ".[$(DEV_EXTRAS)]" --group dev
	@touch .venv/.demo $@

build/servers/%/.installed: requirements/servers/%.txt | .venv/.pip
	@echo "Installing public MCP servers into $(@D) (about a minute) ..." >&2
	@rm -rf $(@D)
	@$(BIN)/python -m venv --without-pip $(@D)
	@$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --requirement $<
	@touch $@

build/peers/%/.installed: requirements/peers/%.txt | .venv/.pip
	@echo "Installing $* into $(@D) (some seconds) ..." >&2
	@rm -rf $(@D)
	@$(BIN)/python -m venv --without-pip $(@D)
	@$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --requirement $< || { \
		echo "$* cannot be installed; without it there is no comparison." >&2; exit 1; }
	@touch $@
