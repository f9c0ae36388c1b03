from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from judging.judges import pricing
from judging.judges.pricing import Rate, choose_rate, cost
from judging.judges.providers import REGISTRY
from judging.judges.providers.base import Usage

RATE = Rate("p", "m", date(2026, 1, 1), Decimal(3), Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))


def test_tokens_times_price():
    # 1000 x $3 + 100 x $15, per million
    assert cost(Usage(1000, 100), RATE) == Decimal("0.0045")


def test_kept_tokens_have_prices_of_their_own():
    # 200 fresh x 3 + 500 read x 0.3 + 300 written x 3.75 + 100 out x 15 = 600 + 150 + 1125 + 1500
    assert cost(Usage(1000, 100, cached_tokens=500, written_tokens=300), RATE) == Decimal("0.003375")


def test_in_bulk_kept_tokens_are_cheaper_by_the_same_share():
    rate = Rate("p", "m", date(2026, 1, 1), Decimal(4), Decimal(20), Decimal("0.4"), None, Decimal(2), Decimal(10))
    # 500 x 2 + 500 x 0.2 + 100 x 10 = 1000 + 100 + 1000
    assert cost(Usage(1000, 100, cached_tokens=500, batched=True), rate) == Decimal("0.0021")


def test_what_is_not_known_is_unknown_and_never_zero():
    assert cost(Usage(1000, 100), None) is None
    assert cost(None, RATE) is None


@pytest.mark.parametrize("provider", [name for name, one in REGISTRY.items() if one.no_model])
def test_what_is_no_model_costs_nothing(provider):
    free = choose_rate(pricing.load_published(), provider, "", date(2026, 11, 21))

    assert cost(None, free) == 0, f"the first price of prices.toml lacks {provider}"


def test_a_later_price_replaces_an_earlier_one_from_its_day():
    later = Rate("p", "m", date(2026, 6, 1), Decimal(2), Decimal(10))

    assert choose_rate([later, RATE], "p", "m", date(2026, 5, 31)) == RATE
    assert choose_rate([later, RATE], "p", "m", date(2026, 6, 1)) == later
    assert choose_rate([later, RATE], "p", "m", date(2025, 12, 31)) is None


def test_of_two_prices_of_one_day_the_last_one_holds():
    entered = Rate("p", "m", RATE.valid_from, Decimal(1), Decimal(1))

    assert choose_rate([RATE, entered], "p", "m", date(2026, 2, 1)) == entered


def test_a_dated_name_costs_what_its_model_costs():
    day = date(2026, 11, 21)

    assert choose_rate(pricing.load_published(), "anthropic", "claude-haiku-4-5-20251001", day).input == 1
    assert choose_rate(pricing.load_published(), "anthropic", "claude-unheard-of", day) is None


def test_a_long_prompt_has_prices_of_its_own_for_all_its_tokens():
    """https://platform.claude.com/docs/en/models/haiku-5-5/overview: $0.10 and $0.50 up to 100,000 tokens, then 5 x."""
    haiku = choose_rate(pricing.load_published(), "anthropic", "claude-haiku-5-5", date(2026, 11, 21))

    # 100,000 x $0.10 + 100 x $0.50, per million
    assert cost(Usage(100_000, 100), haiku) == Decimal("0.01005")
    # 100,001 x $0.50 + 100 x $2.50, per million
    assert cost(Usage(100_001, 100), haiku) == Decimal("0.0502505")
    assert cost(Usage(100_001, 100, batched=True), haiku) == Decimal("0.0502505") / 2


def test_every_published_price_is_whole():
    for rate in pricing.load_published():
        for one in (rate, rate.longer or rate):
            assert one.input >= 0
            assert one.output >= one.input
            if one.batch_input is not None:
                assert (one.batch_input, one.batch_output) == (one.input / 2, one.output / 2)
