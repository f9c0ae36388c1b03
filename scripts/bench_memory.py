"""How much memory does the demo take? PSS of every process when it idles, and after each web process served every page.

    python scripts/bench_memory.py               # waits for the local model to be through
    python scripts/bench_memory.py --no-model

A researcher follows every link of the demo, plots and downloads too, over a connection to each web process. Must show:
at most 500 MB in all processes that idle, and less than 250 MB in each web process after all pages. Also printed,
without a limit: seconds of the pages that compute most, and start-up of commands.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from smoke import PASSWORD, STUDIES, free_port, manage, token

MOST_IDLE_MB, MOST_WEB_MB = 500, 250
SETTLE_SECONDS = 3600.0
BUSY = ("local/server.py", "core.helper_process")
LINKS = re.compile(r'(?:href|src)="([^"#]+)')
NOT_OPENED = re.compile(r"^/(logout|static)/")
TIMED = (
    "/studies/demo-pairs/results/",
    "/studies/demo-pairs/tiers/",
    "/studies/demo-pairs/results/{judge}/",
    "/studies/demo-pairs/report/",
    "/studies/demo-pairs/progress/",
)
COMMANDS = ("study", "judge", "report", "serve")
REPEATS = 5


def pss_mb(pid: int) -> float:
    """The process's share of memory in MB: what it shares with n processes counts 1/n."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.findall(r"^Pss:\s+(\d+)", text, re.MULTILINE)[0]) / 1024


def processes(folder: str) -> dict[int, str]:
    """Ids and command lines of all processes that were started on the data folder, but for commands."""
    found = {}
    for proc in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"CONCORD_DATA_DIR={folder}".encode() in (proc / "environ").read_bytes().split(b"\0"):
                line = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                if line and "manage.py" not in line:
                    found[int(proc.name)] = line
    return found


def table(folder: str) -> dict[int, tuple[str, float]]:
    """PSS in MB of each process by its id, with what it is."""
    found = {}
    for pid, line in sorted(processes(folder).items()):
        with suppress(OSError):
            found[pid] = (name_of(pid, line), pss_mb(pid))
    return found


def name_of(pid: int, line: str) -> str:
    """Say whose process it is: each program starts its own kind of children."""
    for word, name in (("gunicorn", "web"), ("celery", "worker"), ("supervisord", "supervisord")):
        if word in line:
            parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            above = Path(f"/proc/{parent}/cmdline").read_bytes().decode()
            return f"{name} process" if word in above and word != "supervisord" else f"{name} parent"
    return re.sub(r"^\S*python\S*\s", "", line)[:60]


def show(title: str, found: dict[int, tuple[str, float]]) -> float:
    """Print the table; its sum in MB."""
    total = sum(size for _, size in found.values())
    print(f"{title}: {total:.0f} MB")
    for name, size in found.values():
        print(f"  {size:6.1f} MB  {name}")
    return total


def wait_until_idle(folder: str) -> None:
    """Return once the local model has left, which the demo asks in the background, and the helpers of workers."""
    time.sleep(10)
    deadline = time.monotonic() + SETTLE_SECONDS
    while any(word in line for line in processes(folder).values() for word in BUSY) and time.monotonic() < deadline:
        time.sleep(1)


