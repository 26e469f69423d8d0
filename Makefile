# Undolab: `make artifact` and `make test` are the two commands; `make help` lists the rest.
# TEX=no leaves the PDF out, LIVE=no leaves llama.cpp out of the tests, PYTHON=… picks an interpreter (3.11 or newer).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
TEX ?= yes
LIVE ?= auto
CORES ?= all
export PYTHON TEX
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: help artifact test test-postgres coverage lint live smollm2 record suites test-slurm bench report validators env dev-env live-env tex inputs lock clean

help: ## this list
	@echo "Undolab. In a fresh clone on Debian 12 or 13, after: apt-get install -y git make python3-venv"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@echo
	@echo "Options: TEX=no (all but the PDF), LIVE=no (tests without llama.cpp), CORES=n, PYTHON=python3.12"

artifact: ## check the inputs, set everything up, rebuild tables, figures, paper and demo, compare them
	@echo "[1/4] Checking every released and input file against manifest.sha256"
	@$(MAKE) inputs
	@echo "[2/4] Python environment"
	@envs/env.sh artifact
	@echo "[3/4] TeX"
	@$(MAKE) tex
	@echo "[4/4] Rebuilding and comparing everything"
	@snakemake --cores $(CORES) --quiet rules -- all
	@cat build/check.txt

test: ## install the test tools, lint, check types, run the tests
	@envs/env.sh dev
	@$(MAKE) tex
	@if [ "$(LIVE)" = no ] || { [ "$(LIVE)" = auto ] && [ -z "$${CI:-}" ] && ! command -v c++ >/dev/null; }; then \
		echo "  Live runs: left out, tests that need llama.cpp are skipped (a C++ compiler brings them in)"; \
	else envs/env.sh live; fi
	@$(MAKE) lint
	@pytest -n auto --dist loadgroup

test-postgres: ## the undo layer's tests on PostgreSQL; fails where the server cannot be had (fetched without root)
	@envs/env.sh dev
	@envs/postgres.sh
	@UNDOLAB_POSTGRES=required pytest -k postgres tests/undo

coverage: ## branch coverage of the undo kernel and store on both databases; fails under 100 %
	@envs/env.sh dev
	@envs/postgres.sh
	@mkdir -p .cache
	@UNDOLAB_POSTGRES=required coverage run -m pytest -q tests/undo/test_{kernel,run,cli,server,postgres}.py tests/undo/test_store_*.py
	@coverage report

lint: ## ruff, format, types, Snakemake's format and lint (after make test or make dev-env)
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile workflow
	python workflow/lint.py

live: ## build llama.cpp, run a small frozen subset with the real model, compare with the records
	@envs/env.sh live
	@undolab live
	@undolab records audit

smollm2: ## build llama.cpp, serve SmolLM2 135M on 127.0.0.1:8135 through its OpenAI-compatible server, until Ctrl-C
	@envs/env.sh server
	@.cache/server-venv/bin/python -m llama_cpp.server --model .models/smollm2-135m-instruct-q4_1.gguf \
		--model_alias smollm2-135m-instruct --host 127.0.0.1 --port 8135 \
		--n_ctx 4096 --n_batch 64 --n_threads 1 --n_threads_batch 1 --verbose False

record: ## maintainers: record what the study lacks with the real model (hours; goes on where it stopped)
	@envs/env.sh live
	@undolab trials run --live

suites: ## the long suites: kills, lost writes, processes, schedules, laws with many more examples (two hours)
	@envs/env.sh dev
	@undolab undo study
	@$(MAKE) coverage
	@UNDOLAB_SUITE_EXAMPLES=3000 pytest -n auto --dist loadgroup tests/oracle tests/world tests/model tests/undo
	@UNDOLAB_SUITE_EXAMPLES=10000 UNDOLAB_EVIDENCE=data/evidence pytest tests/models/test_fuzz_http.py

test-slurm: ## the smoke target as jobs of a one-node Slurm, compared with the local run (skipped, with the reason, where none starts)
	@envs/env.sh slurm
	@.cache/slurm-venv/bin/python tests/slurm/one_node.py

bench: ## the benchmarks, one script a hot path; measured times are printed, never compared
	@envs/env.sh dev
	@envs/env.sh bench || echo "  inspect-ai could not be installed: benchmarks/harness.py is left out"
	@for script in benchmarks/[!_]*.py; do echo "== $$script"; python "$$script"; done

report: ## Snakemake's report of a run, with every figure, table and caption: build/report.html, opens offline
	@envs/env.sh artifact
	@snakemake --cores $(CORES) --quiet rules -- build captions
	@snakemake --report build/report.html -- build
	@echo "build/report.html is written; open it in a browser"

validators: ## others' validators over the crate of a run and the metadata of the data (after make artifact)
	@envs/env.sh validators
	@snakemake --cores $(CORES) --quiet rules -- build
	@undolab crate
	@.cache/validators-venv/bin/python envs/validate.py --crate build/crate --croissant build/metadata/croissant.json \
		--vocabulary "$$(python -c 'from importlib.resources import files; print(files("rocrate") / "data/ro-crate.jsonld")')"

env: ## the environment of make artifact alone
	@envs/env.sh artifact

dev-env: ## the environment of make test alone
	@envs/env.sh dev

live-env: ## llama.cpp and the default model alone
	@envs/env.sh live

tex: ## Tectonic and its offline TeX bundle alone
	@if [ "$(TEX)" = no ]; then \
		mkdir -p .tools; echo none >.tools/texbundle.status; \
		echo "  TeX: left out (TEX=no); everything but the PDF is checked"; \
	else [ -x .venv/bin/python ] || envs/env.sh artifact; python envs/tex.py prepare; fi

inputs: ## only compare the files with manifest.sha256
	@[ -f manifest.sha256 ] || { echo "manifest.sha256 is missing: check out the repository again." >&2; exit 1; }
	@sha256sum --strict --quiet -c manifest.sha256 || \
		{ echo "The files named above are damaged, changed or missing: check out the repository again." >&2; exit 1; }

lock: ## write the locks under envs/ anew (maintainers)
	@envs/env.sh dev
	@envs/lock.sh

clean: ## remove all that was computed, fetched or built here
	rm -rf build .venv .tools .models .cache .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis
