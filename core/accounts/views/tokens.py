"""The page of one's API tokens: made, shown once, revoked."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from core.accounts.access import get_account, require_sign_in
from core.accounts.services import tokens
from core.accounts.token_forms import TokenForm


@require_sign_in
@never_cache
def token_list(request: HttpRequest) -> HttpResponse:
    """My tokens, and a form for a new one, whose text is shown in the answer and never again."""
    user = get_account(request)
    form = TokenForm(request.POST or None, user=user)
    made = form.save(user) if form.is_valid() else None
    now = timezone.now()
    context = {
        "form": TokenForm(user=user) if made else form,
        "made": made,
        "rows": [(token, token.state(now)) for token in user.api_tokens.order_by("-created_at", "-pk")],
    }
    return render(request, "annotation/token_list.html", context)


@require_sign_in
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """From now on the token opens nothing."""
    token = get_object_or_404(get_account(request).api_tokens, pk=pk)
    tokens.revoke(by=get_account(request), token=token)
    messages.success(request, f"{token.name} is revoked. What uses it has no access any more.")
    return redirect("token_list")
