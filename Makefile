# make demo   watch every finished stage          make test    everything that must hold, slow tests last
# make bench  print the speeds                    make docs    check the documentation, build its site
# make check  lint, types, import table           make quick   the fast tests alone
# Needs python3 (3.11 or newer), make and git; everything else is installed into .venv.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed
DEMO := $(VENV)/.installed-demo

export OMP_NUM_THREADS = 1

.PHONY: demo test quick check lint types imports bench census docs gallery set-up system constraints clean

demo: $(DEMO)
	$(VENV)/bin/discreet demo build/demo

test: check system
	$(RUN) -m pytest -n $(JOBS) --maxschedchunk=1
	$(RUN) tools/documents.py

quick: $(STAMP)
	$(RUN) -m pytest -n $(JOBS) -m "not slow"

check: lint types imports

lint: $(STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check --quiet .

types: $(STAMP)
	$(RUN) -m mypy

imports: $(STAMP)
	$(RUN) -m pytest -q tests/test_imports.py

bench: $(STAMP)
	$(RUN) bench/run.py

census: $(STAMP)
	$(RUN) bench/learn.py census
	$(RUN) bench/census_totals.py

docs: $(STAMP)
	$(RUN) tools/documents.py
	$(RUN) tools/theory.py --check
	$(RUN) tools/handbook.py

gallery: $(STAMP)
	$(RUN) tools/gallery.py

set-up: $(STAMP)

$(STAMP): pyproject.toml constraints.txt tools/set_up.py
	$(PYTHON) tools/set_up.py $(VENV)

$(DEMO): pyproject.toml constraints.txt tools/set_up.py
	test $(STAMP) -nt pyproject.toml && touch $(DEMO) || $(PYTHON) tools/set_up.py $(VENV) demo

system: $(STAMP)
	$(RUN) tools/system.py

# Writes down what is installed now, as name==version lines.
constraints: $(STAMP)
	$(RUN) tools/constraints.py > constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
