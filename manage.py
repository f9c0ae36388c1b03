"""Concord's command line: `python manage.py help` lists the commands."""

import os
import signal
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from core.faults import fault_in_full

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(128 + signal.SIGINT)
    except Exception as error:  # of the settings and of Django's own commands; Concord's say it themselves
        said = str(error) if isinstance(error, ImproperlyConfigured) else fault_in_full(error)
        if said is None or "--traceback" in sys.argv:
            raise
        sys.exit(f"{type(error).__name__}: {said}")


if __name__ == "__main__":
    main()
