"""How often one account may call: CONCORD_API_RATE, for example 1200/min."""

from __future__ import annotations

from typing import Any

from rest_framework.throttling import SimpleRateThrottle


class AccountThrottle(SimpleRateThrottle):
    """Limit the requests of an account, over all of its tokens."""

    scope = "account"

    def get_cache_key(self, request: Any, view: Any) -> str | None:
        return f"api-rate-{request.user.pk}" if request.user.is_authenticated else None
