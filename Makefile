# Concord. `make demo` and `make test` do all set-up; Python 3.11, make and git are enough.
# Recipes use relative paths only, so that the checkout may lie in a folder with spaces in its name.

PYTHON ?= python3
PY = .venv/bin/python
MANAGE = $(PY) manage.py

# Bytecode is kept: without it, every process compiles all of Concord anew before it starts.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help audit-dependencies setup setup-dev demo serve dev stop worker smoke test test-services lint types style docs client messages format bench lock screenshots

help: ## say what there is
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

setup:
	@$(PYTHON) scripts/bootstrap.py

setup-dev:
	@$(PYTHON) scripts/bootstrap.py --dev

demo: setup ## set everything up with demo material, start web server and worker, print address and logins
	@$(MANAGE) demo --start

serve: setup ## web server and worker in the foreground, on your own data
	@$(MANAGE) serve

dev: setup-dev ## web server and worker that load changed code anew, on the data of `make demo` or your own
	@CONCORD_DEBUG=1 $(MANAGE) dev

stop: setup ## end what `make demo` started
	@$(MANAGE) serve --stop

worker: setup ## a Celery worker alone, for a second machine or a worker that stopped
	@$(PY) -m celery -A config worker --loglevel INFO

smoke: setup ## the demo's loop without a lasting server; prints the final report as JSON
	@$(PY) scripts/smoke.py

test: setup-dev ## tests; with ALL=1 also the long ones: kills, crawls, accessibility, browsers but for rating, tests of half a second
	@$(PY) -m pytest -n 3 --dist loadgroup $(if $(ALL),,-m "not long") $(ARGS)

test-services: setup-dev ## the tests that use the database, on PostgreSQL and Redis, where these answer
	@$(PY) scripts/test_services.py $(ARGS)

lint: setup-dev ## style, types, direction of imports, templates, migrations, links of the docs
	@$(MAKE) --no-print-directory -j 2 types style

types: setup-dev
	@$(PY) -m mypy .

style: docs
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@PYTHONPATH=.:client $(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()" --no-logo
	@$(PY) -m djlint --quiet --check --lint templates
	@$(PY) -m bandit -q -ll -r annotation judging simulation config core client
	@$(MANAGE) makemigrations --check --dry-run
	@$(PY) -m pytest -q --collect-only >/dev/null # compiles what all processes of `make test` read

audit-dependencies: setup ## known weaknesses of the locked packages; needs a package index that lists them
	@$(PYTHON) scripts/audit_dependencies.py $(ARGS)

docs: setup-dev ## the pages in docs/ as HTML in build/docs; a link that leads nowhere fails
	@$(PY) -m sphinx -q -W --keep-going -n -b html docs build/docs

client: setup-dev ## write the client's methods and types from the OpenAPI document of today
	@$(PY) scripts/make_client.py

messages: setup-dev ## bring the translations in locale/ up to date with the texts of today
	@$(PY) scripts/messages.py

format: setup-dev ## let the tools put code and templates in order
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .
	@$(PY) -m djlint --quiet --reformat templates || true

bench: setup-dev ## slow measurements, with ratios from one run
	@$(PY) scripts/bench.py $(ARGS)

screenshots: setup-dev ## the README's pictures, from the demo in a real browser
	@$(PY) scripts/screenshots.py

lock: setup-dev ## resolve the dependencies of pyproject.toml anew
	@$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		pyproject.toml -o requirements.lock
	@$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		pyproject.toml --group dev -o requirements-dev.lock
	@$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		--no-deps --group pyproject.toml:local -o requirements-local.lock
	@$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		--group pyproject.toml:setup -o requirements-setup.lock
