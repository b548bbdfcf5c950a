# make demo      check the kernels of tests/demo: what the tool shows
# make test      lint, types and tests with JAX 0.10.2                  (under ten minutes on two cores)
# make test-all  the same, then JAX 0.12.0.1, the TPU compiler, other projects' kernels (under thirty)
# make fuzz      fresh random kernels and fresh broken texts against JAX (SEED=…, N=… kernels)
# make mutants   fresh mutants of real kernels against JAX, and of other packages' where they are installed in .venv (SEED=…, M=… mutants,
#                KEEP=… a file for JAX's answers, with which the same mutants are checked again in a tenth of the time)
# make vsix      build the VS Code extension (with PyPI's Node.js 20 where the machine has another)
# make test-vscode  test it in real VS Code (needs Debian's chromium); make pictures: the same, and keep what it looks like
# make bench     what the server and the check cost: start-up, edits, hover, memory, growth (a few minutes)
# make lint, make clean
#
# Each sets up what it needs in .venv, .venv-jax12, .libtpu, .corpora and .vscode-test here, and nothing outside this folder.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: demo test bench test-all test-jax12 test-libtpu test-corpora test-vscode pictures icon fuzz mutants vsix lint clean

VENV := .venv
VENV12 := .venv-jax12
CORPORA := tokamax-0.0.15 ejkernel-0.0.80.3 atomic-ops-0.2.0 deltanet-tpu-0.3.0 gdn2-pallas-0.1.1 pallas-forge-0.1.2 qwix-0.1.8 maxtext-0.2.5 tpu-inference-0.32.0

PYENV_ROOT ?= $(HOME)/.pyenv
PYENV := $(wildcard $(PYENV_ROOT)/versions/3.1[1-9]*/bin/python)
PYENV12 := $(wildcard $(PYENV_ROOT)/versions/3.13*/bin/python $(PYENV_ROOT)/versions/3.12*/bin/python)

# $(call first-python,CANDIDATES,(3, 11)): the first candidate that is at least this Python and can make environments.
# Each one is run, because a name on PATH may be a shim with no Python behind it.
first-python = for python in $(1); do \
	if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < $(2))' 2>/dev/null; then echo "$$python"; break; fi; done

# $(call make-venv,FOLDER,PYTHON): dependency groups need pip 25.1.
make-venv = "$(2)" -m venv --clear $(1) && $(1)/bin/python -m pip install -q 'pip>=25.1'

demo: $(VENV)/bin/pallas-lsp
	@echo '$$ pallas-lsp check tests/demo'
	@$(VENV)/bin/pallas-lsp check tests/demo || { status=$$?; [ $$status -eq 1 ] || exit $$status; }

test: lint
	@echo '== tests, JAX 0.10.2'
	@$(VENV)/bin/python -m pytest -q -m 'not corpus'

# TESTED=1 says that `make test` and `make test-jax12` have just run and need not run again.
test-all: $(if $(TESTED),,test test-jax12) test-libtpu test-corpora test-vscode

test-jax12:
	@python=$$($(call first-python,python3.13 python3.12 python3 $(PYENV12),(3, 12))); \
	if [ -z "$$python" ]; then \
		echo '== tests, JAX 0.12.0.1: skipped, it needs Python 3.12 or newer and none was found'; \
		[ "$${CI:-}" != true ]; exit; \
	fi; \
	if [ ! $(VENV12)/.test -nt pyproject.toml ]; then \
		echo "== $(VENV12): JAX 0.12.0.1 on $$("$$python" --version)"; \
		$(call make-venv,$(VENV12),$$python); \
		$(VENV12)/bin/python -m pip install -q -e . --group test-jax12; \
		touch $(VENV12)/.test; \
	fi; \
	echo '== tests, JAX 0.12.0.1'; \
	$(VENV12)/bin/python -m pytest -q -m 'not corpus and not editor'

# libtpu compiles for TPUs without having one. It stays out of the environment, where JAX would look for the chip at each start.
test-libtpu: $(VENV)/.test
	@if [ ! .libtpu/.installed -nt pyproject.toml ]; then \
		echo '== .libtpu: the TPU compiler'; \
		rm -rf .libtpu; \
		if ! $(VENV)/bin/python -m pip install -q --no-deps --target .libtpu --group libtpu; then \
			echo '== the TPU compiler: skipped, there is no libtpu for this machine'; \
			[ "$${CI:-}" != true ]; exit; \
		fi; \
		touch .libtpu/.installed; \
	fi; \
	echo '== the TPU compiler'; \
	PYTHONPATH=.libtpu $(VENV)/bin/python -m pytest -q -m libtpu

