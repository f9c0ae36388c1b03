"""Single sign-on with the lab's OpenID Connect provider, from four environment variables."""

from __future__ import annotations

from collections.abc import Mapping


def build_providers(environment: Mapping[str, str]) -> dict[str, object]:
    """allauth's SOCIALACCOUNT_PROVIDERS; without an issuer there is no single sign-on."""
    issuer = environment.get("CONCORD_OIDC_ISSUER", "")
    if not issuer:
        return {}
    app = {
        "provider_id": "lab",
        "name": environment.get("CONCORD_OIDC_NAME") or "single sign-on",
        "client_id": environment.get("CONCORD_OIDC_CLIENT_ID", ""),
        "secret": environment.get("CONCORD_OIDC_CLIENT_SECRET", ""),
        "settings": {"server_url": issuer},
    }
    return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}
