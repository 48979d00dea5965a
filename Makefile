# Everything runs from .venv, which `make setup` makes and keeps up to date; see CONTRIBUTING.md.

PYTHON ?= python3
BIN := .venv/bin
ENV ?= aws-dev
WORKERS ?= 2
E2E ?= engine cluster network_policy openmpi azurite slurm singularity browser dashboards sdks

.DEFAULT_GOAL := help
.PHONY: help setup rehearse preview pull-request first-comment test lint types generate generated tests mutations sweep \
	legal crashes corpus kubernetes network-policy singularity flows dashboards cluster-up cluster-down e2e e2e-programs \
	$(E2E:%=e2e-%) many-nodes example-image sdks newest dist site bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make or refresh .venv: locked packages, gpufleet itself, the Pulumi engine
	@$(PYTHON) -m tools.setup

rehearse: setup ## `pulumi up` of an environment against a simulated cloud (ENV=aws-dev, ARGS="--destroy ...")
	@$(BIN)/gpufleet rehearse $(ENV) $(ARGS)

preview: setup ## Preview what a change touches and write report/, as CI does (ARGS="aws-dev", "--base REF", "--real")
	@$(BIN)/gpufleet preview $(ARGS)

pull-request: setup ## Play a pull request with ten mistakes, each repaired, and see its comment (GitHub and the clouds are played)
	@$(BIN)/python -m tools.pull_request.demo

first-comment: ## Time an outsider's path from `git clone` to the first comment, with an empty cache
	@$(PYTHON) -m tools.time_to_first_comment

test: setup lint types generated tests ## Set up, check style, types and generated files, run the tests (not the sweep)

# Tests never try the network for Pulumi's installer.
test tests sweep legal crashes corpus e2e many-nodes: export GPUFLEET_PULUMI ?= path,build
# What pytest has compiled once is read the next time, which is half of collecting the tests.
test tests sweep legal crashes corpus e2e many-nodes: export PYTHONDONTWRITEBYTECODE =
# Folders that `make e2e` alone collects.
APART := browser cluster dashboards network_policy openmpi sdks singularity slurm

lint: setup
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo "run: $(BIN)/ruff format"; exit 1; }

# mypy checks all of it; pyright, where Node.js is, programs with our components.
types: setup
	@$(BIN)/mypy
	@$(BIN)/python -m tools.pyright.check_programs --optional

generate: setup ## Write the generated files anew (tables and pictures in docs/ and README)
	@$(BIN)/python -m tools.generate

generated: setup
	@$(BIN)/python -m tools.generate --check

tests: setup
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal $(APART:%=--ignore=tests/%) \
		-m "not engine and not slow and not sweep and not azurite" $(ARGS)

mutations: setup ## Make one wrong line at a time (tests/mutations.yaml); tests must notice each
	@$(BIN)/python -m tools.mutations

sweep: setup ## Fail each single create of an environment, and other tests on the engine too long for each change; hours
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m sweep $(ARGS)

legal: setup ## Try 500 legal configurations and programs, others each time; nothing may refuse them (LEGAL_CASES=2000)
	@LEGAL_CASES=$(or $(LEGAL_CASES),500) $(BIN)/pytest -n $(WORKERS) $(ARGS) tests/legal

crashes: setup ## `kill -9` at 200 moments of `up` and destroy, and recover (ARGS="--seed 17", "--count 20"), an hour
	@$(BIN)/python -m tests.crashes $(ARGS)

corpus: setup ## Rehearse every program of tests/corpus, as others write them: up, a change, destroy (ARGS="eks"), an hour
	@$(BIN)/python -m tests.corpus --parallel $(WORKERS) $(ARGS)

kubernetes: setup ## Build a Kubernetes control plane and Kueue for tests from their Go modules, once, 15 to 25 minutes
	@$(BIN)/python -m tools.kubernetes.build

