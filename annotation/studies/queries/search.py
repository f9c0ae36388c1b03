"""Finding people, studies and items by name or id, for the field in the top bar."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Model, Prefetch, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.corpus.models import Dialogue, Profile, ResponsePair
from annotation.studies.models.studies import Item, Study
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible

MOST = 20


@dataclass(frozen=True)
class SearchResult:
    """What was found of one kind. At most MOST; `more` says that there is more."""

    title: str
    rows: list[Model]
    more: bool


def search(text: str, *, by: User) -> list[SearchResult]:
    """Everything that `by` may see whose name or id contains `text`; the kinds in which there is something."""
    kinds: dict[str, QuerySet[Model]] = {
        gettext_noop("Studies"): filter_visible(by, Study.objects.filter(name__icontains=text)).order_by("name"),
        gettext_noop("Annotators"): annotators(text, by),
        gettext_noop("Items"): items(text, by),
        gettext_noop("Profiles"): Profile.objects.filter(
            Q(external_id__icontains=text) | Q(name__icontains=text)
        ).order_by("pk"),
        gettext_noop("Dialogues"): Dialogue.objects.filter(external_id__icontains=text).order_by("pk"),
        gettext_noop("Response pairs"): ResponsePair.objects.filter(external_id__icontains=text).order_by("pk"),
    }
    found = {title: list(rows[: MOST + 1]) for title, rows in kinds.items()}
    return [SearchResult(title, rows[:MOST], len(rows) > MOST) for title, rows in found.items() if rows]


def annotators(text: str, by: User) -> QuerySet[User]:
    named = Q(username__icontains=text) | Q(display_name__icontains=text)
    theirs = Prefetch("studies", filter_visible(by, Study.objects.all()))
    return User.objects.filter(named).prefetch_related(theirs).order_by("username")


def items(text: str, by: User) -> QuerySet[Item]:
    named = Q(dialogue__external_id__icontains=text) | Q(pair__external_id__icontains=text)
    found = filter_visible(by, Item.objects.filter(named))
    return found.select_related("study", "dialogue", "pair").order_by("study__name", "position")
