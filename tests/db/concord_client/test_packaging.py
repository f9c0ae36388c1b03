"""The client as a package of its own: built, and used where nothing of Concord is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.conf import settings

from core.accounts.services import tokens
from tests.support.factories import ResearcherFactory

CLIENT = settings.BASE_DIR / "client"

PROGRAM = """
import importlib.util, sys
from concord_client import Concord, types

assert importlib.util.find_spec("django") is None
assert "site-packages" in types.__file__
me: types.Me = Concord(sys.argv[1], token=sys.argv[2]).me()
print(me["username"])
"""


def build(target: Path) -> Path:
    """The wheel, built without a network."""
    command = [sys.executable, "-m", "uv", "build", "--quiet", "--offline", "--wheel", "--out-dir", str(target)]
    subprocess.run([*command, str(CLIENT)], check=True)
    (wheel,) = target.glob("*.whl")
    return wheel


def needed(requirements: list[str], found: set[str] | None = None) -> set[str]:
    """The packages that are installed with what is asked for."""
    found = set() if found is None else found
    for text in requirements:
        name = re.match(r"[\w.-]+", text)[0]  # type: ignore[index]
        if "extra ==" not in text and name not in found:
            found.add(name)
            needed(distribution(name).requires or [], found)
    return found


@pytest.mark.long
def test_the_wheel_works_alone_in_an_environment_without_django(live_server, tmp_path):
    wheel = build(tmp_path)
    venv.create(tmp_path / "venv", with_pip=False)
    (packages,) = (tmp_path / "venv").glob("lib/*/site-packages")
    ZipFile(wheel).extractall(packages)
    (metadata,) = packages.glob("*.dist-info/METADATA")
    asked = re.findall(r"^Requires-Dist: (.*)", metadata.read_text(), re.M)
    for name in needed(asked):
        for file in distribution(name).files or ():
            if file.suffix in {".py", ".pem", ".so"} and ".." not in file.parts:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(str(file.locate())), packages / file)
    _, token = tokens.make(by=ResearcherFactory(username="rosa"), name="client", scopes=["read"])
    command = [str(tmp_path / "venv" / "bin" / "python"), "-I", "-c", PROGRAM, live_server.url, token]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (found.stdout, found.stderr) == ("rosa\n", "")


def test_the_wheel_has_types_and_a_permissive_licence(tmp_path):
    with ZipFile(build(tmp_path)) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        (licence,) = (name for name in names if name.endswith("LICENSE"))
        assert "License-Expression: MIT" in wheel.read(metadata).decode()
        assert wheel.read(licence).decode().startswith("MIT License")
    assert {"concord_client/py.typed", "concord_client/methods.py", "concord_client/types.py"} <= names
