# The commands of a checkout. Each makes what it needs first: the virtual environment, the system packages, the build.
#
#   make demo          explore the shipped examples until their planted bugs are found
#   make test          build, then run the core's tests beside the Python tests, the slowest first: minutes
#   make check         all that judges besides: formats, lint, types, clang-tidy, the tests of documents and rooms, tests
#                      that take seconds each, the demo, those of core and bindings under sanitizers, and the contract
#                      in short on the oldest Python and Hypothesis
#   make nightly       what takes long: slow tests, all tests on other versions of Python and Hypothesis, the thread
#                      sanitizer, 100,000 damaged trace files and as many shrinks, twice ten minutes of soak, the site
#   make build         the extension and an editable install in .venv
#   make lint          formats, lint and types alone
#   make format        rewrite the sources in the house format
#   make bench         measure speed and a short bug suite, in minutes, into benchmarks/RESULTS.md
#   make bench-full    run every benchmark and the whole bug suite with all peers, in hours, into the same file
#   make probes        run real libraries on the simulated network, and write which work into docs/reference/libraries.md
#   make docs          build the site of the documentation into build/site/html
#   make accessibility look at the pages of reports with axe-core in headless Chromium; needs both, and npm
#   make wheels        build wheels for the versions of Python that are here, and try each in an empty environment
#   make screens       record the pictures of the guides from running commands; needs tmux and Chromium
#   make soak          explore with two workers for an hour, and fail when memory grows; MINUTES=10 for less, and
#                      MACHINE=depth for a machine as deep as a tape may be
#   make check-threads the core's tests under the thread sanitizer
#   make check-races   threads of traced code, and monitors that begin and end, for ten minutes under the thread sanitizer:
#                      it builds a free-threaded interpreter with it first
#   make fuzz-shrinks  shrink 100,000 random tapes under the sanitizers
#   make fuzz-forks    try 10,000 crafted messages on the channel of a fork
#   make fuzz-traces   load 100,000 damaged trace files under the sanitizers
#   make fuzz-files    give 10,000 damaged files of all kinds to the command line
#   make test-nightly  the slow tests alone
#   make test-clusters the fleets on clusters of Ray and Dask of this machine, in an environment of their own
#   make test-ray      the fleets on Ray with two of its older versions
#   make test-hypothesis  the tests of what depends on Hypothesis' inside, with its older versions
#   make test-pythons  all Python tests with each other version of Python that is here
#   make test-portable all Python tests without what Linux alone has, and at the end what is left out and why
#   make durations     run the Python tests and note which are slow, for the order of the next run
#   make clean         remove what the above made, .venv included

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Another interpreter gets another folder: make test-python VENV=build/venv-3.12 ORDEAL_PYTHON=python3.12
VENV ?= .venv
JOBS ?= $(shell nproc)
export JOBS
# How many tests may fail beside others, if each passes when it runs again alone. They are named.
UNSTEADY ?= 0
export UNSTEADY
# Which Python tests: make test-python TESTS='tests/unit -m "not slow and not nightly"'
TESTS ?=
# How long a soak takes, and of what: shop or depth.
MINUTES ?= 60
MACHINE ?= shop
# What the program under test is told: no colour in logs, no user settings.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# What one process compiles, the hundreds that tests start need not compile again.
unexport PYTHONDONTWRITEBYTECODE

cpp_files := $(shell find cpp tests/core benchmarks/core -name '*.cpp' -o -name '*.h' 2>/dev/null)
cpp_headers := $(filter %.h,$(cpp_files))
# Folders count too: their time changes when a file comes or goes.
extension_inputs := CMakeLists.txt $(shell find cpp)
python_files := $(sort $(shell find python -name '*.py' -o -name '*.pyi'))
tidy_stamps := $(patsubst %.cpp,build/tidy/%.ok,$(filter cpp/%.cpp,$(cpp_files)))

