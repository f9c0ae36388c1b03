"""The audit log beside its second place: every head that was written down there has to be in the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from core.audit.heads import AuditHead
from core.audit.models import Act
from core.audit.queries import head

RESTORE = "site.restore"
AT_ONCE = 500


@dataclass
class HeadComparison:
    """What the second place knows and the log does not.

    Attributes
    ----------
    lost
        Heads that are not in the log, without a restore that explains it.
    restored
        By restore, the heads that it explains: they were written down before it and stood behind what the backup held.
    """

    lost: list[AuditHead] = field(default_factory=list)
    restored: dict[Act, list[AuditHead]] = field(default_factory=dict)


def compare(heads: Iterable[AuditHead]) -> HeadComparison:
    """Look for every head in the log. The cost is a query for 500 of them."""
    restores, found = list(Act.objects.filter(verb=RESTORE).order_by("number")), HeadComparison()
    for one in find_missing(heads):
        why = next((act for act in restores if act.number <= one.number and one.at <= act.at), None)
        if why:
            found.restored.setdefault(why, []).append(one)
        else:
            found.lost.append(one)
    return found


def find_missing(heads: Iterable[AuditHead]) -> Iterator[AuditHead]:
    """Find heads whose event is missing from the log or differs from it."""
    rest = iter(heads)
    while some := list(islice(rest, AT_ONCE)):
        there = dict(Act.objects.filter(number__in=[one.number for one in some]).values_list("number", "digest"))
        yield from (one for one in some if there.get(one.number) != one.digest)


def describe_lost(lost: Sequence[AuditHead]) -> list[str]:
    """What has happened to the log, in a sentence for its end and one for what was written anew."""
    last, _ = head()
    cut = [one for one in lost if one.number > last]
    anew = [one for one in lost if one.number <= last]
    said = []
    if anew:
        first = min(anew, key=lambda one: one.number)
        said.append(
            f"event {first.number} is not the one that {first.file} recorded at {first.at:%Y-%m-%d %H:%M:%S} UTC: "
            "the log was rewritten from there or from before"
        )
    if cut:
        newest = max(cut, key=lambda one: one.number)
        said.append(
            f"the log ends with event {last}, but {newest.file} recorded event {newest.number} at "
            f"{newest.at:%Y-%m-%d %H:%M:%S} UTC: the end was cut off, or the database was put back without `restore`"
        )
    return said


def describe_restored(restore: Act, heads: Sequence[AuditHead]) -> str:
    """Say that events are missing because an older backup was restored."""
    numbers = [one.number for one in heads]
    return (
        f"The site was restored at {restore.at:%Y-%m-%d %H:%M} UTC "
        f"from a backup of {restore.parsed_arguments.get('made_at')}, "
        f"whose log ended with event {restore.parsed_arguments.get('acts')}. Later events, up to {max(numbers)}, "
        "are not in the log."
    )
