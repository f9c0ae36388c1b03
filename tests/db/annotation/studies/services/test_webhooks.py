"""Webhooks: signed, told once, tried again, never to an address of this network."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.webhooks import Webhook, WebhookDelivery
from annotation.studies.services import studies, webhooks
from annotation.workbench.services import annotations, assignments
from concord_client import is_signed
from core import addresses
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.addresses import Rule
from core.errors import InputError
from tests.support.factories import AssignmentFactory, CriterionFactory, ResponsePairFactory
from tests.support.labelled import with_items


class Receiver:
    """A real server on this machine, which keeps what it was sent and answers what it is told to.

    `says` takes the place of the whole answer: it is given the connection.
    """

    says: Callable[[socket.socket], None] | None = None

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        self.left = Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                outer.got.append((dict(self.headers), self.rfile.read(length)))
                if outer.says:
                    with suppress(OSError):  # the other side went away
                        outer.says(self.connection)
                    return
                self.send_response(outer.status)
                self.send_header("Location", "http://127.0.0.1:1/")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?lab=1"


@pytest.fixture
def receiver(monkeypatch) -> Iterator[Receiver]:
    monkeypatch.setenv("CONCORD_ALLOWED_HOOK_HOSTS", "127.0.0.1")
    found = Receiver()
    thread = Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture
def sent(monkeypatch) -> list[int]:
    """Ids of the messages for which a task went out."""
    found: list[int] = []
    monkeypatch.setattr(webhooks, "send", found.extend)
    return found


def hook(alice: User, receiver: Receiver, *events: str) -> tuple[Webhook, str]:
    return webhooks.make(by=alice, url=receiver.url, events=events)


def test_a_message_is_signed_over_time_and_body(alice, receiver, sent, django_capture_on_commit_callbacks):
    _, secret = hook(alice, receiver, "run.finished")
    with django_capture_on_commit_callbacks(execute=True):
        webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={"run": 1})
    assert webhooks.deliver(*sent) is True
    ((headers, body),) = receiver.got
    at, _, given = headers["Concord-Signature"].partition(",v1=")
    right = hmac.new(secret.encode(), f"{at.removeprefix('t=')}.".encode() + body, hashlib.sha256).hexdigest()
    assert given == right
    assert json.loads(body)["data"] == {"run": 1}
    assert headers["Concord-Event"] == "run.finished"
    row = WebhookDelivery.objects.get()
    assert (row.status, row.attempts, row.due_at) == (200, 1, None)
    assert row.delivered_at
    assert secret not in json.dumps(list(Webhook.objects.values()), default=str)


def test_the_same_subject_is_told_once_and_a_delivered_message_not_again(alice, receiver, sent):
    hook(alice, receiver, "run.finished")
    for _ in range(2):
        webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    webhooks.tell("study.closed", project=Project.find_or_create_default().pk, subject="study 1", data={})
    key = WebhookDelivery.objects.get().pk
    assert [webhooks.deliver(key), webhooks.deliver(key)] == [True, None]
    assert len(receiver.got) == 1


@pytest.mark.parametrize("status", [301, 400, 500])
def test_what_is_not_taken_is_tried_again_and_given_up_in_the_end(alice, receiver, sent, status):
    hook(alice, receiver, "run.finished")
    receiver.status = status
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    row = WebhookDelivery.objects.get()
    tries = 0
    while row.due_at:
        assert webhooks.deliver(row.pk) is False
        assert webhooks.deliver(row.pk) is None  # not due yet
        tries += 1
        row.refresh_from_db()
        if row.due_at:
            assert row.due_at > timezone.now()
            WebhookDelivery.objects.update(due_at=timezone.now())
            row.refresh_from_db()
    assert tries == row.attempts == len(receiver.got) == len(webhooks.WAITS) + 1
    assert (row.status, row.error, row.delivered_at) == (status, f"It answered {status}.", None)


def test_a_server_that_is_away_is_an_error_on_record(alice, receiver, sent):
    made, _ = hook(alice, receiver, "run.finished")
    Webhook.objects.filter(pk=made.pk).update(url="http://127.0.0.1:1/")
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    key = WebhookDelivery.objects.get().pk
    assert webhooks.deliver(key) is False
    assert "refused" in WebhookDelivery.objects.get().error


def test_an_address_that_became_private_is_not_called(alice, receiver, sent, monkeypatch):
    hook(alice, receiver, "run.finished")
    monkeypatch.delenv("CONCORD_ALLOWED_HOOK_HOSTS")
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    key = WebhookDelivery.objects.get().pk
    assert webhooks.deliver(key) is False
    assert "not a public address" in WebhookDelivery.objects.get().error
    assert receiver.got == []


def test_what_no_worker_got_to_is_found_by_the_sweep(alice, receiver, sent):
    hook(alice, receiver, "run.finished")
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    assert webhooks.send_due() == 0
    WebhookDelivery.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    assert webhooks.send_due() == 1
    assert sent == [WebhookDelivery.objects.get().pk]


def test_labels_and_a_finished_study_are_told(alice, bob, receiver, sent, django_capture_on_commit_callbacks):
    hook(alice, receiver, "label.submitted", "study.finished", "study.closed")
    study = with_items(2, kind="pair", name="Suits", slug="suits", overlap=1)
    CriterionFactory(study=study, key="preference", preference=True)
    study.annotators.add(bob)
    studies.open(by=alice, study=study)
    with django_capture_on_commit_callbacks(execute=True):
        while slot := assignments.lease_next(by=bob, study=study):
            annotations.submit(by=bob, assignment=slot, values={"preference": "A"})
        studies.close(by=alice, study=study)
    told = sorted(WebhookDelivery.objects.values_list("event", flat=True))
    assert told == ["label.submitted", "label.submitted", "study.closed", "study.finished"]
    assert "bob" not in "".join(WebhookDelivery.objects.values_list("body", flat=True))


def test_a_repeat_or_check_that_somebody_left_does_not_keep_a_study_unfinished(
    alice, bob, receiver, sent, django_capture_on_commit_callbacks
):
    hook(alice, receiver, "study.finished")
    study = with_items(1, kind="pair", name="Suits", slug="suits", overlap=1)
    CriterionFactory(study=study, key="preference", preference=True)
    study.annotators.add(bob)
    studies.open(by=alice, study=study)
    AssignmentFactory(item=study.items.get(), annotator=bob, leased=True, purpose="repeat")
    with django_capture_on_commit_callbacks(execute=True):
        slot = study.assignments.get(purpose="rating")
        assert assignments.claim(bob, slot, order="AB")
        annotations.submit(by=bob, assignment=slot, values={"preference": "A"})
    assert [one.event for one in WebhookDelivery.objects.all()] == ["study.finished"]


def test_a_label_is_told_with_the_position_of_its_own_item(
    alice, bob, receiver, sent, django_capture_on_commit_callbacks
):
    """Of a repeat, not that of the item that came before it; a check's item may be none of the study's."""
    hook(alice, receiver, "label.submitted")
    study = with_items(3, kind="pair", name="Suits", slug="suits", state="open")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    study.annotators.add(bob)
    repeat = AssignmentFactory(
        item=study.items.get(position=1), annotator=bob, leased=True, purpose="repeat", rank=3, order="AB"
    )
    beside = ResponsePairFactory()
    (one,) = gold_questions.add(
        by=None, study=study, purpose="check", origin="a test",
        entries=[GoldEntry(beside.external_id, {criterion.key: GoldAnswer("1")})],
    )  # fmt: skip
    check = AssignmentFactory(
        study=study, item=one.item, known=one, annotator=bob, leased=True, purpose="check", rank=3, order="AB"
    )
    with django_capture_on_commit_callbacks(execute=True):
        for slot in (repeat, check):
            annotations.submit(by=bob, assignment=slot, values={"preference": "A"})
    told = [json.loads(body)["data"] for body in WebhookDelivery.objects.order_by("pk").values_list("body", flat=True)]
    assert [(one["purpose"], one["position"]) for one in told] == [("repeat", 1), ("check", None)]


def test_an_ended_webhook_is_told_nothing(alice, receiver, sent):
    made, _ = hook(alice, receiver, "run.finished")
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    webhooks.end(by=alice, webhook=made)
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 2", data={})
    assert webhooks.deliver(WebhookDelivery.objects.get().pk) is None
    assert receiver.got == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"url": "http://127.0.0.1/"}, "url"),
        ({"url": "http://169.254.169.254/latest"}, "url"),
        ({"url": "ftp://8.8.8.8/"}, "url"),
        ({"events": ["all"]}, "events"),
        ({"events": []}, "events"),
    ],
)
def test_a_webhook_that_makes_no_sense_is_refused(alice, wrong, field):
    with pytest.raises(InputError) as refused:
        webhooks.make(by=alice, **{"url": "https://8.8.8.8/", "events": ["run.finished"], **wrong})
    assert refused.value.field == field


class TestHostileReceivers:
    """Who receives may answer what they like: a worker is not kept by it, and goes nowhere else."""

    @pytest.fixture
    def row(self, alice, receiver, sent) -> WebhookDelivery:
        hook(alice, receiver, "run.finished")
        webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
        return WebhookDelivery.objects.get()

    def test_a_redirect_is_not_followed(self, receiver, row):
        with serving_inside() as inside:

            def elsewhere(connection: socket.socket) -> None:
                connection.sendall(f"HTTP/1.1 307 x\r\nLocation: {inside.url}\r\nContent-Length: 0\r\n\r\n".encode())

            receiver.says = elsewhere
            assert webhooks.deliver(row.pk) is False
            assert (len(receiver.got), inside.got) == (1, [])

    @pytest.mark.parametrize(
        "dripped",
        [b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000, b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000, b"H" * 10_000],
        ids=["a header without end", "only to be continued", "no status"],
    )
    def test_one_that_drips_is_left(self, receiver, row, monkeypatch, dripped):
        monkeypatch.setattr(addresses, "LONGEST", 0.3)

        def drip(connection: socket.socket) -> None:
            for byte in dripped:
                connection.sendall(bytes([byte]))
                if receiver.left.wait(0.01):
                    return

        receiver.says = drip
        began = time.monotonic()
        assert webhooks.deliver(row.pk) is False
        assert time.monotonic() - began < 5
        receiver.left.set()
        row.refresh_from_db()
        assert row.error == "TimeoutError: no whole answer within 0.3 s"

    @pytest.mark.parametrize(
        ("head", "piece"),
        [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n", b"x" * 65536),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
            (b"HTTP/1.0 200 OK\r\n\r\n", b"x" * 65536),
        ],
        ids=["a large file", "endless pieces", "no end at all"],
    )
    def test_an_answer_without_end_is_not_read_to_its_end(self, receiver, row, head, piece):
        told = []

        def flood(connection: socket.socket) -> None:
            connection.sendall(head)
            for _ in range(10_000):
                connection.sendall(piece)
                told.append(len(piece))

        receiver.says = flood
        assert webhooks.deliver(row.pk) is True
        assert sum(told) < 50_000_000

    @pytest.mark.parametrize(
        "answer",
        [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n", b"HTTP/1.1 200 x\r\n" + b"A: b\r\n" * 200 + b"\r\n"],
    )
    def test_what_is_no_answer_is_an_error_on_record(self, receiver, row, answer):
        receiver.says = lambda connection: connection.sendall(answer)
        assert webhooks.deliver(row.pk) is False
        row.refresh_from_db()
        assert row.error
        assert row.due_at

    def test_a_name_that_changes_its_mind_is_called_where_it_was_looked_at(self, alice, receiver, sent, monkeypatch):
        """Public while the webhook is made, this machine afterwards, and again public for a second look."""
        monkeypatch.delenv("CONCORD_ALLOWED_HOOK_HOSTS")
        said = [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8"]]
        asked = []

        def resolve(host: str, port: int, *rest: Any, **more: Any) -> list[Any]:
            asked.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in said[len(asked) - 1]]

        monkeypatch.setattr(addresses.check, "__kwdefaults__", {"resolve": resolve})
        port = receiver.server.server_port
        webhooks.make(by=alice, url=f"http://lab.example:{port}/hook", events=["run.finished"])
        webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
        assert webhooks.deliver(WebhookDelivery.objects.get().pk) is False
        assert "not a public address" in WebhookDelivery.objects.get().error
        assert (receiver.got, asked) == ([], ["lab.example", "lab.example"])

    def test_the_connection_goes_to_the_address_that_was_looked_at(self, receiver, monkeypatch):
        """The name itself would lead to nobody: it is asked for once, and is what the receiver is asked for."""
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
        monkeypatch.setattr(addresses.check, "__kwdefaults__", {"resolve": lambda *args, **more: found})
        url = f"http://lab.example:{receiver.server.server_port}/hook"
        assert addresses.post(url, b"{}", {}, rule=Rule(hosts=["lab.example"])) == 200
        assert receiver.got[0][0]["Host"] == f"lab.example:{receiver.server.server_port}"

    @pytest.mark.parametrize("path", ["/caf\u00e9?q=\u4e0a", "/a b", "/x\r\nX-Forged: 1", "/%20?a=b&c=%41"])
    def test_an_address_that_is_no_ascii_or_holds_a_line_is_sent_as_percentages(self, alice, receiver, sent, path):
        url = receiver.url.replace("/hook?lab=1", path)
        webhooks.make(by=alice, url=url, events=["run.finished"])
        webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
        assert webhooks.deliver(WebhookDelivery.objects.get().pk) is True
        assert "X-Forged" not in receiver.got[0][0]


@contextmanager
def serving_inside() -> Iterator[Receiver]:
    """Somebody on this machine whom nobody from outside should reach."""
    found = Receiver()
    thread = Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.server.shutdown()
        thread.join()
        found.server.server_close()


def test_a_secret_is_of_one_webhook_and_of_one_key_of_the_site(alice, receiver, sent, settings):
    """It is changed by making another webhook; with a new key of the site all are."""
    first, secret = hook(alice, receiver, "run.finished")
    second, other = hook(alice, receiver, "run.finished")
    webhooks.end(by=alice, webhook=first)
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    webhooks.deliver(WebhookDelivery.objects.get().pk)
    ((headers, body),) = receiver.got
    assert is_signed(other, headers["Concord-Signature"], body)
    assert not is_signed(secret, headers["Concord-Signature"], body)
    settings.SECRET_KEY = "another"
    assert webhooks.derive_secret(second) not in (secret, other)


def test_a_message_that_is_sent_again_has_another_time_and_the_same_number(alice, receiver, sent, monkeypatch):
    """So a reader can tell what came twice from what somebody kept and sends again."""
    _, secret = hook(alice, receiver, "run.finished")
    receiver.status = 500
    webhooks.tell("run.finished", project=Project.find_or_create_default().pk, subject="run 1", data={})
    key = WebhookDelivery.objects.get().pk
    for at in (1_000_000_000, 1_000_000_600):
        monkeypatch.setattr("annotation.studies.services.webhooks.time.time", lambda at=at: at)
        WebhookDelivery.objects.update(due_at=timezone.now())
        webhooks.deliver(key)
    (first, body), (second, again) = receiver.got
    assert body == again
    assert first["Concord-Delivery"] == second["Concord-Delivery"] == str(key)
    assert is_signed(secret, second["Concord-Signature"], body, now=1_000_000_600)
    assert not is_signed(secret, first["Concord-Signature"], body, now=1_000_000_600)


def test_through_the_command(alice, receiver, capsys):
    call_command("webhook", "--by", "alice", "--url", receiver.url, "--events", "run.finished", "--json")
    made = json.loads(capsys.readouterr().out)
    assert made["secret"]
    pk = str(made["webhooks"][0]["id"])
    call_command("webhook", "--ping", pk, "--json")
    assert json.loads(capsys.readouterr().out)["deliveries"][0]["status"] == 200
    call_command("webhook", "--log", pk)
    assert "delivered" in capsys.readouterr().out
    call_command("webhook", "--end", pk)
    assert "ended" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no webhook"):
        call_command("webhook", "--ping", "999")
