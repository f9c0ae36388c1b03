"""Run what failed in the last run of the tests once more, by itself, where tests/second_try.toml lists it.

    python scripts/second_try.py {test,test-services}

`.ci/run` calls it. A test that is not listed there has failed, and so has one that fails again. Every test that needed
a second try is named in the output and counted; more than two are a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
NAMES = ROOT / ".pytest_cache" / "second_try"
LISTED = ROOT / "tests" / "second_try.toml"
MOST = 2
"""Tests of a run that may need a second try."""


def find_failed() -> list[str]:
    """List the tests by name, without the groups that they ran in (`--dist loadgroup` puts those after an @)."""
    found = json.loads(FAILED.read_text()) if FAILED.exists() else {}
    return sorted({strip_group(name) for name in found})


def strip_group(name: str) -> str:
    before, at, group = name.rpartition("@")
    return before if at and group.replace("_", "").replace(" ", "").isalnum() else name


def find_reason(name: str) -> str:
    """Say why a test may run a second time; empty where it is not listed."""
    reasons = tomllib.loads(LISTED.read_text())
    return next((reason for pattern, reason in reasons.items() if fnmatchcase(name.partition("[")[0], pattern)), "")


def main(target: str) -> int:
    names = find_failed()
    unlisted = [name for name in names if not find_reason(name)]
    if unlisted or not names:
        print("second try: none, as these are not listed in tests/second_try.toml:", *unlisted, sep="\n  ")
        return 1
    if len(names) > MOST:
        print(f"second try: none, as {len(names)} tests failed and at most {MOST} may:", *names, sep="\n  ")
        return 1
    print(
        f"second try of {target}, {len(names)} of at most {MOST} tests:",
        *(f"{name}: {find_reason(name)}" for name in names),
        sep="\n  ",
        flush=True,
    )
    NAMES.write_text("\n".join(names))
    arguments = f"ARGS=-n 0 @{NAMES.relative_to(ROOT)}"
    return subprocess.run(["make", target, "ALL=1", arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
