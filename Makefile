# Every target makes what it needs in $(VENV); only Python and make have to be there.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
QUESTION ?= What happens to an answer when the connection breaks in the middle?

.PHONY: demo test examples lint docs bench interop neighbours fuzz browser soak coverage mutation package clean

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
	$(BIN)/mypy tests/typing
	$(BIN)/pyright --warnings --pythonpath $(BIN)/python tests/typing

docs: $(VENV)-docs/.docs
	rm -rf build/docs
	$(VENV)-docs/bin/sphinx-build -q -W --keep-going docs build/docs

bench: $(VENV)-bench/.bench
	$(VENV)-bench/bin/python -m benchmarks $(BENCH_ARGS)

# Hours are as good as minutes: make soak SECONDS=3600 SEED=7
SECONDS ?= 300
SEED ?= 1

soak: $(VENV)/.test
	$(BIN)/python -m soak --seconds $(SECONDS) --seed $(SEED) $(SOAK_ARGS)

coverage: $(VENV)/.prove
	rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest $(PYTEST_ARGS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# make mutation MUTANTS="mistral_knowledge._retry*"; $(BIN)/mutmut results lists what survived.
mutation: $(VENV)/.prove
	$(BIN)/mutmut run $(MUTANTS)
	$(BIN)/mutmut results

package:
	.ci/package $(PYTHON) $(PYTEST_ARGS)

# The R2R client needs a Python that its parts have wheels for.
INTEROP_PYTHON ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.11.*/bin/python) python3.11)

interop: $(VENV)-interop/.interop
	$(VENV)-interop/bin/python -m pytest -W ignore tests/interop $(PYTEST_ARGS)

# boto3 holds urllib3 below 1.27 on old Pythons.
NEIGHBOURS_PYTHON ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.8.*/bin/python) python3.8)

neighbours: $(VENV)-neighbours/.neighbours
	$(VENV)-neighbours/bin/python -m pytest -W ignore tests/neighbours $(PYTEST_ARGS)

# atheris has wheels for some Pythons only. What it finds is written to build/fuzz.
FUZZ_PYTHON ?= $(firstword $(wildcard $(HOME)/.pyenv/versions/3.11.*/bin/python) python3.11)
FUZZ_SECONDS ?= 60

fuzz: $(VENV)-fuzz/.fuzz
	mkdir -p build/fuzz
	$(VENV)-fuzz/bin/python -m fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
		-artifact_prefix=build/fuzz/ build/fuzz fuzz/corpus

browser: $(VENV)-browser/.browser
	.ci/chromium
	$(VENV)-browser/bin/python -m pytest tests/browser $(PYTEST_ARGS)

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-docs $(VENV)-interop $(VENV)-neighbours $(VENV)-fuzz $(VENV)-browser build dist mutants *.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -e .
	touch $@

$(VENV)/.test: $(VENV)/bin/python setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -e ".[test]"
	touch $@

$(VENV)/.prove: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "coverage>=7.10" "mutmut>=3.8"
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

$(VENV)-docs/.docs: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)-docs
	$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

$(VENV)-interop/.interop: setup.cfg pyproject.toml tests/interop/requirements.txt
	$(INTEROP_PYTHON) -m venv $(VENV)-interop
	$(VENV)-interop/bin/python -m pip install --quiet --disable-pip-version-check -e . -r tests/interop/requirements.txt
	touch $@

$(VENV)-neighbours/.neighbours: setup.cfg pyproject.toml tests/neighbours/requirements.txt
	$(NEIGHBOURS_PYTHON) -m venv $(VENV)-neighbours
	$(VENV)-neighbours/bin/python -m pip install --quiet --disable-pip-version-check -e . -r tests/neighbours/requirements.txt
	touch $@

$(VENV)-fuzz/.fuzz: setup.cfg pyproject.toml
	$(FUZZ_PYTHON) -m venv $(VENV)-fuzz
	$(VENV)-fuzz/bin/python -m pip install --quiet --disable-pip-version-check -e . "atheris>=2.3"
	touch $@

$(VENV)-browser/.browser: setup.cfg pyproject.toml tests/browser/requirements.txt
	$(PYTHON) -m venv $(VENV)-browser
	$(VENV)-browser/bin/python -m pip install --quiet --disable-pip-version-check -e ".[relay,test]" -r tests/browser/requirements.txt
	touch $@
