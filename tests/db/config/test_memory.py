"""Web processes serve the main pages without what only the helper process, workers or downloads need."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.db.config.test_starting import ROOT, environment
from tests.support.prebuilt import find_or_make_demo

LARGE = ("altair", "anthropic", "krippendorff", "openai", "pyarrow", "sklearn", "statsmodels", "vl_convert")
OF_STATISTICS = ("scipy.linalg", "scipy.stats")

VISIT = f"""
import sys
from io import StringIO
import config.wsgi
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from core.accounts.models.users import User

call_command("collectstatic", interactive=False, verbosity=0)

def visit(name, *paths):
    client = Client(headers={{"host": "127.0.0.1"}})
    client.force_login(User.objects.get(username=name), "django.contrib.auth.backends.ModelBackend")
    for path in paths:
        answer = client.get(path, follow=True)
        assert answer.status_code == 200, path
    return answer.content.decode()

visit("anna", "/", "/work/demo-pairs/next/", "/work/demo-dialogues/next/")
study = "/studies/demo-pairs/"
visit("rosa", "/", "/studies/", study, "/judges/", "/gallery/", study + "progress/", study + "items/")
print([name for name in {LARGE + OF_STATISTICS!r} if name in sys.modules])
assert "<svg" in visit("rosa", study + "results/") and "<svg" in visit("rosa", study + "tiers/")
labels = settings.DATA_DIR / "labels.csv"
labels.write_text("item,gold,gpt\\n" + "".join(f"{{k}},{{k % 2}},{{k % 3 % 2}}\\n" for k in range(60)))
said = StringIO()
call_command("calibrate", str(labels), "--human", "gold", "--judge", "gpt", "--bootstrap", "100", stdout=said)
assert "figures recomputed with scikit-learn" in said.getvalue()
print([name for name in {LARGE!r} if name in sys.modules])
"""


@pytest.mark.long
def test_main_pages_load_no_large_library_and_charts_and_figures_are_made_elsewhere(tmp_path):
    shutil.copy(find_or_make_demo(), tmp_path / "concord.sqlite3")
    done = subprocess.run(
        [sys.executable, "-c", VISIT],
        cwd=ROOT,
        env=environment(tmp_path) | {"CONCORD_ALLOWED_HOSTS": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in done.stdout.splitlines() if line.startswith("[")] == ["[]", "[]"]
