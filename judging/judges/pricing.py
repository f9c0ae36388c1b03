"""What a reply costs: tokens used x a dated price (pure). What is not known stays unknown and is never zero."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path

from judging.judges.providers.base import Usage

FILE = Path(__file__).resolve().parent / "prices.toml"
MILLION = 1_000_000
ANY = "*"
AMOUNTS = ("input", "output", "cache_read", "cache_write", "batch_input", "batch_output")
SNAPSHOT = re.compile(r"-\d{8}$")
"""A model's name may end in the day it was made; all its days cost the same."""


@dataclass(frozen=True, slots=True)
class Rate:
    """US dollars per million tokens, from a day on. A price that is None is that of ordinary tokens.

    Some models have other prices for long prompts: `longer` holds them, for all tokens of a request whose prompt has
    more than `longer.above` tokens.
    """

    provider: str
    model: str
    valid_from: date
    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    batch_input: Decimal | None = None
    batch_output: Decimal | None = None
    above: int = 0
    longer: Rate | None = None

    def select_band(self, tokens: int) -> Rate:
        """The prices of a request whose prompt has so many tokens."""
        return self.longer if self.longer and tokens > self.longer.above else self

    @property
    def is_free(self) -> bool:
        return not self.input and not self.output


def cost(usage: Usage | None, rate: Rate | None) -> Decimal | None:
    """US dollars for a reply; None if the price or the tokens are not known."""
    if rate is None or (usage is None and not rate.is_free):
        return None
    if usage is None or rate.is_free:
        return Decimal(0)
    rate = rate.select_band(usage.input_tokens)
    new, given = price_of_new(usage, rate)
    fresh = max(usage.input_tokens - usage.cached_tokens - usage.written_tokens, 0)
    read = rate.input if rate.cache_read is None else rate.cache_read
    write = rate.input if rate.cache_write is None else rate.cache_write
    share = new / rate.input if rate.input else Decimal(1)  # in bulk, kept tokens are cheaper by the same share
    total = fresh * new + (usage.cached_tokens * read + usage.written_tokens * write) * share
    return (total + usage.output_tokens * given) / MILLION


def price_of_new(usage: Usage, rate: Rate) -> tuple[Decimal, Decimal]:
    """Prices of tokens read for the first time and of tokens written."""
    if not usage.batched:
        return rate.input, rate.output
    return (
        rate.input if rate.batch_input is None else rate.batch_input,
        rate.output if rate.batch_output is None else rate.batch_output,
    )


def choose_rate(rates: Iterable[Rate], provider: str, model: str, on: date) -> Rate | None:
    """The newest rate that holds on the day, for exactly this model before one for any. Of two of one day, the last."""
    names = (model, SNAPSHOT.sub("", model), ANY)
    found = [rate for rate in rates if rate.provider == provider and rate.model in names and rate.valid_from <= on]
    return max(reversed(found), key=lambda rate: (-names.index(rate.model), rate.valid_from), default=None)


@cache
def load_published() -> tuple[Rate, ...]:
    """The rates of prices.toml."""
    with FILE.open("rb") as file:
        entries = tomllib.load(file, parse_float=Decimal)["price"]
    rates = []
    for one in entries:
        long, on = one.get("long"), one["valid_from"]
        for provider, model in product(one["provider"], one["model"]):
            longer = long and Rate(provider, model, on, above=long["above"], longer=None, **amounts({**one, **long}))
            rates.append(Rate(provider, model, on, above=0, longer=longer, **amounts(one)))
    return tuple(rates)


def amounts(entry: Mapping[str, object]) -> dict[str, Decimal]:
    """The prices of an entry, without what else it says."""
    return {name: Decimal(str(value)) for name, value in entry.items() if name in AMOUNTS}


def format_dollars(amount: Decimal | float) -> str:
    """With cents, or below a dollar with as many digits as a small amount needs."""
    return f"${amount:,.2f}" if amount == 0 or amount >= 1 else f"${amount:.4f}"
