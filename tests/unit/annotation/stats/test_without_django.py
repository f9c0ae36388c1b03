"""The statistics are a library: they import and compute where Django is not installed.

import-linter sees to it that nothing in them imports Django later, inside a function.
"""

import os
import subprocess
import sys

from tests.support.paths import ROOT

BLOCKED = ("django", "rest_framework", "celery", "kombu", "anthropic", "httpx", "requests", "redis")

# stands in front of the import system and answers for the blocked packages as if they were not there
WITHOUT = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""

IMPORT_ALL = """
import importlib, pkgutil
import annotation.stats, judging.stats, simulation.stats

for package in (annotation.stats, judging.stats, simulation.stats):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
        print(module.name)
"""

COMPUTE = """
from annotation.stats.agreement import agreement
from annotation.stats.table import RatingTable

items, raters, values = ["a", "a", "b", "b"], ["r", "s", "r", "s"], [1, 1, 2, 1]
table = RatingTable.from_long(items, raters, values, categories=[1, 2], level="nominal")
print(agreement(table).coefficients["percent_agreement"].value)
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_block_blocks():
    assert "No module named 'django'" in run("import django").stderr


def test_every_module_imports():
    done = run(IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert "annotation.stats.agreement" in done.stdout
    assert "judging.stats.agreement" in done.stdout


def test_agreement_is_computed():
    done = run(COMPUTE)
    assert (done.returncode, done.stdout) == (0, "0.5\n"), done.stderr
