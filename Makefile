# Every target makes the environment it needs in .venv, from the versions in requirements/constraints.txt.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test check docs matrix bench servers peers accuracy format pages picture
.PHONY: dashboards dashboards-check pins clean

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

# Real programs that the telemetry is sent to, built from their Go modules.
PROGRAMS := $(addprefix build/programs/,jaeger otelcol prometheus promtool)

# What must be covered to the last branch, and nothing less.
FULLY_COVERED := */waypost/core/*,*/waypost/guidance.py,*/waypost/pipeline/*,*/waypost/retries/*,*/waypost/rule_file/*

MAKEFLAGS += --no-print-directory
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

peers: $(PEERS) $(PROGRAMS) ## Install the libraries waypost is compared with, and build real Jaeger and others

accuracy: .venv/.dev $(PEERS) ## Score waypost and its peers on the corpus, and write docs/accuracy.md
	@$(BIN)/python -m benchmarks.accuracy --write

format: .venv/.dev ## Rewrite the code the way `make check` wants it
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

pages: .venv/.dev ## Write the pages of docs/reference that the code describes
	@$(BIN)/python -m docs.build

dashboards: .venv/.dev ## Write dashboards/generated, from the code beside it
	@$(BIN)/python -m dashboards.build

dashboards-check: .venv/.dev build/node/.installed ## Check them with the types and grammars of Grafana
	@$(BIN)/python -m dashboards.build --check
	@cp tests/dashboards/node/check.mjs build/node/
	@cd build/node && node check.mjs $(CURDIR)/dashboards/generated/grafana

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

build/node/.installed: tests/dashboards/node/package.json
	@command -v npm >/dev/null || { echo "$@ needs Node 20 or newer, with npm" >&2; exit 1; }
	@mkdir -p $(@D)
	@cp $< $(@D)/
	@cd $(@D) && npm install --no-package-lock --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

build/programs/jaeger: tests/peers/jaeger/go.mod tests/peers/jaeger/go.sum
	$(call go_build,Jaeger,tests/peers/jaeger,github.com/jaegertracing/jaeger/cmd/jaeger)

build/programs/prometheus: tests/peers/prometheus/go.mod tests/peers/prometheus/go.sum
	$(call go_build,Prometheus,tests/peers/prometheus,github.com/prometheus/prometheus/cmd/prometheus)

build/programs/promtool: tests/peers/prometheus/go.mod tests/peers/prometheus/go.sum
	$(call go_build,promtool,tests/peers/prometheus,github.com/prometheus/prometheus/cmd/promtool)

build/programs/builder: tests/peers/collector/go.mod tests/peers/collector/go.sum
	$(call go_build,the builder of Collectors,tests/peers/collector,go.opentelemetry.io/collector/cmd/builder)

# The builder writes the program's source, and lets go build it.
build/programs/otelcol: build/programs/builder tests/peers/collector/builder.yaml
	@echo "Building a Collector into $@ (a minute or two) ..." >&2
	@build/programs/builder --config=tests/peers/collector/builder.yaml \
		--output-path=build/collector >build/collector.log 2>&1 || { cat build/collector.log >&2; exit 1; }
	@mv build/collector/otelcol $@

# Named: what is built, its module, its package.
define go_build
@command -v go >/dev/null || { echo "$@ needs Go 1.26 or newer: https://go.dev/dl/" >&2; exit 1; }
@echo "Building $(1) into $@ (some minutes the first time) ..." >&2
@cd $(2) && go build -o $(CURDIR)/$@ $(3)
endef

build/peers/%/.installed: requirements/peers/%.txt | .venv/.pip
	@echo "Installing $* into $(@D) (some seconds) ..." >&2
	@rm -rf $(@D)
	@$(BIN)/python -m venv --without-pip $(@D)
	@$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --requirement $< || { \
		echo "$* cannot be installed; without it there is no comparison." >&2; exit 1; }
	@touch $@
