# Needs Python >= 3.11 and make; everything else is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# One BLAS thread: many small matrices with several threads are many times slower on a busy machine.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1

.PHONY: help demo test lint docs bench storage ehvi accuracy experiment requirements clean
help:  ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/ -/'

# The exact versions of requirements/, each file checked by its hash; then the package itself, and nothing else.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
PACKAGE = $(INSTALL) --no-deps --no-build-isolation -e .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml requirements/demo.txt
	$(INSTALL) --require-hashes -r requirements/demo.txt
	$(PACKAGE)
	@touch $@

$(VENV)/.bench: $(BIN)/python pyproject.toml requirements/bench.txt
	$(INSTALL) --require-hashes -r requirements/bench.txt
	$(PACKAGE)
	@touch $@ $(VENV)/.demo

$(VENV)/.test: $(BIN)/python pyproject.toml requirements/test.txt
	$(INSTALL) --require-hashes -r requirements/test.txt
	$(PACKAGE)
	@touch $@ $(VENV)/.bench $(VENV)/.demo

demo: $(VENV)/.demo  ## a real decoupled study, to the end: the front as a table, demo/front.png, demo/report.html
	$(BIN)/python examples/beam.py

lint: $(VENV)/.test  ## ruff, pyright, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/.test  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test: lint docs  ## everything CI runs
	sh tests/install-postgres.sh
	$(BIN)/python -m pytest

.venv-peers/.installed: benchmarks/peers-requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers-requirements.txt
	@touch $@

bench: $(VENV)/.bench .venv-peers/.installed  ## seconds a suggestion beside BoTorch and Optuna (about half an hour)
	$(BIN)/python benchmarks/speed.py

storage: $(VENV)/.test  ## milliseconds of the storage at 100 to 10,000 trials, and what four workers gain
	$(BIN)/python benchmarks/store.py

ehvi: $(VENV)/.bench .venv-peers/.installed  ## EHI's values beside BoTorch's analytic EHVI
	$(BIN)/python benchmarks/ehvi.py

accuracy: $(VENV)/.bench  ## PESMO's acquisition beside the exact one, for the page of the experiments
	$(BIN)/python -m experiments accuracy

# Networks and trees need PyTorch and scikit-learn: an environment of their own.
.venv-experiments/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-experiments
	.venv-experiments/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-experiments/bin/python -m pip install --quiet --disable-pip-version-check scikit-learn==1.9.1 -r requirements/bench.txt
	.venv-experiments/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

EXTRA = $(filter mnist trees,$(NAME))
PEERS = $(filter rivals,$(NAME))
experiment: $(if $(EXTRA),.venv-experiments/.installed,$(VENV)/.bench) $(if $(PEERS),.venv-peers/.installed)  ## NAME=classic ARGS="--jobs 2": run one of the experiments, or go on with it
	$(if $(EXTRA),.venv-experiments/bin,$(BIN))/python -m experiments $(NAME) $(ARGS)

# uv resolves for all Pythons at once. test.txt comes first, so that the smaller sets have its versions.
COMPILE = .venv-uv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make requirements" pyproject.toml requirements/build.in
requirements: .venv-uv/bin/uv  ## the newest versions that pyproject.toml allows, written down in requirements/
	$(COMPILE) --extra test -o requirements/test.txt
	$(COMPILE) --extra bench -c requirements/test.txt -o requirements/bench.txt
	$(COMPILE) --extra plot -c requirements/test.txt -o requirements/demo.txt

.venv-uv/bin/uv:
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.8

clean:  ## remove environments and caches
	rm -rf .venv .venv-peers .venv-experiments .venv-uv .pytest_cache .ruff_cache .hypothesis demo site
