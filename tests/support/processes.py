"""A `Meeting` of ranks in several processes, for tests of ranks that are workers of a Dask cluster without GPUs.

The meeting is in the process of rank 0. Each other rank has a connection to it, which breaks as soon as a process ends.
Values are pickled on the way.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, NamedTuple

from rapids_bfs.distributed import nccl
from rapids_bfs.distributed.communicators import (
    TIMEOUT,
    AbortCallbacks,
    Aborted,
    Meeting,
    MeetingCommunicator,
    no_answer,
)

MARGIN = 5.0  # seconds after the timeout of rank 0's meeting until rank 0 itself counts as silent
LOST = (EOFError, OSError)  # raised by a connection whose other end has gone


class Identifier(NamedTuple):
    """The address and the key with which a rank connects to rank 0."""

    address: Any
    key: bytes


def listening() -> tuple[Listener, Identifier]:
    """A listener, and what ranks need to connect to it."""
    key = secrets.token_bytes(32)
    listener = Listener(authkey=key)
    return listener, Identifier(listener.address, key)


class MeetingServer:
    """The meeting in the process of rank 0, with a thread for each other rank."""

    def __init__(
        self, names: Sequence[str], timeout: float = TIMEOUT, there: tuple[Listener, Identifier] | None = None
    ) -> None:
        self.meeting = Meeting(names, timeout)
        self._listener, self.identifier = there or listening()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        missing = set(range(1, len(self.meeting.names)))
        with self._listener:
            while missing:
                with suppress(AuthenticationError, *LOST):
                    connection = self._listener.accept()
                    rank = connection.recv()
                    if rank is None:  # `close`
                        return
                    threading.Thread(target=self._serve, args=(rank, connection), daemon=True).start()
                    missing.discard(rank)

    def _serve(self, rank: int, connection: Connection) -> None:
        with suppress(*LOST), connection:
            while True:
                abort, value = connection.recv()
                try:
                    if abort:
                        self.meeting.fail(value)
                    else:
                        connection.send((self.meeting.meet(rank, value), None))
                except Aborted as error:
                    connection.send((None, str(error)))
        self.meeting.fail(f"the process of {self.meeting.names[rank]} has ended")

    def close(self) -> None:
        """Abort the meeting, and stop waiting for ranks to connect."""
        self.meeting.fail(f"{self.meeting.names[0]} has disconnected")
        with suppress(*LOST), Client(self.identifier.address, authkey=self.identifier.key) as connection:
            connection.send(None)


class RemoteMeeting(Meeting):
    """The meeting of a `MeetingServer`, for the one rank in this process."""

    def __init__(self, identifier: Identifier, rank: int, names: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.names, self.timeout = tuple(names), timeout
        self.failure: str | None = None
        self.stops = AbortCallbacks()
        self._connection = Client(identifier.address, authkey=identifier.key)
        self._connection.send(rank)

    def meet(self, rank: int, value: Any) -> list[Any]:
        values: list[Any] = []
        try:
            if self.failure is None:
                self._connection.send((False, value))
                if self._connection.poll(self.timeout + MARGIN):
                    values, self.failure = self._connection.recv()
                else:
                    self.failure = no_answer([self.names[0]], self.timeout)
        except LOST:
            self.failure = f"the process of {self.names[0]} has ended"
        if self.failure is not None:
            raise Aborted(self.failure)
        return values

    def fail(self, reason: str) -> None:
        with suppress(*LOST):
            self._connection.send((True, reason))
        self.failure = self.failure or reason

    def close(self) -> None:
        """Close the connection: the server aborts the meeting."""
        self._connection.close()


def stand_in_for_nccl() -> None:
    """Let the ranks of this process connect by `MeetingServer` and `RemoteMeeting` instead of NCCL."""
    there: dict[Identifier, tuple[Listener, Identifier]] = {}

    def unique_id() -> Identifier:
        listener, identifier = listening()
        there[identifier] = listener, identifier
        return identifier

    def connect(identifier: Identifier, rank: int, names: Sequence[str], timeout: float) -> MeetingCommunicator:
        connection: Any
        if rank:
            connection = meeting = RemoteMeeting(identifier, rank, names, timeout)
        else:
            connection = MeetingServer(names, timeout, there.pop(identifier))
            meeting = connection.meeting
        communicator = MeetingCommunicator(meeting, rank)
        weakref.finalize(communicator, connection.close).atexit = False
        return communicator

    nccl.unique_id = unique_id
    nccl.NcclCommunicator.connect = connect
