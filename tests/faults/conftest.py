from __future__ import annotations

from tests.support.django_setup import pytest_configure  # noqa: F401  a hook
