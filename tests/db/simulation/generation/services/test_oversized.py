"""A reply larger than the site reads is a reason of its own, and is kept cut."""

from __future__ import annotations

import pytest

from judging.judges.providers.base import Reply
from simulation.agents.parsing import endings, speech
from simulation.agents.parsing.generated import UnfitError
from simulation.generation.services import orders
from simulation.generation.services.generators import Step


def test_an_order_refuses_it(settings):
    settings.MAX_REPLY_CHARACTERS = 10
    step = Step("text", None, len)

    assert orders.parse_reply(step, Reply("x" * 10)) == 10
    with pytest.raises(UnfitError, match="larger than this site reads"):
        orders.parse_reply(step, Reply("x" * 11))


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_it_ends_a_dialogue_with_its_reason(side):
    [*_, last] = [endings.TurnFacts(side, "", problem=speech.OVERSIZED)]

    assert endings.find_ending([last], limit=4) in endings.ENDINGS
