# Everything runs from .venv, which `make setup` makes and keeps up to date; see CONTRIBUTING.md.

PYTHON ?= python3
BIN := .venv/bin
ENV ?= aws-dev
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup rehearse test lint types generate generated tests sweep \
	kubernetes cluster-up cluster-down e2e bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make or refresh .venv: locked packages, gpufleet itself, the Pulumi engine
	@$(PYTHON) tools/setup.py

rehearse: setup ## `pulumi up` of an environment against a simulated cloud (ENV=aws-dev, ARGS="--destroy ...")
	@$(BIN)/gpufleet rehearse $(ENV) $(ARGS)

test: setup lint types generated tests ## Set up, check style, types and generated files, run the tests (not the sweep)

# Tests never try the network for Pulumi's installer.
test tests sweep e2e: export GPUFLEET_PULUMI ?= path,build

lint: setup
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo "run: $(BIN)/ruff format"; exit 1; }

types: setup
	@$(BIN)/mypy

generate: setup ## Write the generated files anew (tables in docs/, README, its picture)
	@$(BIN)/python tools/generate.py
	@$(BIN)/python tools/draw.py

generated: setup
	@$(BIN)/python tools/generate.py --check

tests: setup
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not sweep and not cluster and not azurite" $(ARGS)

sweep: setup ## Fail each single create of aws-dev, one after the other; `up` must converge each time
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m sweep $(ARGS)

kubernetes: setup ## Build a Kubernetes control plane and Kueue for tests from their Go modules, once, 15 to 25 minutes
	@$(BIN)/python tools/kubernetes/build.py

cluster-up: setup ## Start that control plane, with the MPI operator (ARGS="--nodes FILE"; see tools/kubernetes/nodes.py)
	@$(BIN)/python tools/kubernetes/cluster.py up $(ARGS)

cluster-down: ## End it, whoever started it
	@$(BIN)/python tools/kubernetes/cluster.py down $(ARGS)

e2e: kubernetes ## Tests on a real control plane, on Azurite (npm), and of OpenMPI in network namespaces (needs root)
	@$(PYTHON) tools/images/install.py
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile -m cluster $(ARGS) tests/cluster
	@$(BIN)/python tools/azurite/install.py
	@$(BIN)/pytest -n $(WORKERS) -m azurite $(ARGS) tests/unit/jobs
	@$(PYTHON) tools/openmpi/install.py
	@$(BIN)/pytest -m cluster $(ARGS) tests/openmpi

bench: setup ## Program time, growth and memory, as ratios in one run
	@$(BIN)/python bench/run.py

lock: setup ## Write the lock files anew (ARGS="pulumi-aws" upgrades only that)
	@$(BIN)/python tools/lock.py $(ARGS)

clean: ## Take away .venv and caches; the engine stays in the user's cache directory
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