class Visitor:
    """A researcher's browser that stays with one web process as long as the connection lives."""

    def __init__(self, port: int, pid: int | None = None, cookies: dict[str, str] | None = None) -> None:
        self.port, self.pid, self.cookies = port, pid, dict(cookies or {})
        self.connection: HTTPConnection | None = None

    def request(self, path: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Status, content type and text of the answer. Whoever closed the connection meanwhile is called again."""
        body = urlencode(form) if form else None
        head = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        if form:
            head |= {"Content-Type": "application/x-www-form-urlencoded", "Referer": f"http://127.0.0.1:{self.port}/"}
        self.follow()
        if not self.connection or self.connection.sock is None or not self.is_with(self.pid):
            self.connect()
        assert self.connection
        try:
            self.connection.request("POST" if form else "GET", path, body, head)
            answer = self.connection.getresponse()
        except ConnectionError:  # the process that held it has ended: a browser asks again, too
            self.pid = None
            self.connect()
            self.connection.request("POST" if form else "GET", path, body, head)
            answer = self.connection.getresponse()
        text = answer.read().decode(errors="replace")
        self.remember(answer)
        return answer.status, answer.headers.get("Content-Type", ""), text

    def remember(self, answer: HTTPResponse) -> None:
        """Keep the cookies that the answer sets."""
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            self.cookies[name] = value

    def connect(self) -> None:
        """Call until the wanted process answers: the system picks one of those that listen."""
        for _ in range(500):
            self.follow()
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=300)
            self.connection.request("GET", "/healthz")
            self.connection.getresponse().read()
            if self.is_with(self.pid):
                return
            self.connection.close()
            time.sleep(0.02)
        raise RuntimeError(f"process {self.pid} answers nobody")

    def follow(self) -> None:
        """Go on with any process once the wanted one has ended."""
        if self.pid is not None and not Path(f"/proc/{self.pid}").exists():
            print(f"process {self.pid} had grown and gave way to another")
            self.pid = None

    def is_with(self, pid: int | None) -> bool:
        """Whether the process holds the other end of the connection."""
        if pid is None:
            return True
        if not self.connection or not self.connection.sock:
            return False
        own = self.connection.sock.getsockname()[1]
        inodes = {
            fields[9]
            for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
            if int(fields[1].split(":")[1], 16) == self.port and int(fields[2].split(":")[1], 16) == own
        }
        held = []
        with suppress(FileNotFoundError):  # it may end meanwhile
            for handle in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    held.append(os.readlink(handle))
        return any(f"socket:[{inode}]" in held for inode in inodes)

    def sign_in(self, name: str) -> None:
        """Sign in as the demo's account."""
        _, _, page = self.request("/login/")
        status, _, _ = self.request(
            "/login/", {"csrfmiddlewaretoken": token(page), "login": name, "password": PASSWORD}
        )
        if status != 302:
            raise RuntimeError(f"{name} could not sign in: {status}")


def shape(path: str) -> str:
    """What addresses of like pages have in common; only so many of each are followed."""
    parts = urlsplit(path)
    names = "&".join(sorted(one.split("=")[0] for one in parts.query.split("&")))
    return re.sub(r"/(\d+|[0-9a-f]{64})(?=[/.])", "/*", parts.path) + ("?" + names if names else "")


def crawl(visitor: Visitor, *starts: str) -> Iterator[str]:
    """Open what links lead to: two addresses of each shape, one of those with a query."""
    waiting, known, shapes = list(starts), set(starts), Counter[str]()
    while waiting:
        path = waiting.pop(0)
        shapes[shape(path)] += 1
        if shapes[shape(path)] > (1 if "?" in path else 2):
            continue
        status, kind, text = visitor.request(path)
        if status >= 500:
            raise RuntimeError(f"{path} answered {status}")
        yield path
        if "html" in kind and status == 200:
            links = [urljoin(path, unescape(link)) for link in LINKS.findall(text)]
            for link in links:
                if link.startswith("/") and link not in known and not NOT_OPENED.match(link):
                    known.add(link)
                    waiting.append(link)


def timed(visitor: Visitor, path: str) -> float:
    """Median seconds of the page."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        visitor.request(path)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def start_up(environment: dict[str, str], command: str) -> float:
    """Median seconds until the command has said what it does."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        manage(environment, command, "--help")
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def measure(environment: dict[str, str], port: int) -> list[str]:
    """Print all figures; what is above its limit, in words."""
    folder = environment["CONCORD_DATA_DIR"]
    manage(environment, "demo", "--start", *sys.argv[1:])
    wait_until_idle(folder)
    idle = show("idle", table(folder))
    for study in STUDIES:
        manage(environment, "judge", study, "--judge", "baseline")
        manage(environment, "calibrate", "--study", study, "--judge", "baseline")
    web = [pid for pid, (name, _) in table(folder).items() if name == "web process"]
    account = Visitor(port)
    account.sign_in("rosa")
    visitors = [Visitor(port, pid, account.cookies) for pid in web]
    judges = re.findall(r"/results/(\d+)/", visitors[0].request("/studies/demo-pairs/results/")[2])
    timed_paths = [path.format(judge=judges[0]) for path in TIMED]
    for pid, visitor in zip(web, visitors, strict=True):
        start = time.perf_counter()
        found = list(crawl(visitor, "/", "/api/v1/schema", "/admin/", "/gallery/", "/metrics"))
        print(f"{len(found)} addresses opened, first in process {pid}, in {time.perf_counter() - start:.0f} s")
    after = table(folder)
    show("after every page", after)
    for path in timed_paths:
        print(f"{timed(visitors[0], path):6.2f} s  {path}")
    for command in COMMANDS:
        print(f"{start_up(environment, command):6.2f} s  manage.py {command} --help")
    largest = max(size for name, size in after.values() if name == "web process")
    failed = [f"idle: {idle:.0f} MB, at most {MOST_IDLE_MB}"] if idle > MOST_IDLE_MB else []
    return failed + ([f"a web process: {largest:.0f} MB, below {MOST_WEB_MB}"] if largest >= MOST_WEB_MB else [])


def main() -> int:
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="concord-memory-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryDirectory(prefix="concord-absent-") as absent,
    ):
        Path(absent, "pandas.py").write_text('raise ImportError("only tests have it")\n')  # pyarrow loads it if it can
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment = {
            **kept,
            "CONCORD_DATA_DIR": folder,
            "CONCORD_PORT": str(port),
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
            "PYTHONPATH": absent,
        }
        try:
            failed = measure(environment, port)
        finally:
            manage(environment, "serve", "--stop")
    for words in failed:
        print(f"bench_memory: {words}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
