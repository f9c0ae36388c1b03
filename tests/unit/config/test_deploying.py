"""The files in deploy/: what goes into the image, what the units run, and settings that all readers read alike."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from core import version
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
EXAMPLE = DEPLOY / "concord.env.example"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def settings_of(path: Path) -> dict[str, str]:
    """As systemd reads a file without quotes and backslashes."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


class TestImage:
    def test_only_what_is_named_goes_in_and_no_data_or_key(self):
        rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
        allowed = {rule[1:] for rule in rules if rule.startswith("!")}
        assert rules[0] == "*"
        assert all((ROOT / name).exists() for name in allowed)
        kept_out = {".git", ".venv", "data", "deploy", "tests", "docs", "secret_key", "."}
        assert not kept_out & allowed
        packages = {folder.parent.name for folder in ROOT.glob("*/__init__.py")} - {"tests"}
        assert packages | {"manage.py", "templates"} <= allowed

    def test_what_the_build_copies_by_name_is_let_in(self):
        allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
        copied = re.findall(r"^COPY (?!--from)(.+) \./?$", CONTAINERFILE, re.M)
        assert copied == ["requirements.lock deploy/slim.py", "."]
        assert set(copied[0].split()) <= allowed

    def test_it_runs_as_nobody_special_and_says_whether_it_is_well(self):
        last = CONTAINERFILE.rpartition("\nFROM ")[2]
        assert re.search(r"^USER 10001:10001$", last, re.M)
        assert "HEALTHCHECK" in last
        assert "readyz" in last
        assert "--require-hashes -r requirements.lock" in CONTAINERFILE

    def test_the_largest_package_goes_in_only_where_it_is_wanted(self):
        assert re.search(r'\{ \[ "\$EXTRAS" = parquet ] \|\| .* uninstall .* pyarrow; }', CONTAINERFILE)
        assert COMPOSE["services"]["web"]["build"]["args"]["EXTRAS"] == "${CONCORD_EXTRAS:-}"

    def test_jobs_find_what_they_call_beside_python(self):
        (linked,) = re.findall(r"for name in ([a-z ]+); do ln -s busybox", CONTAINERFILE)
        commands = [one.get("command", [""]) for one in COMPOSE["services"].values() if one.get("image") == "concord"]
        called = {
            word for command in commands if command[0] == "sh" for word in re.findall(r"\b(sh|sleep)\b", str(command))
        }
        assert called == {"sh", "sleep"} <= set(linked.split())

    def test_what_is_never_loaded_is_deleted_and_nothing_else(self, tmp_path):
        kept = [
            "numpy/core.py",
            "pyarrow/libarrow.so.2600",
            "pyarrow/libarrow_python.so.2600",
            "pyarrow/lib.so",
            "a/t.py",
            "a/locale/de/LC_MESSAGES/django.mo",
            "babel/locale-data/root.dat",
            "babel/locale-data/de.dat",
        ]
        deleted = [
            "a/b/tests/test_c.py",
            "pyarrow/libarrow_python.so",
            "pyarrow/libarrow_flight.so.2600",
            "a/de.mo",
            "a/locale/fr/LC_MESSAGES/django.mo",
            "babel/locale-data/fr.dat",
            "a/c.h",
        ]
        for name in kept + deleted:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x")
        command = [sys.executable, DEPLOY / "slim.py", tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
        assert done.stdout == "slim: 0 MB deleted\n"
        assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == sorted(kept)


class TestCompose:
    def test_web_and_worker_start_once_the_tables_are_there(self):
        services = COMPOSE["services"]
        assert set(services) == {"migrate", "web", "worker", "backup", "retention", "database", "broker"}
        for name in ("web", "worker", "backup", "retention"):
            assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
            assert services[name]["depends_on"]["database"]["condition"] == "service_healthy"

    def test_what_must_last_is_in_volumes(self):
        mounted = {volume.split(":")[0] for service in COMPOSE["services"].values() for volume in service["volumes"]}
        assert mounted == set(COMPOSE["volumes"]) == {"data", "backups", "database", "broker"}


class TestSettings:
    def test_the_shell_reads_what_systemd_reads(self):
        ask = f"set -a; . {shlex.quote(str(EXAMPLE))}; env -0"
        read = subprocess.run(["env", "-i", "sh", "-c", ask], capture_output=True, text=True, check=True, timeout=20)
        by_shell = dict(line.split("=", 1) for line in read.stdout.split("\0") if line)
        expected = settings_of(EXAMPLE)
        assert {name: by_shell[name] for name in expected} == expected

    def test_values_have_only_what_its_head_allows(self):
        assert all(re.fullmatch(r"[A-Za-z0-9.,:/@%+=_-]+", value) for value in settings_of(EXAMPLE).values())


@pytest.mark.parametrize("told", ["", "3f2c1ab"])
def test_an_image_is_told_its_commit(monkeypatch, told):
    monkeypatch.setenv("CONCORD_COMMIT", told)
    found = version.code_version.__wrapped__()
    assert found.endswith("+3f2c1ab") == bool(told)
