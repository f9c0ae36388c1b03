"""Rankings of an item's responses as labels: ``B>A=C`` puts B first, and A and C level behind it.

Nothing here needs numpy, which a command that only reads labels does not load.
"""

from collections.abc import Sequence

BETTER, TIED = ">", "="

Ranking = tuple[tuple[str, ...], ...]
"""Groups of responses from the best to the worst; those of one group are tied."""


def parse_ranking(text: str) -> Ranking:
    """Read a ranking such as ``B>A=C``; names within a group come in alphabetical order.

    Raises ``ValueError`` on an empty or repeated name, and on fewer than two responses.
    """
    groups = tuple(tuple(sorted(name.strip() for name in group.split(TIED))) for group in text.split(BETTER))
    names = [name for group in groups for name in group]
    if not all(names):
        raise ValueError(f"{text!r} is not a ranking such as B>A=C: a name is missing")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{text!r} ranks {twice!r} twice")
    if len(names) < 2:
        raise ValueError(f"{text!r} is one response; a ranking needs two or more, such as B>A=C")
    return groups


def spell_ranking(ranking: Ranking) -> str:
    """Write a ranking as `parse_ranking` reads it."""
    return BETTER.join(TIED.join(group) for group in ranking)


def responses_of(text: str) -> tuple[str, ...]:
    """List the responses that a ranking is of, in alphabetical order."""
    return tuple(sorted(name for group in parse_ranking(text) for name in group))


def check_responses(text: str, responses: Sequence[str]) -> None:
    """Raise ``ValueError`` unless a ranking is of these responses, each once."""
    found, wanted = set(responses_of(text)), set(responses)
    if missing := sorted(wanted - found):
        raise ValueError(f"{text!r} does not rank {', '.join(missing)}; all rankings need the same responses")
    if foreign := sorted(found - wanted):
        raise ValueError(f"{text!r} ranks {', '.join(foreign)}, which is not among {', '.join(sorted(wanted))}")


def have_ties(rankings: Sequence[str]) -> bool:
    """Whether a ranking calls two responses tied."""
    return any(TIED in text for text in rankings)
