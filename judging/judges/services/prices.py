"""Prices that people enter."""

from __future__ import annotations

from datetime import date

from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options
from judging.judges import providers
from judging.judges.models import Price
from judging.judges.options import NewPrice


@check_options(NewPrice)
@audited("price.enter", says=("provider", "model", "valid_from", "columns"))
def enter(*, by: User | None, provider: str, model: str, valid_from: date, **columns: object) -> Price:
    """What a model costs from a day on. Entered twice for one day, the later entry holds."""
    if provider not in providers.REGISTRY:
        raise InputError("There is no provider {provider!r}.", field="provider", provider=provider)
    made, _ = Price.objects.update_or_create(
        provider=provider, model=model, valid_from=valid_from, defaults={**columns, "created_by": by}
    )
    return made


@audited("price.remove", on="price")
def remove(*, by: User | None, price: Price) -> None:  # noqa: ARG001
    """Take an entry back. What was reckoned with it stays as it was."""
    price.delete()
