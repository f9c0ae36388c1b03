from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import Empty

import pytest
from kombu import Connection, Queue
from kombu.exceptions import OperationalError
from kombu.transport import filesystem

from config.broker import file_broker_options


@pytest.fixture
def connection(tmp_path):
    options = file_broker_options(tmp_path / "broker files")
    with Connection("filesystem://", transport="config.broker:Transport", transport_options=options) as found:
        yield found


def names(tmp_path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "broker files" / "queue").iterdir())


def test_a_message_goes_in_and_comes_out(connection, tmp_path):
    queue = Queue("work", routing_key="work")
    with connection.Producer() as producer:
        producer.publish({"part": 1}, exchange=queue.exchange, routing_key="work", declare=[queue])
    assert len(names(tmp_path)) == 1

    message = queue(connection.default_channel).get()

    assert message.payload == {"part": 1}
    assert names(tmp_path) == []


def test_messages_come_out_in_the_order_they_went_in(connection):
    channel = connection.default_channel
    for at in range(3):
        channel._put("work", {"at": at})
        channel._put("other", {"at": 10 + at})

    assert [channel._get("work")["at"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Empty):
        channel._get("work")
    assert channel._size("other") == 3


def test_a_message_that_is_being_written_is_not_seen(connection, tmp_path):
    channel = connection.default_channel
    (tmp_path / "broker files" / "queue" / "1_x.work.msg.part").write_text("{")

    with pytest.raises(Empty):
        channel._get("work")
    assert channel._size("work") == 0


def test_many_readers_and_writers_lose_nothing_and_share_nothing(connection, tmp_path):
    channel, n = connection.default_channel, 200

    def take(_: int) -> list[int]:
        taken = []
        while len(taken) < n:
            all_there = len(done) == n  # asked before looking, or the last message could arrive in between
            try:
                taken.append(channel._get("work")["at"])
            except Empty:
                if all_there:
                    break
        return taken

    done: list[int] = []

    def put() -> None:
        for at in range(n):
            channel._put("work", {"at": at})
            done.append(at)

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(take, at) for at in range(3)]
        pool.submit(put).result()
        taken = [at for reader in readers for at in reader.result()]

    assert sorted(taken) == list(range(n))
    assert names(tmp_path) == []


def test_kombu_assumes_no_host(connection, caplog):
    assert connection.info()["hostname"] is None
    assert "No hostname" not in caplog.text


def test_looking_for_messages_in_vain_soon_gives_control_back(connection, monkeypatch):
    """Celery asks for two seconds at a time, in which it does not hear that it should end."""
    asked = []
    monkeypatch.setattr(filesystem.Transport, "drain_events", lambda self, made, timeout: asked.append(timeout))

    for timeout in (2.0, 0.05, None):
        connection.drain_events(timeout=timeout)

    assert asked == [0.2, 0.05, 0.2]


def test_a_message_that_cannot_be_written_is_an_error_of_the_broker(connection, tmp_path):
    """Who sends a hint catches that of kombu and goes on; a full disk must not undo what was committed before."""
    folder = tmp_path / "broker files" / "queue"
    folder.rename(folder.with_name("gone"))
    with pytest.raises(OperationalError, match="A message cannot be written"), connection._reraise_as_library_errors():
        connection.default_channel._put("work", {"at": 1})