network-policy: setup ## Build what judges network policies, Cilium's engine and cyclonus, from Go modules, once, minutes
	@$(BIN)/python -m tools.network_policy.verdicts

dashboards: setup ## Build what judges dashboards, Prometheus' engine and Grafana's schema, from Go modules, once, minutes
	@$(BIN)/python -m tools.prometheus.judge

singularity: setup ## Build SingularityCE, which runs images without root, from its Go module, once, 5 to 15 minutes
	@$(BIN)/python -m tools.singularity.build

flows: network-policy ## Print which flows pass in each environment under the data plane that its stack configures
	@$(BIN)/python -m tests.network_policy.flows

cluster-up: setup ## Start that control plane, with the MPI operator (ARGS="--nodes FILE"; see tools/kubernetes/nodes.py)
	@$(BIN)/python -m tools.kubernetes.cluster up $(ARGS)

cluster-down: ## End it, whoever started it
	@$(BIN)/python -m tools.kubernetes.cluster down $(ARGS)

e2e: setup ## Tests on the engine, a real control plane, Azurite, OpenMPI, Slurm, SDKs, in a browser (root; E2E=slurm)
	@$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target $(E2E:%=e2e-%)

# Built beside the tests on the engine, which need none of it, and out of their way.
e2e-programs: setup
	@nice $(MAKE) --no-print-directory kubernetes network-policy dashboards singularity
	@$(PYTHON) -m tools.images.install
	@$(BIN)/python -m tools.jupyterhub.install
	@$(BIN)/python -m tools.azurite.install
	@$(PYTHON) -m tools.openmpi.install
	@$(PYTHON) -m tools.browser.install
	@$(PYTHON) -m tools.slurm.install

# They mostly wait, for a cluster or a network, so two of them go at once.
$(patsubst %,e2e-%,$(filter-out engine,$(E2E))): e2e-programs
e2e-engine:
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=25 $(APART:%=--ignore=tests/%) -m "(engine or slow) and not sweep" $(ARGS)
e2e-cluster:
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "cluster and not many_nodes" $(ARGS) tests/cluster
e2e-network_policy e2e-openmpi e2e-slurm e2e-singularity e2e-browser e2e-dashboards:
	@$(BIN)/pytest -m cluster $(ARGS) tests/$(@:e2e-%=%)
e2e-azurite:
	@$(BIN)/pytest -n $(WORKERS) -m azurite $(ARGS) tests/unit/jobs
e2e-sdks:
	@$(BIN)/python -m tools.pyright.check_programs
	@$(BIN)/python -m tools.sdks
	@$(BIN)/pytest -m sdks $(ARGS) tests/sdks

many-nodes: kubernetes ## A job on 512 nodes of that control plane, many minutes
	@$(BIN)/pytest -m many_nodes $(ARGS) tests/cluster

example-image: setup ## Build the image of examples/train as far as this machine reaches, and try it on CPUs (root; ARGS="efa")
	@$(BIN)/python -m tools.images.build_example $(ARGS)

sdks: setup ## Write the SDKs in Python, TypeScript and Go into build/sdks from the packages' schemas
	@$(BIN)/python -m tools.sdks

newest: setup ## Rehearse from the wheel with the oldest and the newest Pulumi SDK (ARGS="python3.13"), minutes
	@$(BIN)/python -m tools.newest $(ARGS)

dist: setup ## Build the wheel and the source distribution into dist/ (GPUFLEET_REPOSITORY=https://...)
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist

site: setup ## Make the documentation's site in build/site: guides, and a reference from docstrings
	@$(BIN)/python -m tools.website.build_site

bench: setup ## Program time, growth and memory, as ratios in one run
	@$(BIN)/python -m bench.run

lock: setup ## Write the lock files anew (ARGS="pulumi-aws" upgrades only that)
	@$(BIN)/python -m tools.lock $(ARGS)

clean: ## Take away .venv and caches; the engine stays in the user's cache directory
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