test-corpora: $(VENV)/.test $(addprefix .corpora/,$(CORPORA))
	@echo '== kernels of JAX and of other projects: $(CORPORA)'
	@$(VENV)/bin/python -m pytest -q -m corpus

N ?= 5000
fuzz: $(VENV)/.test
	@JAX_PLATFORMS=cpu PYTHONPATH=tests $(VENV)/bin/python -m random_kernels.fuzz $(if $(SEED),--seed $(SEED)) -n $(N) $(if $(ONLY),--only $(ONLY))

M ?= 300
mutants: $(VENV)/.test
	@JAX_PLATFORMS=cpu PYTHONPATH=tests $(VENV)/bin/python -m real_kernels.mutations $(if $(SEED),--seed $(SEED)) -n $(M) $(if $(ONLY),--only "$(ONLY)") $(if $(KEEP),--verdicts "$(KEEP)")

# pip compiles what it installs; here the sources themselves are run.
bench: $(VENV)/.test
	@$(VENV)/bin/python -m compileall -q pallas_lsp
	@PYTHONPATH=tests $(VENV)/bin/python -m bench

VSCODE := .vscode-test

vsix: $(VENV)/.made
	@echo '== the VS Code extension'
	@editors/vscode/build.sh $(VENV)/bin/python $(VSCODE)/bin

# Where a program is missing that only the system's packages bring, the tests are skipped, and what to install is said.
test-vscode: $(VENV)/.test
	@status=0; tests/editors/vscode/setup.sh $(VSCODE) $(VENV)/bin/python || status=$$?; \
	if [ $$status -eq 3 ]; then echo '== VS Code: skipped'; exit; fi; \
	[ $$status -eq 0 ] || exit $$status; \
	$(MAKE) --no-print-directory vsix; \
	echo '== VS Code: the extension in code-server and Chromium'; \
	$(VENV)/bin/python -m pytest -q tests/editors/test_vscode.py; \
	tests/editors/vscode/run.sh $(VSCODE) $(VENV)/bin/python $(ONLY)

pictures:
	@PICTURES='$(CURDIR)/editors/vscode/pictures' $(MAKE) --no-print-directory test-vscode ONLY=tests/editors/vscode/screen.test.mjs

icon:
	@chromium --headless --no-sandbox --disable-gpu --default-background-color=00000000 --window-size=256,256 \
		--screenshot='$(CURDIR)/editors/vscode/icon.png' 'file://$(CURDIR)/editors/vscode/icon.svg'

lint: $(VENV)/.test
	@echo '== ruff, mypy'
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/mypy

clean:
	rm -rf $(VENV) $(VENV12) .libtpu $(VSCODE) .corpora editors/vscode/node_modules editors/vscode/bundled/libs .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@python=$$($(call first-python,python3.11 python3.12 python3.13 python3.14 python3 $(PYENV),(3, 11))); \
	[ -n "$$python" ] || { echo 'pallas-lsp needs Python 3.11 or newer (with its venv module); none was found' >&2; exit 1; }; \
	echo "== $(VENV): an environment of $$("$$python" --version)"; \
	$(call make-venv,$(VENV),$$python)
	@touch $@

# The command itself says that it is installed: a mark beside it could outlive it.
$(VENV)/bin/pallas-lsp: $(VENV)/.made pyproject.toml
	@echo '== $(VENV): pallas-lsp and what it needs'
	@$(VENV)/bin/python -m pip install -q -e .
	@$(VENV)/bin/python -m compileall -q pallas_lsp  # as pip does with what it copies: each start would do it where PYTHONDONTWRITEBYTECODE is set
	@touch $@

$(VENV)/.test: $(VENV)/bin/pallas-lsp pyproject.toml
	@echo '== $(VENV): what the tests need (JAX 0.10.2, pytest, Neovim) and the tools (ruff, mypy)'
	@$(VENV)/bin/python -m pip install -q --group test --group tools
	@touch $@

# Only read, never installed: the wheel is unpacked, so no code of it runs.
.corpora/%: | $(VENV)/.made
	@echo '== .corpora: $*'
	@rm -rf .corpora/wheel
	@name='$*'; $(VENV)/bin/python -m pip download -q --no-deps --ignore-requires-python --only-binary :all: \
		-d .corpora/wheel "$${name%-*}==$${name##*-}"
	@$(VENV)/bin/python -m zipfile -e .corpora/wheel/*.whl '$@'
	@rm -rf .corpora/wheel
