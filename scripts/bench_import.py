"""How long the import of a full copy of PersonaLens takes, beside what Python's json needs to parse it.

    python scripts/bench_import.py [--data ../shared/data/personalens] [--profiles 1500] [--rounds 3] [--json]

The copy is made of the profiles in --data, repeated under new ids. Each measurement is a process of its own: the
parser (its loop alone, without the start of Python), the import into an empty SQLite database, and the same import
once more, which must change nothing (both from start to exit). The best of the rounds counts. Exits 1 where the
import takes more than 4 times the parsing or 400 MB of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILES = ("profile.json", "tasks.json", "tasks_md.json")
MAX_RATIO, MAX_MEGABYTES = 4.0, 400.0

PARSE = """
import json, sys, time
from pathlib import Path
start = time.perf_counter()
for path in Path(sys.argv[1]).glob("profile/*/*.json"):
    with path.open(encoding="utf-8") as stream:
        json.load(stream)
print(time.perf_counter() - start)
"""


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="concord bench ") as name:
        folder = Path(name)
        megabytes = make_copy(options.data, folder / "personalens", options.profiles)
        rounds = [measure(folder) for _ in range(options.rounds)]
    best = {key: min(round_[key] for round_ in rounds) for key in ("parse_s", "import_s", "again_s")}
    result = {
        "profiles": options.profiles,
        "scenarios": rounds[0]["scenarios"],
        "megabytes": round(megabytes, 1),
        **best,
        "ratio": best["import_s"] / best["parse_s"],
        "rounds": [round_["import_s"] / round_["parse_s"] for round_ in rounds],
        "max_rss_mb": max(round_["max_rss_mb"] for round_ in rounds),
        "limit_ratio": MAX_RATIO,
        "limit_rss_mb": MAX_MEGABYTES,
    }
    print(json.dumps(result, indent=1) if options.json else in_words(result))
    return 0 if result["ratio"] <= MAX_RATIO and result["max_rss_mb"] <= MAX_MEGABYTES else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "personalens")
    parser.add_argument("--profiles", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not (options.data / "profile").is_dir():
        parser.error(f"{options.data} holds no copy of PersonaLens; name one with --data")
    return options


def make_copy(source: Path, target: Path, profiles: int) -> float:
    """Write so many profiles, by repeating those of `source`; the megabytes written."""
    folders = sorted((source / "profile").iterdir())
    size = 0
    for number in range(profiles):
        original, folder = folders[number % len(folders)], target / "profile" / f"user{number}"
        folder.mkdir(parents=True)
        for name in FILES:
            text = (original / name).read_text(encoding="utf-8")
            text = text.replace(f'"user_id": "{original.name}"', f'"user_id": "user{number}"')
            size += (folder / name).write_bytes(text.encode())
    shutil.copytree(source / "task", target / "task")
    return size / 1e6


def measure(folder: Path) -> dict[str, Any]:
    """One round: parse, import into an empty database, import again."""
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    environment = {**os.environ, "CONCORD_DATA_DIR": str(data), "DATABASE_URL": "", "CELERY_BROKER_URL": ""}
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "--verbosity", "0"], env=environment, check=True)
    parsed, _, _ = timed([sys.executable, "-c", PARSE, str(folder / "personalens")], environment)
    command = [*manage, "import_personalens", str(folder / "personalens"), "--json"]
    first, seconds, megabytes = timed(command, environment)
    second, again, _ = timed(command, environment)
    created, repeated = json.loads(first)["created"], json.loads(second)
    if repeated["unchanged"] != created or any(repeated["created"].values()):
        raise SystemExit(f"the second import changed something: {second}")
    return {
        "scenarios": created["scenarios"],
        "parse_s": float(parsed),
        "import_s": seconds,
        "again_s": again,
        "max_rss_mb": megabytes,
    }


def timed(command: list[str], environment: dict[str, str]) -> tuple[str, float, float]:
    """Output, seconds and the largest memory (MB) of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return output, seconds, maximum_megabytes(usage)


def maximum_megabytes(usage: resource.struct_rusage) -> float:
    """`ru_maxrss` is in kilobytes on Linux and in bytes on macOS."""
    return usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1024)


def in_words(result: dict[str, Any]) -> str:
    rounds = ", ".join(f"{ratio:.2f}" for ratio in result["rounds"])
    return (
        f"PersonaLens, {result['profiles']} profiles, {result['scenarios']} scenarios, {result['megabytes']} MB\n"
        f"json alone:    {result['parse_s']:.2f} s\n"
        f"import:        {result['import_s']:.2f} s, start of Django included, at most {result['max_rss_mb']:.0f} MB\n"
        f"import again:  {result['again_s']:.2f} s, nothing changed\n"
        f"ratio:         {result['ratio']:.2f} (limit {MAX_RATIO:.0f}; rounds: {rounds})"
    )


if __name__ == "__main__":
    sys.exit(main())
