"""The demo's loop, end to end, in a temporary folder: people rate over HTTP, a judge runs in the worker, and the
final agreement report is printed as one JSON document. Exits 0 when every step held.

    python scripts/smoke.py

Starts its own web server and worker on a free port and ends them. Uses the standard library only.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

ROOT = Path(__file__).resolve().parent.parent
STUDIES = {"Demo dialogues": "demo-dialogues", "Demo pairs": "demo-pairs"}
PASSWORD = "concord-demo"  # noqa: S105 - the demo's, printed by `make demo`


class SmokeError(RuntimeError):
    """A step of the loop did not do what it must."""


def say(text: str) -> None:
    print(f"smoke: {text}", file=sys.stderr)


def manage(environment: dict[str, str], *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *args], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SmokeError(f"manage.py {' '.join(args)} exited {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def token(page: str) -> str:
    return str(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[0])


def fetch(site: OpenerDirector, url: str, form: list[tuple[str, str]] | None = None) -> tuple[str, str]:
    """Get a page, or post a form to it; the address it ended at and its text."""
    body = urlencode(form).encode() if form else None
    with site.open(url, data=body, timeout=60) as answer:
        return str(answer.geturl()), answer.read().decode()


def sign_in(base: str, name: str) -> OpenerDirector:
    site = build_opener(HTTPCookieProcessor(CookieJar()))
    _, page = fetch(site, f"{base}/login/")
    address, _ = fetch(
        site,
        f"{base}/login/",
        [("csrfmiddlewaretoken", token(page)), ("login", name), ("password", PASSWORD)],
    )
    if "/login" in address:
        raise SmokeError(f"{name} could not sign in")
    return site


def rate_one(base: str, site: OpenerDirector, slug: str) -> None:
    """Answer every question of the next item with its first choice, as the page's form without JavaScript does."""
    address, page = fetch(site, f"{base}/work/{slug}/next/")
    radios = re.findall(r'<input[^>]*type="radio"[^>]*>', page)
    hidden = re.findall(r'<input[^>]*type="hidden"[^>]*>', page)
    first: dict[str, str] = {}
    for radio in radios:
        first.setdefault(attribute(radio, "name"), attribute(radio, "value"))
    if not first:
        raise SmokeError(f"the page {address} asks nothing")
    fields = [(attribute(tag, "name"), attribute(tag, "value")) for tag in hidden]
    form = [*dict([*fields, ("csrfmiddlewaretoken", token(page))]).items(), *first.items()]
    after, _ = fetch(site, address, form)
    if after == address:
        raise SmokeError(f"the answers to {address} were not taken")


def attribute(tag: str, name: str) -> str:
    return str(re.findall(rf'\b{name}="([^"]*)"', tag)[0])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def loop(environment: dict[str, str], base: str) -> dict[str, object]:
    annotator = sign_in(base, "anna")
    for slug in STUDIES.values():
        rate_one(base, annotator, slug)
    say("anna rated one dialogue and one pair over HTTP")
    run = json.loads(manage(environment, "judge", "Demo pairs", "--judge", "baseline", "--json"))
    say(f"the baseline judge ran in the worker: {run['counts']}")
    report = {
        name: json.loads(manage(environment, "agreement", "--study", name, "--bootstrap", "500", "--json"))
        for name in STUDIES
    }
    return {"judge_run": run, "agreement": report}


def main() -> int:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="concord smoke ", ignore_cleanup_errors=True) as folder:
        environment = {
            **os.environ,
            "CONCORD_DATA_DIR": folder,
            "CONCORD_PORT": str(port),
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
        }
        try:
            manage(environment, "demo", "--start", "--no-model")
            say("web server and worker are up")
            report = loop(environment, f"http://127.0.0.1:{port}")
        except SmokeError as error:
            say(str(error))
            return 1
        finally:
            manage(environment, "serve", "--stop")
    print(json.dumps(report, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
