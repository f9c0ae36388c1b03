"""Pictures and sounds of items, sent so that a browser shows them and does nothing else with them."""

from __future__ import annotations

import re

from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from annotation.corpus.models import Attachment
from annotation.corpus.services import locate
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Item
from core.accounts.access import get_account, may_research, require_sign_in
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


HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, max-age=86400, immutable",
    "Accept-Ranges": "bytes",
}
"""A type that was looked at and is not guessed anew; no script, whatever is in the bytes; no other site's page."""


@require_sign_in
@require_safe
def attachment(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """The bytes of an attachment, for who may see an item that shows it."""
    found = find_visible(get_account(request), sha256)
    if found is None:
        raise Http404("There is no such attachment.")
    return send_attachment(found, request.headers.get("Range", ""))


def send_attachment(found: Attachment, wanted: str) -> HttpResponseBase:
    """The file, or the range of its bytes that is wanted. 404 where the data folder has lost it.

    Browsers seek in a sound by ranges; Safari plays none without.
    """
    try:
        file = locate(found.sha256).open("rb")
    except FileNotFoundError as error:
        raise Http404("The attachment is not in the data folder any more.") from error
    asked = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", wanted)
    if asked is None or not any(asked.groups()):  # of several ranges a server may send all
        name = f"{found.sha256[:12]}.{found.type.partition('/')[2]}"
        return FileResponse(file, content_type=found.type, filename=name, headers=HEADERS)
    with file:
        size = file.seek(0, 2)
        first, last = find_range(asked[1], asked[2], size)
        if first > last:
            return HttpResponse(status=416, headers={**HEADERS, "Content-Range": f"bytes */{size}"})
        file.seek(first)
        part = file.read(last - first + 1)
    headers = {**HEADERS, "Content-Range": f"bytes {first}-{last}/{size}"}
    return HttpResponse(part, status=206, content_type=found.type, headers=headers)


def find_range(first: str, last: str, size: int) -> tuple[int, int]:
    """Return the first and the last byte that are asked for, by RFC 9110, 14.1.2; without a first, the last so many."""
    if not first:
        return max(size - int(last), 0), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1
