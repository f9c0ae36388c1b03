"""Who may see a picture or a sound: who may see an item that shows it."""

from __future__ import annotations

from django.db.models import Q

from annotation.corpus.models import Attachment
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Item
from core.accounts.access import may_research
from core.accounts.models.users import User
from core.accounts.permissions import ADJUDICATING, filter_visible


def find_visible(user: User, sha256: str) -> Attachment | None:
    """The attachment, if it belongs to an item that they hold, have rated or decide; researchers see all material."""
    found = Attachment.objects.filter(sha256=sha256).first()
    if found is None or may_research(user):
        return found
    of_item = Q(dialogue__attachment_uses__attachment=found) | Q(pair__attachment_uses__attachment=found)
    items = Item.objects.filter(of_item)
    if Assignment.objects.filter(annotator=user, item__in=items).exists():
        return found
    return found if filter_visible(user, items, roles=ADJUDICATING).exists() else None
