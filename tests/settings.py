"""Test settings: the real ones, in a folder of their own, on the database that TEST_DATABASE_URL names."""

import os

from tests.support.apart import broker_of_this_process, folder_of_this_process

os.environ["CONCORD_DATA_DIR"] = folder_of_this_process()
os.environ["CONCORD_SECRET_KEY"] = "tests-only"
os.environ["CONCORD_BACKUP_KEY"] = "dGVzdHMtb25seS4uLi4uLi4uLi4uLi4uLi4uLi4uLi4="
os.environ["CELERY_BROKER_URL"] = broker_of_this_process(os.environ.get("TEST_BROKER_URL", ""))
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")
os.environ.pop("ANTHROPIC_API_KEY", None)
os.environ["CONCORD_API_RATE"] = "1000000/min"  # made-up requests come faster than people's

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

ACCOUNT_RATE_LIMITS = {**ACCOUNT_RATE_LIMITS, "join": "100000/m/ip"}  # noqa: F405  all tests come from one address

STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405  whitenoise warns where there is none, and warnings are errors

# In a file, as in production: the live server's threads share a database in memory as one connection, and then a page
# that saves in the background and a test that looks on lock each other out.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
    # A query without ORDER BY has no order: SQLite turns it round here, so that a test (or a page) that leans on the
    # order of insertion fails at home and not one time in twenty on PostgreSQL.
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA reverse_unordered_selects=ON;"  # noqa: F405
    # A database that lasts minutes need not outlive a power cut.
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"  # noqa: F405

# Threads and processes that a test starts do not see what it has not committed: nor may the cache be part of that.
if "DatabaseCache" in CACHES["default"]["BACKEND"]:  # noqa: F405
    CACHES = {"default": build_shared_cache("", "sqlite3", DATA_DIR / "cache")}  # noqa: F405

# A process that reports itself does so from a thread, which does not see what a test has not committed. So none does,
# and none may count as gone while a slow test runs.
WORKER_BEAT_SECONDS = 600.0
WORKER_GONE_SECONDS = 240.0
