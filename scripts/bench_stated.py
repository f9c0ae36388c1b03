"""How well the rules read which verdict an explanation states, on hand-made cases: `make bench ARGS=stated`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judging.stats.stated_verdicts import find_stated_category, find_stated_preference

CASES = Path(__file__).resolve().parent.parent / "tests" / "unit" / "judging" / "stats" / "stated_verdicts.csv"
NAMES = {
    "yes or no": {"yes": ["yes", "ja"], "no": ["no", "nein"]},
    "category": {"billing": ["billing", "Rechnung"], "shipping": ["shipping", "Versand"], "other": ["other"]},
}


def cases() -> list[dict[str, str]]:
    """Each with language, kind, what it says (empty where it states no verdict), and the explanation."""
    with CASES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read(case: Mapping[str, str]) -> str:
    """What the rules read in it; empty for nothing."""
    if case["kind"] == "pair":
        return find_stated_preference(case["explanation"]) or ""
    return find_stated_category(case["explanation"], NAMES[case["kind"]]) or ""


def summed_up(chosen: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Counts: cases that state a verdict, those of them that are read, cases that state none, and wrong readings."""
    told = [(case["says"], read(case)) for case in chosen]
    return {
        "stated": sum(bool(says) for says, _ in told),
        "read": sum(bool(says) and found == says for says, found in told),
        "not_stated": sum(not says for says, _ in told),
        "wrong": sum(bool(found) and found != says for says, found in told),
    }


def main() -> None:
    every = cases()
    print("language  kind       stated  read  not stated  read wrongly")
    for language, kind in dict.fromkeys((case["language"], case["kind"]) for case in every):
        one = summed_up(case for case in every if (case["language"], case["kind"]) == (language, kind))
        row = f"{one['stated']:6} {one['read']:5} {one['not_stated']:11} {one['wrong']:13}"
        print(f"{language:9} {kind:10} {row}")
    print("all cases:", summed_up(every))
    for case in every:
        if read(case) and read(case) != case["says"]:
            print(f"  wrong: {read(case)!r} for {case['says'] or 'nothing'!r} in {case['explanation']}")


if __name__ == "__main__":
    main()
