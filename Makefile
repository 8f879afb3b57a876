# Each target works as the first command on a fresh machine with Python 3.11 or later, git and make:
# the virtual environment in .venv is made once and renewed when the dependencies change.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed
SLOWEST := --durations=15 --durations-min=2
SOURCES := src tests benchmarks papers docs
PYTEST := $(RUN) -m pytest $(SLOWEST) -n auto --maxprocesses 4 --dist loadgroup

.PHONY: help install demo test test-all fuzz mutants lint style bench site oldest packages clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv with discreet and its development tools

demo: $(STAMP) ## the main job on real or built-in data, into out/demo
	@rm -rf out/demo && mkdir -p out
	$(VENV)/bin/discreet demo --output out/demo

# Programs that tests start, and the second process of tests, read what was compiled once; where the environment
# forbids bytecode, each compiles some thousand modules anew. `make clean` removes it.
export PYTHONDONTWRITEBYTECODE =

# What tests write for a moment lies in memory, where there is plenty: a twentieth of their time.
ROOMY := $(shell test -w /dev/shm && df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 8000 {print "/dev/shm"}')
test test-all: export TMPDIR := $(or $(TMPDIR),$(ROOMY),/tmp)

# tests/conftest.py says which tests one process runs: all of Spark's, since a session is a JVM.
# Types are checked beside the tests, which leave a processor idle now and then, and are told at the end.
test: style $(VENV)/.system ## everything a change must pass: lint, types, tests
	@mkdir -p build; $(RUN) -m mypy >build/types.txt 2>&1 & types=$$!; trap "kill $$types; exit 130" INT TERM; \
	$(PYTEST); tests=$$?; wait $$types; types=$$?; cat build/types.txt; test $$tests$$types = 00

test-all: lint $(VENV)/.system ## the same with the slow tests and newly drawn tables, the kernels with bounds checks, a minute of fuzz
	DISCREET_DRAW=new $(PYTEST) -m ''
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -m '' tests/kernels tests/lattice
	$(RUN) -m tests.fuzz --minutes 1

fuzz: $(STAMP) ## tables through every criterion, model and format for MINUTES (10), or one again (SEED=trial-N)
	$(RUN) -m tests.fuzz $(if $(SEED),--seed "$(SEED)",--minutes $(or $(MINUTES),10))

mutants: $(STAMP) ## planted bugs, each in a copy of the program: which attempt of the fuzz finds it
	$(RUN) -m tests.mutants

lint: style ## style, format and strict types
	$(RUN) -m mypy

style: $(STAMP)
	$(RUN) -m ruff check $(SOURCES)
	$(RUN) -m ruff format --check $(SOURCES)
	$(VENV)/bin/oxfmt --check 'src/**/*.js'

bench: $(STAMP) ## every benchmark, each with its ratio to a baseline of the same run
	$(RUN) -m benchmarks $(BENCH)

site: $(STAMP) ## the documentation as a site for the browser, offline and searchable, in build/site
	$(RUN) -m sphinx -q -b html -W --keep-going -j auto -d build/site.cache -c docs/site . build/site
	@echo "open build/site/index.html"

# oldest.txt has the oldest version of each dependency; its tests are those of the core, not of the extras.
CORE := model hierarchy spec sql lattice negotiation search mondrian local recoding release audit verbs
oldest: ## the core's tests with the oldest dependencies that are allowed, in build/oldest
	@$(PYTHON) -m venv --clear build/oldest
	@build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint oldest.txt \
		--editable '.[exact,postgres]' 'pytest<9.2' pytest-xdist hypothesis mypy pyyaml jsonschema-rs \
		pyarrow pandas polars adbc-driver-sqlite ipykernel ipywidgets
	build/oldest/bin/python -m pytest -W default -n auto $(CORE:%=tests/%)

# The date of the commit stands in the archives in place of that of the build, so that whoever builds gets the same.
packages: $(STAMP) ## the source archive, the wheel, and the list of what they need (CycloneDX), in dist
	@$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[packages]'
	@rm -rf dist build/packages && mkdir -p dist build
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(RUN) -m build --outdir dist
	@$(PYTHON) -m venv build/packages
	@build/packages/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	$(VENV)/bin/cyclonedx-py environment --output-reproducible --output-file dist/discreet.cdx.json \
		build/packages/bin/python

clean: ## remove all that make has made, .venv too
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "discreet needs Python 3.11 or later: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "installing discreet and its development tools into $(VENV); a minute or two, once" >&2
	@$(RUN) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

# Browser tests drive the system's Chromium, Spark's tests its Java, MariaDB's its server. Root installs them; others
# are told, and those tests are skipped. Chromium without a window takes pages half the time that the whole one takes.
define install_package
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	echo "installing the system package $(1); half a minute, once" >&2 && \
	export DEBIAN_FRONTEND=noninteractive && \
	{ apt-get install -y -qq $(1) || { apt-get update -qq && apt-get install -y -qq $(1); } ; } >/dev/null 2>&1; } || \
	echo "the system package $(1) is missing: $(2) (apt install $(1))" >&2
endef

$(VENV)/.system: $(STAMP) Makefile
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		$(call install_package,chromium,browser tests are skipped)
	@test -x /usr/lib/chromium/chromium-headless-shell || \
		$(call install_package,chromium-headless-shell,browser tests take twice as long)
	@command -v mariadbd >/dev/null || test -x /usr/sbin/mariadbd || \
		$(call install_package,mariadb-server,MariaDB tests are skipped)
	@command -v java >/dev/null || $(call install_package,default-jre-headless,Spark tests are skipped)
	@touch $@
