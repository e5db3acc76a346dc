# `make demo` and `make test` set themselves up on a fresh machine with Python 3.11 or later.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
ORACLE := $(VENV)/oracle

# NVIDIA's own answers to test against: the occupancy header, the table of architectures, cuobjdump
# and nvdisasm, and the other compiler than the one installed.
# They stay off the environment's path: perfkit must not come to need them.
ORACLES := nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.3.5.0.6 nvidia-cuda-cuobjdump==13.5.37 \
	nvidia-cuda-nvrtc==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-nvdisasm==13.5.37

DEMO := occupancy examples/kernels/tiled_matmul.cu --gpu gtx-980,v100,a100,rtx-4090,h100

# of those in tests/bench the quick ones
BENCHES := occupancy_throughput startup compile log_reader gemm_rank fits read_results gate_speed \
	gate_static report

.PHONY: help demo test lint docs site wheel oracle bench exhaustive clean

help:
	@echo "make demo        occupancy of an example kernel on five GPUs; needs no GPU"
	@echo "make test        lint, types, the wheel in an empty environment, all tests"
	@echo "make lint        ruff and mypy only"
	@echo "make docs        anew what programs write: models, commands, Python, man page"
	@echo "make site        the pages as a site, in build/site"
	@echo "make bench       the figures of tests/bench/README.md that take a minute or less each"
	@echo "make exhaustive  the occupancy model against NVIDIA's header, whole axes; ten minutes"
	@echo "make clean       remove $(VENV) and build output"

demo: $(VENV)/demo.stamp
	@$(BIN)/perfkit $(DEMO)

test: lint wheel oracle
	@PERFKIT_ORACLE_DIR=$(CURDIR)/$(ORACLE) $(BIN)/python -m pytest

lint: $(VENV)/test.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(VENV)/test.stamp
	@$(BIN)/python -m docs.command_pages
	@for page in models_page=models.md api_page=python.md man_page=perfkit.1; do \
	    $(BIN)/python -m docs.$${page%=*} > $(VENV)/page && mv $(VENV)/page docs/$${page#*=}; done

# MkDocs stays in an environment of its own: the tests check links and navigation without it
site: $(VENV)/site.stamp
	@NO_MKDOCS_2_WARNING=1 $(VENV)/site/bin/mkdocs build --strict

wheel: $(VENV)/test.stamp
	@.ci/wheel $(CURDIR)/$(BIN)/python

oracle: $(ORACLE)/oracle.stamp

bench: $(VENV)/test.stamp oracle
	@status=0; for name in $(BENCHES); do \
	    echo "== $$name"; $(BIN)/python -m tests.bench.$$name || status=1; done; exit $$status

exhaustive: $(VENV)/test.stamp oracle
	@$(BIN)/python -m tests.bench.exhaustive_header

clean:
	rm -rf $(VENV) build dist

# Editable, so that a change of the sources needs no new installation; one of pyproject.toml does.
$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	@echo "installing perfkit and NVRTC into $(VENV)" >&2
	@$(PIP) install --quiet --editable '.[cu12]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	@echo "installing perfkit, NVRTC and the test tools into $(VENV)" >&2
	@$(PIP) install --quiet --editable '.[cu12,test]'
	@touch $@ $(VENV)/demo.stamp

$(VENV)/site.stamp: pyproject.toml | $(BIN)/python
	@.ci/venv $(VENV)/site
	@$(VENV)/site/bin/python -m pip install --quiet --disable-pip-version-check '.[docs]'
	@touch $@

$(BIN)/python:
	@.ci/venv $(VENV)

$(ORACLE)/oracle.stamp: Makefile | $(BIN)/python
	@echo "unpacking NVIDIA's header and tools into $(ORACLE)" >&2
	@$(PIP) install --quiet --no-deps --upgrade --target $(ORACLE) $(ORACLES)
	@[ -n "$${CXX:-}" ] || command -v c++ g++ clang++ >/dev/null || $(PIP) install --quiet ziglang
	@touch $@
