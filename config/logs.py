"""What a log line looks like: for people, or JSON for a machine. Both carry the id of the request or task."""

from __future__ import annotations

import logging
import re

from pythonjsonlogger.core import RESERVED_ATTRS

FORMATS = ("line", "json")
FIELDS = "%(asctime)s %(levelname)s %(name)s %(request_id)s %(process)d %(message)s"


TOKEN_IN_ADDRESS = re.compile(r"(/join/)[^/\s?]+")


class OneLine(logging.Filter):
    """What is wrong with a request is one line: a traceback is for what is wrong with the site."""

    def filter(self, record: logging.LogRecord) -> bool:
        if 400 <= getattr(record, "status_code", 0) < 500:
            record.exc_info = record.exc_text = None
        return True


class NoTokens(logging.Filter):
    """The address of an invitation is as good as its token, so a log holds it without."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if TOKEN_IN_ADDRESS.search(message):
            record.msg, record.args = TOKEN_IN_ADDRESS.sub(r"\1(token)", message), None
        return True


def build_logging(form: str, level: str, audit_syslog: str = "") -> dict[str, object]:
    """Django's LOGGING. An unknown form is `line`, and `config/checks.py` says so."""
    syslog = {"audit_syslog": to_syslog(audit_syslog)} if audit_syslog else {}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "request_id": {"()": "django_guid.log_filters.CorrelationId", "correlation_id_field": "request_id"},
            "one_line": {"()": OneLine},
            "no_tokens": {"()": NoTokens},
        },
        "formatters": {
            "line": {"format": "{asctime} {levelname} {name} [{request_id}]: {message}", "style": "{"},
            "json": {
                "()": "pythonjsonlogger.json.JsonFormatter",
                "fmt": FIELDS,
                "reserved_attrs": [*RESERVED_ATTRS, "request"],  # its address is in the message
                "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
            },
            "syslog": {"format": "concord[{process}]: {message}", "style": "{"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": form if form in FORMATS else "line",
                "filters": ["request_id", "one_line", "no_tokens"],
            },
            **syslog,
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "httpx2": {"level": "WARNING"},  # else a line for every call of a judge
            "django_guid": {"level": "WARNING"},
            "concord.audit_heads": {"handlers": list(syslog), "level": "INFO", "propagate": False},
        },
    }


def to_syslog(address: str) -> dict[str, object]:
    """The handler that sends to a socket of this machine, such as /dev/log, or to host:port by UDP."""
    host, _, port = address.rpartition(":")
    where = (host, int(port)) if host and port.isdecimal() else address
    return {"class": "logging.handlers.SysLogHandler", "address": where, "formatter": "syslog", "facility": "authpriv"}
