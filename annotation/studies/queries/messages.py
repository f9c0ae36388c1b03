"""Threads on items: what was said, and which wait for a researcher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet

from annotation.studies.models.messages import ItemMessage
from annotation.studies.models.studies import Item, Study
from core.accounts.models.users import User


def load_thread(study: Study, item: Item | int, annotator: User) -> list[ItemMessage]:
    """What was said between the annotator and the researchers, oldest first. One query."""
    there = ItemMessage.objects.filter(study=study, annotator=annotator, item=item)
    return list(there.select_related("author").order_by("pk"))


def list_on_item(study: Study, item: Item) -> QuerySet[ItemMessage]:
    """Every annotator's entries on an item, thread by thread."""
    there = ItemMessage.objects.filter(study=study, item=item).select_related("author", "annotator")
    return there.order_by("annotator__username", "pk")


def list_newest(*studies: Study | int) -> QuerySet[ItemMessage]:
    """The newest entry of each thread of these studies, the newest first."""
    later = ItemMessage.objects.filter(
        study=OuterRef("study"), item=OuterRef("item"), annotator=OuterRef("annotator"), pk__gt=OuterRef("pk")
    )
    return ItemMessage.objects.filter(~Exists(later), study__in=studies).order_by("-pk")


def list_waiting(*studies: Study | int) -> QuerySet[ItemMessage]:
    """The newest entries of the threads that wait for a researcher."""
    return list_newest(*studies).filter(author=F("annotator"))


def count_waiting(studies: Iterable[int]) -> Counter[int]:
    """By study, how many threads wait for a researcher. One query."""
    return Counter(dict(list_waiting(*studies).order_by().values_list("study").annotate(n=Count("pk"))))


def count_answered(annotator: User) -> Counter[int]:
    """By study, how many of the annotator's threads a researcher answered last. One query."""
    newest = ItemMessage.objects.filter(annotator=annotator).values("study", "item").annotate(last=Max("pk"))
    answers = ItemMessage.objects.filter(pk__in=newest.values("last")).exclude(author=annotator)
    return Counter(answers.values_list("study", flat=True))


def list_open_flags(thread: list[ItemMessage]) -> list[ItemMessage]:
    """Flags that no researcher has answered."""
    answered = max((place for place, one in enumerate(thread) if one.author_id != one.annotator_id), default=-1)
    return [one for one in thread[answered + 1 :] if one.kind == ItemMessage.Kind.FLAG]
