"""Signals that become acts: who came in or was refused, second factors, and what an account may do.

Who tried a name that no account has is not known, nor is the name kept: people type passwords into its field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.core import context
from allauth.mfa import signals as second_factor
from django.contrib.auth.models import Group
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_save, pre_save
from django.dispatch import receiver

from core.accounts.models.users import User
from core.audit.log import VERBS, record

if TYPE_CHECKING:
    from allauth.mfa.models import Authenticator

SIGN_IN, SIGN_OUT, REFUSED = "account.sign_in", "account.sign_out", "account.sign_in_refused"
CHANGE, PERMIT = "account.change", "account.permit"
ADD, REMOVE, RESET = "second_factor.add", "second_factor.remove", "second_factor.reset"
VERBS.update({SIGN_IN, SIGN_OUT, REFUSED, CHANGE, PERMIT, ADD, REMOVE, RESET})

WATCHED = ("is_active", "is_researcher", "is_staff", "is_superuser")
"""What says of an account what it may do."""

USUAL = dict.fromkeys(WATCHED, False) | {"is_active": True}
LINKS = (User.groups.through, User.user_permissions.through, Group.permissions.through)


def find_signed_in_user() -> User | None:
    """Return the account of the current request; None outside of one."""
    user = getattr(context.request, "user", None)
    return user if isinstance(user, User) else None


@receiver(user_logged_in)
def record_sign_in(user: User, **kwargs: object) -> None:  # noqa: ARG001
    record(SIGN_IN, by=user, on=user)


@receiver(user_logged_out)
def record_sign_out(user: User | None, **kwargs: object) -> None:  # noqa: ARG001
    if user:
        record(SIGN_OUT, by=user, on=user)


@receiver(user_login_failed)
def record_refused_password(credentials: dict[str, object], **kwargs: object) -> None:  # noqa: ARG001
    name = str(credentials.get("username") or "")
    record(REFUSED, by=None, on=User.objects.filter(username=name).first(), step="password")


@receiver(second_factor.authentication_failed)
def record_refused_code(user: User, **kwargs: object) -> None:  # noqa: ARG001
    record(REFUSED, by=None, on=user, step="second factor")


@receiver(second_factor.authenticator_added)
def record_factor_added(user: User, authenticator: Authenticator, **kwargs: object) -> None:  # noqa: ARG001
    record(ADD, by=user, on=user, factor=authenticator.type)


@receiver(second_factor.authenticator_removed)
def record_factor_removed(user: User, authenticator: Authenticator, **kwargs: object) -> None:  # noqa: ARG001
    record(REMOVE, by=user, on=user, factor=authenticator.type)


@receiver(second_factor.authenticator_reset)
def record_factor_reset(user: User, authenticator: Authenticator, **kwargs: object) -> None:  # noqa: ARG001
    record(RESET, by=user, on=user, factor=authenticator.type)


@receiver(pre_save, sender=User)
def remember_rights(instance: User, update_fields: frozenset[str] | None, **kwargs: object) -> None:  # noqa: ARG001
    """What the account might do before; nothing is asked where only other columns are saved, as at each sign-in."""
    watched = [name for name in WATCHED if update_fields is None or name in update_fields]
    before = None
    if watched and instance.pk:
        before = User.objects.filter(pk=instance.pk).values(*watched).first()
    instance._rights_before = before or {name: USUAL[name] for name in watched}  # type: ignore[attr-defined]


@receiver(post_save, sender=User)
def record_rights(instance: User, created: bool, **kwargs: object) -> None:  # noqa: ARG001
    """Rights that were given or taken, as [before, now], and a new password. A hash that is renewed is none."""
    before: dict[str, bool] = instance._rights_before  # type: ignore[attr-defined]
    changed: dict[str, object] = {
        name: [was, now] for name, was in before.items() if was != (now := getattr(instance, name))
    }
    if instance._password is not None and not created:  # type: ignore[attr-defined]  # set_password keeps it for now
        changed["new_password"] = True
    if changed:
        record(CHANGE, by=find_signed_in_user(), on=instance, **changed)


def record_permissions(
    instance: Model,
    action: str,
    model: type[Model],
    pk_set: set[int] | None,
    **kwargs: object,  # noqa: ARG001
) -> None:
    """Groups and permissions of Django's administration, given to or taken from an account or a group, by number."""
    done = {"post_add": "added", "post_remove": "removed", "pre_clear": "cleared"}.get(action)
    if done and (pk_set or action == "pre_clear"):
        record(
            PERMIT, by=find_signed_in_user(), on=instance, **{str(model._meta.model_name): {done: sorted(pk_set or ())}}
        )


for link in LINKS:
    m2m_changed.connect(record_permissions, sender=link, dispatch_uid=f"audit {link._meta.label}")
