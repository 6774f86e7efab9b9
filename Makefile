# The commands of a checkout. Each makes what it needs first: the virtual environment, the system packages, the build.
#
#   make demo          explore the shipped example until its planted bugs are found
#   make test          every check and every test
#   make test-hypothesis  the tests of what depends on Hypothesis' inside, with its older versions
#   make build         the extension and an editable install in .venv
#   make lint          formats, lint and types alone
#   make format        rewrite the sources in the house format
#   make bench         measure speed and a short bug suite, in minutes, into benchmarks/RESULTS.md
#   make bench-full    run every benchmark and the whole bug suite with all peers, in hours, into the same file
#   make soak          explore with two workers for an hour, and fail when memory grows; MINUTES=10 for less
#   make check-threads the core's tests under the thread sanitizer
#   make fuzz-traces   load 100,000 damaged trace files under the sanitizers
#   make nightly       these three, with a soak of ten minutes
#   make clean         remove what the above made, .venv included

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# Another interpreter gets another folder: make test-python VENV=build/venv-3.12 ORDEAL_PYTHON=python3.12
VENV ?= .venv
JOBS ?= $(shell nproc)
export JOBS
# Which Python tests: make test-python TESTS='tests/unit -m "not slow"'
TESTS ?=
# How long a soak takes.
MINUTES ?= 60
# What the program under test is told: no colour in logs, no user settings.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

cpp_files := $(shell find cpp tests/core benchmarks/core -name '*.cpp' -o -name '*.h' 2>/dev/null)
cpp_headers := $(filter %.h,$(cpp_files))
# Folders count too: their time changes when a file comes or goes.
extension_inputs := CMakeLists.txt $(shell find cpp)
tidy_stamps := $(patsubst %.cpp,build/tidy/%.ok,$(filter cpp/%.cpp,$(cpp_files)))

.PHONY: demo test test-hypothesis build lint format bench bench-full soak check-threads fuzz-traces nightly clean
.PHONY: checks check-shell check-ruff check-format check-types check-clang-format sanitized check-core check-bindings test-python

build: $(VENV)/stamp-build

demo: build
	@tools/demo

test: build build/stamp-test-packages
	@$(MAKE) --jobs=$(JOBS) --keep-going --output-sync=target checks
	@$(MAKE) test-python

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

soak: build
	@python benchmarks/soak.py --minutes $(MINUTES)

check-threads: build build/stamp-test-packages
	@tools/run-checked "thread sanitizer set-up" $(configure) -B build/tsan -DORDEAL_TESTS=ON -DORDEAL_MODULE=OFF -DORDEAL_SANITIZE=thread
	@tools/run-checked "build with the thread sanitizer" ninja -C build/tsan -j $(JOBS)
	@tools/run-checked "core tests under it" build/tsan/core_tests --gtest_brief=1

fuzz-traces: sanitized
	@ORDEAL_MUTATED_FILES=100000 tools/test-bindings build/san $(VENV) tests/unit/_engine/storage/test_trace_mutations.py

nightly: check-threads fuzz-traces
	@$(MAKE) soak MINUTES=10

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache

# What a build needs. A stamp is newer than all that it was made from, so a second call has nothing to do.

$(VENV)/stamp-environment: pyproject.toml tools/environment tools/find-python
	@tools/environment $(VENV)
	@touch $@

build/stamp-build-packages: tools/system-packages
	@tools/system-packages build
	@mkdir -p build && touch $@

build/stamp-test-packages: tools/system-packages
	@tools/system-packages test
	@mkdir -p build && touch $@

$(VENV)/stamp-build: $(VENV)/stamp-environment build/stamp-build-packages pyproject.toml README.md $(extension_inputs)
	@echo "building ordeal" >&2
	@python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

configure = cmake -S . -GNinja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-Og \
  -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python -Dpybind11_DIR="$$(python -m pybind11 --cmakedir)"

# The sanitizer build holds both the core's tests and the extension.
build/san/build.ninja: CMakeLists.txt $(VENV)/stamp-build build/stamp-test-packages
	@tools/run-checked "sanitizer set-up" $(configure) -B build/san -DORDEAL_TESTS=ON -DORDEAL_SANITIZE=address,undefined
	@touch $@

# Nothing is built here: it says how each file would be compiled alone, as clang-tidy judges it.
build/lint/build.ninja: CMakeLists.txt $(VENV)/stamp-build
	@tools/run-checked "clang-tidy set-up" $(configure) -B build/lint -DORDEAL_UNITY=OFF
	@touch $@

# Checks. The longest come first, as the last one to start decides when all are done.

checks: check-core check-bindings $(tidy_stamps) check-types check-shell check-ruff check-format check-clang-format

sanitized: build/san/build.ninja
	@tools/run-checked "build with sanitizers" ninja -C build/san -j $(JOBS)

check-core: sanitized
	@tools/run-checked "core tests" build/san/core_tests --gtest_brief=1

check-bindings: sanitized
	@tools/run-checked "sanitized bindings" tools/test-bindings build/san $(VENV)

build/tidy/%.ok: %.cpp $(cpp_headers) .clang-tidy build/lint/build.ninja
	@tools/run-checked "tidy $(notdir $<)" clang-tidy -p build/lint --quiet --warnings-as-errors='*' $<
	@mkdir -p $(@D) && touch $@

check-types:
	@tools/run-checked "mypy" mypy

check-shell:
	@tools/run-checked "shellcheck" shellcheck $(filter-out %.py,$(wildcard tools/*)) .ci/run

check-ruff:
	@tools/run-checked "ruff check" ruff check --quiet .

check-format:
	@tools/run-checked "ruff format" ruff format --quiet --diff .

check-clang-format:
	@tools/run-checked "clang-format" clang-format --dry-run -Werror $(cpp_files)

test-python: build
	@python -m pytest --quiet -n $(JOBS) $(TESTS)

# The oldest version of Hypothesis that is supported, and one between it and the newest, which all other tests run with.
hypothesis_versions := 6.140.3 6.160.0

test-hypothesis: build
	@for version in $(hypothesis_versions); do tools/test-hypothesis $$version $(VENV) -n $(JOBS); done
