"""Read ahead in a second thread, so that parsing goes on while the database writes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

Element = TypeVar("Element")


class Failed:
    """What the reading thread hands over when it raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Finished:
    """What the reading thread hands over last."""


def read_ahead(elements: Iterable[Element], *, depth: int = 4) -> Generator[Element]:
    """The same elements, at most `depth` of them read in advance; an error is raised where its element would be.

    The thread ends with the generator, also when that is closed early. `elements` must not use the database, whose
    connections belong to the thread that opened them.
    """
    waiting: queue.Queue[Element | Failed | Finished] = queue.Queue(depth)
    stopped = threading.Event()

    def hand_over(element: Element | Failed | Finished) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(element, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for element in elements:
                if not hand_over(element):
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that reads the queue
            hand_over(Failed(error))
        else:
            hand_over(Finished())

    thread = threading.Thread(target=read, name="read-ahead", daemon=True)
    thread.start()
    try:
        while not isinstance(element := waiting.get(), Finished):
            if isinstance(element, Failed):
                raise element.error
            yield element
    finally:
        stopped.set()
        thread.join()
