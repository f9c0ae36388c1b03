"""What commands share that start long work and follow it: judge and simulate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from tqdm import tqdm

from judging.assessment.wording import duration
from judging.judges.pricing import format_dollars

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LOOK_EVERY = 1.0  # seconds
NO_WORKER = "No worker is running, so nothing happens yet. Start one with `make worker`, or use --now."


class LongWork(Protocol):
    """A run or an experiment."""

    @property
    def state(self) -> str: ...

    def refresh_from_db(self) -> None: ...


def wait_until_over(work: LongWork) -> Iterator[None]:
    """Yield every second until the work is finished or stopped."""
    while True:
        work.refresh_from_db()
        if work.state != "running":
            return
        yield
        time.sleep(LOOK_EVERY)


def watch(steps: Iterator[None], *, total: int, count: Callable[[], int], unit: str, is_shown: bool) -> None:
    """Follow the steps, with a bar of what `count` gives where it is shown. The work itself does not depend on it."""
    with tqdm(total=total, unit=f" {unit}", file=sys.stderr, disable=not is_shown) as bar:
        looked = 0.0
        for _ in steps:
            if is_shown and time.monotonic() - looked > LOOK_EVERY:
                bar.update(count() - bar.n)
                looked = time.monotonic()
        bar.update(count() - bar.n)


def to_estimate_json(estimate: DataclassInstance) -> dict[str, Any]:
    """An estimate by the names of its figures, with the price as a number of JSON."""
    found = asdict(estimate)
    return found | {"usd": None if found["usd"] is None else float(found["usd"])}


def describe_estimate(usd: float | None, seconds: float | None) -> str:
    """Price and time of an estimate."""
    price = "unknown" if usd is None else f"about {format_dollars(usd)}"
    return f"Price: {price}. Time: {'unknown' if seconds is None else duration(seconds)}."


def describe_cost(cost: Mapping[str, float], unit: str = "") -> list[str]:
    """What was spent, as a line; none where nothing was. `unit` names what has no known price."""
    known, unknown = cost["known"], cost["unknown"]
    if not known and not unknown:
        return []
    unpriced = f", and {unknown:,}{unit} at an unknown price" if unknown else ""
    return [f"  Cost: {format_dollars(known)}{unpriced}."]
