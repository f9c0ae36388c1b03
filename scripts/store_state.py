"""Store a small database of a version, and what that version reported of it, for the test that upgrades it.

    python scripts/store_state.py 07-sealed-totp                        # of this working tree
    python scripts/store_state.py 02-trust --commit 8f493a6             # of an earlier commit
    python scripts/store_state.py 03-both --commit 8f493a6 --through f0442f8    # the same, upgraded by a later one

The database is the demo's, with the first few of its dialogues and pairs and a judge whose verdicts are those that the
dialogues were written for: material of this project only. It is kept as SQL, as SQLite's own dump writes it.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STATES = ROOT / "tests" / "db" / "config" / "states"
ITEMS = 26
"""Of each kind: the demo leaves twelve without labels, and its benchmark takes both splits from the others."""
STUDIES = ("Demo dialogues", "Demo pairs")
SECRET = "tests-only"  # noqa: S105 - of no site
"""As in tests/settings.py: the log of acts is checked with the key that it was written with."""


def check_out(commit: str | None, folder: Path) -> Path:
    """Copy a commit, or the working tree with its new files, into a folder of its own."""
    if commit:
        packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        return folder
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def shorten_demo(tree: Path) -> None:
    """Keep the first items of the demo's material. Files with a heading keep that too."""
    for name in ("dialogues.jsonl", "pairs.jsonl", "designed_quality.csv", "designed_preference.csv"):
        path = tree / "fixtures" / "demo" / name
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[: ITEMS + name.endswith(".csv")]))


def write_verdicts(tree: Path) -> None:
    """A judge's ratings of the dialogues, as a table that `import_ratings` reads."""
    with (tree / "fixtures" / "demo" / "designed_quality.csv").open(newline="") as file:
        rows = [(row.pop("dialogue_id"), row) for row in csv.DictReader(file)]
    with (tree / "verdicts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "rater", "criterion", "value"])
        writer.writerows([item, "Designed", key, value] for item, row in rows for key, value in row.items())


def manage(tree: Path, data: Path, *arguments: str) -> str:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CONCORD_", "DATABASE_", "CELERY_"))
    }
    command = [sys.executable, "manage.py", *arguments]
    environment = {**kept, "CONCORD_DATA_DIR": str(data), "CONCORD_SECRET_KEY": SECRET}
    done = subprocess.run(command, cwd=tree, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"store_state: manage.py {' '.join(arguments)} exited {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def fill(tree: Path, data: Path) -> None:
    shorten_demo(tree)
    write_verdicts(tree)
    manage(tree, data, "demo")
    manage(tree, data, "import_ratings", "verdicts.csv", "--study", STUDIES[0], "--judge", "Designed")


def report(tree: Path, data: Path) -> dict[str, Any]:
    """Each study's agreement without its intervals, whose draws differ from version to version."""
    command = ("agreement", "--bootstrap", "0", "--json", "--study")
    return {study: figures_of(json.loads(manage(tree, data, *command, study))) for study in STUDIES}


def figures_of(document: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """Counts and point estimates by criterion. A study with one criterion has no list of them."""
    criteria = document.get("criteria") or {document["criterion"]: document}
    return {key: point_estimates(criterion) for key, criterion in criteria.items()}


def point_estimates(criterion: dict[str, Any]) -> dict[str, float | None]:
    counts = {name: criterion[name] for name in ("n_items", "n_raters", "n_ratings")}
    return counts | {name: coefficient["value"] for name, coefficient in criterion["coefficients"].items()}


def store(name: str, database: Path, expected: dict[str, Any]) -> None:
    STATES.mkdir(exist_ok=True)
    with closing(sqlite3.connect(database)) as connection:
        sql = "\n".join(connection.iterdump())
    (STATES / f"{name}.sql.xz").write_bytes(lzma.compress(sql.encode(), preset=9 | lzma.PRESET_EXTREME))
    (STATES / f"{name}.json").write_text(json.dumps(expected, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a number, which is its place in the order, and a word")
    parser.add_argument("--commit", help="the version that makes the database; default: this working tree")
    parser.add_argument("--through", help="a later version that upgrades it before it is stored")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concord-state-") as folder:
        data = Path(folder) / "data"
        tree = check_out(options.commit, Path(folder) / "tree")
        fill(tree, data)
        expected = report(tree, data)
        if options.through:
            manage(check_out(options.through, Path(folder) / "later"), data, "migrate", "--verbosity", "0")
        store(options.name, data / "concord.sqlite3", expected)
    print(f"stored {options.name}: {(STATES / f'{options.name}.sql.xz').stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
