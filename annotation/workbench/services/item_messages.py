"""What annotators say of an item beside its labels: to the researchers, or to themselves for later."""

from __future__ import annotations

from django.db import transaction

from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.messages import list_open_flags, load_thread
from annotation.workbench.options import ItemMarks, NewMessage
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options

MOST = 200
"""Entries of one thread."""


@check_options(NewMessage)
@audited("item.write_message", on="item")
def write(*, by: User | None, study: Study, item: Item, annotator: User, text: str) -> ItemMessage:
    """Add to the thread of an annotator on an item: theirs, or a researcher's answer.

    Whether `by` may is the caller's to know. Raises InputError where somebody answers whom nobody has asked, or a
    thread is full.
    """
    there = ItemMessage.objects.filter(study=study, item=item, annotator=annotator).count()
    if by != annotator and not there:
        raise InputError("{annotator} has asked nothing about this item.", field="annotator", annotator=annotator)
    if there >= MOST:
        raise InputError("A thread holds at most {most} messages.", field="text", most=MOST)
    return ItemMessage.objects.create(study=study, item=item, annotator=annotator, author=by, text=text)


@check_options(ItemMarks)
@audited("item.mark", on="item", says=("flagged", "later"))
def mark(*, by: User, study: Study, item: Item, flagged: bool | None = None, later: bool | None = None) -> None:
    """Flag an item for the researchers, mark it for later, or take that back. The same twice changes nothing.

    A flag that was answered stays in the thread; a new one can be set behind it.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=by.pk)
        if flagged is not None:
            set_flag(by, study, item, flagged)
        if later:
            ItemMark.objects.get_or_create(study=study, item=item, annotator=by)
        elif later is not None:
            ItemMark.objects.filter(study=study, item=item, annotator=by).delete()


def set_flag(by: User, study: Study, item: Item, flagged: bool) -> None:
    standing = list_open_flags(load_thread(study, item, by))
    if flagged and not standing:
        ItemMessage.objects.create(study=study, item=item, annotator=by, author=by, kind=ItemMessage.Kind.FLAG, text="")
    elif standing and not flagged:
        ItemMessage.objects.filter(pk__in=[one.pk for one in standing]).delete()
