# Every target makes what it needs in $(VENV); only Python and make have to be there.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
QUESTION ?= What happens to an answer when the connection breaks in the middle?

.PHONY: demo test examples lint bench clean

demo: $(VENV)/.installed
	$(BIN)/python -m mistral_knowledge ask --offline "$(QUESTION)" README.md docs

test: $(VENV)/.test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

examples: $(VENV)/.examples
	$(BIN)/python -m pytest examples

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)-bench/.bench
	$(VENV)-bench/bin/python -m benchmarks $(BENCH_ARGS)

clean:
	rm -rf $(VENV) $(VENV)-bench build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -e .
	touch $@

$(VENV)/.test: $(VENV)/bin/python setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -e ".[test]"
	touch $@

$(VENV)/.examples: $(VENV)/.test examples/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r examples/requirements.txt
	touch $@

$(VENV)/.lint: $(VENV)/bin/python setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[lint]"
	touch $@

$(VENV)-bench/.bench: setup.cfg pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check -e . -r benchmarks/requirements.txt
	touch $@
