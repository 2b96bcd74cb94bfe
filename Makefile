# make run      one prompt, the whole loop, a report         PROMPT="..." make run
# make test     everything that is checked
# make prepare  after editing a notebook: export, clean, README
PROMPT ?= Train an agent to diagnose degraded production services
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
# the Pythons to try, in this order; PYTHON=/path/to/one names the only one
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python)
VENV := .venv
BIN := $(VENV)/bin
PINS := constraints.txt settings.ini setup.py pyproject.toml

# The prompt reaches the shell in a variable of its own, unread by make: quotes, $ and spaces arrive as typed.
export OPENADAPT_PROMPT := $(value PROMPT)
unexport PROMPT

.PHONY: run test prepare
run: $(VENV)/.installed
	@$(BIN)/openadapt run -- "$$OPENADAPT_PROMPT"

test: export OMP_NUM_THREADS = 1
test: export TOKENIZERS_PARALLELISM = false
test: export WANDB_MODE = offline
test: $(VENV)/.installed-dev
	$(BIN)/ruff check openadapt tests
	$(BIN)/pytest tests/test_repo.py
	$(BIN)/nbdev_test --do-print
	$(BIN)/pytest --ignore=tests/test_repo.py

prepare: $(VENV)/.installed-dev
	$(BIN)/nbdev_export
	$(BIN)/nbdev_clean
	$(BIN)/python tests/render_readme.py

# `.installing` stands, and no `.installed`, while an install is under way: found so at the start it was killed, and .venv is made anew.
$(VENV)/.installed: $(PINS)
	@py=; for c in $(PYTHONS); do \
	  "$$c" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && py=$$c && break; done; \
	if [ -z "$$py" ]; then \
	  echo "OpenAdapt needs Python 3.11 or newer with venv, and found none as: $(PYTHONS)." >&2; \
	  echo "Install one (Debian, Ubuntu: apt install python3 python3-venv) or name one: make run PYTHON=/path/to/python3.12" >&2; exit 1; fi; \
	if [ -e $(VENV)/.installing ] || ! $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	  rm -rf $(BIN) $(VENV) && mkdir -p $(VENV) && touch $(VENV)/.installing && echo "$$py -m venv $(VENV)" && "$$py" -m venv $(VENV); fi
	@touch $(VENV)/.installing; rm -f $(VENV)/.installed $(VENV)/.installed-dev
	$(BIN)/python -m pip install --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) -c constraints.txt torch
	$(BIN)/python -m pip install -c constraints.txt -e .
	@touch $@; rm $(VENV)/.installing

$(VENV)/.installed-dev: $(VENV)/.installed
	@touch $(VENV)/.installing; rm $(VENV)/.installed
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev]"
	@touch $(VENV)/.installed $@; rm $(VENV)/.installing
