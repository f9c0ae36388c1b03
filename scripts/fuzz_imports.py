"""Spoilt files over all importers: each must end as an error in words, or as an import that counts right.

    python scripts/fuzz_imports.py [--n 20000] [--seed 0] [--keep FOLDER]
    python scripts/fuzz_imports.py --replies [--n 20000] [--largest 64000]

Works in an SQLite database of its own, and undoes each import. Prints how many were imported and refused by importer;
files that ended otherwise are kept in --keep. Exits 1 where there are any. With --replies, spoilt replies go
through everything that reads text from outside; none may raise, and twice the text may take at most 2.5 times as long.
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
    parser.add_argument("--replies", action="store_true", help="spoilt replies in place of files")
    parser.add_argument("--largest", type=int, default=64_000, help="characters up to which the time is looked at")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

    import django

    django.setup()
    if options.replies:
        return replies(options)
    from django.core.management import call_command

    from tests.support import fuzzed

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


def replies(options: argparse.Namespace) -> int:
    from tests.support import fuzzed_replies

    began = time.monotonic()
    raised = fuzzed_replies.crashes(options.n, options.seed)
    slow = [str(one) for one in fuzzed_replies.slow_readers(options.largest)]
    found = {
        "replies": options.n,
        "readers": len(fuzzed_replies.READERS),
        "shapes": len(fuzzed_replies.shapes()),
        "largest": options.largest,
        "seconds": round(time.monotonic() - began, 1),
        "raised": raised,
        "slow": slow,
    }
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return 1 if raised or slow else 0


if __name__ == "__main__":
    sys.exit(main())
