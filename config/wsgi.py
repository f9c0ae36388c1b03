"""The WSGI entry point for gunicorn."""

import os
import sys

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# A thread that the database has answered waits this long at most for another one that computes, ten times a request.
sys.setswitchinterval(0.0005)

application = get_wsgi_application()
