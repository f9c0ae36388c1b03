"""System checks: a bad setting says what to do about it before anything runs."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register


@register()
def data_folder_is_writable(**kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    if os.access(settings.DATA_DIR, os.W_OK):
        return []
    hint = "Set CONCORD_DATA_DIR to a folder that this user may write."
    return [Error(f"The data folder {settings.DATA_DIR} cannot be written.", hint=hint, id="concord.E001")]


@register()
def worker_times_fit(**kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    if settings.WORKER_GONE_SECONDS >= 3 * settings.WORKER_BEAT_SECONDS:
        return []
    hint = "Set CONCORD_WORKER_GONE_SECONDS to at least three times CONCORD_WORKER_BEAT_SECONDS."
    return [Error("Living workers would be taken for gone.", hint=hint, id="concord.E002")]


@register(deploy=True)
def files_are_for_one_machine(**kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    if not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return []
    hint = "Set CELERY_BROKER_URL to Redis or RabbitMQ where workers run on several machines."
    return [Warning("The broker lives in files of this machine.", hint=hint, id="concord.W001")]
