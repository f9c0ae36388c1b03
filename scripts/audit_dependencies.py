"""`make audit-dependencies`: known weaknesses of the locked packages, by pip-audit in an environment of its own.

Exits 1 where one is known, and where packages could not be looked up, as then nothing is known.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="concord audit ") as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        made = subprocess.run([python, "-m", "pip", "install", "--quiet", "pip-audit"], check=False)
        if made.returncode:
            print("pip-audit could not be installed: no package index can be reached.", file=sys.stderr)
            return 1
        command: list[str | Path] = [
            python,
            "-m",
            "pip_audit",
            "--strict",
            "--disable-pip",
            "--no-deps",
            "-r",
            LOCK,
            *arguments,
        ]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
