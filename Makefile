# Everything runs from .venv, which `make setup` makes and keeps up to date; see CONTRIBUTING.md.

PYTHON ?= python3
BIN := .venv/bin
ENV ?= aws-dev
WORKERS ?= 2
E2E ?= cluster openmpi azurite slurm browser sdks

.DEFAULT_GOAL := help
.PHONY: help setup rehearse preview pull-request first-comment test lint types generate generated tests sweep \
	kubernetes cluster-up cluster-down e2e $(E2E:%=e2e-%) sdks site bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make or refresh .venv: locked packages, gpufleet itself, the Pulumi engine
	@$(PYTHON) tools/setup.py

rehearse: setup ## `pulumi up` of an environment against a simulated cloud (ENV=aws-dev, ARGS="--destroy ...")
	@$(BIN)/gpufleet rehearse $(ENV) $(ARGS)

preview: setup ## Preview what a change touches and write report/, as CI does (ARGS="aws-dev", "--base REF", "--real")
	@$(BIN)/gpufleet preview $(ARGS)

pull-request: setup ## Play a pull request with ten mistakes, each repaired, and see its comment (GitHub and the clouds are played)
	@$(BIN)/python tools/pull_request/play.py

first-comment: ## Time an outsider's path from `git clone` to the first comment, with an empty cache
	@$(PYTHON) tools/first_comment.py

test: setup lint types generated tests ## Set up, check style, types and generated files, run the tests (not the sweep)

# Tests never try the network for Pulumi's installer.
test tests sweep e2e: export GPUFLEET_PULUMI ?= path,build

lint: setup
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo "run: $(BIN)/ruff format"; exit 1; }

# mypy checks all of it; pyright, where Node.js is, programs with our components.
types: setup
	@$(BIN)/mypy
	@$(BIN)/python tools/pyright/check_programs.py --optional

generate: setup ## Write the generated files anew (tables and pictures in docs/ and README)
	@$(BIN)/python tools/generate.py
	@$(BIN)/python tools/draw.py

generated: setup
	@$(BIN)/python tools/generate.py --check

tests: setup
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not sweep and not cluster and not azurite and not sdks" $(ARGS)

sweep: setup ## Fail each single create of aws-dev, one after the other; `up` must converge each time
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m sweep $(ARGS)

kubernetes: setup ## Build a Kubernetes control plane and Kueue for tests from their Go modules, once, 15 to 25 minutes
	@$(BIN)/python tools/kubernetes/build.py

cluster-up: setup ## Start that control plane, with the MPI operator (ARGS="--nodes FILE"; see tools/kubernetes/nodes.py)
	@$(BIN)/python tools/kubernetes/cluster.py up $(ARGS)

cluster-down: ## End it, whoever started it
	@$(BIN)/python tools/kubernetes/cluster.py down $(ARGS)

e2e: kubernetes ## Tests on a real control plane, on Azurite, in a browser, of OpenMPI, Slurm and SDKs (needs root; E2E=slurm)
	@$(PYTHON) tools/images/install.py
	@$(BIN)/python tools/jupyterhub/install.py
	@$(BIN)/python tools/azurite/install.py
	@$(PYTHON) tools/openmpi/install.py
	@$(PYTHON) tools/browser/install.py
	@$(PYTHON) tools/slurm/install.py
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(E2E:%=e2e-%)

# They mostly wait, for a cluster or a network, so two of them go at once. Parts of `make e2e`, which has installed all.
e2e-cluster:
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile -m cluster $(ARGS) tests/cluster
e2e-openmpi e2e-slurm e2e-browser:
	@$(BIN)/pytest -m cluster $(ARGS) tests/$(@:e2e-%=%)
e2e-azurite:
	@$(BIN)/pytest -n $(WORKERS) -m azurite $(ARGS) tests/unit/jobs
e2e-sdks:
	@$(BIN)/python tools/pyright/check_programs.py
	@$(BIN)/python tools/sdks.py
	@$(BIN)/pytest -m sdks $(ARGS) tests/sdks

sdks: setup ## Write the SDKs in Python, TypeScript and Go into build/sdks from the packages' schemas
	@$(BIN)/python tools/sdks.py

site: setup ## Make the documentation's site in build/site: guides, and a reference from docstrings
	@$(BIN)/python tools/website/build_site.py

bench: setup ## Program time, growth and memory, as ratios in one run
	@$(BIN)/python bench/run.py

lock: setup ## Write the lock files anew (ARGS="pulumi-aws" upgrades only that)
	@$(BIN)/python tools/lock.py $(ARGS)

clean: ## Take away .venv and caches; the engine stays in the user's cache directory
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
