"""What failed in the last run of the tests runs once more, by itself: a test that fails twice has failed.

    python scripts/second_try.py {test,test-services}

`.ci/run` calls it. Real browsers, workers and servers on two busy cores can miss a time limit; a defect fails alone as
well. Every test that needed a second try is named in the output. More than ten are no accident, and fail at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
NAMES = ROOT / ".pytest_cache" / "second_try"
MOST = 10


def failed() -> list[str]:
    """The tests by name, without the groups that they ran in (`--dist loadgroup` puts those after an @)."""
    found = json.loads(FAILED.read_text()) if FAILED.exists() else {}
    return sorted({without_group(name) for name in found})


def without_group(name: str) -> str:
    before, at, group = name.rpartition("@")
    return before if at and group.replace("_", "").replace(" ", "").isalnum() else name


def main(target: str) -> int:
    names = failed()
    if not 0 < len(names) <= MOST:
        print(f"second try: {len(names)} tests failed; there is none of 0 or of more than {MOST}")
        return 1
    print(f"second try of {target}, one after the other:", *names, sep="\n  ", flush=True)
    NAMES.write_text("\n".join(names))
    arguments = f"ARGS=-n 0 @{NAMES.relative_to(ROOT)}"
    return subprocess.run(["make", target, arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
