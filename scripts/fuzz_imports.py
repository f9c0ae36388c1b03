"""Spoilt files over all importers: each must end as an error in words, or as an import that counts right.

    python scripts/fuzz_imports.py [--n 20000] [--seed 0] [--keep FOLDER]

Works in an SQLite database of its own, and undoes each import. Prints how many were imported and refused by importer;
files that ended otherwise are kept in --keep. Exits 1 where there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, help="where files that failed are kept")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

    import django

    django.setup()
    from django.core.management import call_command

    from tests import fuzzed

    call_command("migrate", verbosity=0)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="concord fuzz ") as name:
        folder = Path(name)
        tallies = fuzzed.run(fuzzed.prepared(folder), options.n, options.seed, folder, options.keep)
    failures = [failure for tally in tallies.values() for failure in tally.failures]
    found = {
        "files": options.n,
        "seed": options.seed,
        "seconds": round(time.monotonic() - began, 1),
        "imported": {name: tally.imported for name, tally in tallies.items()},
        "refused": {name: tally.refused for name, tally in tallies.items()},
        "failures": failures,
    }
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
