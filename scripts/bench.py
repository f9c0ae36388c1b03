"""Run the slow measurements, each in a process of its own: `make bench`, or `make bench ARGS=import` for one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    found = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    asked = sys.argv[1:] or list(found)
    unknown = [name for name in asked if name not in found]
    if unknown:
        print(f"bench: there is no {', '.join(unknown)}; there are: {', '.join(found)}", file=sys.stderr)
        return 2
    failed = []
    for name in asked:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(found[name])], cwd=HERE.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
