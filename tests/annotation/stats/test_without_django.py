"""The statistics are a library: they import, and their tests pass, where Django is not installed.

Left out are simulations of planted faults, which take as long as all others together and call what those call.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

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

RUN_TESTS = """
import pytest

folders = ["tests/annotation/stats", "tests/judging/stats", "tests/simulation/stats"]
options = ["-q", "-x", "-c", "/dev/null", "--rootdir=.", "--noconftest", "-W", "error", "-o", "markers=long"]
plugins = ["-p", "no:django", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:socket", "-p", "no:cacheprovider"]
plugins += ["-p", "no:schemathesis"]
sys.exit(pytest.main([*folders, *options, *plugins, "-k", "not without_django and not test_planted and not noisy"]))
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CONCORD_EXAMPLES": "5", "PYTEST_ADDOPTS": "", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
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


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_tests_of_the_statistics_pass():
    done = run(RUN_TESTS)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
