"""All settings, from the environment, with defaults that need no service and no key.

The embedded defaults are SQLite in WAL mode and a Celery broker that lives in files, both in the data
folder. DATABASE_URL and CELERY_BROKER_URL move them to PostgreSQL and Redis or RabbitMQ. `config/checks.py`
turns a bad setting into a system check with a hint.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import dj_database_url
import django_stubs_ext
from csp.constants import NONE, SELF
from django_guid.integrations import CeleryIntegration

from config.broker import build_shared_cache, file_broker_options
from config.catalogues import compile_catalogues
from config.data_folder import UMASK, explain_unwritable, secret_key
from config.logs import build_logging

django_stubs_ext.monkeypatch()

os.umask(UMASK)  # every process loads this file before it writes anything

# Threads of one matrix product wait for each other in a loop. Beside other busy processes that costs more than they
# gain: on two busy cores, coefficients took twice as long. OpenBLAS reads this when numpy is loaded, after this file.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("CONCORD_DATA_DIR") or BASE_DIR / "data").absolute()
with explain_unwritable(DATA_DIR):
    DATA_DIR.mkdir(parents=True, exist_ok=True)


def env_flag(name: str, default: bool) -> bool:
    return os.environ.get(name, "1" if default else "0").lower() in {"1", "true", "yes", "on"}


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


DEBUG = env_flag("CONCORD_DEBUG", default=False)
with explain_unwritable(DATA_DIR):
    SECRET_KEY = os.environ.get("CONCORD_SECRET_KEY") or secret_key(DATA_DIR)
SEALING_SECRETS = [*env_list("CONCORD_SEALING_SECRETS"), SECRET_KEY]
"""Keys of models and second factors are sealed under the first, and opened under any: judging/judges/sealing.py."""
AUDIT_SECRETS = [*env_list("CONCORD_AUDIT_KEY"), SECRET_KEY]
"""Events of the audit log carry digests keyed by the first, and are checked with any: core/audit/heads.py."""
SIGNING_KEYS = env_list("CONCORD_SIGNING_KEY")
SIGNING_KEY_FILE = DATA_DIR / "signing_keys"
"""The first signs certificates, and what any of them signed is believed: judging/assessment/signing.py."""
AUDIT_HEADS = Path(os.environ.get("CONCORD_AUDIT_HEADS") or DATA_DIR / "audit-heads").absolute()
AUDIT_SYSLOG = os.environ.get("CONCORD_AUDIT_SYSLOG", "")
"""Where the newest event is written down outside the database: core/audit/heads.py."""

ALLOWED_HOSTS = env_list("CONCORD_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CONCORD_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "config.apps.AdministrationConfig",  # Django's, without a sign-in page of its own
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_guid",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "drf_spectacular",
    "annotation",
    "judging",
    "simulation",
    "config",
]

MIDDLEWARE = [
    "django_guid.middleware.guid_middleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.UploadLimitMiddleware",
    "config.middleware.AuditMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.languages.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "config.middleware.LinkOnlyMiddleware",
    "config.second_factor.SecondFactorMiddleware",
    "config.middleware.InputErrorMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": [  # every page uses them
                "config.templatetags.concord",
                "config.templatetags.frames",
                "config.templatetags.rendering",
            ],
        },
    },
]

SQLITE_OPTIONS: dict[str, object] = {
    # Writers queue instead of failing; IMMEDIATE takes the lock at BEGIN, where waiting is possible.
    "timeout": float(os.environ.get("CONCORD_SQLITE_WAIT_SECONDS", "30")),
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
    "PRAGMA cache_size=-20000;",  # 20 MB: the default of 2 MB writes pages of a large import twice
}


def build_sign_on_providers(environment: Mapping[str, str]) -> dict[str, object]:
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


def database(url: str | None) -> dj_database_url.DBConfig:
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(DATA_DIR / "concord.sqlite3"),
            "OPTIONS": SQLITE_OPTIONS,
            "CONN_MAX_AGE": 60,  # opening the file and reading its schema anew costs every request some milliseconds
        }
    parsed = dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
    if parsed["ENGINE"].endswith("sqlite3"):
        parsed["OPTIONS"] = SQLITE_OPTIONS
    if parsed["ENGINE"] == "django.db.backends.postgresql":
        parsed["ENGINE"] = "config.postgresql"  # the same, with a health check that costs no statement
    return parsed


DATABASES = {"default": database(os.environ.get("DATABASE_URL"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotation.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTHENTICATION_BACKENDS = [
    "config.accounts.Passwords",
    "allauth.account.auth_backends.AuthenticationBackend",
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# Signing in. A class of sixty behind one address signs in at once; somebody who guesses passwords is slowed down.
ACCOUNT_ADAPTER = "config.accounts.Accounts"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
# Whoever guesses at a name from one address must not lock that name's owner out at another; guesses from many addresses
# count together, in a slower limit that one address alone does not reach.
ACCOUNT_RATE_LIMITS = {
    "login": "200/m/ip",
    # By address, and by name and address. An attempt counts until its password was right: sixty at once pass.
    "login_failed": "100/m/ip,5/5m/key",
    "login_failed_anywhere": "100/h/key",  # key: name
    "join": "100/10m/ip",
    "verify": "120/m/ip",  # certificates that somebody without an account checks
}
MFA_ADAPTER = "config.accounts.SecondFactors"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Concord"
REQUIRE_SECOND_FACTOR = os.environ.get("CONCORD_REQUIRE_SECOND_FACTOR", "")
SOCIALACCOUNT_ADAPTER = "config.accounts.SingleSignOn"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_PROVIDERS = build_sign_on_providers(os.environ)
SINGLE_SIGN_ON_MAKES_ACCOUNTS = env_flag("CONCORD_OIDC_SIGNUP", default=True)

# Annotators' pages speak each of these, all other pages those that have every text: config/languages.py.
LANGUAGE_CODE = "en-us"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
WHOLE_LANGUAGES = frozenset({"en"})
with explain_unwritable(DATA_DIR):
    LOCALE_PATHS = [compile_catalogues(BASE_DIR / "locale", DATA_DIR / "locale")]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
MEDIA_ROOT = DATA_DIR / "uploads"
FILE_UPLOAD_PERMISSIONS = None  # the umask's; static files too, as the web server of the site itself sends them
# Who withdrew or was erased, as numbers: outside the database, so that a restored backup can be held to it.
WITHDRAWN_FILE = Path(os.environ.get("CONCORD_WITHDRAWN_FILE") or DATA_DIR / "withdrawn.jsonl").absolute()

# Uploads. A larger file belongs on the command line, which streams it from disk.
MAX_UPLOAD_BYTES = int(os.environ.get("CONCORD_MAX_UPLOAD_MB", "100")) * 1024 * 1024
# Pictures and sounds of material, by their hash; and how large one may be.
ATTACHMENTS = DATA_DIR / "attachments"
MAX_ATTACHMENT_BYTES = int(os.environ.get("CONCORD_MAX_ATTACHMENT_MB", "20")) * 1024 * 1024
# Characters of a model's reply that are read and kept. A longer one is unscored as `oversized`.
MAX_REPLY_CHARACTERS = int(os.environ.get("CONCORD_MAX_REPLY_KB", "500")) * 1000
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # a long dialogue that is rated turn by turn: five inputs for each answer

HTTPS = env_flag("CONCORD_HTTPS", default=False)
SESSION_ENGINE = "config.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked for from inside, without the proxy
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
BEHIND_PROXY = env_flag("CONCORD_BEHIND_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
# Scripts and styles come from files of this site only: text that got into a page unescaped could not run.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or "filesystem://"
# What several processes count together for a while, such as failed attempts to sign in, and how fast accounts call.
CACHES = {"default": build_shared_cache(CELERY_BROKER_URL, DATABASES["default"]["ENGINE"], DATA_DIR / "cache")}
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if CELERY_BROKER_URL.startswith("filesystem"):
    CELERY_BROKER_TRANSPORT = "config.broker:Transport"
    with explain_unwritable(DATA_DIR):
        CELERY_BROKER_TRANSPORT_OPTIONS = file_broker_options(DATA_DIR / "broker")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True  # results are rows in the database, not messages
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 220_000  # kB: what has loaded the libraries of statistics ends after its task
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# A worker that has not been seen for this long counts as gone, and its work is handed out again.
WORKER_BEAT_SECONDS = float(os.environ.get("CONCORD_WORKER_BEAT_SECONDS", "2"))
WORKER_GONE_SECONDS = float(os.environ.get("CONCORD_WORKER_GONE_SECONDS", "15"))

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "core.api.requests.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["core.accounts.access.IsResearcher"],
    "DEFAULT_RENDERER_CLASSES": ["core.api.requests.Json"],
    "DEFAULT_PARSER_CLASSES": ["core.api.requests.JsonBody"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.api.requests.AlwaysJson",
    "DEFAULT_THROTTLE_CLASSES": ["core.api.requests.AccountThrottle"],
    "DEFAULT_THROTTLE_RATES": {"account": os.environ.get("CONCORD_API_RATE", "1200/min")},
    "DEFAULT_SCHEMA_CLASS": "core.api.schema.Schema",
    "EXCEPTION_HANDLER": "core.api.problems.handler",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "DESCRIPTION": "People and judges rate the same items. See docs/api.md for a walk through it.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "SORT_OPERATION_PARAMETERS": False,
    "ENUM_NAME_OVERRIDES": {
        "StudyKind": "annotation.models.Study.Kind",
        "StudyState": "annotation.models.Study.State",
        "PersonKind": "annotation.models.User.Kind",
        "RunKind": "judging.models.JudgeRun.Kind",
        "RunUnit": "judging.models.JudgeRun.Unit",
        "MakingKind": "simulation.models.Making.Kind",
        "SampleMethod": "annotation.studies.options.METHODS.items",
        "AdjudicationMethod": "annotation.models.Adjudication.Method",
        "LateDecisionValue": ["use", "dismiss"],
        "ConflictDecisionValue": "simulation.models.ConflictReview.Decision",
        "KnownPurpose": "annotation.models.KnownItem.Purpose",
        "Platform": "annotation.models.Invitation.Platform",
        "Tier": "annotation.models.TierOverride.Tier",
        "CandidateLevel": "simulation.models.Candidate.Level",
    },
}

# Every line of a log carries the id of the request that led to it, also where a worker wrote it.
DJANGO_GUID = {
    "GUID_HEADER_NAME": "X-Request-ID",
    "INTEGRATIONS": [CeleryIntegration(use_django_logging=False, log_parent=False)],
}
BACKUP_KEYS = env_list("CONCORD_BACKUP_KEY")
"""The first encrypts backups, any of them opens one: config/backups/encryption.py."""

LOGGING = build_logging(
    os.environ.get("CONCORD_LOG_FORMAT", "line"), os.environ.get("CONCORD_LOG_LEVEL", "INFO"), AUDIT_SYSLOG
)
METRICS_TOKEN = os.environ.get("CONCORD_METRICS_TOKEN", "")
