"""Run the slow measurements, each in a process of its own: `make bench`, or `make bench ARGS=import` for one.

What follows a name and is no name is an argument of that measurement: `make bench ARGS="difficulty reach"`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    found = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    asked: list[list[str]] = []
    for word in sys.argv[1:] or found:
        if word in found:
            asked.append([word])
        elif asked:
            asked[-1].append(word)
        else:
            print(f"bench: there is no {word}; there are: {', '.join(found)}", file=sys.stderr)
            return 2
    failed = []
    for name, *arguments in asked:
        print("==", name, *arguments, flush=True)
        if subprocess.run([sys.executable, str(found[name]), *arguments], cwd=HERE.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
