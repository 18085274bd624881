# Everything sets itself up: a clean clone, Python 3.11 or later and make are enough. uv is used where it is there.
SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LIVE_VENV ?= .live
LIVE_READY := $(LIVE_VENV)/.ready
# For the processors of the last ten years, not for the one that builds: with AMX the server crashes.
LIVE_CMAKE_ARGS := -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_AMX_TILE=OFF -DGGML_AMX_INT8=OFF
UV := $(shell command -v uv 2>/dev/null)

export SNIPPET = import evalkit; steps = evalkit.load("latest").steps.to_pandas(); print(steps[steps.trial_id.str.startswith("fix-off-by-one.oracle")][["step", "kind", "tool", "exit_code", "reasoning"]].to_string(index=False, na_rep="", max_colwidth=60))

.PHONY: screenshots demo test check bench live attacks docs setup lock clean test-packages
.DEFAULT_GOAL := demo

demo: $(READY)  ## agents really executing tasks in sandboxes, every thought and action in Parquet
	@echo '$$ evalkit run core --model scripted/oracle,scripted/nop'
	@$(BIN)/evalkit run core --model scripted/oracle,scripted/nop
	@echo; echo '$$ evalkit show latest fix-off-by-one.oracle'
	@$(BIN)/evalkit show latest fix-off-by-one.oracle
	@echo; echo "$$ python -c '$$SNIPPET'"
	@$(BIN)/python -c "$$SNIPPET"

WORKERS = 2
test: $(READY)  ## the whole test suite, in so many processes: WORKERS=2
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder

# A second environment, because Inspect knows a package by where it is installed; what .venv has, it sees there.
MORE := build/packages
test-packages: $(READY)  ## the tests that need inspect-evals, mcp, schemas, and other implementations
ifdef UV
	uv venv --quiet --clear --python $(BIN)/python $(MORE)
	uv pip install --quiet --python $(MORE)/bin/python --no-deps --require-hashes -r tests/packages.txt
else
	$(BIN)/python -m venv --clear $(MORE)
	$(MORE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r tests/packages.txt
endif
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	  > "$$($(MORE)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/beside.pth"
	$(MORE)/bin/python -m pytest tests/engine/test_inspect_evals.py tests/engine/test_mcp.py \
	  tests/gate/outputs/test_gate_schemas.py tests/gate/test_gate_against_peers.py \
	  tests/report/test_report_browser.py tests/report/trajectories

check: $(READY)  ## format, lint, types, import rules, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/generate.py --check

bench: $(READY)  ## ratios against peers, measured in the same run
	$(BIN)/python benchmarks/local_sandbox.py
	$(BIN)/python benchmarks/docker_sandbox.py
	$(BIN)/python benchmarks/snapshots.py
	$(BIN)/python benchmarks/turns.py
	$(BIN)/python benchmarks/endpoint_calls.py
	$(BIN)/python benchmarks/trials_per_minute.py
	$(BIN)/python benchmarks/many_trials.py
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/interval_coverage.py
	$(BIN)/python benchmarks/gate.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/importing.py

DATA = ../shared/data
fuzz: $(READY)  ## damage real trajectories in ten thousand ways a format and import them; DATA=FOLDER of them
	$(BIN)/python tests/convert/fuzz.py $(DATA)

live: $(READY) $(LIVE_READY)  ## against a real model over HTTP; the first time it builds a model server, for minutes
	$(BIN)/python tests/live/live.py $(LIVE_VENV)

attacks: $(READY)  ## which attack passes which grader; SANDBOX=docker for containers
	$(BIN)/python tests/attacks/attack_table.py $(SANDBOX)

screenshots: $(READY)  ## take the pictures of the leaderboard again; needs chromium
	$(BIN)/python docs/screenshots.py

docs: $(READY)  ## write the generated pages and the picture again
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/picture.py

setup: $(READY)

$(READY): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "evalkit needs Python 3.11 or later, and $(PYTHON) is older or missing. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
ifdef UV
	uv venv --quiet --clear --python "$$(command -v $(PYTHON))" $(VENV)
	uv pip install --quiet --python $(BIN)/python --require-hashes -r constraints.txt
	uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
else
	$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "Python's venv module is missing. On Debian: apt-get install python3-venv" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endif
	@touch $(READY)

$(LIVE_READY): tests/live/requirements.txt | $(READY)
	@command -v c++ >/dev/null || { \
	  echo "The model server is compiled, and there is no C++ compiler. On Debian: apt-get install g++" >&2; exit 2; }
	@echo "Building the model server, once: about 7 minutes on two processors."
ifdef UV
	uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" $(LIVE_VENV)
	CMAKE_ARGS="$(LIVE_CMAKE_ARGS)" uv pip install --quiet --python $(LIVE_VENV)/bin/python --no-deps -r $<
else
	$(PYTHON) -m venv $(LIVE_VENV)
	CMAKE_ARGS="$(LIVE_CMAKE_ARGS)" $(LIVE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
endif
	@touch $(LIVE_READY)

lock:  ## pin every dependency again
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --upgrade \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet -o constraints.txt

clean:
	rm -rf $(VENV) $(LIVE_VENV) build dist .pytest_cache .ruff_cache .hypothesis