# What starts with this line, wherever it lies.
shell_scripts := $(shell grep -l -d skip '^\#!/bin/bash' tools/* .ci/run)

.PHONY: screens core core-to-test demo test check nightly build lint format bench bench-full probes docs soak check-threads check-races fuzz-traces fuzz-files fuzz-shrinks fuzz-forks clean durations accessibility wheels
.PHONY: test-core test-python test-nightly test-clusters test-ray test-hypothesis test-pythons test-portable
.PHONY: checks check-documents check-slow check-demo check-shell check-ruff check-format check-types check-clang-format sanitized check-core check-bindings check-oldest

build: $(VENV)/stamp-build

# The environment waits for the network while the core compiles.
demo:
	@$(MAKE) --jobs=2 $(VENV)/stamp-environment core
	@$(MAKE) build
	@tools/demo

# The environment waits for the network while the core compiles, and Python tests wait for much else while its tests do.
test:
	@$(MAKE) --jobs=2 --output-sync=target $(VENV)/stamp-environment core-to-test
	@$(MAKE) build
	@$(MAKE) --jobs=2 --keep-going test-core test-python

# As many checks at a time as there are cores, and then those that take all cores themselves.
check: build build/stamp-test-packages build/lint/build.ninja
	@$(MAKE) --jobs=$(JOBS) --keep-going --output-sync=target checks
	@$(MAKE) --keep-going check-slow check-demo check-core check-bindings check-oldest

lint: build build/stamp-test-packages
	@$(MAKE) --jobs=$(JOBS) --keep-going --output-sync=target check-shell check-ruff check-format check-types check-clang-format

format: build
	ruff check --fix --exit-zero .
	ruff format .
	clang-format -i $(cpp_files)

bench: build
	@tools/system-packages bench
	@tools/bench

bench-full: build
	@tools/system-packages bench
	@tools/bench --full

probes: build
	@python benchmarks/probe_libraries.py

docs: build build/docs-venv/stamp
	@build/docs-venv/bin/python tools/docs_site.py build/site

wheels: build
	@python tools/wheels.py --core build/core/libcore.a

screens: build
	@python tools/screenshots.py
	@python tools/record_bugs.py

soak: build
	@python benchmarks/soak.py --minutes $(MINUTES) --machine $(MACHINE)

check-threads: build build/stamp-test-packages
	@tools/run-checked "thread sanitizer set-up" $(configure) -B build/tsan -DORDEAL_TESTS=ON -DORDEAL_MODULE=OFF -DORDEAL_SANITIZE=thread
	@tools/run-checked "build with the thread sanitizer" ninja -C build/tsan -j $(JOBS)
	@tools/run-checked "core tests under it" build/tsan/core_tests --gtest_brief=1

# The packages are those of an ordinary free-threaded interpreter.
check-races: build/stamp-test-packages
	@$(MAKE) build/venv-3.14t/stamp-environment VENV=build/venv-3.14t \
	  ORDEAL_PYTHON="$$(tools/find-python 3.14t 2>/dev/null || tools/free-threaded-python 3.14 build/python3.14t)"
	@tools/test-races build/races build/venv-3.14t

fuzz-traces: sanitized
	@ORDEAL_MUTATED_FILES=100000 tools/test-bindings build/san $(VENV) tests/unit/_engine/storage/test_trace_mutations.py

fuzz-shrinks: sanitized
	@ORDEAL_SHRINKS=100000 tools/run-checked "100,000 shrinks" build/san/core_tests --gtest_brief=1 --gtest_filter='ShrinkerFuzz.*'

fuzz-files: build
	@ORDEAL_DAMAGED_FILES=10000 python -m pytest --quiet -rP tests/attack/test_damaged_files.py

fuzz-forks: build
	@ORDEAL_CRAFTED_MESSAGES=10000 python -m pytest --quiet tests/unit/_engine/execution/test_fork_server.py

build/axe/node_modules/axe-core/axe.min.js:
	@tools/run-checked "axe-core" npm install --no-audit --no-fund --prefix build/axe axe-core@4

accessibility: build build/axe/node_modules/axe-core/axe.min.js
	@python tools/accessibility.py build/axe/node_modules/axe-core/axe.min.js

nightly: check-threads check-races fuzz-traces fuzz-files fuzz-shrinks fuzz-forks docs
	@$(MAKE) test-nightly
	@$(MAKE) test-clusters
	@$(MAKE) test-ray
	@$(MAKE) test-hypothesis
	@$(MAKE) test-pythons
	@$(MAKE) test-portable
	@if command -v npm >/dev/null && command -v chromium >/dev/null; then $(MAKE) accessibility; fi
	@$(MAKE) soak MINUTES=10
	@$(MAKE) soak MINUTES=10 MACHINE=depth

durations: build
	@python tools/python_tests.py --record

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache

# What a build needs. A stamp is newer than all that it was made from, so a second call has nothing to do.

$(VENV)/stamp-environment: pyproject.toml tools/environment tools/find-python
	@tools/run-timed "virtual environment" tools/environment $(VENV)
	@touch $@

build/docs-venv/stamp: pyproject.toml tools/docs-environment $(VENV)/stamp-environment
	@tools/run-timed "environment of the site" tools/docs-environment build/docs-venv $(VENV)
	@touch $@

build/clusters-venv/stamp: pyproject.toml tools/docs-environment $(VENV)/stamp-environment
	@tools/run-timed "environment of the clusters" tools/docs-environment build/clusters-venv $(VENV) ray dask redis
	@touch $@

# Another Python, on which members cannot run.
build/clusters-venv-3.12/stamp: build/clusters-venv/stamp
	@tools/run-timed "clusters of Python 3.12" tools/other-clusters build/clusters-venv-3.12 build/clusters-venv 3.12
	@touch $@

build/kubernetes/kubectl: tools/kubernetes
	@tools/run-timed "programs of Kubernetes" tools/kubernetes build/kubernetes

build/stamp-build-packages: tools/system-packages
	@tools/system-packages build
	@mkdir -p build && touch $@

build/stamp-test-packages: build/stamp-build-packages tools/system-packages
	@tools/system-packages test
	@mkdir -p build && touch $@

# An editable install knows the files that there were when it was made: it is made anew when one comes or goes.
build/python-files: FORCE
	@mkdir -p build && printf '%s\n' $(python_files) | cmp -s - $@ || printf '%s\n' $(python_files) >$@
FORCE:

$(VENV)/stamp-build: build/python-files $(VENV)/stamp-environment build/core/build.ninja pyproject.toml README.md $(extension_inputs)
	@echo "building ordeal" >&2
	@$(MAKE) core
	@tools/run-timed "build" python -m pip install --quiet --no-deps --no-build-isolation --editable . \
	  --config-settings=build-dir=build/extension --config-settings=cmake.define.ORDEAL_CORE=$(CURDIR)/build/core/libcore.a
	@python -m compileall -q python
	@touch $@

configure = cmake -S . -GNinja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-Og \
  -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python -Dpybind11_DIR="$$(python -m pybind11 --cmakedir)"

# The core, which the extension and the core's tests share.
core: build/core/build.ninja
	@tools/run-timed "build of the core" ninja --quiet -C build/core core

build/core/build.ninja: CMakeLists.txt build/stamp-build-packages
	@tools/run-checked "set-up of the core" cmake -S . -B build/core -GNinja -DORDEAL_MODULE=OFF
	@touch $@

build/core/stamp-tests: build/core/build.ninja build/stamp-test-packages
	@tools/run-checked "set-up of core tests" cmake -S . -B build/core -DORDEAL_TESTS=ON
	@touch $@

# What is built from it counts as older than its set-up, which comes first therefore.
core-to-test: build/core/stamp-tests
	@$(MAKE) core

# The sanitizer build holds both the core's tests and the extension.
build/san/build.ninja: CMakeLists.txt $(VENV)/stamp-build build/stamp-test-packages
	@tools/run-checked "sanitizer set-up" $(configure) -B build/san -DORDEAL_TESTS=ON -DORDEAL_SANITIZE=address,undefined
	@touch $@

# Nothing is built here: it says how each file would be compiled alone, as clang-tidy judges it.
build/lint/build.ninja: CMakeLists.txt $(VENV)/stamp-build
	@tools/run-checked "clang-tidy set-up" $(configure) -B build/lint -DORDEAL_UNITY=OFF
	@touch $@

# Checks. The longest come first, as the last one to start decides when all are done.

checks: check-types check-documents $(tidy_stamps) check-shell check-ruff check-format check-clang-format

# Tests of the documents and of the order of the source. They judge what is written, as linters do.
judges := tests/docs tests/test_rooms.py tests/test_tidy.py tests/test_walks.py

check-documents: build
	@tools/run-checked "documents and rooms" python tools/python_tests.py --jobs 1 --unsteady $(UNSTEADY) $(judges)

check-demo: build
	@tools/run-checked "demo" tools/demo

# Those that take seconds each, by themselves or by what they start.
check-slow: build
	@tools/run-checked "slow tests" python tools/python_tests.py --jobs $$(($(JOBS) + 1)) --unsteady $(UNSTEADY) \
	  -m "slow and not nightly" $$(grep -rl --include='test_*.py' 'mark\.slow' tests)

sanitized: build/san/build.ninja
	@tools/run-checked "build with sanitizers" ninja -C build/san -j $(JOBS)

check-core: sanitized
	@tools/run-checked "core tests" tools/in-shards $(JOBS) build/san/core_tests --gtest_brief=1

check-bindings: sanitized
	@tools/run-checked "sanitized bindings" tools/test-bindings build/san $(VENV)

check-oldest: build
	@tools/run-checked "oldest versions" tools/test-oldest $(VENV)

build/tidy/%.ok: %.cpp $(cpp_headers) .clang-tidy build/lint/build.ninja
	@tools/run-checked "tidy $(notdir $<)" clang-tidy -p build/lint --quiet --warnings-as-errors='*' $<
	@mkdir -p $(@D) && touch $@

check-types:
	@tools/run-checked "mypy" mypy

check-shell:
	@tools/run-checked "shellcheck" shellcheck $(shell_scripts)

check-ruff:
	@tools/run-checked "ruff check" ruff check --quiet .

check-format:
	@tools/run-checked "ruff format" ruff format --quiet --diff .

check-clang-format:
	@tools/run-checked "clang-format" clang-format --dry-run -Werror $(cpp_files)

# Tests. Many of them wait - for a process, a time limit, a signal - so one more runs than there are cores.

test-core: build/core/stamp-tests
	@tools/run-checked "build of core tests" nice ninja -C build/core -j $(JOBS) core_tests
	@tools/run-checked "core tests" nice tools/in-shards $(JOBS) build/core/core_tests --gtest_brief=1

test-python: build
	@tools/run-timed "Python tests" python tools/python_tests.py --jobs $$(($(JOBS) + 1)) --unsteady $(UNSTEADY) \
	  $(or $(TESTS),-m "not slow and not nightly" $(judges:%=--without=%))

test-nightly: build
	@python tools/python_tests.py --jobs $$(($(JOBS) + 1)) -m nightly

# Members start as `python -m ordeal` of this environment, which has the build of the other one.
test-clusters: build build/clusters-venv/stamp
	@if command -v go >/dev/null; then $(MAKE) build/kubernetes/kubectl; fi
	@if tools/find-python 3.12 >/dev/null; then $(MAKE) build/clusters-venv-3.12/stamp; fi
	@build/clusters-venv/bin/python -m pytest --quiet -m nightly tests/clusters

# Two minor versions of Ray before the newest, with which all tests of clusters run.
ray_versions := 2.58.1 2.59.0

test-ray: build build/clusters-venv/stamp
	@for version in $(ray_versions); do tools/test-ray $$version build/clusters-venv; done

# The oldest version of Hypothesis that is supported, and one between it and the newest, which all other tests run with.
hypothesis_versions := 6.140.3 6.160.0

test-hypothesis: build
	@for version in $(hypothesis_versions); do tools/test-hypothesis $$version $(VENV) -n $(JOBS); done

python_versions := 3.12 3.14 3.15 3.14t 3.15t

test-pythons:
	@for version in $(python_versions); do \
	  if python=$$(tools/find-python $$version); then \
	    echo "Python $$version: $$python"; \
	    $(MAKE) test-python VENV=build/venv-$$version ORDEAL_PYTHON="$$python" TESTS=tests; \
	  fi; \
	done

# What needs Linux stands in tests/without_linux/left_out.py.
test-portable:
	@PYTHONPATH=$(CURDIR)/tests/without_linux $(MAKE) test-python TESTS=tests
